"""Products of matrices, one at a time (MatMul) and in batches (BatchMatMulV2)."""

import functools

import numpy as np

from ...core.declare import op
from ...core.dtypes import COMPLEX, FLOATS, int32, int64
from ...core.errors import ShapeError
from ...core.infer import rank_of
from ...core.op import Spec, build
from ...core.shapes import broadcast, show
from ..common.threads import as_kernels_run, by_rows, share
from ..math.elementwise import conjugate, unbroadcast

_BLOCK = 1 << 22  # multiplications of a block: some 0.1 ms
_MOST_BLOCKS = 4  # a matrix that all blocks take is brought into order for each
_LENGTH = 48  # a block has a multiple of so many rows or columns: kernels take 12, 16 or 24 of them at a time
_SMALL = 1 << 20  # multiplications: up to there BLAS has other ways, which may add in another order; for vectors too
_BATCH = 1 << 21  # multiplications of small matrices that take some 0.1 ms
_DTYPES = FLOATS + COMPLEX + (int32, int64)


def _inner(k, k_too, a, b):
    if k is not None and k_too is not None and k != k_too:
        raise ShapeError(f"Dimensions must be equal, but are {k} and {k_too}: the inner ones of {show(a.dims)} and "
                         f"{show(b.dims)}")


def _product(a, b, *, transpose_a=False, transpose_b=False):
    rank_of(a, exactly=2, what="a")
    rank_of(b, exactly=2, what="b")
    m, k = (a.dims or (None, None))[::-1 if transpose_a else 1]
    k_too, n = (b.dims or (None, None))[::-1 if transpose_b else 1]
    _inner(k, k_too, a, b)
    return Spec(a.dtype.base_dtype, (m, n))


@op("MatMul", infer=_product, dtypes=_DTYPES)
def matmul(x, y, *, transpose_a=False, transpose_b=False, out=None):
    """The product of two matrices. x: number[m, k], y: number[k, n], or transposed -> number[m, n]."""
    # not `a` and `b`: x @ [[1.0]] makes a constant `matmul/y`
    x, y = x.T if transpose_a else x, y.T if transpose_b else y
    if x.dtype == np.float16:
        return _wide(x, y)
    if transpose_b:
        return product_by_transposed(x, y, out)
    return np.dot(x, y, out=out) if x.shape[0] * y.size < 2 * _BLOCK else _in_blocks(x, y, out)


def product_by_transposed(x, y, out=None):
    """x @ y of a `y` whose columns are rows in memory; few float32 rows times many as the transpose of y.T @ x.T.

    BLAS brings its second factor into order, which takes longer if it is transposed: it is to be the smaller one. That
    saves 5 to 45 percent, in float64 nothing. Shapes alone decide: the terms may be added in another order.
    """
    m, (k, n) = len(x), y.shape
    is_turned = m * k * n >= _SMALL and n * k > m * (k + 3 * n) and m > 1 and x.shape == (m, k) \
        and x.dtype == y.dtype == np.float32
    if m * k * n >= 2 * _BLOCK:
        return _in_blocks(x, y, out, is_turned)
    return _turned(x, y, out) if is_turned else np.dot(x, y, out=out)


def as_one_call(node, forms):
    """A small MatMul as what its kernel comes to: (np.dot, its arguments with {0} and {1} for x and y); else None.

    forms: of x and y, shapes and dtypes; None where they are not known.
    """
    x, y = forms
    if x is None or y is None or x.dtype != y.dtype or x.dtype not in (np.float32, np.float64) \
            or len(x.shape) != 2 or len(y.shape) != 2:
        return None
    transpose_a, transpose_b = node.attrs["transpose_a"], node.attrs["transpose_b"]
    if x.shape[transpose_a] * y.shape[0] * y.shape[1] >= min(_SMALL, 2 * _BLOCK):
        return None
    return np.dot, f"{{0}}{'.T' * transpose_a}, {{1}}{'.T' * transpose_b}"


