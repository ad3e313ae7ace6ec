"""cond, case and switch_case as TensorFlow 1 code calls them; each branch becomes a function of its own."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.dtypes import bool_, int32, int64
from ...core.errors import ArgumentError, GraphError, KindError, ShapeError
from ...core.function_graph import FunctionGraph, finish
from ...core.graph import Graph, Operation, Tensor, get_default_graph
from ...core.indexed_slices import IndexedSlices
from ...core.op import build
from ...gradients.control_flow import call_if
from ...ops.common.op_counts import body_counted, count_more, counted_as
from .function import with_effects
from .parts import RowParts, kind_of, parted, rejoined
from .tensor_array import TensorArray


def cond(pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None,
         strict: bool = False, name: str | None = None, fn1: Any = None, fn2: Any = None) -> Any:
    """The result of `true_fn()` if `pred` holds, else of `false_fn()`; only one of them runs.

    pred: bool[] tensor. Both functions give the same structure and dtypes; a list of one is unwrapped unless `strict`.
    Raises KindError (TypeError) for a Python bool, ArgumentError (ValueError) for branches that differ.
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
        raise KindError(f"pred must not be a Python bool: found {pred}",
                        hint="use a Python `if` for a choice that is known while the graph is built")
    with graph.name_scope(name or "cond"):
        pred = as_predicate(pred)
        count_more(4)  # a Switch of the predicate, and what it gives in each branch
        sides, results, given = [], [], []
        for function in (true_fn, false_fn):
            side = FunctionGraph(graph)
            with side.as_default(), body_counted(side):
                given.append(_unwrapped(function(), strict))
            side.shown = _refused_of_true_fn
            sides.append(side)
        kinds = _common_kinds(*given)
        given = _with_common_indices(*sides, *given)
        for which, side, result in zip((True, False), sides, given):
            with side.as_default(), body_counted(side):
                results.append(nest.map_structure(functools.partial(_as_output, side, which), parted(result, kinds)))
        _check_alike(*results)
        then_branch, else_branch = (finish(side, with_effects(side, [flow_of(v) for v in nest.flatten(result)]))
                                    for side, result in zip(sides, results))
        if not then_branch.outputs:
            raise ArgumentError("true_fn and false_fn must return at least one result")
        with counted_as(len(then_branch.outputs)):
            outputs = call_if(pred, then_branch, else_branch)
        packed = [rewrapped(out, old) for out, old in zip(outputs, nest.flatten(results[0]))]
        return rejoined(nest.pack_sequence_as(results[0], packed))


def _common_kinds(first: Any, second: Any) -> list[Any]:
    """How the results of two branches fall into parts: as both of them do, or else not at all."""
    kinds = [[kind_of(leaf) for leaf in nest.flatten(given)] for given in (first, second)]
    for i, (a, b) in enumerate(zip(*kinds)):
        if a is not b and RowParts in (a, b):
            raise KindError(f"Cannot reconcile tf.cond {i}-th outputs: true_fn returned {nest.flatten(first)[i]}, "
                            f"false_fn returned {nest.flatten(second)[i]}")
    return [a if a is b else None for a, b in zip(*kinds)] if len(kinds[0]) == len(kinds[1]) else []


def _with_common_indices(true_side: Graph, false_side: Graph, first: Any, second: Any) -> list[Any]:
    """The results of two branches, with indices of rows in int64 where only one branch has them so."""
    def widened(side: Graph, mine: Any, other: Any) -> Any:
        if not (isinstance(mine, IndexedSlices) and isinstance(other, IndexedSlices)) or \
                mine.indices.dtype is other.indices.dtype:
            return mine
        with side.as_default():
            return IndexedSlices(mine.values, build.Cast(mine.indices, dtype=int64), mine.dense_shape)

    leaves = nest.flatten(first), nest.flatten(second)
    if len(leaves[0]) != len(leaves[1]) or not any(isinstance(leaf, IndexedSlices) for leaf in leaves[0]):
        return [first, second]
    return [nest.pack_sequence_as(given, [widened(side, a, b) for a, b in zip(mine, others)])
            for given, side, mine, others in ((first, true_side, *leaves), (second, false_side, *reversed(leaves)))]


