"""Minimizers that are no operations: they call the session for the loss and its gradient, with variables fed."""
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from ....core.defaults import session_for
from ....core.errors import ArgumentError, AutodiffError
from ....gradients.backprop import gradients
from ... import logging
from ...arrays.creation import placeholder, zeros_like
from ...arrays.shaping import concat, reshape
from ...variables.assignment import trainable_variables

__all__ = ["ExternalOptimizerInterface", "ScipyOptimizerInterface"]


class NoScipyError(AutodiffError, ImportError):
    """SciPy is not installed."""


class ExternalOptimizerInterface:
    """Hands loss and gradient, as functions of all variables in one vector, to the `_minimize` of a subclass.

    loss: float[]. var_list: the trainable variables by default. equalities, inequalities: tensors float[] that are to
    be 0, or not below it. var_to_bounds: variable -> (low, high), each a number, None for no bound, or what broadcasts
    to the variable's shape. optimizer_kwargs: what `_minimize` is given by that name.
    """

    def __init__(self, loss: Any, var_list: Iterable[Any] | None = None, equalities: Sequence[Any] | None = None,
                 inequalities: Sequence[Any] | None = None, var_to_bounds: Any = None, **optimizer_kwargs: Any) -> None:
        self._loss, self._equalities, self._inequalities = loss, equalities or [], inequalities or []
        self._vars = trainable_variables() if var_list is None else list(var_list)
        self._packed_bounds = None if var_to_bounds is None else [
            pair for var in self._vars for pair in zip(*(
                np.broadcast_to(bound, _shape(var)).flat for bound in var_to_bounds.get(var, (-np.inf, np.inf))))]
        self._update_placeholders = [placeholder(var.dtype) for var in self._vars]
        self._var_updates = [var.assign(reshape(given, _shape(var)))
                             for var, given in zip(self._vars, self._update_placeholders)]
        of_each = [[self._gradients(tensor) for tensor in tensors]
                   for tensors in ([loss], self._equalities, self._inequalities)]
        self.optimizer_kwargs = optimizer_kwargs
        self._packed_var = self._pack(self._vars)
        (self._packed_loss_grad,), self._packed_equality_grads, self._packed_inequality_grads = (
            [self._pack(grads) for grads in several] for several in of_each)
        ends = itertools.accumulate((math.prod(_shape(var)) for var in self._vars), initial=0)
        self._packing_slices = list(itertools.starmap(slice, itertools.pairwise(ends)))

    def minimize(self, session: Any = None, feed_dict: Any = None, fetches: Sequence[Any] | None = None,
                 step_callback: Callable[[Any], Any] | None = None, loss_callback: Callable[..., Any] | None = None,
                 **run_kwargs: Any) -> None:
        """Minimize the loss, then give the variables their values.

        session: the default one by default. fetches: tensors whose values loss_callback is given with each evaluation.
        step_callback: is given the vector of all variables at each step. run_kwargs: of the run that assigns.
        """
        session = session_for(self._loss.graph, session, "minimize the loss")
        tools = session, feed_dict or {}, fetches or []
        equal, unequal, equal_grads, unequal_grads = (
            [self._evaluation([tensor], *tools) for tensor in tensors] for tensors in (
                self._equalities, self._inequalities, self._packed_equality_grads, self._packed_inequality_grads))
        found = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=self._evaluation([self._loss, self._packed_loss_grad], *tools, loss_callback),
            equality_funcs=equal, equality_grad_funcs=equal_grads, inequality_funcs=unequal,
            inequality_grad_funcs=unequal_grads, packed_bounds=self._packed_bounds,
            step_callback=step_callback or (lambda xk: None), optimizer_kwargs=self.optimizer_kwargs)
        values = [found[part] for part in self._packing_slices]
        session.run(self._var_updates, feed_dict=dict(zip(self._update_placeholders, values)), **run_kwargs)

    def _minimize(self, *, initial_val: Any, loss_grad_func: Any, equality_funcs: Any, equality_grad_funcs: Any,
                  inequality_funcs: Any, inequality_grad_funcs: Any, packed_bounds: Any, step_callback: Any,
                  optimizer_kwargs: Any) -> Any:
        """The vector at which the loss is least; functions take a vector, and give a list of arrays."""
        raise NotImplementedError("To use ExternalOptimizerInterface, subclass from it and implement the _minimize() "
                                  "method.")

    def _gradients(self, tensor: Any) -> list[Any]:
        return [zeros_like(var) if grad is None else grad
                for var, grad in zip(self._vars, gradients(tensor, self._vars))]

    @classmethod
    def _pack(cls, tensors: Sequence[Any]) -> Any:
        """All tensors in one vector; None if there are none."""
        flat = [reshape(tensor, [-1]) for tensor in tensors]
        return (flat[0] if len(flat) == 1 else concat(flat, 0)) if flat else None

    def _evaluation(self, tensors: list[Any], session: Any, feeds: dict[Any, Any], fetches: Sequence[Any],
                    callback: Callable[..., Any] | None = None) -> Callable[[Any], list[Any]]:
        """The function from a vector of all variables to the values of tensors."""
        def evaluate(x: Any) -> list[Any]:
            fed = {var: x[part].reshape(_shape(var)) for var, part in zip(self._vars, self._packing_slices)} | feeds
            values = session.run([*tensors, *fetches], feed_dict=fed)
            if callable(callback):
                callback(*values[len(tensors):])
            return values[:len(tensors)]

        return evaluate


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """scipy.optimize.minimize, which is given the other arguments; L-BFGS-B, if no `method` is named."""

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(self, *, initial_val: Any, loss_grad_func: Any, equality_funcs: Any, equality_grad_funcs: Any,
                  inequality_funcs: Any, inequality_grad_funcs: Any, packed_bounds: Any, step_callback: Any,
                  optimizer_kwargs: Any) -> Any:
        constraints = [{"type": kind, "fun": _double(function), "jac": _double(slope)} for kind, functions, slopes in (
            ("eq", equality_funcs, equality_grad_funcs), ("ineq", inequality_funcs, inequality_grad_funcs))
            for function, slope in zip(functions, slopes)]
        ours = {"jac": True, "callback": step_callback, "constraints": constraints, "bounds": packed_bounds}
        for taken in ours.keys() & optimizer_kwargs.keys():
            raise ArgumentError("Bounds must be set using the var_to_bounds argument" if taken == "bounds" else
                                f"Optimizer keyword arg '{taken}' is set automatically and cannot be injected manually")

        def loss_and_gradient(x: Any) -> tuple[Any, Any]:
            loss, gradient = loss_grad_func(x)
            return loss, gradient.astype("float64")

        if find_spec("scipy") is None:
            raise NoScipyError("No module named 'scipy'", hint="ScipyOptimizerInterface calls scipy.optimize.minimize: "
                               "pip install scipy")
        import scipy.optimize
        result = scipy.optimize.minimize(loss_and_gradient, initial_val.astype("float64"),
                                         **{"method": self._DEFAULT_METHOD, **ours, **optimizer_kwargs})
        lines = ["Optimization terminated with:", f"  Message: {result.message}",
                 f"  Objective function value: {result.fun:f}",
                 *(f"  Number of {what}: {result[key]:d}" for key, what in (
                     ("nit", "iterations"), ("nfev", "functions evaluations")) if key in result)]
        logging.info("%s", "\n".join(lines))
        return result["x"]


def _double(function: Callable[[Any], list[Any]]) -> Callable[[Any], Any]:
    """The function with its values in float64, for which SciPy's compiled parts ask."""
    return lambda x: np.asarray(function(x), np.float64)


def _shape(var: Any) -> tuple[int, ...]:
    return tuple(var.get_shape().as_list())
