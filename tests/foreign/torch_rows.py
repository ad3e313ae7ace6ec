"""Rows of ATen ops: the op, and what it is called with; torch's answers are in torch_ops.npz.

`scripts/torch_rows.py` makes that file with torch itself. Arrays are drawn from the row's number, so both sides have
the same ones.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

INF, NAN = float("inf"), float("nan")
PIVOTS = np.array([2, 3, 3], np.int32)


@dataclass(frozen=True)
class Given:
    """An array to be drawn. kind: f for floats about 0, p for positive ones, u for 0 to 1, k for kinks and ties, b for
    bool, i for int below `top`, s for a matrix that is positive definite, l for a lower triangle, c for complex."""

    kind: str
    shape: tuple[int, ...]
    top: int = 0
    values: Any = None

    def array(self, rng: np.random.Generator, dtype: str) -> np.ndarray:
        """The array; floats are of a type."""
        if self.values is not None:
            found = np.array(self.values)
            return found.astype(dtype) if found.dtype.kind == "f" else found
        if self.kind == "b":
            return rng.random(self.shape) < 0.5
        if self.kind == "i":
            return rng.integers(0, self.top, self.shape)
        if self.kind == "c":
            found = rng.standard_normal(self.shape) + 1j * rng.standard_normal(self.shape)
            return found.astype("complex128" if dtype == "float64" else "complex64")
        return self._floats(rng).astype(dtype)

    def _floats(self, rng: np.random.Generator) -> np.ndarray:
        found = rng.standard_normal(self.shape).astype(np.float32).astype(np.float64)
        if self.kind == "p":
            return np.abs(found) + 0.5
        if self.kind == "u":
            return rng.uniform(0.05, 0.95, self.shape).astype(np.float32)
        if self.kind == "k":
            return np.round(found)
        if self.kind in "sl":
            square = found @ np.swapaxes(found, -1, -2) / 2 + 2 * np.eye(self.shape[-1])
            return np.tril(square) if self.kind == "l" else square
        return found


@dataclass(frozen=True)
class Dtype:
    """A type by its name, which is torch's on one side and ours on the other."""

    name: str


def f(*shape: int) -> Given:
    """Floats about 0."""
    return Given("f", shape)


def p(*shape: int) -> Given:
    """Positive floats."""
    return Given("p", shape)


def u(*shape: int) -> Given:
    """Floats between 0 and 1."""
    return Given("u", shape)


def k(*shape: int) -> Given:
    """Whole floats about 0: kinks and ties."""
    return Given("k", shape)


def b(*shape: int) -> Given:
    """Truth values."""
    return Given("b", shape)


def i(top: int, *shape: int) -> Given:
    """Integers from 0 to below `top`."""
    return Given("i", shape, top)


def s(*shape: int) -> Given:
    """Matrices that are symmetric and positive definite."""
    return Given("s", shape)


def c(*shape: int) -> Given:
    """Complex numbers."""
    return Given("c", shape)


def v(values: Any) -> Given:
    """These values."""
    return Given("", (), 0, values)


@dataclass(frozen=True)
class Row:
    """One call. op: `add.Tensor`. outputs: how many are compared, from the first; 0 for all. slopes: whether gradients
    are compared too. fixed: which of its arrays torch does not differentiate by."""

    op: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: int = 0
    slopes: bool = True
    fixed: tuple[int, ...] = ()


def row(op: str, *args: Any, outputs: int = 0, slopes: bool = True, fixed: tuple[int, ...] = (), **kwargs: Any) -> Row:
    """A Row, written shortly."""
    return Row(op, args, kwargs, outputs, slopes, fixed)


def filled(tree: Any, rng: np.random.Generator, dtype: str) -> Any:
    """Arguments with their arrays drawn."""
    if isinstance(tree, Given):
        return tree.array(rng, dtype)
    if isinstance(tree, (list, tuple)):
        return type(tree)(filled(part, rng, dtype) for part in tree)
    return {key: filled(part, rng, dtype) for key, part in tree.items()} if isinstance(tree, dict) else tree


def weights(shape: tuple[int, ...]) -> np.ndarray:
    """What an output is weighted with before it is differentiated."""
    return np.cos(0.7 * np.arange(int(np.prod(shape, dtype=int))) + 0.3).reshape(shape)


