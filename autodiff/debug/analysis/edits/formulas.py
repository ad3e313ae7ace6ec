"""Edits for formulas that have a better form, in float32 too, and for what an op is given rather than the op itself."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ....api.math.norms import l2_normalize
from ....core.constant_value import is_one, static_value
from ....core.dtypes import float32, int32
from ....core.graph import Operation, Tensor, get_default_graph
from ....core.op import Spec, build
from ....core.traversal import reached, users_of
from ...facts.roles import at_line, place_of
from ..advice import advice_of
from ..findings import Origin
from ..mistakes.signs import is_squared
from . import in_graph
from .in_graph import Edit, Now, between, constant, instead, is_half, on_argument, replaced, source_of
from .in_logarithms import logarithm_of_exponents, logarithms_after, over_exponentials, shifted
from .in_source import Argument, Number, Rewrite
from .of_givens import cleaned, other_constant

KEPT_POSITIVE = "tf.nn.softplus where it is made, which keeps it positive"
_LINEAR = ("Add", "AddV2", "Sub", "BiasAdd", "MatMul", "Identity", "Mul")
_POSITIVE = ("Log", "Sqrt", "Rsqrt", "Lgamma", "Digamma", "Pow")
_SHIFTS = ("Add", "AddV2", "Sub", "Neg", "Maximum", "Identity", "Mul")
_PARTS = ("Split", "SplitV", "Unpack", "StridedSlice")
_RAISED = ("Add", "AddV2", "Maximum", "Identity")
_NEAR = 6  # ops on the way
_BEHIND, _COLD = 60, 0.1  # ops behind one; a temperature
_FACTORS = (10.0, 30.0, 100.0, 300.0, 1e3, 1e4)  # of a temperature
_TIE = 1e-3  # between neighbors on the diagonal
_FAR = 30  # ops further down


def better_forms(op: Operation, *, negative: bool) -> list[Edit]:
    """The edits that may help where `op`, a forward one, is to blame. negative: for what it was given."""
    found: list[Edit] = in_float32(op)
    if op.type in ("Log", "Log1p", "Sqrt", "Rsqrt", "Pow"):
        found += _of_argument(op)
    if op.type == "Log" and not in_graph.edits_of(op, ""):
        found += logarithm_of_exponents(op)
    if op.type in ("Exp", "Cosh", "Expm1", "Sum", "Mul", "Add", "AddV2"):
        found += [*logarithms_after(op), *(shifted(op) if op.type == "Exp" else ())]
    if op.type in _POSITIVE and negative and in_graph.bounds_of(op):
        found += _of_tanh(op) or _as_probability(op) or _kept_positive(op)
    if op.type in ("Sqrt", "Rsqrt"):
        found.append(on_argument(op, "{} + 1e-5", lambda x: build.AddV2(x, constant(1e-5, x))))
    if op.type == "Atan2":
        words = "safe = tf.where(both_zero, tf.ones_like(x), x), then tf.atan2(y, safe)"
        found.append(Edit(op, words, partial(_atan2, op)))
    if op.type == "RealDiv":
        found += [*over_exponentials(op), *_over_rows(op)]
    if op.type in ("Svd", "SelfAdjointEigV2"):
        found += _without_ties(op)
    if op.type in ("Softmax", "LogSoftmax"):
        low = -6e4 if is_half(op) else -1e9
        found.append(on_argument(op, f"tf.maximum({{}}, {low:g})", partial(between, low, None)))
    if op.type == "PyFunc":
        words = "y = tf.where(tf.is_finite(y), y, tf.zeros_like(y)) of what the function gives, or a guard in it"
        found.append(Edit(op, words, lambda now: cleaned(in_graph.copied(op, tuple(map(now, op.inputs))).outputs[0])))
    if op.type == "Mean":
        written = "{tf}.div_no_nan({tf}.reduce_sum({0}), {tf}.cast({tf}.size({0}), {tf}.float32))"
        is_whole = op.outputs[0].dims == () and op.outputs[0].dtype.base_dtype.name == "float32"
        found.append(Edit(op, "tf.div_no_nan of the sum and the count, which is 0 for nothing", partial(_mean, op),
                          Rewrite(op, None, written, ((op, 0),)) if is_whole else None))
    if op.type == "Cast" and is_half(op):
        found.append(on_argument(op, "tf.clip_by_value({}, -6e4, 6e4)", partial(between, -6e4, 6e4)))
    if op.type == "Square" and is_half(op):
        found.append(on_argument(op, "tf.clip_by_value({}, -200.0, 200.0)", partial(between, -200.0, 200.0)))
    if op.type.startswith("CTCLoss"):
        found.append(_zero_where_no_way(op))
    return found


def _zero_where_no_way(op: Operation) -> Edit:
    """A loss of 0 in place of inf, where labels fit in no alignment."""
    def made(now: Now) -> tuple[Tensor, ...]:
        loss, slope = in_graph.copied(op, tuple(map(now, op.inputs))).outputs
        return build.SelectV2(build.IsInf(loss), build.ZerosLike(loss), loss), slope

    words = "tf.where(tf.is_inf({0}), tf.zeros_like({0}), {0})"
    if advice_of(op.graph).words:
        return Edit(op, "zero_infinity=True", made, Argument(op, "zero_infinity", "True"))
    return Edit(op, words.replace("{0}", "loss"), made, in_graph.around(op, words))


def normalized(op: Operation) -> list[Edit]:
    """Of an angle's cosine that is no cosine, as the vectors are not of length 1: made so."""
    product = op.inputs[0].op
    if product.type != "Sum" or product.inputs[0].op.type != "Mul":
        return []
    inner = product.inputs[0].op
    words = "tf.nn.l2_normalize both vectors before: a product is a cosine only where their length is 1"
    return [Edit(inner, words, lambda now: build.Mul(constant(1 - 1e-6, inner.outputs[0]), build.Mul(
        *(l2_normalize(now(t), product.inputs[1]) for t in inner.inputs))))]


