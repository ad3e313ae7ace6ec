"""Edits of what formulas are given: constants, variables, numbers that are fed, rates; what they refuse to take."""
from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ....core.constant_value import static_value
from ....core.errors import ArgumentError
from ....core.graph import Operation, Tensor
from ....core.op import build
from ....core.site import source_lines
from ....core.traversal import ancestors, in_order
from ...facts.records import Place
from ...facts.roles import STORES, VARIABLES, place_on, takes_elements
from ..arithmetic_rules import number
from ..scripts.source_tree import Source
from .first_values import Begun
from .in_datasets import Taken, component_of
from .in_graph import Edit, Now, around, between, constant, copied, is_half, on_argument, replaced, source_of
from .in_numpy import CLEANED, Cleaned
from .in_source import Fed, LowerRate, Number, Rows
from .of_keras.given import given_of, given_to_keras
from .of_keras.schedules import SetRate, rate_set, set_to_nan

_MUCH = 1.5  # times the usual size of first values
_LONGEST = 60  # letters of an expression that is told
_LOW = 1e-4  # a learning rate; ten times that is Adam's own
MATRICES = ("Cholesky", "MatrixInverse", "MatrixSolve", "MatrixDeterminant", "LogMatrixDeterminant")
_LABELED = "SparseSoftmaxCrossEntropyWithLogits"
_INDEXED = (_LABELED, "GatherV2", "ResourceGather")
_RIDGES = (1e-6, 1e-5, 1e-3, 1e-2)  # times the largest element; the first is less than float32 tells apart


def lower_rate(rate: Tensor, value: float, factor: float) -> Edit:
    """A learning rate, times `factor`. value: what it is; for 0 one that is low takes its place."""
    verb = "lower" if factor < 1 else "raise"
    lower = float(f"{(value or _LOW) * factor:.3g}")
    return _later(rate, f"{verb} the learning rate from {value:g} to {lower:g}", lambda now: build.Mul(
        now(rate), constant(factor, rate)) if value else constant(lower, rate), LowerRate(value, lower, op=rate.op))


def held_rate(rate: Tensor, value: float, first: float) -> Edit:
    """A learning rate as it was in the beginning. value: what it has grown to."""
    words = f"keep the learning rate at {first:g}, where it began" + (
        f", or let it fall: it grew to {value:g}" if value > first else f": it fell to {value:g}")
    line = rate_set(rate, value, first, is_most=value > first) or _falling(rate)
    return _later(rate, words, lambda now: constant(first, rate), line)


def _falling(rate: Tensor) -> Number | None:
    """Of a rate that is multiplied by more than 1 each time: by less."""
    for op in in_order(ancestors([rate])):
        base = static_value(op.inputs[0]) if op.type == "Pow" else None
        if base is not None and base.ndim == 0 and base > 1:
            return Number(op, float(base), "0.95")
    return None


def kept_above(read: Tensor, name: str, low: float) -> Edit:
    """A variable as it is read, not below a number; for 0 by what is positive everywhere."""
    written, variable = f"tf.maximum({{0}}, {low:.3g})" if low else "tf.nn.softplus({0})", _variable_of(read)
    is_assigned = sum(c.type in STORES for t in variable.outputs for c in t._consumers) > 1  # than by its initializer
    return replace(replaced(read, f"keep {name} above 0 where it is read, {written.format(name)}", lambda x:
                            build.Maximum(x, constant(low, x)) if low else build.Softplus(x)), explains=True,
                   line=None if is_assigned else around(variable, written))


def _variable_of(read: Tensor) -> Operation:
    return (read.op.inputs or [read])[0].op


def usual(operand: Tensor, value: float, name: str, written: str) -> Edit:
    """What an optimizer computes with, as it usually is. value: what it is."""
    number = float(written)
    return _later(operand, f"give the optimizer {name}={written}", lambda now: constant(number, operand),
                  LowerRate(value, number, name, operand.op))


def usual_size(shape: Sequence[int]) -> float:
    """The deviation of first values with which a layer hardly changes the size of what goes through it."""
    area = int(np.prod(shape[:-2]))
    return float(np.sqrt(2.0 / (area * (shape[-2] + shape[-1]))))


def begun_as_usual(reads: Mapping[Operation, Any]) -> list[Edit]:
    """Of variables, by the ops that read them and their first values, those that begin larger than usual, so begun."""
    sizes = {read: usual_size(np.shape(value)) / float(np.std(value)) for read, value in reads.items()
             if np.ndim(value) > 1 and np.std(value) > _MUCH * usual_size(np.shape(value))}
    return _edits(sizes, "as tf.glorot_normal_initializer() has them", usual=True)


