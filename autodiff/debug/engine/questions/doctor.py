"""Checkup: everything that looks wrong in the last run, the worst first."""
from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

import numpy as np

from ....core.errors import AutodiffError
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, dependencies, descendants, in_order
from ...analysis.advice import Remark, advice_of, is_absent
from ...analysis.disconnected import asks_for_nothing
from ...analysis.edits.of_keras.lines_to_blame import placed
from ...analysis.findings import Diagnosis, Finding, Origin, WhyFailed
from ...analysis.mistakes import all_mistakes as rules
from ...analysis.mistakes.all_mistakes import CALM, all_mistakes, calmer, explained, looked_at, ranked, unhappened
from ...analysis.mistakes.batches import feed_mistakes
from ...analysis.mistakes.case import Case, gradients_of, held
from ...analysis.mistakes.habits import frozen_in, of_no_layer
from ...analysis.mistakes.heads import is_weight, unbroadcast
from ...analysis.mistakes.modes import not_updated
from ...analysis.mistakes.start import copied, given_to, scope_of
from ...analysis.mistakes.stepping import update_of
from ...analysis.mistakes.units import ACTIVATIONS, is_hinge, unit_findings
from ...analysis.silent_mistakes import value_suspicions
from ...analysis.traps import loop_growth, static_findings
from ...analysis.update_blame import is_kept_out, is_no_weight, is_store, still
from ...analysis.why import HUGE, TINY, only_derived, scaled_back, why_none
from ...derivatives.curvature import Report
from ...facts.derivative_answers import StageRow
from ...facts.graph_lists import asked_in_vain, calls_of, trainable_tensors, variables_of
from ...facts.roles import APPLIES, as_place, at_line, is_mask
from ...history.replay import Moment
from ..state import State
from .came_from import origin_of
from .case_of import case_of, usual_loss
from .check import RuleChecks
from .explain import Explanations
from .gradients import Gradients
from .mended import Mended
from .trials import Trials
from .update_stages import UpdateStages

_CALLS = ("If", "While", "Case")  # which may update what they are given
_OF_RULES = {"meant": [(CALM, "own gradient", "its own", "")],
             "wrong": [(85, "wrong gradient", "wrong", "derive it anew: check shows both slopes")]}
_BATCHES = 5  # steps whose batches units are judged by
_CHANCE = 3  # steps looked at, in all of which a gradient is zero that is so by no accident of one batch
_NOT_ASKED = 25  # severity of a variable that a gradient could reach, and that was left out
_LATE = 20  # runs that are looked at for what has been trained


