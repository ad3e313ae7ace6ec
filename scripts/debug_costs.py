"""What the debugger costs: a step of W2 (an MLP, 128 examples) under it, as a ratio to the plain step, taken in turns.

    scripts/debug_costs.py [rounds]

Rows: the step recorded for replay alone; armed with stops that do not hit; every gradient watched with its figures.
Plain and debugged steps alternate, so that the machine's other work falls on both; the ratio is of lower quartiles.
"""
from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import autodiff as tf
from autodiff.debug import Debugger

BATCH, SIZES = 128, (784, 256, 128, 10)
Arm = Callable[[Debugger], object]
ROWS: list[tuple[str, float, Arm]] = [
    ("recorded for replay", 1.1, lambda dbg: None),
    ("armed: break loss if nan", 1.05, lambda dbg: dbg.break_at("loss", condition="nan")),
    ("armed: break if harmful", 1.05, lambda dbg: dbg.break_at(condition="harmful")),
    ("armed: break if nan", 1.25, lambda dbg: dbg.break_at(condition="nan")),
    ("every gradient watched", 1.3, lambda dbg: dbg.watch(*(v.name for v in dbg.variables()))),
]


def model() -> tuple[tf.Graph, list[tf.Tensor], tf.Tensor, tf.Operation]:
    """The placeholders, loss and train op of the MLP."""
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [None, SIZES[0]], name="x")
        labels = tf.placeholder(tf.int32, [None], name="labels")
        h = x
        for i, (n, m) in enumerate(zip(SIZES, SIZES[1:])):
            with tf.name_scope(f"layer{i}"):
                weights = tf.Variable(tf.truncated_normal([n, m], stddev=n ** -0.5), name="weights")
                biases = tf.Variable(tf.zeros([m]), name="biases")
                h = tf.matmul(h, weights) + biases
                h = tf.nn.relu(h) if m != SIZES[-1] else h
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=h)
        loss = tf.reduce_mean(losses, name="loss")
        step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    return graph, [x, labels], loss, step


def ratio(arm: Arm, rounds: int) -> tuple[float, float, str]:
    """Debugged over plain, the plain step in ms, and how many steps fit into the memory budget."""
    graph, (x, labels), loss, step = model()
    rng = np.random.default_rng(0)
    feeds = [{x: rng.random((BATCH, SIZES[0]), np.float32), labels: rng.integers(0, 10, BATCH)} for _ in range(8)]
    times: dict[str, list[float]] = {"plain": [], "debugged": []}
    with tf.Session(graph=graph) as plain, tf.Session(graph=graph) as watched:
        for session in (plain, watched):
            session.run([v.initializer for v in graph.get_collection("variables")])
        dbg = Debugger(graph, watched)
        arm(dbg)
        for i in range(rounds):
            feed = {key: value.copy() for key, value in feeds[i % len(feeds)].items()}
            runs = {"plain": partial(plain.run, [loss, step], feed),
                    "debugged": partial(dbg.on_run, watched, [loss, step], feed)}
            for name in sorted(runs, reverse=i % 2 == 0):
                start = time.perf_counter()
                runs[name]()
                times[name].append(time.perf_counter() - start)
        at = dbg.history.position
    typical = {name: statistics.quantiles(values[rounds // 5:], n=4)[0] for name, values in times.items()}
    return typical["debugged"] / typical["plain"], 1e3 * typical["plain"], f"{at.kept} steps kept, {at.fit} fit"


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print(f"{'':26} ratio  bound  plain ms")
    for name, bound, arm in ROWS:
        found, plain, kept = ratio(arm, rounds)
        print(f"{name:26} {found:5.3f}  {bound:5.2f}  {plain:8.3f}  {kept}")


if __name__ == "__main__":
    main()
