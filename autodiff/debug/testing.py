"""assert_gradients_close: are gradients right, asked by a test, and answered with the reason where they are not."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..core.defaults import get_default_session, session_for
from ..core.errors import ArgumentError, AutodiffError, KindError
from ..core.function_graph import functions_of
from ..core.graph import Tensor, get_default_graph
from ..core.indexed_slices import dense
from ..core.traversal import ancestors, dependencies, descendants
from ..gradients.backprop import gradients
from ..runtime.session import Session
from .analysis.element_slopes import Slope, slopes
from .analysis.float64_kernels import Kernels, widened
from .analysis.flow import cuts_between
from .debugger import Debugger
from .facts.roles import is_variable
from .history.replay import Moment

__all__ = ["assert_gradients_close"]

MOST = 100  # elements of x that are moved; of a larger x, a sample
SHOWN = 5  # elements of each kind that are listed
STEPS = {np.float64: 1e-6, np.float32: 1e-2}  # relative, in the precision that y is computed in
ROUNDING = {np.float64: 1e-15, np.float32: 2e-7}


def assert_gradients_close(y: Any, x: Any, feed_dict: Mapping[Any, Any] | None = None, *, expected: Any = None,
                           session: Session | None = None, rtol: float = 1e-3, atol: float = 1e-4,
                           delta: float = 0.0) -> None:
    """Fail, and say why, unless d sum(y) / d x is what it should be in the session (the default one if None).

    y: a tensor or its name; x: a tensor, variable or name, or a list of them. expected: the right gradient, of x's
    shape, or a list of them; without it differences to both sides of at most 100 elements of x, by steps of `delta`
    times the element (1e-6 unless told). They are taken in float64 where the ops can, from the values and with the
    random draws of the one run that the gradient is of. At a kink, as relu(0), any slope between the sides is right.
    Raises AssertionError, whose text says which elements differ, and what `why` finds, or the op that `check` blames.
    """
    xs = list(x) if isinstance(x, (list, tuple)) else [x]
    rights = list(expected) if isinstance(x, (list, tuple)) and expected is not None else [expected] * len(xs)
    if len(rights) != len(xs):
        raise ArgumentError(expected=f"{len(xs)} expected gradients, one for each x", found=len(rights))
    tested = _Tested.of(y, session, feed_dict)
    wrong = [text for one, right in zip(xs, rights) if (text := tested.mistake(one, right, rtol, atol, delta))]
    if wrong:
        raise AssertionError("\n".join(wrong))


class _Tested(NamedTuple):
    """y in one run, which all is compared in."""

    y: Tensor
    debugger: Debugger
    moment: Moment

    @classmethod
    def of(cls, y: Any, session: Session | None, feed_dict: Mapping[Any, Any] | None) -> "_Tested":
        [y] = y if isinstance(y, (list, tuple)) and len(y) == 1 else [y]
        session = session if session is not None else get_default_session()
        debugger = Debugger(getattr(y, "graph", None) or getattr(session, "graph", get_default_graph()), session)
        tensor = debugger.model.targets.outside(y) if isinstance(y, str) else y
        if not isinstance(tensor, Tensor):
            raise KindError(expected="a tensor or the name of one", found=repr(y))
        debugger.on_run(session_for(tensor.graph, session, "check a gradient"), tensor, dict(feed_dict or {}))
        return cls(tensor, debugger, debugger.state.moment_for([tensor]))

    def mistake(self, x: Any, expected: Any, rtol: float, atol: float, delta: float) -> str:
        """What is wrong with the gradient by x; "" if nothing is."""
        tensor = self.debugger.model.targets.outside(x) if isinstance(x, str) else getattr(x, "handle_tensor", x)
        if not isinstance(tensor, Tensor):
            raise KindError(expected="a tensor, a variable, the name of one, or a list of them", found=repr(x))
        with self.debugger.model.derivatives.hidden.building():
            made = gradients(self.y, tensor)[0]
            made = None if made is None else dense(made)
        if made is None:
            return f"there is no gradient of {self.y.name} by {tensor.name}\n{self._why(tensor)}"
        state = self.debugger.state
        value, found = (np.asarray(v) for v in state.values([tensor, made], self.moment))
        if expected is not None:
            where = np.arange(value.size)
            right = np.broadcast_to(np.asarray(expected), value.shape).reshape(-1)
            fits = np.isclose(found.reshape(-1), right, rtol=rtol, atol=atol, equal_nan=True)
            return self._told(tensor, value, found, where[~fits], right[~fits], len(where))
        where = np.arange(value.size) if value.size <= MOST else np.sort(
            np.random.default_rng(0).choice(value.size, MOST, replace=False))
        numeric = self._slopes(tensor, value, where, delta)
        if all(np.isnan(slope.middle) for slope in numeric) and numeric:
            return (f"the gradient of {self.y.name} by {tensor.name} cannot be compared: {self.y.name} itself is not "
                    f"finite\n{self._why(tensor)}")
        got = found.reshape(-1)[where]
        if not all(slope.fits(g, rtol, atol) for slope, g in zip(numeric, got)):
            got = self._in_float64(tensor, made, got, where)  # rounding is no mistake of a rule
        fits = np.array([slope.fits(g, rtol, atol) for slope, g in zip(numeric, got)], bool)
        right = np.array([slope.middle for slope in numeric])
        return self._told(tensor, value, found, where[~fits], right[~fits], len(where))

    def _slopes(self, x: Tensor, value: np.ndarray, where: np.ndarray, delta: float) -> list[Slope]:
        """In float64 by the kernels alone; where there is a loop, branch or Python function, by runs as they are."""
        for total, kind in ((self._total_of_kernels, np.float64), (self._total_of_runs, np.float32)):
            start = value.astype(kind) if value.dtype.itemsize <= np.dtype(kind).itemsize else value
            try:
                return slopes(total(x), start, list(where), delta or STEPS[kind], ROUNDING[kind])
            except (AutodiffError, ArithmeticError, ValueError, TypeError, KeyError) as error:
                failed = error
        raise failed

    def _known(self, tensors: list[Tensor]) -> dict[Tensor, Any]:
        """The widened values of all that a run is given or draws, for these tensors."""
        ops = dependencies(tensors)
        if any(functions_of(op) or op.type.endswith("PyFunc") for op in ops):
            raise ArgumentError("a loop, branch or Python function is of the types it was made for")
        leaves = [op for op in ops if not op.inputs or "seed" in op.attrs]  # those that draw have a seed
        known = self.debugger.state.values_known(leaves, self.moment)
        known.update(self.moment.feeds)
        return {tensor: widened(v) for tensor, v in known.items()}

    def _total_of_kernels(self, x: Tensor) -> Callable[[np.ndarray], float]:
        known, kernels = self._known([self.y]), Kernels(self.y.graph)
        below = descendants([x])
        beside = [t for op in ancestors([self.y], known) - below for t in op.outputs]
        known = {t: v for t, v in known.items() if t is not x} | dict(zip(beside, kernels.values(beside, known)))
        read = [op.outputs[0] for op in x._consumers if op.type == "ReadVariableOp"]
        def total(moved: np.ndarray) -> float:
            return float(np.sum(kernels.values([self.y], {**known, **dict.fromkeys((x, *read), moved)})[0]))
        return total

    def _total_of_runs(self, x: Tensor) -> Callable[[np.ndarray], float]:
        given = replace(self.moment, outcomes={})  # Python's functions are called again
        replayer = self.debugger.state.replayer

        def total(moved: np.ndarray) -> float:
            given_x: np.ndarray = moved.astype(x.dtype.base_dtype.as_numpy_dtype)
            at = replace(given, variables={**given.variables, x.op.name: given_x}) if is_variable(x) else given
            found = replayer.values(at, [self.y], {} if is_variable(x) else {x: given_x})
            return float(np.sum(np.asarray(found[0], np.float64)))
        return total

    def _in_float64(self, x: Tensor, made: Tensor, found: np.ndarray, where: np.ndarray) -> np.ndarray:
        """The gradient as its rules give it in float64; as found where they cannot be asked."""
        try:
            wide = Kernels(self.y.graph).values([made], self._known([self.y, made]))[0]
            return np.asarray(wide).reshape(-1)[where]
        except (AutodiffError, ArithmeticError, ValueError, TypeError, KeyError):
            return found

    def _told(self, x: Tensor, value: np.ndarray, found: np.ndarray, wrong: np.ndarray, right: np.ndarray,
              total: int) -> str:
        """The elements that are wrong, and why; "" if there are none. right: at those, nan where y has no slope."""
        if not len(wrong):
            return ""
        got = found.reshape(-1)[wrong]
        lost = ~np.isfinite(right) & ~np.isfinite(got)
        name = f"the gradient of {self.y.name} by {x.name}"
        lines = [f"{name} is wrong in {int(np.sum(~lost))} of {total} elements"] if not lost.all() else []
        lines += [f"  at {_index(at, value.shape)}: expected {r:.6g}, found {g:.6g}"
                  for at, r, g in list(zip(wrong[~lost], right[~lost], got[~lost]))[:SHOWN]]
        if lost.any():
            places = ", ".join(_index(at, value.shape) for at in wrong[lost][:SHOWN])
            lines.append(f"{name} is {'nan' if np.isnan(got[lost]).all() else 'not finite'} in {int(np.sum(lost))} of "
                         f"{total} elements, where the slope of {self.y.name} is none or infinite: {places}")
        return "\n".join([*lines, self._blame(x) if not lost.any() else self._why(x)])

    def _blame(self, x: Tensor) -> str:
        """The op whose rule is wrong; else what `why` knows of the gradient."""
        checked = self.debugger.check(self.y.name, x.name)
        if not checked.wrong:
            return "\n".join([f"check: {checked.text}", *_cuts(cuts_between(self.y, x)[0])])
        return "\n".join(f"check: the gradient rule of {rule.op} ({rule.op_type}) is wrong" +
                         (f", {rule.place.file}:{rule.place.line}" if rule.place else "") + f": {rule.note}"
                         for rule in checked.wrong[:SHOWN])

    def _why(self, x: Tensor) -> str:
        """What the debugger's `why` says, with the place and the remedy."""
        findings = self.debugger.why(x.name, self.y.name)
        lines = []
        for finding in findings if isinstance(findings, (list, tuple)) else (findings,):
            lines.append(f"why: {finding.text}")
            lines += _cuts(getattr(finding, "cuts", ()))
            if getattr(finding, "remedy", ""):
                lines.append(f"  remedy: {finding.remedy}")
        return "\n".join(lines)


def _cuts(cuts: Iterable[Any]) -> list[str]:
    """Where the gradient ends on some way to x."""
    return [f"  cut at {cut.op}" + (f" ({cut.place.file}:{cut.place.line})" if cut.place else "") + f": {cut.reason}"
            for cut in islice(cuts, SHOWN)]


def _index(flat: int, shape: tuple[int, ...]) -> str:
    return f"[{','.join(str(int(i)) for i in np.unravel_index(flat, shape))}]"
