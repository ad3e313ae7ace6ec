"""Classes drawn from logits, by one uniform number each."""

import numpy as np

from ...core.constant_value import static_dims
from ...core.dtypes import as_dtype, int64
from ...core.infer import rank_of
from ...core.op import Spec


def classes_of(logits, num_samples, seed=None, *, seed2=0, output_dtype=int64):
    """int[n, samples]. Raises ShapeError unless logits are of rank 2."""
    rank_of(logits, exactly=2, what="logits")
    samples = static_dims(num_samples)
    return Spec(as_dtype(output_dtype), ((logits.dims or (None,))[0], samples[0] if samples else None))


def drawn_classes(logits, draws, dtype):
    """The class whose step of the cumulated softmax a number falls into; logits that are not finite get none.

    logits: float[n, k], draws: float[n, samples] in [0, 1) -> int[n, samples].
    """
    known = np.where(np.isfinite(logits), logits, -np.inf).astype(np.float64)
    steps = np.exp(known - known.max(-1, keepdims=True)).cumsum(-1)
    return np.array([np.searchsorted(row, u * row[-1], side="right") for row, u in zip(steps, draws)],
                    as_dtype(dtype).as_numpy_dtype).reshape(draws.shape)
