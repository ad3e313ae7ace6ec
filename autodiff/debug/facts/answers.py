"""What the Debugger answers: frozen, names and numbers (arrays included), never a Tensor."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .records import Place, Stats
from .steps import When


@dataclass(frozen=True)
class TensorRow:
    """One tensor in a list. short: `%12`, valid wherever a target is. handle: the script's variable, or "".

    shape: static, None per unknown size, None altogether for unknown rank. stats, gradient: of the last run, where
    they were asked for. role: "forward", "gradient", "variable", "constant", "placeholder" or "training".
    harmful: whether what is not finite in it reaches y or a gradient; None where that was not asked.
    """

    name: str
    short: str
    op_type: str
    dtype: str
    shape: tuple[int | None, ...] | None
    role: str
    handle: str = ""
    place: Place | None = None
    stats: Stats | None = None
    gradient: Stats | None = None
    harmful: bool | None = None


@dataclass(frozen=True)
class OpRow:
    """One operation in a list."""

    name: str
    type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    role: str
    place: Place | None


@dataclass(frozen=True)
class OpCard:
    """All about one operation. rule: what its gradient does, in words. forward_op: for a gradient op, whose.

    inputs, outputs: with figures of the last run where it can be evaluated. why_no_gradient: the declared reason.
    """

    name: str
    type: str
    doc: str
    role: str
    attributes: tuple[tuple[str, str], ...]
    inputs: tuple[TensorRow, ...]
    outputs: tuple[TensorRow, ...]
    control_inputs: tuple[str, ...]
    consumers: tuple[str, ...]
    rule: str
    why_no_gradient: str
    forward_op: str
    gradient_of: str
    traceback: tuple[Place, ...]


@dataclass(frozen=True)
class VariableRow:
    """One variable. used: whether y depends on it. reason: why it gets no gradient, or "".

    initialized: whether the session holds a value; stats of that value.
    """

    name: str
    handle: str
    dtype: str
    shape: tuple[int | None, ...] | None
    trainable: bool
    initialized: bool
    used: bool
    reason: str
    stats: Stats | None
    place: Place | None = None


@dataclass(frozen=True)
class WatchRow:
    """A watch or breakpoint. kind: "watch" or "break". targets: as typed. names: tensors it now stands for.

    condition: as typed, "" for none. with_gradient: how many of the names a gradient is built for. inside: whether the
    condition is asked inside of runs. temporary: it goes at its first stop. place: file and line of the script that it
    stops before, else None.
    """

    number: int
    kind: str
    targets: tuple[str, ...]
    names: tuple[str, ...]
    condition: str
    every: int
    level: str
    enabled: bool
    hits: int
    ignore: int
    exclude: str
    commands: tuple[str, ...]
    with_gradient: int = 0
    inside: bool = False
    temporary: bool = False
    place: tuple[str, int] | None = None


@dataclass(frozen=True)
class Value:
    """A value. expression: what was asked. number: of `$n`. when: "step 12", "now", "step 12, op 7 of 40"."""

    expression: str
    number: int
    array: Any
    stats: Stats
    when: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Runs:
    """What `run` did: their records, and why it stopped (None: it did all it was asked for)."""

    records: tuple[Any, ...]
    stop: Any | None
    asked: int


@dataclass(frozen=True)
class Cursor:
    """Where a run, `at`, stands between two ops. position counts executed ops. phase: "forward", "backward", "update".

    op: the op just executed, "" at the start. next_op: the one to come, "" at the end.
    """

    at: When
    position: int
    total: int
    op: str
    op_type: str
    phase: str
    place: Place | None
    outputs: tuple[TensorRow, ...]
    next_op: str
    finished: bool
    error: str = ""


@dataclass(frozen=True)
class Position:
    """Where in time one looks. at: the run looked at; last: of all. first: the oldest kept; kept: how many.

    bytes: that the kept runs take in memory; budget: that they may; fit: how many such runs fit into it, 0 if
    unknown. on_disk: how many of them are there instead; disk_bytes: that these take; disk_limit: that they may, 0 if
    nothing is put on disk; folder: where.
    """

    at: When
    last: When
    is_present: bool
    first: When
    kept: int
    bytes: int
    budget: int
    fit: int
    on_disk: int = 0
    disk_bytes: int = 0
    disk_limit: int = 0
    folder: str = ""


@dataclass(frozen=True)
class Recorded:
    """A recording. runs: in it so far. goes_on: whether the runs to come are added. replaced: what was there."""

    path: str
    runs: int
    goes_on: bool
    replaced: str = ""


@dataclass(frozen=True)
class Feed:
    """What the next run feeds. text: the value in short. source: "constant", "the last run" or a callable's name."""

    name: str
    text: str
    stats: Stats | None
    source: str


@dataclass(frozen=True)
class SourceLine:
    """A line of the script with what it made. ops: types of its forward ops. norms: gradient norm of each named
    tensor of the line, where known. current: whether the run stands here."""

    number: int
    text: str
    ops: tuple[str, ...]
    tensors: tuple[str, ...]
    gradient_norm: float | None
    current: bool


@dataclass(frozen=True)
class Source:
    """Part of a script."""

    file: str
    lines: tuple[SourceLine, ...]


@dataclass(frozen=True)
class Neighbors:
    """An op with its producers and consumers, and the lines that made it, innermost first."""

    op: OpRow
    producers: tuple[OpRow, ...]
    consumers: tuple[OpRow, ...]
    traceback: tuple[Place, ...]


@dataclass(frozen=True)
class Memory:
    """Bytes held. largest: name and bytes of the biggest things, biggest first."""

    variables: int
    constants: int
    history: int
    records: int
    largest: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Script:
    """The script under the debugger. ops: total; forward, gradient: of these."""

    file: str
    ops: int
    forward: int
    gradient: int
    variables: int
    parameters: int
    placeholders: tuple[str, ...]
    handles: tuple[tuple[str, str], ...]
    y: str
    train_op: str


@dataclass(frozen=True)
class Changed:
    """A value that `set` changed. kind: "variable" or "tensor" (then it overrides from the next run on)."""

    name: str
    kind: str
    before: Stats | None
    after: Stats


@dataclass(frozen=True)
class Trained:
    """The train op that `train` built. watched: names whose gradients are registered; new: those that it registered
    first."""

    y: str
    optimizer: str
    train_op: str
    variables: tuple[str, ...]
    without_gradient: tuple[tuple[str, str], ...]
    watched: tuple[str, ...]
    uninitialized: int
    new: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrainRow:
    """A train op that the prompt built. runs: whether `run` runs it; else a newer one updates its variables."""

    train: Trained
    runs: bool


@dataclass(frozen=True)
class OpTree:
    """An op with what it takes, or who takes its outputs, and so on. is_control: it is only waited for.

    again: what hangs below it stands elsewhere in the tree. cut: how many are left out below it.
    """

    op: OpRow
    children: tuple["OpTree", ...] = ()
    is_control: bool = False
    again: bool = False
    cut: int = 0


@dataclass(frozen=True)
class SourceFile:
    """A file of the script's with how many ops and tensors its lines made. line: the first that made any."""

    file: str
    ops: int
    tensors: int
    line: int
