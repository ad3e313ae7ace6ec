"""Unique names: as TensorFlow numbers them, whatever is kept of those given before."""
from __future__ import annotations

import random

from autodiff.core.names import UniqueNames


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
