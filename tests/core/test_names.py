"""Unique names: as TensorFlow numbers them, whatever is kept of those given before."""
from __future__ import annotations

import random

import autodiff as ad
from autodiff.core.names import UniqueNames, leaf


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


def test_names_in_the_scope_of_a_rule_are_numbered_as_if_all_were_kept() -> None:
    draw = random.Random(7)
    scopes, words = ["x_grad", "X_grad", "s/x_grad", "y"], ["Mul", "mul", "Mul_1", "a/b", "z_grad", "z_grad/q"]
    for _ in range(300):
        names, known = UniqueNames(), dict[str, int]()
        for _ in range(8):
            scope = draw.choice(scopes)
            assert (given := names.take(scope)) == take_as_written(known, scope, mark=True)
            leaves = names.open(given)
            for _ in range(draw.randrange(6)):
                word, beside = draw.choice(words), draw.random() < 0.1
                found = None if leaves is None or beside else leaf(word, leaves)
                name = names.take(f"{given}/{word}") if found is None else f"{given}/{found}"
                assert name == take_as_written(known, f"{given}/{word}", mark=True)
            if leaves is not None:
                names.close(given, leaves)
            other = f"{draw.choice(scopes)}/{draw.choice(words)}"
            assert names.take(other, mark=False) == take_as_written(known, other, mark=False)
            if draw.random() < 0.2:
                assert names.take(other) == take_as_written(known, other, mark=True)


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
