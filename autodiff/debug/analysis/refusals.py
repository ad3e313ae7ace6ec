"""Why an op refused what it was given, beyond what it said: rows that are built in, what is outside; and what to do."""
from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from ...core.constant_value import static_value
from ...core.function_graph import FunctionGraph
from ...core.graph import Operation, Tensor
from ...core.traversal import ancestors, in_order
from ...runtime.plan.state import how_to_initialize
from ..facts.function_calls import InnerOps
from ..facts.graph_lists import without_any
from ..facts.roles import PLACEHOLDERS, VARIABLES, as_place, at_line, place_of, takes_elements
from .edits.in_graph import source_of
from .edits.of_givens import fed_at, outside
from .mistakes.wiring import regrouped
from .remedies import REMEDIES
from .spectra import equal_eigenvalues

_PART, _FEW = 0.1, 8  # of a vector that a matrix takes to 0: a row that has part in it, and how many are told
_OF_MATRICES = ("Cholesky", "LogMatrix", "Matrix", "Qr", "SelfAdjointEig", "Svd")  # how those begin that refuse some
_LARGE = 500  # rows of a matrix that is looked at
_GATHERS = ("Gather", "ResourceGather", "Scatter", "SparseTensorDense")
_ROW_BY_ROW = ("Concat", "Add", "Sub", "Mul", "RealDiv", "SquaredDifference", "Maximum", "Minimum", "Pack", "Select",
               "BatchMatMul", "SoftmaxCrossEntropy", "SparseSoftmaxCrossEntropy")
_FOLLOWS = "tf.shape(x)[0] of what is fed in place of {} there"


def refusal(op: Operation, error: Exception, values: Mapping[Tensor, Any], feeds: Mapping[Tensor, Any]
            ) -> tuple[str, str]:
    """Why, "" where the error has said it all; and what to do, "" if nobody knows.

    values: of the op's inputs, as far as they are known. feeds: what the run was fed.
    """
    found = [tuple(map(int, filter(None, dims.split(",")))) for dims in
             re.findall(r"\w\[([\d,]*)\]", str(error).partition("\nfound ")[2].partition("\n")[0])]
    if len(found) == len(op.inputs) and (told := _rows_built_in(op, found, feeds)):
        return told
    if op.type.startswith(_ROW_BY_ROW) and (told := next(filter(None, (
            _flattened(each) for each in in_order(ancestors(op.inputs)))), None) or _class_ids(op, feeds)):
        return told
    if op.type in PLACEHOLDERS and (there := fed_at(op, None)) is not None:
        return "", f"feed it in this run too, as{at_line(there[0])}: {there[1]}"
    if (told := next(filter(None, map(_argmax_of_one, op.inputs)), None)) is not None:
        return told
    if op.type in PLACEHOLDERS or takes_elements(op):
        return "", getattr(error, "hint", "")
    if (odd := outside(op, values)) is not None:
        return odd[-1], _within(op, odd[1], odd[2])
    fault = matrix_fault(op, values)
    return f"of the matrix {op.inputs[0].name}: {fault}" if fault else "", remedy_for_failure(op)


def _rows_built_in(op: Operation, found: list[tuple[int, ...]], feeds: Mapping[Tensor, Any]) -> tuple[str, str] | None:
    """Where a first dimension that the graph has for ever meets the number of rows that this run has."""
    if op.type == "Reshape":
        return _reshaped(op, found[0])
    if not op.type.startswith(_ROW_BY_ROW):
        return None
    rows = {dims[0] for t, dims in zip(op.inputs, found) if dims and t.dims and t.dims[0] is None}
    fixed = next((t for t, dims in zip(op.inputs, found) if dims and t.dims and t.dims[0] == dims[0] > 1
                  and dims[0] not in rows), None)
    fed = [t for t, value in feeds.items() if t.dims and t.dims[0] is None and {len(value)} == rows]
    if fixed is None or len(rows) != 1 or not fed and feeds:
        return None
    maker, (count,) = maker_of(fixed), rows
    whose = f"fed for {fed[0].op.name!r}" if fed else "in this batch"
    made = place_of(maker)
    if _is_of_one(maker):
        return (f"{maker.name}{at_line(made)}{f': {made.text}' if made else ''} takes one of {count} examples, with "
                f"all {fixed.dims[0]} of its rows",  # type: ignore[index]
                "take that row of each example, x[:, -1] in place of x[-1], there; or transpose it first")
    return (f"{fixed.dims[0]} rows are built in{at_line(made)}{f': {made.text}' if made else ''}; {count} were {whose}",  # type: ignore[index]
            f"{_FOLLOWS.format(fixed.dims[0])}; or only whole batches: drop_remainder=True"  # type: ignore[index]
            " in a Dataset's batch, the last rows left out of a loop")


