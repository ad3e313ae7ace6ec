"""Branches and loops of whole functions, given with all their inputs: If, While, For and Case as ops have them."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import int32
from ...core.errors import ArgumentError, InvalidArgumentError
from ...core.function_graph import FunctionGraph, finish
from ...core.graph import Tensor, get_default_graph
from ...core.op import build
from ...core.shapes import Dims, compatible
from ...gradients.backprop import gradients
from ...gradients.control_flow import call_if, call_while
from ..tensor_messages import get_static_value
from .custom import py_func

Body = Callable[..., Any]  # tensors -> a tensor, a list of them, or None


def _listed(results: Any) -> list[Tensor]:
    if results is None:
        return []
    return [convert_to_tensor(each) for each in (results if isinstance(results, (list, tuple)) else [results])]


def if_of(predicate: Tensor, inputs: Sequence[Tensor], then_branch: Body, else_branch: Body, name: str) -> list[Tensor]:
    """An If op named so: what one of the functions gives for the inputs."""
    if get_default_graph().executing_eagerly:
        return _listed((then_branch if predicate else else_branch)(*inputs))
    branches = []
    for function in (then_branch, else_branch):
        side = FunctionGraph(get_default_graph())
        with side.as_default():
            branches.append(finish(side, _listed(function(*map(side.capture, inputs)))))
    return call_if(predicate, branches[0], branches[1], name=name)


def while_of(initial: Sequence[Tensor], shapes: Sequence[Dims | None], cond: Body, body: Body,
             name: str) -> list[Tensor]:
    """A While op named so: the loop variables when `cond` of them no longer holds.

    Raises InvalidArgumentError where the functions give another number of results than the loop needs.
    """
    if get_default_graph().executing_eagerly:
        state = list(initial)
        while _listed(cond(*state))[0]:
            state = _listed(body(*state))
        return state
    initial = [build.Identity(t) if t.dtype.is_ref else t for t in initial]
    sides, results = [], []
    for function in (cond, body):
        side = FunctionGraph(get_default_graph())
        sides.append(side)
        arguments = [side.add_argument(t.dtype.base_dtype, dims, f"loop_var_{i}")
                     for i, (t, dims) in enumerate(zip(initial, shapes))]
        with side.as_default():
            results.append(_listed(function(*arguments)))
    test, state = results
    if len(test) != 1:
        raise InvalidArgumentError(None, None, f"Expected a single scalar from the loop's condition, got {len(test)} "
                                   "tensors.")
    if len(state) != len(initial):
        raise InvalidArgumentError(None, None, f"While loop body returned {len(state)} arguments. Expected: "
                                   f"{len(initial)}")
    if not all(compatible(t.dims, dims) and (dims is None or t.dims is not None) for t, dims in zip(state, shapes)):
        return while_of(initial, [None] * len(initial), cond, body, name)
    return call_while(initial, finish(sides[0], test, ()), finish(sides[1], state), shapes, name=name)


def If(cond: Any, inputs: Sequence[Any], then_branch: Body, else_branch: Body,  # noqa: N802
       name: str | None = None) -> list[Tensor]:
    """What one of two functions gives for the inputs. cond: bool[], or a number that counts as true unless it is 0."""
    predicate = convert_to_tensor(cond)
    if not predicate.dtype.is_bool:
        predicate = build.NotEqual(predicate, build.ZerosLike(predicate))
    return if_of(predicate, _listed(list(inputs)), then_branch, else_branch, name or "If")


def While(input_: Sequence[Any], cond: Body, body: Body, name: str | None = None,  # noqa: N802
          hostmem: Any = None) -> list[Tensor]:
    """The tensors that `body` has made of `input_` when `cond` of them no longer holds; both take all of them."""
    initial = _listed(list(input_))
    return while_of(initial, [t.dims for t in initial], cond, body, name or "While")


def For(start: Any, limit: Any, delta: Any, inputs: Sequence[Any], body: Body,  # noqa: N802
        name: str | None = None, hostmem: Any = None, rewrite_with_while: bool | None = None) -> list[Tensor]:
    """The tensors that `body` has made of `inputs`, called with each i of range(start, limit, delta) and with them.

    Raises InvalidArgumentError for bounds that are no scalars, or that `delta` never reaches.
    """
    bounds = [convert_to_tensor(each, dtype=int32) for each in (start, limit, delta)]
    for what, bound in zip(("start", "limit", "delta"), bounds):
        if bound.dims not in (None, ()):
            raise InvalidArgumentError(None, None, f"{what} must be a scalar, found {bound.describe()}")
    first, end, step = map(get_static_value, bounds)
    if first is not None and end is not None and step is not None and (step == 0 or (end - first) * step < 0):
        raise InvalidArgumentError(None, None, f"Invalid start/limit/delta: {first} {end} {step}")
    count = len(inputs)

    def next_state(i: Tensor, *state: Tensor) -> list[Tensor]:
        made = _listed(body(i, *state))
        if len(made) != count:
            raise InvalidArgumentError(None, None, f"For loop body returned {len(made)} arguments. Expected: {count}")
        return [i + bounds[2], *made]

    def goes_on(i: Tensor, *state: Tensor) -> Tensor:
        up = build.Greater(bounds[2], 0)
        return build.LogicalOr(build.LogicalAnd(up, build.Less(i, bounds[1])),
                               build.LogicalAnd(build.LogicalNot(up), build.Greater(i, bounds[1])))

    return While([bounds[0], *inputs], goes_on, next_state, name or ("While" if rewrite_with_while else "For"))[1:]


def case(branch_index: Any, input: Sequence[Any], Tout: Any, branches: Sequence[Body],  # noqa: A002, N803
         output_shapes: Any = (), name: str | None = None) -> list[Tensor]:
    """What the function at `branch_index` gives for the inputs; the last one does for an index that none has."""
    index, inputs = convert_to_tensor(branch_index, dtype=int32), _listed(list(input))

    def from_branch(at: int, *given: Tensor) -> Any:
        if at == len(branches) - 1:
            return branches[at](*given)
        return if_of(build.Equal(index, at), given, branches[at], lambda *g: from_branch(at + 1, *g), "Case")

    if len(branches) == 1:
        return _listed(branches[0](*inputs))
    return if_of(build.Equal(index, 0), inputs, branches[0], lambda *g: from_branch(1, *g), name or "Case")


def partitioned_call(args: Sequence[Any], f: Body, tout: Any = None, **options: Any) -> list[Tensor]:
    """What a function gives for the arguments; there are no other devices to share its work."""
    return _listed(f(*args))


def remote_call(args: Sequence[Any], Tout: Any, f: Body, target: Any, name: str | None = None) -> list[Tensor]:  # noqa: N803
    """What a function gives for the arguments; the one device is its target."""
    return _listed(f(*args))


def Gradient(inputs: Sequence[Any], f: Any, name: str | None = None) -> list[Tensor]:  # noqa: N802
    """The gradients of a Defun. inputs: its arguments, then the gradients of its results; zeros where nothing flows."""
    tensors = _listed(list(inputs))
    xs, dys = tensors[:len(f.declared_input_types)], tensors[len(f.declared_input_types):]
    copies = [build.Identity(x) for x in xs]
    found = gradients(_listed(f(*copies)), copies, grad_ys=dys)
    return [build.ZerosLike(x) if dx is None else convert_to_tensor(dx) for x, dx in zip(xs, found)]


def batch_function(in_tensors: Sequence[Any], captured_tensors: Sequence[Any] = (), f: Any = None, Tout: Any = (),
                   **batching: Any) -> list[Tensor]:  # noqa: N803
    """What a Defun, which takes what it captures itself, gives for the tensors; each run is a batch of its own.

    A run raises InvalidArgumentError for another number of tensors than it takes.
    """
    if len(in_tensors) == len(f.declared_input_types):
        return _listed(f(*in_tensors))

    def refuse() -> Any:
        raise InvalidArgumentError(None, None, f"Function {f.name} takes {len(f.declared_input_types)} arguments, but "
                                   f"{len(in_tensors)} were given")

    return _listed(py_func(refuse, [], list(Tout))) if Tout else refuse()


def symbolic_gradient(input: Sequence[Any], Tout: Any, f: Any, name: str | None = None) -> Any:  # noqa: N803
    """The gradients of a Defun, or of the one of a name that was called in this graph; one alone is no list."""
    known = get_default_graph().extras.get("functions", {})
    if isinstance(f, str) and f not in known:
        raise ArgumentError(f"Function {f} is not defined.", hint="call it in this graph first")
    found = Gradient(input, known[f] if isinstance(f, str) else f, name)
    return found[0] if len(found) == 1 else found
