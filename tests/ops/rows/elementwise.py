"""Rows of the op table: arithmetic, functions of one number, comparison, choice, element types, special functions."""

import numpy as np
from autodiff.errors import DTypeError, InvalidArgumentError, ShapeError

import autodiff as tf

from ..case import Case, array


def positive(*shape: int, seed: int = 0) -> np.ndarray:
    return array(*shape, low=0.5, high=2.0, seed=seed)


def whole(*shape: int, seed: int = 0, dtype: type = np.int32) -> np.ndarray:
    return array(*shape, low=1, high=9, seed=seed).astype(dtype)


def binary(op: str, x: np.ndarray, y: np.ndarray, **options: bool) -> list[Case]:
    """Equal shapes, a row against a matrix, both stretched, a scalar, and shapes that do not go together."""
    return [Case(op, (x, y), **options),
            Case(op, (x, y[0]), id="row", **options),
            Case(op, (x[:, :1], y[:1]), id="both", **options),
            Case(op, (x[0, 0], y), id="scalar", **options),
            Case(op, (x, y[:, :2]), id="differs", fails=ShapeError),
            Case(op, (x, y[:, :2]), id="differs-at-run", fails=InvalidArgumentError, at_run=True)]


def table(ops: str, x: np.ndarray, **options: bool) -> list[Case]:
    """A row for each op of one tensor, one for a scalar, and one of a type that it refuses."""
    return [case for op in ops.split() for case in (
        Case(op, (x,), **options), Case(op, (x.flat[0],), id="scalar", **options),
        Case(op, (np.array(["a"], object),), id="string", fails=DTypeError))]


X, Y = array(2, 3), positive(2, 3, seed=1)
Z = array(2, 3) + 1j * array(2, 3, seed=1)
SIGNED = np.array([[0.5, -1.5, 2.0], [-0.7, 1.2, 0.3]])
BOOLS = np.array([[True, False, True], [False, False, True]])
ROW = np.array([True, False])