UNARY = {f: "exp expm1 sin cos tan sinh cosh tanh asinh atan erf erfc sigmoid neg square relu silu mish exp2 "
            "log_sigmoid_forward selu special_i0e i0 hardtanh hardsigmoid hardswish elu celu gelu softplus leaky_relu "
            "softshrink hardshrink relu6 sinc frac logcumsumexp_0 nan_to_num deg2rad",
         p: "log log1p sqrt rsqrt reciprocal lgamma digamma log2 log10",
         u: "asin acos atanh logit erfinv",
         k: "abs sign relu hardtanh hardsigmoid hardswish elu gelu leaky_relu softshrink hardshrink floor ceil trunc "
            "round silu angle relu6 selu prod.default amax amin max.default isnan isinf isfinite"}

ROWS = [row(name.removesuffix("_0"), arg(3, 4), *([0] if name.endswith("_0") else []),
            outputs=1 if name == "log_sigmoid_forward" else 0)
        for arg, names in UNARY.items() for name in names.split()]
ROWS += [row("acosh", v([[1.5, 2.0, 3.5]])), row("gelu", f(3, 4), approximate="tanh"), row("elu", k(3, 4), 1.5, 2, 0.5),
         row("softplus", f(3, 4), 3, 2.5), row("hardtanh", k(3, 4), -2, 1), row("threshold", k(3, 4), 1, 7),
         row("leaky_relu", k(3, 4), 0.2), row("_prelu_kernel", k(3, 4), f(3, 4)), row("glu", f(3, 4), 1),
         row("softshrink", k(3, 4), 1.0), row("celu", f(3, 4), 2.0), row("polygamma", 1, p(3)), row("round.decimals", f(
             3, 4), decimals=1), row("logit", u(3, 4), 0.2), row("sqrt", v([0.0, 4.0])), row("nan_to_num", v(
                 [INF, -INF, float("nan"), 1.0]), 3.0)]
for _name in "add.Tensor sub.Tensor mul.Tensor div.Tensor maximum minimum atan2 fmax fmin hypot logaddexp".split():
    ROWS += [row(_name, f(3, 4), f(4)), row(_name, p(3, 1), p(1, 4))]
ROWS += [row(name, k(3, 4), k(4)) for name in "maximum minimum eq.Tensor ne.Tensor lt.Tensor le.Tensor gt.Tensor "
         "ge.Tensor logical_and logical_or logical_xor copysign.Tensor".split()]
