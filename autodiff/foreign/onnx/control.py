"""ONNX's control flow as our If and While, and sequences, which are lists while the graph is built."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.errors import ArgumentError, ShapeError
from ...core.function_graph import FunctionGraph
from ...core.graph import Tensor, get_default_graph
from ...core.names import UniqueNames
from ..model import tf
from .sizes import axis_of, moved, rank_of, size_of
from .table import Body, Node, onnx, scalar, value_of

_LONGEST = (1 << 31) - 1  # iterations of a Loop without a limit


@onnx.op("If", note="a condition that is known takes its branch without an If")
def if_(cond: Any, *, then_branch: Body, else_branch: Body) -> Any:
    known = value_of(cond)
    if known is not None:
        return (then_branch if known.all() else else_branch).build()
    return tf.cond(scalar(cond), lambda: _tensors(then_branch), lambda: _tensors(else_branch), strict=True)


def _tensors(branch: Body) -> list[Any]:
    return [tf.identity(value) for value in branch.build()]


@onnx.op("Loop")
def loop(limit: Any, cond: Any, *initial: Any, body: Body) -> Any:
    """body(iteration, cond, *state) -> cond, *state, *what is stacked over the iterations."""
    last = _LONGEST if limit is None else tf.cast(scalar(limit), tf.int64)
    go = tf.constant(True) if cond is None else tf.reshape(cond, [])
    count = len(initial)

    def step(i: Any, go: Any, *rest: Any) -> Any:
        go, *made = body.build(i, go, *rest[:count])
        return [i + 1, tf.reshape(go, []), *made[:count], *_written(rest[count:], i, made[count:])]

    def invariant(relaxed: int) -> list[Any]:
        return [_shape(x, body.inputs[2 + i], relaxed) for i, x in enumerate(initial)]

    start = [tf.constant(0, tf.int64), go, *initial]
    _, _, *found = _repeated(lambda i, go, *_: tf.logical_and(go, i < last), step, start, invariant,
                             _stacked(body, 1 + count, start))
    return found


def _written(stacks: Any, i: Any, values: list[Any]) -> list[Any]:
    return [stack.write(tf.cast(i, tf.int32), value) for stack, value in zip(stacks, values)]


def _repeated(cond: Callable[..., Any], step: Callable[..., Any], start: list[Any],
              invariant: Callable[[int], list[Any]], stacked: list[Any]) -> list[Any]:
    """A while_loop whose last variables are stacked. invariant: shapes of the state, the more relaxed the higher its
    argument. ONNX need not say what stays true of a shape, so what the body refuses is tried with less known."""
    fixed = [x.shape for x in start]
    for relaxed in range(3):
        shapes = invariant(relaxed)
        stacks = [tf.TensorArray(tf.as_dtype(info[0]), size=0, dynamic_size=True, infer_shape=False,
                                 element_shape=None if relaxed else info[1]) for info in stacked]
        shapes = [*fixed[:len(fixed) - len(shapes)], *shapes, *[tf.TensorShape(None)] * len(stacks)]
        try:
            found = tf.while_loop(cond, step, [*start, *stacks], shape_invariants=shapes, return_same_structure=True)
        except ShapeError:
            if relaxed == 2:
                raise
        else:
            count = len(start)
            return [*found[:count], *[stack.stack() for stack in found[count:]]]
    raise AssertionError


def _stacked(body: Body, first: int, arguments: list[Any]) -> list[Any]:
    """(dtype, shape) of the outputs of a body from `first` on: as declared, else found by making it once, aside."""
    if None not in body.outputs[first:]:
        return list(body.outputs[first:])
    aside = FunctionGraph(get_default_graph())
    aside.names = UniqueNames()
    with aside.as_default():
        made = body.build(*[aside.add_argument(x.dtype.base_dtype, x.dims, "argument") for x in arguments])
    return [(x.dtype.base_dtype, None) for x in made[first:]]


def _shape(x: Tensor, info: Any, relaxed: int) -> Any:
    """What a loop keeps of a variable's shape: where what is declared agrees with the start, at first."""
    if x.dims is None or relaxed == 2:
        return tf.TensorShape(None)
    if relaxed or info is not None and info[1] is not None and len(info[1]) != len(x.dims):
        return tf.TensorShape([None] * len(x.dims))
    declared = x.dims if info is None or info[1] is None else info[1]
    return tf.TensorShape([a if b is None or a == b else None for a, b in zip(x.dims, declared)])


