"""Random graphs that train: however a step is made, looked at or kept, its values are the same to the bit."""
from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger
from autodiff.runtime import program as program_module

from .conftest import Share

STEPS = 4


def _generator() -> Any:
    """scripts/random_graphs.py, which is no part of a package."""
    path = Path(__file__).parents[2] / "scripts" / "random_graphs.py"
    spec = importlib.util.spec_from_file_location("random_graphs", path)
    assert spec is not None and spec.loader is not None
    module = sys.modules["random_graphs"] = importlib.util.module_from_spec(spec)  # dataclasses look for it there
    spec.loader.exec_module(module)
    return module


random_program = _generator().random_program


class Model(NamedTuple):
    """A graph of chance. fetches: what a step gives; feeds: what it is given; script: the text that made it."""

    graph: tf.Graph
    init: Any
    fetches: list[Any]
    train: Any
    feeds: list[dict[Any, Any]]
    script: str


def model(seed: int) -> Model:
    """The program of a seed whose constants are variables, with noise, and rows that are updated."""
    program = random_program(seed)
    lines, leaves = [], []
    for s in program.statements:
        expression = s.expression
        if expression.startswith("tf.constant("):
            expression = f"tf.Variable({expression}, name={s.name!r})"
            leaves.append(s.name)
        lines.append(f"{s.name} = {expression}")
    used = {name for s in program.statements for name in s.uses}
    ends = [s.name for s in program.statements if s.name not in used and s.kind != "leaf"] or [leaves[0]]
    lines.append(f"ends = [e + tf.zeros([], e.dtype) for e in [{', '.join(ends)}]]")
    lines.append("noise = tf.reduce_mean(tf.random_uniform([3], dtype=tf.float64))")
    lines.append("rows = tf.Variable(tf.ones([5, 2], tf.float64), name='rows')")
    lines.append("row = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(rows, [1, 3, 1])))")
    lines.append("y = tf.add_n([tf.cast(tf.reduce_sum(e), tf.float64) for e in ends]) * noise + row")
    space: dict[str, Any] = {"tf": tf, "np": np}
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(seed)
        exec(compile("\n".join(lines), "<random graph>", "exec"), space)
        pairs = [pair for pair in tf.train.GradientDescentOptimizer(0.01).compute_gradients(space["y"])
                 if pair[0] is not None]
        optimizer = (tf.train.GradientDescentOptimizer, tf.train.AdamOptimizer, tf.train.AdagradOptimizer)[seed % 3]
        train = optimizer(0.01).apply_gradients(pairs)
        fetches = [space["y"], space["noise"], *space["ends"], *[tf.convert_to_tensor(g) for g, _ in pairs]]
        init = tf.global_variables_initializer()
    values = [(space[name], eval(text, space)) for name, text in program.fed]
    feeds = [{tensor: value * (1 + i / 8) for tensor, value in values} for i in range(STEPS)]
    return Model(graph, init, fetches, train, feeds, "\n".join(lines))


def bits(values: Any) -> list[tuple[Any, ...]]:
    return [(v.dtype.str, v.shape, v.tobytes()) for v in map(np.asarray, values)]


def state(session: Any) -> dict[str, Any]:
    return dict(zip(sorted(session.variables), bits(session.variables[name] for name in sorted(session.variables))))


def plainly(made: Model, *, at_once: bool) -> Iterator[Any]:
    """Each step's values and the variables after it, by the interpreter or by functions made of its plan."""
    with tf.Session(graph=made.graph) as session:
        session.run(made.init)
        for feeds in made.feeds:
            whole = [*made.fetches, made.train]
            values = session.run(whole, feeds) if at_once else session.start(whole, feeds).finish()
            yield bits(values[:-1]), state(session)


def debugged(made: Model, folder: str) -> tuple[Debugger, list[Any]]:
    """The same under a debugger that watches all, and records."""
    session = tf.Session(graph=made.graph)
    dbg = Debugger(made.graph, session)
    dbg.watch("/./")
    dbg.record(folder)
    dbg.on_run(session, made.init)
    found = []
    for feeds in made.feeds:
        values, _ = dbg.on_run(session, [*made.fetches, made.train], feeds)
        found.append((bits(values[:-1]), state(session)))
    dbg.recordings.stop()
    return dbg, found


def looked_up(dbg: Debugger, made: Model) -> list[Any]:
    """What is computed again of each step, the last one first."""
    names = [t.name for t in made.fetches]
    found = []
    for moment in reversed(list(dbg.state.moments)[1:]):
        tensors = [dbg.model.graph.get_tensor_by_name(name) for name in names]
        found.append(bits(dbg.state.replayer.values(moment, tensors)))
    return found[::-1]


def test_every_way_gives_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: Share) -> None:
    monkeypatch.setattr(program_module, "HOT", 2)
    for seed in share.seeds(8):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            made = model(seed)
            where = f"seed {seed}\n{made.script}"
            interpreted = list(plainly(made, at_once=False))
            assert list(plainly(made, at_once=True)) == interpreted, f"compiled: {where}"
            dbg, found = debugged(made, str(tmp_path / f"{seed}.rec"))
            assert found == interpreted, f"debugged: {where}"
            values = [step for step, _ in interpreted]
            assert looked_up(dbg, made) == values, f"replayed: {where}"
            other = Debugger()
            other.open_recording(str(tmp_path / f"{seed}.rec"))
            assert looked_up(other, made) == values, f"recorded: {where}"
