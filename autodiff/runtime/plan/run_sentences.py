"""Errors of a run in TensorFlow's words: NumPy's, and those of values that do not fit, if a build says another."""
from __future__ import annotations

import dis
import re
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ...core.constant_value import static_value
from ...core.errors import AutodiffError
from ...core.graph import Operation, Tensor
from ...core.infer import broadcast_shape, broadcast_test
from ...core.op import OpDef
from ...core.shapes import Dims, show
from ...core.site import PACKAGE

_BROADCAST = re.compile(r"could not be broadcast together with (?:remapped )?shapes \(([\d,]*)\) \(([\d,]*)\)")
_MEMORY = re.compile(r"with shape \(([\d, ]*)\) and data type (\w+)")


def as_in_a_run(refusal: str, definition: OpDef, inputs: Sequence[Tensor], name: str = "", **attrs: Any) -> str:
    """`refusal`, which a build gives of these inputs, below the sentence of TensorFlow's kernel if that is another.

    inputs: tensors of known shapes and values. name, attrs: the operation's.
    """
    say = _unbroadcast if definition.infer in (broadcast_shape, broadcast_test) else _SENTENCES.get(definition.name)
    shapes: list[Dims] = [tensor.dims or () for tensor in inputs]
    sentence = say(_Found(name or definition.name, definition.name, inputs, attrs), *shapes) if say is not None else ""
    return f"{sentence}\n{refusal}" if sentence and not refusal.startswith(sentence) else refusal