def _turned(x, y, out=None):
    found = np.dot(y.T, x.T).T
    if out is None:
        return np.ascontiguousarray(found)
    out[...] = found
    return out


def _in_blocks(x, y, out, is_turned=False):
    """The product in blocks of rows or of columns, whichever there are more of, for the threads that are free.

    A thread that is alone makes it whole in float32, where that has the same bits: what all blocks take is brought into
    order once.
    """
    (m, k), n = x.shape, y.shape[-1]
    long = max(m, n)
    size = -(-long // min(m * k * n // _BLOCK, _MOST_BLOCKS))
    size += -size % _LENGTH
    count, rest = divmod(long, size)
    count += rest >= 64 and rest * k * min(m, n) >= _SMALL  # else the last block takes it too
    if k != len(y) or x.dtype.kind not in "fc" or count < 2:
        return _turned(x, y, out) if is_turned else np.dot(x, y, out=out)
    out = np.empty((m, n), x.dtype) if out is None else out

    def work(index):
        part = slice(index * size, (index + 1) * size if index + 1 < count else long)
        if m >= n:
            np.matmul(x[part], y, out=out[part])
        elif is_turned:
            _turned(x, y[:, part], out[:, part])
        else:
            np.matmul(x, y[:, part], out=out[:, part])

    def whole():
        _turned(x, y, out) if is_turned else np.matmul(x, y, out=out)

    is_one = x.dtype == y.dtype == np.float32 and _is_sum_of_blocks(m >= n or is_turned)
    share(work, count, m * k * n, whole=whole if is_one else None)
    return out


@functools.cache
def _is_sum_of_blocks(by_rows):
    """Whether blocks of rows, or of columns, have the bits of the whole product: tried once, as each BLAS differs."""
    x, y = [np.sin(np.arange(m * n, dtype=np.float32)).reshape(m, n) for m, n in ((203, 300), (300, 203))]
    half = 2 * _LENGTH
    with as_kernels_run(1):
        parts = (x[:half] @ y, x[half:] @ y) if by_rows else (x @ y[:, :half], x @ y[:, half:])
        return np.concatenate(parts, axis=int(not by_rows)).tobytes() == (x @ y).tobytes()


def _wide(a, b):
    # half precision adds up in single precision, as every BLAS does
    return np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(np.float16)


def _given_back(product, x, y, dz, attrs, turn_x, turn_y):
    """What a product gives back to x and y. turn_x, turn_y: names of the attributes that turn them."""
    dx = product(y, dz, **{turn_x: attrs[turn_y], turn_y: True}) if attrs[turn_x] else product(
        dz, y, **{turn_y: not attrs[turn_y]})
    dy = product(dz, x, **{turn_x: True, turn_y: attrs[turn_x]}) if attrs[turn_y] else product(
        x, dz, **{turn_x: not attrs[turn_x]})
    return dx, dy


@matmul.gradient
def _(node, dc):
    return _given_back(build.MatMul, *map(conjugate, node.inputs), dc, node.attrs, "transpose_a", "transpose_b")


@matmul.batched
def _(node, args, batched):
    a, b = args
    transpose_a, transpose_b = node.attrs["transpose_a"], node.attrs["transpose_b"]
    if batched[0] and not batched[1] and not transpose_a:  # one large product in place of many
        rows = build.MatMul(build.Reshape(a, build.Pack(-1, build.Shape(a)[2], axis=0)), b, transpose_b=transpose_b)
        return build.Reshape(rows, build.Pack(build.Shape(a)[0], -1, build.Shape(rows)[1], axis=0))
    # BatchMatMulV2 knows adjoints only: a transpose is the adjoint of the conjugate
    return build.BatchMatMulV2(conjugate(a) if transpose_a else a, conjugate(b) if transpose_b else b,
                               adj_x=transpose_a, adj_y=transpose_b)


def _products(x, y, *, adj_x=False, adj_y=False):
    rank_of(x, at_least=2, what="x")
    rank_of(y, at_least=2, what="y")
    if x.dims is None or y.dims is None:
        return Spec(x.dtype.base_dtype, None)
    m, k = x.dims[-2:][::-1 if adj_x else 1]
    k_too, n = y.dims[-2:][::-1 if adj_y else 1]
    _inner(k, k_too, x, y)
    return Spec(x.dtype.base_dtype, (*broadcast(x.dims[:-2], y.dims[:-2]), m, n))


@op("BatchMatMulV2", infer=_products, dtypes=_DTYPES)
def batch_matmul(x, y, *, adj_x=False, adj_y=False, out=None):
    """Products of the matrices in the last two axes; the others broadcast.

    x: number[..., m, k], y: number[..., k, n], or adjoint (transposed and conjugated) -> number[..., m, n].
    """
    x, y = _adjoint(x) if adj_x else x, _adjoint(y) if adj_y else y
    if x.dtype == np.float16:
        return _wide(x, y)
    if x.shape[:-2] != y.shape[:-2] or x.dtype.kind not in "fc" or x.size * y.shape[-1] < 2 * _BATCH \
            or out is not None and not out.flags.c_contiguous:
        return np.matmul(x, y, out=out)
    out = np.empty((*x.shape[:-1], y.shape[-1]), x.dtype) if out is None else out
    given = [a.reshape(-1, *a.shape[-2:]) for a in (x, y, out)]
    count = len(given[0])

    def work(part):
        np.matmul(given[0][part], given[1][part], out=given[2][part])

    by_rows(work, count, x.size * y.shape[-1] // count, _BATCH)
    return out


def _adjoint(x):
    x = np.swapaxes(x, -1, -2)
    return x.conj() if x.dtype.kind == "c" else x


@batch_matmul.gradient
def _(node, dz):
    x, y = node.inputs
    dx, dy = _given_back(build.BatchMatMulV2, x, y, dz, node.attrs, "adj_x", "adj_y")
    return unbroadcast(dx, x), unbroadcast(dy, y)


@batch_matmul.batched
def _(node, args, batched):
    ranks = [rank_of(t) for t in node.inputs]
    if None in ranks:
        raise ShapeError(expected="matrices of known rank to vectorize a product", found=node.describe())
    highest = max(ranks)
    aligned = [arg[(slice(None), *[None] * (highest - rank))] if is_batched and rank < highest else arg
               for arg, rank, is_batched in zip(args, ranks, batched)]
    return build.BatchMatMulV2(*aligned, **node.attrs)


def _gram(a, weights):
    rank_of(a, exactly=2, what="a")
    rank_of(weights, exactly=1, what="weights")
    m, n = a.dims or (None, None)
    count = weights.dims[0] if weights.dims else None
    if m is not None and count is not None and m != count:
        raise ShapeError(f"counts of rows and of weights differ: {m} and {count}")
    return Spec(a.dtype.base_dtype, (n, n))


@op("WeightedGram", infer=_gram, dtypes=FLOATS[1:])
def weighted_gram(a, weights):
    """a^T diag(weights) a, exactly symmetric. a: float[m, n], weights: float[m] -> float[n, n].

    For weights >= 0 it is the product of a matrix with its own transpose, and BLAS computes only one half of it.
    """
    if (weights >= 0).all():
        rooted = a * np.sqrt(weights)[:, None]
        return np.dot(rooted.T, rooted)
    product = np.dot((a * weights[:, None]).T, a)
    return (product + product.T) / 2


@weighted_gram.gradient
def _(node, dy):
    a, weights = node.inputs
    products = build.MatMul(a, dy + build.Transpose(dy, [1, 0]))
    return products * build.ExpandDims(weights, 1), build.Sum(products * a, [1]) * 0.5


@weighted_gram.batched
def _(node, args, batched):
    a, weights = args
    scaled = a * build.ExpandDims(weights, -1)
    return build.BatchMatMulV2(build.Add(build.ZerosLike(scaled), a), scaled, adj_x=True)
