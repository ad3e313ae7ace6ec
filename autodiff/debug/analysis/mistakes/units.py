"""Units that are dead or saturated, as what activations were given in several steps shows; gradients that vanish with
depth; and units that a reshape takes for places."""
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import permutations

import numpy as np

from ....core.constant_value import static_value
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, past, users_of
from ...facts.roles import LAYERS, VARIABLES, at_line, place_of
from ..attenuation import SATURATING
from ..findings import Finding
from .case import Case, finding, gradients_of, held, is_variable_read
from .heads import ENTROPIES, SAME, heads, through
from .start import SMALL, is_hidden, kernels_of

_DEAD = 0.9  # share of inputs of a relu that are <= 0 above which it counts as dead
_ALL, _HALF = 0.99, 0.5  # share of them, or of its units, from which on it does harm
_UNITS = 0.25  # share of units of a relu layer that no example gets through
_FAR = 0.5  # share of saturated inputs above which a squashing function counts as saturated
_EXAMPLES = 64  # fewer rows than these do not show that a unit is dead
_RELUS = ("Relu", "Relu6")
ACTIVATIONS = (*_RELUS, *SATURATING)
_SUMS = ("Sum", "Mean", "Add", "AddV2", "AddN", "Reshape", "Identity", "Squeeze", "Square", "Pow")  # of a loss
_LOST = 1e-3  # of the size of the gradient at the last layer
_DIMMED, _STUCK, _MANY = 0.05, 0.95, 20  # the same of sigmoids, if in so many steps so much of a guess is left
_LAYERS = ("MatMul", "Conv2D")
_OVER, _PAST, _MOVED, _NO_BETTER = 30, 1e-4, 0.2, 0.9  # steps; of a gradient; of a kernel; of the loss of a guess
_FEWEST = 4  # steps that show whether a training gets on
_ALIKE = ("BiasAdd", "Add", "AddV2", "Sub", "Mul", "RealDiv", "Transpose", "FusedBatchNorm", "FusedBatchNormV3", *SAME)
_DEEP = 60  # ops between a layer and what is looked at
_REVIVE = "lower the learning rate, initialize biases above 0, or use tf.nn.leaky_relu"


def unit_findings(op: Operation, arrays: Sequence[np.ndarray], *, learns: bool) -> list[Finding]:
    """What the inputs of an activation in several steps show. learns: the loss falls all the same."""
    value = _rows(arrays)
    if not value.size or value.dtype.kind != "f":
        return []
    return _dead(op, value, learns) if op.type in _RELUS else _saturated(op, value)


def is_hinge(relu: Operation, y: Tensor, trained: Collection[Operation]) -> bool:
    """Whether y is a sum or mean of what a relu gives, perhaps weighed: where that is 0, nothing is left to learn."""
    behind, reached = ancestors([y]), [relu]
    for op in reached:
        for user in (each for each in users_of(op) if each in behind and each not in reached):
            others = [t for t in user.inputs if t.op not in reached]
            if user.type not in _SUMS and not (user.type in ("Mul", "RealDiv") and not any(
                    t.op in trained for t in others)):
                return False
            reached.append(user)
    return y.op in reached[1:]