def _atan2(op: Operation, now: Now) -> Tensor:
    y, x = map(now, op.inputs)
    zero = constant(0.0, x)
    both = build.LogicalAnd(build.Equal(y, zero), build.Equal(x, zero))
    return build.Atan2(y, build.SelectV2(both, build.OnesLike(x), x))


def _of_argument(op: Operation) -> list[Edit]:
    """Of what the logarithm or root is taken."""
    source = op.inputs[0].op
    if op.type == "Log" and source.type == "Prod":
        return [Edit(op, "tf.reduce_sum(tf.log(x)), of the factors", lambda now: build.Sum(
            build.Log(now(source.inputs[0])), source.inputs[1], **source.attrs),
            instead(op, "reduce_sum({tf}.log({0}){1})", (source, 0), (source, None)))]
    if op.type == "Log" and source.type == "MatrixDeterminant":
        m = source.inputs[0]
        n = (m.dims or (None,))[-1]
        ridge = [replaced(m, "add a little to the diagonal, m + 1e-3 * tf.eye(n): the matrix is singular", partial(
            _with_ridge, n), f"{{0}} + 1e-3 * tf.eye({n})")] if n else []
        return [*ridge, Edit(op, "tf.linalg.slogdet(m)[1]", lambda now: build.LogMatrixDeterminant(now(m))[1],
                             instead(op, "linalg.slogdet({0})[1]", (source, 0)))]
    tanh = _tanh_below(source, "Neg" if op.type == "Log1p" else "Sub")
    if tanh is not None and op.type.startswith("Log"):
        text = f"2.0 * ({np.log(2.0):.7f} - {{0}} - {{tf}}.nn.softplus(-2.0 * {{0}}))"
        words = f"{text.format('x', tf='tf')}, of tanh's x"
        return [Edit(op, words, partial(_log_of_slope, tanh), Rewrite(op, None, text, ((tanh, 0),)), is_exact=True)]
    while source.type in _RAISED:
        source = next((t for t in source.inputs if static_value(t) is None), source.inputs[0]).op
    squares = _variance(source)
    return [] if squares is None else [_centered(source, squares)]


