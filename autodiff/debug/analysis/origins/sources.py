"""One op back: the elements that one element was made of, as far as they are known; what reads a variable."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import outside, users_of
from ...facts.function_calls import Call, Calls, Inside
from ...facts.known import inputs_read
from ...facts.roles import PLACEHOLDERS, is_handle
from ..arithmetic_rules import letters_of
from ..update_blame import is_store

Index = tuple[int, ...]
_ARRANGES = {"Reshape": 0, "Transpose": 0, "StridedSlice": 0, "Squeeze": 0, "ExpandDims": 0, "Slice": 0, "Tile": 0,
             "BroadcastTo": 0, "GatherV2": 0, "GatherNd": 0, "ReverseV2": 0, "ResourceGather": 0,
             "Split": 1, "SplitV": 0, "Unpack": 0, "DiagPart": 0, "MatrixDiagPart": 0, "PadV2": 0, "Pad": 0, "Roll": 0}
_JOINS = ("ConcatV2", "Pack", "TensorScatterUpdate")
_REDUCES = ("Sum", "Mean", "Max", "Min", "Prod", "All", "EuclideanNorm")
_HANDS_ON = ("Identity", "AddN", "ReadVariableOp", "Assign", "StopGradient", "CheckNumerics", "PreventGradient")


@dataclass(frozen=True)
class Scene:
    """Where values are known: in a run, or in one call of a branch or loop of it. op: that calls, in `around`."""

    values: Mapping[Tensor, Any]
    inside: Inside
    call: Call | None = None
    op: Operation | None = None
    around: "Scene | None" = None


@dataclass(frozen=True)
class Source:
    """An element that another was made of."""

    tensor: Tensor
    index: Index
    value: Any
    scene: Scene


def sources_of(at: Source) -> list[Source]:
    """The elements that an element was made of, as far as they are known one by one."""
    op, scene = at.tensor.op, at.scene
    if op.type in ("Argument", "Captured"):
        return _from_outside(at)
    if scene.around is not None and op.type in ("Identity", "ReadVariableOp") and is_handle(op.inputs[0]):
        return [_variable(op.inputs[0], at)]
    if op.type in ("While", "If"):
        return _from_inside(at)
    if op.type in (*_ARRANGES, *_JOINS):
        return _arranged(at)
    given = [t.op.inputs[-1] if t.op.type == "Assign" and t not in scene.values else t  # what it stored
             for t in inputs_read(op, scene.values)]
    given = [t for t in given if t in scene.values]
    if op.type == "Assign":
        given = given[-1:]  # not what it replaced
    if op.type in ("Select", "SelectV2") and len(given) == 3:
        test = _part(given[0], at)
        taken = given[1 if test is not None and test.value else 2]
        given = [given[0] if taken.op.type in ("Const", "Fill", "ZerosLike", "OnesLike") else taken]
    elif op.type in _REDUCES and given:
        return _reduced(at, given)
    elif op.type == "Cumsum" and len(given) == 2:
        return _accumulated(at, given)
    elif len(given) == 2 and (letters := letters_of(op)):
        return _multiplied(at, given, letters)
    elif op.type == "Conv2D" and len(given) == 2 and op.attrs.get("data_format") == "NHWC":
        return _convolved(at, given)
    elif op.type == "MaxPool" and given and op.attrs.get("data_format") == "NHWC":
        return _largest_near(at, given[0])
    elif op.type in ("Softmax", "LogSoftmax") and given:
        row = np.asarray(scene.values[given[0]])[at.index[:-1]]
        largest = (*at.index[:-1], int(np.argmax(row)))
        return [element_at(given[0], index, scene) for index in dict.fromkeys((at.index, largest))]
    elif op.type == "BiasAdd" and len(given) == 2:
        return [element_at(given[0], at.index, scene), element_at(given[1], at.index[-1:], scene)]
    elif not op.definition.elementwise and op.type not in _HANDS_ON:
        return []
    return [part for t in given if (part := _part(t, at)) is not None]


def element_at(tensor: Tensor, index: Index, scene: Scene) -> Source:
    """One element of a tensor whose value is known there."""
    return Source(tensor, index, np.asarray(scene.values[tensor])[index].item(), scene)


def _variable(handle: Tensor, at: Source) -> Source:
    """The element of a variable that a branch or loop read."""
    scene = at.scene
    while scene.around is not None:
        scene = scene.around
    return Source(outside(handle), at.index, at.value, scene)


def _part(tensor: Tensor, at: Source) -> Source | None:
    """The element of an input that broadcasting brings to the element."""
    shape = np.shape(at.scene.values[tensor])
    index = at.index[len(at.index) - len(shape):] if len(shape) <= len(at.index) else None
    if index is None or np.asarray(at.scene.values[tensor]).dtype.kind not in "biuf":
        return None
    index = tuple(0 if n == 1 else i for n, i in zip(shape, index))
    return element_at(tensor, index, at.scene) if all(i < n for i, n in zip(index, shape)) else None


def _arranged(at: Source) -> list[Source]:
    """The element that an op put here, found by having it arrange the elements' numbers."""
    op, values = at.tensor.op, at.scene.values
    if any(t not in values for t in op.inputs):
        return []
    count = len(op.inputs)  # ConcatV2's axis comes first, and where an update goes stands in between
    moved = range(op.type == "ConcatV2", count, 2 if op.type == "TensorScatterUpdate" else 1)
    if op.type in _ARRANGES:
        moved = range(_ARRANGES[op.type], _ARRANGES[op.type] + 1)
    arguments, first = [np.asarray(values[t]) for t in op.inputs], 1
    for i in moved:
        shape = arguments[i].shape
        arguments[i] = np.arange(first, first + int(np.prod(shape))).reshape(shape)
        first += arguments[i].size
    try:
        found = op.definition.kernel(*arguments, **op.attrs)
        found = found[op.outputs.index(at.tensor)] if len(op.outputs) > 1 else found
        label = int(np.asarray(found)[at.index])
    except (TypeError, ValueError, IndexError, KeyError, OverflowError):
        return []
    for i in moved:
        if arguments[i].size and arguments[i].flat[0] <= label <= arguments[i].flat[-1]:
            index = np.unravel_index(label - int(arguments[i].flat[0]), arguments[i].shape)
            return [element_at(op.inputs[i], tuple(map(int, index)), at.scene)]
    return []


