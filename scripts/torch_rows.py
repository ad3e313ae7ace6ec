"""Make tests/foreign/torch_ops.npz: what torch gives for each row of tests/foreign/torch_rows.py, and its gradients.

Run it where torch is installed: python scripts/torch_rows.py
"""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.foreign.torch_rows import ROWS, Dtype, filled, weights  # noqa: E402


def given(tree: Any, dtype: str, leaves: list[Any]) -> Any:
    """Arguments as torch's; tensors are added to leaves."""
    if isinstance(tree, np.ndarray):
        leaves.append(torch.from_numpy(tree.copy()))
        return leaves[-1]
    if isinstance(tree, Dtype):
        return getattr(torch, dtype if tree.name == "given" else tree.name)
    if isinstance(tree, (list, tuple)):
        return [given(part, dtype, leaves) for part in tree]
    return {key: given(part, dtype, leaves) for key, part in tree.items()} if isinstance(tree, dict) else tree


def answers(number: int, dtype: str) -> dict[str, np.ndarray]:
    """Outputs and gradients of one row, by name."""
    row, leaves = ROWS[number], []
    args, kwargs = (filled(tree, np.random.default_rng(number), dtype) for tree in (row.args, row.kwargs))
    args, kwargs = given(list(args), dtype, leaves), given(kwargs, dtype, leaves)
    for i, leaf in enumerate(leaves):
        leaf.requires_grad_(row.slopes and (leaf.is_floating_point() or leaf.is_complex()) and i not in row.fixed)
    packet, _, overload = row.op.partition(".")
    op = getattr(torch.ops.aten, packet)
    result = (getattr(op, overload) if overload else op)(*args, **kwargs)
    outputs = list(result) if isinstance(result, (list, tuple)) else [result]
    outputs = outputs[:row.outputs or None]
    found = {f"{number}:{dtype}:y{i}": y.detach().resolve_conj().numpy() for i, y in enumerate(outputs)}
    wanted = [x for x in leaves if x.requires_grad]
    slopes = [y for y in outputs if y.requires_grad]
    if slopes and wanted:
        total = sum((y * torch.from_numpy(weights(tuple(y.shape))).to(y.dtype)).sum().real for y in slopes)
        for x, dx in zip(wanted, torch.autograd.grad(total, wanted, allow_unused=True)):
            if dx is not None:
                at = next(i for i, leaf in enumerate(leaves) if leaf is x)
                found[f"{number}:{dtype}:dx{at}"] = dx.resolve_conj().numpy()
    return found


def main() -> None:
    """Write the file; rows that torch refuses are said."""
    torch.set_num_threads(1)
    found: dict[str, np.ndarray] = {}
    for number, row in enumerate(ROWS):
        for dtype in ("float64", "float32"):
            try:
                found |= answers(number, dtype)
            except (RuntimeError, NotImplementedError, TypeError, AttributeError) as error:
                print(f"{number} {row.op} {dtype}: {str(error).splitlines()[0]}")
    np.savez_compressed(ROOT / "tests" / "foreign" / "torch_ops.npz", **found)
    print(f"{len(ROWS)} rows, {len({row.op.partition('.')[0] for row in ROWS})} ops, {len(found)} arrays")


if __name__ == "__main__":
    main()
