"""Rows of variables, of changes to their rows, and of the steps of optimizers."""

import numpy as np
from autodiff.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError

from ..case import Case, array

VALUE, OTHER = array(3, 4), array(3, 4, seed=1)
POSITIVE, ALSO_POSITIVE = array(3, 4, low=1.5, high=2.5), array(3, 4, low=1.5, high=2.5, seed=1)
SOME_ROWS = array(2, 4)
INDICES = np.array([2, 0], np.int32)
OUTSIDE = np.array([1, 3], np.int32)
PLACES = np.array([[2, 1], [0, 3]], np.int32)
STEP = np.array(3, np.int64)
DECLARED = {"shape": [3, 4], "dtype": "float64"}


def numbers(*values: float) -> tuple[np.ndarray, ...]:
    return tuple(np.array(v) for v in values)


def dense(op: str, states: tuple[np.ndarray, ...], before: tuple, grad: np.ndarray, after: tuple = ()) -> list[Case]:
    """A step on the whole variable, and one with a gradient of another shape."""
    return [Case(op, (*states, *before, grad, *after)),
            Case(op, (*states, *before, grad[:2], *after), fails=ValueError, id="shape")]


def sparse(op: str, states: tuple[np.ndarray, ...], before: tuple, after: tuple = (), **attrs) -> list[Case]:
    """A step on two rows, and one on a row that is not there."""
    return [Case(op, (*states, *before, SOME_ROWS, INDICES, *after), attrs),
            Case(op, (*states, *before, SOME_ROWS, OUTSIDE, *after), attrs, fails=InvalidArgumentError, at_run=True,
                 id="outside")]


VARIABLES = [
    Case("VariableV2", (), DECLARED, fails=FailedPreconditionError, at_run=True),
    Case("VarHandleOp", (), DECLARED, fails=FailedPreconditionError, at_run=True),
    Case("ReadVariableOp", (VALUE,)),
    Case("ResourceGather", (VALUE, INDICES)),
    Case("ResourceGather", (VALUE, OUTSIDE), fails=InvalidArgumentError, at_run=True, id="outside"),
    Case("IsVariableInitialized", (VALUE,)),
    Case("CountUpTo", (np.array(3),), {"limit": 5}),
    Case("ResourceCountUpTo", (np.array(3),), {"limit": 5}),
    Case("CountUpTo", (np.array(5),), {"limit": 5}, id="reached", fails=OutOfRangeError, at_run=True),
    Case("CountUpTo", (VALUE,), {"limit": 5}, fails=TypeError, id="float"),
    Case("VarIsInitializedOp", (VALUE,)),
    Case("DestroyResourceOp", (VALUE,)),
    Case("InitializedValue", (VALUE, OTHER)),
]

QUEUES = [
    Case(op, (), attrs, fails=fails, id=name) for op in
    ("FIFOQueueV2", "PaddingFIFOQueueV2", "RandomShuffleQueueV2", "PriorityQueueV2")
    for attrs, fails, name in (({"component_types": ("float32",), "shapes": ((2,),)}, None, ""),
                               ({"types": ()}, ValueError, "attribute"))
]

ASSIGNMENTS = [
    Case(op, inputs, fails=fails, id=name)
    for op in ("Assign", "AssignAdd", "AssignSub", "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")
    for inputs, fails, name in (((VALUE, OTHER), None, ""), ((VALUE, OTHER[:2]), ValueError, "shape"))
]

CHANGED_ROWS = [
    Case(op, inputs, fails=fails, at_run=at_run, id=name)
    for op in ("ScatterUpdate", "ScatterAdd", "ScatterSub", "ScatterMul", "ScatterDiv", "ScatterMin", "ScatterMax")
    for inputs, fails, at_run, name in (
        ((VALUE, INDICES, SOME_ROWS), None, False, ""),
        ((VALUE, INDICES, np.array(2.0)), None, False, "scalar"),
        ((VALUE, INDICES, SOME_ROWS[:1]), ValueError, False, "shape"),
        ((VALUE, OUTSIDE, SOME_ROWS), InvalidArgumentError, True, "outside"))
]

