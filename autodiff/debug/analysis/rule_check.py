"""Whether gradient rules are right: each op's rule against central differences of its kernel, in float64.

An op is differentiated at the values it had, and at values moved a little, along random directions: one direction
sees any wrong element with probability 1. What is not smooth at a point (a kink, the end of a domain) is not judged
there. Source of the test of directions: Martens, Griewank and others; the steps are by hand, checked by
tests/test_check.py on mutated rules.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...api.control.custom import CustomRule
from ...core.convert import to_tensor
from ...core.dtypes import as_dtype
from ...core.errors import AutodiffError, NoGradientError, ShapeError
from ...core.function_graph import functions_of, is_repeatable
from ...core.graph import Graph, Operation, Tensor
from ...core.indexed_slices import dense
from ...core.op import REGISTERED_GRADIENTS, build
from ...core.traversal import descendants
from ...gradients.backprop import gradients
from ...gradients.between import carries_gradient
from ...runtime.session import RepeatSession
from ..facts.roles import place_of
from .findings import RuleCheck
from .float64_kernels import Kernels, Values, own_attrs, wide_attrs, wide_session, widened
from .slopes import RTOL, STRAIGHT, Slope, factor_of, guess, meant_by, slope_along

_KEPT = {"SoftmaxCrossEntropyWithLogits": (1,)}  # inputs that must stay what they are: distributions
_FAR = 1e6  # by which factor outputs may be larger at another point that is looked at
_SYMMETRIC = ("Cholesky", "SelfAdjointEigV2")  # ops that read one half of a symmetric matrix
_SECOND = 50.0  # differences of a gradient that is itself rounded allow that much more
_RTOL_NARROW = 2e-3  # where the rule is evaluated in float32
_DIRECTIONS = 3
_MOVED = 0.02  # how far the second point lies from the first, relative


def check_op(op: Operation, known: Values, building: Any, order: int = 1) -> list[RuleCheck]:
    """One finding for each input that the rule gives a gradient. known: values, of the op's inputs at least.

    building: a context in which ops may join the op's own graph unseen; only needed for custom gradients. order 2:
    the derivative of the rule's result too. An op that cannot be checked gives one finding that says why.
    """
    if functions_of(op) and not is_repeatable(op):
        return [_finding(op, "", "unchecked", None, "it draws numbers, reads variables or calls Python: only the ops "
                         "inside are judged", order)]
    rule = REGISTERED_GRADIENTS.get(op.override or "")
    if isinstance(rule, CustomRule) and rule.is_convention:
        return [_finding(op, "", "unchecked", None, "its gradient is the framework's own, by definition", order)]
    try:
        if isinstance(rule, CustomRule):
            checked: _Checked = _Custom(op, rule, known, building)
        else:
            checked = _Plain(op, known)
        with np.errstate(all="ignore"):
            found = checked.checks(1)
            if order > 1:
                names = {check.input for check in found if check.verdict != "none"}
                checked.moving = [i for i in checked.moving if op.inputs[i].name in names]
                found += checked.checks(2)
            return found
    except NoGradientError as error:
        return [_finding(op, "", "missing", None, error.message.partition("\n")[0], order)]
    except ShapeError as error:
        note = error.message.partition("\n")[0]
        return [_finding(op, "", "wrong" if "the gradient of" in note else "unchecked", None, note, order)]
    except (AutodiffError, ValueError, TypeError, IndexError, ArithmeticError, KeyError) as error:
        note = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        return [_finding(op, "", "unchecked", None, note, order)]


def _finding(op: Operation, tensor: str, verdict: str, slope: Slope | None, note: str, order: int) -> RuleCheck:
    analytic, numeric, error = (None, None, None) if slope is None else (slope.analytic, slope.numeric, slope.error)
    return RuleCheck(op.name, op.type, tensor, verdict, order, analytic, numeric, error, note, place_of(op))


class _Checked:
    """An op as a function of some inputs. points: where to look; each a list with a value for every input."""

    op: Operation
    moving: list[int]  # inputs that are moved
    factors: dict[int, list[float]]  # of inputs that are given on as they are: what their gradient is multiplied by
    size = 0.0  # of the largest output at the op's own point

    def outputs(self, inputs: Sequence[Any]) -> list[np.ndarray]:
        """Values of the differentiable outputs."""
        raise NotImplementedError

    def derivatives(self, inputs: Sequence[Any], weights: Sequence[Any], order: int) -> list[Any]:
        """By the rule: gradients of the weighted outputs (order 1), or of the weighted gradients (2); or None."""
        raise NotImplementedError

    def checks(self, order: int) -> list[RuleCheck]:
        rng = np.random.default_rng(7)
        first = [widened(v) for v in self.given]
        free = [i for i in self.moving if i not in _KEPT.get(self.op.type, ())]
        points = [first]
        moves = (_moved,) if functions_of(self.op) else (_moved, _mixed)  # a loop might not end with its numbers mixed
        points += [[self._allowed(i, move(v, rng)) if i in free else v for i, v in enumerate(first)] for move in moves]
        slopes: dict[int, list[list[Slope]]] = {i: [] for i in self.moving}
        none: set[int] = set()
        self.factors = {}
        for point in points:
            here: dict[int, list[Slope]] = {i: [] for i in self.moving}
            try:
                self._look(point, order, rng, here, none)
            except (AutodiffError, ValueError, ArithmeticError):
                if point is first:
                    raise  # the other points may well be outside of the op's domain
            for i in self.moving:
                slopes[i].append(here[i])
        return [self._verdict(i, slopes[i], i in none, order) for i in self.moving]

    def _allowed(self, index: int, value: np.ndarray) -> np.ndarray:
        """A value for an input: symmetric where only that is asked for, as rules differ in which half they read."""
        takers = (self.op, *self.op.inputs[index]._consumers)
        return (value + np.conj(np.swapaxes(value, -1, -2))) / 2 if any(
            taker.type in _SYMMETRIC for taker in takers) else value

    def _look(self, point: list[Any], order: int, rng: np.random.Generator, slopes: dict[int, list[Slope]],
              none: set[int]) -> None:
        outputs = self.outputs(point)
        if any(y.dtype.itemsize < (16 if y.dtype.kind == "c" else 8) for y in outputs):
            self.rtol = _RTOL_NARROW  # the kernel gives float32 whatever it is given
        if not all(np.isfinite(y).all() for y in outputs):
            return
        size = max((float(np.abs(y).max()) for y in outputs if y.size), default=0.0)
        self.size = self.size or size
        if size > _FAR * self.size:  # too far from the op's own point for differences to tell, as of a product of many
            return
        first_weights = [_direction(y, rng) for y in outputs]
        if order == 1:
            weights, function = first_weights, self.outputs
        else:
            def function(inputs: Sequence[Any]) -> list[Any]:
                return [g for g in self.derivatives(inputs, [first_weights], 1) if g is not None]

            weights = [_direction(g, rng) for g in function(point)]
        given = [weights] if order == 1 else [first_weights, weights]
        found = self.derivatives(point, given, order)
        for i, dx in zip(self.moving, found):
            if dx is None:
                none.add(i)
                continue
            if not np.isfinite(dx).all():
                continue
            if order == 1 and len(outputs) == 1 and np.array_equal(outputs[0], np.asarray(point[i])):
                self.factors.setdefault(i, []).append(factor_of(dx, weights[0]))
            for _ in range(1 if functions_of(self.op) else _DIRECTIONS):  # the ops of a loop are judged one by one too
                along = self._allowed(i, _direction(point[i], rng) * _scale(np.asarray(point[i])))
                slope = slope_along(function, point, i, dx, weights, along, self.rtol)
                if slope is not None:
                    slopes[i].append(slope)

    def _verdict(self, index: int, points: list[list[Slope]], is_none: bool, order: int) -> RuleCheck:
        """By the points other than the op's own, if they tell: at a single one a rule may keep to a convention."""
        name = self.op.inputs[index].name
        slopes = [slope for point in points[1:] for slope in point] or points[0]
        if is_none and not slopes:
            return _finding(self.op, name, "none", None, "the rule gives no gradient for this input", order)
        if not slopes:
            return _finding(self.op, name, "unchecked", None, "not smooth or not finite at its values", order)
        worst = max(slopes, key=lambda slope: slope.error)
        if worst.error <= max(self.near, self.rtol * _SECOND ** (order - 1)):
            return _finding(self.op, name, "right", worst, "", order)
        meant = ""
        if order == 1 and self.op.override is not None:  # the script's own
            flat = not any(slope.numeric for slope in slopes)
            meant = STRAIGHT if flat else meant_by(self.factors.get(index, []), len(points))
        return _finding(self.op, name, "meant" if meant else "wrong", worst, meant or guess(worst), order)

    given: Sequence[Any]
    rtol, near = RTOL, 0.0


