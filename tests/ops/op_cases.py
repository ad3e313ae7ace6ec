"""The op table: `CASES`, every row of every family in rows/.

A family is a module with `ROWS: list[Case]`; it is found by its file's name, there is no list to keep.
"""

from importlib import import_module
from pathlib import Path

from .case import Case

FAMILIES = sorted(path.stem for path in (Path(__file__).parent / "rows").glob("[a-z]*.py"))
CASES: list[Case] = [row for family in FAMILIES for row in import_module(f".rows.{family}", __package__).ROWS]
