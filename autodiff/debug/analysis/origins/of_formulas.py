"""What formulas are at fault for when a training diverges: sums over neighbors, states without bound, exponentials."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors
from ..edits.in_graph import Edit
from ..edits.in_logarithms import logged
from .adjacency import divided, summing
from .borders import squeezed
from .recurrent import squashed, unbounded

_GIANT = 1e8  # of an exponential


def edits_of_causes(y: Tensor, values_of: Callable[[Sequence[Operation]], Mapping[Tensor, Any]]
                    ) -> Iterator[list[Edit]]:
    """What mends it, each to be tried. values_of: known values of ops."""
    yield from squeezed(y, values_of)
    found = summing(y, values_of)
    yield from [[divided(each.matrix) for each in found]] if found else []
    steps = unbounded(y)
    yield from [squashed(steps)] if steps else []
    exps = [op for op in ancestors([y]) if op.type == "Exp" and op.gradient_of is None]
    values = values_of(exps) if exps else {}
    for op in exps:
        edit = logged(op) if float(np.max(values.get(op.outputs[0], 0.0), initial=0.0)) > _GIANT else None
        yield from [[edit]] if edit is not None else []