def _direction(like: Any, rng: np.random.Generator) -> np.ndarray:
    found = rng.standard_normal(np.shape(like))
    return found + 1j * rng.standard_normal(np.shape(like)) if np.iscomplexobj(like) else found


def _scale(x: np.ndarray) -> np.ndarray:
    """How far each element may be moved: its own size, the common size where it is zero."""
    size = np.abs(x)
    common = float(np.sqrt(np.mean(size * size))) if size.size else 0.0
    return np.where(size == 0, common or 1.0, size)


def _moved(x: Any, rng: np.random.Generator) -> Any:
    array = np.asarray(x)
    return array if not array.size else array + _MOVED * _direction(array, rng) * _scale(array)


def _mixed(x: Any, rng: np.random.Generator) -> Any:
    """The same numbers at other places: what is zero or largest is so elsewhere."""
    array = np.asarray(x)
    return _moved(rng.permutation(array.ravel()).reshape(array.shape), rng)


def _differentiated(ys: list[Tensor], xs: list[Tensor], weights: Sequence[Any]) -> tuple[list[list[Tensor]], list[Any]]:
    """Gradients by xs of ys times weights; with more weights, of those gradients times the next, and so on.

    Gives the placeholders that the weights are fed to, and the last gradients or Nones.
    """
    seeds: list[list[Tensor]] = []
    found: list[Any] = []
    for values in weights:
        seeds.append([build.Placeholder(dtype=y.dtype.base_dtype, shape=list(np.shape(w))) for y, w in zip(ys, values)])
        found = [None if g is None else dense(g) for g in gradients(ys, xs, grad_ys=list(seeds[-1]))]
        ys = [g for g in found if g is not None]
        if not ys:
            break
    return seeds, found


