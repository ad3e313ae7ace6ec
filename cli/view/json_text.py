"""Results as strict JSON, an object on a line for each command: cli/schema.json says what is in it."""
from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..model.results import Array, Error, Group, Result, Source, Stop, error_in
from .text import clean

LARGEST = 10_000  # elements of an array that JSON carries


def to_json(command: str, result: Result) -> str:
    """One object on one line, strict JSON: NaN and infinities are strings, keys and order fixed."""
    error = error_in(result)
    ok = result.exit_code == 0 or error is None
    body = {"schema": 1, "cmd": command, "ok": ok, "kind": kind(result),
            "data": None if isinstance(result, Error) else data(result),
            "error": _error(error) if error else None}
    return json.dumps(body, allow_nan=False, ensure_ascii=True)


def _error(error: Error) -> dict[str, Any]:
    fields = {name: error.fields.get(name, "") for name in ("what", "expected", "found", "node", "line")}
    return {"code": error.code, "message": error.message, **fields, "hint": error.hint,
            "columns": None if error.span is None else list(error.span)}


def kind(result: Result) -> str:
    """The kind of a result, as one lower-case word."""
    named = Array if isinstance(result, Array) else Group if isinstance(result, Group) else type(result)
    return named.__name__.lower()


def data(result: Result) -> Any:
    """A result's fields as JSON values."""
    if isinstance(result, Array):
        return _array(result)
    if isinstance(result, Stop):
        return {"reason": result.reason, "hit": result.hit, **jsonable(result.data)}
    fields = {f.name: getattr(result, f.name) for f in dataclasses.fields(result)}
    if "parts" in fields:
        return {"parts": [{"kind": kind(part), "data": data(part)} for part in fields["parts"]]}
    if "columns" in fields:
        names = [column.name for column in fields["columns"]]
        rows = [dict(zip(names, map(jsonable, row))) for row in fields["rows"]]
        for row, branch_marks in zip(rows, fields["branches_drawn"]):
            row.update(branch_marks._asdict())
        return {"title": fields["title"], "columns": names, "notes": list(fields["notes"]), "rows": rows}
    if isinstance(result, Source):
        fields = {name: fields[name] for name in ("file", "first", "lines", "current", "gutter")}
    if "series" in fields:
        fields["series"] = [{"name": name, "steps": list(steps), "values": jsonable(values)}
                            for name, steps, values in fields["series"]]
        del fields["height"]  # how it is drawn
    if "children" in fields:
        fields["children"] = [data(child) for child in fields["children"]]
    return jsonable(fields)


def _array(result: Array) -> dict[str, Any]:
    value = result.value
    whole = value.size <= LARGEST
    first, count = result.window or (0, 0)
    found = {"name": result.name, "ref": result.ref, "dtype": value.dtype.name, "shape": list(value.shape),
             "value": jsonable(value.tolist()) if whole else None, "summarized": not whole, "notes": list(result.notes)}
    if result.window is not None:
        found["window"] = {"first": first, "elements": jsonable(value.reshape(-1)[first:first + count].tolist())}
    if result.marked is not None:
        found["marked"] = {"what": result.mark, "count": int(result.marked.sum()),
                           "first": np.argwhere(result.marked)[:100].tolist()}
    return found


def jsonable(value: Any) -> Any:
    """`value` in JSON's own types."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    if isinstance(value, complex):
        return {"real": jsonable(value.real), "imag": jsonable(value.imag)}
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [jsonable(item) for item in value]
    return clean(str(value))
