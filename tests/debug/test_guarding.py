"""`break if nan` looks at a few tensors of a run only, and yet nothing that is not finite stays unseen."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.graph import Graph
from autodiff.debug import Debugger
from autodiff.debug.engine.runs.finite_sentinels import _EVERY, _HANDS_ON, _shows, computed, guards_of

from ..ops.built import Built
from ..ops.case import Case
from ..ops.op_cases import CASES

BAD = (np.nan, np.inf, -np.inf)
ROWS = [c for c in CASES if c.op in {*_HANDS_ON, *_EVERY} and c.fails is None and c.through is None]


def places(array: np.ndarray) -> Iterator[tuple[int, ...]]:
    """Some elements: the first, the last, and others between."""
    for at in sorted({*range(0, array.size, max(1, array.size // 9)), array.size - 1}):
        yield tuple(int(i) for i in np.unravel_index(at, array.shape))


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case.name)
def test_ops_hand_on_what_is_not_finite(case: Case) -> None:
    made = Built(case)
    result = made.outputs[0]
    for at, (given, array) in enumerate(zip(made.inputs, made.arrays)):
        if array.dtype.kind != "f" or not array.size or not _shows(result.op, given, {result: None}):
            continue
        for others in (made.arrays, [np.zeros_like(a) if a.dtype.kind == "f" else a for a in made.arrays]):
            for place in places(array):
                for bad in BAD:
                    spoiled = others[at].copy()
                    spoiled[place] = bad
                    feeds = dict(zip(made.inputs, [spoiled if i == at else a for i, a in enumerate(others)]))
                    feeds = {t: a for t, a in feeds.items() if t.op.type == "Placeholder"}
                    found = made.session.run(result, feeds)
                    assert not found.size or not np.isfinite(found).all(), (at, place, bad)


def net() -> tuple[Graph, dict[str, Any]]:
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(3)
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        w = tf.Variable(tf.random_normal([4, 3]), name="w")
        b = tf.Variable(tf.zeros([3]), name="b")
        h = tf.add(tf.matmul(x, w), b, name="h")
        r = tf.nn.relu(h, name="r")
        masked = tf.where(h > 100.0, tf.log(h), tf.zeros_like(h), name="masked")
        e = tf.exp(-tf.square(r), name="e")
        v = tf.Variable(tf.random_normal([3, 2]), name="v")
        loss = tf.reduce_mean(tf.square(tf.matmul(e + masked, v)), name="loss")
        step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    return graph, {"x": x, "w": w, "b": b, "h": h, "v": v, "loss": loss, "step": step}


def everything(dbg: Debugger, fetches: list[Any], at: int) -> set[str]:
    """Names of all tensors of a past run that have any nan or inf, by looking at each."""
    moment = dbg.state.moment(at)
    tensors = [t for op in computed([t for t in fetches if isinstance(t, tf.Tensor)],
                                    [t for t in fetches if not isinstance(t, tf.Tensor)], moment.feeds.keys())
               for t in op.outputs if t.dtype.base_dtype.is_differentiable and not t.dtype.is_ref]
    found = {t.name for t, value in dbg.state.replayer.values_if_possible(moment, tensors).items()
             if not np.isfinite(value).all()}
    found |= {t.name for t, value in moment.feeds.items() if not np.isfinite(value).all()}
    return found | {f"{name}:0" for name, value in moment.variables.items() if not np.isfinite(value).all()}


@pytest.mark.parametrize("spoiled", ["x", "w", "b", "h", "v", ""])
@pytest.mark.parametrize("bad", BAD)
def test_all_that_is_not_finite_is_seen_and_nothing_else(spoiled: str, bad: float) -> None:
    graph, named = net()
    with tf.Session(graph=graph) as session:
        session.run(tf.variables_initializer(graph.get_collection("variables")))
        if spoiled in ("w", "b", "v"):
            value = session.variables[spoiled].copy()
            value.flat[1] = bad
            session.variables[spoiled] = value
        dbg = Debugger(graph, session)
        dbg.break_at(condition="nonfinite")
        feeds = {named["x"]: np.full((5, 4), 0.5, np.float32)}
        if spoiled == "x":
            feeds[named["x"]][2, 3] = bad
        if spoiled == "h":
            feeds[named["h"]] = np.ones((5, 3), np.float32)
            feeds[named["h"]][1, 1] = bad
        fetches = [named["loss"], named["step"]]
        _, record = dbg.on_run(session, fetches, feeds)
        seen = {s.name for s in record.samples if not s.of and s.stats is not None and s.stats.nonfinite}
        assert seen == everything(dbg, fetches, 1) and bool(record.stops) == bool(seen)
        order = [s.name for s in record.samples if not s.of]
        assert not spoiled or order[0] in (f"{spoiled}:0", "x:0", "w:0", "Log:0")


def test_few_are_looked_at_but_those_that_hide_it_are() -> None:
    graph, named = net()
    runs = computed([named["loss"]], [named["step"]], ())
    all_of_them = [t for op in runs for t in op.outputs if t.dtype.base_dtype.is_differentiable and not t.dtype.is_ref]
    found = {t.name for t in guards_of(all_of_them, runs).tensors}
    assert len(found) < len(all_of_them) / 2
    assert {"Log:0", "loss:0"} <= found and not {"x:0", "h:0", "MatMul:0", "add:0", "w/read:0"} & found
    assert all(t.op in runs for t in all_of_them)


def test_what_a_batch_of_nothing_hides_is_seen() -> None:
    graph, named = net()
    with tf.Session(graph=graph) as session:
        session.run(tf.variables_initializer(graph.get_collection("variables")))
        dbg = Debugger(graph, session)
        dbg.break_at(condition="nan")
        session.variables["w"] = np.full((4, 3), np.nan, np.float32)
        _, record = dbg.on_run(session, [named["h"]], {named["x"]: np.ones((0, 4), np.float32)})
        assert record.stops[0].target == "w:0"


def test_names_left_out_neither_stop_nor_cost_a_look() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [3], name="x")
        bias = tf.log(x, name="attention/bias")
        loss = tf.reduce_sum(tf.exp(bias) * 2.0, name="loss")
    with tf.Session(graph=graph) as session:
        dbg = Debugger(graph, session)
        dbg.break_at(condition="inf", exclude="attention")
        _, record = dbg.on_run(session, [loss], {x: [0.0, 1.0, 2.0]})
        assert not record.stops and not record.samples
        dbg.break_at(condition="inf and step > 2")
        assert not dbg.on_run(session, [loss], {x: [0.0, 1.0, 2.0]})[1].stops
        _, record = dbg.on_run(session, [loss], {x: [0.0, 1.0, 2.0]})
        assert record.stops[0].target == "attention/bias:0" and record.stops[0].number == 2


def test_a_feed_in_place_of_a_value_cuts_off_what_is_above() -> None:
    graph, named = net()
    with tf.Session(graph=graph) as session:
        session.run(tf.variables_initializer(graph.get_collection("variables")))
        dbg = Debugger(graph, session)
        dbg.break_at(condition="nan")
        _, record = dbg.on_run(session, [named["loss"]], {named["h"]: np.ones((2, 3), np.float32)})  # x is not fed
        assert not record.stops and not record.error