ROWS += [
    row("add.Tensor", f(3, 4), f(3, 4), alpha=2), row("sub.Tensor", f(3, 4), f(3, 4), alpha=0.5),
    row("add.Tensor", i(5, 3), 1.5), row("mul.Tensor", i(5, 3), f(3)), row("div.Tensor", i(5, 3), 2),
    row("rsub.Scalar", f(3), 2), row("pow.Tensor_Scalar", k(3, 4), 2), row("pow.Tensor_Scalar", p(3, 4), -1.5),
    row("pow.Tensor_Scalar", k(3, 4), 0), row("pow.Tensor_Scalar", k(3, 4), 3),
    row("pow.Tensor_Tensor", p(3, 4), f(4)), row("pow.Scalar", 2.5, f(3, 4)), row("remainder.Tensor", f(3, 4), p(4)),
    row("remainder.Scalar", i(9, 5), 4), row("fmod.Tensor", f(3, 4), p(4)), row("fmod.Scalar", f(5), 0.7),
    row("div.Tensor_mode", f(3, 4), p(4), rounding_mode="floor"),
    row("div.Tensor_mode", f(5), p(5), rounding_mode="trunc"), row("floor_divide", f(4), p(4), slopes=False),
    row("heaviside", k(5), f(5), slopes=False), row("clamp", k(3, 4), -1, 1),
    row("clamp.Tensor", f(3, 4), v([-0.5]), v([0.5])), row("clamp_min", k(3, 4), 0), row("clamp_max", k(3, 4), 0),
    row("xlogy.Tensor", p(3), p(3)), row("lerp.Scalar", f(3), f(3), 0.3), row("lerp.Tensor", f(3), f(3), u(3)),
    row("addcmul", f(3), f(3), f(3), value=2), row("addcdiv", f(3), f(3), p(3), value=0.5),
    row("where.self", b(3, 4), f(3, 4), f(4)), row("masked_fill.Scalar", f(3, 4), b(3, 4), -2.0),
    row("bitwise_and.Tensor", i(8, 5), i(8, 5)), row("bitwise_or.Tensor", b(5), b(5)),
    row("bitwise_xor.Tensor", i(8, 5), i(8, 5)), row("bitwise_not", b(5)), row("bitwise_not", i(8, 5)),
    row("logical_not", k(5)), row("isclose", v([1.0, 2.0]), v([1.0, 2.1])),
    row("_to_copy", f(3), dtype=Dtype("float32")), row("_to_copy", k(4), dtype=Dtype("int64")),
    row("bucketize.Tensor", f(6), v([-1.0, 0.0, 1.0])), row("searchsorted.Tensor", v([0.0, 1.0, 2.0]), u(4)),
    # sums and the like
    row("sum", f(3, 4)), row("sum.dim_IntList", f(3, 4, 2), [0, -1], True), row("sum", i(5, 4)), row("mean", f(3, 4)),
    row("mean.dim", f(3, 4, 2), [1]), row("prod.dim_int", f(3, 4), 1), row("prod", v([0.0, 2.0, 3.0])),
    row("amax", k(3, 4), [1]), row("amin", k(3, 4), [0, 1], True), row("aminmax", f(3, 4), dim=1),
    row("any.dim", k(3, 4), 1), row("all.dim", k(3, 4), 1), row("argmax", k(3, 4), 1), row("argmin", f(3, 4)),
    row("argmax", f(3, 4), 0, True), row("logsumexp", f(3, 4), [1]),
    row("var.correction", f(3, 4), [1], correction=1), row("var.correction", f(3, 4)),
    row("var_mean.correction", f(3, 4), [0], correction=0, keepdim=True), row("std.correction", f(3, 4), [1]),
    row("std.correction", v([[1.0, 1.0], [1.0, 2.0]]), [1]), row("linalg_vector_norm", f(3, 4), 2, [1]),
    row("linalg_vector_norm", v([[0.0, 0.0], [3.0, 4.0]]), 2, [1]), row("linalg_vector_norm", f(3, 4), 1),
    row("linalg_vector_norm", k(3, 4), INF, [0]), row("linalg_vector_norm", f(3, 4), 3, [1], True),
    row("renorm", f(3, 4), 2, 0, 1.0), row("dist", f(3), f(3), 2), row("cumsum", f(3, 4), 1),
    row("cumprod", f(3, 4), 0), row("cummax", f(3, 4), 1), row("cummin", f(3, 4), 0), row("max.dim", f(3, 4), 1),
    row("min.dim", f(3, 4), 0, True), row("sort", f(3, 4), 1, True), row("sort.stable", f(3, 4), stable=True, dim=0),
    row("topk", f(3, 5), 2, 1), row("topk", f(3, 5), 2, 1, False), row("kthvalue", f(3, 5), 2, 1),
    row("median.dim", f(3, 5), 1), row("median", f(7)), row("argsort", f(3, 4)), row("count_nonzero", k(3, 4)),
    row("_softmax", f(3, 4), 1, False), row("_log_softmax", f(3, 4), -1, False), row("_softmax", f(4), 0, False),
    row("nansum", v([1.0, float("nan")])),
    # views and joins
    row("view", f(3, 4), [2, 6]), row("expand", f(3, 1), [2, 3, 4]), row("expand", f(3, 1), [-1, 4]),
    row("permute", f(2, 3, 4), [2, 0, 1]), row("transpose.int", f(2, 3), 0, 1), row("t", f(2, 3)),
    row("unsqueeze", f(3), -1), row("squeeze.dim", f(3, 1), 1), row("squeeze.dims", f(1, 3, 1), [0, 2]),
    row("squeeze", f(1, 3, 1)), row("select.int", f(3, 4), 1, -1), row("slice.Tensor", f(5, 3), 0, 1, 9, 2),
    row("slice.Tensor", f(5, 3), 1, -2), row("split.Tensor", f(5, 3), 2), row("split_with_sizes", f(5), [1, 4]),
    row("unbind.int", f(3, 2), 1), row("diagonal", f(3, 4), 1), row("as_strided", f(3, 4), [2, 2], [4, 2], 1),
    row("unfold", f(7), 0, 3, 2), row("cat", [f(2, 3), f(1, 3)]), row("stack", [f(2, 3), f(2, 3)], 1),
    row("repeat", f(2, 3), [2, 1, 2]), row("repeat_interleave.self_int", f(2, 3), 2, 1), row("flip", f(2, 3), [0, 1]),
    row("roll", f(3, 4), [1, -2], [0, 1]), row("roll", f(5), [2]), row("rot90", f(2, 3)), row("tril", f(3, 4), 1),
    row("triu", f(3, 4), -1), row("diag_embed", f(2, 3)), row("diag_embed", f(3), 1),
    row("constant_pad_nd", f(2, 3), [1, 2, 0, -1], 5.0), row("reflection_pad1d", f(2, 5), [2, 1]),
    row("reflection_pad2d", f(1, 3, 4), [1, 2, 2, 1]), row("reflection_pad3d", f(1, 3, 3, 3), [1, 1, 1, 0, 0, 2]),
    row("replication_pad2d", f(1, 2, 3), [1, 0, 2, 1]), row("replication_pad3d", f(1, 2, 2, 3), [1, 0, 1, 1, 0, 1]),
    row("pixel_shuffle", f(1, 4, 2, 3), 2), row("pixel_unshuffle", f(1, 1, 4, 6), 2),
    row("channel_shuffle", f(1, 4, 2, 2), 2), row("clone", f(3)), row("alias", f(3)),
    row("copy", f(2, 3), f(3), slopes=False), row("select_scatter", f(3, 4), f(3), 1, 2),
    row("slice_scatter", f(5, 3), f(2, 3), 0, 1, 5, 2), row("diagonal_scatter", f(3, 3), f(3)),
    row("full", [2, 3], 1.5), row("full_like", f(2), 3.0), row("zeros_like", f(2)), row("ones_like", f(2)),
    row("arange.start_step", 1, 7, 2), row("arange", 5.0), row("linspace", 0, 1, 5), row("eye", 3),
    row("new_zeros", f(2), [3]), row("scalar_tensor", 2.0), row("fill.Scalar", f(3), 2.0),
    # places
    row("gather", f(3, 4), 1, i(4, 3, 2)), row("gather", f(3, 4), 0, i(3, 2, 3)),
    row("index_select", f(3, 4), 1, i(4, 5)), row("index.Tensor", f(4, 3), [i(4, 2, 2)]),
    row("index.Tensor", f(4, 3, 5), [None, i(3, 2), i(5, 2)]), row("index.Tensor", f(4, 3), [b(4)]),
    row("index.Tensor", f(4, 3, 5), [i(4, 2), None, i(5, 2)]), row("index.Tensor", f(4, 3), [v([0, -1]), v([2, -3])]),
    row("index_put", f(4, 3), [v([0, 2])], f(2, 3)), row("index_put", f(4, 3), [i(4, 6)], f(6, 3), True),
    row("index_put", f(4, 3), [None, v([0, 2])], f(4, 2)), row("index_put", f(4, 3), [b(4, 3)], v(7.0)),
    row("masked_select", f(3, 4), b(3, 4)), row("masked_scatter", f(3, 4), b(3, 4), f(12)), row("nonzero", k(3, 4)),
    row("scatter.src", f(3, 4), 1, v([[0, 2], [1, 0], [3, 1]]), f(3, 2)),
    row("scatter.value", f(3, 4), 1, v([[0], [1], [2]]), 9.0), row("scatter_add", f(3, 4), 0, i(3, 2, 4), f(2, 4)),
    row("scatter_reduce.two", f(3, 4), 0, i(3, 2, 4), f(2, 4), "sum"),
    row("scatter_reduce.two", f(3, 4), 0, i(3, 2, 4), f(2, 4), "amax"),
    row("scatter_reduce.two", p(3, 4), 0, i(3, 2, 4), p(2, 4), "prod"),
    row("scatter_reduce.two", f(3, 4), 0, i(3, 2, 4), f(2, 4), "mean", include_self=False),
    row("index_add", f(3, 4), 0, i(3, 5), f(5, 4), alpha=2), row("index_copy", f(3, 4), 1, v([2, 0]), f(3, 2)),
    row("index_fill.int_Scalar", f(3, 4), 1, v([0, 2]), 5.0), row("take", f(3, 4), i(12, 5)),
    row("put", f(3, 4), v([1, 5]), f(2)), row("embedding", f(5, 3), i(5, 2, 2), 1),
    row("_embedding_bag", f(5, 3), i(5, 6), v([0, 2, 4]), outputs=1),
    # products and linear algebra
    row("mm", f(3, 4), f(4, 2)), row("bmm", f(2, 3, 4), f(2, 4, 2)), row("mv", f(3, 4), f(4)), row("dot", f(4), f(4)),
    row("addmm", f(2), f(3, 4), f(4, 2), beta=0.5, alpha=2), row("baddbmm", f(2, 3, 2), f(2, 3, 4), f(2, 4, 2)),
    row("addmv", f(3), f(3, 4), f(4)), row("addr", f(3, 2), f(3), f(2)),
    row("addbmm", f(3, 2), f(2, 3, 4), f(2, 4, 2)), row("linalg_cross", f(2, 3), f(2, 3)),
    row("linalg_inv_ex", s(2, 3, 3), outputs=1), row("_linalg_det", f(3, 3), outputs=1),
    row("_linalg_slogdet", f(3, 3), outputs=2), row("_linalg_solve_ex", s(3, 3), f(3, 2), outputs=1),
    row("linalg_solve_triangular", Given("l", (3, 3)), f(3, 2), upper=False),
    row("linalg_cholesky_ex", s(3, 3), outputs=1), row("cholesky_solve", f(3, 2), Given("l", (3, 3))),
    row("_linalg_eigh", s(3, 3), outputs=1), row("linalg_matrix_exp", f(3, 3)),
    row("_cdist_forward", f(3, 2), f(4, 2), 2.0, None), row("_cdist_forward", f(3, 2), f(4, 2), 1.0, None),
    row("_pdist_forward", f(4, 3)), row("_trilinear", f(2, 3), f(4, 3, 5), f(2, 5), [1, 3], [0], [1, 2], [2, 3]),
    row("_fft_r2c", f(2, 6), [1], 0, True), row("_fft_c2c", c(2, 6), [1], 1, True, slopes=False),
    row("_fft_c2c", c(2, 6), [0, 1], 2, False, slopes=False), row("_fft_c2r", c(2, 4), [1], 2, 6, slopes=False),
    # windows and layers
    row("convolution", f(2, 3, 6, 5), f(4, 3, 3, 2), f(4), [2, 1], [1, 0], [1, 1], False, [0, 0], 1),
    row("convolution", f(2, 4, 6, 5), f(4, 2, 3, 2), None, [1, 1], [1, 1], [2, 1], False, [0, 0], 2),
    row("convolution", f(2, 3, 7), f(4, 3, 3), f(4), [2], [1], [1], False, [0], 1),
    row("convolution", f(1, 2, 4, 4, 5), f(3, 2, 2, 3, 2), f(3), [1, 2, 1], [1, 0, 1], [1, 1, 1], False, [0, 0, 0],
        1), row("convolution", f(2, 4, 3, 4), f(4, 3, 3, 2), f(3), [2, 1], [1, 0], [1, 1], True, [1, 0], 1),
    row("convolution", f(2, 4, 3, 4), f(4, 1, 3, 2), None, [2, 2], [1, 1], [1, 2], True, [1, 1], 2),
    row("convolution", f(2, 4, 5), f(4, 3, 3), f(3), [2], [1], [1], True, [1], 1),
    row("max_pool2d_with_indices", f(2, 2, 6, 5), [2, 2]),
    row("max_pool2d_with_indices", f(1, 2, 7, 5), [3, 2], [2, 1], [1, 1], [1, 1], True),
    row("max_pool2d_with_indices", f(1, 2, 7, 7), [2, 2], [1, 2], [1, 0], [2, 3]),
    row("max_pool2d_with_indices", k(1, 1, 6, 6), [2, 2], outputs=1),
    row("max_pool3d_with_indices", f(1, 2, 4, 4, 5), [2, 2, 2], outputs=1), row("avg_pool2d", f(1, 2, 6, 5), [2, 2]),
    row("avg_pool2d", f(1, 2, 7, 5), [3, 2], [2, 2], [1, 1], True, False),
    row("avg_pool2d", f(1, 2, 7, 5), [3, 2], [2, 2], [1, 1], True, True),
    row("avg_pool2d", f(1, 1, 4, 4), [2, 2], [], [0, 0], False, True, 3),
    row("avg_pool3d", f(1, 1, 4, 4, 4), [2, 2, 2]), row("avg_pool1d", f(1, 2, 7), [3], [2]),
    row("_adaptive_avg_pool2d", f(1, 2, 5, 7), [2, 3]), row("_adaptive_avg_pool3d", f(1, 1, 4, 5, 3), [2, 2, 3]),
    row("adaptive_max_pool2d", f(1, 2, 5, 7), [2, 3]), row("im2col", f(1, 2, 5, 4), [2, 3], [1, 1], [1, 0], [2, 1]),
    row("col2im", f(1, 4, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1]),
    row("native_layer_norm", f(3, 4, 2), [4, 2], f(4, 2), f(4, 2), 1e-05, outputs=1),
    row("native_group_norm", f(2, 4, 3), f(4), f(4), 2, 4, 3, 2, 1e-05, outputs=1),
    row("native_batch_norm", f(4, 3, 2), f(3), f(3), v([0.0, 0.0, 0.0]), v([1.0, 1.0, 1.0]), True, 0.1, 1e-05,
        outputs=1, fixed=(3, 4)),
    row("_native_batch_norm_legit_no_training", f(4, 3), f(3), f(3), f(3), p(3), 0.1, 1e-05, outputs=1, fixed=(3, 4)),
    row("_native_batch_norm_legit.no_stats", f(4, 3, 2), None, None, True, 0.1, 1e-05, outputs=1, fixed=(3, 4)),
    row("_weight_norm_interface", f(3, 4), p(3, 1), 0, outputs=1),
    row("_scaled_dot_product_flash_attention_for_cpu", f(1, 2, 3, 4), f(1, 2, 5, 4), f(1, 2, 5, 4), outputs=1),
    row("_scaled_dot_product_flash_attention_for_cpu", f(1, 2, 3, 4), f(1, 2, 3, 4), f(1, 2, 3, 4), 0.0, True,
        outputs=1), row("_safe_softmax", v([[1.0, 2.0], [-INF, -INF]]), 1),
    row("upsample_nearest2d", f(1, 2, 3, 4), [5, 7]), row("upsample_bilinear2d", f(1, 2, 3, 4), [5, 7], False),
    row("upsample_bilinear2d", f(1, 2, 3, 4), [6, 2], True), row("upsample_bicubic2d", f(1, 1, 4, 5), [6, 3], False),
    row("upsample_linear1d", f(1, 2, 4), [7], False), row("upsample_nearest1d", f(1, 2, 4), [6]),
    row("upsample_trilinear3d", f(1, 1, 2, 3, 2), [3, 4, 3], False),
    row("_upsample_nearest_exact2d", f(1, 1, 3, 4), [5, 6]),
    row("grid_sampler_2d", f(1, 2, 4, 5), f(1, 3, 3, 2), 0, 0, False),
    row("grid_sampler_2d", f(1, 2, 4, 5), f(1, 3, 3, 2), 0, 1, True),
    row("grid_sampler_2d", f(1, 1, 4, 5), f(1, 3, 3, 2), 0, 2, False),
    row("affine_grid_generator", f(1, 2, 3), [1, 1, 3, 4], False),
    # losses
    row("mse_loss", f(3, 4), f(3, 4)), row("mse_loss", f(3, 4), f(3, 4), 0),
    row("smooth_l1_loss", f(3, 4), f(3, 4), 1, 0.5), row("huber_loss", k(3, 4), k(3, 4), 2, 1.0),
    row("binary_cross_entropy", u(3, 4), u(3, 4)),
    row("binary_cross_entropy", v([0.0, 1.0, 0.5]), v([0.0, 1.0, 1.0]), None, 2),
    row("nll_loss_forward", f(4, 3), i(3, 4), p(3), 1, 1, fixed=(2,)),
    row("nll_loss2d_forward", f(2, 3, 2, 2), i(3, 2, 2, 2), None, 2, -100, outputs=1),
    row("nll_loss_forward", f(4, 3), i(3, 4), None, 0, -100, outputs=1),
    row("soft_margin_loss", f(3), f(3), fixed=(1,)), row("multi_margin_loss", f(3, 4), i(4, 3)),
    row("binary_cross_entropy_with_logits", f(3, 4), u(3, 4), None, p(4), fixed=(2,)),
    row("convolution_backward", f(1, 2, 3, 3), f(1, 3, 5, 4), f(2, 3, 3, 2), [2], [1, 1], [0, 0], [1, 1], False, [0,
        0], 1, [True, True, True], slopes=False), row("unfold_backward", f(3, 3), [7], 0, 3, 2),
    row("complex", f(3), f(3)), row("view_as_real", c(3), slopes=False), row("trace", f(3, 3)),
    row("isposinf", v([INF, 1.0])),
    row("histc", f(3, 4), 5, -1.0, 2.0, slopes=False), row("histc", f(7), 3, slopes=False),
    row("grid_sampler_2d", f(1, 2, 4, 5), f(1, 3, 3, 2), 2, 0, False),
    row("grid_sampler_3d", f(1, 1, 2, 4, 5), f(1, 3, 3, 2, 3), 0, 0, True), row("upsample_bicubic2d", f(1, 1, 3, 4), [5,
        7], True),
    # poles
    row("sqrt", v([0.0, 4.0])), row("rsqrt", v([0.0, 4.0])), row("reciprocal", v([0.0, 4.0])),
    row("atan2", v([0.0, 1.0, 0.0]), v([0.0, 0.0, -2.0])), row("xlogy", v([0.0, 1.0]), v([0.0, 0.0])),
    row("pow.Tensor_Tensor", v([0.0, 0.0, 0.0]), v([0.0, 2.0, 0.5])), row("hypot", v([0.0, 3.0]), v([0.0, 4.0])),
    row("logit", v([0.0, 0.25])), row("erfinv", v([0.3, -0.9, 0.0])),
    # bags without padding, heads that share keys, packed sequences, narrow kernels
    row("_embedding_bag", f(5, 3), i(5, 6), v([0, 2, 4]), False, 1, False, None, False, 2, outputs=1),
    row("_scaled_dot_product_flash_attention_for_cpu", f(1, 4, 3, 4), f(1, 2, 3, 4), f(1, 2, 3, 4), 0.0, True,
        outputs=1), row("_pack_padded_sequence", f(3, 5, 2), v([5, 3, 2]), True, outputs=1),
    row("_pad_packed_sequence", f(10, 2), v([3, 3, 2, 1, 1]), True, 0.5, 6, outputs=1),
    row("_upsample_bilinear2d_aa", f(1, 1, 5, 6), [3, 4], False),
    row("_upsample_bicubic2d_aa", f(1, 1, 5, 6), [3, 4], False),
    # scalars, which torch sees as vectors of one; nan, which is the greatest; ties of medians
    *(row(op, v(2.5), 0) for op in ("cummax", "cumsum", "logcumsumexp", "max.dim", "sort", "median.dim", "mode")),
    row("logsumexp", v(2.5), [0]), row("kthvalue", v(2.5), 1), row("index_fill", v(2.5), 0, v([0]), 1.0),
    row("index_reduce", v(2.5), 0, v([0]), v(1.5), "amax"), row("squeeze.dims", f(1, 1), []),
    row("sort", v([2.0, NAN, 1.0, 3.0])), row("median.dim", v([[2.0, NAN, 1.0], [2.0, 0.0, 1.0]]), 1, outputs=1),
    row("nanmedian.dim", v([[2.0, NAN, 1.0], [2.0, 0.0, 1.0]]), 1), row("argmax", v([1.0, NAN, 2.0])),
    row("argmin", v([1.0, NAN, 2.0]), 0), row("cummin", v([1.0, NAN, 2.0]), 0), row("median", v([2.0, 1.0, 2.0, 3.0])),
    row("mode", k(6, 7), 1), row("mode", k(6, 7), 0, True), row("mode", i(3, 2, 9)),
    *(row("index_reduce", f(4, 3), 1, v([2, 0, 2]), f(4, 3), reduce, include_self=own)
      for reduce in ("prod", "mean", "amax", "amin") for own in (True, False)),
    row("as_strided_scatter", f(3, 4), f(2, 2), [2, 2], [4, 1], 1, fixed=(0,)),
    row("masked_scatter", f(3), b(2, 3), f(6), slopes=False),
    row("searchsorted", v([3.0, 1.0, 2.0]), v(1.5), sorter=v([1, 2, 0])),
    row("replication_pad2d", f(1, 1, 3, 4), [-3, 5, 1, 0]), row("to.dtype", f(3), Dtype("float32"), slopes=False),
    row("_upsample_bilinear2d_aa", f(1, 1, 5, 6), [3, 4], True),
    row("embedding", f(4, 2), v([0, 2, 2]), -1, True),
    row("embedding_renorm", f(4, 2), v([0, 2, 2]), 0.5, 2.0, slopes=False),
    row("_conj_physical", c(3), slopes=False), row("native_layer_norm", f(2, 3), [3], None, None, 1e-5),
    # linear algebra
    row("_linalg_eigh", f(3, 3), "L", True, outputs=1), row("_linalg_eigh", f(3, 3), "U", True, outputs=1),
    row("linalg_qr", f(2, 3, 5)), row("linalg_householder_product", f(4, 3), f(2)),
    row("ormqr", f(4, 3), f(3), f(4, 2)),
    row("ormqr", f(4, 3), f(3), f(2, 4), False, True), row("linalg_lu", f(2, 3, 3)),
    row("linalg_lu_factor_ex", f(4, 4)),
    row("linalg_lu_solve", f(3, 3), PIVOTS, f(3, 2)),
    row("linalg_lu_solve", f(3, 3), PIVOTS, f(2, 3), left=False, adjoint=True),
    row("lu_unpack", f(3, 3), PIVOTS), row("linalg_lstsq", f(2, 5, 3), f(2, 5, 2), driver="gels", outputs=2),
    row("linalg_lstsq", f(3, 5), f(3, 2), driver="gels", outputs=1), row("linalg_pinv", f(2, 4, 3), 0.5),
    row("linalg_inv_ex", s(2, 3, 3)), row("linalg_eig", f(3, 3), slopes=False, outputs=1),
    # special functions
    row("special_erfcx", v([-3.0, 0.5, 4.9, 7.0, 19.0, 40.0])), row("special_ndtri", u(4)),
    row("special_log_ndtr", v([-50.0, -7.1, -6.9, 0.5, 1.5, 8.0])), row("nextafter", f(3), f(3)),
    row("frexp", v([0.0, 1.0, -0.75, 3e-9, 1e20])),
    row("polar", v([2.0, -1.5]), f(2), slopes=False),
    row("bincount", i(5, 7), None, 6), row("bincount", i(5, 7), f(7), fixed=(1,)),
    row("_new_zeros_with_same_feature_meta", f(2, 3), f(4), self_num_batch_dims=1, slopes=False),
    row("_embedding_bag", f(5, 3), i(5, 6), v([0, 2, 2]), False, 2, outputs=1),
    row("linalg_lu_factor_ex", f(5, 3)), row("linalg_lu", f(2, 3, 5)),
    row("grid_sampler_2d", f(1, 2, 4, 5), f(1, 3, 3, 2), 2, 1, False),
    row("reciprocal", c(3)), row("sqrt", c(3)), row("rsqrt", c(3)), row("pow", c(3), c(3)), row("sgn", c(3)),
    row("vdot", c(3), c(3)), row("linalg_vecdot", c(2, 3), c(2, 3)), row("_linalg_slogdet", c(3, 3), outputs=2),
    row("linalg_eig", c(3, 3), outputs=1), row("linalg_pinv", c(3, 2)),
    # what layers are in eval mode
    *(row("_native_multi_head_attention", f(2, 3, 4), f(2, 3, 4), f(2, 3, 4), 4, 2, f(12, 4), f(12), f(4, 4), f(4),
          mask, need, True, kind, outputs=1 + need, slopes=False) for mask, kind, need in (
              (None, None, True), (v([[False, False, True], [False, True, True]]), 1, False),
              (v([[False, True, True], [False, False, True], [False, False, False]]), 0, True))),
    *(row("_transformer_encoder_layer_fwd", f(2, 3, 4), 4, 2, f(12, 4), f(12), f(4, 4), f(4), gelu, first, 1e-5, f(4),
          f(4), f(4), f(4), f(5, 4), f(5), f(4, 5), f(4), v([[False, False, True], [False, True, True]]), 1,
          slopes=False) for gelu, first in ((True, False), (False, True))),
]
