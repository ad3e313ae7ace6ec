"""A row of the op table as a graph: placeholders, the op, a session, and its values."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

import autodiff as tf
from autodiff.core.convert import as_array
from autodiff.core.function_graph import functions_of
from autodiff.core.graph import Tensor
from autodiff.core.op import OPS, Parameter, build

from .case import Case

KNOWN, SIZES_UNKNOWN, RANK_UNKNOWN, VALUES_UNKNOWN = "known", "sizes unknown", "rank unknown", "values unknown"
MODES = (KNOWN, SIZES_UNKNOWN, RANK_UNKNOWN, VALUES_UNKNOWN)


def parameter_of(case: Case, index: int) -> Parameter:
    parameters = OPS[case.op].parameters
    return parameters[min(index, len(parameters) - 1)]


def is_static(case: Case, index: int, mode: str) -> bool:
    """Whether an input stays a constant: axes, shapes and the like, unless `values unknown`."""
    if case.static is not None or case.through is not None:
        return index in (case.static or ())
    return parameter_of(case, index).kind.name in ("Index", "Int32") and mode != VALUES_UNKNOWN


def input_arrays(case: Case, wide: Any = np.float64) -> list[np.ndarray]:
    """The row's inputs as read-only arrays; floats are `wide` or its complex equal, given as float64."""
    complex_of = {np.float64: np.complex128, np.float32: np.complex64}
    narrow = {np.dtype(np.float64): wide, np.dtype(np.complex128): complex_of[wide]}
    arrays = []
    for i, value in enumerate(case.inputs):
        is_python = case.through is None and not isinstance(value, np.ndarray)
        array = np.array(as_array(value, parameter_of(case, i).kind.default if is_python else None))
        array = array.astype(narrow.get(array.dtype, array.dtype))
        array.flags.writeable = False
        arrays.append(array)
    return arrays


def dims_for(array: np.ndarray, mode: str) -> list[int | None] | None:
    if mode == RANK_UNKNOWN:
        return None
    return [None] * array.ndim if mode == SIZES_UNKNOWN else list(array.shape)


def types_in(op: tf.Operation) -> set[str]:
    """The type of an operation and those of the functions that it calls."""
    called = [inner for function in functions_of(op) for inner in function.graph.get_operations()]
    return {op.type}.union(*map(types_in, called))


class Built:
    """One row in a graph of its own. inputs: tensors fed, constant or variables; outputs: tensors.

    arrays: the inputs' values, read-only, so that a kernel that writes into one fails.
    """

    def __init__(self, case: Case, mode: str = KNOWN, wide: Any = np.float64) -> None:
        self.case, self.definition = case, OPS[case.op]
        self.arrays = input_arrays(case, wide)
        self.graph = tf.Graph()
        self.initial: list[Any] = []
        with self.graph.as_default():
            self.inputs = [self._input(i, array, mode) for i, array in enumerate(self.arrays)]
            self.outputs: list[Tensor] = self._made()
        self.session = tf.Session(graph=self.graph)
        for operation in self.initial:
            self.session.run(operation)

    def _made(self) -> list[Tensor]:
        if self.case.through is not None:
            made = self.case.through(*self.inputs)
            return list(made) if isinstance(made, (list, tuple)) else [made]
        self.definition(*self.inputs, name="tested", **self.case.attrs)
        return list(self.graph.get_operation_by_name("tested").outputs)

    @property
    def op(self) -> tf.Operation:
        """The operation of the row's op, or the one that calls the function it is in."""
        if self.case.through is None:
            return self.graph.get_operation_by_name("tested")
        return next(op for op in self.graph.get_operations() if self.case.op in types_in(op))

    @property
    def is_pure(self) -> bool:
        """Whether the outputs are a function of the inputs. What a row goes `through` is."""
        return self.case.through is not None or not self.definition.stateful

    def _input(self, index: int, array: np.ndarray, mode: str) -> Any:
        if self.case.through is None and parameter_of(self.case, index).kind.handle:
            return self._variable(index, array)
        if array.dtype == object or is_static(self.case, index, mode):
            return tf.convert_to_tensor(array)
        dtype = tf.as_dtype(array.dtype)
        return build.Placeholder(dtype=dtype, shape=dims_for(array, mode), name=f"input_{index}")

    def _variable(self, index: int, array: np.ndarray) -> Any:
        is_resource = parameter_of(self.case, index).name == "resource"
        kinds = (build.VarHandleOp, build.AssignVariableOp), (build.VariableV2, build.Assign)
        declare, assign = kinds[0] if is_resource else kinds[1]
        variable = declare(shape=list(array.shape), dtype=array.dtype, name=f"input_{index}")
        made = assign(variable, array)
        self.initial.append(getattr(made, "op", made))
        return variable

    def feeds(self, arrays: Sequence[np.ndarray] | None = None) -> dict[Tensor, np.ndarray]:
        """Placeholders are always fed; a constant is when `arrays` varies it."""
        given = self.arrays if arrays is None else arrays
        return {tensor: array for tensor, array, own in zip(self.inputs, given, self.arrays)
                if tensor.op.type == "Placeholder" or array is not own}

    def run(self, tensors: Any, arrays: Sequence[np.ndarray] | None = None) -> Any:
        return self.session.run(tensors, self.feeds(arrays))

    def values(self, arrays: Sequence[np.ndarray] | None = None) -> list[Any]:
        """Real outputs; an op without outputs is run for its effect."""
        found = self.run([self.outputs, [] if self.outputs else self.op], arrays)
        return found[0]

    def float_inputs(self) -> list[int]:
        """Indices of the fed floating and complex inputs: what can be differentiated by and batched."""
        return [i for i, (t, a) in enumerate(zip(self.inputs, self.arrays))
                if t.op.type == "Placeholder" and a.dtype.kind in "fc"]

    def float_outputs(self) -> list[Tensor]:
        return [t for t in self.outputs if t.dtype.base_dtype.is_differentiable]


@cache
def built(case: Case, mode: str = KNOWN, wide: Any = np.float64) -> Built:
    """The row as a graph, made once for all the tests that look at it."""
    return Built(case, mode, wide)