ROWS = [
    *[case for op in ("Add", "AddV2", "Sub", "Mul", "RealDiv", "DivNoNan", "SquaredDifference", "Maximum", "Minimum",
                      "Xdivy", "MulNoNan", "Atan2") for case in binary(op, X, Y)],
    *binary("Pow", Y, X),
    *binary("Xlogy", X, Y),
    *binary("FloorMod", SIGNED, Y),
    *[case for op in ("FloorDiv", "TruncateDiv", "TruncateMod") for case in binary(op, SIGNED, Y)],
    *[Case(op, (whole(2, 3) - 5, whole(3)), id="int")
      for op in ("Add", "Mul", "FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Pow", "Maximum")],
    *[Case(op, (whole(2, 3), np.int32(0)), id="zero", fails=InvalidArgumentError, at_run=True)
      for op in ("FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod")],
    *[Case(op, (Z, Z[0] + 1), id="complex", differentiable=(), batch=())
      for op in ("Add", "Sub", "Mul", "RealDiv", "Pow")],
    *[Case("Pow", (SIGNED, np.array(float(p))), id=f"to-{p}", differentiable=(0,)) for p in (1, 2, 3)],
    Case("DivNoNan", (X, np.array([1.0, 0.0, 2.0])), id="zeros", differentiable=(0,)),
    Case("Xlogy", (np.zeros((2, 3)), Y), id="zeros", differentiable=(1,)),
    Case("Add", (X, whole(2, 3)), id="types", fails=DTypeError),
    Case("AddN", (X, Y, SIGNED)),
    Case("AddN", (X,), id="one"),
    Case("AddN", (X, Y[:, :2]), id="differs", fails=ShapeError),
    Case("AccumulateNV2", (X, Y, SIGNED)),
    Case("AccumulateNV2", (X, Y[0]), id="differs", fails=ShapeError),
    Case("Cross", (array(2, 3), array(2, 3, seed=1))),
    Case("Cross", (array(2, 4), array(2, 4)), id="four", fails=ShapeError),

    *table("Neg Abs Sign Square Exp Expm1 Tanh Sigmoid Sin Cos Sinh Cosh Atan Asinh Erf Erfc Floor Ceil Round Rint "
           "IsNan IsInf IsFinite", SIGNED),
    *table("Sqrt Rsqrt Reciprocal Log Log1p LogOrZero Lgamma Digamma BesselI0e BesselI1e", positive(2, 3)),
    *table("Tan Asin Acos Atanh", X * 0.9),
    *table("Acosh", positive(2, 3) + 1),
    *[Case(op, (SIGNED,), id="negative", second=False) for op in ("Reciprocal", "Lgamma", "Digamma", "LogOrZero")],
    *[Case(op, (SIGNED * 30,), id="large") for op in ("Tanh", "Sigmoid", "BesselI0e", "BesselI1e")],
    *[Case(op, (np.array([[0.3, np.inf, np.nan]]),), id="not-finite") for op in ("IsNan", "IsInf", "IsFinite")],
    *[Case(op, (positive(2, 3), X)) for op in ("SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "TanhGrad", "SigmoidGrad")],
    Case("Polygamma", (np.array([[1.0, 2.0, 3.0]]), positive(2, 3)), differentiable=(1,)),
    Case("Zeta", (np.array([[2.0, 3.5, 5.0]]), positive(2, 3)), differentiable=(1,)),
    Case("Zeta", (X, Y[:, :2]), id="differs", fails=ShapeError),
    *[Case(op, (4 * positive(2, 3), 3 * positive(3))) for op in ("IgammaGradA", "RandomGammaGrad")],
    *[Case(op, (4 * positive(2, 3), 3 * positive(3)), differentiable=(1,)) for op in ("Igamma", "Igammac")],
    *[Case(op, (4 * positive(2, 3), 3 * positive(3)), second=False, id="order") for op in ("Igamma", "Igammac")],
    Case("Igamma", (positive(2, 3), positive(2)), id="differs", fails=ShapeError),
    Case("Betainc", (4 * positive(2, 3), 3 * positive(2, 3), positive(2, 3) / 3)),
    Case("Betainc", (np.float64(2.0), np.float64(3.0), positive(2, 3) / 3), id="scalars"),
    Case("Betainc", (positive(2, 3), positive(3), np.float64(0.5)), id="differs", fails=ShapeError),

    *[case for op in ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual",)
      for case in binary(op, X, np.where(BOOLS, X, Y))],
    *[Case(op, (np.array(["a", "b"], object), np.array(["a", "c"], object)), id="string")
      for op in ("Equal", "NotEqual")],
    *[Case(op, (BOOLS, BOOLS[0])) for op in ("LogicalAnd", "LogicalOr", "LogicalXor")],
    Case("LogicalNot", (BOOLS,)),
    Case("LogicalAnd", (BOOLS, X), id="float", fails=DTypeError),
    Case("Select", (BOOLS, X, Y)),
    Case("Select", (ROW, X, Y), id="rows"),
    Case("Select", (np.array(True), X, Y), id="scalar"),
    Case("Select", (BOOLS[0], X, Y), id="no-broadcast", fails=ShapeError),
    Case("Select", (BOOLS[0], X, Y), id="no-broadcast-at-run", fails=InvalidArgumentError, at_run=True),
    Case("Select", (np.array(True), X, Y[0]), id="differs", fails=ShapeError),
    Case("SelectV2", (BOOLS[0], X, Y)),
    Case("SelectV2", (BOOLS, X[0], np.float64(2)), id="broadcast"),
    Case("SelectV2", (BOOLS[:, :2], X, Y), id="differs", fails=ShapeError),
    Case("KeepWhere", (BOOLS, X)),
    Case("KeepWhere", (BOOLS[:, :1], array(4, 2, 3)), dict(negate=True), id="broadcast"),
    *[Case("KeepWhere", (array(70, 60) > 0, array(70, 60, seed=1)), dict(negate=negate), id=f"large{negate:d}")
      for negate in (False, True)],
    Case("Select", (array(70, 60) > 0, array(70, 60, seed=1), array(70, 60, seed=2)), id="large"),
    Case("Where", (BOOLS,)),
    Case("Where", (np.array([0, 3, 0, 1]),), id="int"),

    Case("Cast", (X,), dict(dtype=tf.float32), second=False, differentiable=()),
    Case("Cast", (X,), dict(dtype=tf.float64), id="same"),
    Case("Cast", (SIGNED,), dict(dtype=tf.int32), id="to-int"),
    Case("Cast", (whole(2, 3),), dict(dtype=tf.float64), id="of-int"),
    Case("Cast", (SIGNED,), dict(dtype=tf.bool), id="to-bool"),
    Case("Cast", (np.array(["a"], object),), dict(dtype=tf.float32), id="string", fails=DTypeError),
    Case("Conj", (X,)),
    Case("Conj", (Z,), id="complex"),
    *[Case(op, (Z,)) for op in ("Real", "Imag", "ComplexAbs", "Angle")],
    *[Case(op, (X,), id="real", fails=DTypeError) for op in ("Real", "Imag", "ComplexAbs", "Angle")],
    *binary("Complex", X, Y),
]