@onnx.op("Scan", note="version 8, which has a batch of its own, is made example by example")
def scan(*inputs: Any, body: Body, num_scan_inputs: int, scan_input_axes: Any = None, scan_input_directions: Any = None,
         scan_output_axes: Any = None, scan_output_directions: Any = None, directions: Any = None, node: Node) -> Any:
    """body(*state, *slices) -> *state, *slices; the slices are taken and stacked along an axis each."""
    if node.version >= 9:
        return _scanned(inputs, body, num_scan_inputs, (scan_input_axes, scan_input_directions, scan_output_axes,
                                                        scan_output_directions))
    lengths, *whole = inputs
    batch = size_of(whole[0], 0)
    if lengths is not None or isinstance(batch, Tensor):
        raise ArgumentError("expected a Scan of version 8 with a batch that is known, all of one length",
                            hint="onnx.version_converter brings a model to a later version")
    lines = None, directions, None, None
    made = [_scanned([x[i] for x in whole], body, num_scan_inputs, lines) for i in range(batch)]
    return [tf.stack(parts) for parts in zip(*made)]


def _scanned(inputs: Sequence[Any], body: Body, num_scan_inputs: int, lines: tuple[Any, Any, Any, Any]) -> list[Any]:
    """lines: axis and direction of what is taken, and of what is stacked; None for axis 0, forward."""
    scan_input_axes, scan_input_directions, scan_output_axes, scan_output_directions = lines
    count = len(inputs) - num_scan_inputs
    state, sequences = list(inputs[:count]), []
    for x, axis, backward in zip(inputs[count:], scan_input_axes or [0] * num_scan_inputs,
                                 scan_input_directions or [0] * num_scan_inputs):
        x = moved(x, axis, 0)
        sequences.append(tf.reverse(x, [0]) if backward else x)
    length = tf.cast(size_of(sequences[0], 0), tf.int64)

    def step(i: Any, *rest: Any) -> Any:
        made = body.build(*rest[:count], *[tf.gather(x, i) for x in sequences])
        return [i + 1, *made[:count], *_written(rest[count:], i, made[count:])]

    def invariant(relaxed: int) -> list[Any]:
        return [_shape(x, body.inputs[i], relaxed) for i, x in enumerate(state)]

    _, *found = _repeated(lambda i, *_: i < length, step, [tf.constant(0, tf.int64), *state], invariant,
                          _stacked(body, count, [*state, *[x[0] for x in sequences]]))
    stacked = []
    for i, y in enumerate(found[count:]):
        y = tf.reverse(y, [0]) if scan_output_directions and scan_output_directions[i] else y
        stacked.append(moved(y, 0, scan_output_axes[i]) if scan_output_axes else y)
    return [*found[:count], *stacked]


def _place(position: Any, default: int) -> int:
    if position is None:
        return default
    known = value_of(position)
    if known is None:
        raise ArgumentError("expected a place in a sequence that is known while the graph is built")
    return int(known.reshape(()))


@onnx.op("SequenceInsert")
def sequence_insert(items: list[Any], item: Any, position: Any = None) -> Any:
    place = _place(position, len(items))
    return ([*items[:place], item, *items[place:]],)


@onnx.op("SequenceErase")
def sequence_erase(items: list[Any], position: Any = None) -> Any:
    kept = list(items)
    del kept[_place(position, -1)]
    return (kept,)


@onnx.op("SplitToSequence")
def split_to_sequence(x: Any, split: Any = None, *, axis: int = 0, keepdims: int = 1) -> Any:
    axis = axis_of(axis, rank_of(x))
    size, known = size_of(x, axis), value_of(split)
    if isinstance(size, Tensor) or split is not None and known is None:
        raise ArgumentError(f"expected lengths of the parts that are known while the graph is built, of {x.describe()}")
    if known is None or known.ndim == 0:
        step = 1 if known is None else int(known)
        parts = [min(step, size - first) for first in range(0, size, step)]
    else:
        parts = known.tolist()
    made = tf.split(x, parts, axis)
    return (made if keepdims or split is not None else [tf.squeeze(part, [axis]) for part in made],)


@onnx.op("SequenceMap")
def sequence_map(items: list[Any], *others: Any, body: Body) -> Any:
    """body(item, *others) for each item; of others that are sequences too, their items."""
    made = [body.build(item, *[x[i] if isinstance(x, list) else x for x in others]) for i, item in enumerate(items)]
    return [list(outputs) for outputs in zip(*made)] or [[] for _ in body.outputs]


onnx.rows({
    "SequenceEmpty": lambda *, dtype=1: ([],), "SequenceConstruct": lambda *items: (list(items),),
    "SequenceAt": lambda items, position: items[_place(position, -1)],
    "SequenceLength": lambda items: tf.constant(len(items), tf.int64), "OptionalGetElement": lambda x: (x,),
    "OptionalHasElement": lambda x=None: tf.constant(x is not None),
    "ConcatFromSequence": lambda items, *, axis, new_axis=0:
        tf.stack(items, axis) if new_axis else tf.concat(items, axis),
    "Optional": lambda x=None, *, type=None: (x,)})
