"""What the Debugger answers, as cells and lines: shapes, places, figures."""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from autodiff.debug.debugger import Debugger
from autodiff.debug.facts.answers import Value, WatchRow
from autodiff.debug.facts.records import Place, RunRecord, Sample, Stats
from autodiff.debug.facts.steps import When

from ..model.results import Array, Column, Table
from ..model.usage_error import UsageError
from .text import number

FIGURES = (Column("norm", "number"), Column("max|x|", "number", 6), Column("mean", "number", 3),
           Column("zero %", "percent", 7), Column("nan", "bad", 8), Column("inf", "bad", 8))


def figures(stats: Stats | None) -> tuple[Any, ...]:
    """Cells for FIGURES; all empty where there are no statistics, or none but the shape."""
    if stats is None or stats.norm is None and stats.count > stats.nonfinite:
        return (None,) * len(FIGURES)
    return (stats.norm, stats.max_abs, stats.mean, 100 * stats.zero_share, stats.nans, stats.infs)


def shape(dims: tuple[int | None, ...] | None) -> str:
    """`[?,784]`; `[…]` for unknown rank."""
    return "[…]" if dims is None else f"[{','.join(['?' if size is None else str(size) for size in dims])}]"


def place(site: Place | None) -> str:
    """`digits.py:41`, or nothing."""
    return f"{os.path.basename(site.file)}:{site.line}" if site else ""


def loss_of(record: RunRecord, dbg: Debugger) -> str:
    """`loss 0.123`, or nothing."""
    return "" if record.loss is None else f"{dbg.model.spoken(record.loss_name)} {number(record.loss)}"


def called(dbg: Debugger, name: str) -> str:
    """`loss:0`; of a tensor that nobody has named, `cost (add:0)` or `add:0 at model.py:12`."""
    plain, spoken = name.removesuffix(":0"), dbg.model.spoken(name)
    return f"{name}{spoken[len(plain):]}" if f"{spoken} ".startswith(f"{plain} ") else f"{spoken} ({name})"


def computed_here(names: tuple[str, ...]) -> list[str]:
    """What was not sent to workers, and why; nothing if all was."""
    return [f"computed in this process, not by workers: {', '.join(names)} holds Python code"] if names else []


def duration(ms: float) -> str:
    """`0.25 ms`, `1.5 s`: a time in three digits."""
    return f"{ms:.3g} ms" if ms < 999.5 else f"{ms / 1000:.3g} s"


def samples(record: RunRecord, watches: Iterable[WatchRow], most: int = 12) -> Table | None:
    """What the watches saw in a run: value and gradient side by side; None if they saw nothing."""
    watched = {name for row in watches for name in row.names}
    names = list(dict.fromkeys(s.name for s in record.samples if s.name in watched and s.stats is not None))
    if not names:
        return None
    rows: list[tuple[Any, ...]] = []
    for name in names[:most]:
        value, gradient = record.sample(name), record.sample(name, gradient=True)
        of_value = value.stats if value else None
        of_gradient = gradient.stats if gradient else None
        remark = gradient.missing if gradient and of_gradient is None else ""
        bad = sum(s.nonfinite for s in (of_value, of_gradient) if s is not None)
        rows.append((name, of_value.norm if of_value else None, 100 * of_value.zero_share if of_value else None,
                     of_gradient.norm if of_gradient else None, of_gradient.max_abs if of_gradient else None, bad,
                     len(value.turns) if value else 0, _by_turn(value), _by_turn(gradient), remark))
    more = (f"… {len(names) - most} more; info run shows all",) if len(names) > most else ()
    columns: tuple[Column, ...] = (Column("watched", "name"), Column("norm", "number"), Column("zero %", "percent", 5),
               Column("grad norm", "number"), Column("grad max", "number", 6), Column("nan/inf", "bad", 8),
               Column("turns", "count", 5), Column("norms by turn", "spark", 3), Column("grad by turn", "spark", 3),
               Column("remark", "text", 4))
    used = [at for at in range(len(columns)) if at < 6 or any(row[at] for row in rows)]
    return Table(tuple(columns[at] for at in used), tuple(tuple(row[at] for at in used) for row in rows), notes=more)


def _by_turn(sample: Sample | None) -> tuple[float, ...]:
    """Norms of what was seen inside of a loop, turn by turn."""
    return tuple(stats.norm or 0.0 for stats in sample.turns) if sample else ()


def array_of(value: Value) -> np.ndarray:
    """A value as an array. Raises UsageError for several of different shapes."""
    try:
        return np.asarray(value.array)
    except ValueError:
        raise UsageError(f"the parts of {value.expression!r} have different shapes", "print them one by one",
                         code="bad_shape") from None


def shown(value: Value, **how: Any) -> Array:
    """A value with its name in the history; `when` it is from is a note unless it is the present."""
    array = array_of(value)
    notes = (value.when,) if value.when and value.when != "now" and array.ndim else ()
    return Array(value.expression, array, f"${value.number}" if value.number else "", notes=notes, **how)


def bytes_in_words(count: float) -> str:
    """`12.3 MiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            break
        count /= 1024
    return f"{count:.0f} {unit}" if unit == "B" else f"{count:.3g} {unit}"


def of_steps(dbg: Debugger) -> list[tuple[int, RunRecord]]:
    """The steps so far with their numbers; before the first, the runs."""
    found = [(dbg.at(record), record) for record in dbg.records]
    return [(at.step, record) for at, record in found if at.is_step] or [(at.run, record) for at, record in found]


def summary(record: RunRecord, at: When) -> dict[str, Any]:
    """A run for programs."""
    return {"run": at.run, "step": at.step, "is_step": at.is_step, "loss": record.loss, "loss_name": record.loss_name,
            "ms": record.ms, "fetches": list(record.fetches), "error": record.error, "thread": record.thread,
            "samples": [{"name": s.name, "of": s.of, "missing": s.missing,
                         "stats": None if s.stats is None else as_dict(s.stats),
                         "turns": [as_dict(stats) for stats in s.turns]} for s in record.samples]}


def as_dict(stats: Stats) -> dict[str, Any]:
    """Statistics for programs."""
    return {"dtype": stats.dtype, "shape": list(stats.shape), "norm": stats.norm, "max": stats.max_abs,
            "mean": stats.mean,
            "zeros": stats.zeros, "nan": stats.nans, "inf": stats.infs, "count": stats.count}
