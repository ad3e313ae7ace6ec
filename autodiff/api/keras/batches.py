"""What Keras' loops are given, as batches: arrays, datasets, generators and sequences of batches."""
from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...core import nest
from ...core.errors import ArgumentError, OutOfRangeError
from ...core.graph import Tensor, get_default_graph
from ..data.dataset import Dataset
from . import backend

Batch = tuple[list[Any], list[Any], list[Any]]  # inputs, targets, weights of examples


def batch_of(x: Any, y: Any, weights: Any) -> Batch:
    """Lists of arrays of one length; vectors of targets and inputs are columns."""
    parts = [[np.asarray(each) for each in
              (part if isinstance(part, (list, tuple)) and part and isinstance(part[0], np.ndarray) else
               part.values() if isinstance(part, dict) else [part])] if part is not None else []
             for part in (x, y, weights)]
    parts[:2] = [[each[:, None] if each.ndim == 1 else each for each in part] for part in parts[:2]]
    lengths = [len(each) for each in parts[0]]
    for each in parts[1]:
        if lengths and len(each) != lengths[0]:
            raise ArgumentError("Input arrays should have the same number of samples as target arrays. Found "
                                f"{lengths[0]} input samples and {len(each)} target samples.")
    if len({*lengths, *map(len, parts[2])}) > 1:
        raise ArgumentError("All input arrays (x) should have the same number of samples.",
                            found=f"{[*lengths, *map(len, parts[2])]} samples")
    return parts[0], parts[1], parts[2]


