"""What mends a mistake of updates, data or initial values; and what an attempt at mending is."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ....core.constant_value import static_value
from ....core.errors import ArgumentError
from ....core.graph import Operation, Tensor
from ....core.op import build
from ....core.site import source_lines
from ....core.traversal import ancestors, past
from ...facts.records import NewLines
from ...facts.roles import BOUNDS, PLACEHOLDERS
from ..advice import advice_of
from ..findings import Finding
from ..mistakes.case import Case, gradients_of, held
from ..mistakes.heads import SAME, heads, made_smaller, number_in, unbroadcast
from ..mistakes.stepping import outgrown
from ..scripts.changes import rows_of
from .activations import LeftOut
from .clipping import ClipGradients, ClippedApplied
from .first_values import Begun, drawn_lines
from .given_numbers import LowerRate
from .in_graph import Edit, Now, around, constant
from .in_source import Line, Number, Rewrite, rewritten
from .of_data import of_pixels, scaled
from .of_givens import held_rate, lower_rate
from .of_keras.schedules import rate_set

_CLIPS = ("clipbyvalue", "clip")  # calls of both bounds
_LARGE = 10.0  # mean size of targets that make the gradients of a regression large


class Attempt(NamedTuple):
    """One way to mend a mistake. edits: of the graph. start: other first values of variables. pace: the rate is times
    this, where the script makes its updates itself.

    is_same: the loss measures the same with it, so that both trainings can be compared by their own. part: the addend
    of the loss that is to fall, None for all of it. lines: of the script, where it is these that mend it.
    """

    edits: tuple[Edit, ...] = ()
    start: Mapping[str, np.ndarray] = {}
    is_same: bool = True
    pace: float = 1.0
    part: Tensor | None = None
    lines: NewLines = {}


Way = Callable[[Operation, Case, Finding], Iterator[Attempt]]


def edit(op: Operation, words: str, made: Callable[[Now], Tensor], line: Line | None = None, *,
         late: bool = False) -> Edit:
    """An op's output, made otherwise. late: what is stored, not what the run computes. line: as of Edit."""
    return Edit(op, words, made, line, is_late=late)


def otherwise(op: Operation, words: str, made: Callable[[Now], Tensor], line: Line | None = None) -> Attempt:
    """One op's output, made otherwise, so that the loss measures something else."""
    return Attempt((edit(op, words, made, line),), is_same=False)


def changed(tensor: Tensor, words: str, made: Callable[[Tensor], Tensor], written: str = "") -> Edit:
    """A tensor, changed after it is made. written: that, with {0} for what it is."""
    return Edit(tensor.op, words, lambda now: made(tensor), around(tensor.op, written) if written else None)


def _rates(case: Case) -> list[tuple[Tensor, list[float]]]:
    rates = dict.fromkeys(u.rate for u in case.own if u.rate is not None)
    return [(t, [float(np.reshape(v, ())) for v in case.series(t) if np.size(v) == 1]) for t in rates]