class _Plain(_Checked):
    """An op whose rule builds graph from the op alone: it is repeated in a graph of its own."""

    def __init__(self, op: Operation, known: Values) -> None:
        inputs = [known[t] for t in op.inputs]
        self.op, self.given = op, inputs
        self._is_wide = not functions_of(op)  # functions are of the types they were built for
        self.rtol = RTOL if self._is_wide else _RTOL_NARROW
        self._kernels = Kernels(op.graph.outermost)
        self._graphs: dict[int, tuple[RepeatSession, list[Any], list[list[Tensor]], list[Any]]] = {}
        used = [any(taker.gradient_of is None for taker in t._consumers) for t in op.outputs]
        self._ys = [k for k, t in enumerate(op.outputs) if t.dtype.base_dtype.is_differentiable
                    and (used[k] or not any(used))]  # what only a gradient takes, as of CTCLoss, has no rule of its own
        self.moving = [i for i, t in enumerate(op.inputs) if t.dtype.base_dtype.is_differentiable
                       and np.asarray(inputs[i]).dtype.kind in "fc" and np.size(inputs[i])] if self._ys else []

    def outputs(self, inputs: Sequence[Any]) -> list[np.ndarray]:
        found = self._kernels.of(self.op, inputs)
        return [np.asarray(found[k]) for k in self._ys]

    def derivatives(self, inputs: Sequence[Any], weights: Sequence[Any], order: int) -> list[Any]:
        if order not in self._graphs:
            self._graphs[order] = self._built(inputs, weights, order)
        session, places, seeds, found = self._graphs[order]
        feeds = {p: v for p, v in zip(places, inputs) if p is not None}
        for tensors, values in zip(seeds, weights):
            feeds.update(zip(tensors, values))
        present = [g for g in found if g is not None]
        values = iter(session.start(present, feeds).finish() if present else ())
        return [None if g is None else next(values) for g in found]

    def _built(self, inputs: Sequence[Any], weights: Sequence[Any], order: int) -> Any:
        graph = Graph()
        overrides = {self.op.type: self.op.override} if self.op.override else {}
        with graph.as_default():
            places = [self._place(i, v) if i in self.moving or isinstance(v, list) else None
                      for i, v in enumerate(inputs)]
            tensors = [p if p is not None else to_tensor(graph, v, None, "given") for p, v in zip(places, inputs)]
            with graph.gradient_override_map(overrides):
                attrs = wide_attrs(self.op) if self._is_wide else own_attrs(self.op.attrs)
                made = self.op.definition(*tensors, name="checked", **attrs)
            made = made if isinstance(made, (list, tuple)) else [made]
            seeds, found = _differentiated([made[k] for k in self._ys], [tensors[i] for i in self.moving], weights)
        return (wide_session if self._is_wide else RepeatSession)(graph=graph), places, seeds, found

    def _place(self, index: int, value: Any) -> Tensor:
        if isinstance(value, list):
            return build.Placeholder(dtype="variant", shape=[])
        dtype = as_dtype(np.asarray(value).dtype) if self._is_wide else self.op.inputs[index].dtype.base_dtype
        return build.Placeholder(dtype=dtype, shape=list(np.shape(value)))


