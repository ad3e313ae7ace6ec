"""A Hessian on a real dask cluster of processes on this machine, one of them killed in the middle: the same bits?

scripts/cluster.py, where dask is installed (pip install '.[dask]'). Exits with 1 if it is not the same.
"""
from __future__ import annotations

import os
import pathlib
import signal
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # a checkout needs no installing
os.environ["PYTHONPATH"] = sys.path[0]  # nor do its workers

import autodiff as tf
from autodiff.debug import Debugger

WORKERS = 3


def trained() -> Debugger:
    """Some steps of a net whose first layer has 2,000 weights."""
    rng = np.random.default_rng(0)
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 40], name="x")
        w = tf.Variable(rng.standard_normal((40, 50)) / 7, dtype=tf.float32, name="w")
        v = tf.Variable(rng.standard_normal((50, 3)) / 7, dtype=tf.float32, name="v")
        h = tf.nn.dropout(tf.tanh(x @ w), 0.8)
        loss = tf.reduce_mean(tf.reduce_logsumexp(h @ v, 1), name="loss")
        tf.train.AdamOptimizer(0.01).minimize(loss)
    dbg = Debugger(graph)
    dbg.feeds.feed("x", rng.standard_normal((2000, 40)).astype(np.float32))
    dbg.run(3)
    return dbg


def main() -> int:
    from distributed import Client, LocalCluster

    dbg, killed = trained(), []
    with LocalCluster(WORKERS, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            pids = client.run(os.getpid)

        def report(done: int, total: int) -> None:
            print(f"rows {done} of {total}")
            if not killed and done > total // 8:
                killed.append(next(iter(pids.values())))
                os.kill(killed[0], signal.SIGKILL)
                print(f"killed worker {killed[0]}")

        address = cluster.scheduler_address.removeprefix("tcp://")
        with dbg.workers(f"dask://{address}") as executor:
            rows = dbg.hessian("w", executor=executor, report=report).array
            spectrum = dbg.hessians.spectrum("w", executor=executor)
            check = dbg.check(order=2, executor=executor)
    equal = {"rows": np.array_equal(rows, dbg.hessian("w").array),
             "spectrum": np.array_equal(spectrum.nodes, dbg.hessians.spectrum("w").nodes),
             "check": check == dbg.check(order=2)}
    print("; ".join(f"{name} {'the same bits' if same else 'DIFFER'}" for name, same in equal.items()))
    return 0 if killed and all(equal.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
