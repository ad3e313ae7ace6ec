"""Debugger: the machine behind every door; holds graph, session, watches and records, and answers questions."""
from __future__ import annotations

import linecache
import os
import re
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.errors import ArgumentError, AutodiffError
from ..core.graph import Operation, Tensor
from ..core.traversal import dependencies
from ..gradients.blocked_reasons import no_gradient_reason
from .analysis.nonfinite import reaches
from .analysis.why import why_none
from .engine.questions.record import Storing
from .facts import graph_lists
from .facts.answers import Memory, Neighbors, OpCard, OpRow, Script, Source, TensorRow, VariableRow
from .facts.lazy_rows import Rows
from .facts.plan_rows import RunPlan, plan_of
from .facts.records import Stats
from .facts.roles import place_of, role_of, traceback_of
from .facts.stats import has_nonfinite, statistics
from .language.targets import tensors_of

__all__ = ["Debugger"]


class Debugger(Storing):
    """A model under the debugger: its graph and session, the script's handles, watches, records of its runs.

    What it answers is frozen: names, numbers and places, never tensors. Machine holds what all parts share, Feeding
    arranges runs, Running and Stepping make them, Traveling goes back, Valuing to Comparing look into them, Changing
    changes values; here are the lists.
    """

    # ---- lists --------------------------------------------------------------------------
    def tensors(self, pattern: str = "", *, stats: bool = False, role: str = "") -> tuple[TensorRow, ...]:
        """Tensors whose names match a regex or target; stats: with figures of value and gradient in the last run.

        role: "forward", "gradient", "variable", "constant", "placeholder" or "training".
        """
        if not stats:
            return tuple(self.tensors_listed(pattern, role=role))
        found = [t for t in self._matching(pattern) if not role or role_of(t.op) == role]
        values, gradients = self._figures(found)
        handles = self.targets.handles_by_tensor()
        return tuple(self._tensor_row(t, values.get(t), gradients.get(t), handles.get(t, "")) for t in found)

    def tensors_listed(self, pattern: str = "", *, role: str = "") -> Rows[TensorRow]:
        """The rows of `tensors`, each made when it is looked at: of 100,000 a screen shows few."""
        found = [t for t in self._matching(pattern) if not role or role_of(t.op) == role]
        handles = self.targets.handles_by_tensor()
        return Rows(found, lambda t: self._tensor_row(t, None, None, handles.get(t, "")))

    def _matching(self, pattern: str) -> list[Tensor]:
        if not pattern:
            return [t for op in self.targets.operations() for t in op.outputs]
        if len(pattern) > 1 and pattern[0] == pattern[-1] == "/":  # all that match, even if a handle is called so
            return self.targets.all(pattern)
        try:
            return self.targets.all(pattern)
        except AutodiffError:
            return self.targets.all(f"/{pattern}/")

    def _figures(self, tensors: list[Tensor]) -> tuple[dict[Tensor, Stats], dict[Tensor, Stats]]:
        at = self._moment_for([y] if (y := self._default_y()) is not None else [])
        values = self._values_known(dict.fromkeys(t.op for t in tensors), at)
        known = {} if y is None else {t: g for t in tensors if (g := self.derivatives.known(y, t)) is not None}
        found = self._replayer.values_if_possible(at, list(dict.fromkeys(known.values())))
        return ({t: statistics(v) for t, v in values.items()},
                {t: statistics(found[g]) for t, g in known.items() if g in found})

    def _tensor_row(self, tensor: Tensor, stats: Stats | None, gradient: Stats | None, handle: str) -> TensorRow:
        return TensorRow(tensor.name, self.targets.short(tensor), tensor.op.type, tensor.dtype.base_dtype.name,
                         tensor.dims,
                         role_of(tensor.op), handle, place_of(tensor.op), stats, gradient)

    def ops(self, pattern: str = "", *, role: str = "") -> tuple[OpRow, ...]:
        """Operations whose names match a regex, or that a target stands for."""
        if pattern:
            found: list[Operation] = list(dict.fromkeys(t.op for t in self._matching(pattern)))
        else:
            found = self.graph.get_operations()
        return tuple(graph_lists.op_row(op) for op in found if not role or role_of(op) == role)

    def op(self, target: str) -> OpCard:
        """All about one operation, with figures of its inputs and outputs in the last run as far as they can be had."""
        op = self.targets.operation(target)
        shown = list(dict.fromkeys((*op.inputs, *op.outputs)))
        try:
            values, gradients = self._figures(shown)
        except AutodiffError:
            values, gradients = {}, {}
        rows = {t: self._tensor_row(t, values.get(t), gradients.get(t), self.targets.handle_of(t)) for t in shown}
        return OpCard(op.name, op.type, op.definition.doc, role_of(op), graph_lists.attributes_of(op),
                      tuple(rows[t] for t in op.inputs), tuple(rows[t] for t in op.outputs),
                      tuple(c.name for c in op.control_inputs), tuple(c.name for c in graph_lists.neighbors(op)[1]),
                      graph_lists.rule_of_gradient(op), no_gradient_reason(op) or op.definition.no_rule or "",
                      op.forward_op.name if op.origin is not None else "",
                      op.gradient_of.name if op.gradient_of is not None else "", traceback_of(op))

    def variables(self, *, unused: bool = False) -> tuple[VariableRow, ...]:
        """The variables, and why one gets no gradient; unused: only those that y does not depend on."""
        y = self._default_y()
        below = dependencies([y]) if y is not None else set()
        values = self.session.variables
        rows = []
        for variable, trainable in graph_lists.variables_of(self.graph):
            tensor = variable.handle_tensor
            used = tensor.op in below
            reason = ""
            if y is not None and trainable and self.derivatives.known(y, tensor) is None:
                found = why_none(y, tensor)
                reason = "" if found.kind == "flows" else found.text
            value = values.get(tensor.op.name)
            dims = variable.shape.as_list() if variable.shape.ndims is not None else None
            rows.append(VariableRow(tensor.name, self.targets.handle_of(tensor), variable.dtype.base_dtype.name,
                                    None if dims is None else tuple(dims), trainable, value is not None, used, reason,
                                    None if value is None else statistics(value), place_of(tensor.op)))
        return tuple(row for row in rows if not unused or not row.used)

    def nonfinite(self, kind: str = "") -> tuple[TensorRow, ...]:
        """Tensors with nan or inf in the last run, of all that y and the gradients need, in the order of computing.

        kind: "harmful" for those that reach y or a gradient, "masked" for the others, "" for all.
        """
        if kind not in ("", "harmful", "masked"):
            raise ArgumentError(f"expected harmful or masked, found {kind!r}")
        roots = self._roots()
        ops, values = self._everything(roots, self._moment_for(roots))
        harmful = reaches(ops, values, roots)
        handles = self.targets.handles_by_tensor()
        return tuple(replace(self._tensor_row(t, statistics(values[t]), None, handles.get(t, "")),
                             harmful=op in harmful)
                     for op in ops for t in op.outputs if t in values and has_nonfinite(values[t])
                     and (not kind or (op in harmful) == (kind == "harmful")))

    def memory(self) -> Memory:
        """Bytes that variables, constants and remembered runs hold."""
        variables = dict(self.session.variables)
        constants = {op.name: op.attrs["value"] for op in self.graph.operations.values() if op.type == "Const"}
        sizes = sorted(((name, np.asarray(v).nbytes) for name, v in (*variables.items(), *constants.items())),
                       key=lambda pair: -pair[1])
        return Memory(graph_lists.bytes_of(variables.values()), graph_lists.bytes_of(constants.values()),
                      self.moments.spent,
                      len(self.records), tuple(sizes[:10]))

    def script(self) -> Script:
        """The script and its graph in figures."""
        roles = [role_of(op) for op in self.graph.operations.values()]
        listed = graph_lists.variables_of(self.graph)
        sizes = [v.shape.num_elements() for v, trainable in listed if trainable]
        handles = tuple((name, ts[0].name) for name, value in self.handles.items() if len(ts := tensors_of(value)) == 1)
        return Script(self.script_name or graph_lists.script_file(self.graph), len(roles), roles.count("forward"),
                      roles.count("gradient"), len(listed), sum(s or 0 for s in sizes),
                      tuple(t.name for t in self.placeholders()), handles, self.y,
                      self._train_op.name if self._train_op is not None else next(
                          (op.name for op in reversed(self.graph.collections.get("train_op", []))), ""))

    # ---- places -------------------------------------------------------------------------
    def where(self, target: str = "") -> Neighbors:
        """How an op was made, what it takes and who takes it; without a target, the op the open run stands at."""
        op = self.targets.operation(target) if target else self._current_op()
        if op is None:
            raise ArgumentError("no run is open: name an operation, or go through one with step")
        producers, consumers = graph_lists.neighbors(op)
        return Neighbors(graph_lists.op_row(op), tuple(map(graph_lists.op_row, producers)),
                          tuple(map(graph_lists.op_row, consumers)), traceback_of(op))

    def source(self, place: str = "", *, around: int = 5) -> Source:
        """Lines of a script with the ops they made and gradient norms: `FILE:LINE`, a line number, or a target."""
        file, line = self._place(place)
        lines = linecache.getlines(file)
        if not lines:
            raise ArgumentError(f"cannot read {file!r}")
        if line > len(lines) or line < 1:
            raise ArgumentError(f"{os.path.basename(file)} has {len(lines)} lines, there is no line {line}")
        made = graph_lists.made_on(self.targets.operations(), file)
        first, last = line - around, line + around
        here = [t for n in range(first, last + 1) for op in made.get(n, ()) for t in op.outputs]
        return Source(file, graph_lists.source_lines(lines, first, last, made, self._norms(here), line))

    def plan(self, target: str = "") -> RunPlan:
        """What the last run's plan made of every op it needs; target: of one op, or of those that match a `/regex/`.

        The plan is that of the run as it was made, with all that is watched, which is always really computed.
        Raises ArgumentError if nothing was run yet.
        """
        if self._last_whole is None or not self.moments:
            raise ArgumentError("nothing was run yet, so there is no plan: run a step first")
        wanted = None
        if len(target) > 2 and target[0] == target[-1] == "/":
            wanted = {op for op in self.graph.get_operations() if re.search(target[1:-1], op.name)}
        elif target:
            wanted = {self.targets.operation(target)}
        return plan_of(self.session, self._last_whole, tuple(self.moments[-1].feeds), wanted, self.step)

    def _place(self, place: str) -> tuple[str, int]:
        match = re.fullmatch(r"(?:(?P<file>.+):)?(?P<line>\d+)", place)
        main = graph_lists.script_file(self.graph)
        if match and not (match["file"] and self.targets.exact(place)):
            wanted = match["file"] or main
            known = {site.file for op in self.graph.operations.values() for site in op.traceback[-1:]}
            file = wanted if os.path.exists(wanted) else next(
                (f for f in known if os.path.basename(f) == os.path.basename(wanted)), wanted)
            return file, int(match["line"])
        at = place_of(self.targets.operation(place)) if place else self._standing()
        if at is not None:
            return at.file, at.line
        if not main:
            raise ArgumentError("no script line is known" + (f" of {place!r}" if place else ""))
        return main, 1

    def _current_op(self) -> Operation | None:
        """The op that the open run has just done, or is about to begin with; None if no run is open."""
        return None if self._execution is None else self._last_op or self._execution.next_op

    def _standing(self) -> Any:
        op = self._current_op()
        y = self._default_y()
        return place_of(op) if op is not None else place_of(y.op) if y is not None else None

    def _norms(self, tensors: list[Tensor]) -> dict[Tensor, float | None]:
        """Gradient norms of the last run, as far as some gradient call has them."""
        try:
            return {t: stats.norm for t, stats in self._figures(tensors)[1].items()}
        except AutodiffError:
            return {}
