"""What the analyses find: names, numbers and sentences."""
from __future__ import annotations

from dataclasses import dataclass, field

from ..facts.records import NewLines, Place
from ..facts.roles import at_line

ERROR, WARNING = 60, 40  # severities from which on a finding is called so


@dataclass(frozen=True)
class Cut:
    """An op through which no gradient flows. input: the tensor that gets none. first: met first on the way back from
    y, others hide behind it. kind: "no gradient", "integer", "stop_gradient", "blocked" or "no rule"."""

    op: str
    op_type: str
    input: str
    kind: str
    reason: str
    remedy: str
    first: bool
    place: Place | None


@dataclass(frozen=True)
class WhyNone:
    """Why d y / d x is None. kind: "cut" (every path passes a cut), "disconnected" (no path at all), "held" (the
    gradient call holds something constant), "not asked" (it was not asked for this x), "not watched" (by the tape), or
    "flows" (it is not None). used_by: ops that use x, when y does not depend on it. lines: as of Remedy.
    """

    y: str
    x: str
    kind: str
    text: str
    remedy: str
    cuts: tuple[Cut, ...] = ()
    used_by: tuple[str, ...] = ()
    place: Place | None = None
    lines: NewLines = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Operand:
    """A value that went into an element: the input's name, its index there, and the number."""

    name: str
    index: tuple[int, ...]
    value: float | complex | int | bool | None


@dataclass(frozen=True)
class Link:
    """One link of the chain that led to nan or inf. kind: "fed", "empty" (fed without elements), "variable",
    "made" (out of nothing), "far" (from all components) or "op"; op, output: of what. step: 0 for the run that is
    explained. value: how large it is. underflows: it is 0 as it is too small for the type."""

    text: str
    place: Place | None
    kind: str
    op: str
    index: tuple[int, ...] = ()
    step: int = 0
    value: float = 0.0
    underflows: bool = False
    output: int = 0


@dataclass(frozen=True)
class Origin:
    """An op whose output is not finite although its inputs are; or (secondary) that made nan of inf.

    phase: "forward", "backward", "update" (of a variable) or "input" (fed, constant or variable value). rule: what
    happened, in words. elements: first bad indices; count: how many; bad: "nan", "inf", "-inf" or several. operands:
    the values that met at the first element. forward_op: whose gradient this is. harmful: it reaches y or a gradient.
    trap: "where" for the branch not taken, "underflow", "step" that overshoots, or "". inside: which call of a branch
    or loop, or "". chain: of the numbers that met, the origin first. overflows: it is too large. lines: as of Remedy.
    """

    op: str
    op_type: str
    tensor: str
    phase: str
    bad: str
    count: int
    size: int
    elements: tuple[tuple[int, ...], ...]
    operands: tuple[Operand, ...]
    rule: str
    remedy: str
    forward_op: str
    forward_type: str
    harmful: bool
    secondary: bool
    trap: str
    place: Place | None
    inside: str = ""
    chain: tuple[Link, ...] = ()
    overflows: bool = False
    lines: NewLines = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Remedy:
    """A remedy that was tried, and helps. words: what to write. text: what the trial gave. place: the line to change.

    change: of the losses of other steps, relative to their size. steepest: the largest gradient in the step that had
    failed, of a loss above 1 relative to that. last: the loss in that step. also: where else the same is to be written.
    here: the script's expression as it would be, "" where it is not surely found. dead: gradients that are 0 there.
    falls: by what part the loss does, from began, in a divergence. applied: how, {} its number. lines: the script's."""

    words: str
    text: str
    change: float
    steepest: float
    place: Place | None
    last: float = 0.0
    also: str = ""
    here: str = ""
    dead: int = 0
    falls: float = 1.0
    began: float = 0.0
    applied: str = "fix {} applies it"
    lines: NewLines = field(default_factory=dict, hash=False)

    @property
    def what(self) -> str:
        """What to write, and where."""
        if self.here and "{}" not in self.applied:
            return f"{at_line(self.place)} write {self.here}".strip()
        is_code = self.here and self.words.startswith("tf.") and self.words.endswith(")") and "; " not in self.words
        said, then = (self.here, "") if is_code else (self.words, f": {self.here}" * bool(self.here))
        return f"{said}{at_line(self.place)}{self.also}{then}"

    @property
    def sentence(self) -> str:
        """What to write, where, and what that gave."""
        return f"{self.what}; tried: {self.text}" if self.text else f"{self.what}; not tried"


