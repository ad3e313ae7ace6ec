"""@op: the one place where an op is declared, and how a declared op enters a graph."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import site
from .convert import as_array, to_tensor
from .defaults import STACKS
from .dtypes import ALL, DType, as_dtype, is_numpy
from .errors import ArgumentError, AutodiffError, DTypeError, InvalidArgumentError, ShapeError
from .graph import Graph, Tensor, get_default_graph, graph_of
from .infer import KEEPING, held
from .names import checked_op_name, is_op_name
from .op import NO_ATTRIBUTES, OPS, Kind, OpDef, Parameter, Spec, T
from .shapes import show


def op(name: str, *, infer: Callable[..., Any], elementwise: bool = False, dtypes: tuple[DType, ...] = ALL,
       stateful: bool = False, no_grad: str | None = None, no_rule: str | None = None,
       batched: Callable[..., Any] | None = None) -> Callable[[Callable[..., Any]], OpDef]:
    """Declare an op by its kernel.

    Positional parameters of the kernel are tensors (annotated with a Kind; T, the shared dtype, if
    not), keyword-only parameters are attributes with their defaults. `out` (a buffer for the
    result) and `run` (the session's state, random streams, sub-runs) are the engine's. dtypes:
    what T may be. no_grad: why no gradient flows; no_rule: why asking for one is a LookupError.
    """

    def declare(kernel: Callable[..., Any]) -> OpDef:
        code, names = kernel.__code__, kernel.__code__.co_varnames
        end = code.co_argcount + code.co_kwonlyargcount
        definition = OpDef(name, kernel, parameters=_parameters(kernel, names), infer=infer, build=build_op,
                           keyword_only=names[code.co_argcount:end], elementwise=elementwise, dtypes=dtypes,
                           stateful=stateful, no_grad=no_grad, no_rule=no_rule, batching_rule=batched)
        definition.keeps_shape = infer in KEEPING
        if OPS.is_loaded(name):
            raise ArgumentError(f"op {name!r} is declared twice: {OPS[name].declared_at} and {definition.declared_at}")
        OPS[name] = definition
        return definition

    return declare


def _parameters(kernel: Callable[..., Any], names: tuple[str, ...]) -> tuple[Parameter, ...]:
    code, kinds = kernel.__code__, kernel.__annotations__
    parameters = [Parameter(n, kinds[n] if n in kinds else T) for n in names[:code.co_argcount]]
    if code.co_flags & 0x04:  # *args
        variadic = names[code.co_argcount + code.co_kwonlyargcount]
        parameters.append(Parameter(variadic, kinds.get(variadic, T), variadic=True))
    if kinds and not all([isinstance(p.kind, Kind) for p in parameters]):
        raise ArgumentError(f"{code.co_name}: annotations of positional parameters are Kinds (T, Index, Bool, …), and "
                            "the module must not postpone annotations")
    return tuple(parameters)


def build_op(definition: OpDef, values: tuple, attrs: dict[str, Any], name: str | None = None,
             hint: DType | None = None) -> Any:
    """Add an operation to the graph of its inputs, converting Python values to constants.

    Constants made on the way are named `<op>/<parameter>`. hint: the dtype for a Python value that
    comes before any tensor. Gives the tensor of a one-output op, the list of tensors of any other,
    the Operation when there is no output. Raises TypeError for dtypes and ValueError for shapes.
    """
    graphs = STACKS.graphs
    graph = graphs[-1] if graphs else get_default_graph()
    dtype = _shared(graph, definition, values) if definition.is_simple and not attrs else None
    if dtype is not None:
        if name is None:
            name = definition.name
        elif type(name) is not str or not is_op_name(name):
            name = checked_op_name(name, not graph.scope)
        dims = values[0].dims
        if definition.keeps_shape and len(values) < 3 and values[-1].dims == dims:
            return graph.enter(definition, values, NO_ATTRIBUTES, ((dtype, dims),), name)._outputs
        try:
            spec = definition.infer(*values)
        except AutodiffError:
            return _add(graph, definition, values, attrs, name, None)  # says where
        if type(spec) is Spec:
            return graph.enter(definition, values, NO_ATTRIBUTES, (spec,), name)._outputs
    graph = graph_of(values)
    name = definition.name if name is None else checked_op_name(name, not graph.scope)
    for value in values:
        if not isinstance(value, Tensor):
            break
    else:
        return _add(graph, definition, values, attrs, name, None)
    with graph.name_scope(name) as scope:
        return _add(graph, definition, values, attrs, scope, hint)


def _shared(graph: Graph, definition: OpDef, values: tuple) -> DType | None:
    """The dtype of these, if they are tensors of the graph, as the definition wants them: so it is nearly always."""
    if graph.building_function or len(values) != len(definition.parameters):
        return None
    shared = None
    for value in values:
        if type(value) is not Tensor or value.op.graph is not graph:
            return None
        dtype = value.dtype.base_dtype
        if shared is None:
            shared = dtype
        elif dtype is not shared:
            return None
    return shared if shared is definition.usual or shared in definition.dtypes else None


def _add(graph: Graph, definition: OpDef, values: tuple, attrs: dict[str, Any], name: str, hint: DType | None) -> Any:
    inputs: tuple[Tensor, ...] = ()
    try:
        inputs = _inputs(graph, definition, values, hint)
        if definition.attributes or definition.required or attrs:
            attrs = _complete(graph, definition, attrs)
        specs = _inferred(graph, definition, inputs, attrs)
    except AutodiffError as error:
        # as in TensorFlow, what failed has taken its name
        taken = name[:-1] if name.endswith("/") else graph.unique_name(name)
        if not error.node:
            if isinstance(error, ShapeError) and inputs:
                error.named(taken, definition.name, ", ".join(show(t.dims) for t in inputs))
            error.explain(node=f"{definition.name}({', '.join(map(_describe, values))})", line=written_at(graph))
        raise
    if isinstance(specs, Spec):
        return graph.add(definition, inputs, attrs, (specs,), name).outputs[0]
    operation = graph.add(definition, inputs, attrs, specs, name)
    return list(operation.outputs) if specs else operation


def _inferred(graph: Graph, definition: OpDef, inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> Any:
    """The Specs of the outputs. Executing eagerly, what a build refuses is a run that failed."""
    try:
        return definition.infer(*inputs, **attrs)
    except (ShapeError, ArgumentError) as error:
        if not graph.executing_eagerly:
            raise
        raise graph.refusal(error, definition, inputs, attrs) from None  # type: ignore[attr-defined]


def _inputs(graph: Graph, definition: OpDef, values: tuple, hint: DType | None) -> tuple[Tensor, ...]:
    parameters = definition.parameters
    if definition.is_plain and _agree(definition, values):
        return values
    variadic = bool(parameters) and parameters[-1].variadic
    if len(values) != len(parameters) and not (variadic and len(values) >= len(parameters) - 1):
        raise ArgumentError(f"{definition.name} takes {len(parameters)} inputs, found {len(values)}")
    shared: DType | None = None
    first = ""
    last = len(parameters) - 1
    inputs: list[Tensor] = []
    for i, value in enumerate(values):
        parameter = parameters[i] if i < last or not variadic else parameters[last]
        kind = parameter.kind
        if not isinstance(value, Tensor):
            try:
                value = _converted(graph, value, parameter, shared if shared is not None else hint, i - last)
            except DTypeError as error:
                if shared is None or not kind.shared or parameter.name == first:
                    raise
                raise DTypeError(f"Input '{parameter.name}' of '{definition.name}' Op has type "
                                 f"{as_dtype(as_array(value).dtype).name} that does not match type {shared.name} of "
                                 f"argument '{first}'. {error.sentence}") from None
        dtype = held(value).dtype if kind.handle and kind.shared else value.dtype.base_dtype
        if kind.shared:
            if shared is None:
                shared, first = dtype, parameter.name
                if dtype not in definition.dtypes:
                    raise DTypeError(_unwanted(parameter, value, definition.dtypes),
                                     hint=_cast(value, definition.dtypes))
            elif dtype is not shared:
                refusal: type = InvalidArgumentError if graph.executing_eagerly else DTypeError
                if parameter.variadic and parameter.name == first and not graph.executing_eagerly:
                    types = ", ".join(v.dtype.name for v in values[last:] if isinstance(v, Tensor))
                    raise DTypeError(f"Tensors in list passed to '{first}' of '{definition.name}' Op have types "
                                     f"[{types}] that don't all match.", hint="use tf.cast to change some of them")
                if inputs[0].dtype.name == "resource":
                    refusal = InvalidArgumentError if graph.executing_eagerly else ArgumentError
                    raise refusal("Trying to assign variable with wrong dtype. "
                                  f"Expected {shared.word} got {dtype.word}.")
                raise refusal(f"Input '{parameter.name}' of '{definition.name}' Op has type {dtype.name} that does not "
                              f"match type {shared.name} of argument '{first}'",
                              hint="use tf.cast to change one of them")
        elif dtype not in kind.allowed:
            raise DTypeError(_unwanted(parameter, value, kind.allowed), hint=_cast(value, kind.allowed))
        inputs.append(value)
    return tuple(inputs)


def _agree(definition: OpDef, values: tuple) -> bool:
    """Whether these are tensors, as many as a plain op takes, of one dtype that it knows."""
    if len(values) != len(definition.parameters) or not values or not isinstance(values[0], Tensor):
        return False
    shared = values[0].dtype.base_dtype
    for value in values:
        if not isinstance(value, Tensor) or value.dtype.base_dtype is not shared:
            return False
    return shared in definition.dtypes


def _converted(graph: Graph, value: Any, parameter: Parameter, shared: DType | None, position: int) -> Tensor:
    kind = parameter.kind
    if kind.handle:
        handle = getattr(value, "handle_tensor", None)
        if handle is not None:
            return handle
    name = f"{parameter.name}_{position}" if parameter.variadic else parameter.name
    if kind.shared:
        return to_tensor(graph, value, None if hasattr(value, "as_tensor") else shared, name)
    own = is_numpy(value) and value.size or hasattr(value, "as_tensor")  # an array of nothing is of any type
    if is_numpy(value) and own and kind.default is not None:
        value = _fitting(value, kind, parameter.name)
    return to_tensor(graph, value, None if own else kind.default, name)


def _fitting(array: Any, kind: Kind, name: str) -> Any:
    """An array of numbers in a dtype that the kind allows, as TensorFlow casts it; numbers that would change stay."""
    if array.dtype.kind not in "biuf" or as_dtype(array.dtype) in kind.allowed:
        return array
    cast = array.astype(kind.default.as_numpy_dtype)  # type: ignore[union-attr]
    kept = array.dtype.kind != "f" or name not in ("indices", "segment_ids")  # a float never names a row
    return cast if cast.dtype.kind in "bf" or kept and (cast == array).all() else array


def _unwanted(parameter: Parameter, value: Tensor, allowed: tuple[DType, ...]) -> str:
    names = ", ".join(t.name for t in allowed)
    return (f"Value passed to parameter '{parameter.name}' has DataType {value.dtype.name} not in list of allowed "
            f"values: {names}")


def _cast(value: Tensor, allowed: tuple[DType, ...]) -> str:
    """How to have a tensor in a type that is allowed, "" where that is none of numbers."""
    wanted = next((t.name for t in allowed[::-1] if value.dtype.is_floating and t.is_integer or
                   value.dtype.is_integer and t.name == "float32"), "")
    return f"tf.cast({value.op.name}, tf.{wanted}): {value.op.name} is {value.dtype.name}" * bool(wanted)


def _complete(graph: Graph, definition: OpDef, attrs: dict[str, Any]) -> dict[str, Any]:
    unknown = [k for k in attrs if k not in definition.attributes and k not in definition.required]
    missing = [k for k in definition.required if k not in attrs]
    if unknown or missing:
        raise ArgumentError(f"{definition.name} has no attribute {unknown[0]!r}" if unknown else
                            f"{definition.name} needs the attribute {missing[0]!r}")
    complete = {**definition.attributes, **attrs}
    if graph._container and not complete.get("container", True):
        complete["container"] = graph._container
    return complete


def _describe(value: Any) -> str:
    if isinstance(value, Tensor):
        return value.describe()
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def written_at(graph: Graph) -> str:
    """`train.py:41 in model`: the user's line that is being executed, or of the program being read; "" if unknown."""
    frames = site.resolve(site.capture(graph.made_from))
    return str(frames[0]) if frames else ""
