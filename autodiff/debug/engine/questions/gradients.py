"""Gradients: of any tensor by any, of several by several, and in a table that is sorted and added up by scope."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....core.convert import to_tensor
from ....core.errors import ArgumentError, AutodiffError
from ....core.graph import Tensor
from ....core.names import did_you_mean
from ....core.op import build
from ....gradients.aggregate import AggregationMethod
from ....gradients.backprop import gradients
from ...analysis.why import why_none
from ...facts.derivative_answers import Examples, Gradient, GradientPart, GradientsOf, GradRow, GradTable
from ...facts.graph_lists import trainable_tensors
from ...facts.roles import is_variable, place_of
from ...facts.stats import statistics
from ...history.replay import Moment
from ...language.targets import is_forward
from ..runs.samples import InnerSamples
from ..state import State
from ..training import Training
from ..updates import update_ratio
from .evaluate import Values, plain

_SPARK = 20  # runs in the history of a norm
SORTS = ("name", "norm", "max", "zero", "nan", "inf", "update")


class Gradients:
    """Gives first derivatives of anything by anything, in the last run."""

    def __init__(self, state: State, inner: InnerSamples, training: Training, values: Values) -> None:
        self.state, self.model, self.inner, self.training, self.values = state, state.model, inner, training, values
        self._spark: dict[tuple[int, Any], float | None] = {}

    def grad(self, x: str, y: str = "", *, order: int = 1, per_example: bool = False,
             step: int | None = None) -> Gradient:
        """d y / d x, x any tensor; built on demand, the script's graph looks as before.

        order: 2 gives d (sum of the gradient) / d x, and so on. per_example: one row for each element of y.
        """
        top, bottom = self.model.y_of(y), self.model.targets.one(x)
        if order < 1:
            raise ArgumentError(expected="an order of at least 1", found=order)
        at = self.state.moment_for([top, bottom], self.state.log.run_of(step))
        shape = None if top.dims is None or None in top.dims else tuple(top.dims)
        if self.model.targets.inner.has(bottom):
            return self._gradient_inside(top, bottom, at, order, per_example)
        if per_example:
            return self._per_example(top, bottom, at)
        tensor, call = self.model.derivatives.gradient(top, bottom)
        for _ in range(order - 1):
            if tensor is not None:
                tensor, call = self.model.derivatives.gradient(self.model.derivatives.dense(tensor), bottom)
        is_made = order == 1 and call is self.model.derivatives.script_call(top)
        source = self.model.derivatives.maker(top) if is_made else "built on demand"
        summed = shape != ()
        if tensor is None:
            reason = why_none(top, bottom).text if order == 1 else "the gradient does not depend on it: it is constant"
            return Gradient(top.name, bottom.name, shape, summed, order, None, None, 0, self.state.when(at), source,
                            reason)
        value = plain(self.state.values([tensor], at)[0])
        kept = self.values.keep(f"grad {top.name} {bottom.name}", value, self.state.when(at), (bottom.name,))
        return Gradient(top.name, bottom.name, shape, summed, order, value, kept.stats, kept.number, kept.when, source)

    def _gradient_inside(self, y: Tensor, x: Tensor, at: Moment, order: int, per_example: bool) -> Gradient:
        if order > 1 or per_example:
            raise ArgumentError(f"{x.name!r} is inside of a branch or loop: only its first gradient can be asked for")
        turns = self.inner.gradient_turns(y, x, at)
        value, when = turns.stacked(), ", ".join(filter(None, (self.state.when(at), turns.where())))
        shape = None if y.dims is None or None in y.dims else tuple(y.dims)
        kept = self.values.keep(f"grad {y.name} {x.name}", value, when, (x.name,))
        return Gradient(y.name, x.name, shape, shape != (), 1, value, kept.stats, kept.number, when,
                        "followed through the calls")

    def _per_example(self, y: Tensor, x: Tensor, at: Moment) -> Gradient:
        y = self._examples_of(y)
        tensor = self.model.derivatives.per_example(y, x)
        shape = None if y.dims is None or None in y.dims else tuple(y.dims)
        if tensor is None:
            return Gradient(y.name, x.name, shape, False, 1, None, None, 0, self.state.when(at), "built on demand",
                            why_none(y, x).text)
        value = np.asarray(self.state.values([tensor], at)[0])
        kept = self.values.keep(f"grad {y.name} {x.name}", value, self.state.when(at), (x.name,))
        return Gradient(y.name, x.name, shape, False, 1, value, kept.stats, kept.number, kept.when, "built on demand")

    def _examples_of(self, y: Tensor) -> Tensor:
        """The tensor with one element for each example: y, or what y is the mean or sum of."""
        found = y
        while found.dims == () and found.op.type in ("Identity", "Mean", "Sum") and found.op.inputs[0].dims != ():
            found = found.op.inputs[0]
        while found.dims == () and found.op.type == "Identity":
            return self._examples_of(found.op.inputs[0])
        if found.dims == ():
            raise ArgumentError(f"{y.name} is one number: its examples are summed up already",
                                hint="name the loss of each example: the vector that the mean or sum is taken of")
        return found

    def examples(self, x: str, y: str = "", *, top: int = 10) -> Examples:
        """The gradients of single examples at x, those of largest norm first; nan and inf before all."""
        found = self.grad(x, y, per_example=True)
        if found.array is None:
            raise ArgumentError(f"there is no gradient: {found.reason}", hint=f"ask: why {found.x}")
        figures = [statistics(row) for row in found.array]
        order = sorted(range(len(figures)), key=lambda i: (-figures[i].nonfinite, -(figures[i].norm or 0.0)))
        return Examples(found.y, found.x, tuple((i, figures[i]) for i in order[:top]), len(figures), found.when)

    def grads(self, target: str = "", *, y: str = "", by: str = "", sort: str = "", past: bool = True) -> GradTable:
        """Gradients of the trainable variables (or of the tensors of `target`) in the last run.

        by="scope" adds up name scopes. sort: name, norm, max, zero, nan, inf or update, largest first.
        past: with norms of the runs before, and why there is no gradient where there is none.
        """
        if by not in ("", "scope") or sort and sort not in SORTS:
            raise ArgumentError(expected=f"by 'scope' and sort one of {', '.join(SORTS)}", found=repr(by or sort))
        top = self.model.y_of(y)
        tensors = [t for t in self.model.targets.all(target) if is_forward(t)
                   and t.dtype.base_dtype.is_differentiable or
                   is_variable(t)] if target else trainable_tensors(self.model.graph)
        inside = [t for t in tensors if self.model.targets.inner.has(t)]
        outside = [t for t in tensors if t not in inside]
        self.model.derivatives.prepare(top, outside)
        found, missing, refused = {}, [], {}
        for tensor in outside:
            try:
                gradient = self.model.derivatives.gradient(top, tensor)[0]
            except AutodiffError as error:
                gradient, refused[tensor] = None, error.message.partition("\n")[0]
            if gradient is None:
                reason = refused.get(tensor) or (why_none(top, tensor).text if past else "")
                missing.append(self._row_without(tensor, reason))
            else:
                found[tensor] = gradient
        at = self.state.moment_for([top]) if y or target else self.state.moment_of_training(top)
        values = self.state.values(list(found.values()), at) if found else []
        norms_before = self._norms_of(list(found.values()), at.run) if found and past else {}
        names = self.model.targets.handles_by_tensor()
        rows = [self._grad_row(t, g, v, at, tuple(norms_before.get(g, ())), names)
                for (t, g), v in zip(found.items(), values)]
        for tensor in inside:
            try:
                turns = self.inner.gradient_turns(top, tensor, at)
                rows.append(self._grad_row(tensor, None, turns.stacked(), at, (), names))
            except AutodiffError as error:
                missing.append(self._row_without(tensor, error.message.partition("\n")[0]))
        norms = [row.stats.norm for row in rows if row.stats is not None and row.stats.norm is not None]
        total = float(np.linalg.norm(norms)) if norms else None
        if any(row.stats and row.stats.nonfinite for row in rows):
            total = float("nan")
        is_trained = self.training.train_op is not None and top is self.model.chosen_y
        source = "train op" if is_trained else self.model.derivatives.maker(top)
        if by:
            rows = by_scope(rows)
        return GradTable(top.name, self.state.log.at(at.run), tuple(in_order(rows, sort)), tuple(missing), total,
                         source)

    def _grad_row(self, tensor: Tensor, gradient: Any, value: Any, at: Moment,
                  norms: tuple[float | None, ...], names: Mapping[Tensor, str]) -> GradRow:
        stats = statistics(value)
        dims = tensor.dims if tensor.dtype.name != "resource" else tuple(np.shape(plain(value)))
        return GradRow(tensor.name, self.model.targets.short(tensor, "g"), names.get(tensor, ""),
                       dims, stats, update_ratio(self.state, tensor.name, self.state.log.last_step(at.run)), norms, "",
                       "" if gradient is None else gradient.name, place_of(tensor.op))

    def _norms_of(self, gradients: list[Any], run: int) -> dict[Any, list[float | None]]:
        """Norms of gradients in the steps up to a run, oldest first; replayed, so that runs need not look at them."""
        log = self.state.log
        recent = [m for m in self.state.moments if m.run <= run and log.at(m.run).is_step][-_SPARK:]
        self._spark = {key: norm for key, norm in self._spark.items() if recent and key[0] >= recent[0].run}
        for moment in recent:
            missing = [g for g in gradients if (moment.run, g) not in self._spark]
            values = self.state.replayer.values_if_possible(moment, missing) if missing else {}
            self._spark.update({(moment.run, g): statistics(values[g]).norm for g in missing if g in values})
        return {g: [self._spark[m.run, g] for m in recent if (m.run, g) in self._spark] for g in gradients}

    def _row_without(self, tensor: Tensor, reason: str) -> GradRow:
        return GradRow(tensor.name, self.model.targets.short(tensor), self.model.targets.handle_of(tensor),
                       tensor.dims, None, None, (), reason, "", place_of(tensor.op))


def in_order(rows: list[GradRow], field: str) -> list[GradRow]:
    """Rows by name, or by one of SORTS, largest first; without a field as they are."""
    if not field:
        return rows
    if field == "name":
        return sorted(rows, key=lambda row: row.name)

    def size(row: GradRow) -> float:
        stats = row.stats
        assert stats is not None
        value = {"norm": stats.norm, "max": stats.max_abs, "zero": stats.zero_share, "nan": stats.nans,
                 "inf": stats.infs,
                 "update": row.update}[field]
        return -float("inf") if value is None else float(value)

    return sorted(rows, key=size, reverse=True)


def by_scope(rows: list[GradRow]) -> list[GradRow]:
    """One row for each name scope: norms combined, counts added."""
    groups: dict[str, list[GradRow]] = {}
    for row in rows:
        groups.setdefault(row.name.rpartition("/")[0] or "(top)", []).append(row)
    return [_combined(scope, members) for scope, members in groups.items()]


def _combined(scope: str, rows: list[GradRow]) -> GradRow:
    stats = [row.stats for row in rows if row.stats is not None]
    first = stats[0]
    lows = [s.minimum for s in stats if s.minimum is not None]
    highs = [s.maximum for s in stats if s.maximum is not None]
    count = sum(s.count for s in stats)
    together = type(first)(
        first.dtype, (count,), count, sum(s.nans for s in stats), sum(s.positive_infs for s in stats),
        sum(s.negative_infs for s in stats), sum(s.zeros for s in stats), min(lows) if lows else None,
        max(highs) if highs else None, sum((s.mean or 0.0) * s.count for s in stats) / count if count else None,
        float(np.linalg.norm([s.norm or 0.0 for s in stats])))
    updates = [row.update for row in rows if row.update is not None]
    return GradRow(scope, "", "", None, together, max(updates) if updates else None, (), count=len(rows))


AGGREGATIONS = {name.lower(): method for name, method in vars(AggregationMethod).items() if name.isupper()}


class GradientsWith:
    """Differentiates a sum of ys, each with its weight, some tensors held constant."""

    def __init__(self, state: State, values: Values) -> None:
        self.state, self.model, self.values = state, state.model, values

    def of(self, xs: Sequence[str], ys: Sequence[str] = (), *, weights: Sequence[str] = (), stops: Sequence[str] = (),
           unconnected: str = "none", aggregation: str = "") -> GradientsOf:
        """The gradients of sum(ys) by each x, in the last run.

        weights: for each y an expression of its shape, in place of ones (grad_ys). stops: tensors to hold constant.
        unconnected: "none", or "zero" for zeros where no y depends on x. aggregation: add_n, experimental_tree or
        experimental_accumulate_n. Raises ArgumentError (ValueError) for weights that do not fit, and unknown options.
        """
        tops = [self.model.targets.outside(y) for y in ys] or [self.model.y_of("")]
        bottoms = [self.model.targets.outside(name) for x in xs for name in self.model.resolve(x)]
        held = [self.model.targets.outside(name) for stop in stops for name in self.model.resolve(stop)]
        values = self._weights(tops, weights)
        with self.model.derivatives.hidden.building():
            given = [_filled(y, value) for y, value in zip(tops, values)] or None
            found = gradients(tops, bottoms, grad_ys=given, stop_gradients=held or None,
                              unconnected_gradients=unconnected, aggregation_method=_method(aggregation))
        at = self.state.moment_for([*tops, *bottoms])
        when = self.state.when(at)
        arrays = iter(self.state.values([g for g in found if g is not None], at))
        parts = tuple(self._part(tops, x, None if g is None else plain(next(arrays)), held, when)
                      for x, g in zip(bottoms, found))
        return GradientsOf(tuple(t.name for t in tops), tuple(weights), tuple(t.name for t in held),
                           tuple(x.name for x in bottoms if x in held), parts, when)

    def _weights(self, ys: list[Tensor], texts: Sequence[str]) -> list[np.ndarray]:
        """What each y receives; none for ones."""
        if texts and len(texts) != len(ys):
            raise ArgumentError(f"expected one weight for each y: {len(ys)} ys and {len(texts)} weights",
                                hint="--weights takes expressions with commas between them, in the order of the ys")
        return [np.asarray(self.values.as_value(text)).astype(y.dtype.base_dtype.as_numpy_dtype)
                for y, text in zip(ys, texts)]

    def _part(self, ys: list[Tensor], x: Tensor, value: Any, held: list[Tensor], when: str) -> GradientPart:
        if value is None:
            return GradientPart(x.name, None, None, 0, _reason(ys, x, held))
        kept = self.values.keep(f"grad {','.join(y.name for y in ys)} {x.name}", value, when, (x.name,))
        return GradientPart(x.name, value, statistics(value), kept.number)


def _filled(y: Tensor, weight: np.ndarray) -> Any:
    """A weight of y's shape: one number does for all of y's elements."""
    if weight.ndim or y.dims == ():
        return weight
    return build.Fill(build.Shape(y), to_tensor(y.graph, weight, y.dtype.base_dtype, "weight"))


def _reason(ys: list[Tensor], x: Tensor, held: list[Tensor]) -> str:
    """Why no y gets a gradient at x."""
    found = [why_none(y, x) for y in ys]
    flows = held and any(why.kind == "flows" for why in found)
    if flows:
        return f"every way to it goes through what is held constant: {', '.join(t.name for t in held)}"
    return found[0].text


def _method(name: str) -> int | None:
    if not name:
        return None
    if name.lower() not in AGGREGATIONS:
        raise ArgumentError(f"expected one of AggregationMethod's {', '.join(AGGREGATIONS)}, found {name!r}",
                            hint=did_you_mean(name.lower(), AGGREGATIONS))
    return AGGREGATIONS[name.lower()]
