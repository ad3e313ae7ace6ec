"""Candidates: what may take nan and inf away, in the order of trial: what is given, the op to blame, what led there."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice, zip_longest

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, in_order
from ...analysis.edits import formulas, of_data, of_givens
from ...analysis.edits.along_chain import along
from ...analysis.edits.in_graph import Edit, at_one_place, is_half, source_of
from ...analysis.edits.of_training import clipped, clipped_as_made
from ...analysis.edits.together import EXPONENTIALS, forms_of, further, widened
from ...analysis.findings import Link, Remedy, WhyNonfinite
from ...analysis.mistakes.misused import dead_end
from ...analysis.mistakes.signs import wrong_sign
from ...analysis.mistakes.stepping import outgrown, rates_of, updates_of
from ...analysis.origins.chain import NEEDS_SIGN
from ...analysis.origins.enlarged import enlarged
from ...analysis.origins.no_bound import with_bound
from ...analysis.origins.of_formulas import edits_of_causes
from ...analysis.origins.own_updates import amplified, averaged
from ...analysis.origins.sources import counts_steps, reads_of
from ...analysis.spectra import to_mend
from ...analysis.update_blame import RATES, is_store, operands_of
from ...facts.graph_lists import calls_of, trainable_tensors
from ...facts.roles import VARIABLES, is_variable
from ...facts.training_runs import trains
from ...history.replay import Moment
from ..fed_back import FedBack
from ..mapped_data import mended_maps
from ..overlay import Overlay
from ..state import State
from .came_from import fallen, size_of, unusual_feeds
from .other_data import LARGE, ODD, SOON, UNSCALED, OtherData
from .trials_told import DEAD, SLIGHT, STEEP

Tried = list[tuple[Remedy, Overlay, Moment]]
SHOWN = 3  # remedies of a question
_ORIGINS = 4  # to whose ops edits are tried
_ROWS = ("GatherV2", "ResourceGather")
_FEW = 12  # training steps, where the first has a loss that is far too large
_HUGE = 1000.0  # of data: no better form of what saturates by them can be learnt with
_GROWN = 1.5  # times the first rate
_ENLARGES = 2.0  # times that a layer's first weights make larger what goes through: more than relu's halving takes back


class Candidates:
    """Edits to try together for what `why` explains of y, in the run that failed.

    tried, last: what has helped by now, as of `Trials`; of those that are tried for one another the best stay in it.
    """

    def __init__(self, state: State, carried: FedBack, why: WhyNonfinite, y: Tensor, failed: Moment, *,
                 tried: Tried, last: Tried) -> None:
        self.state, self.model, self.carried = state, state.model, carried
        self.why, self.y, self.failed, self.tried, self.last = why, y, failed, tried, last
        self.moments, self.named = state.stretch(state.log.at(failed.run).step), state.model.targets.named
        self.data = OtherData(state, carried, failed)
        self.first = why.chain[0] if why.chain else Link("", None, "", "")
        self.fed = self.named(self.first.op) if self.first.kind == "fed" else None
        self.given = self.fed.outputs[self.first.output] if self.fed is not None else None

    def all(self) -> Iterable[list[Edit]]:
        """Each one alone, then, if none of these helps, one for every op to blame, then what led there.

        Where an update is at fault, what it computes with; where nothing else helps, smaller weights.
        """
        if self.why.diverges:
            yield from self._against_divergence()
            return
        pixels = of_data.of_pixels(self.given, self.failed.data.get(self.given)) if self.given is not None else []
        yield from [pixels] if pixels else []
        if pixels and self.tried:
            return (yield from (form for form in self._of_ops() if all(edit.is_exact for edit in form)))
        yield from self._of_what_is_given()
        yield from self._of_ops()
        yield from self._behind()
        yield from self._of_what_came_before()

    def _of_what_is_given(self) -> Iterable[list[Edit]]:
        """Constants, variables, what optimizers and placeholders are given."""
        odd = [t for t, value in self.failed.data.items() if t.dtype.is_floating and not np.isfinite(value).all()]
        yield from ([edit] for t in odd for edit in mended_maps(t, np.asarray(self.failed.data[t])))
        yield from self._other_constants()
        yield from self._causes() if self.first.kind in ("depth", "variable") or self.why.origins else ()
        yield from along([link for link in self.why.chain if link.kind == "made"], self.named)
        carried = self.carried.grown(self.failed)
        if carried is not None:
            yield from self._first_of(self._smaller_weights([carried[1]]))
            yield [of_givens.bounded(carried[1])]
        epsilons = [t for value, t in self._operands(self.failed, ("epsilon",)) if value == 0]  # as 1e-8 is in 16 bits
        yield from filter(None, [[of_givens.usual(t, 0.0, "epsilon", "0.001" if is_half(t.op) else "1e-8")
                                  for t in epsilons]])
        for name, written in (("beta1", "0.9"), ("beta2", "0.999")):
            if any(value >= 1 for value, _ in self._operands(self.failed, (name,))):
                yield [of_givens.usual(t, value, name, written)
                       for value, t in self._operands(self.failed, (name, f"{name}_power"))]
        if self.first.kind == "variable" and self.why.origins[0].phase == "forward":
            yield from self._begun_otherwise()
        yield from self._signs()
        losses = [call.ys[0].op for call in calls_of(self.model.graph)]
        if any(each.overflows and (each.phase == "backward" or self.named(each.op) in losses)
               for each in self.why.origins[:1]):
            before = len(self.tried)
            yield from ([edit] for loss in losses for edit in of_givens.less_scaled(loss)
                        if len(self.tried) == before)  # as large as it may be
            yield from self._less_enlarged() if len(self.tried) == before else ()
        yield from ([edit] for edit in formulas.without_exponential(self.y, self.why.origins))
        if self.given is not None:
            yield from self.data.other_number(self.given)
            op = self.named(self.why.origins[0].forward_op)
            counts = np.asarray(self.failed.data.get(self.given))
            if op is not None and op.type == "Log" and source_of(op.inputs[0])[0] is self.fed and (
                    counts.dtype.kind in "iuf") and not (counts % 1).any() and counts.max(initial=0) > 1:
                yield [of_givens.one_more(op)]

    def _of_ops(self) -> Iterable[list[Edit]]:
        """Better forms of the ops to blame, and bounds for what they are given."""
        by_op: dict[Operation, tuple[list[list[Edit]], list[list[Edit]]]] = {}
        for origin in self.why.origins[:_ORIGINS]:
            op = to_mend(self.named(origin.forward_op), self.named(origin.op))
            if op is not None and op.inputs and not any(op in at_one_place(other) for other in by_op):
                by_op[op] = forms_of(op, origin)
        for op, (edits, bounds) in by_op.items():
            yield from self._first_of([edit] for edit in formulas.warmer(op))
            before = len(self.tried)
            given = [edit for edits in self.data.otherwise(self.fed.outputs[0], self.first.index) for edit in edits
                     if edit.explains] if self.fed is not None and self.first.value > _HUGE else []
            for form in edits:
                yield from self._first_of(widened(form) if op.type in EXPONENTIALS else [form])
                if given and any(edit.is_exact for edit in form):
                    yield [*form, *given]
            if self.given is not None and self.why.origins[0].overflows:
                yield from self.data.otherwise(self.given, self.first.index)
            if any(remedy.steepest <= STEEP for remedy, *_ in self.tried[before:]):
                bounds = bounds[:1]
            yield from self._first_of(bounds)
            yield from self._first_of(wide for form in bounds for wide in widened(form)
                                      if op.type in EXPONENTIALS and len(self.tried) == before)
        for op, (edits, bounds) in by_op.items() if not self.tried else ():
            yield from self._first_of([*form, *further(op, self.y, form)] for form in (*edits, *bounds))
        several = [[*edits, *bounds] for edits, bounds in by_op.values() if edits or bounds]
        if not self.tried and len(several) > 1:
            yield from self._first_of([edit for form in forms for edit in form] for forms in (
                [form or forms[-1] for form, forms in zip(together, several)] for together in zip_longest(*several)))
        for edits, bounds in by_op.values() if not self.tried else ():
            yield from self._first_of(wide for form in (*edits, *bounds) for wide in widened(form))

    def _behind(self) -> Iterable[list[Edit]]:
        """At each op that led there, as long as few have helped."""
        for at_link in along([link for link in self.why.chain if link.kind == "op"], self.named):
            before = len(self.tried)
            if sum(remedy.steepest <= STEEP for remedy, *_ in self.tried) < SHOWN:
                yield at_link
            if len(self.tried) > before and self.tried[-1][0].steepest > STEEP and (before or self.last):
                self.tried.pop()

    def _of_what_came_before(self) -> Iterable[list[Edit]]:
        """Updates, data and weights."""
        if self.why.origins and self.why.origins[0].phase == "update":
            yield [self._clipped()]
        if self.first.kind in ("variable", "depth"):
            is_deep = self.first.kind == "depth"
            yield from self._scaled_data() if is_deep else ()
            yield from self._first_of(self._smaller_weights([self.y]) if is_deep else ())
            yield from self._first_of(self._lower_rates())
            yield from self._scaled_data()
        elif self.given is not None:
            yield from self._first_of(self.data.otherwise(self.given, self.first.index))
        overflows = any(each.overflows for each in self.why.origins[:1])  # a gradient of 0 is then the bound's
        if self.why.origins and all(remedy.steepest > STEEP and (overflows or remedy.steepest < DEAD)
                               for remedy, *_ in self.tried):
            op = self.named(self.why.origins[0].forward_op)
            outer = self.model.targets.inner.outer_op(op) if op is not None else None
            yield from self._first_of(self._smaller_weights(outer.inputs if outer is not None else ()))
            yield from self._first_of(self._smaller_weights([self.y]) if not self.tried else ())

    def _against_divergence(self) -> Iterable[list[Edit]]:
        """Where no op is to blame, but how the variables grow."""
        before = [m for m in self.moments if m.run <= self.failed.run]
        if wrong_sign(self.y, ancestors([self.y])):
            yield [of_givens.turned(self.y)]
            return
        odd = {t: usual for i in reversed(range(len(before))) for t, usual in unusual_feeds(before[i], before[:i])}
        yield from ([of_givens.clipped_feed(t, -usual, usual)] for t, usual in odd.items())  # as it was at first
        begun = (m.variables for m in self.moments)
        updates = amplified(self.model.graph, begun, self.failed.variables)
        fell = fallen(self.state, self.y, before)
        if fell is not None and (bounded := with_bound(fell)) is not None:
            yield [bounded]
            other = with_bound(fell, size=True) if not self.tried else None
            yield from [[other]] if other is not None else []
            return
        if fell is not None:
            reads = [c for t in trainable_tensors(self.model.graph) for c in reads_of(t.op)]
            yield from self._first_of([of_givens.within(c.outputs[0], size) for c in reads] for size in (0.1, 0.01))
        yield from filter(None, [[each for update in updates for each in averaged(update)]])
        heavy = [(t, value) for value, t in self._operands(self.failed, ("momentum",)) if value >= 1]
        if heavy:
            yield [of_givens.usual(t, value, "momentum", "0.9") for t, value in heavy]
            return
        trained = [u for u in updates_of(self.failed.ran, calls_of(self.model.graph)) if u.y is not None]
        in_vain = ((end, u.op) for u in trained if (end := dead_end(u.gradient)) is not None)
        yield from ([clipped_as_made(*each)] for each in islice(in_vain, 1))
        if self.tried:
            return
        yield from self._causes()
        yield from self._scaled_data(UNSCALED)
        yield from self._less_enlarged()
        if len(before) <= SOON or self._began_badly(before):
            yield from self._first_of(self._smaller_weights([self.y]))
        count = len(self.tried)
        yield from self._first_of(self._lower_rates(range(1, 4)))
        yield from self._scaled_data()
        # rates with which it hardly learns
        yield from self._first_of(self._lower_rates(range(4, 7)) if len(self.tried) == count else ())
        yield [self._clipped()]

    def _causes(self) -> Iterable[list[Edit]]:
        """What the formulas behind y are at fault for, whatever the rate is; before it first values that are large."""
        begun = next(iter(self._smaller_weights([self.y])), [])
        yield from [begun] if begun and all(edit.explains for edit in begun) and self.why.diverges else []
        yield from edits_of_causes(self.y, partial(self.state.values_known, moment=self.failed))

    def _clipped(self) -> Edit:
        """Clipped gradients, where those updates are made whose variables grew the most."""
        updates = updates_of(self.failed.ran, calls_of(self.model.graph))
        began = next((m for m in self.moments if trains(self.model.graph, m.ran)), self.failed)
        grown = outgrown(updates, [m.variables for m in self.moments if began.run <= m.run]) if updates else []
        return clipped(tuple(u.op for u in grown))

    def _less_enlarged(self) -> Iterable[list[Edit]]:
        """A mean for a sum, and no large factor, in the loss."""
        yield from ([each.edit] for each in enlarged(self.y, trainable_tensors(self.model.graph), partial(
            self.state.values_known, moment=self.failed)))

    def _scaled_data(self, least: float = LARGE) -> Iterable[list[Edit]]:
        """The largest of what data are larger than `least`, scaled; if that is not enough, all of these."""
        large = self.data.scaled(self.y, least)
        yield from self._first_of([large[:1], large] if len(large) > 1 else filter(None, [large]))

    def _first_of(self, candidates: Iterable[list[Edit]]) -> Iterable[list[Edit]]:
        """Up to the first that helps and learns, without gradients that are too large; else the last that helps."""
        steep: list[tuple[Remedy, Overlay, Moment]] = []
        before = len(self.tried)
        for edits in candidates:
            yield edits
            if len(self.tried) > before:
                if self.tried[-1][0].steepest <= STEEP and (
                        self.tried[-1][0].falls > SLIGHT or all(edit.explains for edit in edits)):
                    return
                steep.append(self.tried.pop())
        self.tried += [each for each in steep if any(edit.explains for edit in each[1].edits)][:1] or steep[-1:]

    def _began_badly(self, before: Sequence[Moment]) -> bool:
        """Whether the first of a few steps had a large loss, of data that are not."""
        steps = [m for m in before if trains(self.model.graph, m.ran)]
        first = self.state.values_known([self.y.op], steps[0]).get(self.y, 0.0) if 0 < len(steps) <= _FEW else 0.0
        fed = max((size_of(np.asarray(v, np.float64)) for t, v in self.failed.data.items() if t.dtype.is_floating),
                  default=0.0)
        return bool(np.abs(first).max(initial=0.0) > UNSCALED) and fed < ODD

    def _other_constants(self) -> Iterable[list[Edit]]:
        """Of constants that are not finite: finite numbers in their places."""
        given = (self.named(origin.op) for origin in self.why.origins if origin.op_type == "Const")
        edits = [of_givens.finite_constant(op) for op in given if op is not None and op.graph is self.model.graph]
        yield from [edits] if edits else []

    def _begun_otherwise(self) -> Iterable[list[Edit]]:
        """A variable that is 0 throughout since the beginning, with other numbers; one that crossed 0, kept from it."""
        op, value = self.named(self.first.op), self.failed.variables.get(self.first.op, 1)
        begun = next((m.variables[self.first.op] for m in self.moments if self.first.op in m.variables), value)
        if op is not None and np.size(begun) and np.min(begun) > 0 >= np.min(value):
            yield from self._first_of([of_givens.kept_above(c.outputs[0], op.name, low) for c in reads_of(op)]
                                      for low in (0.1 * float(np.min(begun)), 0.0))
        elif op is not None and np.ndim(value) < 2 and not np.any(value) and (self._is_read_by(op) or counts_steps(op)):
            yield [of_givens.begun_at_one(c.outputs[0], op.name) for c in reads_of(op, whole=counts_steps(op))]
        elif op is not None and np.ndim(value) > 1 and not np.any(value):
            reads = reads_of(op)
            after = [c for read in reads for c in read.outputs[0]._consumers]
            rows = [c for c in after if c.type in _ROWS and c.gradient_of is None]
            yield [of_givens.begun_at_random(each, op.name) for each in rows or reads]

    def _is_read_by(self, variable: Operation) -> bool:
        """Whether the op to blame divides by a variable itself, or takes its logarithm or root."""
        op = self.named(self.why.origins[0].forward_op)
        source = None if op is None else source_of(op.inputs[-1])[0]
        source = source_of(source.inputs[0])[0] if source is not None and source.type == "Sum" else source
        return source is variable or source in reads_of(variable)

    def _signs(self) -> Iterable[list[Edit]]:
        """Of what is given a negative number and needs a positive one: single numbers behind it that are trained."""
        origin = self.why.origins[0] if self.why.origins else None
        op = self.named(origin.forward_op) if origin is not None else None
        if op is None or origin is None or op.type not in NEEDS_SIGN or not any(
                isinstance(each.value, float) and each.value < 0 for each in origin.operands[:1]):
            return
        for variable in (each for each in in_order(ancestors(op.inputs)) if each.type in VARIABLES):
            value = np.asarray(self.failed.variables.get(variable.name, 1.0))
            if value.ndim == 0 and value < 0 and (reads := reads_of(variable)):
                yield [of_givens.kept_above(c.outputs[0], variable.name, 0.0) for c in reads]

    def _operands(self, at: Moment, names: Sequence[str]) -> list[tuple[float, Tensor]]:
        """The numbers of these names that the updates of a run compute with."""
        given = rates_of(at.ran, calls_of(self.model.graph)) if names is RATES else dict.fromkeys(
            t for op in at.ran if is_store(op) for name, t in operands_of(op) if name in names)
        values = self.state.values_known(dict.fromkeys(t.op for t in given), at)
        return [(float(np.asarray(values[t])), t) for t in given if t in values and np.size(values[t]) == 1]

    def _lower_rates(self, powers: Iterable[int] = range(1, 7)) -> Iterable[list[Edit]]:
        """Of the optimizers whose variables grew the most; then of all."""
        rates = [(value, t) for value, t in self._operands(self.failed, RATES) if value > 0]
        began = next((m for m in self.moments if trains(self.model.graph, m.ran)), self.failed)
        first = {t: value for value, t in self._operands(began, RATES)} if rates else {}
        if 1 in powers and any(value > _GROWN * first.get(t, value) for value, t in rates):
            yield [of_givens.held_rate(t, value, first.get(t, value)) for value, t in rates]
        updates = updates_of(self.failed.ran, calls_of(self.model.graph))
        grew = {u.rate for u in outgrown(updates, [m.variables for m in self.moments if began.run <= m.run])}
        fast = [each for each in rates if each[1] in grew]
        for given in filter(None, (fast, rates) if len(fast) < len(rates) else (rates,)):
            for power in powers:
                yield [of_givens.lower_rate(t, max(value, first.get(t, value)), 10.0 ** -power) for value, t in given]

    def _smaller_weights(self, given: Sequence[Tensor]) -> Iterable[list[Edit]]:
        reads = in_order(each for each in ancestors(given) if each.inputs and is_variable(each.inputs[0])
                         and each.outputs[0].dtype.base_dtype.is_floating)
        reads = [each for each in reads if len(each.outputs[0].dims or ()) > 1] or reads
        reads = [each for read in reads for each in ([c for c in read.outputs[0]._consumers if c.type in _ROWS and
                                                      c.gradient_of is None] or [read])]  # whose gradients are sparse
        gains = {each: self._gain(each) for each in reads}
        large = [each for each in reads if gains[each] > _ENLARGES]
        yield from filter(None, [of_givens.begun_as_usual({each: self._begun(each) for each in reads
                                                         if each.type not in _ROWS})])
        for these in filter(None, (large, reads) if len(large) < len(reads) else (reads,)):
            for factor in (0.5, 0.2, 0.1, 0.05, 0.01):
                yield of_givens.smaller_weights(sorted(these, key=lambda each: -gains[each]), factor)

    def _gain(self, read: Operation) -> float:
        """How many times as large a table of first values makes what is multiplied by it, of many rows."""
        begun = self._begun(read)
        return float(np.sqrt(np.square(begun).sum() / begun.shape[-1])) if begun.ndim > 1 and begun.size else 0.0

    def _begun(self, read: Operation) -> np.ndarray:
        """The first values that are known of the variable that an op reads."""
        name = (read.inputs[0].op.inputs or read.inputs)[0].op.name
        return np.asarray(next((m.variables[name] for m in self.moments if name in m.variables), 0.0), np.float64)
