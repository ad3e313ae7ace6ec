"""One tree of expected failures, with TensorFlow 1's class names."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND = range(6)
ALREADY_EXISTS, PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION = range(6, 10)
ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED = range(10, 17)


def shown_as(name: str) -> Callable[[type], type]:
    """Class decorator: `type(error).__name__` is what TensorFlow raises there, which code and logs look at."""
    def rename(error: type) -> type:
        error.__name__ = name
        return error
    return rename


class AutodiffError(Exception):
    """Every failure that a user can cause. Anything else is a bug and keeps its traceback.

    The message has one fact a line: what is wrong (expected and found), where in the graph,
    where in the user's script, what to do next.
    """

    @property
    def message(self) -> str:
        """The whole text, without KeyError's quotes."""
        return str(self.args[0]) if self.args else ""

    def __str__(self) -> str:
        return self.message

    def explain(self, *lines: str) -> "AutodiffError":
        """Append what is known further up (node, line, next step); gives the error itself."""
        self.args = ("\n".join([self.message, *(line for line in lines if line)]), *self.args[1:])
        return self


@shown_as("ValueError")
class ShapeError(AutodiffError, ValueError):
    """Shapes that cannot go together, found while the graph is built."""


@shown_as("ValueError")
class ArgumentError(AutodiffError, ValueError):
    """An argument outside of what its function accepts."""


@shown_as("ValueError")
class GraphError(AutodiffError, ValueError):
    """Things of two graphs in one, a name taken twice, a variable reused wrongly."""


@shown_as("TypeError")
class DTypeError(AutodiffError, TypeError):
    """An element type that an op or conversion does not accept."""


@shown_as("TypeError")
class KindError(AutodiffError, TypeError):
    """An object of the wrong Python type."""


class OperatorNotAllowedInGraphError(KindError):
    """A tensor without a value stands where Python needs one: a bool, or something to iterate over."""


@shown_as("NotImplementedError")
class NoValueError(KindError, NotImplementedError):
    """A tensor of a graph where NumPy needs an array."""


@shown_as("KeyError")
class UnknownNameError(AutodiffError, KeyError):
    """No operation, tensor or collection of that name."""


@shown_as("LookupError")
class NoGradientError(AutodiffError, LookupError):
    """An op on the path has no registered gradient, or a debugger has not received one."""


@shown_as("RuntimeError")
class StateError(AutodiffError, RuntimeError):
    """The right call at the wrong time: closed session, finalized graph, spent tape."""


@shown_as("AttributeError")
class UnsupportedError(AutodiffError, AttributeError):
    """A TensorFlow name that gradbg does not serve; the text says what to use."""


class OpError(AutodiffError):
    """A failure inside a run; knows its operation. Deliberately not a ValueError, as in TF.

    op: the Operation that failed, or None. message: text. error_code: TF's number.
    """

    error_code = UNKNOWN

    def __init__(self, node_def: Any, op: Any = None, message: str = "") -> None:
        if message == "" and isinstance(node_def, str):
            node_def, message = None, node_def
        super().__init__(message)
        self.node_def, self.op = node_def, op


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class of a number of TensorFlow's. Raises KeyError for a number that has none."""
    return {kind.error_code: kind for kind in reversed(OpError.__subclasses__())}[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """TensorFlow's number of an error class."""
    return cls.error_code


def _op_error(name: str, code: int, text: str) -> type[OpError]:
    return type(name, (OpError,), {"error_code": code, "__doc__": text, "__module__": __name__})


CancelledError = _op_error("CancelledError", CANCELLED, "The run was canceled.")
UnknownError = _op_error("UnknownError", UNKNOWN, "A failure that says no more, such as a raising py_func.")
InvalidArgumentError = _op_error("InvalidArgumentError", INVALID_ARGUMENT, "A value an op cannot take.")
DeadlineExceededError = _op_error("DeadlineExceededError", DEADLINE_EXCEEDED, "A run took too long.")
NotFoundError = _op_error("NotFoundError", NOT_FOUND, "A file or key that is not there.")
AlreadyExistsError = _op_error("AlreadyExistsError", ALREADY_EXISTS, "A file or key that is there already.")
PermissionDeniedError = _op_error("PermissionDeniedError", PERMISSION_DENIED, "Not allowed.")
ResourceExhaustedError = _op_error("ResourceExhaustedError", RESOURCE_EXHAUSTED, "Out of memory or budget.")
FailedPreconditionError = _op_error("FailedPreconditionError", FAILED_PRECONDITION, "An uninitialized variable.")
AbortedError = _op_error("AbortedError", ABORTED, "The run was aborted.")
OutOfRangeError = _op_error("OutOfRangeError", OUT_OF_RANGE, "The end of a data set.")
UnimplementedError = _op_error("UnimplementedError", UNIMPLEMENTED, "An op cannot do this.")
InternalError = _op_error("InternalError", INTERNAL, "A broken promise inside an op.")
UnavailableError = _op_error("UnavailableError", UNAVAILABLE, "A service is away.")
DataLossError = _op_error("DataLossError", DATA_LOSS, "Unreadable stored data.")
UnauthenticatedError = _op_error("UnauthenticatedError", UNAUTHENTICATED, "Not authenticated.")