def _is_of_one(op: Operation) -> bool:
    """Whether an op picks one element along an axis whose size is left open, as that of examples is."""
    dims = op.inputs[0].dims if op.type == "StridedSlice" else None
    return bool(dims) and dims[0] is None and op.attrs.get("shrink_axis_mask", 0) & 1 == 1  # type: ignore[index]


def _reshaped(op: Operation, given: tuple[int, ...]) -> tuple[str, str] | None:
    """Of a reshape to so many rows, or to rows of another size than these have."""
    wanted = static_value(op.inputs[1])
    if wanted is None or len(given) < 2 or np.size(wanted) < 2 or (wanted[1:] < 0).any():
        return None
    size, asked = prod(given[1:]), prod(wanted[1:].tolist())
    if asked == size and wanted[0] > 0:
        return (f"{wanted[0]} rows are built in{at_line(place_of(op))}, and {given[0]} came",
                f"tf.reshape(x, {[-1, *wanted[1:].tolist()]}) there: -1 takes as many rows as there are")
    return (f"each of the {given[0]} rows has {' * '.join(map(str, given[1:]))} = {size} numbers, and rows of {asked} "
            "are asked for", f"{size} in place of {asked}{at_line(place_of(op))}; or tf.layers.flatten(x)"
            ) if wanted[0] < 0 else None


def _flattened(op: Operation) -> tuple[str, str] | None:
    """Of what the model flattens to rows of another size than its examples have."""
    told, at = regrouped(op, failed=True) if op.gradient_of is None else None, at_line(place_of(op))
    return (f"{told[0]}{at}", f"{told[1]}{at}; what follows then takes so many numbers a row") if told else None


def _argmax_of_one(t: Tensor) -> tuple[str, str] | None:
    """Of an argmax along an axis of one, beside which the classes are still there."""
    dims, axis = (t.op.inputs[0].dims, static_value(t.op.inputs[1])) if t.op.type == "ArgMax" else (None, None)
    if not dims or len(dims) < 3 or axis is None or dims[int(axis)] != 1:
        return None
    shape = ", ".join("?" if n is None else str(n) for n in dims)
    return (f"{t.op.name}{at_line(place_of(t.op))} is along axis {int(axis)} of {t.op.inputs[0].name}, of shape "
            f"[{shape}], which has one element there",
            f"take that axis away where {t.op.inputs[0].op.name} is made{at_line(place_of(t.op.inputs[0].op))}: "
            f"tf.reshape(x, [-1, {dims[-1]}]), or tf.squeeze(x, {int(axis)})")


def _class_ids(op: Operation, feeds: Mapping[Tensor, Any]) -> tuple[str, str] | None:
    """Of labels that are one number a row, where a probability of each class is wanted."""
    if op.type != "SoftmaxCrossEntropyWithLogits":
        return None
    behind, k = ancestors(op.inputs[1:]), (op.inputs[0].dims or [None])[-1]
    fed = next((t for t, value in feeds.items() if t.op in behind and np.ndim(value) == 1), None)
    return None if fed is None else (
        f"one number a row was fed for {fed.op.name!r}, the class, where a probability of each of the {k} is wanted",
        f"tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits) of integers, or tf.one_hot(y, {k})"
        f"{at_line(place_of(op))}")


def maker_of(tensor: Tensor) -> Operation:
    """The op, outside of all loops, that made as many rows as a tensor has."""
    op, rows = tensor.op, tensor.dims[0] if tensor.dims else None
    while True:
        if op.type == "Argument" and isinstance(op.graph, FunctionGraph):
            caller = InnerOps(op.graph.outermost).callers(op)[-1:]
            before = [caller[0].inputs[op.graph.arguments.index(op.outputs[0])]] if caller else []
        else:
            before = [op.attrs["external"]] if op.type == "Captured" else list(op.inputs)
        if (following := next((t.op for t in before if t.dims and t.dims[0] == rows), None)) is None:
            return op
        op = following


