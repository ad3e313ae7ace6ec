"""Rows of the random ops."""

import numpy as np
from autodiff.errors import InvalidArgumentError

from ..case import Case, array

_SHAPE = np.array([3, 4], np.int32)
_SEEDS = {"seed": 1, "seed2": 2}

ROWS: list[Case] = [
    Case("RandomStandardNormal", (_SHAPE,), _SEEDS, static=(0,)),
    Case("RandomUniform", (_SHAPE,), _SEEDS, static=(0,)),
    Case("TruncatedNormal", (_SHAPE,), _SEEDS, static=(0,)),
    Case("RandomUniformInt", (_SHAPE, np.int32(2), np.int32(5)), _SEEDS, static=(0,)),
    Case("RandomUniformInt", (_SHAPE, np.int32(5), np.int32(5)), _SEEDS, static=(0,), fails=InvalidArgumentError,
         at_run=True,
         id="empty"),
    Case("RandomShuffle", (array(5, 3),), _SEEDS),
    Case("Multinomial", (array(3, 4), np.int32(6)), _SEEDS, static=(1,)),
    Case("Multinomial", (array(3), np.int32(6)), _SEEDS, static=(1,), fails=ValueError, id="rank"),
    Case("RandomGamma", (_SHAPE, array(2, low=0.5, high=2.0)), _SEEDS, static=(0,), differentiable=()),
    Case("RandomPoissonV2", (_SHAPE, array(2, low=0.5, high=2.0)), _SEEDS, static=(0,)),
    Case("StatelessRandomNormal", (_SHAPE, np.array([1, 2])), static=(0,), batch=(1,)),
    Case("StatelessRandomUniform", (_SHAPE, np.array([1, 2])), static=(0,), batch=(1,)),
    Case("StatelessTruncatedNormal", (_SHAPE, np.array([1, 2])), static=(0,), batch=(1,)),
    Case("StatelessRandomUniformInt", (_SHAPE, np.array([1, 2]), np.int32(-2), np.int32(5)), static=(0,), batch=(1,)),
    Case("StatelessRandomUniformInt", (_SHAPE, np.array([1, 2]), np.int32(5), np.int32(5)), static=(0,), batch=(1,),
         fails=InvalidArgumentError, at_run=True, id="empty"),
    Case("StatelessMultinomial", (array(3, 4), np.int32(6), np.array([1, 2])), static=(1,), batch=(2,)),
]
