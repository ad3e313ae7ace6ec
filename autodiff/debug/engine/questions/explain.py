"""Explanations: why a gradient is None, not finite, zero or tiny, and the way it takes."""
from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....core.errors import ArgumentError, OpError
from ....core.function_graph import functions_of
from ....core.graph import Operation, Tensor
from ....core.indexed_slices import IndexedSlices
from ....core.traversal import ancestors
from ...analysis.advice import advice_of, differences
from ...analysis.attenuation import flat_inside, noted, remedy
from ...analysis.backward_through_calls import lost_inside, nodes_inside, why_turns
from ...analysis.findings import Hop, Path, WhyNone, WhyNonfinite, WhySmall
from ...analysis.flow import passed, path
from ...analysis.gradient_tree import Chain, factors, shared, size_of, tree
from ...analysis.origins.sources import Scene
from ...analysis.origins.zero_factors import picked_by, zeros_from
from ...analysis.update_blame import is_kept_out
from ...analysis.why import why_none, why_small
from ...facts.graph_lists import asked_in_vain, trainable_tensors, without_any
from ...facts.roles import at_line, is_variable, place_of
from ...facts.stats import has_nonfinite, statistics
from ...history.replay import Moment
from ..runs.effects import Effects
from ..runs.samples import InnerSamples
from ..state import State
from .blame import Blame
from .ill_runs import IllRuns
from .update_stages import Applied

_CHOICES = ("Select", "SelectV2")
_TELLS_MORE = ("is 0 everywhere", "in 100% of the elements")  # notes with something behind
_PARTS = 500  # inputs shared by several ops at which each op's part of the gradient is found out


