"""Unique names: as TensorFlow numbers them, whatever is kept of those given before."""
from __future__ import annotations

import gc
import random

import pytest

import autodiff as ad
from autodiff.core import graph_parts
from autodiff.core.function_graph import functions_of
from autodiff.core.graph import Operation
from autodiff.core.names import RuleScopes, UniqueNames
from autodiff.core.op import OPS


def take_as_written(known: dict[str, int], name: str, *, mark: bool) -> str:
    """TensorFlow's rule, with every name given in `known`."""
    key = name.lower()
    count = known.get(key, 0)
    if mark:
        known[key] = count + 1
    if not count:
        return name
    while f"{key}_{count}" in known:
        count += 1
    if mark:
        known[f"{key}_{count}"] = 1
    return f"{name}_{count}"


def test_names_are_numbered_as_if_all_were_kept() -> None:
    draw = random.Random(5)
    words = ["x", "X", "x_1", "x_2", "x_01", "x_1_1", "s/x", "s/x_3", "_1", "1", "x_", "x_0", "y_²"]
    for _ in range(300):
        names, known = UniqueNames(), dict[str, int]()
        for _ in range(25):
            name, mark = draw.choice(words), draw.random() < 0.8
            assert names.take(name, mark=mark) == take_as_written(known, name, mark=mark), name
        assert len(names._count) <= len(known)


def test_names_in_the_scopes_of_rules_are_numbered_as_if_all_were_kept() -> None:
    draw = random.Random(7)
    for _ in range(200):
        _number_in_scopes(draw)


def _number_in_scopes(draw: random.Random) -> None:
    words = ["Mul", "mul", "Mul_1", "a/b", "z_grad", "z_grad/q", "X"]
    others = ["g/x_grad", "g/X_1_grad", "g/x_grad/Mul", "g/x_1_grad/mul_1", "g/a/z_grad", "g/y", "g/z_grad/mul"]
    graph, known, late = ad.Graph(), dict[str, int](), []

    def expected(name: str) -> str:
        return take_as_written(known, f"{graph.scope}/{name}" if graph.scope else name, mark=True)

    def make(name: str) -> Operation:
        late.append((graph.enter(OPS["NoOp"], (), {}, (), name), expected(name)))
        return late[-1][0]

    forward = [make(name) for name in ("x", "X", "x", "a/z", "y_grad")]
    assert (outer := graph.unique_name("g")) == expected("g")
    graph.scope = outer
    rules = RuleScopes(graph)
    for op in draw.sample(forward, 4):
        scope = expected(f"{op.name}_grad")
        assert (given := rules.open(op)) == scope
        graph.scope, graph.in_rule, graph.backprop_origin = given, rules, (op, None)
        for _ in range(draw.randrange(5)):
            word = draw.choice(words)
            if draw.random() < 0.8:
                make(word)
            else:
                assert graph.unique_name(word) == expected(word)
        rules.close()
        graph.scope, graph.in_rule, graph.backprop_origin = outer, None, (None, None)
        if draw.random() < 0.3:
            other, mark = draw.choice(others), draw.random() < 0.5
            assert graph.names.take(other, mark=mark) == take_as_written(known, other, mark=mark)
    assert [op.name for op, _ in late] == [name for _, name in late]


def test_names_that_sweeps_imply_are_those_that_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (names := _of_second_order()) and len(set(names)) == len(names)
    monkeypatch.setattr(UniqueNames, "implies", lambda self, rules: False)
    assert _of_second_order() == names


def _of_second_order() -> list[str]:
    with ad.Graph().as_default() as graph:
        x = ad.placeholder(ad.float32, [3], name="x")
        y = ad.cond(x[0] > 0, lambda: ad.sin(x) * x, lambda: ad.exp(x) + 1.0)
        y = ad.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * a + x[0]), [0, y])[1]
        dx, = ad.gradients(y * x + x[0], x)
        ad.gradients(dx, x)
        with ad.name_scope("gradients/"), ad.name_scope("mul_grad"):
            ad.identity(x, name="Mul")
        bodies = [f.graph for op in graph.get_operations() for f in functions_of(op)]
        return [op.name for each in (graph, *bodies) for op in each.get_operations()]


def test_an_index_is_the_place_whenever_it_is_asked_for() -> None:
    with ad.Graph().as_default() as graph:
        x = ad.placeholder(ad.float32, [2])
        y = x + x
        assert (y.op.index, x.op.index) == (1, 0)
        ops = [(y * x).op for _ in range(4)]
        cut = graph.operations.cut(5)
        assert [op.index for op in ops] == [2, 3, 4, 5] and list(cut.values()) == ops[3:]
        assert [op.index for op in graph.get_operations()] == [0, 1, 2, 3, 4] and (x * x).op.index == 5


def test_operations_are_found_by_names_that_are_made_late() -> None:
    with ad.Graph().as_default() as graph:
        x = ad.placeholder(ad.float32, [2])
        ad.gradients(ad.sin(x) * x, x)
        operations = graph.operations
        names = [op.name for op in graph.get_operations()]
        assert list(operations) == names and "gradients/mul_grad/Mul_1" in names
        later = x + x
        assert operations[later.op.name] is later.op and len(operations) == len(names) + 1
        assert operations.cut(len(names)) == {later.op.name: later.op} and later.op.name not in operations
        assert later.op.outputs == (later,)


def test_graphs_grow_without_collections_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_parts, "_IN_A_ROW", 2)
    was_collecting = gc.isenabled()
    gc.collect()
    gc.disable()  # so that only the graph can move them to the oldest generation
    try:
        with ad.Graph().as_default() as graph:
            listed = graph.operations.listed
            while len(listed) < 4 << 13:
                graph.enter(OPS["NoOp"], (), {}, (), "no")
            assert _is_old(listed[0]) and _is_old(listed[2 << 12]) and not _is_old(listed[-1])
            gc.collect()
            while len(listed) < 5 << 13:
                graph.enter(OPS["NoOp"], (), {}, (), "no")
            assert _is_old(listed[-1])
    finally:
        if was_collecting:
            gc.enable()


def _is_old(op: Operation) -> bool:
    return any(each is op for each in gc.get_objects(generation=2))