def _centered(difference: Operation, squares: Operation) -> Edit:
    """The mean of the squares of what is left of x less its mean, which rounding leaves positive."""
    square, other = squares.inputs[0].op, difference.inputs[1].op
    mean = other.inputs[0].op
    fits = mean.attrs.get("keep_dims") or mean.outputs[0].dims == ()
    text = "{tf}.reduce_mean({tf}.square({0} - {2}){1})" if fits else "{tf}.math.reduce_variance({0}{1})"
    words = "the mean of squares of x less its mean, " + text.format("x", "", "mean", tf="tf")
    line = Rewrite(difference, None, text, ((square, 0), (squares, None), (other, 0)))
    return Edit(difference, words, partial(_moments, squares), line, is_exact=True)


def _with_ridge(n: int, x: Tensor) -> Tensor:
    dtype = x.dtype.base_dtype
    return build.AddV2(x, build.Const(value=(1e-3 * np.eye(n)).astype(dtype.as_numpy_dtype), dtype=dtype))


def _tanh_below(op: Operation, kind: str) -> Operation | None:
    """The tanh of which `op` is 1 - tanh(x)**2; or -tanh(x)**2, for the kind "Neg"."""
    if op.type != kind or kind == "Sub" and not is_one(op.inputs[0]):
        return None
    square = op.inputs[-1].op
    return square.inputs[0].op if is_squared(square) and square.inputs[0].op.type == "Tanh" else None


def _log_of_slope(tanh: Operation, now: Now) -> Tensor:
    """log(1 - tanh(x)**2), without cancellation."""
    x = now(tanh.inputs[0])
    rest = build.Sub(build.Sub(constant(float(np.log(2.0)), x), x), build.Softplus(build.Mul(constant(-2.0, x), x)))
    return build.Mul(constant(2.0, x), rest)


def _variance(op: Operation) -> Operation | None:
    """The mean of squares of which a squared mean is subtracted."""
    if op.type != "Sub" or op.inputs[0].op.type != "Mean" or not op.inputs[1].op.inputs:
        return None
    squares, mean = op.inputs[0].op, op.inputs[1].op.inputs[0].op
    square = squares.inputs[0].op
    same = square.inputs and mean.type == "Mean" and mean.inputs[0] is square.inputs[0]
    return squares if same and square.type in ("Square", "Mul", "Pow") else None


def _moments(squares: Operation, now: Now) -> Tensor:
    values, axes = now(squares.inputs[0].op.inputs[0]), squares.inputs[1]
    gaps = build.SquaredDifference(values, build.Mean(values, axes, keep_dims=True))
    return build.Mean(gaps, axes, **squares.attrs)


def _of_tanh(op: Operation) -> list[Edit]:
    """Of a logarithm of what tanh gives, as if it were a probability."""
    level = [op.inputs[0].op]
    for _ in range(_NEAR):
        if tanh := next((each for each in level if each.type == "Tanh"), None):
            words, line = "tf.nn.sigmoid in place of tanh, which gives negative numbers", "nn.sigmoid({0})"
            return [Edit(tanh, words, lambda now: build.Sigmoid(now(tanh.inputs[0])), instead(tanh, line, (tanh, 0)))]
        level = [t.op for each in level if each.type in _SHIFTS and
                 all(map(_is_slight, each.inputs)) for t in each.inputs]
    return []


def _is_slight(tensor: Tensor) -> bool:
    """Whether a tensor is no constant, or one that leaves a probability p as it is, or makes 1 - p of it."""
    value = static_value(tensor)
    return value is None or bool(np.all((np.abs(value) < 1e-3) | (np.abs(np.abs(value) - 1) < 1e-3)))


