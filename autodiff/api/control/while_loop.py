"""while_loop as TensorFlow 1 code calls it; its condition and body become functions of their own."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.errors import ArgumentError, KindError, ShapeError
from ...core.function_graph import FunctionGraph, finish
from ...core.graph import Tensor, get_default_graph
from ...core.indexed_slices import IndexedSlices
from ...core.op import build
from ...core.shapes import Dims, TensorShape, as_dims, show
from ...gradients.control_flow import call_while
from ...ops.common.op_counts import body_counted, count_more
from ..type_specs import TensorSpec
from .control_flow import as_predicate, flow_of, rewrapped
from .function import with_effects
from .parts import OWN, kind_of, part_shapes, parted, rejoined
from .tensor_array import TensorArray


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any = None,
               parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
               name: str | None = None, maximum_iterations: Any = None, return_same_structure: bool = False) -> Any:
    """Repeat `loop_vars = body(*loop_vars)` while `cond(*loop_vars)` holds; gives the final loop variables.

    loop_vars: nested tensors, SparseTensors, IndexedSlices and TensorArrays. shape_invariants: what stays true of each
    shape, when it changes from one iteration to the next. maximum_iterations: an int or int32[]. The result is the list
    or tuple that `body` gives; a single tensor comes back bare unless return_same_structure. Raises ArgumentError
    (ValueError) for no loop variables or other ones from `body`, KindError (TypeError) if `body` nests them in other
    types, and ShapeError (ValueError) for a shape that changes.
    """
    if not callable(cond) or not callable(body):
        raise KindError(f"cond and body must be callable, found {cond!r} and {body!r}")
    if parallel_iterations < 1:
        raise KindError("parallel_iterations must be a positive integer.", found=parallel_iterations)
    if not nest.flatten(loop_vars):
        raise ArgumentError("no loop variables provided")
    loop_vars = loop_vars if isinstance(loop_vars, (list, tuple)) else [loop_vars]
    whole = loop_vars
    if any(map(kind_of, nest.flatten(whole))):
        loop_vars = parted(whole)
        cond, body = _of_whole(whole, cond), _of_whole(whole, _listing(body))
        given = None if shape_invariants is None else flatten_shapes(shape_invariants, whole)
        shape_invariants = nest.pack_sequence_as(loop_vars, part_shapes(whole, given))
    is_limited_alone = maximum_iterations is not None and len(loop_vars) == 1 and not return_same_structure
    if is_limited_alone:  # TensorFlow's counter then makes the variable a structure of its own
        body = _of_one(body)
    graph = get_default_graph()
    if graph.executing_eagerly:
        results = _eager_while(cond, body, loop_vars, maximum_iterations)
    else:
        with graph.name_scope(name or "while"):
            results = _Loop(cond, body, loop_vars, shape_invariants, maximum_iterations, back_prop).build()
    results = rejoined(results)
    is_bare = is_limited_alone or not return_same_structure and len(nest.flatten(whole)) == 1
    return results[0] if is_bare else results


def _items(result: Any) -> Any:
    """The result of a body as a list, tuple or dict; one value alone is a list of one."""
    return result if nest.is_sequence(result) and not isinstance(result, IndexedSlices) else [result]


def _of_one(body: Callable[..., Any]) -> Callable[..., Any]:
    """A body that may give its one variable, which may be nested, without a list around it."""
    def listing(state: Any) -> Any:
        result = body(state)
        is_whole = nest.is_sequence(state) and nest.is_sequence(result) and len(result) == len(state) != 1
        return [result] if is_whole else result
    return listing


def _listing(body: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *state: _items(body(*state))


def _of_whole(whole: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """A condition or body that takes SparseTensors and IndexedSlices as one that takes their parts."""
    kinds = [kind_of(leaf) for leaf in nest.flatten(whole)]
    return lambda *state: parted(function(*rejoined(list(state))), kinds)


def _eager_while(cond: Any, body: Any, loop_vars: Any, limit: Any) -> Any:
    state = nest.map_structure(lambda v: v if isinstance(v, TensorArray) else convert_to_tensor(v), loop_vars)
    done = 0
    while bool(cond(*state)) and (limit is None or done < int(limit)):
        result = _items(body(*state))
        nest.assert_same_structure(list(state), list(result))
        state = result
        done += 1
    return nest.map_structure(lambda v: v if isinstance(v, TensorArray) else convert_to_tensor(v), state)


class _Loop:
    """A while_loop while its condition and body are being built."""

    def __init__(self, cond: Any, body: Any, loop_vars: Any, invariants: Any, limit: Any, back_prop: bool) -> None:
        self.cond, self.body, self.structure, self.back_prop = cond, body, loop_vars, back_prop
        leaves = [v if isinstance(v, TensorArray) else _loop_tensor(v) for v in nest.flatten(loop_vars)]
        self.leaves = leaves
        self.initial = [flow_of(v) for v in leaves]
        self.dims = [t.dims for t in self.initial]
        if invariants is not None:
            self.dims = self._with_invariants(invariants)
        self.limit = limit

    def _with_invariants(self, invariants: Any) -> list[Dims | None]:
        flat = flatten_shapes(invariants, self.structure)
        if len(flat) != len(self.initial):
            raise ArgumentError("the structure of shape_invariants is not compatible with that of loop_vars",
                                expected=f"{len(self.initial)} shapes", found=len(flat))
        for tensor, dims in zip(self.initial, flat):
            if tensor.dtype.name != "variant" and dims is not OWN and not _less_specific(dims, tensor.dims):
                raise ShapeError(f"The shape invariant specified for {tensor.name} is not compatible with the initial "
                                 f"shape of the loop variable. It enters the loop with shape {tensor.shape}, but the "
                                 f"specified shape invariant is {show(dims)}.")
        return [t.dims if t.dtype.name == "variant" or d is OWN else d for t, d in zip(self.initial, flat)]

    def build(self) -> Any:
        graph = get_default_graph()
        cond, body = FunctionGraph(graph, in_loop=True), FunctionGraph(graph, in_loop=True)
        initial, dims = list(self.initial), list(self.dims)
        if self.limit is not None:
            initial.append(convert_to_tensor(0, name="iteration"))
            dims.append(())
            limit = convert_to_tensor(self.limit, name="maximum_iterations")
            if limit.dims:
                raise ShapeError(expected="a scalar maximum_iterations", found=limit.describe())
        for side in (cond, body):
            for i, (tensor, d) in enumerate(zip(initial, dims)):
                side.add_argument(tensor.dtype.base_dtype, d, f"loop_var_{i}")
        count_more(2 * len(initial))  # Enter and Merge of each
        with cond.as_default(), body_counted(cond):
            goes_on = cond.arguments[-1] < limit if self.limit is not None else None
            more = as_predicate(self.cond(*self._state(cond)))
            if goes_on is not None:
                more = build.LogicalAnd(goes_on, more)
        count_more(1 + 2 * len(initial))  # LoopCond; Switch and Identity of each
        with body.as_default(), body_counted(body):
            following = [body.arguments[-1] + 1] if self.limit is not None else []
            outputs, arrays, structure = self._body_outputs(body)
        count_more(2 * len(initial) - 1)  # NextIteration and Exit of each, in place of the loop
        with body.as_default():
            outputs = with_effects(body, outputs + following)
        for side in (cond, body):
            side.read_anew(cond.updated | body.updated)
        results = call_while(initial, finish(cond, [more], ()), finish(body, outputs), dims, back_prop=self.back_prop)
        packed = [array.with_flow(r) if isinstance(array, TensorArray) else r for r, array in zip(results, arrays)]
        return nest.pack_sequence_as(structure, packed)

    def _state(self, graph: FunctionGraph) -> Any:
        leaves = [rewrapped(argument, leaf) for argument, leaf in zip(graph.arguments, self.leaves)]
        return nest.pack_sequence_as(self.structure, leaves)

    def _body_outputs(self, graph: FunctionGraph) -> tuple[list[Tensor], list[Any], Any]:
        state = self._state(graph)
        result = _items(self.body(*state))
        flat = [v if isinstance(v, TensorArray) else graph.captured_result(convert_to_tensor(v))
                for v in nest.flatten(result)]
        nest.assert_same_structure(list(state), list(result))
        for i, (value, leaf) in enumerate(zip(flat, self.leaves)):
            self._check_invariant(i, value, leaf)
        return [flow_of(v) for v in flat], flat, result

    def _check_invariant(self, index: int, value: Any, leaf: Any) -> None:
        if isinstance(value, TensorArray) or isinstance(leaf, TensorArray):
            if not isinstance(value, TensorArray) or not isinstance(leaf, TensorArray):
                raise KindError(f"loop variable {index} changes between a tensor and a TensorArray")
            return
        if value.dtype.base_dtype is not leaf.dtype.base_dtype:
            raise KindError(f"loop variable {index} enters with dtype {leaf.dtype.base_dtype.name} and has dtype "
                            f"{value.dtype.name} after one iteration")
        if not _less_specific(self.dims[index], value.dims):
            initial = self.initial[index]
            raise ShapeError(f"Input tensor '{initial.name}' enters the loop with shape "
                             f"{TensorShape(self.dims[index])}, but has shape {value.shape} after one iteration. To "
                             "allow the shape to vary across iterations, use the `shape_invariants` argument of "
                             "tf.while_loop to specify a less-specific shape.")


def _loop_tensor(value: Any) -> Tensor:
    tensor = convert_to_tensor(value)
    return build.Identity(tensor) if tensor.dtype.is_ref else tensor


def flatten_shapes(invariants: Any, structure: Any) -> list[Dims | None]:
    """Shapes in the order of the loop variables; a shape may itself be a list."""
    if not nest.is_sequence(structure):
        shape = invariants.shape if isinstance(invariants, TensorSpec) else invariants
        return [shape if shape is OWN else as_dims(shape)]
    children = nest.children(structure)
    shapes = nest.children(invariants) if isinstance(invariants, dict) else list(invariants)
    if len(children) != len(shapes):
        raise ArgumentError(expected=f"{len(children)} shape_invariants", found=len(shapes))
    return [dims for shape, child in zip(shapes, children) for dims in flatten_shapes(shape, child)]


def _less_specific(general: Dims | None, special: Dims | None) -> bool:
    """Whether everything `general` says of a shape is known to be true of `special`."""
    if general is None:
        return True
    if special is None or len(special) != len(general):
        return False
    return all(g is None or g == s for g, s in zip(general, special))
