"""Checks, printing and Python functions inside of a run."""

import sys
import traceback

import numpy as np

from ...core import errors
from ...core.declare import op
from ...core.dtypes import COMPLEX, FLOATS, as_dtype, string
from ...core.function_graph import takes_anew
from ...core.infer import no_outputs, ranked, same_shape
from ...core.op import Bool, Own, Spec, blocked, build
from ...core.shapes import as_dims
from ..common.batch_axis import in_front
from ..common.texts import in_brackets, shown
from ..common.turns import others_pass


def _elements(value, summarize):
    """Up to `summarize` elements as text (-1: all), as TensorFlow prints them."""
    flat = np.ravel(value)
    limit = len(flat) if summarize is None or summarize < 0 else summarize
    return " ".join(map(shown, flat[:limit])) + ("..." if len(flat) > limit else "")


@op("Assert", infer=ranked(no_outputs, exactly=0, what="condition"), stateful=True, no_grad="it has no outputs")
def assert_(condition: Bool, *data: Own, summarize=3, run):
    """Fail unless the condition holds. condition: bool[]; data: shown when it does not."""
    if not condition:
        shown = " ".join(f"[{_elements(value, summarize)}]" for value in data)
        raise errors.InvalidArgumentError(None, run.op, f"assertion failed: {shown}")
    return ()


@op("Print", infer=same_shape, stateful=True)
def print_(input: Own, *data: Own, message="", first_n=-1, summarize=3, count=None, run):
    """The input; prints `data` to standard error on the way. count: a list whose length counts the calls."""
    if run.is_repeat:
        return input
    if first_n < 0 or len(count) < first_n:
        if first_n >= 0:
            count.append(None)
        print(message + "".join(f"[{_elements(value, summarize)}]" for value in data), file=sys.stderr)
    return input


@print_.gradient
def _(node, dy):
    return dy, *[blocked("what is printed has no effect on the result")] * (len(node.inputs) - 1)


print_.batched(lambda node, args, batched: build.Print(*args, **node.attrs))


@op("PrintV2", infer=no_outputs, stateful=True, no_grad="it has no outputs")
def print_v2(*input: Own, text, summarize=3, end="\n", stream=None, run):
    """Print. text: what stands before, between and after the inputs. stream: an open file or file://PATH, or None."""
    if run.is_repeat:
        return ()
    values = [in_brackets(value, summarize) for value in input]
    if len(input) == 1 and not any(text) and not np.ndim(input[0]):  # a text alone has no quotes
        values = [shown(input[0][()] if isinstance(input[0], np.ndarray) else input[0])]
    line = "".join(part for pair in zip(text, [*values, ""]) for part in pair)
    if isinstance(stream, str):
        with open(stream.removeprefix("file://"), "a") as file:
            print(line, end=end, file=file)
    else:
        print(line, end=end, file=sys.stderr if stream is None else stream)
    return ()


@op("CheckNumerics", infer=same_shape, dtypes=FLOATS + COMPLEX, stateful=True, batched=in_front)
def check_numerics(tensor, *, message, run):
    """The input; fails if an element is not finite. tensor: float[...] -> float[...]."""
    if not np.isfinite(tensor).all():
        nan, inf = np.isnan(tensor).any(), np.isinf(tensor).any()
        found = "Inf and NaN" if nan and inf else "NaN" if nan else "Inf"
        raise errors.InvalidArgumentError(None, run.op, f"{message} : Tensor had {found} values")
    return tensor


@check_numerics.gradient
def _(node, dy):
    message = f"Not a number (NaN) or infinity (Inf) values detected in gradient. {node.attrs['message']}"
    return (build.CheckNumerics(dy, message=message),)


@op("SwitchSide", infer=ranked(same_shape, 1, exactly=0, what="predicate"), stateful=True)
def switch_side(data: Own, predicate: Bool, *, side, run):
    """The data, if the predicate is `side`; fails if it is not. data: any[...], predicate: bool[] -> any[...]."""
    if bool(predicate) != side:
        raise errors.InvalidArgumentError(None, run.op, "Retval[0] does not have value: it is on the side of a switch "
                                          "that was not taken")
    return data


@switch_side.gradient
def _(node, dy):
    taken = build.Equal(node.inputs[1], node.attrs["side"])
    return build.SelectV2(taken, dy, build.ZerosLike(dy)), blocked("a predicate is boolean")


switch_side.batched(lambda node, args, batched: args[0] if batched[1] else build.SwitchSide(*args, **node.attrs))


# ---- Python functions -------------------------------------------------------------------

