"""The state of a run: values of variables, random streams."""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...core.errors import FailedPreconditionError, InvalidArgumentError
from ...core.graph import Operation
from ...core.shapes import show
from .variable_values import Variables


def is_alone(view: np.ndarray) -> bool:
    """Whether this view is of all of an array that nothing else refers to, and that may be written."""
    whole = view.base
    if type(whole) is not np.ndarray or not whole.flags.owndata or not whole.flags.writeable or whole.size != view.size:
        return False
    del whole  # one reference less
    return references_of_base(view) == ALONE


def references_of_base(view: np.ndarray) -> int:
    """How many references there are to the memory of a view, as `ALONE` counts them."""
    return sys.getrefcount(view.base)


def how_to_initialize(op: Operation, name: str) -> str:
    """What to do about a variable without a value, which `op` reads: an initializer made before it does not have it."""
    operations = op.graph.get_operations()
    if any(each.op.name == name for each in op.graph.collected.get("local_variables", ())):
        return (f"run tf.local_variables_initializer() too: {name} is a local variable, as metrics have, which "
                "tf.global_variables_initializer() leaves out")
    made = next((each for each in operations if each.name == name), op)
    stores = {"Assign", "AssignVariableOp"}
    last = next((each for each in reversed(operations) if each.type == "NoOp" and each.waits_for
                 and stores.issuperset(w.type for w in each.waits_for)), None)
    if last is None or last.index > made.index:
        return "run tf.global_variables_initializer() first"
    return (f"the initializer at {last.site} was made before {name}, at {made.site}: make and run "
            "tf.global_variables_initializer() after all variables, those of optimizers too")


ALONE = references_of_base(np.empty(0).view())  # of one view: what a call adds depends on the Python


def handed_out(values: list[Any]) -> list[Any]:
    """Fetched values as the user may keep and change them: no two share memory, nor with variables or constants.

    Results of rank 0 become NumPy scalars (strings: bytes). Only what is not the run's own is copied.
    """
    given: set[int] = set()
    for i, value in enumerate(values):
        if isinstance(value, np.ndarray):
            if value.ndim == 0:
                values[i] = value[()]
            elif id(value) in given or not (is_alone(value) if value.base is not None else value.flags.writeable):
                values[i] = value.copy()
            else:
                given.add(id(value))
    return values


_MIX = (6364136223846793005, 3935559000370003845, 1442695040888963407, 2**63 - 1)  # Knuth's; a counter is an int64


class _Streams(threading.local):
    """A thread's generator, set to one stream after the other: to make one takes ten times as long."""

    def __init__(self) -> None:
        self._source = np.random.Philox(0)
        self._generator = np.random.Generator(self._source)
        self._start: Any = self._source.state
        self._key, self._counter = (self._start["state"][part].view(np.int64) for part in ("key", "counter"))

    def at(self, key: Sequence[int], counter: Sequence[int]) -> np.random.Generator:
        self._key[:], self._counter[:] = key, counter
        self._source.state = self._start
        return self._generator


_streams = _Streams()
_MANY_TURNS = 2**20  # the number of a call of a call is a random one


class CallNumber(NamedTuple):
    """The identity of a call of a function within a run, for its random streams.

    among_all: from the calls of every op. by_turns: from its turn alone, so that ops of equal seeds in two loops draw
    the same numbers, as in TensorFlow.
    """

    among_all: int = 0
    by_turns: int = 0


OUTSIDE = CallNumber()  # of all functions


def call_number(op: Operation, within: CallNumber, turn: int) -> CallNumber:
    """The number of a call that `op` makes. within: the call around it; turn: which of the calls that the op makes."""
    among_all = (within.among_all * _MIX[0] + op.index * _MIX[1] + turn + _MIX[2]) & _MIX[3]
    return CallNumber(among_all, (within.by_turns * _MIX[0] + turn) & _MIX[3])


def _numbered(call: Any) -> CallNumber:
    """The number of a call, which may be given as what `call_number` takes: few loops draw anything."""
    return call if type(call) is CallNumber else call_number(call[0], _numbered(call[1]), call[2])


class HasState(Protocol):
    """The part of a session that runs need. entropy: where streams without a seed start.

    draws: name of a random op -> in how many runs of the session it has drawn. is_repeat: whether its runs were made
    before, elsewhere: they print nothing. makes: what its compiled functions depend on beside the graph.
    """

    variables: Variables
    entropy: int
    draws: dict[str, int]
    is_repeat: bool
    makes: Any

    def compiled(self, function: Any, also: tuple[Any, ...] = ()) -> Any:
        """A FunctionProgram for a function graph; also: tensors that it gives besides."""


