"""A row for each op of ONNX: what it is given. `onnx_values.npz` has what onnx's reference gives for it."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from .onnx_made import VERSION, graph, model, node, value

TAKEN = "float64"  # of floats in the rows; the other type is made of it


class Row(NamedTuple):
    """One node. inputs: arrays; None for one that is left out. outputs: how many. fixed: inputs by number that nothing
    is differentiated by. is_exact: whether onnx's reference computes in float64, if it is given that."""

    op: str
    inputs: tuple[Any, ...]
    attributes: Mapping[str, Any] = {}
    outputs: int = 1
    version: int = VERSION
    fixed: tuple[int, ...] = ()
    is_exact: bool = True

    def floats(self) -> list[int]:
        """The numbers of the inputs that the first output is differentiated by."""
        return [i for i, x in enumerate(self.inputs) if x is not None and x.dtype.kind == "f" and i not in self.fixed]


def f(*shape: int, low: float = -1.0, high: float = 1.0, seed: float = 0.0) -> np.ndarray:
    """Floats between low and high, all different, far from ties."""
    n = int(np.prod(shape))
    order = np.argsort(np.sin(np.arange(n) * 1.9 + seed), kind="stable")
    return (low + (high - low) * (np.argsort(order, kind="stable") + 0.37) / n).reshape(shape)


def i(*values: Any) -> np.ndarray:
    """Integers."""
    return np.array(values[0] if len(values) == 1 and isinstance(values[0], (list, int)) else values, np.int64)


def b(*values: Any) -> np.ndarray:
    """Truth values."""
    return np.array(values, bool)


def weights(shape: tuple[int, ...]) -> np.ndarray:
    """What an output is weighted with before it is summed: no symmetry hides an error."""
    return np.cos(0.7 * np.arange(int(np.prod(shape, dtype=int))) + 0.3).reshape(shape)


def cast(array: Any, dtype: str) -> Any:
    """An input of a row in the type that is tried."""
    return array if array is None or array.dtype != TAKEN else array.astype(dtype)


def model_of(row: Row, dtype: str, *, fed: bool) -> bytes:
    """The row as a model. fed: every input is fed, else those that are no floats are known."""
    arrays = {f"in{k}": cast(x, dtype) for k, x in enumerate(row.inputs) if x is not None}
    names = [f"in{k}" if x is not None else "" for k, x in enumerate(row.inputs)]
    outputs = [f"out{k}" for k in range(row.outputs)]
    known = {} if fed else {name: x for name, x in arrays.items() if x.dtype.kind != "f"}
    inputs = [value(name, x.dtype, x.shape) for name, x in arrays.items() if name not in known]
    attributes = {key: given.astype(dtype) if isinstance(given, np.ndarray) and given.dtype == TAKEN else given
                  for key, given in row.attributes.items()}
    made = node(row.op, names, outputs, name="row", **attributes)
    return model(graph([made], inputs, [value(name) for name in outputs], known), version=row.version)


def _unary() -> Iterator[Row]:
    wide, positive, inside = f(2, 3), f(2, 3, low=0.2, high=3.0), f(2, 3, low=-0.9, high=0.9)
    for op in ("Abs Atan Asinh Ceil Cos Cosh Exp Floor HardSwish Identity IsNaN Mish Neg Relu Round Sigmoid Sign Sin "
               "Sinh Softplus Softsign Tan Tanh IsInf Celu Elu HardSigmoid LeakyRelu Selu Shrink Swish").split():
        yield Row(op, (wide,))
    for op in ("Erf", "Gelu"):
        yield Row(op, (wide,), is_exact=False)
    for op in ("Log", "Reciprocal", "Sqrt"):
        yield Row(op, (positive,))
    for op in ("Acos", "Asin", "Atanh"):
        yield Row(op, (inside,))
    yield Row("Acosh", (f(2, 3, low=1.2, high=3.0),))
    yield Row("Celu", (wide,), {"alpha": 0.7})
    yield Row("Elu", (wide,), {"alpha": 0.7})
    yield Row("Gelu", (wide,), {"approximate": "tanh"})
    yield Row("HardSigmoid", (f(2, 3, low=-4, high=4),), {"alpha": 0.3, "beta": 0.4})
    yield Row("LeakyRelu", (wide,), {"alpha": 0.2})
    yield Row("Selu", (wide,), {"alpha": 1.2, "gamma": 0.8})
    yield Row("Shrink", (wide,), {"bias": 0.3, "lambd": 0.4})
    yield Row("ThresholdedRelu", (wide,), {"alpha": 0.25})
    yield Row("Swish", (wide,), {"alpha": 1.5})


