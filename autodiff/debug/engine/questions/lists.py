"""Lists: tensors, operations and variables of the graph, with figures of the last run."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....core.errors import ArgumentError, AutodiffError
from ....core.graph import Operation, Tensor
from ....core.traversal import dependencies
from ....gradients.blocked_reasons import no_gradient_reason
from ...analysis.nonfinite import reaches
from ...analysis.why import why_none
from ...facts import graph_lists
from ...facts.answers import Memory, OpCard, OpRow, Script, TensorRow, VariableRow
from ...facts.lazy_rows import Rows
from ...facts.records import Stats
from ...facts.roles import place_of, role_of, traceback_of
from ...facts.stats import has_nonfinite, statistics
from ...language.targets import tensors_of
from ..model import tensor_row
from ..runs.effects import Effects
from ..state import State
from ..training import Training


class Lists:
    """What there is, in rows."""

    def __init__(self, state: State, training: Training, effects: Effects) -> None:
        self.state, self.model, self.log, self.training, self.effects = state, state.model, state.log, training, effects

    def tensors(self, pattern: str = "", *, stats: bool = False, role: str = "") -> tuple[TensorRow, ...]:
        """Tensors whose names match a regex or target; stats: with figures of value and gradient in the last run.

        role: "forward", "gradient", "variable", "constant", "placeholder" or "training".
        """
        if not stats:
            return tuple(self.tensors_listed(pattern, role=role))
        found = [t for t in self._matching(pattern) if not role or role_of(t.op) == role]
        values, gradients = self.figures(found)
        handles = self.model.targets.handles_by_tensor()
        return tuple(tensor_row(self.model, t, values.get(t), gradients.get(t), handles.get(t, "")) for t in found)

    def tensors_listed(self, pattern: str = "", *, role: str = "") -> Rows[TensorRow]:
        """The rows of `tensors`, each made when it is looked at: of 100,000 a screen shows few."""
        found = [t for t in self._matching(pattern) if not role or role_of(t.op) == role]
        handles = self.model.targets.handles_by_tensor()
        return Rows(found, lambda t: tensor_row(self.model, t, None, None, handles.get(t, "")))

    def named(self, names: Sequence[str]) -> Rows[TensorRow]:
        """The rows of tensors by their names, each made when it is looked at."""
        handles = self.model.targets.handles_by_tensor()

        def row(name: str) -> TensorRow:
            tensor = self.model.targets.one(name)
            return tensor_row(self.model, tensor, None, None, handles.get(tensor, ""))

        return Rows(list(names), row)

    def _matching(self, pattern: str) -> list[Tensor]:
        if not pattern:
            return [t for op in self.model.targets.operations() for t in op.outputs]
        if len(pattern) > 1 and pattern[0] == pattern[-1] == "/":  # all that match, even if a handle is called so
            return self.model.targets.all(pattern)
        try:
            return self.model.targets.all(pattern)
        except AutodiffError:
            return self.model.targets.all(f"/{pattern}/")

    def figures(self, tensors: list[Tensor],
                reader: Operation | None = None) -> tuple[dict[Tensor, Stats], dict[Tensor, Stats]]:
        """Figures of values, and of the gradients that some gradient call has, in the last run.

        reader: an op whose inputs are those that it read, though others may have read a variable before its update.
        """
        at = self.state.moment_for([y] if (y := self.model.default_y()) is not None else [])
        values = self.state.values_known(dict.fromkeys(t.op for t in tensors), at)
        late = {} if reader is None else values.late.get(reader, {})
        values.update({t: values[read] for t, read in late.items()})
        known = {} if y is None else {t: g for t in tensors if (g := self.model.derivatives.known(y, t)) is not None}
        found = self.state.replayer.values_if_possible(at, list(dict.fromkeys(known.values())))
        return ({t: statistics(v) for t, v in values.items()},
                {t: statistics(found[g]) for t, g in known.items() if g in found})

    def ops(self, pattern: str = "", *, role: str = "") -> tuple[OpRow, ...]:
        """Operations whose names match a regex, or that a target stands for."""
        if pattern:
            found: list[Operation] = list(dict.fromkeys(t.op for t in self._matching(pattern)))
        else:
            found = graph_lists.operations_of(self.model.graph)
        return tuple(graph_lists.op_row(op) for op in found if not role or role_of(op) == role)

    def op(self, target: str) -> OpCard:
        """All about one operation, with figures of its inputs and outputs in the last run as far as they can be had."""
        op = self.model.targets.operation(target)
        shown = list(dict.fromkeys((*op.inputs, *op.outputs)))
        try:
            values, gradients = self.figures(shown, op)
        except AutodiffError:
            values, gradients = {}, {}
        rows = {t: tensor_row(self.model, t, values.get(t), gradients.get(t)) for t in shown}
        return OpCard(op.name, op.type, op.definition.doc, role_of(op), graph_lists.attributes_of(op),
                      tuple(rows[t] for t in op.inputs), tuple(rows[t] for t in op.outputs),
                      tuple(c.name for c in op.control_inputs), tuple(c.name for c in graph_lists.neighbors(op)[1]),
                      graph_lists.rule_of_gradient(op), no_gradient_reason(op) or op.definition.no_rule or "",
                      op.forward_op.name if op.origin is not None else "",
                      op.gradient_of.name if op.gradient_of is not None else "", traceback_of(op))

    def variables(self, *, unused: bool = False) -> tuple[VariableRow, ...]:
        """The variables, and why one gets no gradient; unused: only those that y does not depend on."""
        y = self.model.default_y()
        below = dependencies([y]) if y is not None else set()
        values = self.model.session.variables
        rows = []
        for variable, trainable in graph_lists.variables_of(self.model.graph):
            tensor = variable.handle_tensor
            used = tensor.op in below
            reason = ""
            if y is not None and trainable and self.model.derivatives.known(y, tensor) is None:
                found = why_none(y, tensor)
                reason = "" if found.kind == "flows" else found.text
            value = values.get(tensor.op.name)
            dims = variable.shape.as_list() if variable.shape.ndims is not None else None
            rows.append(VariableRow(tensor.name, self.model.targets.handle_of(tensor), variable.dtype.base_dtype.name,
                                    None if dims is None else tuple(dims), trainable, value is not None, used, reason,
                                    None if value is None else statistics(value), place_of(tensor.op)))
        return tuple(row for row in rows if not unused or not row.used)

    def nonfinite(self, kind: str = "") -> tuple[TensorRow, ...]:
        """Tensors with nan or inf in the last run, of all that y and the gradients need, in the order of computing.

        kind: "harmful" for those that reach y or a gradient, "masked" for the others, "" for all.
        """
        if kind not in ("", "harmful", "masked"):
            raise ArgumentError(expected="harmful or masked", found=repr(kind))
        roots = self.effects.roots()
        ops, values = self.effects.everything(roots, self.state.moment_for(roots))
        harmful = reaches(ops, values, roots)
        handles = self.model.targets.handles_by_tensor()
        return tuple(replace(tensor_row(self.model, t, statistics(values[t]), None, handles.get(t, "")),
                             harmful=op in harmful)
                     for op in ops for t in op.outputs if t in values and has_nonfinite(values[t])
                     and (not kind or (op in harmful) == (kind == "harmful")))

    def memory(self) -> Memory:
        """Bytes that variables, constants and remembered runs hold."""
        variables = dict(self.model.session.variables)
        constants = {op.name: op.attrs["value"] for op in self.model.graph.operations.values() if op.type == "Const"}
        sizes = sorted(((name, np.asarray(v).nbytes) for name, v in (*variables.items(), *constants.items())),
                       key=lambda pair: -pair[1])
        return Memory(graph_lists.bytes_of(variables.values()), graph_lists.bytes_of(constants.values()),
                      self.state.moments.spent, len(self.log.records), tuple(sizes[:10]))

    def script(self) -> Script:
        """The script and its graph in figures."""
        roles = [role_of(op) for op in self.model.graph.operations.values()]
        listed = graph_lists.variables_of(self.model.graph)
        sizes = [v.shape.num_elements() for v, trainable in listed if trainable]
        handles = tuple((name, ts[0].name) for name, value in self.model.handles.items()
                        if len(ts := tensors_of(value)) == 1)
        return Script(self.model.script_name or graph_lists.script_file(self.model.graph), len(roles),
                      roles.count("forward"), roles.count("gradient"), len(listed), sum(s or 0 for s in sizes),
                      tuple(t.name for t in self.model.placeholders()), handles, self.model.y,
                      getattr(self.training.newest_train_op, "name", ""))
