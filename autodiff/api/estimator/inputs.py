"""tf.estimator.inputs: arrays and data frames as functions that give batches."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...core.errors import ArgumentError, KindError
from ...core.graph import get_default_graph
from ..common.unsupported import refusing
from ..data.dataset import Dataset

__all__ = ["numpy_input_fn", "pandas_input_fn"]


def numpy_input_fn(x: Any, y: Any = None, batch_size: int = 128, num_epochs: int | None = 1,
                   shuffle: bool | None = None, queue_capacity: int = 1000, num_threads: int = 1) -> Callable[[], Any]:
    """A function that gives the tensors of the next batch: features, or (features, labels).

    x, y: arrays of one length, or dicts of them. num_epochs: None for ever; batches run on from one to the next.
    Raises ArgumentError (ValueError) unless shuffle is told, or where lengths differ or nothing is there.
    """
    if not isinstance(shuffle, bool):
        raise ArgumentError("shuffle must be provided and explicitly set as boolean (it is recommended to set it as "
                            f"True for training); got {shuffle}")
    if not isinstance(x, (np.ndarray, dict)):
        raise KindError(f"x must be a dict or array; got {type(x).__name__}")
    columns = dict(x) if isinstance(x, dict) else {"": x}
    labels = y if isinstance(y, dict) else {} if y is None else {"": y}
    if not columns:
        raise ArgumentError("x cannot be an empty dict")
    if y is not None and not labels:
        raise ArgumentError("y cannot be empty dict, use None instead.")
    lengths = {len(value) for value in (*columns.values(), *labels.values())}
    if len(lengths) != 1:
        shapes = {name or "array": np.shape(value) for part in (columns, labels) for name, value in part.items()}
        raise ArgumentError("Length of tensors in x and y is mismatched. All elements in x and y must have the same "
                            f"length. Shapes: {shapes}")
    whole = columns if isinstance(x, dict) else columns[""]
    return _batches(whole if y is None else (whole, y), lengths.pop(), batch_size, num_epochs, shuffle)


def _batches(arrays: Any, length: int, batch_size: int, epochs: int | None, shuffle: bool) -> Callable[[], Any]:
    def input_fn() -> Any:
        dataset = Dataset.from_tensor_slices(arrays)
        if shuffle:
            dataset = dataset.shuffle(max(length, 1), get_default_graph().seed)
        return dataset.repeat(epochs).batch(batch_size).make_one_shot_iterator().get_next()
    return input_fn


def pandas_input_fn(x: Any, y: Any = None, batch_size: int = 128, num_epochs: int | None = 1,
                    shuffle: bool | None = None, queue_capacity: int = 1000, num_threads: int = 1,
                    target_column: str = "target") -> Callable[[], Any]:
    """As numpy_input_fn, of a DataFrame's columns. y: a Series, or a DataFrame, whose rows are those of x.

    Raises ArgumentError (ValueError) where the rows of x and y are not the same.
    """
    if y is not None and not np.array_equal(x.index, y.index):
        raise ArgumentError(f"Index for x and y are mismatched.\nIndex for x: {x.index}\nIndex for y: {y.index}\n")
    frame = y is not None and hasattr(y, "columns")
    target: Any = None if y is None else _columns(y) if frame else np.asarray(y)
    return numpy_input_fn(_columns(x), target, batch_size, num_epochs, shuffle)


def _columns(frame: Any) -> Mapping[str, np.ndarray]:
    return {name: np.asarray(frame[name]) for name in frame.columns}


__getattr__ = refusing("tf.estimator.inputs", __name__)
