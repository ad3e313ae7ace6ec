"""Variables: the ops that hold, read and change a session's state."""

from ..define import op
from ..dtypes import as_dtype, bool_
from ..errors import ShapeError
from ..infer import fixed
from ..op import Ref, Spec, T
from ..shapes import as_dims, compatible, show


@op("VariableV2", infer=lambda *, shape, dtype, container="", shared_name="": Spec(
    as_dtype(dtype).as_ref, as_dims(shape)), stateful=True, no_grad="a variable has no inputs")
def variable_v2(*, shape, dtype, container="", shared_name="", run):
    """A value that a session keeps between runs. -> a reference to dtype[shape]."""
    return run.read(run.op.name)


def _assigned(ref, value, *, validate_shape=True):
    if validate_shape and not compatible(ref.dims, value.dims):
        raise ShapeError(f"shapes differ: variable {show(ref.dims)} and value {show(value.dims)}")
    return Spec(ref.dtype.base_dtype.as_ref, ref.dims if validate_shape else value.dims)


@op("Assign", infer=_assigned, stateful=True, no_grad="assignment replaces the value it is given a reference to")
def assign(ref: Ref, value: T, *, validate_shape=True, run):
    """Give a variable a new value. ref: a variable, value: its dtype and shape. -> the reference."""
    return run.assign(ref, value)


@op("AssignAdd", infer=_assigned, stateful=True, no_grad="assignment is not differentiated")
def assign_add(ref: Ref, value: T, *, run):
    """Add to a variable. ref: a variable, value: its dtype and shape. -> the reference."""
    return run.assign(ref, run.read(ref) + value)


@op("AssignSub", infer=_assigned, stateful=True, no_grad="assignment is not differentiated")
def assign_sub(ref: Ref, value: T, *, run):
    """Subtract from a variable. ref: a variable, value: its dtype and shape. -> the reference."""
    return run.assign(ref, run.read(ref) - value)


@op("IsVariableInitialized", infer=fixed(bool_), stateful=True, no_grad="a boolean has no gradient")
def is_variable_initialized(ref: Ref, *, run):
    """Whether the session holds a value for the variable. -> bool[]."""
    return run.is_initialized(ref)
