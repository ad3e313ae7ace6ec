"""tensorflow.python.keras.testing_utils: data to try models with."""
from __future__ import annotations

import numpy as np


def get_test_data(train_samples: int, test_samples: int, input_shape: tuple[int, ...], num_classes: int,
                  random_seed: int | None = None) -> tuple[tuple[np.ndarray, ...], ...]:
    """(x, y) to train and (x, y) to test: around a template of each class. x: float32[n, *input_shape], y: int[n]."""
    random = np.random if random_seed is None else np.random.RandomState(random_seed)
    count = train_samples + test_samples
    templates = 2 * num_classes * random.random_sample((num_classes, *input_shape))
    y = random.randint(0, num_classes, size=count)
    x = (templates[y] + random.normal(scale=1.0, size=(count, *input_shape))).astype(np.float32)
    return (x[:train_samples], y[:train_samples]), (x[train_samples:], y[train_samples:])