@dataclass(frozen=True)
class WhyNonfinite:
    """Where nan and inf come from. origins: harmful ones, forward before backward. masked: those without effect.

    inherited: count of other ops with non-finite outputs. checked: count of ops looked at. target: the tensor asked
    about, or "" for the whole run. diverges: the variables outgrew all sense before. chain: how it came to what `text`
    tells of, with the steps, the origin first.
    """

    target: str
    step: int
    origins: tuple[Origin, ...]
    masked: tuple[Origin, ...]
    inherited: int
    checked: int
    text: str
    diverges: bool = False
    chain: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Hop:
    """One op on the way of a gradient from y to x. incoming, outgoing: norms of the gradient at its output and at the
    input further down. gain: their ratio. zero_share: of outgoing, 0 to 1."""

    op: str
    op_type: str
    tensor: str
    incoming: float | None
    outgoing: float | None
    gain: float | None
    zero_share: float | None
    place: Place | None
    note: str = ""


@dataclass(frozen=True)
class Node:
    """One op in the tree of a gradient's paths. norm, zero_share: of the gradient at its output.

    gain: from there to its input on the way. depth: 0 on the path that carries most, one more on each branch off it.
    begins: the first op of a branch. joins: a branch ends here, as this is drawn elsewhere, or is x. inside: in words,
    of which call of a branch or loop this is an op. norms: of a loop's op, in each iteration from the first.
    """

    op: str
    op_type: str
    norm: float | None
    gain: float | None
    zero_share: float | None
    depth: int
    begins: bool
    joins: bool
    place: Place | None
    inside: str = ""
    norms: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Path:
    """How the gradient flows from y to x: hops along one path, from y. paths: how many there are in all.

    cuts: where others are cut. strongest: the hop of largest gain, weakest: of smallest; their op names, or "".
    tree: all paths, where they were asked for: the one of the hops, and after each op what branches off there.
    """

    y: str
    x: str
    hops: tuple[Hop, ...]
    paths: int
    cuts: tuple[Cut, ...]
    strongest: str = ""
    weakest: str = ""
    tree: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or may go wrong. severity: the larger, the worse; level says it in a word. kind: in
    short. target: the tensor concerned, or "". ask: the command that says more. step: the first, 0 for what the graph
    shows. confidence: "certain", "probable", or "possible". written: what its remedy writes, or ""."""

    severity: int
    kind: str
    op: str
    op_type: str
    target: str
    text: str
    remedy: str
    ask: str
    place: Place | None
    step: int = 0
    confidence: str = "probable"
    written: str = ""

    @property
    def level(self) -> str:
        """"error" (it spoils the training), "warning" (it probably harms) or "remark" (it may be meant)."""
        return "error" if self.severity >= ERROR else "warning" if self.severity >= WARNING else "remark"


@dataclass(frozen=True)
class Diagnosis:
    """Findings, the worst first. step: that was looked at, 0 for none (static). looked: what was examined."""

    y: str
    step: int
    findings: tuple[Finding, ...]
    looked: tuple[str, ...]


@dataclass(frozen=True)
class DiffRow:
    """One tensor of two computations. gap: largest |a - b|; relative: gap over max|b|. index: of the largest gap.

    left, right: the numbers there, as text. gap is None where the two cannot be subtracted; left then says why.
    """

    name: str
    op_type: str
    differs: bool
    gap: float | None
    relative: float | None
    index: tuple[int, ...]
    left: str
    right: str
    place: Place | None


@dataclass(frozen=True)
class Difference:
    """Where two computations part. rows: tensors that differ, in the order of computing. unmatched: names of a file
    that no tensor has. compared: count."""

    a: str
    b: str
    rtol: float
    rows: tuple[DiffRow, ...]
    first: DiffRow | None
    compared: int
    unmatched: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class RuleCheck:
    """A gradient rule against differences, for one input of one op. order: of the derivative.

    verdict: "right", "wrong", "meant" (as a reversal), "none" (by declaration), "missing" (no rule), or "unchecked".
    analytic, numeric: the worst direction's slopes. error: their difference relative to the gradient. note: what the
    mistake looks like, or why there is no verdict.
    """

    op: str
    op_type: str
    input: str
    verdict: str
    order: int
    analytic: float | None
    numeric: float | None
    error: float | None
    note: str
    place: Place | None


@dataclass(frozen=True)
class Check:
    """All rules between y and xs. wrong: the findings that are. total: relative error of the whole gradient along
    random directions, in float64; None where it was not taken. counts: findings of each verdict. here: operations that
    hold Python code, if the others were sent to workers."""

    y: str
    xs: tuple[str, ...]
    order: int
    wrong: tuple[RuleCheck, ...]
    missing: tuple[RuleCheck, ...]
    unchecked: tuple[RuleCheck, ...]
    right: int
    ops: int
    total: float | None
    text: str
    here: tuple[str, ...] = ()


@dataclass(frozen=True)
class WhySmall:
    """Why a gradient is zero, tiny or exploding. kind: one of these words, or "fine". losses: hops where it is so."""

    y: str
    x: str
    kind: str
    norm: float
    text: str
    remedy: str
    losses: tuple[Hop, ...]


@dataclass(frozen=True)
class WhyFailed:
    """An op that refused to run: no number is to blame, but what it was given."""

    op: str
    op_type: str
    step: int
    text: str
    remedy: str
    place: Place | None