def _binary() -> Iterator[Row]:
    x, y = f(2, 3, seed=1), f(3, low=0.3, high=2.0)
    for op in ("Add", "Sub", "Mul", "Div", "Sum", "Mean", "Max", "Min"):
        yield Row(op, (x, y))
    for op in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"):
        yield Row(op, (i([[1, 2], [3, 4]]), i([1, 4])))
    for op in ("And", "Or", "Xor"):
        yield Row(op, (b(True, True, False, False), b(True, False, True, False)))
    yield Row("Not", (b(True, False),))
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        yield Row(op, (i(12, -7, 5), i(10, 3, 6)))
    yield Row("BitwiseNot", (i(12, -7),))
    for direction in ("LEFT", "RIGHT"):
        yield Row("BitShift", (np.array([12, 7], np.uint32), np.array([1, 2], np.uint32)), {"direction": direction})
    yield Row("BitCast", (np.array([1.5, -2], np.float32),), {"to": 6}, fixed=(0,))
    yield Row("Div", (i(7, -7, 9), i(2, 2, -4)))
    yield Row("Pow", (f(2, 3, low=0.3, high=2.0), y))
    yield Row("Pow", (x, i(2, 3, 1)))
    yield Row("Mod", (i(7, -7, 9), i(3, 3, -4)))
    yield Row("Mod", (x, y), {"fmod": 1})
    yield Row("PRelu", (x, y))
    yield Row("SwiGLU", (x, f(2, 3)), {"alpha": 1.2}, version=28)
    yield Row("Where", (b(True, False, True), x, y))
    yield Row("Clip", (x, np.array(-0.5), np.array(0.4)))
    yield Row("Clip", (x, None, np.array(0.4)))
    yield Row("Cast", (x,), {"to": 7})
    yield Row("Cast", (i(0, 3),), {"to": 11})
    yield Row("CastLike", (x, i(3)), fixed=(0,))
    yield Row("Dropout", (x,), outputs=2)
    yield Row("MatMul", (f(2, 3, 4), f(4, 5)))
    yield Row("MatMul", (f(4), f(2, 4, 3)))
    yield Row("Gemm", (f(4, 2), f(3, 4), f(3)), {"alpha": 0.5, "beta": 2.0, "transA": 1, "transB": 1})
    yield Row("Einsum", (f(2, 3, 4), f(4, 5)), {"equation": "bij, jk -> bki"})
    yield Row("Einsum", (f(2, 3, 3),), {"equation": "...ii->...i"})
    yield Row("Det", (f(2, 3, 3),))


def _arranged() -> Iterator[Row]:
    x = f(2, 3, 4)
    yield Row("Constant", (), {"value_floats": [1.5, 2.5]})
    yield Row("ConstantOfShape", (i(2, 3),), {"value": np.array([7], np.int64)})
    yield Row("Shape", (x,), {"start": -2})
    yield Row("Size", (x,))
    yield Row("Range", (i(3), i(-4), i(-2)))
    yield Row("Reshape", (x, i(0, -1)))
    yield Row("Reshape", (f(2, 0, 3), i(3, 0, 5)), {"allowzero": 1})
    yield Row("Flatten", (x,), {"axis": -1})
    yield Row("Transpose", (x,), {"perm": [2, 0, 1]})
    yield Row("Transpose", (x,))
    yield Row("Squeeze", (f(1, 3, 1), i([-1])))
    yield Row("Unsqueeze", (f(3, 2), i(-1, 0)))
    yield Row("Expand", (f(3, 1), i(2, 1, 4)))
    yield Row("Tile", (f(2, 3), i(2, 3)))
    yield Row("Concat", (f(2, 3), f(2, 4)), {"axis": -1})
    yield Row("Split", (f(7, 2),), {"num_outputs": 3}, outputs=3)
    yield Row("Split", (f(2, 6), i(2, 4)), {"axis": 1}, outputs=2)
    yield Row("Slice", (f(5, 6, 2), i(1, -1), i(4, -100), i(0, 1), i(2, -2)))
    yield Row("Pad", (f(2, 3), i(1, 0, 2, 1), np.array(0.5)))
    yield Row("Pad", (f(4, 5), i(2, 1), None, i([1])))
    for mode in ("reflect", "edge", "wrap"):
        yield Row("Pad", (f(4, 5), i(1, 2, 3, 1)), {"mode": mode})
    yield Row("CenterCropPad", (f(5, 4, 2), i(2, 7)), {"axes": [0, 1]})
    for mode in ("DCR", "CRD"):
        yield Row("DepthToSpace", (f(1, 8, 2, 3),), {"blocksize": 2, "mode": mode})
    yield Row("SpaceToDepth", (f(1, 2, 4, 6),), {"blocksize": 2})
    yield Row("ReverseSequence", (f(4, 3, 2), i(1, 4, 2)))
    yield Row("Trilu", (f(3, 4), i(1)))
    yield Row("Trilu", (f(3, 4), i(-1)), {"upper": 0})
    yield Row("EyeLike", (f(3, 4),), {"k": 1}, fixed=(0,))


