"""Rows of candidate samplers."""

import numpy as np
from autodiff.errors import InvalidArgumentError

from ..case import Case

_CLASSES = np.array([[3, 1], [0, 2], [5, 6]])
_DRAW = {"num_true": 2, "num_sampled": 4, "range_max": 9, "seed": 1, "seed2": 2}

ROWS: list[Case] = [
    row for name in ("LogUniformCandidateSampler", "UniformCandidateSampler") for row in (
        Case(name, (_CLASSES,), _DRAW),
        Case(name, (_CLASSES,), {**_DRAW, "unique": False, "num_sampled": 20}, id="repeated"),
        Case(name, (_CLASSES,), {**_DRAW, "num_sampled": 10}, id="too many", fails=InvalidArgumentError, at_run=True),
        Case(name, (np.array([1, 2]),), _DRAW, id="rank", fails=ValueError),
    )
]