class Run:
    """The services of a session to a kernel: variables, random streams, functions. op: the operation under way.

    number: of this run within its session, from 1. current_call: of a function, the one under way: what gives the
    number, which follows from the ops that call and their turns alone, whatever else runs. drawn: name of each random
    op that has drawn in this run -> in how many runs it had drawn before.
    """

    __slots__ = ("session", "number", "variables", "op", "current_call", "drawn")

    def __init__(self, session: HasState, number: int, op: Any = None) -> None:
        self.session, self.number = session, number
        self.variables = session.variables
        self.current_call: Any = OUTSIDE
        self.drawn: dict[str, int] = {}
        self.op: Operation = op

    @property
    def is_repeat(self) -> bool:
        """Whether the run was made before, and has printed then."""
        return self.session.is_repeat

    def handle(self, name: str, spec: Any) -> str:
        """What stands for the place of a value: its name."""
        return name

    def read(self, name: str) -> np.ndarray:
        """The value of a variable. Raises FailedPreconditionError if it has none."""
        value = self.variables.get(name)
        if value is None:
            handle = self.op.inputs[0] if self.op.inputs else None
            said = f"Attempting to use uninitialized value {name}"
            if handle is not None and handle.dtype.name == "resource":
                key = handle.op.attrs.get("shared_name") or name
                said = (f"Error while reading resource variable {key} from Container: localhost. This could mean that "
                        "the variable was uninitialized. Not found: Resource localhost/"
                        f"{key}/N10tensorflow3VarE does not exist\n{said}")
            raise FailedPreconditionError(None, self.op, said, hint=how_to_initialize(self.op, name))
        return value

    def assign(self, name: str, value: Any) -> Any:
        """Give a variable a new value, which nobody may write to from now on."""
        self.variables.take(name, value)
        return value

    def forget(self, name: str) -> None:
        """Take a variable's value away."""
        del self.variables[name]

    def update(self, name: str, place: Any, change: Callable[[np.ndarray], Any]) -> np.ndarray:
        """Have `change` write a variable at an index, in place where nobody else holds it; gives the new value."""
        self.read(name)
        value = self.variables.own(name, place)
        try:
            change(value)
        finally:
            value.setflags(False)  # type: ignore[call-arg]
        return value

    def own(self, names: Sequence[str]) -> list[np.ndarray]:
        """The values of variables to write into, if nobody else holds any of them, else none; to be made read-only."""
        return self.variables.all_own(names)

    def is_initialized(self, name: str) -> np.bool_:
        return np.bool_(name in self.variables)

    def not_fed(self) -> Any:
        """Raises InvalidArgumentError: a placeholder was needed and not fed."""
        tensor = self.op.outputs[0]
        shape = f" and shape {show(tensor.dims)}" if tensor.dims is not None else ""
        raise InvalidArgumentError(None, self.op, f"You must feed a value for placeholder tensor '{self.op.name}' with "
                                   f"dtype {tensor.dtype.word}{shape}: placeholder {tensor.name!r} must be fed",
                                   hint=f"pass feed_dict={{{self.op.name}: value}}")

    def stream(self, seed: int, seed2: int) -> np.random.Generator:
        """The random numbers of one op in this run: counter-based, so that a replay draws the same.

        What it draws depends on how often it has drawn in its session, not on what else has run. Ops of equal seeds
        draw the same numbers, in any session; an op without draws its own. It is to be used before the thread asks
        for another.
        """
        call = _numbered(self.current_call)
        if seed or seed2:
            key, within = [seed, seed2], call.by_turns
        else:
            key, within = [self.session.entropy, self.op.index], call.among_all
        return _streams.at(key, [0, 0, within, self._earlier_draws()])

    def place(self, blocks: int) -> int:
        """Where in its stream a draw of an op with seeds begins, which keeps so many blocks, as in TensorFlow.

        It is after its earlier ones, of this size; in a loop after those of earlier turns too. In a loop within a loop
        it is where none of these are.
        """
        turn = 0 if self.current_call is OUTSIDE else _numbered(self.current_call).by_turns >> 1  # a test, then a body
        if turn < _MANY_TURNS:
            return (self._earlier_draws(turn + 1) + turn) * blocks & _MIX[3]
        return turn * blocks + (self._earlier_draws() << 44) & _MIX[3]

    def _earlier_draws(self, turns: int = 1) -> int:
        """How often the op under way had drawn in its session before this run; turns: in which it draws so often."""
        name, draws = self.op.name, self.session.draws
        earlier = self.drawn.setdefault(name, draws.get(name, 0))
        draws[name] = max(draws.get(name, 0), earlier + turns)
        return earlier

    def call(self, function: Any, arguments: Sequence[Any], turn: int = 0) -> list[Any]:
        """The results of a function graph (outputs, then kept values) for its inputs; a variable is passed by name.

        turn: which of the calls that the op under way makes.
        """
        return self.caller(function, ())(arguments, turn)

    def caller(self, function: Any, captured: Sequence[Any],
               also: tuple[Any, ...] = ()) -> Callable[[Sequence[Any], int], list[Any]]:
        """A function from arguments and turn to results as of `call`, for many calls with the same captures.

        also: further inner tensors, whose values follow the kept ones.
        """
        key = self.session.makes, also
        program = function.cache.get(key)
        if program is None:
            program = function.cache[key] = self.session.compiled(function, also)
        return program.bound(self, captured)