def _indexed() -> Iterator[Row]:
    x = f(3, 4, 2)
    yield Row("Gather", (x, i([[0, -1], [2, 1]])), {"axis": 1})
    yield Row("GatherND", (x, i([[0, 1], [2, -1]])))
    yield Row("GatherND", (x, i([[1], [0], [3]])), {"batch_dims": 1})
    yield Row("GatherElements", (f(3, 4), i([[0, 2], [-1, 1], [3, 3]])), {"axis": 1})
    for reduction in ("none", "add", "mul", "max", "min"):
        yield Row("ScatterElements", (f(3, 4), i([[0, 2], [1, -1]]), f(2, 2, seed=3)),
                  {"axis": 1, "reduction": reduction})
        yield Row("ScatterND", (f(4, 3), i([[2], [0]]), f(2, 3, seed=3)), {"reduction": reduction})
    yield Row("TensorScatter", (f(2, 3, 5), f(2, 3, 2, seed=2), i(1, 4)), {"axis": -1, "mode": "circular"})
    yield Row("OneHot", (i(0, -1, 7), i(4), np.array([-1.0, 2.0])), {"axis": 0})
    yield Row("Compress", (f(3, 4), b(True, False, True)), {"axis": 1})
    yield Row("NonZero", (i([[0, 3], [5, 0]]),))
    for op in ("ArgMax", "ArgMin"):
        yield Row(op, (f(3, 4),), {"axis": -1, "keepdims": 0})
        yield Row(op, (i([[1, 3, 3]]),), {"axis": 1, "select_last_index": 1})
    yield Row("Hardmax", (f(3, 4),), {"axis": 0})
    yield Row("TopK", (f(3, 5), i([2])), {"axis": 1}, outputs=2)
    yield Row("TopK", (f(5, 3), i([3])), {"axis": 0, "largest": 0}, outputs=2)
    yield Row("Unique", (np.array([2.0, 1.0, 2.0, 3.0, 1.0]),), {"sorted": 0}, outputs=4, fixed=(0,))
    yield Row("Unique", (np.array([[2.0, 1.0], [0.5, 3.0], [2.0, 1.0]]),), {"axis": 0}, outputs=4, fixed=(0,))
    yield Row("CumSum", (f(3, 4), i(1)), {"exclusive": 1, "reverse": 1})
    yield Row("CumProd", (f(3, 4), i(0)), {"reverse": 1})


def _reduced() -> Iterator[Row]:
    x = f(2, 3, 4, low=0.2, high=2.0)
    for op in ("Sum", "Mean", "Prod", "Max", "Min", "L1", "L2", "SumSquare", "LogSum", "LogSumExp"):
        yield Row(f"Reduce{op}", (x, i(0, -1)))
        yield Row(f"Reduce{op}", (x,), {"keepdims": 0})
    yield Row("ReduceSum", (x, i([])), {"noop_with_empty_axes": 1})
    yield Row("ReduceMax", (b(False, True), i([0])))
    for op in ("Softmax", "LogSoftmax"):
        yield Row(op, (x,), {"axis": 1})


def _normalized() -> Iterator[Row]:
    x, scale, shift = f(2, 4, 3, 2), f(4, low=0.5, high=1.5), f(4)
    yield Row("BatchNormalization", (x, scale, shift, f(4, seed=2), f(4, low=0.3, high=2.0)))
    yield Row("BatchNormalization", (x, scale, shift, f(4, seed=2), f(4, low=0.3, high=2.0)), {"training_mode": 1},
              outputs=3)
    yield Row("LayerNormalization", (x, f(3, 2), f(3, 2)), {"axis": -2}, outputs=3)
    yield Row("RMSNormalization", (x, f(3, 2)), {"axis": 2})
    yield Row("InstanceNormalization", (x, scale, shift))
    yield Row("GroupNormalization", (x, scale, shift), {"num_groups": 2}, is_exact=False)
    yield Row("MeanVarianceNormalization", (x,), is_exact=False)
    yield Row("LpNormalization", (x,), {"axis": 1})
    yield Row("LRN", (f(3, 3, 2, 4),), {"size": 3, "alpha": 0.5})  # its batch is as large as its channels
    scores, classes = f(3, 4, 2), i([[0, 3], [1, 2], [2, 2]])
    for reduction in ("mean", "sum", "none"):
        yield Row("NegativeLogLikelihoodLoss", (scores, classes, f(4, low=0.5, high=2.0)),
                  {"reduction": reduction, "ignore_index": 2})
    yield Row("SoftmaxCrossEntropyLoss", (scores, classes), outputs=2)
    yield Row("SoftmaxCrossEntropyLoss", (f(3, 4), i(3, 1, 0), f(4, low=0.5, high=2.0)), {"ignore_index": 1})