class Explanations:
    """Asks the analyses, with the values of the last run."""

    def __init__(self, state: State, effects: Effects, inner: InnerSamples, blame: Blame) -> None:
        self.state, self.model, self.effects, self.inner, self.blame = state, state.model, effects, inner, blame
        self.applied, self.ill = Applied(state), IllRuns(state, effects, blame)

    def why(self, target: str = "", y: str = "", *, kind: str = "", order: int = 1) -> Any:
        """Why the gradient at a tensor is None, non-finite, zero or tiny; or its value, if that is not finite.

        Without a target, of the whole run: kind "nan" (or "") gives a WhyNonfinite, "none" a tuple of WhyNone, "zero"
        and "exploding" one of WhySmall, for the trainable variables concerned; of a target, "gradient" leaves out what
        an update made of the gradient. order: up to which derivatives are asked about.
        """
        return self.model.told(self._why(target, y, kind, order))

    def why_raised(self, error: OpError) -> Any:
        """Why an op raised what ended the last run: a WhyFailed or WhyNonfinite; None where it was no run's error."""
        at, last = [*self.state.moments][-1:], [*self.state.log.records][-1:]
        if not at or not isinstance(error.op, Operation) or not last[0].error or last[0].run != at[0].run:
            return None
        return self.model.told(self.blame.why_failed(error, at[0]))

    def _why(self, target: str, y: str, kind: str, order: int) -> Any:
        if not target:
            return self._why_all(y, kind or "nan", order)
        x = self.model.targets.one(target)
        try:
            top: Tensor | None = self.model.y_of(y)
        except ArgumentError:
            top = None
        at = self.state.moment_of_training(top) if top is not None and is_variable(x) and not y else (
            self.state.moment_for([x] if top is None else [x, top]))
        try:
            found = self._why_at(top, x, kind, at)
        except OpError as error:
            return self.blame.why_failed(error, at)
        if kind or top is None or not is_variable(x):
            return found
        return self._as_given(self._with_update(found, top, x, at), top, x, at)

    def _as_given(self, found: Any, y: Tensor, x: Tensor, at: Moment) -> Any:
        """The same, and first what another framework made of the gradient, if that is not what the graph's is."""
        advice = advice_of(self.model.graph)
        if not isinstance(found, WhySmall) or x.op.name not in advice.gradients or at is not self.state.moments[-1]:
            return found
        gradient = self.model.derivatives.dense(self.model.derivatives.gradient(y, x)[0])
        for given in differences(advice, {x: self.state.values([gradient], at)[0]}):
            return replace(found, text=f"{given.note}{at_line(given.place)}: its largest element is "
                           f"{given.analytic:.3g}, not {given.numeric:.3g}\n{found.text}")
        return found

    def _with_update(self, found: Any, y: Tensor, x: Tensor, at: Moment) -> Any:
        """The same, and what the update made of the gradient; that first where only that is wrong."""
        gradient = self.model.derivatives.gradient(y, x)[0] if isinstance(found, WhySmall) else None
        told, remedy = self.applied.of(gradient, x, at) if gradient is not None else ("", "")
        if not told:
            return found
        texts = (told, found.text) if found.kind == "fine" and remedy else (found.text, told)
        return replace(found, text="\n".join(texts), remedy=found.remedy or remedy)

    def _why_inside(self, top: Tensor | None, x: Tensor, at: Moment) -> Any:
        """Why the gradient at a tensor inside of branches and loops is as it is, over all its iterations."""
        caller = self.model.targets.inner.callers(x.op)[0]
        if top is None or self._value_is_bad(x, at):
            bad = next((t for t in caller.outputs if self._value_is_bad(t, at)), None)
            return self.blame.why_value(self.model.targets.inner.outer(x) if bad is None else bad, at)
        turns = self.inner.gradient_turns(top, x, at)
        if has_nonfinite(turns.flat()):
            before = [t for t in caller.inputs if t.dtype.base_dtype.is_differentiable]
            found = [self._why_at(top, t, "", at) for t in before]
            return next((each for each in found if isinstance(each, WhyNonfinite)), found[0] if found else None)
        return why_turns(top, turns)

    def _why_at(self, top: Tensor | None, x: Tensor, kind: str, at: Moment) -> Any:
        if self.model.targets.inner.has(x):
            return self._why_inside(top, x, at)
        if top is None or x is top or x.op.gradient_of is not None:
            return self.blame.why_value(x, at)
        remark = advice_of(self.model.graph).unwatched.get(x.op.name)
        if remark is not None and self.model.derivatives.gradient(top, x)[0] is not None:
            return WhyNone(top.name, x.name, "not watched", remark.text, "call watch(…) of it inside of `with tape:`",
                           place=remark.place)
        gradient, _ = self.model.derivatives.gradient(top, x)
        if gradient is None or kind == "none":
            if kind != "none" and self._value_is_bad(x, at):
                return self.blame.why_value(x, at)
            return why_none(top, x, self.model.derivatives.script_call(top))
        source = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        gradients, values = self._along(top, x, at)
        if has_nonfinite(self.state.look_up(source, at)):
            return self.blame.why_value(source, at)
        bad = next((tensor for tensor in (x, top) if self._value_is_bad(tensor, at)), None)
        if bad is not None:
            return self.blame.why_value(bad, at)
        found = self._small(top, x, at, gradients, values)
        call = self.model.derivatives.script_call(top)
        if found.kind == "fine" and is_variable(x) and call is not None and any(map(is_variable, call.xs)):
            missing = why_none(top, x, call)
            return missing if missing.kind == "not asked" else found
        return found

    def _value_is_bad(self, tensor: Tensor, at: Moment) -> bool:
        found = self.state.stats_of(tensor, at)
        return found is not None and found.nonfinite > 0

    def _why_all(self, y: str, kind: str, order: int = 1) -> Any:
        if kind in ("nan", "inf", "nonfinite"):
            roots = self.effects.roots(y, order)
            at = self.state.moment_for(roots)
            why = self.blame.why_nonfinite(roots, None, at)
            if why.origins and why.step == self.state.log.at(at.run).step and (first := self.ill.first(roots, at)):
                same = first.wanted == at.wanted
                why = self.blame.why_nonfinite(roots if same else self.effects.roots(at=first), None, first)
            if why.origins or not y and (why := self.ill.past() or self.ill.of_other_losses(at) or why).origins:
                return why
            return self.blame.failed(at) or self._without_end(why)
        top = self.model.y_of(y)
        tensors = trainable_tensors(self.model.graph)
        self.model.derivatives.prepare(top, tensors)
        found = {t: self.model.derivatives.gradient(top, t)[0] for t in tensors}
        if kind == "none":
            call, lacking = self.model.derivatives.script_call(top), without_any(self.model.graph)
            missing = {t: why_none(top, t, call) for t, g in found.items()
                       if g is None and (y or t in lacking or call is None or t not in call.xs)}
            return (*(why_none(call.ys[0], x, call) for call, x in asked_in_vain(self.model.graph)), *(
                each for t, each in missing.items() if y or not is_kept_out(t, each.cuts) and not (
                    t.dtype.base_dtype.is_integer and any(g is not None for g in found.values()))))  # a mere count
        if kind not in ("zero", "exploding"):
            raise ArgumentError(expected="nan, none, zero or exploding", found=repr(kind))
        at = self.state.moment_for([top])
        small = (self._small(top, t, at, *self._along(top, t, at)) for t, g in found.items() if g is not None)
        return tuple(finding for finding in small if finding.kind == kind or kind == "zero" and finding.kind != "fine")

    def _without_end(self, why: WhyNonfinite) -> WhyNonfinite:
        """Where nothing is nan: the same, with how the loss grew, if the training diverges all the same."""
        grew = self.state.log.growth()
        return why if not grew else replace(why, diverges=True, text=f"{why.text}, but the training diverges: the loss "
                                            f"grew {grew}\nremedy: lower the learning rate, or scale the data to sizes "
                                            "near 1; doctor tries it where the steps are remembered")

    def _small(self, y: Tensor, x: Tensor, at: Moment, gradients: dict[Tensor, Any],
               values: dict[Tensor, Any]) -> WhySmall:
        """gradients, values: along the way from y to x."""
        if x not in gradients:
            raise ArgumentError(f"the gradient of {y.name} at {x.name} cannot be computed from what the remembered "
                                "runs were fed", hint="run a step of the train op first, or feed what it needs")
        found = self._inside_of_loss(why_small(y, x, gradients, values), gradients, values, at)
        found = self._cancelled(self._from_zeros(found, at), y, x, at)
        slices = self.model.derivatives.gradient(y, x)[0]
        if found.kind != "fine" or not isinstance(slices, IndexedSlices) or not is_variable(x):
            return found
        whole = np.shape(at.variables.get(x.op.name, 0))[:1]
        rows = np.unique(self.state.values([slices.indices], at)[0])
        some = ", ".join(map(str, rows[:8])) + (" …" if rows.size > 8 else "")
        count = f"{rows.size} of {whole[0]}" if whole else str(rows.size)
        return replace(found, text=f"{found.text}; {count} rows get one, those looked up in this run: {some}")

    def _from_zeros(self, found: WhySmall, at: Moment) -> WhySmall:
        """The same, with where the zeros come from that a product multiplied by."""
        hop = found.losses[0] if found.losses else None
        op = self.model.targets.named(hop.op) if hop is not None else None
        if hop is None or op is None or not hop.note.endswith(_TELLS_MORE):
            return self._of_rule(found, op, at) if op is not None and op.override and found.kind == "zero" else found
        if op.type in _CHOICES:
            is_told = op.graph is not self.model.graph  # in the loop that it is in
            return found if is_told else self._picked(found, op, self._scene(op.inputs, at))
        factor = next((t for t in op.inputs if t.name != hop.tensor or hop.note.startswith("its input")), None)
        behind = [] if factor is None else [factor.op, *ancestors([factor]),
                                            *(t.op for t in trainable_tensors(self.model.graph))]
        text, remedy_there = ("", "") if factor is None else zeros_from(factor, self.state.values_known(behind, at))
        return replace(found, text=f"{found.text}, as {text}", remedy=remedy_there or found.remedy) if text else found

    def _of_rule(self, found: WhySmall, op: Operation, at: Moment) -> WhySmall:
        """The same, with the product in the script's own gradient of an op that makes zeros of what arrives."""
        made = [each for each in self.model.graph.operations.values() if each.gradient_of is not None
                and each.forward_op is op and each.type in ("Mul", "MatMul")]
        values = self.state.values_known(ancestors([t for each in made for t in each.inputs]), at)
        for each in made:
            zeros = [t for t in each.inputs if t in values and not np.any(values[t])]
            if len(zeros) == 1:
                given = next(t for t in each.inputs if t is not zeros[0])
                hop = noted(Hop(each.name, each.type, given.name, None, 0.0, 0.0, 1.0, place_of(each)), each, values)
                where = f"in its own gradient function{at_line(hop.place)}"
                return replace(found, text=f"{found.text}; {where}, {hop.note}", remedy=remedy([hop], each, values))
        return found

    def _cancelled(self, found: WhySmall, y: Tensor, x: Tensor, at: Moment) -> WhySmall:
        """The same, with the uses of a tensor whose parts of its gradient are not 0 and add up to 0."""
        hop = found.losses[0] if found.kind == "zero" and found.losses else None
        if hop is None or hop.note:
            return found
        edges = [(op, t) for op, inputs in passed(y, x).items() for t in inputs if t.name == hop.tensor]
        parts = self.model.derivatives.parts(y, x, edges) if len(edges) > 1 else {}
        known = self.state.replayer.values_if_possible(at, list(parts.values()))
        uses = [f"{op.name}{at_line(place_of(op))}" for (op, _), part in parts.items()
                if part in known and np.any(known[part])]
        if len(uses) < 2:
            return found
        text = f"{found.text}: what comes back to {hop.tensor} by way of {' and '.join(uses[:4])} cancels out"
        return replace(found, text=text, remedy="hold one side constant, if it is meant to be: tf.stop_gradient")

    def _scene(self, tensors: Sequence[Tensor], at: Moment) -> Scene:
        """What is known behind tensors."""
        return Scene(self.state.values_known(ancestors(tensors), at), self.state.replayer.calls(at))

    @staticmethod
    def _picked(found: WhySmall, choice: Operation, scene: Scene) -> WhySmall:
        """The same, with why a choice picks the other branch throughout."""
        text, other = picked_by(choice, scene)
        return replace(found, text=f"{found.text}, as {text}", remedy=other) if text else found

    def _inside_of_loss(self, found: WhySmall, gradients: dict[Tensor, Any], values: dict[Tensor, Any],
                        at: Moment) -> WhySmall:
        """The same, with the op inside of a loop or branch that loses most, if it is one that loses."""
        hop = found.losses[0] if found.losses else None
        op = None if hop is None else self.model.targets.named(hop.op)
        if hop is None or op is None or not functions_of(op) or "branch was taken" in hop.note:
            return found
        call = next(iter(deque(self.state.replayer.calls(at).of(op, values), 1)), None)
        if call is None:
            return found
        nodes = [node for node in nodes_inside(op, values, self.state.replayer.calls(at), gradients, 0)
                 if node.gain is not None]
        loss = None if nodes else flat_inside(call.ops, call.values)
        if nodes:
            node = (max if found.kind == "exploding" else min)(nodes, key=lambda node: node.gain or 0.0)
            inner = next(each for each in call.ops if each.name == node.op)
            norm = None if node.norm is None or node.gain is None else node.norm * node.gain
            loss = noted(Hop(node.op, node.op_type, inner.inputs[0].name, node.norm, norm, node.gain, node.zero_share,
                             node.place), inner, call.values)
        if found.kind == "zero" and (loss is None or loss.outgoing):
            lost = lost_inside(op, values, self.state.replayer.calls(at), gradients, hop.tensor)
            loss = noted(lost, next(each for each in call.ops if each.name == lost.op), call.values) if lost else loss
        if loss is None:
            return found
        inner = next(each for each in call.ops if each.name == loss.op)
        text = f"{found.text}; inside, in {call.where}, in {loss.op} ({loss.op_type}){at_line(loss.place)}"
        told = replace(found, text=text + (f": {loss.note}" if loss.note else ""), losses=(loss, *found.losses),
                       remedy=found.remedy if found.kind == "exploding" else remedy([loss], inner, call.values))
        around = self._scene(op.inputs, at)
        return told if inner.type not in _CHOICES or not loss.note.endswith(_TELLS_MORE) else self._picked(
            told, inner, Scene(call.values, around.inside, call, op, around))

    def _along(self, y: Tensor, x: Tensor, at: Moment) -> tuple[dict[Tensor, Any], dict[Tensor, Any]]:
        """Gradients of y at all tensors between y and x, and the values of those tensors and of their siblings."""
        found = self.model.derivatives.all_from(y, x)
        gradients = self.state.replayer.values_if_possible(at, list(dict.fromkeys(
            g.values if isinstance(g, IndexedSlices) else g for g in found.values())))
        at_tensors = {t: gradients[k] for t, g in found.items()
                      if (k := g.values if isinstance(g, IndexedSlices) else g) in gradients}
        ops = dict.fromkeys(op for t in found for op in (t.op, *(i.op for i in t.op.inputs)))
        return at_tensors, self.state.values_known(ops, at)

    def path(self, y: str, x: str) -> Path:
        """How the gradient flows from y ("": the default) to x in the last run, with its norm at each op."""
        top, bottom = self.model.y_of(y), self.model.targets.one(x)
        gradient, _ = self.model.derivatives.gradient(top, bottom)
        if gradient is None:
            return path(top, bottom, {})
        at = self.state.moment_for([top, bottom])
        gradients, values = self._along(top, bottom, at)
        ways, inside = passed(top, bottom), self.state.replayer.calls(at)
        parts = self._parts(top, bottom, ways, at)
        found = path(top, bottom, gradients, parts)
        figures = {key: statistics(value) for key, value in (*gradients.items(), *parts.items())}
        nodes = tree(top, bottom, ways, figures, {hop.op: hop.tensor for hop in found.hops}, lambda op, depth:
                     nodes_inside(op, values, inside, gradients, depth) if functions_of(op) else ())
        return replace(found, tree=nodes)

    def _parts(self, y: Tensor, x: Tensor, ways: dict[Operation, tuple[Tensor, ...]], at: Moment) -> dict[Any, Any]:
        """What each op adds to the gradient at an input that it shares with others."""
        edges = self.model.derivatives.parts(y, x, shared(ways)[:_PARTS])
        known = self.state.replayer.values_if_possible(at, list(edges.values()))
        return {edge: known[part] for edge, part in edges.items() if part in known}

    def chain(self, x: str, y: str = "") -> Chain:
        """The chain rule from y ("": the default) to x along the path that carries most, with the last run's numbers.

        Without factors if no gradient flows.
        """
        top, bottom = self.model.y_of(y), self.model.targets.one(x)
        if self.model.derivatives.gradient(top, bottom)[0] is None:
            return Chain(top.name, bottom.name, "", (), 0, None)
        at = self.state.moment_for([top, bottom])
        gradients, _ = self._along(top, bottom, at)
        parts = self._parts(top, bottom, passed(top, bottom), at)
        found = path(top, bottom, gradients, parts)
        return Chain(top.name, bottom.name, self.state.when(at), factors(top, found.hops, gradients, parts),
                     found.paths, size_of(gradients.get(bottom)))

    def why_missing(self, x: str, y: str = "") -> WhyNone:
        """Why d y / d x is None; from the graph alone, so before any run."""
        return why_none(self.model.y_of(y), self.model.targets.one(x))
