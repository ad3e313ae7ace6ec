"""Rows of candidate samplers."""

import numpy as np
from autodiff.errors import InvalidArgumentError

from ..case import Case

_CLASSES = np.array([[3, 1], [0, 2], [5, 6]])
_DRAW = {"num_true": 2, "num_sampled": 4, "range_max": 9, "seed": 1, "seed2": 2}

_UNIGRAMS = {"unigrams": (1.0, 2.0, 3.0, 0.5, 1.0, 5.0, 1.0, 4.0, 2.0)}
_SHORT = {"unigrams": (1.0, 2.0)}

ROWS: list[Case] = [
    row for name, more in (("LogUniformCandidateSampler", {}), ("UniformCandidateSampler", {}),
                           ("FixedUnigramCandidateSampler", _UNIGRAMS)) for row in (
        Case(name, (_CLASSES,), _DRAW | more),
        Case(name, (_CLASSES,), {**_DRAW, **more, "unique": False, "num_sampled": 20}, id="repeated"),
        Case(name, (_CLASSES,), {**_DRAW, **more, "num_sampled": 10}, id="too many", fails=InvalidArgumentError,
             at_run=True),
        Case(name, (_CLASSES,), {**_DRAW, **more, "num_true": 3}, id="true", fails=InvalidArgumentError, at_run=True),
        Case(name, (np.array([1, 2]),), _DRAW | more, id="rank", fails=ValueError),
    )
] + [
    Case("FixedUnigramCandidateSampler", (_CLASSES,), _DRAW, id="none", fails=InvalidArgumentError, at_run=True),
    Case("FixedUnigramCandidateSampler", (_CLASSES,), _DRAW | _SHORT, id="few", fails=InvalidArgumentError,
         at_run=True),
    Case("LearnedUnigramCandidateSampler", (_CLASSES,), _DRAW),
    Case("LearnedUnigramCandidateSampler", (np.array([1, 2]),), _DRAW, id="rank", fails=ValueError),
    Case("AllCandidateSampler", (_CLASSES,), {"num_true": 2, "num_sampled": 7}),
    Case("AllCandidateSampler", (np.array([1, 2]),), {"num_true": 2, "num_sampled": 7}, id="rank", fails=ValueError),
    Case("ComputeAccidentalHits", (_CLASSES, np.array([6, 3, 0, 1])), {"num_true": 2}),
    Case("ComputeAccidentalHits", (_CLASSES, _CLASSES), {"num_true": 2}, id="rank", fails=ValueError),
]