def _quantized() -> Iterator[Row]:
    x, zero = f(2, 3, low=-3, high=3).astype(np.float32), np.array([1, -2, 3], np.int8)
    scale = np.array([0.1, 0.02, 0.05], np.float32)
    yield Row("QuantizeLinear", (x, scale, zero), fixed=(0, 1))
    yield Row("QuantizeLinear", (x, scale[0]), {"output_dtype": 5}, fixed=(0, 1))
    yield Row("DequantizeLinear", (np.array([[3, -4, 5], [7, 0, 9]], np.int8), scale, zero), fixed=(1,))
    blocks = np.arange(2, 6, dtype=np.float32).reshape(2, 2)
    yield Row("DequantizeLinear", (np.arange(8, dtype=np.uint8).reshape(2, 4), blocks), {"axis": 1, "block_size": 2},
              fixed=(1,))
    yield Row("DynamicQuantizeLinear", (x,), outputs=3, fixed=(0,))


def _windows() -> Iterator[Row]:
    image, row = f(2, 4, 6, 5), f(2, 4, 7)
    yield Row("Conv", (image, f(6, 2, 3, 2), f(6)), {"group": 2, "pads": [1, 0, 2, 1], "strides": [2, 1]})
    yield Row("Conv", (row, f(4, 1, 3)), {"group": 4, "dilations": [2], "auto_pad": "SAME_LOWER"})
    yield Row("Conv", (f(1, 2, 3, 4, 5), f(3, 2, 2, 2, 2)))
    yield Row("ConvTranspose", (image, f(4, 3, 3, 2), f(3)), {"pads": [1, 0, 0, 1], "strides": [2, 3]})
    yield Row("ConvTranspose", (row, f(4, 2, 3)), {"dilations": [2], "output_padding": [1], "strides": [2]})
    yield Row("CausalConvWithState", (row, f(4, 1, 3), f(4), f(2, 4, 2)), {"activation": "silu"}, outputs=2, version=27,
              is_exact=False)
    for op in ("MaxPool", "AveragePool"):
        yield Row(op, (image,), {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1], "strides": [2, 1]})
    yield Row("LpPool", (image,), {"kernel_shape": [3, 2], "strides": [2, 1], "p": 3})
    yield Row("MaxPool", (image,), {"kernel_shape": [2, 2], "dilations": [2, 1], "strides": [2, 2]}, outputs=2)
    yield Row("MaxPool", (row,), {"kernel_shape": [3], "ceil_mode": 1, "strides": [3]})
    yield Row("AveragePool", (image,), {"kernel_shape": [2, 3], "auto_pad": "SAME_UPPER", "strides": [2, 2]})
    yield Row("AveragePool", (image,), {"kernel_shape": [2, 2], "count_include_pad": 1, "pads": [1, 1, 1, 1]})
    for op in ("GlobalAveragePool", "GlobalMaxPool"):
        yield Row(op, (image,))
    yield Row("MaxUnpool", (f(1, 1, 2, 2), i([[[[5, 7], [13, 15]]]])), {"kernel_shape": [2, 2], "strides": [2, 2]})
    yield Row("Col2Im", (f(1, 12, 6), i(3, 4), i(2, 2)), {"pads": [0, 0, 0, 0]})