def smaller_weights(reads: Sequence[Operation], factor: float) -> list[Edit]:
    """Variables as they are read, times `factor`."""
    return _edits(dict.fromkeys(reads, factor), f"times {factor:g}", usual=False)


def _edits(factors: Mapping[Operation, float], how: str, *, usual: bool) -> list[Edit]:
    made = {read: (read.inputs[0].op.inputs or read.inputs)[0].op for read in factors}
    names = list(dict.fromkeys(op.name for op in made.values()))
    told = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")

    def edit(read: Operation, factor: float) -> Edit:
        def times(x: Tensor) -> Tensor:
            return build.Mul(x, constant(factor, x))
        found = replaced(read.outputs[0], f"smaller initial values: {told} {how}", times)
        return Edit(read, found.words, found.build, Begun(made[read], factor, usual), explains=usual)

    return [edit(read, factor) for read, factor in factors.items()]


def turned(y: Tensor) -> Edit:
    """The negative of a loss."""
    return replaced(y, "turn the sign of the loss: minimize its negative", build.Neg, "-{0}")


def bounded(state: Tensor) -> Edit:
    """What is carried from run to run, kept within bounds."""
    return replaced(state, "tf.tanh of what is fed back, where it is made, or begin with zeros again", build.Tanh)


def within(read: Tensor, bound: float) -> Edit:
    """A variable as it is read, within bounds."""
    words = f"bound it: tf.clip_by_value(w, -{bound:g}, {bound:g}) of the weights in each step, or penalize gradients"
    return replaced(read, words, partial(between, -bound, bound))


def other_constant(op: Operation, by: Tensor, value: float, words: str) -> Edit:
    """An op of another number in place of the constant `by` that it is given."""
    old = static_value(by)
    return Edit(op, words, lambda now: copied(op, tuple(constant(value, t) if t is by else now(t) for t in op.inputs)
                                              ).outputs[0],
                None if old is None else Number(by.op, float(np.max(old)), f"{value:g}"))


def factor_of(op: Operation) -> Tensor | None:
    """The positive constant that something is multiplied by, or divided by."""
    operands = op.inputs if op.type == "Mul" else op.inputs[1:] if op.type == "RealDiv" else ()
    return next((t for t in operands if (v := static_value(t)) is not None and v.ndim == 0 and v > 0), None)


def less_scaled(loss: Operation) -> list[Edit]:
    """A loss that is multiplied by a large number before gradients are taken: by smaller ones."""
    by = factor_of(loss) if loss.type == "Mul" else None
    if by is None or (scale := float(np.max(static_value(by) or 0.0))) < 2:
        return []
    return [other_constant(loss, by, size, f"scale the loss by {size:g} in place of {scale:g}")
            for size in (scale / 16.0 ** power for power in range(1, 5))]


def one_more(log: Operation) -> Edit:
    """The logarithm of counts, of which some are 0."""
    return replace(on_argument(log, "{} + 1.0", lambda x: build.AddV2(x, constant(1.0, x))), explains=True)


def begun_at_one(read: Tensor, name: str) -> Edit:
    """A variable of zeros, as it is read, with ones; one number from 1 on."""
    words = f"let {name} begin at 1" if read.dims == () else (
        f"initialize {name} with ones, tf.ones_initializer(), in place of zeros")
    text = "1.0" if read.dtype.base_dtype.is_floating else "1"
    return replace(replaced(read, words, lambda x: build.AddV2(x, constant(1, x))), explains=read.dims == (),
                   line=Number(_variable_of(read), 0.0, text))


def begun_at_random(read: Operation, name: str) -> Edit:
    """A variable of zeros, as it or some rows of it are read, with other numbers."""
    x = read.outputs[0]
    some = np.random.RandomState(0).uniform(-0.1, 0.1, [d or 1 for d in x.dims or ()])
    words = f"initialize {name} at random, as tf.glorot_uniform_initializer() does, in place of zeros"
    return replaced(x, words, lambda x: build.AddV2(x, build.Const(value=some.astype(
        x.dtype.base_dtype.as_numpy_dtype), dtype=x.dtype.base_dtype)))