class _Custom(_Checked):
    """A function with a gradient of its own: its rule is built where the function was, as it may use what is there.

    What it computes may be found by iterating until it is near enough, as a fixed point is.
    """

    near = 1e-3

    def __init__(self, op: Operation, rule: CustomRule, known: Values, building: Any) -> None:
        self.op, self.given, self._building = op, [known[t] for t in op.inputs], building
        self._results = list(op.inputs[:rule.results])
        self._xs = list(op.inputs[rule.results:rule.results + rule.inputs])
        self.moving = [rule.results + i for i, t in enumerate(self._xs) if carries_gradient(t)]
        self._kernels = Kernels(op.graph.outermost)
        self._known = {t: widened(v) for t, v in known.items()}
        self._graphs: dict[int, Any] = {}

    def _without_results(self, inputs: Sequence[Any]) -> dict[Tensor, Any]:
        """What is known, but for what depends on the arguments, which have the values given."""
        below = descendants(self._xs)
        found = {t: v for t, v in self._known.items() if t.op not in below}
        found.update({t: inputs[i] for i, t in enumerate(self.op.inputs) if t in self._xs})
        return found

    def outputs(self, inputs: Sequence[Any]) -> list[np.ndarray]:
        return [np.asarray(v) for v in self._kernels.values(self._results, self._without_results(inputs))]

    def derivatives(self, inputs: Sequence[Any], weights: Sequence[Any], order: int) -> list[Any]:
        if order not in self._graphs:
            self._graphs[order] = self._built(weights)
        seeds, found = self._graphs[order]
        known = self._without_results(inputs)
        for tensors, values in zip(seeds, weights):
            known.update(zip(tensors, values))
        return [None if g is None else np.asarray(self._kernels.values([g], known)[0]) for g in found]

    def _built(self, weights: Sequence[Any]) -> tuple[list[list[Tensor]], list[Any]]:
        with self._building():
            return _differentiated(list(self.op.outputs[:len(self._results)]),
                                   [self.op.inputs[i] for i in self.moving], weights)
