"""Threefry, the counter-based random numbers of JAX: a key and counts to random words."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import uint32, uint64
from ...core.infer import broadcast_shape
from ...core.op import Spec

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)


@op("Threefry2x32", infer=lambda key, counts: (Spec(uint32, broadcast_shape(key, counts).dims),) * 2, elementwise=True,
    dtypes=(uint64,), no_grad="random bits have no gradient")
def threefry(key, counts):
    """Two random words for each count, the same ones for the same key. key, counts: uint64[...], two words each.

    Source: Salmon and others, "Parallel random numbers: as easy as 1, 2, 3" (2011), 20 rounds on two words.
    """
    (k0, k1), (x, y) = _halves(key), _halves(counts)
    keys = (k0, k1, k0 ^ k1 ^ _PARITY)
    with np.errstate(over="ignore"):
        x, y = x + keys[0], y + keys[1]
        for turn in range(5):
            for distance in _ROTATIONS[turn % 2]:
                x = x + y
                y = x ^ (y << np.uint32(distance) | y >> np.uint32(32 - distance))
            x = x + keys[(turn + 1) % 3]
            y = y + keys[(turn + 2) % 3] + np.uint32(turn + 1)
    return x, y


def _halves(words):
    return (words >> np.uint64(32)).astype(np.uint32), words.astype(np.uint32)
