"""Central differences: derivatives that autodiff did not compute."""

from collections.abc import Callable, Sequence

import numpy as np

STEP = 1e-5  # truncation ~ step**2, rounding ~ 1e-16 / step: both about 1e-10 in float64
MOST = 40  # elements of one input that are checked; a larger input is sampled


def checked_elements(x: np.ndarray) -> np.ndarray:
    """Flat indices of the elements to check: all of a small array, a fixed sample of a large one."""
    if x.size <= MOST:
        return np.arange(x.size)
    return np.sort(np.random.default_rng(x.size).choice(x.size, MOST, replace=False))


def central(scalar: Callable[[Sequence[np.ndarray]], float], inputs: Sequence[np.ndarray], index: int) -> np.ndarray:
    """d scalar / d inputs[index] at `checked_elements`; complex inputs: d/d re + i d/d im."""
    x = inputs[index]
    directions = (1.0, 1.0j) if np.iscomplexobj(x) else (1.0,)
    slopes = np.zeros(len(checked_elements(x)), x.dtype)
    for row, element in enumerate(checked_elements(x)):
        for direction in directions:
            ends = []
            for step in (STEP * direction, -STEP * direction):
                moved = x.copy()
                moved.flat[element] += step
                ends.append(scalar([moved if i == index else other for i, other in enumerate(inputs)]))
            slopes[row] += direction * (ends[0] - ends[1]) / (2 * STEP)
    return slopes


def weighted(weights: Sequence[np.ndarray], values: Sequence[np.ndarray]) -> float:
    """Re sum(conj(w) * y) over all outputs: its gradient is what `grad_ys=weights` computes."""
    return float(sum(np.sum(np.conj(w) * y).real for w, y in zip(weights, values)))