class Checkup:
    """Puts what the analyses find in order."""

    def __init__(self, state: State, explain: Explanations, gradients: Gradients, *, stages: UpdateStages,
                 rules: RuleChecks, trials: Trials) -> None:
        self.state, self.model = state, state.model
        self.explain, self.gradients, self.stages, self.rules = explain, gradients, stages, rules
        self.trials, self.mended = trials, Mended(state, trials)

    @np.errstate(all="ignore")  # it looks at numbers that are not finite
    def doctor(self, *, static: bool = False, ignore: Collection[str] = (), report: Report | None = None,
               hazards: bool = False) -> Diagnosis:
        """Ranked findings about the runs remembered; static: about the graph alone, without running it.

        ignore: kinds of findings that are not wanted. hazards: as of Mended.told. report: told of each kind of mistake
        that was looked for; Ctrl-C ends it with what is found by then.
        """
        self.trials.keep(0)
        y = self.model.default_y()
        variables = trainable_tensors(self.model.graph)
        size = (f"{len(self.model.graph.operations)} ops", f"{len(variables)} variables")
        own = [v for v in variables if not self._gets_another(v, y)]
        traps = [] if y is None and self.state.log.records else static_findings(  # nothing asks for its derivatives
            y, own, self.model.graph.operations.values())
        if y is None:
            return Diagnosis("", 0, ranked([*self._raised(of_a_run=True), *traps], ignore), size)
        case = case_of(self.state, y := usual_loss(self.state, y), static=static)
        if static or self.model.raised[0] and not self.state.log.records:
            ignore = ignore if static or "calls" in y.graph.extras else {*ignore, "no gradient"}
            return Diagnosis(y.name, 0, ranked(explained([*self._raised(), *all_mistakes(case), *traps]), ignore), size)
        at = self.state.moment_for([y])
        kinds: tuple[Callable[[], Iterable[Finding]], ...] = (
            lambda: self._raised(44 if case.is_spoiled else 110), lambda: self._without_gradient(case, variables),
            lambda: self._asked_in_vain(), lambda: self._left_out(y),
            *(functools.partial(rule, case) for rule in rules.RULES), lambda: self._not_finite(case),
            lambda: calmer(self._sizes(y, case), case), lambda: self._dead(y, at, case),
            lambda: self._mistaken(y, variables, at), self._not_updated, lambda: self._fed_and_grown(y, case),
            lambda: self._wrong_rules(y, variables), lambda: self._stage_findings(y, case),
            lambda: [f for f in advice_of(y.graph).findings() if not case.learns or f.kind != "momentum too high"])
        found, stopped = list[Finding](), tuple[str, ...]()
        try:
            for done, look in enumerate(kinds):
                if report is not None:
                    report(done, len(kinds))
                found += look()
        except KeyboardInterrupt:
            if not found:
                raise
            stopped = (f"stopped by Ctrl-C after {done} of {len(kinds)} kinds of mistakes",)
        if {"failed", "script error"}.isdisjoint(f.kind for f in found):
            found += self._raised(44 if found else 110, of_a_run=True)
        known = {(f.op, f.kind) for f in found} | {(f.target, f.kind) for f in found}
        struck = {f.op for f in found if f.kind in ("nan", "inf")}
        found += [f for f in (*unhappened([f for f in traps if f.op not in struck], case),
                              *[f for f in traps if f.op in struck])
                  if (f.op, f.kind) not in known and (f.target, f.kind) not in known]
        laid, mends = self.state.overrides.overlay, tuple[str, ...]()
        if laid is not None:
            found, mends = laid.mends(found, self.model)
        found = [placed(f, case, self.model.targets.named(f.op)) for f in ranked(explained(found), ignore)]
        found = self.mended.told(found, case, hazards=hazards)
        found = [replace(f, remedy=text) for f, text in zip(found, self.trials.in_order_of([f.remedy for f in found]))]
        makers = (advice := advice_of(self.model.graph)).makers
        found = [replace(f, text=f"{f.text}; {f.op} is of {makers[f.op]}") if f.op in makers else f for f in found]
        if (rate := advice.rate) is not None:  # the graph has no update that would show it
            found = [replace(f, place=rate.place, text=f"{f.text}; {rate.text}{at_line(rate.place)}")
                     if f.kind == "learning rate too high" else f for f in found]
        when = self.state.log.at(at.run)
        looked = (looked_at(case, when), *size, *stopped, *mends)
        return self.model.told(Diagnosis(y.name, when.step, tuple(found), looked))

    def _raised(self, weight: int = 110, *, of_a_run: bool = False) -> list[Finding]:
        """An error that the script ended with, in none of its runs or in one; it may follow from a loss that is nan."""
        text, place, told = self.model.raised
        last = self.state.log.records[-1] if self.state.log.records else None
        if not text or not of_a_run and last is not None and last.error and last.error.splitlines()[0] in text:
            return []
        because, _, remedy = " ".join(told.split()).partition("remedy: ")
        said = f"the script ended with {text}: what comes after that line was not done" if not because else (
            f"the script ended with {text.partition('. ')[0]}, {because.strip()}")
        return [Finding(weight, "script error", "", "", "", said, remedy or "mend that line first", "where", place)]

    def _without_gradient(self, case: Case, variables: list[Tensor]) -> list[Finding]:
        found, untrained, y = [], advice_of(self.model.graph).untrained, case.y
        loaded = {variable.op for variable in variables if given_to(variable, case.runs)}
        shared, behind = copied(case), ancestors([y])
        asked = {v.handle_tensor.op for m in self.model.graph.extras.get("loaded models", ()) for v in m.weights}
        call, calls = self.model.derivatives.script_call(y), [c for c in calls_of(self.model.graph) if y in c.ys]
        for variable in variables:
            if any(each.found.get(variable) is not None for each in calls) or self._gets_another(variable, y):
                continue  # it flows, though another call may look at some alone
            reason = why_none(y, variable, call)
            if reason.kind == "flows" or is_no_weight(variable) or is_kept_out(variable, reason.cuts) or (
                    reason.kind == "not asked" and call and not asks_for_nothing(call) and frozen_in(variable)):
                continue
            cut = next((c for c in reason.cuts if c.first), None)
            known = advice_of(self.model.graph).remarks.get(variable.op.name)
            is_vain = cut is not None or call is not None and asks_for_nothing(call) or bool(known and known.place)
            weight = 90 if is_vain else _NOT_ASKED if reason.kind == "not asked" else 55
            is_meant = cut is not None and cut.kind == "stop_gradient" and (  # what a run loaded is frozen there
                op := self.model.targets.named(cut.op)) is not None and (call is not None and variable.op not in map(
                    held, call.xs) or not loaded.isdisjoint(ancestors([*op.outputs])))
            is_meant |= cut is None and (scope_of(variable.op) in shared  # as of a target network
                                         or variable.dtype.base_dtype.is_integer)  # a number that is only kept
            is_meant |= variable.op in asked and variable.op not in behind  # of a model that was read from a file
            weight = 20 if is_meant or variable.op.name in untrained or only_derived(y, variable) else weight
            if weight == _NOT_ASKED and (told := of_no_layer(variable)) is not None:
                weight, reason = 60, replace(reason, text=told[0], remedy=told[1], place=told[2] or reason.place)
            found.append(Finding(weight, "no gradient", cut.op if cut else variable.op.name, cut.op_type if cut else
                                 variable.op.type, variable.name, f"no gradient reaches {variable.name}: {reason.text}",
                                 reason.remedy, f"why {variable.name}", cut.place if cut else reason.place))
        return found

    def _asked_in_vain(self) -> list[Finding]:
        """What the script asked the gradient of, other than trainable variables, and got None."""
        found = []
        for call, x in asked_in_vain(self.model.graph):
            reason = why_none(call.ys[0], x, call)
            cut = next((c for c in reason.cuts if c.first), None)
            found.append(Finding(88, "no gradient", cut.op if cut else x.op.name, cut.op_type if cut else
                                 x.op.type, x.name, f"no gradient reaches {x.name}: {reason.text}",
                                 reason.remedy, f"why {x.name}", cut.place if cut else reason.place))
        return found

    def _left_out(self, y: Tensor) -> list[Finding]:
        """Variables that a gradient could reach, but that nothing trains, updates or feeds."""
        found, behind = [], ancestors([y])
        call = self.model.derivatives.script_call(y)
        for variable, trainable in variables_of(self.model.graph):
            tensor = variable.handle_tensor
            stores = [op for op in tensor._consumers if op is not variable.initializer and (is_store(op) or
                      op.type in _CALLS)]
            if call is None or trainable or tensor in call.xs or stores or not tensor.dtype.base_dtype.is_floating:
                continue
            reason = why_none(y, tensor, call) if tensor.op in behind else None
            if reason is not None and reason.kind == "not asked":
                found.append(Finding(22, "not trained", tensor.op.name, tensor.op.type, tensor.name, reason.text,
                                     reason.remedy, f"why {tensor.name}", reason.place))
        return found

    def _wrong_rules(self, y: Tensor, variables: list[Tensor]) -> list[Finding]:
        """Gradient functions of the script's own that central differences contradict."""
        ops = [op for op in self.rules.ops_between(y, variables) if op.override is not None]
        values, inside = self.rules.known(ops, at := self.state.moment_of_training(y)), self.state.replayer.calls(at)
        found = self.rules.excused([rule for op in ops if all(t in values for t in op.inputs) for rule in (
            self.rules.checked(op, values, 1, inside)) if rule.verdict in _OF_RULES], y, variables, at)
        return [Finding(weight, kind, rule.op, rule.op_type, rule.input, f"the gradient function of {rule.op} ("
                        f"{rule.op_type}) is {said}: {rule.note}{fault.text}", fault.remedy or remedy, "check",
                        fault.place or rule.place) for rule in found for weight, kind, said, remedy in _OF_RULES.get(
                            rule.verdict, ()) for fault in [advice_of(self.model.graph).rules.get(
                                rule.op if kind == "wrong gradient" else "", Remark("", None))]]

    def _gets_another(self, variable: Tensor, y: Tensor | None) -> bool:
        """Whether another loss than y, or an earlier step, trains a variable, or the gradient of a copy is applied."""
        calls = calls_of(self.model.graph)
        having = [call.ys[0] for call in calls if call.found.get(variable) is not None]
        if not any(variable in call.xs for call in calls):  # a worker computes the gradient of its own copy
            return any(update_of(op, calls) is not None for op in variable._consumers
                       if is_store(op) and op.inputs[0] is variable)
        return is_absent(variable, y) or y not in having and any(each.op.gradient_of is None for each in having)

    def _not_finite(self, case: Case) -> list[Finding]:
        if case.refused and not case.is_spoiled:
            return []
        try:
            why = self.explain.why(kind="nan")
        except AutodiffError:
            return []
        if isinstance(why, WhyFailed):  # a run of the debugger's own that was fed nothing weighs less
            if "OutOfRange" in why.text or "end of sequence" in why.text.lower():
                return []  # a data set at its end is no mistake
            weight = 100 if why.op_type != "Placeholder" or any(r.error for r in [*self.state.log.records][-1:]) else 45
            text = why.text.replace("\n", "; ")
            return [Finding(weight, "failed", why.op, why.op_type, "", text, why.remedy, "why nan", why.place)]
        first = [origin for origin in why.origins if not origin.secondary]
        if first and first[0].phase == "input" and "nan" not in first[0].bad:  # inf is right until it makes nan
            first = [*[origin for origin in why.origins if origin.secondary][:1], *first]
        harmful, tried = [_of_origin(origin, 100) for origin in first][:5], self.trials.of(why)
        others = list[str]()
        if harmful and tried:  # what is finite with it is no finding of its own
            others = list(dict.fromkeys(f.op for f, o in zip(harmful, first) if f.op != harmful[0].op and
                                        o.phase != "input"))
            self.trials.keep(1)
            harmful = [replace(harmful[0], remedy=f"{tried[0].sentence}; {tried[0].applied.format(1)}")]
        if harmful and why.chain and (because := origin_of(why.chain)):
            harmful[0] = replace(harmful[0], text=f"{harmful[0].text}; {because}")
        if others:
            harmful[0] = replace(harmful[0], text=f"{harmful[0].text}; it makes {', '.join(others[:3])} nan too")
        return harmful + [_of_origin(o, 10) for o in why.masked if o.op_type[:7] != "CTCLoss" and (o.size > 1 or (
            o.op_type != "Const")) and not (o.bad == "-inf" and is_mask(self.model.targets.named(o.op)))][:5]

    def _sizes(self, y: Tensor, case: Case) -> list[Finding]:
        try:
            table = self.gradients.grads(past=False)  # of the default y, in the last run that trained
        except AutodiffError:
            return []
        found = []
        trained, largest = self._just_trained(), scaled_back(y, gradients_of(case).values()) or HUGE
        for row in table.rows:
            if row.stats is None or row.stats.nonfinite:
                continue
            is_usual = y.dims == () and TINY <= (row.stats.norm or 0.0) <= largest
            why = None if is_usual else self.explain.why(row.name, kind="gradient")
            kind = getattr(why, "kind", "fine")
            if why is not None and kind in ("zero", "tiny", "exploding"):
                lost = why.losses[0] if why.losses else None
                is_meant = lost is not None and ("cancels out" in lost.note or len(row.shape or ()) < 2
                                                 and why is not None and "cancels out" in why.text)
                is_meant |= row.stats.norm == 0 and case.last_loss == 0  # nothing is left to learn
                is_meant |= kind == "zero" and any(np.any(value) for x, g in gradients_of(case).items()
                                                   if x.name == row.name for value in case.series(g)[-_CHANCE:])
                is_meant |= kind == "exploding" and lost is not None and is_weight(self.model.targets.named(lost.op))
                is_meant |= kind == "tiny" and (case.learns or len(row.shape or ()) < 2)  # without its kernel's
                found.append(Finding(CALM if is_meant else {"zero": 60, "tiny": 55, "exploding": 75}[kind],
                                     f"{kind} gradient",
                                     lost.op if lost else row.name, lost.op_type if lost else "", row.name, why.text,
                                     why.remedy, f"path {y.name} {row.name}", lost.place if lost else row.place))
            found += still(row) if row.name in trained and not case.failed else []
        return found

    def _just_trained(self) -> set[str]:
        """Names of the variables that the last run put something into."""
        ran = self.state.moments[-1].ran if self.state.moments else set()
        return {op.inputs[0].name for op in ran if is_store(op) and op.inputs
                and any(o.gradient_of is not None for o in ancestors(op.inputs[1:]))}

    def _dead(self, y: Tensor, at: Moment, case: Case) -> list[Finding]:
        trained = dependencies([y])
        ops = [op for op in in_order(ancestors([y])) if op in trained and op.type in ACTIVATIONS]
        seen = [at, *(m for m in list(self.state.moments)[-_BATCHES:-1] if m is not at)] if ops else [at]
        known = [self.state.values_known(dict.fromkeys(op.inputs[0].op for op in ops), moment) for moment in seen]
        given = {op: [np.asarray(v[op.inputs[0]]) for v in known if op.inputs[0] in v] for op in ops if op.inputs[
            0] in known[0]}
        return [finding for op, values in given.items() if not (is_hinge(op, y, case.trained) and any(
            (v > 0).any() for v in values)) for finding in unit_findings(op, values, learns=case.learns or (
                case.last_loss == 0))]

    def _mistaken(self, y: Tensor, variables: list[Tensor], at: Moment) -> list[Finding]:
        ops = in_order(ancestors([y]) & descendants(variables))
        wanted = [op for op in ops if op.type == "SoftmaxCrossEntropyWithLogits"]
        values = self.state.values_known(dict.fromkeys(unbroadcast(t).op for op in wanted for t in op.inputs), at)
        return value_suspicions(wanted, values)

    def _fed_and_grown(self, y: Tensor, case: Case) -> list[Finding]:
        """What the data and the initial values of the steps remembered say."""
        moments = list(self.state.moments)[-_LATE:]
        loops = [op for op in in_order(ancestors([y])) if op.type == "While"]
        start: dict[str, object] = {}
        for moment in reversed(list(self.state.moments)[:3] if loops else []):  # the first of them initializes
            start.update(moment.variables)
        behind = ancestors([y]) if case.variables else ()  # else nobody learns from them
        fed = [{t: value for t, value in {**m.outcomes, **m.feeds}.items() if t.op in behind} for m in moments]
        return [*feed_mistakes(fed, learns=case.is_at_ease, beyond=case.first_loss / case.guess),
                *(finding for loop in loops for finding in loop_growth(loop, start))]

    def _not_updated(self) -> list[Finding]:
        trained = [m.ran for m in list(self.state.moments)[-_LATE:] if m.wanted]
        return not_updated(self.model.graph, [ran for ran in trained if any(op.type.startswith(APPLIES) for op in ran)])

    def _stage_findings(self, y: Tensor, case: Case) -> list[Finding]:
        if case.refused or case.updates and {u.gradient for u in case.updates} <= {*gradients_of(case).values()}:
            return []  # nothing is done with the gradients
        try:
            stages = self.stages.of(y.name)
        except AutodiffError:
            return []
        found = [Finding(95, "clipping", "", "", "", note, "test the norm before clipping: tf.check_numerics(norm, ...)"
                         ", or leave the step out when it is not finite", "grads --stages", None)
                 for note in stages.notes if "common norm" in note]
        return found or [self._clipped_away(row, op) for row in stages.rows if row.raw and row.given and row.between
                         and row.raw.norm and row.given.norm == 0 and not row.raw.nonfinite + row.given.nonfinite
                         and (op := self.model.targets.named(row.between[-1])) is not None]

    def _clipped_away(self, row: StageRow, op: Operation) -> Finding:
        return Finding(78, "clipped away", op.name, op.type, row.name, f"the gradient of {row.name} has the norm "
                       f"{row.raw.norm if row.raw else 0:.3g}, but {op.name} ({op.type}) makes zeros of it before the "
                       "update", "raise the bound of the clipping (by value: one below 0 and one above), or mend what "
                       "scales it", "grads --stages", None if op.site is None else as_place(op.site))


def _of_origin(origin: Origin, severity: int) -> Finding:
    kind = "nan" if "nan" in origin.bad else "inf"
    what = f"{origin.rule} in {origin.op}" + (", without effect" if not origin.harmful else "")
    return Finding(severity, kind if origin.harmful else f"masked {kind}", origin.forward_op or origin.op,
                   origin.forward_type or origin.op_type, origin.tensor, what, origin.remedy, "why nan", origin.place)