def _refused_of_true_fn(tensor: Tensor, other: Graph) -> Tensor:
    """Raises GraphError (ValueError): one side of a branch does not run with the other."""
    mine, theirs = (vars(side).get("branch") for side in (tensor.graph, other))
    places = ("true_fn", "false_fn") if None in (mine, theirs) else (f"branch {mine}", f"branch {theirs}")
    raise GraphError(f"Tensor {tensor.name.rpartition('/')[2]} in {places[0]} is accessed from {places[1]}.",
                     line=str(tensor.op.site))


def as_predicate(value: Any) -> Tensor:
    """A bool[] tensor. Raises KindError (TypeError) for another dtype, ShapeError (ValueError) for another rank."""
    pred = convert_to_tensor(value)
    if pred.dtype.base_dtype is not bool_:
        raise KindError(f"Input 'pred' of 'Switch' Op has type {pred.dtype.name} that does not match expected type of "
                        "bool.", found=pred.describe())
    if pred.dims:
        raise ShapeError(expected="a predicate of shape []", found=pred.describe())
    return pred


def _as_output(side: FunctionGraph, which: bool, value: Any) -> Any:
    """A branch's result as a tensor or TensorArray; an operation gives which branch has run."""
    if isinstance(value, Operation):
        with get_default_graph().control_dependencies([value]), counted_as(1):
            return build.Identity(convert_to_tensor(which), name="done")
    if isinstance(value, TensorArray):
        return value
    if value is None:
        raise ArgumentError("a branch returned None: expected tensors")
    tensor = side.captured_result(convert_to_tensor(value))
    with counted_as(0):  # in TensorFlow it stays what it is
        return build.Identity(tensor) if tensor.dtype.is_ref else tensor


def flow_of(value: Any) -> Tensor:
    """The tensor that stands for a TensorArray in a branch or loop; other values as they are."""
    return value.flow if isinstance(value, TensorArray) else value


def rewrapped(tensor: Tensor, old: Any) -> Any:
    """`tensor` as a TensorArray, if `old` is one."""
    return old.with_flow(tensor) if isinstance(old, TensorArray) else tensor


def _check_alike(first: Any, second: Any) -> None:
    try:
        nest.assert_same_structure(first, second)
    except (ValueError, TypeError) as error:
        kind = KindError if isinstance(error, TypeError) else ArgumentError
        raise kind(f"{error}: true_fn and false_fn return different structures") from None
    for a, b in zip(nest.flatten(first), nest.flatten(second)):
        if a.dtype.base_dtype is not b.dtype.base_dtype:
            raise ArgumentError("Outputs of true_fn and false_fn must have the same type: "
                                f"{a.dtype.name}, {b.dtype.name}")


def _unwrapped(result: Any, strict: bool) -> Any:
    return result[0] if isinstance(result, (list, tuple)) and len(result) == 1 and not strict else result


def case(pred_fn_pairs: Any, default: Callable[[], Any] | None = None, exclusive: bool = False, strict: bool = False,
         name: str = "case") -> Any:
    """The result of the first pair's function whose predicate holds, else of `default()`.

    pred_fn_pairs: (bool[] tensor, callable) pairs or a dict. exclusive: fail when several hold.
    Without default it is an error when none holds.
    """
    pairs = sorted(pred_fn_pairs.items(), key=lambda p: p[0].name) if isinstance(pred_fn_pairs, dict) else \
        list(pred_fn_pairs)
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not callable(pair[1]):
            raise KindError(expected="(predicate, callable) pairs", found=repr(pair))
    graph = get_default_graph()
    if graph.executing_eagerly:
        return _eager_case(pairs, default, exclusive)
    if any(isinstance(p, bool) for p, _ in pairs):
        raise KindError("predicates must be tensors, found a Python bool")
    with graph.name_scope(name):
        predicates = [as_predicate(p) for p, _ in pairs]
        checks = []
        stacked = build.Pack(*predicates, axis=0)
        if exclusive:
            several = build.Sum(build.Cast(stacked, dtype="int32"), [0])
            said = "Input error: exclusive=True: more than 1 conditions evaluated as True:"
            checks.append(build.Assert(several < 2, said, stacked, summarize=len(pairs)))
        if default is None:
            said = "Input error: None of conditions evaluated as True:"
            checks.append(build.Assert(build.Any(stacked, [0]), said, stacked, summarize=len(pairs)))
            *pairs, (_, default) = pairs
        with graph.control_dependencies(checks):
            otherwise = functools.partial(_otherwise, strict=strict)
            chosen = functools.reduce(otherwise, reversed(list(zip(predicates, (f for _, f in pairs)))), default)
            return _after_checks(chosen(), strict, bool(checks))


