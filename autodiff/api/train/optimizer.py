"""Optimizer: from a loss to the operation that changes the variables."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...core import nest
from ...core.collections import GraphKeys, get_collection
from ...core.convert import convert_to_tensor
from ...core.dtypes import FLOATS, DType
from ...core.errors import ArgumentError, AutodiffError, KindError, StateError
from ...core.graph import Graph, Operation, Tensor, get_default_graph
from ...core.indexed_slices import IndexedSlices
from ...core.op import build
from ...core.traversal import ancestors
from ...gradients.backprop import gradients
from ...gradients.tape import GradientTape
from ..control.dependencies import control_dependencies, group, init_scope, name_scope
from ..control.dependencies import tuple as gated
from ..variables.assignment import trainable_variables
from ..variables.trackable import Trackable, TrackableReference, restore_waiting
from ..variables.variable import Variable
from .slots import Slots

GradsAndVars = Iterable[tuple[Any, Variable]]


class Optimizer(Trackable):
    """Base of all optimizers: minimize = compute_gradients, then apply_gradients.

    A subclass says how one variable changes: `_apply_dense(grad, var)` and `_apply_sparse(grad, var)`, each giving an
    operation or tensor; `_create_slots(var_list)` makes what it keeps per variable, `_prepare()` its settings as
    tensors, `_finish(update_ops, name_scope)` the last operation. gate_gradients: GATE_OP computes all gradients of an
    op before any is used, GATE_GRAPH all gradients before any is used, GATE_NONE waits for nothing.
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ArgumentError(expected="a name for the optimizer", found="none")
        self._use_locking, self._name = use_locking, name
        self._slots = Slots()

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        shared = self._slots.shared_in(get_default_graph().outermost)
        return [TrackableReference(name, variable) for name, variable in shared.items()]

    def get_name(self) -> str:
        """The name it was made with: the default name scope of its steps."""
        return self._name

    def minimize(self, loss: Any, global_step: Variable | None = None, var_list: Any = None,
                 gate_gradients: int = GATE_OP, aggregation_method: int | None = None,
                 colocate_gradients_with_ops: bool = False, name: str | None = None, grad_loss: Any = None) -> Any:
        """The operation that takes one step against the gradient of `loss`.

        loss: float[...], summed; a function that computes it when executing eagerly. var_list: the
        trainable variables by default. global_step: a variable to count up. grad_loss: what the loss
        receives in place of one. Raises ArgumentError (ValueError) if no variable has a gradient.
        """
        pairs = self.compute_gradients(loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops,
                                       grad_loss)
        if all(g is None for g, _ in pairs):
            raise ArgumentError(f"No gradients provided for any variable: there is no differentiable path between the "
                                f"variables {[v.name for _, v in pairs]} and the loss {loss!r}")
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(self, loss: Any, var_list: Any = None, gate_gradients: int = GATE_OP,
                          aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False,
                          grad_loss: Any = None) -> list[tuple[Any, Variable]]:
        """(gradient, variable) for each variable; the gradient is None where no path connects them."""
        if callable(loss):
            return _taped(loss, var_list, grad_loss)
        if get_default_graph().executing_eagerly:
            raise StateError("the loss must be a function without arguments when eager execution is enabled")
        if gate_gradients not in (0, 1, 2):
            raise ArgumentError(f"gate_gradients is {gate_gradients!r}, expected Optimizer.GATE_NONE (0), GATE_OP (1) "
                                "or GATE_GRAPH (2)")
        self._check_dtypes([loss])
        if grad_loss is not None:
            self._check_dtypes([grad_loss])
        variables = trainable_variables() if var_list is None else nest.flatten(var_list)
        for variable in variables:
            _check_variable(variable)
        if not variables:
            raise ArgumentError(f"No variables to optimize: {_none_given(loss, var_list)}")
        found = gradients(loss, variables, grad_ys=grad_loss, gate_gradients=gate_gradients == Optimizer.GATE_OP,
                          aggregation_method=aggregation_method,
                          colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gate_gradients == Optimizer.GATE_GRAPH:
            found = gated(found)
        self._check_dtypes([v for g, v in zip(found, variables) if g is not None])
        return list(zip(found, variables))

    def _valid_dtypes(self) -> Sequence[DType]:
        return FLOATS

    def _check_dtypes(self, tensors: Iterable[Any]) -> None:
        for tensor in tensors:
            dtype = (tensor if hasattr(tensor, "dtype") else convert_to_tensor(tensor)).dtype.base_dtype
            if dtype not in self._valid_dtypes():
                raise ArgumentError(f"{getattr(tensor, 'name', tensor)!r} has dtype {dtype.name}, expected one of: "
                                    f"{', '.join(t.name for t in self._valid_dtypes())}")

    def apply_gradients(self, grads_and_vars: GradsAndVars, global_step: Variable | None = None,
                        name: str | None = None) -> Any:
        """The operation that takes one step with given gradients; pairs whose gradient is None are left out.

        Raises ArgumentError (ValueError) if none is left, KindError (TypeError) for other than tensors.
        """
        pairs = [(_as_gradient(g), v) for g, v in grads_and_vars]
        if not pairs:
            raise ArgumentError("No variables provided.", expected="at least one (gradient, variable)")
        for _, variable in pairs:
            _check_variable(variable)
        variables = [v for g, v in pairs if g is not None]
        if not variables:
            raise ArgumentError(f"No gradients provided for any variable: {[v.name for _, v in pairs]}")
        with init_scope():
            known = self._slots.size
            self._create_slots(variables)
            if self._slots.size != known:
                restore_waiting()
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = [self._update(g, v) for g, v in pairs if g is not None]
            if global_step is None:
                step = self._finish(updates, scope)
            else:
                with control_dependencies([self._finish(updates, "update")]):
                    step = global_step.assign_add(1, name=scope, read_value=False)
        if get_default_graph().executing_eagerly:
            return None
        step = step if isinstance(step, Operation) else step.op
        trained = step.graph.get_collection_ref(GraphKeys.TRAIN_OP)
        if step not in trained:
            trained.append(step)
        return step

    def _update(self, grad: Any, var: Variable) -> Any:
        if isinstance(var, Tensor):
            raise UnsupportedVariableError(f"a tensor cannot be changed by an optimizer: {var.name!r}; expected a "
                                           "variable")
        eager = get_default_graph().executing_eagerly
        with name_scope("update" if eager else f"update_{var.op.name}"):
            if isinstance(grad, IndexedSlices):
                if var.constraint is not None:
                    raise StateError("Cannot use a constraint function on a sparse variable.",
                                     found=f"a gradient of some rows of {var.name!r}, which has a constraint")
                return self._apply_sparse_duplicate_indices(grad, var)
            update = self._apply(grad, var)
            if var.constraint is None:
                return update
            with control_dependencies([update]):
                return var.assign(var.constraint(var))

    def _apply(self, grad: Tensor, var: Variable) -> Any:
        return self._resource_apply_dense(grad, var) if var.is_resource else self._apply_dense(grad, var)

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Variable) -> Any:
        """Rows named twice are summed first; an optimizer for which that makes no difference overrides this."""
        indices, positions = build.Unique(grad.indices)
        summed = build.UnsortedSegmentSum(grad.values, positions, build.Shape(indices)[0])
        if var.is_resource:
            return self._resource_apply_sparse(summed, var, indices)
        return self._apply_sparse(IndexedSlices(summed, indices, grad.dense_shape), var)

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        """Nothing is kept by default."""

    def _prepare(self) -> None:
        """Nothing to prepare by default."""

    def _apply_dense(self, grad: Tensor, var: Variable) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _apply_dense")

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _apply_sparse")

    def _resource_apply_dense(self, grad: Tensor, var: Variable) -> Any:
        return self._apply_dense(grad, var)

    def _resource_apply_sparse(self, grad: Tensor, var: Variable, indices: Tensor) -> Any:
        return self._apply_sparse(IndexedSlices(grad, indices), var)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        return group(*update_ops, name=name_scope)

    def _call_if_callable(self, param: Any) -> Any:
        """A setting may be a function, called anew for each step that is built."""
        return param() if callable(param) else param

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """The slot of this optimizer for `var` under `name`, or None."""
        return self._slots.get(var, name)

    def get_slot_names(self) -> list[str]:
        """Names of what is kept per variable, sorted."""
        return self._slots.names()

    def variables(self) -> list[Variable]:
        """All variables that this optimizer made in the default graph, sorted by name."""
        return self._slots.variables(get_default_graph().outermost)

    def _zeros_slot(self, var: Variable, slot_name: str, op_name: str) -> Variable:
        return self._slots.zeros(var, slot_name, op_name)

    def _get_or_make_slot(self, var: Variable, val: Any, slot_name: str, op_name: str) -> Variable:
        return self._slots.make(var, slot_name, op_name, val)

    def _get_or_make_slot_with_initializer(self, var: Variable, initializer: Callable[..., Any], shape: Any, dtype: Any,
                                           slot_name: str, op_name: str) -> Variable:
        return self._slots.make(var, slot_name, op_name, lambda: initializer(shape, dtype=dtype))

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Variable) -> Variable:
        return self._slots.shared(initial_value, name, colocate_with)

    def _get_non_slot_variable(self, name: str, graph: Graph | None = None) -> Variable | None:
        return self._slots.get_shared(name, graph if graph is not None else get_default_graph().outermost)


