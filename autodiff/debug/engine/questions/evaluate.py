"""Values: of tensors and of NumPy expressions over them, kept as `$1`, `$2`, …"""
from __future__ import annotations

import re
from typing import Any

import numpy as np

from ....core.errors import ArgumentError, KindError
from ....core.graph import Tensor
from ....core.indexed_slices import IndexedSlicesValue
from ...analysis.why import why_none
from ...facts.answers import Value
from ...facts.roles import is_variable
from ...facts.stats import statistics
from ...history.replay import Moment
from ...language.expressions import evaluate, free_names, parse_expression
from ...language.handle_paths import paths_into, quoted_paths
from ...language.targets import tensors_of
from ..runs.stepper import Stepper
from ..state import State

_KEPT = 200  # values in the history


class ValueHistory:
    """The values `$1`, `$2`, …, oldest first; it outlives a change of the graph."""

    def __init__(self) -> None:
        self._values: dict[int, Value] = {}

    def listed(self) -> tuple[Value, ...]:
        """All that are kept."""
        return tuple(self._values.values())

    def array(self, number: int) -> Any:
        """The array of `$number`. Raises ArgumentError if there is none."""
        if number not in self._values:
            raise ArgumentError(f"there is no ${number}: the history holds {len(self._values)} values")
        return self._values[number].array

    def add(self, text: str, array: Any, when: str, names: tuple[str, ...], stats: Any) -> Value:
        """Keep a value as the next `$n`; the oldest go when there are too many."""
        number = max(self._values, default=0) + 1
        self._values[number] = found = Value(text, number, array, stats, when, names)
        while len(self._values) > _KEPT:
            del self._values[next(iter(self._values))]
        return found


