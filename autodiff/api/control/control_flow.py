"""cond, case and while_loop as TF1 code calls them; functions of their own underneath."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.dtypes import bool_, int32
from ...core.errors import ArgumentError, KindError, ShapeError
from ...core.function_graph import FunctionGraph, finish
from ...core.graph import Operation, Tensor, get_default_graph
from ...core.indexed_slices import IndexedSlices
from ...core.op import build
from ...core.shapes import Dims, as_dims, show
from ...core.sparse_tensor import parted, rejoined
from ...gradients.control_flow import call_if, call_while
from .tensor_array import TensorArray


def cond(pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None,
         strict: bool = False, name: str | None = None, fn1: Any = None, fn2: Any = None) -> Any:
    """What `true_fn()` gives if `pred` holds, else what `false_fn()` gives; only one of them runs.

    pred: bool[] tensor. Both functions give the same structure and dtypes; a list of one is
    unwrapped unless `strict`. Raises KindError (TypeError) for a Python bool, ArgumentError
    (ValueError) for branches that differ.
    """
    if fn1 is not None and true_fn is not None or fn2 is not None and false_fn is not None:
        raise KindError("true_fn and fn1, false_fn and fn2 are spellings of one argument: give one of each")
    true_fn, false_fn = fn1 if true_fn is None else true_fn, fn2 if false_fn is None else false_fn
    if not callable(true_fn) or not callable(false_fn):
        raise KindError(f"true_fn and false_fn must be callable, found {true_fn!r} and {false_fn!r}")
    graph = get_default_graph()
    if graph.executing_eagerly:
        return _unwrapped((true_fn if bool(pred) else false_fn)(), strict)
    if isinstance(pred, bool):
        raise KindError(f"pred must be a tensor, found the Python bool {pred}\nuse a Python `if` for a choice that is "
                        "known while the graph is built")
    with graph.name_scope(name or "cond"):
        pred = _predicate(pred)
        sides, results, given = [], [], []
        for which, function in ((True, true_fn), (False, false_fn)):
            side = FunctionGraph(graph)
            with side.as_default():
                given.append(function())
                results.append(nest.map_structure(functools.partial(_as_output, which), parted(given[-1])))
            sides.append(side)
        _check_alike(*results)
        then_branch, else_branch = (finish(side, [_flow(v) for v in nest.flatten(result)])
                                    for side, result in zip(sides, results))
        if not then_branch.outputs:
            raise ArgumentError("true_fn and false_fn must return at least one result")
        outputs = call_if(pred, then_branch, else_branch)
        packed = [_like(out, old) for out, old in zip(outputs, nest.flatten(results[0]))]
        return _unwrapped(rejoined(given[0], nest.pack_sequence_as(results[0], packed)), strict)


def _predicate(value: Any) -> Tensor:
    """A bool[] tensor. Raises KindError (TypeError) for another dtype, ShapeError (ValueError) for another rank."""
    pred = convert_to_tensor(value)
    if pred.dtype.base_dtype is not bool_:
        raise KindError(f"expected a predicate of dtype bool, found {pred.describe()}")
    if pred.dims:
        raise ShapeError(f"expected a predicate of shape [], found {pred.describe()}")
    return pred


def _as_output(which: bool, value: Any) -> Any:
    """A branch's result as a tensor or TensorArray; an operation gives which branch has run."""
    if isinstance(value, Operation):
        with get_default_graph().control_dependencies([value]):
            return build.Identity(convert_to_tensor(which), name="done")
    if isinstance(value, TensorArray):
        return value
    if value is None:
        raise ArgumentError("a branch returned None: expected tensors")
    tensor = convert_to_tensor(value)
    return build.Identity(tensor) if tensor.dtype.is_ref else tensor


def _flow(value: Any) -> Tensor:
    return value.flow if isinstance(value, TensorArray) else value


def _like(tensor: Tensor, old: Any) -> Any:
    return old.with_flow(tensor) if isinstance(old, TensorArray) else tensor