def _taped(loss: Callable[[], Any], var_list: Any, grad_loss: Any) -> list[tuple[Any, Variable]]:
    with GradientTape() as tape:
        if var_list is not None:
            tape.watch(var_list)
        value = loss()
    variables = list(tape.watched_variables()) if var_list is None else nest.flatten(var_list)
    return list(zip(tape.gradient(value, variables, grad_loss), variables))


def _none_given(loss: Any, var_list: Any) -> str:
    """Why there is nothing to train, and what there would be."""
    known, behind = trainable_variables(), ancestors([loss]) if isinstance(loss, Tensor) else set()
    frozen = [v for v in get_collection(GraphKeys.GLOBAL_VARIABLES) if v.op in behind]
    if var_list is None and not known and frozen:
        places = ", ".join(dict.fromkeys(f"{v.name!r} at {v.op.site}" for v in frozen[:3]))
        return f"all {len(frozen)} variables of the loss are trainable=False: {places}; make some trainable"
    if var_list is None or not known:
        return ("expected at least one trainable variable or a var_list, found none in the graph: make the model before"
                " the train op, with trainable=True")
    names = [v.name for v in known if v.op in behind] or [v.name for v in known]
    scopes = ", ".join(dict.fromkeys(repr(name.partition("/")[0]) for name in names))
    return (f"the var_list is empty, of a filter that fits no name, while the loss is made of {len(names)} trainable "
            f"variables in {scopes}: pass var_list=tf.trainable_variables(scope) with one of these, found {names[:4]}")


def _check_variable(variable: Any) -> None:
    if not isinstance(variable, (Variable, Tensor)):
        raise UnsupportedVariableError(expected="a variable to optimize", found=repr(variable))


def _as_gradient(gradient: Any) -> Any:
    if gradient is None or isinstance(gradient, (Tensor, IndexedSlices)):
        return gradient
    try:
        return convert_to_tensor(gradient)
    except TypeError as error:
        raise KindError(f"a gradient must be convertible to a tensor or IndexedSlices, or None, found {gradient!r}"
                        ) from error


class UnsupportedVariableError(AutodiffError, NotImplementedError):
    """Something other than a variable was given to an optimizer."""