class Values:
    """Evaluates; changes nothing that the script can see."""

    def __init__(self, state: State, stepper: Stepper, history: ValueHistory) -> None:
        self.state, self.model, self.stepper, self._history = state, state.model, stepper, history

    def value(self, target: str, *, step: int | None = None) -> Value:
        """Value of a tensor (`W`, `W[0:3,:]`, `$2`) in the last run, or at `step`; a variable's is its present one."""
        return self._evaluate(target, self.state.log.run_of(step), keep=True)

    def evaluate(self, expression: str, *, keep: bool = True) -> Value:
        """A NumPy expression over tensors, values of the script and `$n`; becomes the next `$n` if `keep`."""
        return self._evaluate(expression, None, keep=keep)

    def kept(self) -> tuple[Value, ...]:
        """The values `$1`, `$2`, …"""
        return self._history.listed()

    def _evaluate(self, text: str, run: int | None, *, keep: bool) -> Value:
        tensors: dict[str, Tensor] = {}
        typed = text
        if quoted := re.fullmatch(r"""\s*(["'])(.*`.*)\1\s*""", text):
            text = quoted[2]  # as tfdbg has it typed: names in backquotes, quotes around all
        if len(text) > 1 and text[0] == text[-1] == "/" or text.strip() in self._whole_targets(text):
            text = f"`{text.strip()}`"
        elif "`" not in text:
            text = quoted_paths(text, lambda path: bool(self.model.targets.exact(path)))
        parsed = parse_expression(text, lambda word: bool(self.model.targets.exact(word)) or "/" in word
                                  and bool(self.model.targets.suffixes(word)))
        values: dict[str, Any] = {}
        for placeholder, target in parsed.names.items():
            tensors[placeholder] = self.model.targets.one(target)
        for name in free_names(parsed):
            self._add_free(name, tensors, values)
        for placeholder, number in parsed.history.items():
            values[placeholder] = self._history.array(number)
        for placeholder, target in parsed.gradients.items():
            values[placeholder] = self._gradient(target, run)
        self.state.initialize_for(list(tensors.values()))
        at = self.state.moment_for([t for t in tensors.values() if not is_variable(t)], run)
        inside = [t for t in tensors.values() if self.model.targets.inner.has(t)]
        turns = self.state.replayer.turns(at, inside) if inside else {}
        values.update((name, turns[t].stacked()) for name, t in tensors.items() if t in turns)
        outside = {name: t for name, t in tensors.items() if t not in turns}
        values.update(zip(outside, self._present(list(outside.values()), at, run)))
        result = evaluate(parsed, {name: plain(value) for name, value in values.items()})
        if callable(result):
            raise ArgumentError(f"{text.strip('`')!r} is a function: expected a value",
                                hint=f"call it: {text.strip('`')}(…)")
        array = result if isinstance(result, (tuple, list)) else np.asarray(result)
        names = tuple(dict.fromkeys(t.name for t in tensors.values()))
        past = [t for t in tensors.values() if not is_variable(t)] or (run is not None and tensors)
        stats = statistics(np.asarray(array) if not isinstance(array, (tuple, list)) else _stacked(array))
        when = self.state.when(at) if past or parsed.gradients or self.state.view is not None else "now"
        when = ", ".join(dict.fromkeys((when, *(where for turn in turns.values() if (where := turn.where())))))
        text = typed[1:-1] if typed.count("`") == 2 and typed[0] == typed[-1] == "`" else typed
        return self.keep(text.strip(), array, when, names, stats=stats, is_listed=keep)

    def _gradient(self, target: str, run: int | None) -> Any:
        """The gradient of the loss by a target. Raises ArgumentError if there is none."""
        y, x = self.model.y_of(""), self.model.targets.one(target)
        tensor, _ = self.model.derivatives.gradient(y, x)
        if tensor is None:
            raise ArgumentError(f"there is no gradient of {y.name} at {x.name!r}: {why_none(y, x).text}",
                                hint=f"ask: why {target}")
        return self.state.values([tensor], self.state.moment_for([y, x], run))[0]

    def _whole_targets(self, text: str) -> tuple[str, ...]:
        """`text` itself if it is the unique suffix of a tensor's name rather than an expression."""
        bare = text.strip()
        is_word = re.fullmatch(r"[\w.\-/]+(:\d+)?", bare) and not re.fullmatch(r"[\d.]+", bare)
        return (bare,) if is_word and not self.model.targets.exact(bare) and self.model.targets.suffixes(bare) else ()

    def _add_free(self, name: str, tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
        """A plain name is a handle, a value of the script, or the end of a tensor's name."""
        value = self.model.handles.get(name)
        if isinstance(value, (bool, int, float, complex, str, np.ndarray, np.generic, list, tuple)):
            values[name] = value
        elif self.model.targets.suffixes(name):
            tensors[name] = self.model.targets.one(name)
        elif name not in self.model.handles:
            self.model.targets.one(name)  # raises, with the nearest names
        else:
            kind = f"{type(value).__module__}.{type(value).__qualname__}"
            parts = [path for path, item in paths_into(name, value) if tensors_of(item)][:4]
            raise KindError(f"{name!r} is a {kind} of the script, expected a tensor of the graph, a number or an array",
                            hint=f"its parts are: {', '.join(parts)}" if parts else f"! {name} shows it as Python does")

    def _present(self, tensors: list[Tensor], at: Moment, run: int | None) -> list[Any]:
        """Values for the eye: of the open run as far as it got; of variables the present ones; of others at `at`."""
        if self.stepper.execution is None or run is not None:
            if run is not None or self.state.view is not None:
                return self.state.values(tensors, at)
            now = self.model.session.variables
            rest = [t for t in tensors if not is_variable(t)]
            found = dict(zip(rest, self.state.values(rest, at) if rest else []))
            return [found[t] if t in found else self.state.variable_value(t, now) for t in tensors]
        values = []
        for tensor in tensors:
            if is_variable(tensor):
                values.append(self.state.variable_value(tensor, self.stepper.execution.run.variables))
            elif self.stepper.execution.has_value(tensor):
                values.append(self.stepper.execution.value(tensor))
            elif tensor in self.stepper.execution.plan.slots:
                raise ArgumentError(f"{tensor.name!r} has no value yet in the run that is open: {tensor.op.name!r} "
                                    "comes later", hint=f"type: goto {tensor.op.name}")
            else:
                assert self.stepper.opened is not None
                values.extend(self.state.values([tensor], self.stepper.opened.moment))
        return values

    def as_value(self, value: Any) -> Any:
        """An array or number as it is; of a text the value of the expression."""
        return np.asarray(self.evaluate(value, keep=False).array) if isinstance(value, str) else value

    def keep(self, text: str, array: Any, when: str, names: tuple[str, ...] = (), *, stats: Any = None,
             is_listed: bool = True) -> Value:
        """A value that was found, as the next `$n` unless it is not to be listed. names: of the tensors in it."""
        stats = statistics(array) if stats is None else stats
        if not is_listed:
            return Value(text, 0, array, stats, when, names)
        return self._history.add(text, array, when, names, stats)


def plain(value: Any) -> Any:
    """Rows as the dense array they stand for, without those outside of it, with which a run failed."""
    if isinstance(value, IndexedSlicesValue):
        if value.dense_shape is None:
            return np.asarray(value.values)
        indices, rows = np.asarray(value.indices), np.asarray(value.values)
        found = np.zeros(tuple(np.asarray(value.dense_shape)), rows.dtype)
        is_inside = (indices >= 0) & (indices < len(found))
        np.add.at(found, indices[is_inside], rows[is_inside])
        return found
    return value


def _stacked(items: Any) -> np.ndarray:
    try:
        return np.asarray(items)
    except ValueError:
        return np.asarray([str(item) for item in items], dtype=object)