def finite_constant(op: Operation) -> Edit:
    """A constant without nan and inf: -inf, by which one masks, is a large number, as is inf of 16 bits; nan is 0."""
    value, half = np.asarray(static_value(op.outputs[0])), is_half(op)
    if (rate := set_to_nan(op)) is not None:
        return _later(op.outputs[0], rate.remedy, lambda now: constant(rate.bound, op.outputs[0]), rate)
    largest = 6e4 if half else 1e9
    infinite = value[np.isinf(value)]
    is_large = bool((infinite < 0).all() or half and value.ndim == 0) and not np.isnan(value).any()
    given = np.max(infinite, initial=-np.inf)
    words = (f"give 6e+04 in place of what float16 takes for {given:g}: it ends at 65504" if is_large and half else
             f"mask with a large finite number, {-largest:g}, in place of -inf" if is_large else
             "give it a finite number in place of nan and inf, as np.where(np.isfinite(x), x, 0.0)")
    bound = largest if is_large else 0.0
    finite = np.nan_to_num(value, nan=0.0, posinf=bound, neginf=-bound).astype(value.dtype)
    return Edit(op, words, lambda now: build.Const(value=finite, dtype=op.outputs[0].dtype.base_dtype),
                Number(op, float(given), f"{np.sign(given) * bound:g}") if is_large else Cleaned(op))


def clean_feed(fed: Tensor) -> Edit:
    """What is fed or taken from a dataset, without nan and inf."""
    return _as_given(fed, "clean", cleaned, "tf.where(tf.is_finite({0}), {0}, tf.zeros_like({0}))",
                     of_arrays="np.where(np.isfinite(x), x, 0.0)", written=CLEANED)


def clipped_feed(fed: Tensor, low: float, high: float) -> Edit:
    """What is fed or taken from a dataset, within bounds."""
    bounds = f"{low:.7g}, {high:.7g}"
    return _as_given(fed, "clip", partial(between, low, high), f"tf.clip_by_value({{0}}, {bounds})",
                     of_arrays=f"np.clip(x, {bounds})", written=f"{{np}}.clip({{0}}, {bounds})")


def _as_given(fed: Tensor, verb: str, made: Callable[[Tensor], Tensor], of_tensors: str, *,
              of_arrays: str, written: str) -> Edit:
    """What is fed or taken from a dataset, changed where it is given: in words of tensors, or of arrays of NumPy's."""
    if takes_elements(fed.op):
        words = f"{verb} {component_of(fed)}: {of_tensors.format('x')}"
    else:
        words = f"{verb} the data before they are fed for {fed.op.name}: {of_arrays}"
    return replace(replaced(fed, words, made), line=_given_as(fed, of_tensors, written))


def _given_as(fed: Tensor, of_tensors: str, of_arrays: str = "") -> Fed | Taken:
    """What is made of what is fed or taken from a dataset, where it is given."""
    return Taken(fed.op, fed.op.outputs.index(fed), of_tensors, of_arrays) if takes_elements(fed.op) else Fed(
        fed.op, of_arrays or of_tensors)


def counted_from_one(fed: Tensor) -> Edit:
    """A number that is fed, 0 at first: one more."""
    return replace(replaced(fed, f"let what is fed for {fed.op.name} count from 1", lambda x: build.AddV2(
        x, constant(1, x))), line=Fed(fed.op, "{0} + 1"), explains=True)


def higher_feed(fed: Tensor, low: float) -> Edit:
    """A number that is fed, not below one that was."""
    return replaced(fed, f"feed {fed.op.name} no number below {low:.3g}, as before", partial(between, low, None))


def outside(op: Operation, values: Mapping[Tensor, Any]) -> tuple[Tensor, np.ndarray, int, str] | None:
    """The labels or indices that an op refused: where they come from, they, how many there may be, and that in words;
    None if it takes none, or they are not known."""
    if op.type not in _INDEXED or any(t not in values for t in op.inputs[:2]):
        return None
    table, given = (np.asarray(values[t]) for t in op.inputs[:2])
    axis = -1 if op.type == _LABELED else int(np.max(static_value(op.inputs[2]) or 0)) if len(op.inputs) > 2 else 0
    size, source = table.shape[axis], op.inputs[1]
    bad = np.argwhere((given < 0) | (given >= size)).tolist()
    while passed := source_of(source)[1] or [source.op] * (source.op.type == "Cast"):
        source = passed[-1].inputs[0]
    source = source.op.attrs.get("external", source)
    at = next(iter(bad), [])
    said = f"holds {given.min()} to {given.max()}, {given[tuple(at)]} first at {at}" if at else f"is {given}"
    return (source, given, size, f"{source.name} {said}, where 0 to {size - 1} may be" ) if bad else None


