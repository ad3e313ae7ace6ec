"""Functions of JAX whose programs the tests hold: name -> function, arguments, and how they are made."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

CASES = {}


def case(name, function, *arguments, low=-1.5, high=1.5, types=("float32", "float64")):
    """arguments: shapes, whose elements lie between low and high; or arrays, which stay what they are."""
    CASES[name] = (function, arguments, low, high, types)


def unary(low, high, **functions):
    for name, function in functions.items():
        case(name, function, (2, 3), low=low, high=high)


unary(-1.5, 1.5, neg=lambda x: -x, sign=jnp.sign, floor=jnp.floor, ceil=jnp.ceil, exp=jnp.exp, expm1=jnp.expm1,
      tanh=jnp.tanh, sin=jnp.sin, cos=jnp.cos, tan=jnp.tan, atan=jnp.arctan, sinh=jnp.sinh, cosh=jnp.cosh,
      asinh=jnp.arcsinh, logistic=lax.logistic, square=lax.square, erf=lax.erf, erfc=lax.erfc, cbrt=jnp.cbrt,
      exp2=jnp.exp2, abs=jnp.abs, bessel_i0e=lax.bessel_i0e, bessel_i1e=lax.bessel_i1e, round=jnp.round,
      round_away=lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), stop_gradient=lambda x:
      lax.stop_gradient(x) * x)
unary(0.2, 3.0, log=jnp.log, log1p=jnp.log1p, sqrt=jnp.sqrt, rsqrt=lax.rsqrt, lgamma=lax.lgamma, digamma=lax.digamma,
      polygamma=lambda x: jax.scipy.special.polygamma(2, x), integer_pow_5=lambda x: x**5, reciprocal=lambda x: x**-1)
unary(-0.9, 0.9, asin=jnp.arcsin, acos=jnp.arccos, atanh=jnp.arctanh, erf_inv=lax.erf_inv)
unary(-3.0, 3.0, acosh=jnp.arccosh)
case("binary", lambda x, y: x + y * x - y / x + jnp.arctan2(x, y), (2, 3), (2, 3), low=0.3, high=2.0)
case("pow", lambda x, y: x**y, (2, 3), (2, 3), low=0.3, high=2.0)
case("pow_of_int", lambda x: lax.pow(x, jnp.array([[0, 2, 3]] * 2)), (2, 3))
case("rem", lambda x, y: lax.rem(x, y) + x % y, (2, 3), (2, 3), low=0.3, high=2.0)
case("igamma", lambda a, x: lax.igamma(a, x) + lax.igammac(a, x), (2, 3), (2, 3), low=0.5, high=2.0)
case(
    "betainc",
    lambda x: lax.betainc(jnp.full((4,), 1.5, x.dtype), jnp.full((4,), 2.5, x.dtype), x),
    (4,),
    low=0.1,
    high=0.9,
)
case("zeta", lambda q: jax.scipy.special.zeta(3.0, q), (4,), low=1.2, high=3.0)
case("clamp", lambda x: lax.clamp(-0.5, x, 0.5), (2, 3))
case("maximum", lambda x, y: jnp.maximum(x, y) * jnp.minimum(x, 2 * y), (2, 3), (2, 3))
case("compare", lambda x, y: jnp.where((x > y) & ~(x <= 0.1) | (y == x) ^ (x != 2), x, y * y), (2, 3), (2, 3))
case("select_n", lambda x, y: lax.select_n(jnp.array([0, 1, 2]), x, y, x * y), (3,), (3,))
case("types", lambda x: x.astype(jnp.int32).astype(x.dtype) * x + (x > 0) * x, (2, 3), low=-4, high=4)
case(
    "complex",
    lambda x, y: jnp.abs(jnp.exp(lax.complex(x, y)) * jnp.conj(lax.complex(y, x))) + (lax.complex(x, y) ** 2).imag,
    (3,),
    (3,),
)
case(
    "bits",
    lambda x: (
        x * ((jnp.arange(4) << 3 | 5) & ~jnp.arange(4) ^ 2).astype(x.dtype) + (jnp.arange(4, dtype="uint32") >> 1)
    ),
    (4,),
)
case("unstack", lambda x: sum(lax.unstack(x, 1)), (2, 3))
case("shift_arithmetic", lambda x: x * (jnp.array([-5, 9, 3, -64]) >> 2), (4,))
case("xor_all", lambda x: x * lax.reduce(jnp.arange(3), 0, lax.bitwise_xor, (0,)), (4,))
case("lu_solve", lambda x, b: jax.scipy.linalg.lu_solve(jax.scipy.linalg.lu_factor(x), b), (3, 3), (3,))
case("tangent_of_pool", lambda x, v: jax.jvp(lambda t: lax.reduce_window(
    t, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID"), (x,), (v,))[1], (4, 4), (4, 4))
case("popcount", lambda x: x * lax.population_count(jnp.array([1, 7, 255, -1])), (4,))
case("reduce_precision", lambda x: (lax.reduce_precision(x, 5, 10), lax.reduce_precision(x * 1e5, 5, 10),
                                    lax.reduce_precision(x * 1e-5, 5, 7), lax.reduce_precision(x, 8, 7)), (9,))
case("by_zero", lambda x: (x * lax.div(jnp.array([3, 0, -7]), jnp.array([0, 0, 2])) + lax.rem(
    jnp.array([3, 0, -7]), jnp.array([0, 0, 2])) + jnp.gcd(4, jnp.array([6, 0, 9])), x // 0.0), (3,))
# at kinks, ties and poles
case(
    "relu_at_zero",
    lambda x: jax.nn.relu(x) + jax.nn.leaky_relu(x) + jax.nn.relu6(x),
    np.array([-1.0, 0.0, 6.0, 7.0, 2.0]),
)
case(
    "max_at_ties",
    lambda x: jnp.maximum(x, 0.0) + jnp.abs(x) + x.max() + jnp.clip(x, 0.0, 1.0),
    np.array([0.0, 1.0, -2.0, 1.0]),
)
case("sqrt_at_zero", lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0), np.array([0.0, 1.0, 4.0]))
case("rsqrt_at_zero", lambda x: jnp.where(x > 0, lax.rsqrt(x), 0.0), np.array([0.0, 1.0, 4.0]))
case("log_at_zero", lambda x: jnp.where(x > 0, jnp.log(x), 0.0), np.array([0.0, 1.0, 4.0]))
case("divide_by_zero", lambda x: jnp.where(x > 0, 1 / x, 0.0), np.array([0.0, 1.0, 4.0]))
case("pow_at_zero", lambda x: x**0.5 * jnp.array([0.0, 1.0, 1.0]) + x**2.0, np.array([0.0, 1.0, 4.0]))
case("norm_at_zero", lambda x: jnp.linalg.norm(x, axis=1), np.array([[0.0, 0.0], [3.0, 4.0]]))
# arrays
case("broadcast", lambda x: jnp.broadcast_to(x[:, None], (3, 4)) * jnp.ones((2, 3, 4), x.dtype), (3,))
case("reshape", lambda x: jnp.reshape(x, (3, 2)) @ jnp.squeeze(x[None]), (2, 3))
case("transpose", lambda x: jnp.transpose(x, (2, 0, 1)) * 2, (2, 3, 4))
case("rev", lambda x: x[::-1, ::2] * x[:, 1::2], (2, 4))
case("join", lambda x, y: jnp.concatenate([x, y], 1) * jnp.stack([x[:, 0]] * 5, 1), (2, 3), (2, 2))
case("split", lambda x: jnp.split(x, [1, 3], 1)[1] * x[:, :2], (2, 5))
case("tile", lambda x: jnp.tile(x, (2, 3)), (2, 2))
case("pad", lambda x: jnp.pad(x, ((1, 2), (0, 1)), constant_values=3.0) * 2, (2, 3))
case("pad_inside", lambda x: lax.pad(x, jnp.array(0.5, x.dtype), ((1, -1, 2), (-1, 2, 0))), (3, 3))
case("pad_edges", lambda x: jnp.pad(x, 1, mode="reflect") + jnp.pad(x, 1, mode="edge"), (3, 3))
case("iota", lambda x: x * lax.broadcasted_iota(x.dtype, (2, 3), 1), (2, 3))
case("dynamic_slice", lambda x: lax.dynamic_slice(x, (1, 7), (2, 2)) ** 2, (3, 4))
case("dynamic_update", lambda x, y: lax.dynamic_update_slice(x, y, (2, 1)) ** 2, (3, 4), (2, 2))
case("roll", lambda x: jnp.roll(x, 2, 1) * x, (2, 5))
case("diag", lambda x: jnp.diag(x) + jnp.diag(jnp.diag(x))[0] + jnp.tril(x).sum(0) + jnp.triu(x, 1).sum(1), (3, 3))
case("meshgrid", lambda x, y: sum(jnp.meshgrid(x, y)), (3,), (4,))
# indices
case("rows", lambda x: x[jnp.array([2, 0, 2])] ** 2, (3, 4))
case("columns", lambda x: x[:, jnp.array([[2, 0], [1, 1]])] ** 2, (3, 4))
case("points", lambda x: x[jnp.array([2, 0, 2]), jnp.array([1, 1, 3])] ** 2, (3, 4))
case("middle", lambda x: x[1, jnp.array([2, 0]), :] ** 2, (2, 3, 4))
case(
    "outside",
    lambda x: (
        jnp.take(x, jnp.array([1, 5]), axis=0, mode="clip")
        + jnp.take(x, jnp.array([-1, 7]), axis=0, mode="fill", fill_value=2.0)
    ),
    (3, 4),
)
case("along", lambda x: jnp.take_along_axis(x, jnp.array([[0, 2], [1, 1]]), 1) ** 2, (2, 3))
case("gather_batched", lambda x: jax.vmap(lambda r, i: r[i])(x, jnp.array([1, 0])), (2, 3))
case("masked", lambda x: jnp.where(jnp.array([True, False, True]), x, 0) @ x.T, (2, 3))
case("set", lambda x, y: x.at[jnp.array([1, 0])].set(y) ** 2, (3, 4), (2, 4))
case("set_twice", lambda x, y: x.at[jnp.array([1, 1])].set(y) ** 2, (3,), (2,))
case("add_at", lambda x, y: x.at[jnp.array([1, 1]), 2].add(y) ** 2, (3, 4), (2,))
case("sub_at", lambda x: x.at[0, 1:3].subtract(2 * x[1, 1:3]) ** 2, (3, 4))
case("mul_at", lambda x: x.at[jnp.array([0, 2])].multiply(3.0, unique_indices=True) ** 2, (3, 4))
case("segment_max", lambda x: jax.ops.segment_max(x, jnp.array([0, 2, 0]), 4), (3, 2))
case("max_at", lambda x, y: x.at[jnp.array([0, 2])].max(y) ** 2 + x.at[jnp.array([0, 0])].min(y), (3, 4), (2, 4))
case("dropped", lambda x, y: x.at[jnp.array([1, 9])].add(y, mode="drop") ** 2, (3, 4), (2, 4))
case(
    "segments",
    lambda x: jax.ops.segment_sum(x, jnp.array([0, 2, 0]), 3) + jax.ops.segment_max(x, jnp.array([0, 1, 0]), 2)[0],
    (3, 2),
)
case("sort", lambda x: jnp.sort(x, 0) * jnp.arange(3.0)[:, None].astype(x.dtype) + x[jnp.argsort(x[:, 0])], (3, 4))
case("sort_two", lambda x, y: lax.sort((x, y), dimension=1, num_keys=1)[1] ** 2, (2, 4), (2, 4))
case("sort_nan", lambda x: jnp.sort(x), np.array([2.0, np.nan, 1.0, -np.inf]))
case("top_k", lambda x: lax.top_k(x, 2)[0] ** 2, (2, 5))
case("approx_min_k", lambda x: lax.approx_min_k(x, 1)[0] ** 2, (2, 5))
case("quantiles", lambda x: jnp.median(x, 1) + jnp.quantile(x, 0.3, axis=1), (2, 5))
# reductions
case(
    "numbered_axes",
    lambda x: lax.psum(x, 1) * lax.pmax(lax.stop_gradient(x), 1) + lax.pmin(lax.stop_gradient(x), (1,)),
    (2, 5),
)
case("sums", lambda x: x.sum(1) * x.prod((0, 2)).sum() + x.mean((1, 2))[:, None], (2, 3, 4))
case("prod_of_zero", lambda x: jnp.prod(x, 1), np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 4.0]]))
case("extremes", lambda x: x.max(1) * x.min() + jnp.argmax(x, 1) - jnp.argmin(x, 1), (2, 3))
case("any_all", lambda x: x * jnp.any(x > 0.3, 1, keepdims=True) + x * jnp.all(x < 1.3), (2, 3))
case("variance", lambda x: jnp.var(x, 1) + jnp.std(x, 0).sum(), (3, 4))
case("cumsum", lambda x: jnp.cumsum(x, 1) * lax.cumsum(x, 1, reverse=True), (2, 4))
case("cumprod", lambda x: jnp.cumprod(x, 0), np.array([[2.0, 0.0, 3.0], [1.0, 4.0, 0.0], [0.0, 0.0, 5.0]]))
case("cummax", lambda x: lax.cummax(x, 1) * lax.cummin(x, 1, reverse=True), (2, 5))
case("cumlogsumexp", lambda x: lax.cumlogsumexp(x, 1) + jax.nn.logsumexp(x, 1, keepdims=True), (2, 4))
case("reduce", lambda x: lax.reduce(x, jnp.array(0.0, x.dtype), lambda a, b: a + b + a * b, (1,)), (2, 5))
case("associative_scan", lambda x: lax.associative_scan(lambda a, b: a * b + a, x), (5,))
case("max_pool", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 3), (1, 1, 1, 2), "SAME"), (2, 2, 5, 5))
case("min_pool", lambda x: lax.reduce_window(x, jnp.inf, lax.min, (1, 2, 2), (1, 2, 1), "VALID"), (2, 4, 5))
case(
    "sum_pool", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 1), (1, 2, 1), [(0, 0), (1, 1), (0, 0)]), (2, 5, 3)
)
case(
    "grad_of_pool",
    lambda x: jax.grad(lambda t: (lax.reduce_window(t, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID") ** 2).sum())(x) * x,
    (4, 4),
)
# products
case("matmul", lambda x, y: x @ y, (2, 3), (3, 4))
case("matmul_turned", lambda x, y: x.T @ y.T, (3, 2), (4, 3))
case("vectors", lambda x, y: jnp.dot(x, y[0]) + jnp.inner(y, x) + jnp.outer(x[:2], y[0])[0, 1], (3,), (2, 3))
case("batched", lambda x, y: jnp.einsum("bij,bjk->bki", x, y), (2, 3, 4), (2, 4, 3))
case("einsum", lambda x, y: jnp.einsum("bhid,bhjd->bhij", x, y), (2, 2, 3, 4), (2, 2, 3, 4))
case("tensordot", lambda x, y: jnp.tensordot(x, y, 2), (2, 3, 4), (3, 4, 2))
case("conv", lambda x, k: lax.conv_general_dilated(x, k, (1, 2), "SAME"), (2, 3, 5, 6), (4, 3, 3, 2))
case(
    "conv_nhwc",
    lambda x, k: lax.conv_general_dilated(
        x, k, (1, 1), [(1, 2), (0, 1)], rhs_dilation=(2, 1), dimension_numbers=("NHWC", "HWIO", "NHWC")
    ),
    (2, 5, 6, 3),
    (3, 2, 3, 4),
)
case(
    "conv_1d",
    lambda x, k: lax.conv_general_dilated(x, k, (2,), "VALID", dimension_numbers=("NWC", "WIO", "NWC")),
    (2, 7, 3),
    (3, 3, 4),
)
case("conv_3d", lambda x, k: lax.conv_general_dilated(x, k, (1, 1, 1), "VALID"), (1, 2, 4, 4, 4), (3, 2, 2, 2, 2))
case(
    "conv_groups",
    lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", feature_group_count=2),
    (2, 4, 4, 4),
    (6, 2, 3, 3),
)
case("conv_transpose", lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME"), (1, 4, 4, 2), (3, 3, 2, 3))
case("convolve", lambda x, y: jnp.convolve(x, y), (5,), (3,))
case(
    "grad_of_conv",
    lambda x, k: jax.grad(lambda k: (lax.conv_general_dilated(x, k, (2, 2), "SAME", feature_group_count=2) ** 2).sum())(
        k
    ),
    (2, 4, 4, 4),
    (2, 2, 3, 3),
)
case("fft", lambda x: jnp.abs(jnp.fft.fft(x)) ** 2 + jnp.fft.ifft(x + 0j).real, (2, 6))
case("rfft", lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * 2, 6) + jnp.abs(jnp.fft.fft2(x))[:, :1], (2, 6))
# linear algebra


def spd(x):
    return x @ x.T + 3 * jnp.eye(3, dtype=x.dtype)


case("cholesky", lambda x: jnp.linalg.cholesky(spd(x)), (3, 3))
case("solve", lambda x, b: jnp.linalg.solve(x + 3 * jnp.eye(3, dtype=x.dtype), b), (3, 3), (3, 2))
case("inv", lambda x: jnp.linalg.inv(x + 3 * jnp.eye(3, dtype=x.dtype)), (3, 3))
case("det", lambda x: jnp.linalg.det(x)[None] + jnp.linalg.slogdet(x)[1], (3, 3))
case("det_large", lambda x: jnp.linalg.det(x)[None] + jnp.linalg.slogdet(x)[1], (5, 5))
case("eig", lambda x: jnp.linalg.eigvals(spd(x) + x).real, (3, 3))
case("eigh", lambda x: jnp.linalg.eigh(spd(x))[0] * jnp.abs(jnp.linalg.eigh(spd(x))[1][0]), (3, 3))
case(
    "svd",
    lambda x: jnp.linalg.svd(x, full_matrices=False)[1] + jnp.abs(jnp.linalg.svd(x, full_matrices=False)[0])[0],
    (4, 3),
)
case("qr", lambda x: jnp.abs(jnp.linalg.qr(x)[1]), (4, 3))
case(
    "triangular",
    lambda a, b: jax.scipy.linalg.solve_triangular(jnp.tril(a) + 2 * jnp.eye(3, dtype=a.dtype), b, lower=True, trans=1),
    (3, 3),
    (3, 2),
)
case("cho_solve", lambda x, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(spd(x)), b), (3, 3), (3,))
case("pinv", lambda x: jnp.linalg.pinv(x), (4, 3))
case("lstsq", lambda x, b: jnp.linalg.lstsq(x, b)[0], (4, 3), (4,))
case("norms", lambda x: jnp.linalg.norm(x) + jnp.linalg.norm(x, ord=1, axis=1) + jnp.linalg.norm(x, ord=2), (3, 3))
# calls and loops
case("nested_jit", lambda x: jax.jit(lambda t: jnp.where(t > 0, jax.jit(jnp.sin)(t), t))(x), (4,))
case(
    "cond",
    lambda x: lax.cond(x[0] > 0, jnp.sin, lambda t: t**2, x) + lax.cond(x[0] < 0, jnp.sin, lambda t: t**2, x),
    (3,),
)
case("switch", lambda x: sum(lax.switch(i, [jnp.sin, lambda t: t**2, lambda t: 3 * t], x) for i in (0, 1, 2, 5)), (3,))
case("scan", lambda x: lax.scan(lambda c, r: (c * 0.5 + jnp.sin(r), c * r), x[0], x, reverse=True)[1], (4, 3))
case("scan_count", lambda x: lax.scan(lambda c, _: (jnp.sin(c) + x, None), x, None, length=4)[0], (3,))
case("fori", lambda x: lax.fori_loop(0, 4, lambda i, c: c * 0.5 + jnp.sin(c) * i, x), (3,))
case(
    "while",
    lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, lax.stop_gradient(x)))[1] * x,
    (3,),
)
case("map", lambda x: lax.map(lambda r: jnp.sin(r).sum() * r, x), (3, 4))
case("vmap", lambda x: jax.vmap(lambda r: jnp.outer(r, r).sum(0))(x), (3, 4))
case("while_each", lambda x: jax.vmap(lambda t: lax.stop_gradient(lax.while_loop(
    lambda s: s[0].sum() < 5, lambda s: (s[0] * s[0] + 1, s[1] + 1), (t, 0))[1]) * t)(x), (3, 2))
case("remat", lambda x: jax.checkpoint(lambda t: jnp.sin(jnp.sin(t)))(x), (3,))
case("grad_of_grad", lambda x: jax.grad(lambda t: jnp.sum(jnp.tanh(t) ** 3))(x), (3,))
case("grad_of_scan", lambda x: jax.grad(lambda t: lax.scan(lambda c, r: (jnp.sin(c * r), None), t[0], t)[0])(x), (4,))
case("hessian", lambda x: jax.hessian(lambda t: jnp.sum(t**3) * t[0])(x), (3,))
case("jvp", lambda x, v: jax.jvp(lambda t: jnp.sin(t) * t, (x,), (v,))[1], (3,), (3,))
# jax.nn
for _name in (
    "sigmoid softplus silu gelu elu selu celu log_sigmoid hard_tanh soft_sign mish hard_sigmoid hard_silu "
    "squareplus sparse_plus"
).split():
    case(_name, getattr(jax.nn, _name), (2, 4))
case("softmax", lambda x: jax.nn.softmax(x) * jax.nn.log_softmax(x, 0), (2, 4))
case("glu", lambda x: jax.nn.glu(x), (2, 4))
case("standardize", lambda x: jax.nn.standardize(x), (2, 4))
case(
    "attention",
    lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True),
    (1, 3, 2, 4),
    (1, 3, 2, 4),
    (1, 3, 2, 4),
    types=("float32",),
)
case("one_hot", lambda x: x @ jax.nn.one_hot(jnp.array([0, 3, 1]), 4).astype(x.dtype), (2, 3))
case("logsumexp", lambda x: jax.nn.logsumexp(x, axis=1, b=jnp.array([1.0, 2.0, 0.0, 1.0], x.dtype)), (2, 4))
case("interp", lambda x: jnp.interp(x, jnp.array([-1.0, 0.0, 2.0], x.dtype), jnp.array([1.0, 3.0, 2.0], x.dtype)), (5,))
case("resize", lambda x: jax.image.resize(x, (1, 6, 5, 2), "bilinear"), (1, 3, 4, 2))
case("searchsorted", lambda x: x * jnp.searchsorted(jnp.array([-1.0, 0.0, 1.0], x.dtype), x), (5,))
case("logaddexp", lambda x, y: jnp.logaddexp(x, y) + jnp.hypot(x, y) + jnp.sinc(x) + jnp.heaviside(x, 0.5), (3,), (3,))
case(
    "xlogy",
    lambda x, y: jax.scipy.special.xlogy(x, y) + jax.scipy.special.entr(y) + jax.scipy.special.logit(y),
    (3,),
    (3,),
    low=0.1,
    high=0.9,
)
case(
    "normal_pdf",
    lambda x: (
        jax.scipy.stats.norm.logpdf(x)
        + jax.scipy.stats.norm.cdf(x)
        + jax.scipy.special.ndtri(jax.scipy.stats.norm.cdf(x))
    ),
    (3,),
)
case(
    "random",
    lambda x: (
        x * jax.random.normal(jax.random.fold_in(jax.random.split(jax.random.PRNGKey(3))[0], 7), (3,), x.dtype)
        + jax.random.uniform(jax.random.key(1), (3,), x.dtype)
    ),
    (3,),
)
case(
    "random_key",
    lambda x, k: (
        x * jax.random.bernoulli(k, 0.5, (3,))
        + jax.random.randint(k, (3,), 0, 9)
        + jax.random.permutation(k, 3)
        + jax.random.truncated_normal(k, -1.0, 1.0, (3,), x.dtype)
    ),
    (3,),
    np.array([0, 5], np.uint32),
)
case(
    "categorical",
    lambda x: (
        x + jax.random.categorical(jax.random.key(2), x * 2) + jax.random.gumbel(jax.random.key(2), (3,), x.dtype)
    ),
    (3,),
)


case("gamma", lambda x: x * jax.random.gamma(jax.random.key(1), 2.0, (3,), x.dtype), (3,))
case("gamma_of_a", lambda a: jax.random.beta(jax.random.key(1), a, 2.0, (2,), a.dtype), (2,), low=0.5, high=2.0)


@jax.custom_jvp
def doubled(x):
    return jnp.sin(x)


doubled.defjvp(lambda primals, tangents: (doubled(*primals), 2 * jnp.cos(primals[0]) * tangents[0]))


@jax.custom_vjp
def clipped(x, limit):
    return x * limit


clipped.defvjp(lambda x, limit: (x * limit, limit), lambda limit, dy: (jnp.clip(dy, -limit, limit), None))
case("custom_jvp", lambda x: doubled(x) * x, (4,))
case("custom_vjp", lambda x: clipped(x * 2, 0.3) ** 2, (4,))
case("custom_in_scan", lambda x: lax.scan(lambda c, r: (doubled(c) + clipped(r, 0.2), c), x[0], x)[1], (4,))


def closing_over(x, s):
    """Functions with derivatives of their own that use values of the function around them."""
    scale, only_there = jnp.sin(s), jnp.cos(s) * 3

    @jax.custom_jvp
    def linear(u):
        return u * scale

    @jax.custom_vjp
    def reversed_(u):
        return u * 1

    linear.defjvp(lambda primals, tangents: (linear(*primals), tangents[0] * scale * 2))
    reversed_.defvjp(lambda u: (u * 1, None), lambda _, g: (-only_there * g,))
    last, rows = lax.scan(lambda c, v: (linear(c) + reversed_(v), linear(v)), x[0], x)
    return rows * last + jax.jit(linear)(x) + jax.vmap(reversed_)(x) ** 2


case("lu_of_rectangles", lambda x: (lax.linalg.lu(x)[0] + lax.linalg.lu(x.T)[0].T, *lax.linalg.lu(x)[1:]), (5, 3))
case("scatter_max_outside", lambda x, y: x.at[jnp.array([1, 5, 9]), 1].max(y, mode="drop"), (7, 3), (3,))
case("convolve_complex", lambda x, y: jnp.convolve(x + 1j * y, (y - 1j * x)[:2]).imag, (5,), (5,))
case("convolve_integers", lambda x: x * jnp.convolve(jnp.arange(5), jnp.array([1, 2, 3])), (7,))
case("closing_over", lambda x: closing_over(x, jnp.full((), 0.7, x.dtype)), (3,))


def of_complex(x, y):
    z = lax.complex(x, y)
    return (z**3 / (1 + z * z) + jnp.sqrt(z) * z ** (1.5 - 0.3j) + lax.rsqrt(z)).real + jnp.cumprod(z).imag


case("complex_gradients", of_complex, (4,), (4,), low=0.3)
case("pow_of_rows", lambda x: x[:, None] ** jnp.arange(4), (3,))
case("incomplete_at_zero", lambda x: jax.scipy.special.gammaincc(jnp.array([0.0, 1, 2], x.dtype), x)
     + jax.scipy.special.gammainc(jnp.array([0.0], x.dtype), x + 1)
     + jax.scipy.special.betainc(jnp.zeros((), x.dtype), jnp.ones((), x.dtype), x)
     + jax.scipy.special.betainc(jnp.array([0.0, 2, 1], x.dtype), jnp.array([1.0, 0, 1], x.dtype), x), (3,), low=0.1,
     high=0.9)
