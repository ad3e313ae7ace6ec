#!/usr/bin/env python3
"""Side by side: ten workloads in autodiff, hand-written NumPy, and what else is installed, as a table of ratios.

    scripts/bench.py --workload W2,W5 --systems naive,tuned,autodiff,tf1 --rounds 9 --threads 1

One worker process a system; they are measured in turn (A B C, B C A, …), so that a busy machine slows
all alike. A ratio is the median over rounds of the ratio in one round; lowest and highest stand beside it.

Systems: naive (NumPy as one writes it), tuned (the best by hand, where there is one), autodiff, for W9 unwatched
(autodiff without the fetches of every tensor) and armed (under the debugger, which is to stop at the first tensor that
is not finite), jit (if asked for: autodiff with OptimizerOptions.global_jit_level on), and peers: tf1, tf2, jax, torch,
autograd, each in an interpreter of its own:

    scripts/bench.py --peer tf1=/opt/tf1/bin/python --peer jax=/opt/peers/bin/python --peer torch=/opt/peers/bin/python
    scripts/bench.py --compare COMMIT     # system "before": autodiff as of a commit, in the same rounds
    scripts/bench.py --threads 2 --busy 1 # beside a process that keeps the last processor at work

TF1_PYTHON and TF2_PYTHON name those of TensorFlow too. What is missing is left out. MiB: the highest that the process
took beyond what it had after its imports. CPU: the least that a round's step took of processors, which others at work
disturb less. W10 measures `import`.
"""
import argparse
import contextlib
import functools
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SYSTEMS = "naive,tuned,unwatched,autodiff,armed"
PEERS = ("tf1", "tf2", "jax", "torch", "autograd")
WARM, LONG_ENOUGH = 0.8, 40  # seconds, or runs, before anything is measured: autodiff compiles what is hot
TOLERANCE = 2e-3
OWN = ("autodiff", "unwatched", "armed", "jit", "before")
IMPORTS = {"naive": "import numpy", "autodiff": "import autodiff", "tf1": "import tensorflow",
           "tf2": "import tensorflow.compat.v1", "jax": "import jax", "torch": "import torch",
           "autograd": "import autograd.numpy"}


def workloads():
    """Name -> {kind of system: what makes the step}; `graph` is for all that is spelled like TensorFlow."""
    from workloads import building, convolution, elementwise, hessian, lstm, models, perceptron, scalars, transformer
    from workloads import whole_models as whole

    found = {
        "W1": dict(graph=scalars.graph, naive=scalars.naive, tuned=scalars.tuned),
        "W1d": dict(graph=scalars.graph_float64, tuned=scalars.tuned),
        "W2": dict(graph=perceptron.graph, naive=perceptron.naive, tuned=perceptron.tuned),
        "W3a": dict(graph=elementwise.graph_price, naive=elementwise.naive_price, tuned=elementwise.tuned_price),
        "W3b": dict(graph=elementwise.graph_chain, naive=elementwise.naive_chain, tuned=elementwise.tuned_chain),
        "W4": dict(graph=convolution.graph, naive=convolution.naive),
        "W5": dict(graph=lstm.graph, naive=lstm.naive, tuned=lstm.tuned),
        "W6": dict(graph=transformer.graph, naive=transformer.naive),
        "W9": dict(graph=perceptron.graph_watched, unwatched=perceptron.graph, armed=perceptron.graph),
        "W11": dict(graph=models.graph_sparse, armed=models.graph_sparse),
        "W12": dict(graph=models.graph_rows, armed=models.graph_rows),
        "W13": dict(graph=models.graph_loop, armed=models.graph_loop),
        "W14": dict(graph=models.graph_block, armed=models.graph_block),
        "W15": dict(build=models.first_run),
        "W16": dict(graph=whole.graph_encoder),
        "W17": dict(graph=whole.graph_gan),
        "W18": dict(graph=whole.graph_residual),
        "W19": dict(graph=whole.graph_attention),
        "W20": dict(graph=whole.graph_text),
        "W21": dict(graph=whole.graph_vae),
        "W8-10k": dict(build=building.built(10000)),
        "W8-100k": dict(build=building.built(100000)),
    }
    for kind in "abc":
        found["W7" + kind] = dict(graph=hessian.graph(kind, "hessian"), naive=hessian.naive(kind, "hessian"))
        found[f"W7{kind}-hvp"] = dict(graph=hessian.graph(kind, "hvp"), naive=hessian.naive(kind, "hvp"))
        found[f"W7{kind}-gradient"] = dict(graph=hessian.graph(kind, "gradient"))
    found["W7a"]["tuned"], found["W7b"]["tuned"] = hessian.tuned_rosenbrock, hessian.tuned_logistic
    return found


# ---- the worker -------------------------------------------------------------------------

def tensorflow_like(system):
    """The module that a system's scripts import as tf."""
    if system in OWN:
        import autodiff
        return autodiff
    import tensorflow.compat.v1 as tf
    if system == "tf2":
        tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    return tf


