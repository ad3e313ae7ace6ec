"""The op table: a family is loaded when the first of its ops is asked for."""
from __future__ import annotations

import importlib
import types

import pytest

from autodiff.core.op import OPS, OpDef, OpTable


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> OpTable:
    """A table of A and B, of which `one` declares A and `two` both; only where A is, is known beforehand."""
    made = OpTable()
    declares: dict[str, OpDef] = {"one": OPS["Sin"], "two": OPS["Cos"]}

    def load(name: str) -> types.ModuleType:
        dict.__setitem__(made, {"one": "A", "two": "B"}[name], declares[name])
        return types.ModuleType(name)

    def load_all() -> None:
        load("one")
        load("two")

    monkeypatch.setattr(importlib, "import_module", load)
    made.places, made.load_all = {"A": "one", "Gone": "one"}, load_all
    return made


def test_an_op_is_loaded_when_it_is_asked_for(table: OpTable) -> None:
    assert table["A"] is OPS["Sin"]
    assert table.is_loaded("A")
    assert not table.is_loaded("B")


def test_an_op_of_an_unknown_or_wrong_place_is_found_all_the_same(table: OpTable) -> None:
    assert table["B"] is OPS["Cos"]
    assert "Gone" not in table
    assert "B" in table
    assert table.get("Never") is None
    with pytest.raises(KeyError, match="Never"):
        table["Never"]


@pytest.mark.parametrize("walk", [list, lambda table: list(table.keys()), lambda table: list(dict(table.items()))])
def test_who_walks_through_the_table_sees_all(table: OpTable, walk: object) -> None:
    assert walk(table) == ["A", "B"]  # type: ignore[operator]
    assert len(table) == len(table.values()) == 2
