"""One tree of expected failures, with TensorFlow 1's class names."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

# of a sentence on shapes, TensorFlow's part
_FACT = re.compile(r".*?(?:must be .*?but (?:is|are) (?:rank )?\d+(?: and \d+)?|subtracting \d+ from \d+"
                   r"|of 1, got \d+)")
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

    what: what is wrong; a text that says all of it will do. expected, found: the words that follow "expected" and
    "found", or the things themselves. node: where in the graph. line: where in the user's script. hint: what to do
    next. str() is made of them, a fact a line.
    """

    def __init__(self, what: object = "", *more: object, expected: object = "", found: object = "", node: str = "",
                 line: str = "", hint: str = "") -> None:
        super().__init__(what, *more)
        self.expected, self.found, self.node, self.line, self.hint = str(expected), str(found), node, line, hint

    @property
    def what(self) -> str:
        """The first argument, as text."""
        return str(self.args[0]) if self.args else ""

    @property
    def sentence(self) -> str:
        """What is wrong, with expected and found."""
        facts = ("expected", self.expected), ("found", self.found)
        judged = ", ".join(f"{word} {fact}" for word, fact in facts if fact)
        if judged and self.what.endswith("."):  # TensorFlow's sentence
            return f"{self.what} {judged[0].upper()}{judged[1:]}"
        return ": ".join(part for part in (self.what, judged) if part)

    @property
    def where(self) -> dict[str, str]:
        """node, line and hint, to hand on to the error that takes its place."""
        return {"node": self.node, "line": self.line, "hint": self.hint}

    @property
    def places(self) -> tuple[str, ...]:
        """Where in the graph and where in the script, as lines."""
        lines = (f"in {self.node}" if self.node else "", f"written at {self.line}" if self.line else "")
        return tuple(line for line in lines if line)

    @property
    def message(self) -> str:
        """The whole text, without KeyError's quotes."""
        return "\n".join(part for part in (self.sentence, *self.places, self.hint) if part)

    def __str__(self) -> str:
        return self.message

    def explain(self, *, node: str = "", line: str = "", hint: str = "") -> "AutodiffError":
        """Add facts that a caller knows and the error does not have yet; gives the error itself."""
        self.node, self.line, self.hint = self.node or node, self.line or line, self.hint or hint
        return self


@shown_as("ValueError")
class ShapeError(AutodiffError, ValueError):
    """Shapes that cannot go together, found while the graph is built."""

    def named(self, name: str, op_type: str, shapes: str) -> None:
        """Say as TensorFlow does of which operation this is; nothing if the error has no words of its own."""
        fact = _FACT.match(self.what)
        if fact:
            said, rest = f"{fact[0]} for '{name}' (op: '{op_type}') with input shapes: {shapes}", self.what[fact.end():]
            self.args = said + (rest or "."), *self.args[1:]


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


@shown_as("AssertionError")
class NestedResetError(StateError, AssertionError):
    """reset_default_graph was called in a nested graph."""


@shown_as("AttributeError")
class UnsupportedError(AutodiffError, AttributeError):
    """A TensorFlow name that gradbg does not support; the text says what to use."""


class OpError(AutodiffError):
    """A failure inside a run; knows its operation. Deliberately not a ValueError, as in TF.

    op: the Operation that failed, or None. message: text. error_code: TF's number.
    """

    error_code = UNKNOWN

    def __init__(self, node_def: Any = None, op: Any = None, message: str = "", **fields: Any) -> None:
        if message == "" and isinstance(node_def, str):
            node_def, message = None, node_def
        super().__init__("" if message is None else message, **fields)
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