def _within(op: Operation, given: np.ndarray, size: int) -> str:
    """What to do about labels or indices, of which there may be `size`."""
    low, most, made = given.min(), given.max() + 1, at_line(place_of(source_of(op.inputs[0])[0]))
    if low < 0:
        return f"feed no {low}: they count from 0, and what is to be left out has to go before, by tf.boolean_mask"
    what = (f"give the table {most} rows" if op.type.startswith(_GATHERS) else f"give the logits {most} columns") + made
    return f"subtract 1: they count from 0, and these from 1; or {what}" if low == 1 and most == size + 1 else what


def matrix_fault(op: Operation, values: Mapping[Tensor, Any]) -> str:
    """What is wrong with a matrix that was refused, and what the loss has nothing of; "" for an op that takes none."""
    is_taken = op.inputs and op.forward_op.type.startswith(_OF_MATRICES)
    fault = fault_of(np.asarray(values.get(op.inputs[0], 0.0))) if is_taken else ""
    names = " or ".join(sorted(repr(t.op.name) for t in without_any(op.graph))) if fault else ""
    return f"{fault}; the loss has nothing of {names}, which may be meant for its diagonal" if names else fault


def fault_of(matrix: np.ndarray) -> str:
    """Rows that are equal, or an eigenvalue that is not positive; "" for what is not square or finite."""
    if matrix.ndim != 2 or np.ptp(matrix.shape) or matrix.dtype.kind != "f" or len(matrix) > _LARGE or not np.isfinite(
            matrix).all():
        return ""
    far = np.abs(matrix[:, None] - matrix[None]).max(axis=-1) + np.tril(np.full(matrix.shape, np.inf))
    i, j = np.unravel_index(int(np.argmin(far)), far.shape)
    alike = f"its rows {i} and {j} are equal, " if len(matrix) > 1 and far[i, j] <= 1e-6 * np.abs(matrix).max() else ""
    if not np.allclose(matrix, matrix.T, rtol=1e-4):
        return f"{alike}it is not symmetric"
    spectrum, vectors = np.linalg.eigh(matrix.astype(np.float64))
    lowest, rows = spectrum[0], np.flatnonzero(np.abs(vectors[:, 0]) > _PART).tolist()
    if not alike and abs(lowest) < 1e-6 * np.abs(matrix).max() and len(rows) <= _FEW:
        alike = f"its row {rows[0]} is 0 throughout, " if len(rows) == 1 else (
            f"its rows {', '.join(map(str, rows[:-1]))} and {rows[-1]} depend on each other, ")
    return f"{alike}its smallest eigenvalue is {lowest:.2g}, its largest element {np.abs(matrix).max():.3g}"


def _label_too_long(op: Operation, values: Mapping[Tensor, Any]) -> str:
    """`sample 1 has 4 labels, 2 of them repeated, and 5 frames: it needs 6`: of what CTC finds no way for; else ""."""
    indices, entries, steps = (np.asarray(values.get(t, ())) for t in op.inputs[1:4])
    for i, count in enumerate(steps if len(indices) else ()):
        label = entries[indices[:, 0] == i]
        repeated = int((label[1:] == label[:-1]).sum())
        if len(label) + repeated > count:
            return (f"sample {i} has {len(label)} labels, {repeated} of them equal to the one before, and {count} "
                    f"frames, where no alignment takes less than {len(label) + repeated}")
    return ""


def no_solution(op: Operation, values: Mapping[Tensor, Any]) -> str:
    """What an op that raised nothing found none for: a mean, an alignment of labels, a matrix's factor; else ""."""
    if op.type == "Mean" and not np.size(values.get(op.inputs[0], 1)):
        return "a mean of no elements, 0 / 0"
    if op.type.startswith("CTCLoss") and (told := _label_too_long(op, values)):
        return f"{told}: -log(0)"
    if told := equal_eigenvalues(op, values):
        return told
    if op.type != "Cholesky" or not (fault := matrix_fault(op, values)):
        return ""
    made = next((o for o in reversed(in_order(ancestors(op.inputs))) if o.site is not None and o.site != op.site), op)
    at = at_line(next((as_place(s) for s in made.traceback if op.site and s.function == op.site.function), None))
    return f"a Cholesky factor of what is made{at}, which is not positive definite: {fault},"


def remedy_for_failure(op: Operation) -> str:
    """What to do about an op that refused the values it was given."""
    if op.type.startswith(_GATHERS):
        return "keep the indices inside the table: its first dimension must be above the largest of them"
    if op.type in VARIABLES or "ReadVariable" in op.type:
        return how_to_initialize(op, (op if op.type in VARIABLES else op.inputs[0].op).name)
    return REMEDIES.get(op.forward_op.type, REMEDIES.get(op.type, ""))