def _check_alike(first: Any, second: Any) -> None:
    try:
        nest.assert_same_structure(first, second)
    except (ValueError, TypeError) as error:
        kind = KindError if isinstance(error, TypeError) else ArgumentError
        raise kind(f"true_fn and false_fn return different structures: {error}") from None
    for a, b in zip(nest.flatten(first), nest.flatten(second)):
        if a.dtype.base_dtype is not b.dtype.base_dtype:
            raise ArgumentError(f"true_fn and false_fn return different dtypes: {a.dtype.name} and {b.dtype.name}")


def _unwrapped(result: Any, strict: bool) -> Any:
    single = isinstance(result, (list, tuple)) and len(result) == 1 and not hasattr(result, "_fields")
    return result[0] if single and not strict else result


def case(pred_fn_pairs: Any, default: Callable[[], Any] | None = None, exclusive: bool = False, strict: bool = False,
         name: str = "case") -> Any:
    """What the function of the first pair whose predicate holds gives, else what `default()` gives.

    pred_fn_pairs: (bool[] tensor, callable) pairs or a dict. exclusive: fail when several hold.
    Without default it is an error when none holds.
    """
    pairs = sorted(pred_fn_pairs.items(), key=lambda p: p[0].name) if isinstance(pred_fn_pairs, dict) else \
        list(pred_fn_pairs)
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not callable(pair[1]):
            raise KindError(f"expected (predicate, callable) pairs, found {pair!r}")
    graph = get_default_graph()
    if graph.executing_eagerly:
        return _eager_case(pairs, default, exclusive)
    if any(isinstance(p, bool) for p, _ in pairs):
        raise KindError("predicates must be tensors, found a Python bool")
    with graph.name_scope(name):
        predicates = [_predicate(p) for p, _ in pairs]
        checks = []
        stacked = build.Pack(*predicates, axis=0)
        if exclusive:
            several = build.Sum(build.Cast(stacked, dtype="int32"), [0])
            checks.append(build.Assert(several < 2, stacked, summarize=len(pairs)))
        if default is None:
            checks.append(build.Assert(build.Any(stacked, [0]), stacked, summarize=len(pairs)))
            *pairs, (_, default) = pairs
        with graph.control_dependencies(checks):
            chosen = functools.reduce(_otherwise, reversed(list(zip(predicates, (f for _, f in pairs)))), default)
            return _after_checks(chosen(), strict, bool(checks))


def switch_case(branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None,
                name: str = "switch_case") -> Any:
    """What the function of that number gives; `default()`, or the last function, for any other number.

    branch_index: int32[] tensor. branch_fns: callables, (int, callable) pairs or a dict, numbered from 0 without gaps.
    Raises KindError (TypeError) for other types, ArgumentError (ValueError) for other numbers.
    """
    functions = _numbered(branch_index, branch_fns)
    last = functions.pop() if default is None else default
    with get_default_graph().name_scope(name):
        if get_default_graph().executing_eagerly:
            return dict(enumerate(functions)).get(int(branch_index), last)()
        with get_default_graph().name_scope("indexed_case"):
            chosen = last
            for number in reversed(range(len(functions))):
                chosen = _otherwise(chosen, (build.Equal(branch_index, number), functions[number]))
            result = chosen()
            return nest.map_structure(lambda v: build.Identity(convert_to_tensor(v)), result)


def _numbered(branch_index: Any, branch_fns: Any) -> list[Callable[[], Any]]:
    """The functions in the order of their numbers."""
    if not isinstance(branch_index, Tensor) or branch_index.dtype.base_dtype is not int32:
        raise KindError(f"branch_index must be an int32 tensor, found {branch_index!r}")
    if not branch_fns:
        raise ArgumentError("expected at least one item in branch_fns")
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise KindError(f"branch_fns must be a list, tuple or dict, found {branch_fns!r}")
    pairs = list(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)
    if all(callable(function) for function in pairs):
        return pairs
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], int) or not callable(pair[1]):
            raise KindError(f"expected callables or (int, callable) pairs, found {pair!r}")
    if sorted(number for number, _ in pairs) != list(range(len(pairs))):
        raise ArgumentError(f"expected branch indices 0 to {len(pairs) - 1}, found {sorted(n for n, _ in pairs)}")
    return [function for _, function in sorted(pairs, key=lambda pair: pair[0])]


