"""Looking: values, expressions, gradients, curvature, and why they are as they are."""
from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..errors import ArgumentError, AutodiffError, KindError
from ..graph import Operation, Tensor
from ..indexed_slices import IndexedSlices, IndexedSlicesValue
from .analysis.findings import Path, WhyNone, WhyNonfinite, WhySmall
from .analysis.flow import path
from .analysis.nonfinite import reaches, why_nonfinite
from .analysis.why import why_none, why_small
from .answers import Gradient, GradRow, GradTable, Hessian, HessianCost, Value
from .curvature import Curvature
from .expressions import evaluate, free_names, parse_expression
from .lists import trainable_tensors
from .machine import ancestors
from .places import is_variable, place_of
from .records import Sample
from .replay import Moment
from .running import Running
from .stats import has_nonfinite, statistics
from .targets import is_forward

_SORTS = ("name", "norm", "max", "zero", "nan", "inf", "update")
_KEPT = 200  # values in the history


class Looking(Running):
    """Answers questions about values and derivatives; changes nothing that the script can see."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._history: dict[int, Value] = {}
        self._reached: dict[str, Any] = {}
        super().__init__(*args, **options)

    # ---- values -------------------------------------------------------------------------
    def value(self, target: str, *, step: int | None = None) -> Value:
        """Value of a tensor (`W`, `W[0:3,:]`, `$2`) in the last run, or at `step`; a variable's is its present one."""
        return self._evaluate(target, step, keep=True)

    def evaluate(self, expression: str, *, keep: bool = True) -> Value:
        """A NumPy expression over tensors, values of the script and `$n`; becomes the next `$n` if `keep`."""
        return self._evaluate(expression, None, keep=keep)

    def history(self) -> tuple[Value, ...]:
        """The values `$1`, `$2`, …"""
        return tuple(self._history.values())

    def _evaluate(self, text: str, step: int | None, *, keep: bool) -> Value:
        tensors: dict[str, Tensor] = {}
        if len(text) > 1 and text[0] == text[-1] == "/" or text.strip() in self._whole_targets(text):
            text = f"`{text.strip()}`"
        parsed = parse_expression(text, self._is_name)
        values: dict[str, Any] = {}
        for placeholder, target in parsed.names.items():
            tensors[placeholder] = self.targets.one(target)
        for name in free_names(parsed):
            self._add_free(name, tensors, values)
        for placeholder, number in parsed.history.items():
            values[placeholder] = self._past(number)
        at = self._moment(step)
        values.update(zip(tensors, self._present(list(tensors.values()), at, step)))
        result = evaluate(parsed, {name: _plain(value) for name, value in values.items()})
        array = result if isinstance(result, (tuple, list)) else np.asarray(result)
        names = tuple(dict.fromkeys(t.name for t in tensors.values()))
        past = [t for t in tensors.values() if not is_variable(t)] or (step is not None and tensors)
        stats = statistics(np.asarray(array) if not isinstance(array, (tuple, list)) else _stacked(array))
        return self._keep(text.strip("`"), array, self._when(at) if past else "now", names, stats, keep=keep)

    def _whole_targets(self, text: str) -> tuple[str, ...]:
        """`text` itself if it is the unique suffix of a tensor's name rather than an expression."""
        bare = text.strip()
        if re.fullmatch(r"[\w.\-/]+(:\d+)?", bare) and not re.fullmatch(r"[\d.]+", bare) and not self.targets.exact(bare):
            return (bare,) if self.targets.suffixes(bare) else ()
        return ()

    def _is_name(self, word: str) -> bool:
        return bool(self.targets.exact(word)) or "/" in word and bool(self.targets.suffixes(word))

    def _add_free(self, name: str, tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
        """A plain name is a handle, a value of the script, or the end of a tensor's name."""
        value = self.handles.get(name)
        if isinstance(value, (bool, int, float, complex, str, np.ndarray, np.generic, list, tuple)):
            values[name] = value
        elif self.targets.suffixes(name):
            tensors[name] = self.targets.one(name)
        elif name not in self.handles:
            self.targets.one(name)  # raises, with the nearest names
        else:
            raise KindError(f"{name!r} is a {type(value).__name__} of the script, expected a tensor, number or array")

    def _past(self, number: int) -> Any:
        if number not in self._history:
            raise ArgumentError(f"there is no ${number}: the history holds {len(self._history)} values")
        return self._history[number].array

    def _present(self, tensors: list[Tensor], at: Moment, step: int | None) -> list[Any]:
        """Values for the eye: of the open run as far as it got, of variables the present ones, of others at a moment."""
        if self._execution is None or step is not None:
            if step is not None:
                return self._values(tensors, at)
            now = self.session.variables
            rest = [t for t in tensors if not is_variable(t)]
            found = dict(zip(rest, self._values(rest, at) if rest else []))
            return [found[t] if t in found else self._variable_value(t, now) for t in tensors]
        values = []
        for tensor in tensors:
            if is_variable(tensor):
                values.append(self._variable_value(tensor, self.session.variables))
            elif self._execution.has_value(tensor):
                values.append(self._execution.value(tensor))
            elif tensor in self._execution.plan.slots:
                raise ArgumentError(f"{tensor.name!r} has no value yet in the run that is open: {tensor.op.name!r} comes "
                                    f"later\ntype: goto {tensor.op.name}")
            else:
                values.extend(self._values([tensor], self._opened.moment))
        return values

    def _keep(self, text: str, array: Any, when: str, names: tuple[str, ...], stats: Any, *, keep: bool) -> Value:
        number = max(self._history, default=0) + 1 if keep else 0
        found = Value(text, number, array, stats, when, names)
        if keep:
            self._history[number] = found
            while len(self._history) > _KEPT:
                del self._history[next(iter(self._history))]
        return found

    def _as_value(self, value: Any) -> Any:
        return np.asarray(self.evaluate(value, keep=False).array) if isinstance(value, str) else value

    # ---- gradients ----------------------------------------------------------------------
    def grad(self, x: str, y: str = "", *, order: int = 1, per_example: bool = False, step: int | None = None) -> Gradient:
        """d y / d x, x any tensor; built on demand, the script's graph looks as before.

        order: 2 gives d (sum of the gradient) / d x, and so on. per_example: one row for each element of y.
        """
        top, bottom = self._y_of(y), self.targets.one(x)
        if order < 1:
            raise ArgumentError(f"expected an order of at least 1, found {order}")
        at = self._moment(step)
        shape = None if top.dims is None or None in top.dims else tuple(top.dims)
        if per_example:
            return self._per_example(top, bottom, at)
        tensor, call = self.derivatives.gradient(top, bottom)
        for _ in range(order - 1):
            if tensor is not None:
                tensor, call = self.derivatives.gradient(self._dense(tensor), bottom)
        source = "the script's gradient call" if order == 1 and call is self.derivatives.script_call(top) else (
            "built on demand")
        summed = shape != ()
        if tensor is None:
            reason = why_none(top, bottom).text if order == 1 else "the gradient does not depend on it: it is constant"
            return Gradient(top.name, bottom.name, shape, summed, order, None, None, 0, self._when(at), source, reason)
        value = _plain(self._values([tensor], at)[0])
        kept = self._keep(f"grad {top.name} {bottom.name}", value, self._when(at), (bottom.name,), statistics(value), keep=True)
        return Gradient(top.name, bottom.name, shape, summed, order, value, kept.stats, kept.number, kept.when, source)

    def _dense(self, gradient: Any) -> Tensor:
        if isinstance(gradient, IndexedSlices):
            with self.derivatives.hidden.building():
                return gradient.as_tensor()
        return gradient

    def _per_example(self, y: Tensor, x: Tensor, at: Moment) -> Gradient:
        if y.dims == ():
            raise ArgumentError(f"{y.name} is one number: its examples are summed up already\nname the loss of each example: "
                                "the vector that the mean or sum is taken of")
        tensor = self.derivatives.per_example(y, x)
        shape = None if y.dims is None or None in y.dims else tuple(y.dims)
        if tensor is None:
            return Gradient(y.name, x.name, shape, False, 1, None, None, 0, self._when(at), "built on demand",
                            why_none(y, x).text)
        value = np.asarray(self._values([tensor], at)[0])
        kept = self._keep(f"grad {y.name} {x.name}", value, self._when(at), (x.name,), statistics(value), keep=True)
        return Gradient(y.name, x.name, shape, False, 1, value, kept.stats, kept.number, kept.when, "built on demand")

    def grads(self, target: str = "", *, y: str = "", by: str = "", sort: str = "") -> GradTable:
        """Gradients of the trainable variables (or of the tensors of `target`) in the last run.

        by="scope" adds up name scopes. sort: name, norm, max, zero, nan, inf or update, largest first.
        """
        if by not in ("", "scope") or sort and sort not in _SORTS:
            raise ArgumentError(f"expected by 'scope' and sort one of {', '.join(_SORTS)}, found {by or sort!r}")
        top = self._y_of(y)
        tensors = [t for t in self.targets.all(target) if is_forward(t) and t.dtype.base_dtype.is_differentiable or
                   is_variable(t)] if target else trainable_tensors(self.graph)
        self.derivatives.prepare(top, tensors)
        found, missing, refused = {}, [], {}
        for tensor in tensors:
            try:
                gradient = self.derivatives.gradient(top, tensor)[0]
            except AutodiffError as error:
                gradient, refused[tensor] = None, error.message.partition("\n")[0]
            if gradient is None:
                missing.append(self._row_without(tensor, refused.get(tensor) or why_none(top, tensor).text))
            else:
                found[tensor] = gradient
        at = self._moment()
        values = self._values(list(found.values()), at) if found else []
        rows = [self._grad_row(top, t, g, v, at) for (t, g), v in zip(found.items(), values)]
        norms = [row.stats.norm for row in rows if row.stats is not None and row.stats.norm is not None]
        total = float(np.linalg.norm(norms)) if norms else None
        if any(row.stats and row.stats.nonfinite for row in rows):
            total = float("nan")
        call = self.derivatives.script_call(top)
        source = "train op" if self._train_op is not None and top is self._y else (
            "tf.gradients in the script" if call is not None else "built on demand")
        if by:
            rows = _by_scope(rows)
        return GradTable(top.name, at.step, tuple(_sorted(rows, sort)), tuple(missing), total, source)

    def _grad_row(self, y: Tensor, tensor: Tensor, gradient: Any, value: Any, at: Moment) -> GradRow:
        stats = statistics(value)
        norms = [sample.stats.norm if sample.stats else None for record in list(self.records)[-60:]
                 if (sample := record.sample(tensor.name, gradient=True)) is not None and sample.of == y.name]
        dims = tensor.dims if tensor.dtype.name != "resource" else tuple(np.shape(_plain(value)))
        return GradRow(tensor.name, self.targets.short(tensor, "g"), self.targets.handle_of(tensor), dims, stats,
                       self._update_ratio(tensor.name, at.step), tuple(norms), "", gradient.name, place_of(tensor.op))

    def _row_without(self, tensor: Tensor, reason: str) -> GradRow:
        return GradRow(tensor.name, self.targets.short(tensor), self.targets.handle_of(tensor), tensor.dims, None, None, (),
                       reason, "", place_of(tensor.op))

    # ---- curvature ----------------------------------------------------------------------
    def hessian_cost(self, x: str, y: str = "", *, rows: slice | None = None, kind: str = "full") -> HessianCost:
        """What `hessian` would take; measured by one product with a vector."""
        return self._curvature(self._y_of(y), self.targets.one(x), self._moment()).cost(kind, rows)

    def hessian(self, x: str, y: str = "", *, rows: slice | None = None, kind: str = "full", v: str = "",
                budget: int = 256 << 20) -> Hessian:
        """Second derivatives of y by x, x flattened, in the last run.

        kind: "full", "rows" (of `rows`), "diag", or "hvp": the product with v, an expression of x's shape. budget: bytes
        of the result. Raises ResourceExhaustedError, with what to do instead, when it takes more.
        """
        if kind not in ("full", "rows", "diag", "hvp"):
            raise ArgumentError(f"expected full, rows, diag or hvp, found {kind!r}")
        top, bottom, at = self._y_of(y), self.targets.one(x), self._moment()
        curvature = self._curvature(top, bottom, at)
        cost = curvature.cost(kind, rows)
        curvature.check_budget(cost, kind, budget)
        asymmetry = None
        if kind == "hvp":
            array = curvature.times(self._as_value(v)).reshape(curvature.shape)
        elif kind == "diag":
            array = curvature.diagonal(rows)
        else:
            array = curvature.matrix(rows)
            if array.shape[0] == array.shape[1] and rows is None:
                asymmetry = float(np.max(np.abs(array - array.T))) if array.size else 0.0
        kept = self._keep(f"hessian {top.name} {bottom.name}", array, self._when(at), (bottom.name,), statistics(array),
                          keep=True)
        return Hessian(top.name, bottom.name, kind, array, kept.stats, cost, kept.number, kept.when, asymmetry)

    def _curvature(self, y: Tensor, x: Tensor, at: Moment) -> Curvature:
        product = self.derivatives.product(y, x)
        if product is None:
            raise ArgumentError(f"there is no Hessian: {why_none(y, x).text}\nask: why {x.name}")
        value = np.asarray(self._values([x], at)[0] if x.dtype.name != "resource" else at.variables[x.op.name])
        return Curvature(product, value.shape, value.dtype, lambda tensors, feeds: self._values(tensors, at, feeds))

    # ---- why ----------------------------------------------------------------------------
    def why(self, target: str = "", y: str = "", *, kind: str = "") -> Any:
        """Why the gradient at a tensor is None, non-finite, zero or tiny; or its value, if that is not finite.

        Without a target, of the whole run: kind "nan" (or "") gives a WhyNonfinite, "none" a tuple of WhyNone and "zero"
        one of WhySmall, for the trainable variables concerned.
        """
        if not target:
            return self._why_all(y, kind or "nan")
        x = self.targets.one(target)
        at = self._moment()
        try:
            top: Tensor | None = self._y_of(y)
        except ArgumentError:
            top = None
        if top is None or x is top or x.op.gradient_of is not None:
            return self._why_value(x, at)
        gradient, _ = self.derivatives.gradient(top, x)
        if gradient is None or kind == "none":
            return why_none(top, x, self.derivatives.script_call(top)) if not self._value_is_bad(x, at) or kind == "none" else (
                self._why_value(x, at))
        source = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        if has_nonfinite(self._values([source], at)[0]):
            return self._why_value(source, at)
        if self._value_is_bad(x, at):
            return self._why_value(x, at)
        return self._why_small(top, x, at)

    def _value_is_bad(self, tensor: Tensor, at: Moment) -> bool:
        found = self._stats_of(tensor, at)
        return found is not None and found.nonfinite > 0

    def _why_all(self, y: str, kind: str) -> Any:
        if kind in ("nan", "inf", "nonfinite"):
            at = self._moment()
            return self._why_nonfinite(self._roots(y), None, at)
        top = self._y_of(y)
        tensors = trainable_tensors(self.graph)
        self.derivatives.prepare(top, tensors)
        found = {t: self.derivatives.gradient(top, t)[0] for t in tensors}
        if kind == "none":
            return tuple(why_none(top, t, self.derivatives.script_call(top)) for t, g in found.items() if g is None)
        if kind != "zero":
            raise ArgumentError(f"expected nan, none or zero, found {kind!r}")
        at = self._moment()
        small = (self._why_small(top, t, at) for t, g in found.items() if g is not None)
        return tuple(finding for finding in small if finding.kind != "fine")

    def _why_value(self, tensor: Tensor, at: Moment) -> WhyNonfinite:
        return self._why_nonfinite([tensor], tensor, at)

    def _why_nonfinite(self, roots: list[Tensor], target: Tensor | None, at: Moment) -> WhyNonfinite:
        ops, values = self._everything(roots, at)
        return why_nonfinite(ops, values, set(roots), target=target, step=at.step, variable_note=self._since)

    def _everything(self, roots: list[Tensor], at: Moment) -> tuple[list[Operation], dict[Tensor, Any]]:
        """All that `roots` are computed from, in order, with its values."""
        ops = sorted(ancestors(roots), key=lambda op: op.index)
        return ops, self._values_known(ops, at)

    def _roots(self, y: str = "") -> list[Tensor]:
        """What must be finite: y, and the gradients of the trainable variables; without a y what was fetched last."""
        try:
            top = self._y_of(y)
        except ArgumentError:
            if self._last is None:
                raise
            return list(self._last.tensors)
        tensors = trainable_tensors(self.graph)
        self.derivatives.prepare(top, tensors)
        roots = [top]
        for tensor in tensors:
            try:
                gradient = self.derivatives.gradient(top, tensor)[0]
            except AutodiffError:
                continue
            if gradient is not None:
                roots.append(gradient.values if isinstance(gradient, IndexedSlices) else gradient)
        return roots

    def _since(self, variable: str) -> str:
        """Since which step a variable is not finite, as far as that is remembered."""
        first = next((m for m in self.moments if variable in m.variables and has_nonfinite(m.variables[variable])), None)
        if first is None or first is self.moments[0] and len(self.moments) > 1:
            return ""
        return f", since the update of step {first.step - 1}" if first.step > 1 else ""

    def _is_harmful(self, sample: Sample) -> bool:
        at = self._moment()
        roots = self._roots()
        tensor = self.targets.one(sample.name)
        if sample.is_gradient:
            gradient = self.derivatives.gradient(self.targets.one(sample.of), tensor)[0]
            tensor = gradient.values if isinstance(gradient, IndexedSlices) else gradient or tensor
        key = (at.step, tuple(roots))
        if self._reached.get("key") != key:
            ops, values = self._everything(roots, at)
            self._reached = {"key": key, "ops": reaches(ops, values, roots)}
        return tensor in roots or tensor.op in self._reached["ops"]

    def _why_small(self, y: Tensor, x: Tensor, at: Moment) -> WhySmall:
        gradients, values = self._along(y, x, at)
        return why_small(y, x, gradients, values)

    def _along(self, y: Tensor, x: Tensor, at: Moment) -> tuple[dict[Tensor, Any], dict[Tensor, Any]]:
        """Gradients of y at all tensors between y and x, and the values of those tensors and of their siblings."""
        found = self.derivatives.all_from(y, x)
        gradients = self._replayer.values_if_possible(at, list(dict.fromkeys(
            g.values if isinstance(g, IndexedSlices) else g for g in found.values())))
        at_tensors = {t: gradients[k] for t, g in found.items()
                      if (k := g.values if isinstance(g, IndexedSlices) else g) in gradients}
        ops = dict.fromkeys(op for t in found for op in (t.op, *(i.op for i in t.op.inputs)))
        return at_tensors, self._values_known(ops, at)

    def path(self, y: str, x: str) -> Path:
        """How the gradient flows from y ("": the default) to x, with its norm at each op, in the last run."""
        top, bottom = self._y_of(y), self.targets.one(x)
        gradient, _ = self.derivatives.gradient(top, bottom)
        if gradient is None:
            return path(top, bottom, {})
        return path(top, bottom, self._along(top, bottom, self._moment())[0])

    def why_missing(self, x: str, y: str = "") -> WhyNone:
        """Why d y / d x is None; from the graph alone, so before any run."""
        return why_none(self._y_of(y), self.targets.one(x))


def _plain(value: Any) -> Any:
    """Rows as the dense array they stand for."""
    if isinstance(value, IndexedSlicesValue):
        if value.dense_shape is None:
            return np.asarray(value.values)
        found = np.zeros(tuple(np.asarray(value.dense_shape)), np.asarray(value.values).dtype)
        np.add.at(found, np.asarray(value.indices), np.asarray(value.values))
        return found
    return value


def _stacked(items: Any) -> np.ndarray:
    try:
        return np.asarray(items)
    except ValueError:
        return np.asarray([str(item) for item in items], dtype=object)


def _sorted(rows: list[GradRow], field: str) -> list[GradRow]:
    if not field:
        return rows
    if field == "name":
        return sorted(rows, key=lambda row: row.name)

    def size(row: GradRow) -> float:
        stats = row.stats
        assert stats is not None
        value = {"norm": stats.norm, "max": stats.max_abs, "zero": stats.zero_share, "nan": stats.nans, "inf": stats.infs,
                 "update": row.update}[field]
        return -float("inf") if value is None else float(value)

    return sorted(rows, key=size, reverse=True)


def _by_scope(rows: list[GradRow]) -> list[GradRow]:
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

