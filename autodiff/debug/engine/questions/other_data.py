"""Other data: what is fed, and tables that are constants, as they may be tried: scaled, within bounds, cleaned."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ....core.constant_value import static_value
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors
from ...analysis.advice import advice_of
from ...analysis.arithmetic_rules import number
from ...analysis.edits import of_data, of_givens, of_read_data
from ...analysis.edits.in_graph import OVER_COUNT, Edit
from ...analysis.edits.of_givens import fed_at
from ...analysis.edits.of_keras.arrays import Arranged, arranged
from ...analysis.findings import Finding, Remedy
from ...analysis.mistakes.all_mistakes import UNSCALED as UNSCALED_INPUTS
from ...analysis.remedies import divides_by_count_less_1
from ...facts.records import NewLines, Place
from ...facts.roles import VARIABLES, place_of
from ...facts.roles import of_data as source_of_data
from ...facts.stats import has_nonfinite
from ...history.replay import Moment
from ..fed_back import FedBack
from ..paced import falls, paced, slower
from ..state import State
from .came_from import FAR, size_of, usual_size
from .case_of import case_of
from .trials_told import ANEW

UNSCALED = 100.0  # what nobody feeds who has scaled the data
LARGE, ODD = 5.0, 20.0  # of what is fed at all, and of a number of it that is to blame
SOON = 3  # runs: a training that diverges within them began badly
_PRODUCTS = ("MatMul", "Conv2D", "BatchMatMulV2", "Mul")
_JOINS = ("ConcatV2", "Pack")
_ROWS = 10  # of a constant, that are no parameters


class Unscaled(NamedTuple):
    """Data as large as nobody feeds who has scaled them, their largest number, and the line that feeds them."""

    size: float
    tensor: Tensor
    place: Place | None


def unscaled(state: State, y: Tensor, at: Moment) -> list[Unscaled]:
    """The data behind y in a run that nobody has scaled; [] if all are. First what weights multiply, which makes steps
    too large, then the rest, as targets; of each the largest first."""
    behind, carried = ancestors([y]), FedBack(state).sources(at)
    sizes = [(size_of(np.asarray(value, np.float64)), t) for t, value in at.data.items() if t.dtype.is_floating
             and np.ndim(value) and t.op in behind and t not in carried]
    if max((size for size, _ in sizes), default=0.0) <= UNSCALED:
        return []
    inputs = {op for side in _multiplied(behind) for op in ancestors([side])}
    known = [(t.op not in inputs, -size, t) for size, t in sizes if size > (ODD if t.op in inputs else UNSCALED)]
    return [Unscaled(-size, t, there[0] if (there := fed_at(t.op, None)) is not None else source_of_data(t.op) or
                     place_of(t.op)) for _, size, t in sorted(known, key=lambda each: each[:2])]


def _multiplied(ops: Iterable[Operation]) -> Iterator[Tensor]:
    """What is made of data alone and multiplied by weights."""
    for op in ops:
        if op.gradient_of is None and op.type in _PRODUCTS:
            of_weights = [t for t in op.inputs if any(each.type in VARIABLES for each in ancestors([t]))]
            if of_weights and (op.type != "Mul" or of_weights[0].op.type in ("ReadVariableOp", "Identity", *VARIABLES)):
                yield from (t for t in op.inputs if t not in of_weights)


class OtherData:
    """Edits of what the run that failed was given."""

    def __init__(self, state: State, carried: FedBack, failed: Moment) -> None:
        self.state, self.carried, self.failed = state, carried, failed
        self.moments = state.stretch(state.log.at(failed.run).step)

    def scaled(self, y: Tensor, least: float) -> list[Edit]:
        """Of what data of y are larger than `least`, each scaled, the largest first."""
        known = [(t, self._known_of(t)) for t, value in self.failed.data.items() if np.ndim(value)
                 and self._is_data(t) and len(value) > 1]
        known += [(op.outputs[0], value) for op in ancestors([y]) if op.type == "Const"
                  and op.outputs[0].dtype.is_floating and (value := static_value(op.outputs[0])) is not None
                  and value.ndim and len(value) >= _ROWS]
        known[:0] = joined = self._joined(y)
        apart = ancestors([t for t, _ in joined])
        known = [(t, rows) for t, rows in known if t.op not in apart or t in dict(joined)]
        pixels = [edit for t, value in self.failed.data.items() for edit in of_data.of_pixels(t, value)]
        known = [(t, rows) for t, rows in known if t.op not in {edit.op for edit in pixels}]
        largest = {t: np.abs(rows).max(initial=0.0) for t, rows in known}
        large = [of_data.scaled(t, rows) for t, rows in sorted(known, key=lambda each: -largest[each[0]])
                 if largest[t] > least]
        single = {t: {float(np.max(np.abs(m.data[t]))) for m in self.moments if np.size(m.data.get(t, ())) == 1}
                  for t in self.failed.data if self._is_data(t)}
        return pixels + large + [of_data.divided_feed(t, max(sizes)) for t, sizes in single.items()
                                 if len(sizes) > SOON and max(sizes) > LARGE]

    def _joined(self, y: Tensor) -> list[tuple[Tensor, np.ndarray]]:
        """The table that columns which are given one by one are joined to, as it was in the steps that are remembered.
        """
        carried = {t.op for t in self.carried.sources(self.failed)}
        data = {t.op for t in self.failed.data if t.dtype.is_floating}
        for op in ancestors([y]):
            behind = ancestors(op.inputs) if op.type in _JOINS and op.outputs[0].dtype.is_floating else set()
            is_made = any(each in carried or each.type in VARIABLES for each in behind)
            known = [self.state.values_known([op], m).get(op.outputs[0]) for m in self.moments
                     if behind & data and not is_made and len(op.inputs) > 2]
            rows = [array for value in known if (array := np.asarray(value, np.float64)).ndim == 2]
            if rows and np.isfinite(table := np.concatenate(rows)).all():
                return [(op.outputs[0], table)]
        return []

    def _known_of(self, fed: Tensor) -> np.ndarray:
        """What was fed for a placeholder in all steps that are remembered: of tables the rows, else all numbers."""
        arrays = [np.asarray(m.data[fed], np.float64) for m in self.moments if fed in m.data]
        width = np.shape(self.failed.data[fed])[1:]
        is_table = len(width) == 1 and all(each.shape[1:] == width for each in arrays)
        rows = np.concatenate(arrays if is_table else [np.ravel(each) for each in arrays])
        finite = np.isfinite(rows).all(axis=-1) if is_table else np.isfinite(rows)
        return rows[finite]

    def _is_data(self, fed: Tensor) -> bool:
        """Whether real numbers are fed that no run gave, as a target or the old probability of an action was."""
        return fed.dtype.is_floating and fed not in self.carried.sources(self.failed)

    def otherwise(self, fed: Tensor, index: tuple[int, ...]) -> Iterable[list[Edit]]:
        """Of the placeholder of which an element is the origin: cleaned, within usual bounds, or scaled."""
        if not fed.dtype.is_floating or not np.ndim(self.failed.data.get(fed, 0.0)):
            return
        array = np.asarray(self.failed.data[fed], np.float64)
        value = abs(array[index])
        usual = usual_size(fed, [m for m in self.moments if m.run < self.failed.run])
        if not np.isfinite(value):
            warned = of_read_data.met_first(advice_of(self.state.model.graph)) or of_read_data.over_a_spread(fed, array)
            bad = [t for t, given in self.failed.data.items() if t.dtype.is_floating and has_nonfinite(given)]
            yield from [whole] if (whole := of_read_data.read_whole(bad, self.failed.data)) else []
            edits = [of_read_data.guarded(t, warned) or of_read_data.guarded(t, warned[-1:]) for t in bad]
            yield from [found] if len(found := [edit for edit in edits if edit is not None]) == len(bad) else []
            yield [of_givens.clean_feed(t) for t in bad]
        elif value in (0.0, 1.0) and 0.0 <= array.min() < array.max() <= 1.0 and (
                array.ndim < 2 or array[index[0]].any()):  # else a set of nothing
            yield [of_givens.clipped_feed(fed, 1e-6, 1.0 - 1e-6)]
            yield [of_givens.clipped_feed(fed, 1e-3, 1.0 - 1e-6 * (value == 1.0))]
        elif usual and value > FAR * usual:
            yield [of_givens.clipped_feed(fed, -usual, usual)]
        elif value > ODD and len(array) > 1 and self._is_data(fed):  # one row has no mean
            yield [of_data.scaled(fed, self._known_of(fed), explains=bool(value > UNSCALED))]

    def other_number(self, fed: Tensor) -> Iterable[list[Edit]]:
        """Of a placeholder that is fed one number, 0 now: what it was fed before."""
        if fed.dtype.is_floating and np.ndim(value := self.failed.data.get(fed, 1)) == 0 and not np.any(value):
            before = [abs(float(m.data[fed])) for m in self.moments if m.run < self.failed.run and np.ndim(
                m.data.get(fed, ())) == 0 and fed in m.data]
            yield [of_givens.higher_feed(fed, min(filter(None, before)))] if any(before) else [
                of_givens.counted_from_one(fed)]


def in_words_of(edits: Sequence[Edit]) -> str:
    """What edits are in a framework's words that are not TensorFlow's, "" where these are theirs."""
    return "divide by the count, which is not 0 of one number: unbiased=False" if _spread_of(edits) else (
        "the sum over the count, which is at least 1" if _over_count(edits) is not None else "")


def _over_count(edits: Sequence[Edit]) -> Operation | None:
    """The mean at one line, of what may be nothing, that edits change."""
    places = {place_of(edit.op) for edit in edits if edit.op is not None}
    is_mean = all(edit.words.startswith(OVER_COUNT) or edit.op is not None and edit.op.type == "Mean" for edit in edits)
    return edits[0].op if is_mean and len(places) == 1 else None


def _spread_of(edits: Sequence[Edit]) -> Operation | None:
    """The division of a deviation that edits change, beside what is divided on its line."""
    return next((edit.op for edit in edits if edit.op is not None and divides_by_count_less_1(edit.op)), None)


def lines_of(state: State, edits: Sequence[Edit], at: Moment) -> NewLines:
    """What edits are as lines of a script that computes its steps itself: of scaled data, of a softmax made apart, of
    a deviation of one number, of a mean of none."""
    first, written = edits[0].op, advice_of(state.model.graph).written
    if (spread := _spread_of(edits)) is not None:
        return written(Finding(0, "single deviation", spread.name, spread.type, "", "", "", "", place_of(spread)))
    if (mean := _over_count(edits)) is not None:
        return written(Finding(0, "empty mean", mean.name, mean.type, "", "", "", "", place_of(mean)))
    if first is None or len(edits) > 1:
        return {}
    if first.type == "Log" and edits[0].is_of_logits:
        return written(Finding(0, "logarithm of a softmax", first.name, first.type, "", "", "", "", place_of(first)))
    if edits[0].words.startswith(of_data.SCALE) and first.outputs[0] in at.feeds:
        values = np.asarray(at.feeds[first.outputs[0]])
        are_pixels = values.ndim > 2 and values.min() >= 0 and 128 < values.max() <= 255
        kind = "pixels" if are_pixels else "each column" if edits[0].words.endswith("column") else "as a whole"
        return written(Finding(0, "inputs not scaled", first.name, first.type, first.outputs[0].name, kind, "", "",
                               place_of(first)))
    return {}


def kept_of(state: State, edits: Sequence[Edit], y: Tensor) -> Arranged | None:
    """Where a script has computed scaled data, which edits would, and left it; None where it has not."""
    op = edits[0].op if edits and edits[0].words.startswith(of_data.SCALE) else None
    return None if op is None else arranged(Finding(
        0, UNSCALED_INPUTS, op.name, op.type, "", "", "", "", place_of(op)), op, case_of(state, y))


def written(state: State, top: Tensor, failed: Moment, is_open: bool) -> list[Remedy]:
    """What makes the loss rise, mended; else scaled data and a lower rate. Only what is known as lines of the script.

    is_open: whether nothing else helps.
    """
    advice = advice_of(state.model.graph)
    known = [(each, advice.written(each), "") for each in advice.uphill()]
    if not known and is_open:
        pace = slower(state, top, failed)
        rate = Finding(0, "learning rate too high", "", "", "", "", "lower the learning rate, " + (
            f"to {pace[0]:g} of it" if pace else "ten times at first"), "", advice.rate and advice.rate.place)
        known = [*_in_scale(state, top, failed), (rate, (advice.slower(pace[0]) if pace else {}) or advice.written(
            rate), _falls(pace[1]) if pace else "")]
    return [Remedy(each.remedy, said, 0.0, 0.0, each.place, applied=ANEW, lines=lines)
            for each, lines, said in known if lines]


def _in_scale(state: State, top: Tensor, failed: Moment) -> list[tuple[Finding, NewLines, str]]:
    """All that nobody has scaled, scaled together, and how the loss then falls; [] where that is seen not to help."""
    found = []
    for each in unscaled(state, top, failed):
        scaled = Finding(0, "inputs not scaled", each.tensor.op.name, each.tensor.op.type, each.tensor.name, "",
                         "", "", each.place)
        if lines := advice_of(state.model.graph).written(scaled):
            found.append((each.tensor, scaled, lines))
    if not found:
        return []
    spreads = {t: _spread(np.concatenate([np.asarray(m.feeds[t], np.float64) for m in state.moments.beginning
                                          if t in m.feeds] or [np.asarray(failed.feeds[t])])) for t, *_ in found}
    losses = paced(state, top, failed, lambda m: {t: ((m.feeds[t] - mean) / spread).astype(m.feeds[t].dtype)
                                                  for t, (mean, spread) in spreads.items() if t in m.feeds})
    if losses is not None and not falls(losses):
        return []
    words = f"scale what is fed for {' and '.join(t.op.name for t, *_ in found)}: (x - mean) / std of each column"
    return [(replace(found[0][1], remedy=words), {at: text for *_, lines in found for at, text in lines.items()},
             _falls(losses) if losses else "")]


def _spread(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return rows.mean(0), rows.std(0) + 1e-8


def _falls(losses: Sequence[float]) -> str:
    return f"the loss goes from {number(losses[0])} to {number(losses[-1])} in {len(losses)} such steps"
