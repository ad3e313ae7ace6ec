"""Edits of data: to a mean of 0 and a size of 1, by numbers that are written down; a constant column stays as it is."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ....core.constant_value import static_value
from ....core.graph import Tensor
from ....core.op import build
from ....core.traversal import reached, users_of
from ...facts.roles import PLACEHOLDERS, takes_elements
from .in_datasets import Taken, component_of
from .in_graph import Edit, around, constant, replaced
from .in_source import Fed
from .of_keras.given import given_of

SCALE = "scale"  # how the words begin
_NARROW = 12  # columns, up to which the mean of each is written
_ALIKE = 10.0  # times: columns that one mean is enough for
_ARRANGE = ("Identity", "Reshape", "ExpandDims", "Squeeze", "Transpose")
_STILL = 1e-6  # relative to its size: a column that is constant


def scaled(data: Tensor, rows: np.ndarray, *, explains: bool = False) -> Edit:
    """What is fed, or a constant table, less its mean and over its deviation; of a table each column's.

    rows: what it was, as far as that is known. explains: as of Edit.
    """
    rows = np.asarray(rows, np.float64)
    is_table = rows.ndim == 2 and rows.shape[1] > 1 and not _is_uniform(rows)
    mean, spread = _measured(rows if is_table else rows.reshape(-1, 1))
    is_fed, is_taken = data.op.type in PLACEHOLDERS, takes_elements(data.op)
    given = given_of(data.op)
    what, name = (f"{given.word} as fit is given it", given.word) if given is not None else (
        component_of(data) if is_taken else f"the data {'fed for' if is_fed else 'of'} {data.op.name}", "x")
    words = f"{SCALE} {what}: ({name} - mean) / std" + " of each column" * is_table
    if is_table:
        words += f", which reach {', '.join(f'{n:.3g}' for n in np.abs(rows).max(axis=0)[:_NARROW])}"
    edit = replace(replaced(data, words, lambda x: build.RealDiv(build.Sub(x, _like(mean, x)), _like(spread, x))),
                   explains=explains)
    if len(mean) > _NARROW:
        return edit
    less, over = (f"{', '.join(f'{n:.10g}' for n in each)}" for each in (mean, spread))
    less, over = (f"[{each}]" if is_table else each for each in (less, over))
    if is_taken:
        return replace(edit, line=Taken(data.op, data.op.outputs.index(data), f"({{0}} - {less}) / {over}"))
    if not is_fed:
        return replace(edit, line=around(data.op, f"({{0}} - {less}) / {over}"))
    return replace(edit, line=Fed(data.op, f"({{np}}.asarray({{0}}) - {less}) / {over}", f" * {over} + {less}"))


def of_pixels(data: Tensor, values: Any) -> list[Edit]:
    """Numbers from 0 to 255 that are as many as an image has, as parts of 255, where they become real ones; [] of other
    data, and of what a constant scales already."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf" or array.ndim < 2 or array[:1].size <= _NARROW or not (
            array.min() >= 0 and 128 < array.max() <= 255 and (array % 1 == 0).all()):
        return []
    words = f"{SCALE} the pixels {'fed for' if data.op.type in PLACEHOLDERS else 'of'} {data.op.name}: x / 255"
    arranged = reached([data.op], lambda op: [c for c in users_of(op) if c.type in _ARRANGE])
    real = [data] if data.dtype.is_floating else [c.outputs[0] for op in arranged for c in users_of(op)
                                                  if c.type == "Cast" and c.outputs[0].dtype.is_floating]
    edits = [replace(replaced(t, words, lambda x: build.RealDiv(x, constant(255.0, x)), "{0} / 255.0"), explains=True)
             for t in real if not any(c.type in ("RealDiv", "Mul", "Sub") and any(static_value(other) is not None
                                      for other in c.inputs) for c in users_of(t.op))]
    line = Fed(data.op, "{0} / 255.0") if data.op.type in PLACEHOLDERS else Taken(
        data.op, data.op.outputs.index(data), "{0} / 255.0") if takes_elements(data.op) else None
    return [replace(each, line=line) if line is not None and each.op is data.op else each for each in edits]


def divided_feed(fed: Tensor, size: float) -> Edit:
    """Numbers that are fed one by one, as parts of the power of ten that is nearest to what they reach by now."""
    whole = 10.0 ** round(float(np.log10(size)))
    found = replaced(fed, f"scale the data fed for {fed.op.name}: x / {whole:g}, as they reach {size:.3g}", lambda x:
                     build.Mul(x, constant(1 / whole, x)))
    return replace(found, line=Fed(fed.op, f"{{0}} / {whole:g}"))


def _is_uniform(rows: np.ndarray) -> bool:
    """Whether a table is wide, and of numbers of one kind, as pixels are."""
    sizes = np.abs(rows).max(axis=0)
    return rows.shape[1] > _NARROW and sizes[sizes > 0].size > 0 and np.median(sizes[sizes > 0]) * _ALIKE > sizes.max()


def _measured(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations of columns, with as many digits as tell; 0 and 1 of one that is constant."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    varies = spread > _STILL * np.abs(rows).max(axis=0)
    digits = [1 - int(np.floor(np.log10(s))) if v else 0 for s, v in zip(spread, varies)]
    return (np.array([np.round(m, n) if v else 0.0 for m, n, v in zip(mean, digits, varies)]),
            np.array([np.round(s, n) if v else 1.0 for s, n, v in zip(spread, digits, varies)]))


def _like(value: np.ndarray, tensor: Tensor) -> Tensor:
    dtype = tensor.dtype.base_dtype
    return build.Const(value=(value if value.size > 1 else value[0]).astype(dtype.as_numpy_dtype), dtype=dtype)
