"""What a run left behind: names and numbers, never a Tensor, so that it can be saved and compared."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

# A run makes many of these, and to make a frozen one takes four times as long: they are not, but nobody changes them.


class Place(NamedTuple):
    """One line of a script. text: the line, stripped; empty when the file cannot be read."""

    file: str
    line: int
    function: str
    text: str


NewLines = Mapping[tuple[str, int], str]  # by file and number, what stands there instead; "" for nothing


@dataclass(slots=True, unsafe_hash=True)
class Stats:
    """Figures of one array. minimum to norm are of the finite elements, None where there are none.

    count: elements. norm: Euclidean. zeros: elements equal to 0. minimum to norm are None too for what is not
    numeric (strings). Complex arrays are measured by their absolute values.
    """

    dtype: str
    shape: tuple[int, ...]
    count: int
    nans: int = 0
    positive_infs: int = 0
    negative_infs: int = 0
    zeros: int = 0
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    norm: float | None = None

    @property
    def infs(self) -> int:
        return self.positive_infs + self.negative_infs

    @property
    def nonfinite(self) -> int:
        return self.nans + self.infs

    @property
    def max_abs(self) -> float | None:
        """Largest finite absolute value."""
        return None if self.minimum is None or self.maximum is None else max(abs(self.minimum), abs(self.maximum))

    @property
    def zero_share(self) -> float:
        """Zeros among all elements, 0 to 1."""
        return self.zeros / self.count if self.count else 0.0


@dataclass(slots=True, unsafe_hash=True)
class Sample:
    """What a watch saw of one tensor in one run. of: "" for its value, else the y whose gradient this is.

    stats is None where there is nothing to see; missing says why. turns: of a tensor inside of loops, the Stats of
    each time that it was computed.
    """

    name: str
    of: str
    stats: Stats | None
    missing: str = ""
    turns: tuple[Stats, ...] = ()

    @property
    def is_gradient(self) -> bool:
        return bool(self.of)


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a run stopped. kind: "watch", "break", "condition" (of `run`), "error" or "end" (feeds exhausted).

    number: of the watch or breakpoint, 0 for none. target: the tensor concerned, or "". text: one sentence.
    """

    kind: str
    text: str
    number: int = 0
    target: str = ""
    commands: tuple[str, ...] = ()


@dataclass(slots=True, unsafe_hash=True)
class RunRecord:
    """One Session.run. run: its number, from 1. ms: wall time, the watching included. trains: it is a training run.

    fetches: names the script asked for. feeds: name and figures of each value fed. loss: value of loss_name if
    it is a scalar and was seen. samples: of the watched values and gradients. error: text of the failure, or "".
    thread: name of the thread that made it, "" for the main one.
    """

    run: int
    fetches: tuple[str, ...]
    feeds: tuple[Sample, ...]
    loss: float | None
    loss_name: str
    samples: tuple[Sample, ...]
    ms: float
    stops: tuple[Stop, ...] = ()
    error: str = ""
    notes: tuple[str, ...] = field(default=())
    trains: bool = False
    thread: str = ""

    def sample(self, name: str, *, gradient: bool = False) -> Sample | None:
        """What was seen of a tensor, or of its gradient; None if it was not watched."""
        return next((s for s in self.samples if s.name == name and s.is_gradient == gradient), None)