def _as_probability(op: Operation) -> list[Edit]:
    """What the logarithms of both p and 1 - p are taken of, squashed where it is made."""
    x = _unshifted(op.inputs[0])
    p = x.op.inputs[1] if x.op.type == "Sub" and is_one(x.op.inputs[0]) else x
    logs = [log for c in users_of(p.op) if c.type == "Sub" and is_one(c.inputs[0]) for log in (
        *users_of(c), *(each for more in users_of(c) for each in users_of(more)))]
    if op.type != "Log" or source_of(p)[0].type not in _LINEAR or not any(
            log.type == "Log" and p in _unshifted(log.inputs[0]).op.inputs for log in logs):
        return []
    words = "tf.nn.sigmoid where it is made, as the logarithms of p and of 1 - p are taken"
    return [replace(replaced(p, words, build.Sigmoid, "tf.nn.sigmoid({0})"), explains=True)]


def _unshifted(x: Tensor) -> Tensor:
    """A tensor before a small number was added to it."""
    parts = [t for t in x.op.inputs if (value := static_value(t)) is None or np.any(np.abs(value) > 1e-3)]
    return parts[0] if x.op.type in ("Add", "AddV2") and len(parts) == 1 else x


def _kept_positive(op: Operation) -> list[Edit]:
    """What is positive only by chance, made so where it is made."""
    x, source = op.inputs[0], source_of(op.inputs[0])[0]
    if source.type == "Sub" and op.type == "Pow" and not is_one(source.inputs[0]):
        return [on_argument(op, "tf.maximum(tf.abs({}), 1e-6)", lambda x: build.Maximum(
            build.Abs(x), constant(1e-6, x)))]
    while x.op is not source and x.op.type not in _PARTS:
        x = x.op.inputs[0]  # a part of what a layer gives is as it is named there
    if source.type in _PARTS:
        source = source_of(next(t for t in source.inputs if static_value(t) is None))[0]
    if source.type not in _LINEAR or source.type == "Sub" and is_one(source.inputs[0]):
        return []
    return [replaced(x, KEPT_POSITIVE, build.Softplus, "tf.nn.softplus({0})")]


def _over_rows(division: Operation) -> list[Edit]:
    """What is divided by its sum over the batch: by that of each row."""
    total, x = division.inputs[1].op, division.inputs[0]
    axes = static_value(total.inputs[1]) if total.type == "Sum" else None
    if axes is None or np.ravel(axes).tolist() != [0] or len(x.dims or ()) < 2 or not in_graph.alike(
            total.inputs[0], x):
        return []
    return [Edit(division, "x / tf.reduce_sum(x, -1, keepdims=True), the sum of each row in place of the batch's",
                 lambda now: build.RealDiv(now(x), build.Sum(now(x), build.Const(
                     value=np.array([-1], np.int32), dtype=int32), keep_dims=True)),
                 Rewrite(division, 1, "{tf}.reduce_sum({0}, -1, keepdims=True)", ((total, 0),)), explains=True)]


def _without_ties(op: Operation) -> list[Edit]:
    x = op.inputs[0]
    if x.dims is None or len(x.dims) < 2 or None in x.dims[-2:]:
        return []
    rows, columns = x.dims[-2:]
    steps = np.zeros((rows, columns), x.dtype.base_dtype.as_numpy_dtype)
    np.fill_diagonal(steps, _TIE * np.arange(min(rows, columns)))
    words = f"break the tie: x + {_TIE:g} * tf.diag(tf.range(n, dtype=x.dtype))"
    is_plain = rows == columns and x.dtype.base_dtype.name == "float32"
    written = f"{{0}} + {_TIE:g} * {{tf}}.diag({{tf}}.range({rows}.0))" if is_plain else ""

    def apart(x: Tensor) -> Tensor:
        return build.AddV2(x, build.Const(value=steps, dtype=x.dtype.base_dtype))

    if place_of(x.op) != place_of(op):
        return [replaced(x, words, apart, written.replace("{tf}", "tf"))]
    return [Edit(op, words, lambda now: tuple(in_graph.copied(op, (apart(now(x)), *map(now, op.inputs[1:]))).outputs),
                 Rewrite(op, 0, written, ((op, 0),)) if written else None)]


