"""Rows of a table of gradients: sorted, and added up by name scope."""
from __future__ import annotations

import numpy as np

from .derivative_answers import GradRow

SORTS = ("name", "norm", "max", "zero", "nan", "inf", "update")


def in_order(rows: list[GradRow], field: str) -> list[GradRow]:
    """Rows by name, or by one of SORTS, largest first; without a field as they are."""
    if not field:
        return rows
    if field == "name":
        return sorted(rows, key=lambda row: row.name)

    def size(row: GradRow) -> float:
        stats = row.stats
        assert stats is not None
        value = {"norm": stats.norm, "max": stats.max_abs, "zero": stats.zero_share, "nan": stats.nans,
                 "inf": stats.infs,
                 "update": row.update}[field]
        return -float("inf") if value is None else float(value)

    return sorted(rows, key=size, reverse=True)


def by_scope(rows: list[GradRow]) -> list[GradRow]:
    """One row for each name scope: norms combined, counts added."""
    groups: dict[str, list[GradRow]] = {}
    for row in rows:
        groups.setdefault(row.name.rpartition("/")[0] or "(top)", []).append(row)
    return [_combined(scope, members) for scope, members in groups.items()]


def _combined(scope: str, rows: list[GradRow]) -> GradRow:
    stats = [row.stats for row in rows if row.stats is not None]
    first = stats[0]
    lows = [s.minimum for s in stats if s.minimum is not None]
    highs = [s.maximum for s in stats if s.maximum is not None]
    count = sum(s.count for s in stats)
    together = type(first)(
        first.dtype, (count,), count, sum(s.nans for s in stats), sum(s.positive_infs for s in stats),
        sum(s.negative_infs for s in stats), sum(s.zeros for s in stats), min(lows) if lows else None,
        max(highs) if highs else None, sum((s.mean or 0.0) * s.count for s in stats) / count if count else None,
        float(np.linalg.norm([s.norm or 0.0 for s in stats])))
    updates = [row.update for row in rows if row.update is not None]
    return GradRow(scope, "", "", None, together, max(updates) if updates else None, (), count=len(rows))
