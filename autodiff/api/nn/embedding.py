"""Embeddings: rows of one table, or of a table that is split in parts."""
from __future__ import annotations

from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import int32
from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from ..arrays.gathering import dynamic_partition, dynamic_stitch, gather
from ..math.norms import clip_by_norm
from ..variables.partitioned import PartitionedVariable

__all__ = ["embedding_lookup"]


def embedding_lookup(params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None,
                     validate_indices: bool = True, max_norm: float | None = None) -> Tensor:
    """Rows of a table by number. params: float[v, ...], ids: int[...] -> float[*ids, ...].

    params: a table, or a list of parts of one. partition_strategy: 'mod' (row i is row i // parts of part i % parts)
    or 'div' (contiguous parts, the first ones a row longer). max_norm: rows of larger norm are scaled down to it.
    The gradient of a table is IndexedSlices.
    """
    parts = list(params) if isinstance(params, (list, tuple, PartitionedVariable)) else [params]
    if not parts:
        raise ArgumentError(expected="at least one table", found="none")
    with scope(name, "embedding_lookup", [ids]) as full:
        ids = convert_to_tensor(ids, name="ids")
        if len(parts) == 1:
            return build.Identity(_clipped(gather(parts[0], ids, name=full), ids, max_norm))
        return _from_parts(parts, ids, partition_strategy, max_norm, full)


def _clipped(rows: Tensor, ids: Tensor, max_norm: float | None) -> Tensor:
    if max_norm is None:
        return rows
    if rows.dims is None or ids.dims is None:
        raise ArgumentError(expected="ids and table of known rank for max_norm",
                            found=f"{ids.describe()} and {rows.describe()}")
    return clip_by_norm(rows, max_norm, axes=list(range(len(ids.dims), len(rows.dims))))


def _from_parts(parts: list[Any], ids: Tensor, strategy: str, max_norm: float | None, full: str) -> Tensor:
    count = len(parts)
    tables = [part.as_tensor() if hasattr(part, "as_tensor") else convert_to_tensor(part) for part in parts]
    flat = build.Reshape(ids, [-1])
    where = build.Range(0, build.Size(flat), 1)
    if strategy == "mod":
        owner, local = build.FloorMod(flat, count), build.FloorDiv(flat, count)
    elif strategy == "div":
        owner, local = _contiguous(tables, flat)
    else:
        raise ArgumentError(expected="a partition_strategy 'mod' or 'div'", found=repr(strategy))
    owner = build.Cast(owner, dtype=int32) if owner.dtype is not int32 else owner
    wanted = dynamic_partition(local, owner, count)
    places = dynamic_partition(where, owner, count)
    rows = [_clipped(gather(table, mine), mine, max_norm) for table, mine in zip(tables, wanted)]
    stitched = dynamic_stitch(places, rows)
    result = build.Reshape(stitched, build.ConcatV2(0, build.Shape(ids), build.Shape(tables[0])[1:]), name=full)
    if ids.dims is not None and tables[0].dims is not None:
        result.set_shape((*ids.dims, *tables[0].dims[1:]))
    return result


def _contiguous(tables: list[Tensor], flat: Tensor) -> tuple[Tensor, Tensor]:
    """Which part has each row, and where in it, if the first parts may be one row longer."""
    known = [t.dims[0] if t.dims else None for t in tables]
    sizes: list[Any] = [build.Shape(t, out_type=flat.dtype)[0] if None in known else size
                        for t, size in zip(tables, known)]
    short, extra = sum(sizes) // len(tables), sum(sizes) % len(tables)
    some = build.Maximum(short, 1) if None in known else max(short, 1)
    owner = build.Maximum(build.FloorDiv(flat, short + 1), build.FloorDiv(flat - extra, some))
    in_long = build.Less(owner, extra)
    return owner, build.Select(in_long, build.FloorMod(flat, short + 1), build.FloorMod(flat - extra, some))