def _reduced(at: Source, given: Sequence[Tensor]) -> list[Source]:
    """Of what a reduction took together: the largest and the smallest in size, what is not finite before all."""
    array = np.asarray(at.scene.values[given[0]])
    axes = {int(a) % max(array.ndim, 1) for a in np.ravel(at.scene.values[given[1]])} if len(given) > 1 else set(
        range(array.ndim))
    keeps, kept = len(at.index) == array.ndim, iter(at.index)
    where = tuple(slice(None) if axis in axes and (not keeps or next(kept) is not None) else next(kept)
                  for axis in range(array.ndim))
    part = np.abs(array[where].astype(np.float64)) if array.dtype.kind in "biuf" else np.zeros(0)
    if not part.size:
        return []
    if not part.any():
        part = np.abs(_marks(given[0], at.scene)[where].astype(np.float64))
    ends = [int(np.argmax(np.where(np.isfinite(part), part, np.inf)))]
    if at.tensor.op.type in ("Prod", "Min"):
        ends = [int(np.argmin(part)), *ends]
    found = []
    for end in dict.fromkeys(ends):
        inner = iter(map(int, np.unravel_index(end, part.shape)))
        index = tuple(next(inner) if isinstance(each, slice) else each for each in where)
        found.append(element_at(given[0], index, at.scene))
    return found


def _marks(products: Tensor, scene: Scene) -> np.ndarray:
    """Of products that are all 0: what was fed to say which of them count, as one-hot labels; else they."""
    zeros = np.asarray(scene.values[products])
    factors = products.op.inputs if products.op.type == "Mul" else ()
    fed = (t for t in factors if (t.op.inputs[0].op if t.op.type == "Cast" else t.op).type in (*PLACEHOLDERS, "OneHot"))
    return next((mark for t in fed if (mark := np.asarray(scene.values.get(t))).shape == zeros.shape), zeros)


def _accumulated(at: Source, given: Sequence[Tensor]) -> list[Source]:
    """Of what a running sum took together until there: the largest in size."""
    array, axis = (np.asarray(at.scene.values[t]) for t in given)
    along = int(axis) % array.ndim
    here = at.index[along]
    span = range(here, array.shape[along]) if at.tensor.op.attrs.get("reverse") else range(here + 1)
    places = [(*at.index[:along], i, *at.index[along + 1:]) for i in span]
    return [element_at(given[0], max(places, key=lambda place: abs(float(array[place]))), at.scene)]


def _multiplied(at: Source, given: Sequence[Tensor], letters: str) -> list[Source]:
    """The two factors of the largest product of those that were summed. letters: of the axes, as of einsum."""
    terms, _, result = letters.partition("->")
    here = dict(zip(result, at.index))
    summed = [letter for letter in dict.fromkeys(terms) if letter not in f"{result},"]
    sides = [np.asarray(at.scene.values[t])[tuple(here.get(each, slice(None)) for each in term)].astype(np.float64)
             for t, term in zip(given, terms.split(","))]
    left = ",".join("".join(each for each in term if each not in here) for term in terms.split(","))
    with np.errstate(all="ignore"):
        products = np.abs(np.einsum(f"{left}->{''.join(summed)}", *sides))
    if not products.size:
        return []
    most = int(np.argmax(np.where(np.isfinite(products), products, np.inf)))
    there = {**here, **dict(zip(summed, map(int, np.unravel_index(most, products.shape))))}
    found = [element_at(t, tuple(there[each] for each in term), at.scene) for t, term in zip(given, terms.split(","))]
    if not products.any():  # the side that is zero throughout
        found = [each for each, side in zip(found, sides) if not side.any()] or found
    return found