def step_of(workload, system, threads):
    """What is timed; None if this system has nothing for the workload."""
    ways = workloads()[workload]
    if system in ("jax", "torch", "autograd"):
        from workloads import peers
        return peers.step_of(workload, system)
    if system in ways and system not in OWN:
        return ways[system]()
    way = system if system in ("unwatched", "armed") else "graph"
    if system in ("naive", "tuned") or way not in ways and (way != "graph" or "build" not in ways):
        return None
    tf = tensorflow_like(system)
    if "build" in ways:
        return ways["build"](tf)
    graph = tf.Graph()
    with graph.as_default():
        fetches, feeds, setup = ways[way](tf)
    level = tf.OptimizerOptions.ON_1 if system == "jit" else tf.OptimizerOptions.DEFAULT
    session = tf.Session(graph=graph, config=tf.ConfigProto(
        intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads,
        graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(global_jit_level=level))))
    if setup is not None:
        session.run(setup)
    if system == "armed":
        from autodiff.debug import Debugger
        debugger = Debugger(graph, session)
        debugger.break_at(condition="harmful")
        return lambda: debugger.on_run(session, fetches, feeds)[0]
    return functools.partial(session.run, fetches, feeds)


def memory(key):
    """MiB of this process: `VmRSS`, now, or `VmHWM`, the highest so far; 0 where the system does not tell."""
    try:
        with open("/proc/self/status") as f:
            return next((int(line.split()[1]) / 1024 for line in f if line.startswith(key)), 0.0)
    except OSError:
        return 0.0


def imported(system):
    """Import what a system needs, so that its memory is not counted."""
    if system in OWN or system in PEERS:
        name = "autodiff.debug" if system == "armed" else "autodiff" if system in OWN else IMPORTS[system].split()[1]
        importlib.import_module(name)


def digest(values):
    """A few numbers that tell whether two systems computed the same."""
    import numpy as np
    arrays = [np.asarray(v, np.float64) for v in values if v is not None]
    return [float(np.sqrt(np.square(a[~np.isnan(a)]).mean())) for a in arrays[:5]]


def work(workload, system, threads, seconds, root):
    """Answer each line of standard input with the time of one step, in seconds. root: where autodiff is."""
    if threads == 1 and hasattr(os, "sched_setaffinity"):  # XLA and TensorFlow have pools that ask no variable
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    sys.path.insert(0, root)
    imported(system)
    before = memory("VmRSS")
    step = step_of(workload, system, threads)
    if step is None:
        print(json.dumps({"skip": True}), flush=True)
        return
    first = step()
    told = first if isinstance(first, dict) else {"digest": digest(first)}
    start, runs = time.perf_counter(), 0
    while not isinstance(first, dict) and runs < LONG_ENOUGH and time.perf_counter() - start < 4 * WARM \
            or runs and time.perf_counter() - start < WARM:
        step()
        runs += 1
    each = (time.perf_counter() - start) / max(runs, 1)
    count = max(1, min(100000, int(seconds / max(each, 1e-7)))) if runs else 1
    told["mib"] = memory("VmHWM") - before
    print(json.dumps(told), flush=True)
    for _ in sys.stdin:
        start, used = time.perf_counter(), time.process_time()
        for _ in range(count):
            last = step()
        took, cpu = (time.perf_counter() - start) / count, (time.process_time() - used) / count
        print(json.dumps({"seconds": took, "cpu": cpu, **(last if isinstance(last, dict) else {})}), flush=True)


# ---- the coordinator --------------------------------------------------------------------

def environment(threads):
    """What a worker sees: BLAS and everybody else on so many threads."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {**os.environ, **dict.fromkeys(names, str(threads)), "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONWARNINGS": "ignore"}


def python_of(system, peers):
    """The interpreter that runs a system; None if it is not there. peers: name -> interpreter."""
    return peers.get(system) if system in PEERS else sys.executable


def peers_of(arguments):
    """Name -> interpreter, of --peer and the environment."""
    found = {name: os.environ[f"{name.upper()}_PYTHON"] for name in PEERS if f"{name.upper()}_PYTHON" in os.environ}
    for text in arguments.peer:
        name, _, python = text.partition("=")
        if name not in PEERS or not python:
            raise SystemExit(f"expected --peer NAME=PYTHON with NAME one of {', '.join(PEERS)}, found {text!r}")
        found[name] = python
    return found


class Worker:
    """One system in a process of its own."""

    def __init__(self, workload, system, arguments):
        command = [python_of(system, arguments.peers), os.path.abspath(__file__), "--workload", workload,
                   "--worker", system, "--threads", str(arguments.threads), "--seconds", str(arguments.seconds),
                   "--root", arguments.before if system == "before" else ROOT]
        self.system, self.times, self.cpu, self.extra = system, [], [], {}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment(arguments.threads))
        self.told = self.read()

    def read(self):
        """The next answer; says so if the worker has failed."""
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"skip": True}

    def measure(self):
        """Time one round."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self.read()
        self.times.append(answer.pop("seconds", float("nan")))
        self.cpu.append(answer.pop("cpu", float("nan")))
        self.extra = answer

    def close(self):
        """End the process."""
        self.process.stdin.close()
        self.process.wait()


