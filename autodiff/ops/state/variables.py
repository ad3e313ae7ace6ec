"""Variables: the ops that hold, read and change a session's state."""

import threading

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.declare import op
from ...core.dtypes import NUMBERS, as_dtype, bool_, int32, int64, resource
from ...core.errors import ArgumentError, DTypeError, NotFoundError, OutOfRangeError
from ...core.indexed_slices import IndexedSlices
from ...core.infer import fixed, held
from ...core.op import Index, Ref, Resource, Spec, T, blocked, build
from ...core.shapes import as_dims, compatible, is_known, merge
from ..arrays.gather import gather
from ..common.batch_axis import joined

_STEP = threading.Lock()
_INDEX = "indices are integers"
_ASSIGNMENT = "assignment replaces the value it is given a reference to"


@op("VariableV2", infer=lambda *, shape, dtype, container="", shared_name="": Spec(
    as_dtype(dtype).as_ref, as_dims(shape)), stateful=True, no_grad="a variable has no inputs")
def variable_v2(*, shape, dtype, container="", shared_name="", run):
    """A value that a session keeps between runs. -> a reference to dtype[shape]."""
    return run.read(run.op.name)


@op("VarHandleOp", infer=fixed(resource), stateful=True, no_grad="a variable has no inputs")
def var_handle_op(*, shape, dtype, container="", shared_name="", run):
    """The handle of a value that a session keeps between runs. shape, dtype: of the value. -> resource[]."""
    return run.handle(shared_name, Spec(as_dtype(dtype), as_dims(shape)))


def _value_of(resource, *, dtype=None):
    spec = held(resource)
    if dtype is not None and as_dtype(dtype) is not spec.dtype:
        raise ArgumentError(f"Trying to read variable with wrong dtype. Expected {as_dtype(dtype).word} got "
                            f"{spec.dtype.word}.")
    return spec


@op("ReadVariableOp", infer=_value_of, stateful=True)
def read_variable_op(resource: Resource, *, dtype=None, run):
    """The value behind a handle. resource: a handle -> any[...]."""
    return run.read(resource)


read_variable_op.gradient(lambda node, dy: (dy,))


def _rows_of(resource, indices, *, dtype=None, batch_dims=0):
    spec = held(resource)
    known = spec.dims is not None and indices.dims is not None
    return Spec(spec.dtype, (*indices.dims, *spec.dims[batch_dims + 1:]) if known else None)


@op("ResourceGather", infer=_rows_of, stateful=True)
def resource_gather(resource: Resource, indices: Index, *, dtype=None, batch_dims=0, run):
    """Rows of the value behind a handle. resource: a handle of any[n, ...], indices: int[...] -> any[..., rest].

    batch_dims: so many leading axes of both belong together. Raises InvalidArgumentError unless 0 <= index < n.
    """
    return gather.kernel(run.read(resource), indices, batch_dims, batch_dims=batch_dims)


@resource_gather.gradient
def _(node, dy):
    handle, indices = node.inputs
    spec, batch_dims = held(handle), node.attrs["batch_dims"]
    if batch_dims:
        sizes = build.Shape(build.ReadVariableOp(handle))
        return build.GatherGrad(sizes, indices, batch_dims, dy, batch_dims=batch_dims), blocked(_INDEX)
    if is_known(spec.dims):
        shape = np.array(spec.dims, np.int64 if indices.dtype.name == "int64" else np.int32)
    else:
        shape = build.Shape(build.ReadVariableOp(handle))
    values = build.Reshape(dy, joined(build.Size(indices)[None], shape[1:]))
    return IndexedSlices(values, build.Reshape(indices, [-1]), convert_to_tensor(shape)), blocked(_INDEX)


def referred(ref, value=None, *, validate_shape=True, **_):
    """The reference that an assignment passes on, after checking the value's shape."""
    if not ref.dtype.is_ref and ref.dtype is not resource:
        raise DTypeError(expected="a variable to assign to", found=f"the tensor {ref.name!r} of dtype {ref.dtype.name}")
    spec = held(ref)
    dims = merge(spec.dims, value.dims) if value is not None and validate_shape else spec.dims  # or refuses
    if ref.dtype is resource:
        return Spec(resource, ())
    return Spec(ref.dtype.base_dtype.as_ref, dims if validate_shape else value.dims)


def _own(value):
    """An array that a session may keep: a copy of anything that others may still write to."""
    return value.copy() if isinstance(value, np.ndarray) and value.flags.writeable else value


def _replaced(handle, value):
    referred(handle, value)
    return ()


@op("AssignVariableOp", infer=lambda handle, value: () if handle.graph.executing_eagerly else _replaced(handle, value),
    stateful=True, no_grad=_ASSIGNMENT)
def assign_variable_op(resource: Ref, value: T, *, run):
    """Give the variable behind a handle a new value. value: its dtype and shape."""
    run.assign(resource, _own(value))
    return ()