def other_rate(factors: Sequence[float]) -> Way:
    """Learning rates, times these factors, one after the other."""
    def ways(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
        rates = [(t, known[0]) for t, known in _rates(case) if known]
        kept = [held_rate(t, known[-1], known[0]) for t, known in _rates(case) if known and known[-1] != known[0]
                and rate_set(t, known[-1]) is not None]
        if kept:
            yield Attempt(tuple(kept))
            return
        grew = {u.rate for u in outgrown(case.updates, [run.before for run in case.looked])}
        fast = [each for each in rates if each[0] in grew]  # of several optimizers that of what diverged
        for factor in factors:
            yield from [Attempt(tuple(lower_rate(t, value, factor) for t, value in given))
                        for given in ((fast, rates) if 0 < len(fast) < len(rates) else (rates,)) if given]
            if not case.updates:
                yield Attempt(pace=factor)

    return ways


def not_decayed(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The learning rate that a schedule began with, throughout; of what has learnt also a tenth of it, at the end."""
    for factor in (1.0, 0.1)[:1 + case.learns]:
        if edits := tuple(edit(t.op, f"the rate {rate:g} throughout", lambda now, t=t, rate=rate: constant(rate, t), (  # type: ignore
                _no_decay(t, case) or rate_set(t, last, rate, is_most=False)) if factor == 1.0 else None, late=True)
                for t, rate, last in [(t, factor * known[0], known[-1]) for t, known in _rates(case) if known]):
            yield Attempt(edits)


def _no_decay(rate: Tensor, case: Case) -> LowerRate | None:
    """Of a Keras optimizer that makes its rate smaller by `decay` in each step: none of that."""
    known = [case.looked[0].before.get(op.name) for op in ancestors([rate]) if op.name.endswith("/decay")]
    return LowerRate(float(np.ravel(known[0])[0]), 0.0, "decay", rate.op) if known and known[0] is not None else None


def unclipped(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The gradients as they are, not as something made them."""
    raw = gradients_of(case)
    edits = tuple(edit(u.gradient.op, "without the clipping", lambda now, g=raw[u.variable]: now(g),  # type: ignore
                        late=True) for u in case.own if u.variable in raw and u.gradient is not raw[u.variable])
    if edits:
        yield Attempt(edits)


def small_epsilon(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The epsilon that is usual."""
    names = [parameter.name for parameter in op.definition.parameters]
    if "epsilon" in names:
        epsilon = op.inputs[names.index("epsilon")]
        yield Attempt((edit(epsilon.op, "epsilon=1e-8", lambda now: constant(1e-8, epsilon), late=True),))


def scaled_feed(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """What is given, by column less its mean and over its deviation; of a regression large targets too."""
    fed = list(case.looked[0].feeds)
    made = (t for each in case.behind for t in each.outputs)  # what is not fed comes of an iterator or a queue
    tensor = next((t for t in (*fed, *made) if t.name == finding.target), None)
    pixels = of_pixels(tensor, known[0]) if tensor is not None and (known := case.series(tensor)) else []
    if pixels:
        yield Attempt(tuple(pixels))
    if pixels or tensor is None or not tensor.dtype.is_floating or tensor in fed and tensor.op.type not in PLACEHOLDERS:
        return
    edits = [scaled(tensor, rows) for rows in _rows(case, tensor)]
    labels = dict.fromkeys(unbroadcast(head.labels) for head in heads(case) if head.form == "squared" and head.labels
                           is not None) if finding.kind == "inputs not scaled" else [
        t for t in fed if t is not tensor and t.dtype.is_floating and np.ndim(case.looked[0].feeds[t]) > 1]
    edits += [scaled(label, rows) for label in labels if label in fed for rows in _rows(case, label)
              if np.abs(rows).mean() > _LARGE]
    if edits:
        yield Attempt(tuple(edits), is_same=len(edits) == 1 and not finding.kind.startswith("targets"))


def scaled_once(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """Data that were small already without what makes them smaller; else scaled."""
    if (by := made_smaller(op)) > 0:
        at = next(i for i, t in enumerate(op.inputs) if number_in(t) is None)
        yield Attempt((edit(op, f"without the division by {by:g}", lambda now: now(op.inputs[at]), Rewrite(
            op, None, "{0}", ((op, at),))),))
    yield from scaled_feed(op, case, finding)


def _rows(case: Case, tensor: Tensor) -> list[np.ndarray]:
    """All that a tensor was in the runs that are looked at, as one array; [] if that is not known."""
    arrays = [np.asarray(each, float) for each in case.series(tensor)]
    is_table = all(each.ndim == 2 and each.shape[1:] == arrays[0].shape[1:] for each in arrays)
    return [np.concatenate(arrays if is_table else [np.ravel(each) for each in arrays])] if arrays else []


def drawn(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """Kernels of other first values: where units are equal drawn anew, elsewhere of the usual size.

    Of two factors that are zero the one that the finding is about.
    """
    if (bias := case.steps[0].before.get(op.name)) is not None and np.ndim(bias) == 1 and finding.kind == (
            "initial values too large"):
        line = Number(op, float(np.mean(bias)), "0.0")
        yield Attempt((), {op.name: np.zeros_like(bias)}, lines=_written([line]) if np.ptp(bias) == 0 else {})
        return
    rng = np.random.default_rng(0)
    start: dict[str, np.ndarray] = {}
    alike: list[Operation] = []
    sized: dict[Operation, float] = {}
    kernels = {held(t) for o in case.behind for t in o.inputs[1:] if held(t).outputs[0] in case.variables
               and len(held(t).attrs["shape"] or ()) > 1}
    if finding.kind == "zero factors":
        kernels = {v.op for v in case.variables if v.name == finding.target}
    for kernel in sorted(kernels, key=lambda o: o.index):
        value: Any = case.steps[0].before.get(kernel.name)
        if value is None or np.asarray(value).dtype.kind != "f":
            continue
        flat = np.asarray(value).reshape(-1, value.shape[-1])
        usual = 1.0 / np.sqrt(len(flat))
        if flat.shape[1] > 1 and np.ptp(flat, axis=1).max(initial=0) == 0:
            start[kernel.name] = (usual * rng.standard_normal(value.shape)).astype(value.dtype)
            alike.append(kernel)
        elif not 1 / 3 < flat.std() / usual < 3:
            start[kernel.name] = (value * (usual / flat.std())).astype(value.dtype)
            sized[kernel] = float(usual / flat.std())
    if start:
        usual_ones = [Begun(each, factor, usual=True) for each, factor in sized.items()]
        yield Attempt((), start, lines=drawn_lines(alike) or (
            {} if advice_of(case.graph).words else _written(usual_ones)))


def _written(lines: Sequence[Begun | Number]) -> NewLines:
    """The lines that give variables their first values, as they are to be; {} where they are not surely found."""
    files = {line.op.site.file for line in lines if line.op.site is not None}
    try:
        file, = files
        old = "".join(source_lines(file))
        return rows_of(old, rewritten(old, lines), file)
    except (ArgumentError, OSError, ValueError, SyntaxError, LookupError):
        return {}


def clipped(updates: tuple[Operation, ...]) -> Edit:
    """The gradients that updates apply, clipped."""
    return Edit(None, "clip the gradients, tf.clip_by_global_norm(gradients, 1.0)", line=ClipGradients(1.0, updates))


def clipped_as_made(made: Operation, update: Operation) -> Edit:
    """The gradients, clipped as the script has clipped them, by `made` and others, for nothing."""
    bounds = {float(value) for op in ancestors([made.outputs[0]]) if op.type == "Const" and op.gradient_of is None
              and "clip" in op.name and (value := static_value(op.outputs[0])) is not None and value.ndim == 0} - {1.0}
    return Edit(None, "give apply_gradients what was clipped, with its variables", line=ClippedApplied(made, update),
                explains=True, norm=max(bounds, default=1.0))


def clipping_applied(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """What was clipped, for nothing, given to the updates of its loss."""
    made = ancestors([op.outputs[0]])
    yield from islice((Attempt((clipped_as_made(op, u.op),)) for u in case.updates if u.gradient.op in made), 1)


def unbounded(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """What is beyond the constants that bound it, without the bounds of one call."""
    outer = next((c for c in op.outputs[0]._consumers if c.type in BOUNDS and c.span == op.span), op)
    parts = [(op, i) for i, t in enumerate(op.inputs) if static_value(t) is None]
    for inner, number in parts if "take the bound off" in finding.remedy else ():
        x = inner.inputs[number]
        if x.op.type in BOUNDS and x.op.span == op.span:
            parts += [(x.op, i) for i, t in enumerate(x.op.inputs) if static_value(t) is None]
        else:
            yield otherwise(outer, "without the bounds", lambda now, x=x: now(x), LeftOut(outer, _CLIPS)  # type: ignore
                            if outer is not inner else Rewrite(op, None, "{0}", ((op, number),)))


def root_of(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The root of what noise is multiplied by; of an exponential that of its half, where nothing else takes it."""
    place = next(i for i, t in enumerate(op.inputs) if t.name == finding.target)
    exp, only = past(op.inputs[place], SAME).op, [c for c in op.inputs[place]._consumers if c.gradient_of is None]
    if exp.type == "Exp" and len(only) == 1:
        yield otherwise(exp, "exp of the half", lambda now: build.Exp(build.Mul(now(exp.inputs[0]), constant(
            0.5, exp.inputs[0]))), Rewrite(exp, 0, "0.5 * {0}", ((exp, 0),)))
    yield otherwise(op, "the root of the variance", lambda now: build.Mul(*(
        build.Sqrt(now(t)) if i == place else now(t) for i, t in enumerate(op.inputs))), Rewrite(
            op, place, "{tf}.sqrt({0})", ((op, place),)))