def compare(workload, arguments):
    """Measure one workload; print its table."""
    workers = [Worker(workload, s, arguments) for s in arguments.systems if python_of(s, arguments.peers)]
    running = [w for w in workers if "skip" not in w.told]
    for i in range(arguments.rounds):
        for worker in running[i % len(running):] + running[:i % len(running)]:
            worker.measure()
    for worker in workers:
        worker.close()
    load = f", load {os.getloadavg()[0]:.1f} of {os.cpu_count()}" if hasattr(os, "getloadavg") else ""
    print(f"\n## {workload}, {arguments.threads} thread{'s' * (arguments.threads > 1)}{load}")
    bases = list(dict.fromkeys([*running[:2], *[w for w in running if w.system in (*PEERS, "before")]]))
    print("| system | median ms | CPU ms | " + " | ".join(f"ratio to {w.system} | lowest-highest" for w in bases)
          + " | MiB | same |")
    print("|---|---:|---:|" + "---:|---:|" * len(bases) + "---:|---|")
    for worker in running:
        cells = [f"{statistics.median(worker.times) * 1e3:.3f}", f"{min(worker.cpu) * 1e3:.3f}"]
        for base in bases:
            ratios = [a / b for a, b in zip(worker.times, base.times)]
            cells += [f"{statistics.median(ratios):.3f}", f"{min(ratios):.2f}-{max(ratios):.2f}"]
        cells.append(f"{worker.told['mib']:.0f}")
        cells.append(agreement(worker, running[0]) if "digest" in worker.told else str(worker.extra))
        print(f"| {worker.system} | {' | '.join(cells)} |", flush=True)


def agreement(worker, base):
    """`yes`, or by how much the results differ."""
    pairs = list(zip(worker.told["digest"], base.told["digest"]))
    apart = max([abs(a - b) / (abs(b) + 1e-6) for a, b in pairs] or [0.0])
    return "yes" if apart < TOLERANCE else f"apart by {apart:.1e}"


def compare_imports(arguments):
    """W10: the time of `import`, each in a fresh interpreter, with its bytecode written as where users are."""
    systems = [s for s in arguments.systems if s in IMPORTS and python_of(s, arguments.peers)]
    times = {s: [] for s in systems}
    with tempfile.TemporaryDirectory() as written:
        around = {**environment(1), "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": written}
        for _ in range(arguments.rounds + 1):  # the first writes it, and fills the disk's cache
            for system in systems:
                start = time.perf_counter()
                subprocess.run([python_of(system, arguments.peers), "-c", IMPORTS[system]], cwd=ROOT, check=True,
                               capture_output=True, env=around)
                times[system].append(time.perf_counter() - start)
    print("\n## W10, import\n| system | median ms | beyond the first, ms |\n|---|---:|---:|")
    medians = {s: statistics.median(t[1:]) * 1e3 for s, t in times.items()}
    for system, median in medians.items():
        print(f"| {IMPORTS[system]} | {median:.0f} | {median - medians[systems[0]]:.0f} |")


@contextlib.contextmanager
def busy(count):
    """Processes at work on the last processor, as on a machine that others use too."""
    last = {max(os.sched_getaffinity(0))} if count else set()
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"],
                               preexec_fn=lambda: os.sched_setaffinity(0, last)) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()


@contextlib.contextmanager
def as_of(commit):
    """A folder with the library as of a commit; "" for none."""
    if not commit:
        yield ""
        return
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(["git", "archive", commit, "autodiff"], cwd=ROOT, check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
        yield folder


def main():
    """Parse the arguments, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", default="all", help="names by commas, `all`, or `list`")
    parser.add_argument("--systems", default=SYSTEMS, help="by commas; peers that are given are added")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON", help=", ".join(PEERS))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.1, help="of one measurement")
    parser.add_argument("--compare", metavar="COMMIT", default="", help="adds the system before: autodiff as of it")
    parser.add_argument("--busy", type=int, default=0, help="processes at work on the last processor meanwhile")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--root", default=ROOT, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    names = [*workloads(), "W10"]
    if arguments.worker:
        work(arguments.workload, arguments.worker, arguments.threads, arguments.seconds, arguments.root)
        return
    arguments.peers = peers_of(arguments)
    arguments.systems = list(dict.fromkeys([*arguments.systems.split(","), *["before"] * bool(arguments.compare),
                                            *arguments.peers]))
    if arguments.workload == "list":
        print(*names)
        return
    wanted = names if arguments.workload == "all" else arguments.workload.split(",")
    unknown = [name for name in wanted if name not in names]  # workers may be of Python 3.7
    if unknown:
        parser.error(f"no workload {', '.join(unknown)}: there are {', '.join(names)}")
    with busy(arguments.busy), as_of(arguments.compare) as arguments.before:
        for name in wanted:
            compare_imports(arguments) if name == "W10" else compare(name, arguments)


if __name__ == "__main__":
    main()