def _mean(op: Operation, now: Now) -> Tensor:
    """A mean that is 0 where there is nothing to take it of."""
    x = now(op.inputs[0])
    total = build.Sum(x, op.inputs[1], **op.attrs)
    count, results = (build.Cast(build.Size(each), dtype=x.dtype.base_dtype) for each in (x, total))
    return build.DivNoNan(total, build.RealDiv(count, build.Maximum(results, constant(1.0, x))))


def without_exponential(y: Tensor, origins: Sequence[Origin]) -> list[Edit]:
    """Of a loss that is an exponential which overflows: what it is taken of, which falls with it."""
    if y.op.type != "Exp" or all(origin.op != y.op.name for origin in origins):
        return []
    return [Edit(y.op, "minimize what tf.exp is taken of, which is least where that is", lambda now: now(
        y.op.inputs[0]))]


def warmer(op: Operation) -> list[Edit]:
    """The exponentials behind an op, outside of its loop too, of what was divided by a small constant: by larger ones.
    """
    behind = reached([op], lambda o: [t.op for t in ((o.attrs["external"],) if o.type == "Captured" else o.inputs)])
    for each in sorted(behind, key=lambda o: (o.graph is op.graph, o.index))[::-1][:_BEHIND]:
        scaled = each.inputs[0].op if each.type == "Exp" else None
        by = static_value(scaled.inputs[1]) if scaled is not None and scaled.type == "RealDiv" else None
        if scaled is not None and by is not None and by.ndim == 0 and 0 < abs(by) <= _COLD:
            told = f"divide by {{:.3g}} in place of {by:.3g}, as exp underflows"
            return [replace(other_constant(scaled, scaled.inputs[1], new, told.format(new)), explains=True, line=Number(
                scaled, float(by), f"{new:.3g}", everywhere=True)) for new in (float(by) * each for each in _FACTORS)]
    return []


def in_float32(op: Operation) -> list[Edit]:
    """The edit for an op of 16 bits; [] for others."""
    if not is_half(op) or len(op.outputs) != 1 or not op.inputs:
        return []
    region, last = {op}, op
    for _ in range(_FAR):
        users = users_of(last)
        if len(users) != 1 or not is_half(users[0]) or len(users[0].outputs) != 1 or users[0].definition.takes_run:
            break
        last = users[0]
        region.add(last)
    after = users_of(last)
    top = after[0] if len(after) == 1 and after[0].type == "Cast" else last

    def made(now: Now) -> Tensor:
        found = _wide(last, region, now)
        return build.Cast(found, dtype=top.outputs[0].dtype.base_dtype) if after else found

    words = f"work in float32, with tf.cast(x, tf.float32) before {op.type}{at_line(place_of(op))} and what follows"
    return [Edit(top, words, made, is_exact=True)]


def _wide(op: Operation, region: set[Operation], now: Now) -> Tensor:
    """The op of what it is given in float32."""
    given = tuple(_wide(t.op, region, now) if t.op in region else _cast(now(t)) for t in op.inputs)
    specs = [Spec(float32, t.dims) for t in op.outputs]
    return get_default_graph().add(op.definition, given, op.attrs, specs, op.name.rpartition("/")[2]).outputs[0]


def _cast(x: Tensor) -> Tensor:
    return build.Cast(x, dtype=float32) if x.dtype.base_dtype.name in ("float16", "bfloat16") else x