def _convolved(at: Source, given: Sequence[Tensor]) -> list[Source]:
    """The two factors of the largest product that a convolution summed; each tap finds its element by its number."""
    image, taps = (np.asarray(at.scene.values[t], np.float64) for t in given)
    n, i, j, f = at.index
    height, width = image.shape[1:3]
    numbers = np.arange(1.0, height * width + 1).reshape(1, height, width, 1)
    best: tuple[float, Index, Index] | None = None
    for a, b in np.ndindex(*taps.shape[:2]):
        one = np.zeros((*taps.shape[:2], 1, 1))
        one[a, b] = 1.0
        under = int(np.rint(at.tensor.op.definition.kernel(numbers, one, **at.tensor.op.attrs)[0, i, j, 0])) - 1
        if under < 0:
            continue  # in the padding
        y, x = divmod(under, width)
        products = np.abs(image[n, y, x] * taps[a, b, :, f])
        c = int(np.argmax(np.where(np.isfinite(products), products, np.inf)))
        if best is None or not products[c] <= best[0]:
            best = float(products[c]), (n, y, x, c), (a, b, c, f)
    found = [element_at(t, place, at.scene) for t, place in zip(given, best[1:])] if best is not None else []
    return [each for each in found if each.value == 0 and best is not None and best[0] == 0] or found


def _largest_near(at: Source, given: Tensor) -> list[Source]:
    """The element that a pooling took the largest of."""
    n, i, j, c = at.index
    same = np.argwhere(np.asarray(at.scene.values[given])[n, :, :, c] == at.value)
    steps = np.asarray(at.tensor.op.attrs["strides"])[1:3]
    if not len(same):
        return []
    y, x = same[int(np.abs(same - np.array([i, j]) * steps).sum(axis=1).argmin())]
    return [element_at(given, (n, int(y), int(x), c), at.scene)]


def _from_outside(at: Source) -> list[Source]:
    """What a call was given for an argument: by the iteration before, or by what calls."""
    scene, op = at.scene, at.tensor.op
    around, call = scene.around, scene.call
    if around is None or call is None or scene.op is None:
        return []
    if op.type == "Captured":
        outside = op.attrs["external"]
        return [element_at(outside, at.index, around)] if outside in around.values else []
    if at.tensor not in call.inputs:
        return []
    number = call.inputs.index(at.tensor)
    if scene.op.type == "While" and call.turn and isinstance(scene.inside, Calls):
        before = _call(scene, call.turn - 1)
        if before is None or before.outputs[number] not in before.values:
            return []
        there = Scene(before.values, scene.inside, before, scene.op, around)
        return [element_at(before.outputs[number], at.index, there)]
    if scene.op.type == "If":
        first = scene.op.attrs["then_branch"].inputs
        number += 1 if at.tensor in first else 1 + len(first)
    if number >= len(scene.op.inputs) or scene.op.inputs[number] not in around.values:
        return []
    return [element_at(scene.op.inputs[number], at.index, around)]


def _call(scene: Scene, turn: int) -> Call | None:
    assert scene.op is not None and scene.around is not None and isinstance(scene.inside, Calls)
    return next((call for call in scene.inside.of(scene.op, scene.around.values) if call.turn == turn), None)


def _from_inside(at: Source) -> list[Source]:
    """What the branch that was taken gave for the element."""
    op, scene = at.tensor.op, at.scene
    call = next(iter(scene.inside.of(op, scene.values)), None) if isinstance(scene.inside, Calls) and (
        op.type == "If") and scene.around is None else None
    number = op.outputs.index(at.tensor)
    if call is None or number >= len(call.outputs) or call.outputs[number] not in call.values:
        return []
    return [element_at(call.outputs[number], at.index, Scene(call.values, scene.inside, call, op, scene))]


def reads_of(variable: Operation, *, whole: bool = False) -> list[Operation]:
    """The forward ops that take a variable's numbers. whole: also those of integers."""
    users = [c for c in users_of(variable) if not is_store(c) and c.outputs]
    return [c for c in users if whole or c.outputs[0].dtype.base_dtype.is_floating]


def counts_steps(variable: Operation) -> bool:
    """Whether a variable is one number that steps are added to, as a counter of them."""
    return variable.outputs[0].dims == () and any(is_store(c) and "Add" in c.type for t in variable.outputs
                                                  for c in t._consumers)