def _rows(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """What an activation was given in several steps, as one array of all examples where their shapes allow it."""
    first = arrays[0]
    fitting = [a for a in arrays if a.ndim == first.ndim > 1 and a.shape[1:] == first.shape[1:]]
    return np.concatenate(fitting) if len(fitting) > 1 else first


def _dead(op: Operation, value: np.ndarray, learns: bool) -> list[Finding]:
    dead = float((value <= 0).mean())
    units = ((value <= 0).reshape(-1, value.shape[-1]).all(axis=0) if value.ndim > 1 else np.zeros(1, bool))
    rows = value.size // max(value.shape[-1], 1) if value.ndim > 1 else value.size
    if dead >= _DEAD:
        is_sparse = dead < _ALL and not (rows >= _EXAMPLES and units.mean() > _HALF)  # others wake for other examples
        weight, kind = 58 if dead == 1 else 38 if is_sparse else 40, "dead relu"
        what = f"{dead:.0%} of its inputs are <= 0, where relu lets nothing through"
    elif units.mean() > _UNITS and rows >= _EXAMPLES:
        weight, kind, what = 28, "dead units", f"{units.sum()} of its {units.size} units are 0 for every example"
    else:
        return []
    return [finding(min(weight, 38) if learns else weight, kind, op, f"{op.name} ({op.type}): {what}", _REVIVE,
                    target=op.outputs[0].name, ask=f"print /d {op.inputs[0].name}")]


def _saturated(op: Operation, value: np.ndarray) -> list[Finding]:
    far = float((np.abs(value) > (4 if op.type == "Sigmoid" else 2)).mean())
    if far < _FAR:
        return []
    return [finding(38, "saturated", op, f"{op.name} ({op.type}): {far:.0%} of its inputs are saturated (largest "
                    f"{np.abs(value).max():.3g})", "scale the inputs or initial weights down, or normalize the layer",
                    target=op.outputs[0].name, ask=f"print /d {op.inputs[0].name}")]


def depth_mistakes(case: Case) -> list[Finding]:
    """A first layer whose gradient is next to nothing beside that of the last, in a training that does not get on."""
    if len(case.steps) < _FEWEST or case.learns or case.is_spoiled:
        return []
    if found := _out_of_reach(case):
        return found
    squashing = [op for op in case.behind if op.type in SATURATING and op in case.trained]
    is_stuck = len(case.steps) >= _MANY and case.last_loss > _STUCK * min(case.first_loss, case.guess)
    sizes = _sizes(case)
    layers = min(sum(op.type == "Sigmoid" for op in squashing), len({x for x, *_ in sizes}) - 1)  # not steps in time
    lost = _DIMMED if is_stuck and layers > 2 else _LOST
    if not sizes or not any(0 < size < lost * sizes[-1][2] for _, _, size in sizes):
        return []
    sizes = _in_line(sizes)
    (first, product, size), (last, _, end) = sizes[0], sizes[-1]
    if len(sizes) < 3 or not 0 < size < lost * end:
        return []
    what = (f"{len(squashing)} squashing functions ({squashing[0].type}{at_line(place_of(squashing[0]))}) lie between"
            if squashing else "each layer between shrinks it")
    return [finding(64, "vanishing gradient", squashing[0] if squashing else product, "the gradient vanishes on the "
                    f"way back: at step {case.looked[0].step} an element of that of {last.name}, the last layer, is "
                    f"{end:.2g}, and of {first.name}, the first, {size:.2g}: {what}, so the first layers hardly learn, "
                    f"and the loss stays at {case.last_loss:.4g}", "use tf.nn.relu in hidden layers, skip connections, "
                    "or batch normalization", target=first.name, step=case.looked[0].step)]


def _out_of_reach(case: Case) -> list[Finding]:
    """Kernels so small that hardly any gradient comes past them, at first and at last: a bias learns one answer."""
    kernels = kernels_of(case)
    first, last, raw = case.steps[0].before, case.steps[-1].after, gradients_of(case)
    below = [v for v, _, product in kernels if is_hidden(product, kernels) and product.type != "While" and v in raw]
    small = [(float(np.sqrt(np.mean(w ** 2) * w[..., 0].size)), w, v) for v, w, _ in kernels if v in raw]
    small = [each for each in small if each[0] < SMALL]
    above = [v for v in raw if v not in below]
    if len(small) < 2 or not below or not above or len(case.steps) < _OVER or (
            case.last_loss < _NO_BETTER * min(case.guess, case.first_loss)):
        return []
    case.want(*raw.values())
    sizes = [{v: float(np.linalg.norm(known[g])) for v, g in raw.items() if g in known}
             for known in map(case.values, (case.looked[0], case.looked[-1]))]
    reach = [max(each.get(v, np.inf) for v in below) / max(1e-30, *(each.get(v, 0.0) for v in above)) for each in sizes]
    moved = max(float(np.linalg.norm(last[v.op.name] - first[v.op.name]) / np.linalg.norm(first[v.op.name]))
                for v in below)
    if max(reach) > _PAST or moved > _MOVED:
        return []
    _, value, variable = max(small, key=lambda each: each[1][..., 0].size)
    size, most = sizes[-1], max(sizes[-1], key=lambda v: sizes[-1][v])
    return [finding(72, "initial values too small", variable.op, f"{len(small)} kernels begin so small, "
                    f"{variable.name} with the standard deviation {value.std():.3g}, that no gradient comes past them:"
                    f" in step {case.steps[-1].step} it is {max(size[v] for v in below):.2g} at {below[-1].name}, and "
                    f"{size[most]:.2g} at {most.name}, which alone learns; all the steps moved the kernels before the "
                    f"last by {moved:.1%} of their size, so one answer is given to all: the loss stays at "
                    f"{case.last_loss:.4g}", f"initialize with stddev={1 / np.sqrt(value[..., 0].size):.2g}, by "
                    "tf.glorot_uniform_initializer()", target=variable.name, step=case.steps[0].step)]


def _sizes(case: Case) -> list[tuple[Tensor, Operation, float]]:
    """Kernels in the order of their layers, with the root mean square of their first gradients."""
    raw = gradients_of(case)
    case.want(*raw.values())
    values = case.values(case.looked[0])
    found = []
    for op in case.behind:
        x = held(op.inputs[1]).outputs[0] if op.type in _LAYERS else None
        if x is not None and raw.get(x) in values:
            found.append((x, op, float(np.sqrt(np.mean(np.square(values[raw[x]], dtype=float))))))
    return found


def _in_line(sizes: list[tuple[Tensor, Operation, float]]) -> list[tuple[Tensor, Operation, float]]:
    """The layers that all later ones come after: not those beside others, such as the queries of an attention."""
    found: list[tuple[Tensor, Operation, float]] = []
    shared: set[Operation] | None = None  # what all later ones are computed from
    for each in reversed(sizes):
        if shared is None or each[1] in shared:
            found.insert(0, each)
        below = ancestors([each[1].outputs[0]])
        shared = below if shared is None else shared & below
    return found


def axes_mixed(op: Operation, case: Case) -> Iterator[Finding]:
    """[batch, time, n] reshaped to [time, batch, n]: the examples are mixed, not transposed."""
    if op.type != "Reshape":
        return
    dims, to = ([n for n in t.dims or () if n != 1] for t in (op.inputs[0], op.outputs[0]))
    said = (f"{op.name} reshapes {op.inputs[0].name} of shape {shape_of(op.inputs[0].dims)} to "
            f"{shape_of(op.outputs[0].dims)}: the elements keep their order, so ")
    if dims != to and len(dims) > 1 and Counter(dims) == Counter(to) and dims.count(None) < 2:
        mixed = ("the axes of each example are mixed, not moved" if dims[0] == to[0] else
                 "what is of one example is dealt out to several")
        yield finding(66, "reshape for transpose", op, f"{said}{mixed}",
                      f"tf.transpose, which moves the axes: tf.transpose(x, {[*order_of(op)] or [1, 0, 2]})")
    elif op in case.trained and (order := order_of(op)) and (taker := _along_units(op, case)) is not None:
        yield finding(70, "reshape for transpose", op, f"{said}a row has not the {to[-1]} units of one place, but "
                      f"{to[-1]} places of one unit, and {taker.name} ({taker.type}{at_line(place_of(taker))}) takes "
                      f"them for units", f"move the axes first: tf.transpose(x, {[*order]})", confidence="certain")


def order_of(op: Operation) -> tuple[int, ...]:
    """The order of axes that a reshape has taken for that of its input; () where it is none.

    For a shape of fewer axes, or as many that are others, it is that in which the units of a layer come last.
    """
    dims, to = op.inputs[0].dims or (), op.outputs[0].dims or ()
    if len(dims) == len(to) <= 4 and dims != to and (known := next((order for order in permutations(range(len(dims)))
                                                                    if [dims[i] for i in order] == [*to]), None)):
        return known
    axis = _units_in(op.inputs[0])
    if axis is None or not to or to[-1] in (None, 1, dims[-1]) or to[-1] != dims[axis] or not _wide(dims[axis + 1:]):
        return ()
    return (*(i for i in range(len(dims)) if i != axis), axis)


def order_told(op: Operation, finding: Finding) -> tuple[int, ...]:
    """The order of the axes of what a reshape is given that a remedy says, () for none."""
    told = re.search(r"(?:transpose|permute)\(x, \[([\d, ]+)\]", finding.remedy)
    order = tuple(map(int, told[1].split(","))) if told else ()
    return order if len(order) == len(op.inputs[0].dims or ()) else ()


def _units_in(tensor: Tensor, depth: int = _DEEP) -> int | None:
    """The axis along which the units of the layer lie whose output a tensor is, otherwise arranged or activated."""
    op, dims = tensor.op, tensor.dims or ()
    if op.type in LAYERS:
        is_first = str(op.attrs.get("data_format", "")).startswith("NC")
        return (1 if is_first else len(dims) - 1) if _is_kernel(op.inputs[1]) and dims else None
    source = next((t for t in op.inputs if t.op.inputs and not is_variable_read(t)), None)
    if source is None or op.type not in (*ACTIVATIONS, *_ALIKE) or not depth:
        return None
    axis, old = _units_in(source, depth - 1), source.dims or ()
    if axis is None or op.type in ("Transpose", *SAME):
        order = static_value(op.inputs[1]) if op.type == "Transpose" else None
        return axis if axis is None else next((i for i, n in enumerate(dims) if (
            order[i] == axis if order is not None else n == old[axis] and _wide(dims[i + 1:]) == _wide(
                old[axis + 1:]))), None)
    return axis if len(old) == len(dims) else None


def _is_kernel(tensor: Tensor) -> bool:
    return past(tensor, ("Transpose", "ReadVariableOp", *SAME)).op.type in VARIABLES


def _wide(dims: Iterable[int | None]) -> list[int | None]:
    return [n for n in dims if n != 1]


def _along_units(op: Operation, case: Case) -> Operation | None:
    """What takes the last axis of what a reshape gives for that of units: a softmax, a cross entropy, or a layer."""
    takers, width = through(op.outputs[0]), op.outputs[0].dims
    for taker in takers:  # and what takes it activated
        takers += through(taker.outputs[0]) if taker.type in ACTIVATIONS and taker.outputs[0].dims == width else []
    compared = [head.op for head in heads(case) if head.form in ("softmax", "sparse")
                and head.prediction.op in (op, *takers) and head.prediction.dims == width]
    layers = [c for c in takers if c.type in ("Softmax", "LogSoftmax", *ENTROPIES) or c.type in _LAYERS
              and _is_kernel(c.inputs[1])]
    return next(iter([*layers, *compared]), None)


def shape_of(dims: tuple[int | None, ...] | None) -> str:
    """Sizes, ? where one is left open."""
    return "[" + ", ".join("?" if n is None else str(n) for n in dims or ()) + "]"