def _after_checks(result: Any, strict: bool, guarded: bool) -> Any:
    """The chosen result; with checks, an identity that waits for them."""
    if guarded:
        result = nest.map_structure(lambda v: build.Identity(v) if isinstance(v, Tensor) else v, result)
    return _unwrapped(result, strict)


def _otherwise(rest: Callable[[], Any], pair: tuple[Any, Callable[[], Any]]) -> Callable[[], Any]:
    predicate, function = pair
    return lambda: cond(predicate, function, rest, strict=True)


def _eager_case(pairs: Sequence[Any], default: Callable[[], Any] | None, exclusive: bool) -> Any:
    holding = [function for predicate, function in pairs if bool(predicate)]
    if exclusive and len(holding) > 1 or not holding and default is None:
        raise ArgumentError(f"expected {'exactly' if exclusive else 'at least'} one predicate to hold, found "
                            f"{len(holding)}")
    return (holding[0] if holding else default)()  # type: ignore[misc]


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any = None,
               parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
               name: str | None = None, maximum_iterations: Any = None, return_same_structure: bool = False) -> Any:
    """Repeat `loop_vars = body(*loop_vars)` while `cond(*loop_vars)` holds; gives the final loop variables.

    loop_vars: nested tensors, SparseTensors and TensorArrays. shape_invariants: what stays true of each shape, when
    it changes from one iteration to the next. maximum_iterations: an int or int32[]. The result is the list or tuple
    that `body` gives; a single tensor comes back bare unless return_same_structure. Raises ArgumentError (ValueError)
    for no loop variables or other ones from `body`, KindError (TypeError) if `body` nests them in other types, and
    ShapeError (ValueError) for a shape that changes.
    """
    if not callable(cond) or not callable(body):
        raise KindError(f"cond and body must be callable, found {cond!r} and {body!r}")
    if parallel_iterations < 1:
        raise KindError(f"expected parallel_iterations >= 1, found {parallel_iterations}")
    if not nest.flatten(loop_vars):
        raise ArgumentError("no loop variables provided")
    loop_vars = loop_vars if isinstance(loop_vars, (list, tuple)) else [loop_vars]
    whole = loop_vars
    if (loop_vars := parted(whole)) is not whole:
        cond, body = _of_whole(whole, cond), _of_whole(whole, _listing(body))
    is_limited_alone = maximum_iterations is not None and len(loop_vars) == 1 and not return_same_structure
    if is_limited_alone:  # TensorFlow's counter then makes the variable a structure of its own
        body = _of_one(body)
    graph = get_default_graph()
    if graph.executing_eagerly:
        results = _eager_while(cond, body, loop_vars, maximum_iterations)
    else:
        with graph.name_scope(name or "while"):
            results = _Loop(cond, body, loop_vars, shape_invariants, maximum_iterations, back_prop).build()
    results = rejoined(whole, results)
    is_bare = is_limited_alone or not return_same_structure and len(nest.flatten(whole)) == 1
    return results[0] if is_bare else results