CHANGED_ELEMENTS = [
    Case(op, inputs, fails=fails, at_run=at_run, id=name)
    for op in ("ScatterNdUpdate", "ScatterNdAdd", "ScatterNdSub")
    for inputs, fails, at_run, name in (
        ((VALUE, PLACES, array(2)), None, False, ""),
        ((VALUE, PLACES, array(3)), ValueError, False, "shape"),
        ((VALUE, PLACES[:, ::-1].copy(), array(2)), InvalidArgumentError, True, "outside"))
]

BOUNDS = (np.array([1, 0], np.int32), np.array([3, 2], np.int32), np.array([1, 1], np.int32))
CHANGED_PARTS = [
    Case("StridedSliceAssign", (VALUE, *BOUNDS, array(2, 2))),
    Case("StridedSliceAssign", (VALUE, *BOUNDS, array(2)), {"shrink_axis_mask": 1}, id="row"),
    Case("StridedSliceAssign", (VALUE, *BOUNDS, array(2, 3)), fails=ValueError, id="shape"),
]

RATE = numbers(0.1)
FTRL = numbers(0.1, 0.02, 0.3, -0.5)
FTRL_V2 = numbers(0.1, 0.02, 0.3, 0.1, -0.4)
RMS = numbers(0.1, 0.9, 0.5, 1e-3)
TWO, THREE = (VALUE, POSITIVE), (VALUE, POSITIVE, ALSO_POSITIVE)
CENTERED = (VALUE, OTHER, POSITIVE, ALSO_POSITIVE)

STEPS = [
    *dense("ApplyGradientDescent", (VALUE,), RATE, OTHER),
    *dense("ApplyMomentum", TWO, RATE, OTHER, numbers(0.9)),
    *dense("ApplyAdagrad", TWO, RATE, OTHER),
    *dense("ApplyAdagradDA", THREE, (), OTHER, (*numbers(0.1, 0.02, 0.3), STEP)),
    *dense("ApplyAdadelta", THREE, numbers(0.1, 0.9, 1e-3), OTHER),
    *dense("ApplyRMSProp", THREE, RMS, OTHER),
    *dense("ApplyCenteredRMSProp", CENTERED, RMS, OTHER),
    *dense("ApplyAdam", THREE, numbers(0.9, 0.99, 0.1, 0.9, 0.99, 1e-3), OTHER),
    *dense("ApplyAdaMax", THREE, numbers(0.9, 0.1, 0.9, 0.99, 1e-3), OTHER),
    *dense("ApplyFtrl", THREE, (), OTHER, FTRL),
    *dense("ApplyFtrlV2", THREE, (), OTHER, FTRL_V2),
    *dense("ApplyProximalGradientDescent", (VALUE,), numbers(0.1, 0.02, 0.3), OTHER),
    *dense("ApplyProximalAdagrad", TWO, numbers(0.1, 0.02, 0.3), OTHER),
]

STEPS_ON_ROWS = [
    *sparse("SparseApplyMomentum", TWO, RATE, numbers(0.9), use_nesterov=True),
    *sparse("SparseApplyAdagrad", TWO, RATE),
    *sparse("SparseApplyAdagradDA", THREE, (), (*numbers(0.1, 0.02, 0.3), STEP)),
    *sparse("SparseApplyAdadelta", THREE, numbers(0.1, 0.9, 1e-3)),
    *sparse("SparseApplyRMSProp", THREE, RMS),
    *sparse("SparseApplyCenteredRMSProp", CENTERED, RMS),
    *sparse("SparseApplyFtrl", THREE, (), FTRL),
    *sparse("SparseApplyFtrlV2", THREE, (), FTRL_V2),
    *sparse("SparseApplyProximalGradientDescent", (VALUE,), numbers(0.1, 0.02, 0.3)),
    *sparse("SparseApplyProximalAdagrad", TWO, numbers(0.1, 0.02, 0.3)),
]

ROWS: list[Case] = [*VARIABLES, *QUEUES, *ASSIGNMENTS, *CHANGED_ROWS, *CHANGED_ELEMENTS, *CHANGED_PARTS, *STEPS,
                    *STEPS_ON_ROWS]
