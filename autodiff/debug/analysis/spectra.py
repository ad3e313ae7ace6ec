"""Eigenvalues that are equal, whose eigenvectors have no derivative: it divides by what they differ by."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core.graph import Operation, Tensor

_DECOMPOSED = "SelfAdjointEigV2"


def decomposed_for(op: Operation) -> Operation | None:
    """The decomposition of a symmetric matrix that an op is, or hands on with a gradient of its own."""
    made = [t.op for t in op.inputs if t.op.type == _DECOMPOSED] if op.type == "IdentityN" else []
    return op if op.type == _DECOMPOSED else made[0] if made else None


def to_mend(op: Operation | None, made: Operation | None) -> Operation | None:
    """What to change where `made`, of the gradient of an op, is to blame: that itself in a function of the script's."""
    is_own = op is not None and bool(op.override) and op.type == "IdentityN"
    return (decomposed_for(op) if op is not None else None) or (made if is_own else op)


def equal_eigenvalues(op: Operation, values: Mapping[Tensor, Any]) -> str:
    """Which are, where an op divides by their difference for a gradient; "" for no such op."""
    made = decomposed_for(op.forward_op) if op.gradient_of is not None and op.type in (
        "Pow", "Reciprocal", "RealDiv") else None
    spectra = values.get(made.outputs[0]) if made is not None else None
    for spectrum in np.reshape(spectra, (-1, np.shape(spectra)[-1])) if spectra is not None else ():
        for i in np.flatnonzero(np.diff(spectrum) == 0)[:1]:
            last = i + int(np.sum(spectrum == spectrum[i])) - 1
            return (f"1 / ({spectrum[i]:.6g} - {spectrum[i]:.6g}), as eigenvalues {i} {'to' if last > i + 1 else 'and'}"
                    f" {last} of {len(spectrum)} are equal, and their eigenvectors then have no derivative,")
    return ""