def _images() -> Iterator[Row]:
    image = f(1, 2, 4, 5)
    none, up, size = None, np.array([1.0, 1.0, 1.6, 0.7], np.float32), i(1, 2, 7, 3)
    for mode in ("nearest", "linear", "cubic"):
        yield Row("Resize", (image, none, up), {"mode": mode}, fixed=(2,), is_exact=False)
        yield Row("Resize", (image, none, none, size), {"mode": mode,
                                                        "coordinate_transformation_mode": "align_corners"})
    yield Row("Resize", (image, none, none, i(3, 2)), {"mode": "linear", "antialias": 1, "axes": [2, 3]})
    yield Row("Resize", (image, np.array([0, 0, 0.1, 0.2, 1, 1, 0.9, 1.2]), none, size),
              {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 2.0},
              fixed=(1,))
    yield Row("Upsample", (image, np.array([1.0, 1.0, 2.0, 3.0], np.float32)), version=9, fixed=(1,))
    grid = f(1, 3, 2, 2, low=-1.3, high=1.3)
    for mode, padding in (("linear", "zeros"), ("linear", "reflection"), ("cubic", "border"), ("nearest", "zeros")):
        yield Row("GridSample", (image, grid), {"mode": mode, "padding_mode": padding}, is_exact=False,
                  fixed=() if mode == "linear" else (1,))
    for aligned in (0, 1):
        yield Row("AffineGrid", (f(2, 2, 3), i(2, 3, 4, 5)), {"align_corners": aligned}, is_exact=False)
    yield Row("DeformConv", (f(1, 2, 3, 3), f(2, 2, 2, 2), f(1, 8, 2, 2, low=-0.4, high=0.4), f(2), f(1, 4, 2, 2)),
              is_exact=False)
    yield Row("RoiAlign", (image, np.array([[0.3, 0.2, 3.1, 2.9], [1.1, 0.4, 4.2, 3.3]]), i(0, 0)),
              {"output_height": 2, "output_width": 3, "sampling_ratio": 2})
    yield Row("RoiAlign", (image, np.array([[0.3, 0.2, 3.1, 2.9]]), i([0])), {"mode": "max", "output_width": 2})


def _sequences() -> Iterator[Row]:
    x, lengths = f(4, 3, 2), np.array([4, 4, 4], np.int32)
    for op, gates, outputs in (("RNN", 1, 2), ("GRU", 3, 2), ("LSTM", 4, 3)):
        w, r, bias = f(2, gates * 5, 2), f(2, gates * 5, 5, seed=2), f(2, 2 * gates * 5)
        states = (f(2, 3, 5, seed=4),) * (outputs - 1)
        yield Row(op, (x, w, r, bias, lengths, *states), {"hidden_size": 5, "direction": "bidirectional"}, outputs)
        yield Row(op, (f(3, 4, 2), w[:1], r[:1]), {"hidden_size": 5, "layout": 1}, outputs)
    yield Row("GRU", (x, f(1, 15, 2), f(1, 15, 5), f(1, 30)), {"hidden_size": 5, "linear_before_reset": 1}, 2)
    yield Row("LSTM", (x, f(1, 20, 2), f(1, 20, 5), None, None, None, None, f(1, 15)), {"hidden_size": 5}, 3)
    q, k, v = f(2, 3, 8), f(2, 5, 4, seed=1), f(2, 5, 6, seed=2)
    heads = {"q_num_heads": 4, "kv_num_heads": 2}
    yield Row("Attention", (q, k, v, f(3, 5)), {**heads, "is_causal": 1, "softcap": 2.0})
    yield Row("Attention", (f(1, 2, 3, 4), f(1, 2, 2, 4, seed=1), f(1, 2, 2, 3, seed=2), None, f(1, 2, 3, 4),
                            f(1, 2, 3, 3)), {"is_causal": 1, "scale": 0.4}, 3)
    yield Row("Attention", (f(1, 1, 2, 4), f(1, 1, 3, 4), f(1, 1, 3, 2), b([True, False, True], [False] * 3)))
    caches = f(6, 2), f(6, 2, seed=1)
    for interleaved in (0, 1):
        yield Row("RotaryEmbedding", (f(1, 3, 8), *caches, i([[0, 2, 5]])),
                  {"num_heads": 2, "interleaved": interleaved})
    yield Row("LinearAttention", (f(1, 3, 8), f(1, 3, 4), f(1, 3, 6), f(1, 2, 2, 3), f(1, 3, 2), f(1, 3, 2)),
              heads, 2, version=28, is_exact=False)
    for inverse, onesided, last in ((0, 0, 1), (0, 1, 1), (1, 0, 2), (1, 1, 2)):
        yield Row("DFT", (f(2, 5, 3, last), None, i(1)), {"inverse": inverse, "onesided": onesided})
    yield Row("DFT", (f(2, 5, 2), i(7), i(-2)))
    yield Row("STFT", (f(1, 12, 1), i(3), f(4, low=0.2)))
    for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        yield Row(op, (i(6),), {"output_datatype": 11})
    yield Row("MelWeightMatrix", (i(5), i(16), i(8000), np.float32(100.0), np.float32(3000.0)),
              {"output_datatype": 11}, fixed=(3, 4))


ROWS = (*_unary(), *_binary(), *_arranged(), *_indexed(), *_reduced(), *_normalized(), *_quantized(), *_windows(),
        *_images(), *_sequences())