def _declared(*input, function, types, shapes=None, single=False, gradient=None):
    dims = [None] * len(types) if shapes is None else [as_dims(shape) for shape in shapes]
    specs = tuple(Spec(as_dtype(dtype), d) for dtype, d in zip(types, dims))
    return specs[0] if single else specs


@op("PyFunc", infer=_declared, stateful=True)
def py_func(*input: Own, function, types, shapes=None, single=False, gradient=None, run):
    """The result of a Python function of the arrays.

    types: dtype names it must give. single: it gives one value, not a list. gradient: the Python
    function of (inputs..., dys...) that gives a gradient for each input, or None.
    """
    if run.is_repeat and takes_anew(run.op):
        raise errors.FailedPreconditionError(None, run.op, f"{_name(function)} was not called in the run that is "
                                             "looked at, and what it would give now is for the script's next run")
    results = _called(function, input, run)
    results = [] if results is None else results if isinstance(results, (list, tuple)) else [results]
    if len(results) != len(types):
        raise errors.InvalidArgumentError(None, run.op, f"{_name(function)} returns {len(results)} values, expected "
                                          f"{len(types)}")
    arrays = [_checked(value, as_dtype(dtype), i, function, run.op)
              for i, (value, dtype) in enumerate(zip(results, types))]
    given = getattr(run.session, "given", None)
    if given is not None:
        given[run.op] = tuple(arrays)
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


_RAISED = ((StopIteration, errors.OutOfRangeError), (MemoryError, errors.ResourceExhaustedError),
           (NotImplementedError, errors.UnimplementedError), ((ValueError, TypeError), errors.InvalidArgumentError))


def _called(function, inputs, run):
    arguments = [np.array(value, dtype=getattr(value, "dtype", None)) if np.ndim(value) else
                 value[()] if isinstance(value, np.ndarray) else value for value in inputs]
    try:
        with others_pass(run.session):
            return function(*arguments)
    except errors.AutodiffError:
        raise
    except Exception as error:
        failure = next((found for kinds, found in _RAISED if isinstance(error, kinds)), errors.UnknownError)
        words = f"{type(error).__name__}: {error}"
        lines = traceback.format_list(traceback.extract_tb(error.__traceback__)[1:])
        raise failure(None, run.op, f"{words}\nraised by {_name(function)}\n{''.join(lines)}{words}") from error


def _name(function):
    return getattr(function, "__qualname__", repr(function))


def _checked(value, dtype, index, function, operation):
    array = np.array(value)  # a copy: the function may keep its array and change it
    refused = array.dtype if array.dtype.kind not in "biufcSUO" else None
    if array.dtype.kind in "SUO":
        flat = [v.encode() if isinstance(v, str) else v for v in array.ravel().tolist()]
        refused = next((type(v).__name__ for v in flat if not isinstance(v, bytes)), None)
        array = np.array([*flat, None], object)[:-1].reshape(np.shape(array))  # None: or bytes would be cut short
    if refused is not None:
        kind = "object" if array.dtype.kind == "O" else "numpy data"
        raise errors.InternalError(None, operation, f"Unsupported {kind} type {refused} of value {index} returned by "
                                   f"{_name(function)}, expected {dtype.name}")
    found = string if array.dtype.kind == "O" else as_dtype(array.dtype)
    if found is not dtype:
        raise errors.InvalidArgumentError(None, operation, f"value {index} returned by {_name(function)} is "
                                          f"{found.name}, expected {dtype.name}")
    return array


@py_func.gradient
def _(node, *dys):
    gradient = node.attrs["gradient"]
    if gradient is None:
        return [blocked("a Python function is not differentiated: give it a gradient with tf.custom_gradient")
                for _ in node.inputs]
    types = [x.dtype.base_dtype.name for x in node.inputs]
    return build.PyFunc(*node.inputs, *dys, function=gradient, types=types, shapes=[x.dims for x in node.inputs])


@py_func.batched
def _(node, args, batched):
    function, single = node.attrs["function"], node.attrs["single"]

    def each(*arrays):
        count = next(len(a) for a, is_batched in zip(arrays, batched) if is_batched)
        rows = [function(*[a[i] if b else a for a, b in zip(arrays, batched)]) for i in range(count)]
        return np.stack(rows) if single else [np.stack(column) for column in zip(*rows)]

    shapes = node.attrs["shapes"]
    return build.PyFunc(*args, function=each, types=node.attrs["types"], single=single,
                        shapes=None if shapes is None else [None if s is None else (None, *as_dims(s)) for s in shapes])


for each in (assert_, print_v2):
    each.batched(lambda node, args, batched: [])
