"""The Case of a model: its graph and remembered runs, as the analyses of mistakes ask about them."""
from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import dependencies
from ...analysis.advice import advice_of
from ...analysis.mistakes.case import Case, Run, gradients_of
from ...analysis.mistakes.heads import heads
from ...analysis.mistakes.pairing import guess_of
from ...facts.graph_lists import trainable_tensors
from ...facts.roles import is_handle, is_variable
from ...history.replay import Moment
from ..state import State

_END = "OutOfRangeError"
_SECONDS = 4.0  # of this thread, for all that is computed again for one question
_SLOW = 30.0  # ms of a run


def usual_loss(state: State, y: Tensor) -> Tensor:
    """Of the losses of one line that which most remembered steps had: a smaller last batch may have a graph of its own.

    y itself where its last value is not finite, as that has to be told.
    """
    last = state.log.records[-1] if state.log.records else None
    if last is None or last.error or last.loss is None or not np.isfinite(last.loss) or not advice_of(y.graph).call:
        return y
    ran = Counter(t for m in (*state.moments.beginning, *state.moments) if m.wanted is not None
                  for t in m.wanted.tensors[:1] if t.op.site == y.op.site and t.dims == y.dims)
    return max(ran, key=lambda t: (ran[t], t is y), default=y)


def case_of(state: State, y: Tensor, *, static: bool = False) -> Case:
    """All that is remembered about the training of y, with a fix in force that with it; static: its graph alone."""
    graph = state.model.graph
    variables = trainable_tensors(graph)
    if static:
        return Case(graph, y, variables)
    apart = [m for pair in state.moments.steps for m in pair]
    moments = {m.run: m for m in (*state.moments.beginning, *apart, *state.moments.turn, *state.moments)}
    runs = _as_now(state, _runs(state, sorted(moments.values(), key=lambda m: m.run)))
    known = {run.number for run in runs}
    spent, refused = 0.0, 0

    def look(run: Run, tensors: Sequence[Tensor], changed: Mapping[str, Any] | None,
             held: Mapping[Tensor, Any] = MappingProxyType({})) -> Mapping[Tensor, Any]:
        nonlocal spent, refused
        if spent > _SECONDS:
            refused += 1
            return {}
        began = time.thread_time()
        found = computed(run, tensors, changed, held)
        spent += time.thread_time() - began
        return found

    def computed(run: Run, tensors: Sequence[Tensor], changed: Mapping[str, Any] | None,
                 held: Mapping[Tensor, Any]) -> Mapping[Tensor, Any]:
        if isinstance(run.before, dict) and moments[run.number].variables is not run.before:  # which are made again
            moments[run.number] = replace(moments[run.number], variables=run.before)
        at = moments[run.number]
        if changed is not None:
            at = replace(at, variables=dict(changed), feeds={**at.feeds, **held} if held else at.feeds)
        others = [t for t in tensors if not is_variable(t) and not is_handle(t)]
        return {**state.replayer.values_if_possible(at, others),
                **{t: at.variables[t.op.name] for t in tensors if is_variable(t) and t.op.name in at.variables}}

    last = state.log.records[-1] if state.log.records else None
    failed = last.error if last is not None and last.error and _END not in last.error else ""
    history = [(state.log.at(record).step, record.loss) for record in state.log.records
               if record.trains and record.loss is not None and record.loss_name == y.name and not record.error
               and (record.run in known or record.run not in moments)]
    case = Case(graph, y, variables, runs, look, failed, history, state.wholes, guess_of,
                is_over=state.model.is_alone and not state.model.raised[0], refused=lambda: refused)
    if case.ms > _SLOW:  # what many ask for is computed together
        case.want(*gradients_of(case).values(), *(head.prediction for head in heads(case)))
    return case


def _as_now(state: State, runs: list[Run]) -> list[Run]:
    """Of the runs those that computed as a run would now, with the fixes in force; all if none of these trained."""
    laid, lent = state.overrides.overlay, state.overrides.lent
    if laid is not None:
        fixed = [run.number for run in runs if run.trains and not run.feeds.keys().isdisjoint(laid.pairs)]
        return [run for run in runs if run.number >= min(fixed, default=0)]
    plain = [run for run in runs if run.feeds.keys().isdisjoint(lent)]
    return plain if any(run.trains for run in plain) and not state.overrides.values else runs


def _runs(state: State, moments: Sequence[Moment]) -> list[Run]:
    records = {record.run: record for record in state.log.records}
    trained = {*state.log.steps.trained}  # of which some may have no record any more
    ran: dict[tuple[Any, ...], frozenset[Operation]] = {}
    advice = advice_of(state.model.graph)
    found, is_beside = [], bool(advice.call)  # what steps is then not in the graph
    following = [_led_to(m.variables, advice.renewed.get(m.run)) for m in moments[1:]] + [state.model.session.variables]
    known = {m.run for m in moments}  # of what the last one in a row left nothing is known
    unknown = {m.run for m in moments if m.run + 1 not in known} if state.moments.steps else {
        m.run for m in (*state.moments.beginning[-1:], *state.moments.turn[-1:])}
    for moment, after in zip(moments, following):
        if moment.run in unknown and moment is not moments[-1]:
            continue
        wanted, record = moment.wanted, records.get(moment.run)
        key = () if wanted is None else (wanted.tensors, wanted.targets)
        if key not in ran:
            ran[key] = frozenset(dependencies(*key)) if key else frozenset()
        is_whole = not record.error if record is not None else moment.run in trained
        found.append(Run(moment.run, state.log.at(moment.run).step, ran[key],
                         bool((record is None or record.trains or is_beside) and is_whole),
                         moment.variables, after, moment.feeds, () if wanted is None else wanted.tensors,
                         record.ms if record is not None else 0.0, () if wanted is None else wanted.targets))
    return found


def _led_to(variables: Mapping[str, Any], renewed: set[str] | None) -> Mapping[str, Any]:
    """Values of variables, without those that were made anew."""
    return {name: variables[name] for name in variables if name not in renewed} if renewed else variables
