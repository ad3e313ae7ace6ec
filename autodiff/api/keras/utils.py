"""tf.keras.utils: labels as rows of zeros and a one, rows of norm one."""
from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ..common.unsupported import refusing

__all__ = ["CustomObjectScope", "Sequence", "custom_object_scope", "get_custom_objects", "normalize", "to_categorical"]
_CUSTOM: dict[str, Any] = {}


class Sequence:
    """Batches by number, for fit and its like: a subclass has __getitem__(i) and __len__().

    on_epoch_end: called after each of its passes through all batches.
    """

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no batches")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no length")

    def on_epoch_end(self) -> None:
        """Nothing, unless a subclass says what."""

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))


def to_categorical(y: Any, num_classes: int | None = None, dtype: Any = "float32") -> np.ndarray:
    """int[..., n] or int[..., 1] -> dtype[..., num_classes], a one at the place of the label."""
    labels = np.asarray(y, np.intp)
    if labels.ndim > 1 and labels.shape[-1] == 1:
        labels = labels[..., 0]
    count = int(labels.max(initial=-1)) + 1 if num_classes is None else num_classes
    return np.eye(count, dtype=dtype)[labels]


def normalize(x: Any, axis: int = -1, order: int = 2) -> np.ndarray:
    """An array divided by its norms along an axis; zeros stay."""
    norms = np.atleast_1d(np.linalg.norm(x, order, axis, keepdims=True))
    return np.asarray(x) / np.where(norms == 0, 1, norms)


def get_custom_objects() -> dict[str, Any]:
    """What libraries register by name."""
    return _CUSTOM


@contextmanager
def custom_object_scope(*objects: dict[str, Any]) -> Iterator[None]:
    """Names of objects of one's own are known inside the block."""
    before = dict(_CUSTOM)
    _CUSTOM.update(*objects)
    try:
        yield
    finally:
        _CUSTOM.clear()
        _CUSTOM.update(before)


CustomObjectScope = custom_object_scope


def serialized(item: Any) -> dict[str, Any]:
    """The class of an object by its name, and its settings."""
    return {"class_name": type(item).__name__, "config": item.get_config()}


serialize_keras_object = serialized


def deserialized(config: dict[str, Any], known: dict[str, Any], custom_objects: Any = None,
                 what: str = "object") -> Any:
    """What `serialized` told of. known: classes by name. what: the word for such an object.

    Raises ArgumentError (ValueError) for a name that is not known.
    """
    name = config["class_name"]
    kind = {**known, **_CUSTOM, **(custom_objects or {})}.get(name)
    if kind is None:
        raise ArgumentError(f"Unknown {what}: {name}", expected=", ".join(sorted(known)),
                            hint="give custom_objects, or use tf.keras.utils.custom_object_scope")
    return kind.from_config(config.get("config", {}))


def kept_at(fname: str, cache_subdir: str = "datasets", cache_dir: str | None = None) -> str:
    """Where Keras keeps a file that it has fetched, whether it has or not."""
    return os.path.join(cache_dir or os.path.expanduser("~/.keras"), cache_subdir, fname)


def get_file(fname: str, origin: str = "", untar: bool = False, cache_subdir: str = "datasets",
             cache_dir: str | None = None, **options: Any) -> str:
    """Where a file lies that Keras has fetched before. Raises ArgumentError (ValueError) if it lies nowhere.

    untar: what was unpacked of it, beside it.
    """
    path = kept_at(fname, cache_subdir, cache_dir)
    if not os.path.exists(path):
        raise ArgumentError(f"no file is fetched from {origin or 'elsewhere'}", hint=f"put it at {path}")
    return path


def model_to_dot(*_: Any, **options: Any) -> Any:
    """Raises ImportError, as where pydot is not installed."""
    raise ImportError("Failed to import pydot. You must install pydot and graphviz for `pydotprint` to work.")


plot_model = model_to_dot
__getattr__ = refusing("tf.keras.utils", __name__)