def repairs_of(op: Operation, values: Mapping[Tensor, Any]) -> Iterable[list[Edit]]:
    """What may be tried where an op refused to run with these values: a ridge, indices within the table, from 0 on."""
    if op.type in MATRICES and (matrix := op.inputs[0]) in values:
        kind, size = matrix.dtype.base_dtype.name, float(np.abs(np.asarray(values[matrix])).max(initial=0.0)) or 1.0
        rows = f"tf.eye({(matrix.dims or [None])[-1] or 'tf.shape({0})[-1]'}"
        rows += ")" if kind == "float32" else f", dtype=tf.{kind})"
        for by in (float(f"{ridge * size:.0e}") for ridge in _RIDGES[kind == "float32":]):
            yield [on_argument(op, f"{{0}} + {by:g} * {rows}", partial(_with_ridge, by))]
    if (found := outside(op, values)) is None:
        return
    source, given, size, _ = found
    if (table := source_of(op.inputs[0])[0]).type in VARIABLES and given.min() >= 0 and op.type == "GatherV2" and (
            len(values[op.inputs[0]]) == size):
        more, rank = int(given.max()) + 1 - size, np.ndim(values[op.inputs[0]])
        yield [Edit(op, f"give {table.name} {size + more} rows in place of {size}", partial(_with_rows, op, size),
                    Rows(table, rank, more))]
    if given.min() >= 1 and given.max() == size:
        what = component_of(source) if takes_elements(source.op) else source.op.name
        words = f"{what} - 1: they count from 0, and these from 1"
        line = _given_as(source, "{0} - 1")
        yield [replace(replaced(source, words, lambda x: build.Sub(x, constant(1, x))), line=line)]
    if op.type != _LABELED:
        words = f"keep the indices inside: tf.clip_by_value(ids, 0, {size - 1})"
        yield [replace(replaced(source, f"feed no {given.min()}, or {words}" if given.min() < 0 else words, partial(
            between, 0, size - 1)), line=Fed(source.op, f"{{np}}.clip({{0}}, 0, {size - 1})"))]


def _with_rows(op: Operation, size: int, now: Now) -> Tensor:
    """Rows of a table, for those behind its last one the last."""
    table, ids, *rest = (now(t) for t in op.inputs)
    return copied(op, (table, build.Minimum(ids, constant(size - 1, ids)), *rest)).outputs[0]


def _with_ridge(by: float, x: Tensor) -> Tensor:
    return build.MatrixSetDiag(x, build.AddV2(build.MatrixDiagPart(x), constant(by, x)))


def fed_at(placeholder: Operation, value: Any) -> tuple[Place, str] | None:
    """The first line that feeds a placeholder, in a loop if any does, and `x: train_x[i], from 0 to 255`; else None."""
    by_keras = given_of(placeholder)
    file = by_keras.file if by_keras is not None else placeholder.site.file if placeholder.site is not None else ""
    try:
        source = Source("".join(source_lines(file)))
        found = source.fed(placeholder) or given_to_keras(source, placeholder)
    except (SyntaxError, ValueError, ArgumentError):
        return None
    for key, given in found[:1]:
        text = f"{ast.unparse(key)}: {' '.join(ast.unparse(given).split())[:_LONGEST]}{_ranges(value)}"
        return place_on(file, key.lineno), text
    return None


def _ranges(value: Any) -> str:
    """From where to where numbers go, of a narrow table in the two columns with the largest ones."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or array.size < 2 or not np.isfinite(array).all():
        return ""
    parts = dict(enumerate(array.T)) if array.ndim == 2 and 1 < array.shape[1] < 20 else {-1: array}
    return "".join(f", {f'column {i} ' * (i >= 0)}from {number(parts[i].min())} to {number(parts[i].max())}"
                   for i in sorted(parts, key=lambda i: -np.abs(parts[i]).max())[:2])


def cleaned(x: Tensor) -> Tensor:
    """Of x what is finite, and 0 in the place of the rest."""
    return build.SelectV2(build.IsFinite(x), x, build.ZerosLike(x))


def _later(tensor: Tensor, words: str, made: Callable[[Now], Tensor], line: LowerRate | SetRate | Number | None
           ) -> Edit:
    return Edit(tensor.op, words, made, line, is_late=True)