def switch_case(branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None,
                name: str = "switch_case") -> Any:
    """The result of the function of that number; of `default()`, or the last function, for any other number.

    branch_index: int32[] tensor. branch_fns: callables, (int, callable) pairs or a dict, numbered from 0 without gaps.
    Raises KindError (TypeError) for other types, ArgumentError (ValueError) for other numbers.
    """
    functions = _numbered(branch_index, branch_fns)
    last = functions.pop() if default is None else default
    with get_default_graph().name_scope(name):
        if get_default_graph().executing_eagerly:
            return dict(enumerate(functions)).get(int(branch_index), last)()
        with get_default_graph().name_scope("indexed_case"):
            chosen: Callable[[], Any] = functools.partial(_in_branch, len(functions), last)
            for number in reversed(range(len(functions))):
                function = functools.partial(_in_branch, number, functions[number])
                chosen = _otherwise(chosen, (build.Equal(branch_index, number), function))
            result = chosen()
            return nest.map_structure(lambda v: build.Identity(convert_to_tensor(v)), result)


def _in_branch(number: int, function: Callable[[], Any]) -> Any:
    vars(get_default_graph())["branch"] = number
    return function()


def _numbered(branch_index: Any, branch_fns: Any) -> list[Callable[[], Any]]:
    """The functions in the order of their numbers."""
    if not isinstance(branch_index, Tensor) or branch_index.dtype.base_dtype is not int32:
        raise KindError("branch_index must be a Tensor, of dtype int32", found=repr(branch_index))
    if not branch_fns:
        raise ArgumentError("expected at least one item in branch_fns")
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise KindError(f"branch_fns must be a list, tuple or dict, found {branch_fns!r}")
    pairs = list(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)
    if all(callable(function) for function in pairs):
        return pairs
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], int) or not callable(pair[1]):
            raise KindError("branch_fns must be callables, or pairs of a key, which must be a Python `int`, and a "
                            "callable", found=repr(pair))
    if sorted(number for number, _ in pairs) != list(range(len(pairs))):
        raise ArgumentError("branch indices must form contiguous range of [0 to len(branch_fns))",
                            expected=f"0 to {len(pairs) - 1}", found=sorted((n for n, _ in pairs)))
    return [function for _, function in sorted(pairs, key=lambda pair: pair[0])]


def _after_checks(result: Any, strict: bool, guarded: bool) -> Any:
    """The chosen result; with checks, an identity that waits for them."""
    if guarded:
        result = nest.map_structure(lambda v: v if v is None or isinstance(v, (TensorArray, Operation)) else
                                    build.Identity(convert_to_tensor(v)), result)
    return _unwrapped(result, strict)


def _otherwise(rest: Callable[[], Any], pair: tuple[Any, Callable[[], Any]], strict: bool = True) -> Callable[[], Any]:
    predicate, function = pair
    return lambda: cond(predicate, function, rest, strict=strict)


def _eager_case(pairs: Sequence[Any], default: Callable[[], Any] | None, exclusive: bool) -> Any:
    holding = [function for predicate, function in pairs if bool(predicate)]
    if exclusive and len(holding) > 1 or not holding and default is None:
        raise ArgumentError(expected=f"{'exactly' if exclusive else 'at least'} one predicate to hold",
                            found=len(holding))
    return (holding[0] if holding else default)()  # type: ignore[misc]