def _items(result: Any) -> Any:
    """What a body gives as a list, tuple or dict; one value alone is a list of one."""
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
    """A condition or body that takes SparseTensors as one that takes their parts."""
    return lambda *state: parted(function(*rejoined(whole, list(state))))


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
        self.initial = [_flow(v) for v in leaves]
        self.dims = [t.dims for t in self.initial]
        if invariants is not None:
            self.dims = self._with_invariants(invariants)
        self.limit = limit

    def _with_invariants(self, invariants: Any) -> list[Dims | None]:
        flat = _flat_shapes(invariants, self.structure)
        if len(flat) != len(self.initial):
            raise ArgumentError(f"expected {len(self.initial)} shape_invariants, found {len(flat)}")
        for tensor, dims in zip(self.initial, flat):
            if tensor.dtype.name != "variant" and not _less_specific(dims, tensor.dims):
                raise ShapeError(f"the shape invariant {show(dims)} is not true of {tensor.describe()} at the start")
        return [t.dims if t.dtype.name == "variant" else d for t, d in zip(self.initial, flat)]

    def build(self) -> Any:
        graph = get_default_graph()
        cond, body = FunctionGraph(graph), FunctionGraph(graph)
        initial, dims = list(self.initial), list(self.dims)
        if self.limit is not None:
            initial.append(convert_to_tensor(0, name="iteration"))
            dims.append(())
            limit = convert_to_tensor(self.limit, name="maximum_iterations")
            if limit.dims:
                raise ShapeError(f"expected a scalar maximum_iterations, found {limit.describe()}")
        for side in (cond, body):
            for i, (tensor, d) in enumerate(zip(initial, dims)):
                side.add_argument(tensor.dtype.base_dtype, d, f"loop_var_{i}")
        with cond.as_default():
            more = _predicate(self.cond(*self._state(cond)))
            if self.limit is not None:
                more = build.LogicalAnd(more, cond.arguments[-1] < limit)
        with body.as_default():
            outputs, arrays, structure = self._body_outputs(body)
            if self.limit is not None:
                outputs.append(body.arguments[-1] + 1)
        for side in (cond, body):
            side.read_anew(cond.updated | body.updated)
        results = call_while(initial, finish(cond, [more], ()), finish(body, outputs), dims, back_prop=self.back_prop)
        packed = [array.with_flow(r) if isinstance(array, TensorArray) else r for r, array in zip(results, arrays)]
        return nest.pack_sequence_as(structure, packed)

    def _state(self, graph: FunctionGraph) -> Any:
        leaves = [_like(argument, leaf) for argument, leaf in zip(graph.arguments, self.leaves)]
        return nest.pack_sequence_as(self.structure, leaves)

    def _body_outputs(self, graph: FunctionGraph) -> tuple[list[Tensor], list[Any], Any]:
        state = self._state(graph)
        result = _items(self.body(*state))
        flat = [v if isinstance(v, TensorArray) else convert_to_tensor(v) for v in nest.flatten(result)]
        if len(flat) != len(self.leaves):
            raise ArgumentError(f"body must give as many values as there are loop variables: {len(self.leaves)}, "
                                f"found {len(flat)}")
        nest.assert_same_structure(list(state), list(result))
        for i, (value, leaf) in enumerate(zip(flat, self.leaves)):
            self._check_invariant(i, value, leaf)
        return [_flow(v) for v in flat], flat, result

    def _check_invariant(self, index: int, value: Any, leaf: Any) -> None:
        if isinstance(value, TensorArray) or isinstance(leaf, TensorArray):
            if not isinstance(value, TensorArray) or not isinstance(leaf, TensorArray):
                raise KindError(f"loop variable {index} changes between a tensor and a TensorArray")
            return
        if value.dtype.base_dtype is not leaf.dtype.base_dtype:
            raise KindError(f"loop variable {index} enters with dtype {leaf.dtype.base_dtype.name} and has dtype "
                            f"{value.dtype.name} after one iteration")
        if not _less_specific(self.dims[index], value.dims):
            raise ShapeError(f"the shape of loop variable {index} is not invariant: it enters with "
                             f"{show(self.dims[index])} and has {show(value.dims)} after one iteration\n"
                             "give shape_invariants, or set_shape")


def _loop_tensor(value: Any) -> Tensor:
    tensor = convert_to_tensor(value)
    return build.Identity(tensor) if tensor.dtype.is_ref else tensor


def _flat_shapes(invariants: Any, structure: Any) -> list[Dims | None]:
    """Shapes in the order of the loop variables; a shape may itself be a list."""
    if not nest.is_sequence(structure):
        return [as_dims(invariants)]
    children = nest.children(structure)
    shapes = nest.children(invariants) if isinstance(invariants, dict) else list(invariants)
    if len(children) != len(shapes):
        raise ArgumentError(f"expected {len(children)} shape_invariants, found {len(shapes)}")
    return [dims for shape, child in zip(shapes, children) for dims in _flat_shapes(shape, child)]


def _less_specific(general: Dims | None, special: Dims | None) -> bool:
    """Whether everything `general` says of a shape is known to be true of `special`."""
    if general is None:
        return True
    if special is None or len(special) != len(general):
        return False
    return all(g is None or g == s for g, s in zip(general, special))