class _Found:
    """An op, and the values of its inputs."""

    def __init__(self, name: str, kind: str, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> None:
        self.name, self.kind, self.attrs, self._inputs = name, kind, attrs, inputs

    def input_name(self) -> str:
        """The operation that the first input is of."""
        return self._inputs[0].name.partition(":")[0]

    def value(self, index: int) -> Any:
        """An input's value, as Python has it."""
        array = static_value(self._inputs[index])
        return [] if array is None else array.tolist()

    def axis_outside(self, index: int, rank: int) -> int | None:
        """The first axis of an input that a tensor of this rank does not have."""
        axes = self.value(index)
        listed = axes if isinstance(axes, list) else [axes]
        return next((axis for axis in listed if not -rank <= axis < rank), None)


def _unbroadcast(found: _Found, x: Dims, y: Dims) -> str:
    return f"Incompatible shapes: {show(x)} vs. {show(y)}"


def _alike(found: _Found, first: Dims, *others: Dims) -> str:
    i, other = next(((i, dims) for i, dims in enumerate(others, 1) if dims != first), (0, first))
    return (f"Inputs to operation {found.name} of type {found.kind} must have the same size and shape.  "
            f"Input 0: {show(first)} != input {i}: {show(other)}")


def _concatenated(found: _Found, axis: Dims, first: Dims, *others: Dims) -> str:
    if axis:
        return f"Concat axis tensor should be a scalar integer, but got shape {show(axis)}"
    outside = found.axis_outside(0, len(first))
    if outside is not None:
        return (f"ConcatOp : Expected concatenating dimensions in the range [{-len(first)}, {len(first)}), but got "
                f"{outside}")
    ranks = [i for i, dims in enumerate(others, 1) if len(dims) != len(first)]
    at = found.value(0) % len(first) if first else 0
    unlike = ranks or [i for i, dims in enumerate(others, 1) if (*dims[:at], *dims[at + 1:]) != (
        *first[:at], *first[at + 1:])] or [1]
    what = "Ranks of all input tensors" if ranks else "Dimensions of inputs"
    other = show(others[unlike[0] - 1])
    return f"ConcatOp : {what} should match: shape[0] = {show(first)} vs. shape[{unlike[0]}] = {other}"


def _reduced(found: _Found, x: Dims, axis: Dims) -> str:
    outside = found.axis_outside(1, len(x))
    return "" if outside is None else f"Invalid reduction dimension ({outside} for input with {len(x)} dimension(s)"


def _along(text: str) -> Callable[..., str]:
    def say(found: _Found, x: Dims, axis: Dims) -> str:
        outside = found.axis_outside(1, len(x))
        return "" if outside is None else f"{text} in the range [{-len(x)}, {len(x)}), but got {outside}"
    return say


def _biased(found: _Found, value: Dims, bias: Dims) -> str:
    if len(bias) != 1:
        return f"Biases must be 1D: {show(bias)}"
    return f"Must provide as many biases as the last dimension of the input tensor: {show(bias)} vs. {show(value)}"


def _sliced(found: _Found, x: Dims, begin: Dims, size: Dims) -> str:
    if (len(x),) == begin == size:
        return ""
    return (f"Expected begin and size arguments to be 1-D tensors of size {len(x)}, but got shapes {show(begin)} and "
            f"{show(size)} instead.")


def _convolved(found: _Found, x: Dims, kernel: Dims) -> str:
    for what, dims in ("input", x), ("filter", kernel):
        if len(dims) != 4:
            return f"{what} must be 4-dimensional{show(dims)}"
    return f"input depth must be evenly divisible by filter depth: {x[3]} vs {kernel[2]}"


def _rolled(found: _Found, x: Dims, shift: Dims, axis: Dims) -> str:
    for what, dims in ("shift", shift), ("axis", axis):
        if len(dims) > 1:
            return f"{what} must be a scalar or a 1-D vector. Found: {show(dims)}"
    return "shift and axis must have the same size" if x else "input must be 1-D or higher"


def _filled(found: _Found, dims: Dims, value: Dims) -> str:
    if value:
        return f"value must be a scalar, got shape {show(value)}"
    if len(dims) != 1:
        return f"dims must be a vector, got shape {show(dims)}"
    return f"Dimension {min(found.value(0), default=0)} must be >= 0"


def _ranged(found: _Found, *given: Dims) -> str:
    wrong = [(what, dims) for what, dims in zip(("start", "limit", "delta"), given) if dims]
    return f"{wrong[0][0]} must be a scalar, not shape {show(wrong[0][1])}" if wrong else \
        f"Requires delta != 0: {found.value(2)}"


def _reshaped(found: _Found, x: Dims, shape: Dims) -> str:
    sizes = found.value(1)
    count, known = prod(n or 0 for n in x), prod(n for n in sizes if n >= 0)
    wanted = f"requires a multiple of {known}" if -1 in sizes else f"has {known}"
    return f"Input to reshape is a tensor with {count} values, but the requested shape {wanted}"


_SENTENCES: dict[str, Callable[..., str]] = {
    "MatMul": lambda _, a, b: f"Matrix size-incompatible: In[0]: {show(a)}, In[1]: {show(b)}",
    "BatchMatMulV2": lambda _, a, b: f"In[0] mismatch In[1] shape: {show(a)} {show(b)}",
    "AddN": _alike, "AccumulateNV2": _alike, "Select": _alike, "ConcatV2": _concatenated, "BiasAdd": _biased,
    "Slice": _sliced, "Conv2D": _convolved, "Reshape": _reshaped, "BroadcastTo": lambda found, x, _: _unbroadcast(
        found, x, tuple(found.value(1))),
    **dict.fromkeys(("Sum", "Mean", "Prod", "Max", "Min", "All", "Any"), _reduced),
    **dict.fromkeys(("Cumsum", "Cumprod", "CumulativeLogsumexp"), _along("ScanOp: Expected scan axis")),
    **dict.fromkeys(("ArgMax", "ArgMin"), _along("Expected dimension")),
    **dict.fromkeys(("Pad", "PadV2", "MirrorPad"), lambda _, x, paddings, *__: (
        f"The first dimension of paddings must be the rank of inputs{show(paddings)} {show(x)}")),
    **dict.fromkeys(("MatrixInverse", "Cholesky", "MatrixDeterminant"), lambda *_: "Input matrix must be square."),
    "EnsureShape": lambda found, x: (
        f"Shape of tensor {found.input_name()} {show(x)} is not compatible with expected shape "
        f"{show(found.attrs['shape'])} of {found.name}"),
    "GatherV2": lambda found, x, _, axis: (
        f"Expected axis in the range [{-len(x)}, {len(x)}), but got {found.value(2)}"),
    "MatrixSolve": lambda *_: "Input matrix and rhs are incompatible.",
    "Transpose": lambda _, x, perm: f"transpose expects a vector of size {len(x)}. But input(1) is a vector of size "
                                    f"{prod(perm)}",
    "SoftmaxCrossEntropyWithLogits": lambda _, logits, labels: (
        f"logits and labels must be broadcastable: logits_size={show(logits)} labels_size={show(labels)}"),
    "SparseSoftmaxCrossEntropyWithLogits": lambda _, logits, labels: (
        f"labels must be 1-D, but got shape {show(labels)}" if len(labels) != 1 else
        "logits and labels must have the same first dimension, got logits shape "
        f"{show(logits)} and labels shape {show(labels)}"),
    "Pack": lambda _, first, *others: (
        f"Shapes of all inputs must match: values[0].shape = {show(first)} != " + next(
            (f"values[{i}].shape = {show(dims)}" for i, dims in enumerate(others, 1) if dims != first), "")),
    "Tile": lambda _, x, multiples: (
        f"Expected multiples to be 1-D, but got shape {show(multiples)}" if len(multiples) != 1 else
        f"Expected multiples argument to be a vector of length {len(x)} but got length {prod(multiples)}"),
    "ExpandDims": lambda found, x, _: (
        f"Tried to expand dim index {found.value(1)} for tensor with {len(x)} dimensions."),
    "DynamicPartition": lambda _, x, partitions: (
        f"data.shape must start with partitions.shape, got data.shape = {show(x)}, partitions.shape = "
        f"{show(partitions)}"),
    "Fill": _filled, "Range": _ranged, "Roll": _rolled,
    "SparseToDense": lambda _, indices, shape, *__: (
        f"output_shape should be a vector, got shape {show(shape)}" if len(shape) != 1 else ""),
    **dict.fromkeys((f"UnsortedSegment{kind}" for kind in ("Sum", "Prod", "Max", "Min")), lambda _, x, ids, count: (
        f"num_segments should be a scalar, not shape {show(count)}" if count else "")),
    **dict.fromkeys(("RandomUniform", "RandomStandardNormal", "TruncatedNormal"), lambda _, shape: (
        f"shape must be a vector of {{int32,int64}}, got shape {show(shape)}" if len(shape) != 1 else "")),
    "LinSpace": lambda found, *_: f"Requires num > 0: {found.value(2)}",
    "OneHot": lambda found, *_: f"depth must be non-negative, got: {found.value(1)}",
    "MatrixDiag": lambda _, x, *__: f"diagonal must be at least 1-dim, received shape: {show(x)}",
    **dict.fromkeys(("MatrixDiagPart", "MatrixSetDiag"), lambda _, x, *diagonal: (
        "diagonal must be at least 1-dim, received shape: []" if len(x) > 1 and diagonal[:1] == ((),) else
        f"input must be at least 2-dim, received shape: {show(x)}")),
    "NthElement": lambda found, x, _: ("Input must be >= 1-D, got shape []" if not x else f"Need n >= 0, got "
                                       f"{found.value(1)}" if found.value(1) < 0 else
                                       "Input must have at least n+1 columns"),
    "TopKV2": lambda found, x, _: (
        f"Need k >= 0, got {found.value(1)}" if found.value(1) < 0 else
        f"input must have at least k columns. Had {x[-1] if x else 0}, needed {found.value(1)}")}


_RAISE = dis.opmap["RAISE_VARARGS"]


def in_tensorflows_words(error: Exception, op: Operation, args: Sequence[Any]) -> str:
    """The sentence for what op's kernel raised of args: its own, what a build says of their shapes, or TensorFlow's."""
    text = str(error) or type(error).__name__
    if said_in_here(error):
        return text
    if isinstance(error, MemoryError) and (found := _MEMORY.search(text)):
        return f"OOM when allocating tensor with shape[{found[1].rstrip(',').replace(' ', '')}] and type {found[2]}"
    if isinstance(error, np.linalg.LinAlgError) and "converge" in text:
        return f"{op.type} did not converge"
    if found := _BROADCAST.search(text):
        one, other = (f"[{sizes.rstrip(',')}]" for sizes in found.groups())
        return f"Incompatible shapes: {one} vs. {other}"
    return refusal_of_a_build(op, args) or f"{op.type} cannot take values like these"


def said_in_here(error: Exception) -> bool:
    """Whether a line of this package raised it, and not NumPy or Python while it ran."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not trace.tb_frame.f_code.co_filename.startswith(PACKAGE):
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == _RAISE


def refusal_of_a_build(op: Operation, args: Sequence[Any]) -> str:
    """What inference says of tensors that have args as their values, as TensorFlow's kernel says it; "" if nothing."""
    try:
        inputs = [_Valued(tensor, value) for tensor, value in zip(op.inputs, args)]
        try:
            op.definition.infer(*inputs, **op.attrs)
        except AutodiffError as refused:
            return as_in_a_run(refused.sentence, op.definition, inputs, op.name, **op.attrs)
    except Exception:  # of values that no build has
        pass
    return ""


class _Valued(Tensor):
    """A tensor whose value is known, and so its shape, as inference asks for them."""

    __slots__ = ("array", "_tensor")

    def __init__(self, tensor: Tensor, value: Any) -> None:
        self.op, self._takers, self._more, self._tensor = tensor.op, None, None, tensor
        self.dtype, self.dims, self.array = tensor.dtype, value.shape, value

    @property
    def value_index(self) -> int:
        return self._tensor.value_index