def _stepped(run, ref, ufunc, value):
    """A variable changed by a ufunc. One thread at a time: none of the steps of several is lost."""
    with _STEP:
        return run.assign(ref, ufunc(run.read(ref), value))


@op("AssignAddVariableOp", infer=_replaced, dtypes=NUMBERS, stateful=True, no_grad=_ASSIGNMENT)
def assign_add_variable_op(resource: Ref, value: T, *, run):
    """Add to the variable behind a handle. value: its dtype and shape."""
    _stepped(run, resource, np.add, value)
    return ()


@op("AssignSubVariableOp", infer=_replaced, dtypes=NUMBERS, stateful=True, no_grad=_ASSIGNMENT)
def assign_sub_variable_op(resource: Ref, value: T, *, run):
    """Subtract from the variable behind a handle. value: its dtype and shape."""
    _stepped(run, resource, np.subtract, value)
    return ()


@op("VarIsInitializedOp", infer=fixed(bool_), stateful=True, no_grad="a boolean has no gradient")
def var_is_initialized_op(resource: Resource, *, run):
    """Whether the session holds a value behind the handle. -> bool[]."""
    return run.is_initialized(resource)


@op("DestroyResourceOp", infer=lambda resource, *, ignore_lookup_error=True: (), stateful=True,
    no_grad="it has no result")
def destroy_resource_op(resource: Resource, *, ignore_lookup_error=True, run):
    """Let a session forget the value behind a handle. Raises NotFoundError for none, unless ignore_lookup_error."""
    if run.is_initialized(resource):
        run.forget(resource)
    elif not ignore_lookup_error:
        raise NotFoundError(None, run.op, f"Resource localhost/{getattr(resource, 'name', resource)} does not exist.")
    return ()


@op("Assign", infer=referred, stateful=True, no_grad=_ASSIGNMENT)
def assign(ref: Ref, value: T, *, validate_shape=True, run):
    """Give a variable a new value. ref: a variable, value: its dtype and shape. -> the reference."""
    return run.assign(ref, _own(value))


@op("AssignAdd", infer=referred, dtypes=NUMBERS, stateful=True, no_grad=_ASSIGNMENT)
def assign_add(ref: Ref, value: T, *, run):
    """Add to a variable. ref: a variable, value: its dtype and shape. -> the reference."""
    return _stepped(run, ref, np.add, value)


@op("AssignSub", infer=referred, dtypes=NUMBERS, stateful=True, no_grad=_ASSIGNMENT)
def assign_sub(ref: Ref, value: T, *, run):
    """Subtract from a variable. ref: a variable, value: its dtype and shape. -> the reference."""
    return _stepped(run, ref, np.subtract, value)


def _counted(ref, *, limit):
    return Spec(held(ref).dtype.base_dtype, ())


def _count_up_to(ref, limit, run):
    value = run.read(ref)
    if value >= limit:
        raise OutOfRangeError(f"Reached limit of {limit}")
    run.assign(ref, value + value.dtype.type(1))
    return value


@op("CountUpTo", infer=_counted, dtypes=(int32, int64), stateful=True, no_grad=_ASSIGNMENT)
def count_up_to(ref: Ref, *, limit, run):
    """Add 1 to a variable and give its value before; OutOfRangeError at the limit. ref: int[] -> int[]."""
    return _count_up_to(ref, limit, run)


@op("ResourceCountUpTo", infer=lambda resource, *, limit: _counted(resource, limit=limit), dtypes=(int32, int64),
    stateful=True, no_grad=_ASSIGNMENT)
def resource_count_up_to(resource: Ref, *, limit, run):
    """CountUpTo of the variable behind a handle. resource: its handle, int[] -> int[]."""
    return _count_up_to(resource, limit, run)


@op("IsVariableInitialized", infer=fixed(bool_), stateful=True, no_grad="a boolean has no gradient")
def is_variable_initialized(ref: Ref, *, run):
    """Whether the session holds a value for the variable. -> bool[]."""
    return run.is_initialized(ref)


def _initial(ref, value):
    spec = held(ref)
    return Spec(spec.dtype.base_dtype, spec.dims if compatible(spec.dims, value.dims) else None)


@op("InitializedValue", infer=_initial, stateful=True)
def initialized_value(ref: Ref, value: T, *, run):
    """A variable's value, or its initial value while the session holds none. value: its dtype. -> any[...]."""
    return run.read(ref) if run.is_initialized(ref) else value


@initialized_value.gradient
def _(node, dy):
    return dy, blocked("the initial value only stands in until the variable has its own")


# ---- batching: state is the same for every slice ----------------------------------------

@variable_v2.batched
@var_handle_op.batched
@read_variable_op.batched
@is_variable_initialized.batched
@var_is_initialized_op.batched
@initialized_value.batched
def _shared(node, args, batched):
    return [None]