def in_order(model: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Inputs and targets in the order of a model's. Raises ArgumentError (ValueError) for inputs that do not fit it."""
    if not model.inputs or get_default_graph().executing_eagerly:
        return x, y
    return _arranged(x, [tensor.op.name for tensor in model.inputs], model.inputs), _arranged(y, model.output_names)


def size_of(model: Any, batch_size: int | None) -> int:
    """How many examples a batch has: as many as the inputs of a model say, else what is given, else 32.

    Raises ArgumentError (ValueError) where two of them differ.
    """
    inputs = () if get_default_graph().executing_eagerly else model.inputs or ()
    fixed = next((tensor.dims[0] for tensor in inputs if tensor.dims and tensor.dims[0]), None)
    if fixed and batch_size not in (None, fixed):
        raise ArgumentError(f"The `batch_size` argument value {batch_size} is incompatible with the specified batch "
                            f"size of your Input Layer: {fixed}", hint=f"batch_size={fixed}, or an input of any size")
    return fixed or batch_size or 32


def _arranged(given: Any, names: Sequence[str], tensors: Sequence[Tensor] = ()) -> Any:
    """Arrays in the order of these names, of a dict by its keys; what is no array as it is.

    tensors: what they are fed for. Raises ArgumentError (ValueError) for arrays that do not fit them.
    """
    if isinstance(given, dict) and all(isinstance(each, np.ndarray) for each in given.values()):
        if missing := [name for name in names if name not in given]:
            raise ArgumentError(f'No data provided for "{missing[0]}". Need data for each key in: {[*names]}',
                                hint=f"the keys are {[*given]}")
        given = [given[name] for name in names]
    arrays = list(given) if isinstance(given, (list, tuple)) else [given]
    if not tensors or not all(isinstance(each, np.ndarray) for each in arrays):
        return given
    if len(arrays) != len(tensors):
        raise ArgumentError("Error when checking model input: the list of Numpy arrays that you are passing to your "
                            f"model is not the size the model expected. Expected to see {len(tensors)} array(s), but "
                            f"instead got the following list of {len(arrays)} arrays",
                            found=f"arrays of {[each.shape for each in arrays]}")
    for name, tensor, array in zip(names, tensors, arrays):
        _check_fits(name, tensor.dims, array)
    return given


def _check_fits(name: str, dims: Any, array: np.ndarray) -> None:
    shape = array.shape if array.ndim > 1 else (len(array), 1)
    is_one = dims is not None and [*dims[1:]] == [*array.shape]
    hint = "it is one example: np.expand_dims(x, 0) is a batch of it" if is_one else ""
    if dims is not None and len(dims) != len(shape):
        raise ArgumentError(f"Error when checking input: expected {name} to have {len(dims)} dimensions, but got array "
                            f"with shape {array.shape}", hint=hint or "np.expand_dims adds an axis of one, reshape "
                            "arranges others")
    if any(mine not in (None, theirs) for mine, theirs in zip((dims or ())[1:], shape[1:])):
        raise ArgumentError(f"Error when checking input: expected {name} to have shape {tuple(dims[1:])} but got array "
                            f"with shape {shape[1:]}", hint=hint)


def endless_source(x: Any, steps: int | None, shuffle: bool = False) -> Any:
    """A source that goes on from epoch to epoch, where steps are counted; None for one that begins anew."""
    if isinstance(x, Dataset):
        return elements_of(x) if steps is not None else None
    if is_sequence(x):
        return _passes(x, shuffle) if steps is not None else None
    return x if hasattr(x, "__next__") else None


def in_batches(x: Any) -> bool:
    """Whether this gives batches one by one: it is no arrays that are cut into batches here."""
    return any(hasattr(x, name) for name in ("get_next", "output_types", "__next__", "on_epoch_end")) or not (
        get_default_graph().executing_eagerly) and isinstance(nest.flatten(x)[0], Tensor)


def is_sequence(x: Any) -> bool:
    """Whether this gives batches by number."""
    return hasattr(x, "__getitem__") and hasattr(x, "on_epoch_end")


def _passes(sequence: Any, shuffle: bool) -> Iterator[Any]:
    """Its batches, again and again."""
    while True:
        order = list(range(len(sequence)))
        if shuffle:
            random.shuffle(order)
        for i in order:
            yield sequence[i]
        sequence.on_epoch_end()


def line_of(source: Any) -> tuple[str, int] | None:
    """The file and line where a generator or sequence gives its batches; None for what is neither."""
    frame = getattr(source, "gi_frame", None)
    if frame is not None and frame.f_code is _passes.__code__:
        code = getattr(type(frame.f_locals["sequence"]).__getitem__, "__code__", None)
        return None if code is None else (code.co_filename, max(line for *_, line in code.co_lines() if line))
    return None if frame is None or frame.f_code in (elements_of.__code__,) else (frame.f_code.co_filename,
                                                                                  frame.f_lineno)


def elements_of(dataset: Dataset) -> Iterator[Any]:
    """The elements of a dataset as arrays, once."""
    if get_default_graph().executing_eagerly:
        for element in dataset:
            yield nest.map_structure(lambda each: each.numpy(), element)
        return
    following, session = dataset.make_one_shot_iterator().get_next(), backend.get_session()
    while True:
        try:
            yield session.run(following)
        except OutOfRangeError:
            return


def batches_of(x: Any, y: Any, weights: Any, size: int, *, shuffle: bool = False, steps: int | None = None,
             class_weight: Any = None, counted_by: str = "steps") -> Iterator[Batch]:
    """Batches of arrays, of a dataset, or of anything that gives (inputs, targets, weights).

    Raises ArgumentError (ValueError) for a generator of which no argument, counted_by, says how many to take.
    """
    if hasattr(x, "__next__") and steps is None and not is_sequence(x) and not get_default_graph().executing_eagerly:
        raise ArgumentError(f"Please specify the number of steps via the `{counted_by}` argument.",
                            hint="a generator of batches may have no end")
    x = x.get_next() if hasattr(x, "get_next") else x
    source: Any = elements_of(x) if isinstance(x, Dataset) else x
    if isinstance(nest.flatten(x)[0], Tensor) and not get_default_graph().executing_eagerly:
        if steps is None:
            raise ArgumentError("When using data tensors as input to a model, you should specify the `steps_per_epoch` "
                                "argument.", hint="or give the array, or the Dataset, that the tensors come of")
        parts = x if y is None else [each for each in (x, y, weights) if each is not None]
        source = (backend.get_session().run(parts) for _ in range(steps))
    if hasattr(source, "__next__") or is_sequence(source):
        for i, element in enumerate((source[i] for i in range(len(source))) if is_sequence(source) else source):
            whole = tuple(element) if isinstance(element, (tuple, list)) else (element,)
            yield weighted(batch_of(*(*whole, None, None)[:3]), class_weight)
            if steps is not None and i + 1 >= steps:
                return
        return
    arrays = weighted(batch_of(x, y, weights), class_weight)
    count = len(arrays[0][0])
    order = np.random.permutation(count) if shuffle else np.arange(count)
    for begin in range(0, count, size):
        chosen = order[begin:begin + size]
        yield tuple([each[chosen] for each in part] for part in arrays)  # type: ignore[misc]


def weighted(batch: Batch, class_weight: Any) -> Batch:
    """Examples weighted by their classes, besides by what they have. class_weight: label -> weight, or None."""
    if class_weight is None:
        return batch
    labels = batch[1][0].argmax(-1) if batch[1][0].shape[-1] > 1 else batch[1][0][..., 0]
    of_class = np.array([class_weight[label] for label in labels.ravel()], np.float32)
    return batch[0], batch[1], [of_class * each for each in batch[2]] or [of_class]
