"""Products of matrices and tensors: TensorFlow's functions."""
from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

from ...core.constant_value import static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import int32
from ...core.errors import ArgumentError, KindError
from ...core.graph import Tensor
from ...core.infer import axis_in
from ...core.name_scope import scope
from ...core.op import build
from ...core.shapes import is_known, num_elements
from ...ops.common.op_counts import count_more
from ..common.arguments import or_answered

__all__ = ["einsum", "matmul", "tensordot"]


@or_answered
def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
           adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False,
           name: str | None = None) -> Tensor:
    """The product of matrices; of those in the last two axes if there are more, whose other axes broadcast.

    a: number[..., m, k], b: number[..., k, n], or transposed, or adjoint (conjugated too) -> number[..., m, n].
    Raises ShapeError (ValueError) for vectors: make them matrices with tf.expand_dims. a_is_sparse and
    b_is_sparse change nothing.
    """
    if transpose_a and adjoint_a or transpose_b and adjoint_b:
        raise ArgumentError(expected="transpose or adjoint of one matrix", found="both")
    with scope(name, "MatMul", [a, b]) as full:
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        if all(x.dims is not None and len(x.dims) <= 2 for x in (a, b)):
            a, b = _conjugate(a, adjoint_a), _conjugate(b, adjoint_b)
            return build.MatMul(a, b, transpose_a=transpose_a or adjoint_a, transpose_b=transpose_b or adjoint_b,
                                name=full)
        a, b = _conjugate(a, transpose_a), _conjugate(b, transpose_b)
        return build.BatchMatMulV2(a, b, adj_x=transpose_a or adjoint_a, adj_y=transpose_b or adjoint_b, name=full)


def _conjugate(x: Tensor, wanted: bool) -> Tensor:
    return build.Conj(x) if wanted and x.dtype.is_complex else x


def matvec(a: Any, b: Any, transpose_a: bool = False, adjoint_a: bool = False, a_is_sparse: bool = False,
           b_is_sparse: bool = False, name: str | None = None) -> Tensor:
    """Matrices times vectors. a: number[..., m, k], b: number[..., k] -> number[..., m]."""
    with scope(name, "MatVec", [a, b]):
        column = build.ExpandDims(b, -1)
        return build.Squeeze(matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a), squeeze_dims=[-1])


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Sums of products over axes of `a` paired with axes of `b`; the other axes stay, a's first.

    axes: a count n (the last n of a with the first n of b), or [axes of a, axes of b]; known only at run time, the
    shape of the result is too.
    """
    with scope(name, "Tensordot", [a, b, axes]) as full:
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        if a.dims is None or b.dims is None or isinstance(axes, Tensor) and static_value(axes) is None:
            return _at_run_time(a, b, axes, full)
        a_axes, b_axes = _paired(len(a.dims), len(b.dims), axes)
        a_free = [i for i in range(len(a.dims)) if i not in a_axes]
        b_free = [i for i in range(len(b.dims)) if i not in b_axes]
        product = build.MatMul(_folded(a, a_free, a_axes, rows=True), _folded(b, b_axes, b_free, rows=False))
        left, right = [a.dims[i] for i in a_free], [b.dims[i] for i in b_free]
        if is_known(tuple(left + right)):
            return build.Reshape(product, np.array(left + right, np.int32), name=full)
        shape = build.ConcatV2(0, build.GatherV2(build.Shape(a), np.array(a_free, np.int32), 0),
                               build.GatherV2(build.Shape(b), np.array(b_free, np.int32), 0))
        result = build.Reshape(product, shape, name=full)
        count_more(9)  # sizes that TensorFlow takes together in the graph
        result.set_shape([*left, *right])
        return result


def _at_run_time(a: Tensor, b: Tensor, axes: Any, name: str) -> Tensor:
    """The product of tensors whose ranks, or axes, only a run knows."""
    axes = convert_to_tensor(axes, dtype=None if isinstance(axes, Tensor) else int32, name="axes")
    if axes.dims == ():
        a_axes = build.Range(build.Rank(a) - axes, build.Rank(a), 1)
        b_axes = build.Range(0, axes, 1)
    else:
        a_axes, b_axes = axes[0], axes[1]
    left, a_matrix = _matrix(a, a_axes, is_first=True)
    right, b_matrix = _matrix(b, b_axes, is_first=False)
    return build.Reshape(build.MatMul(a_matrix, b_matrix), build.ConcatV2(0, left, right), name=name)


def _matrix(x: Tensor, summed: Tensor, *, is_first: bool) -> tuple[Tensor, Tensor]:
    """The sizes of the axes that stay, and `x` as a matrix with the summed axes as columns, or as rows."""
    sizes, rank = build.Shape(x), build.Rank(x)
    summed = build.Reshape(build.FloorMod(summed, rank), [-1])
    free = build.ListDiff(build.Range(0, rank, 1), summed)[0]
    stays, goes = build.GatherV2(sizes, free, 0), build.GatherV2(sizes, summed, 0)
    order = (free, summed) if is_first else (summed, free)
    inner = build.Prod(goes, [0])
    outer = build.Prod(stays, [0])
    shape = build.Pack(*((outer, inner) if is_first else (inner, outer)), axis=0)
    return stays, build.Reshape(build.Transpose(x, build.ConcatV2(0, *order)), shape)


def _paired(a: int, b: int, axes: Any) -> tuple[list[int], list[int]]:
    known = static_value(axes) if isinstance(axes, Tensor) else axes
    if isinstance(known, (int, np.integer)) or isinstance(known, np.ndarray) and known.ndim == 0:
        count = int(known)
        if not 0 <= count <= min(a, b):
            raise ArgumentError(expected=f"0 <= axes <= {min(a, b)}", found=count)
        return list(range(a - count, a)), list(range(count))
    if not isinstance(known, (list, tuple, np.ndarray)) or len(known) != 2:
        raise ArgumentError(expected="axes as a count or two lists", found=repr(axes))
    pairs = [[axis_in(int(i), rank) for i in np.atleast_1d(part)] for rank, part in zip((a, b), known)]
    if len(pairs[0]) != len(pairs[1]):
        raise ArgumentError(expected="as many axes of a as of b", found=repr(axes))
    return pairs[0], pairs[1]


def _folded(x: Tensor, first: list[int], second: list[int], *, rows: bool) -> Tensor:
    """`x` as a matrix: some axes as rows, the others as columns."""
    order = [*first, *second]
    moved = x if order == sorted(order) else build.Transpose(x, np.array(order, np.int32))
    if len(first) == len(second) == 1:
        return moved
    dims = x.dims or ()
    sizes = [num_elements(tuple(dims[i] for i in part)) for part in (first, second)]
    if None not in sizes:
        return build.Reshape(moved, np.array(sizes, np.int32))
    part = second if rows else first  # the summed side; the other is what is left
    inner: Any = sizes[1 if rows else 0]
    if inner is None:
        inner = build.Prod(build.GatherV2(build.Shape(x), np.array(part, np.int32), 0), [0])
    return build.Reshape(moved, build.Pack(*((-1, inner) if rows else (inner, -1)), axis=0))


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """Sums of products by index letters: einsum("ij,jk->ik", a, b) is the matrix product.

    Letters that the result lacks are summed over; without `->` the result has the letters that occur once, in
    alphabetical order. `...` stands for axes that broadcast. Raises ArgumentError (ValueError) for an equation
    that does not fit the inputs. A letter that occurs twice in a term takes its diagonal.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise KindError(f"invalid keyword arguments for this function: {', '.join(sorted(kwargs))}", expected="'name'")
    with scope(name, "einsum", inputs):
        tensors = [convert_to_tensor(x) for x in inputs]
        explicit = _explicit(equation.replace(" ", ""), tensors)
        left, _, right = explicit.partition("->")
        terms = left.split(",")
        wide = {letter for term, x in zip(terms, tensors) for letter, n in zip(term, x.dims or ())
                if n not in (1, None) and letter not in equation}
        pairs = [_on_diagonals(*_without_ones(term, x, wide)) for term, x in zip(terms, tensors)]
        return build.Einsum(*(x for _, x in pairs), equation=f"{','.join(term for term, _ in pairs)}->{right}")


def _without_ones(term: str, x: Tensor, wide: set[str]) -> tuple[str, Tensor]:
    """A term without the axes of size 1 that broadcast: others are wider there."""
    ones = [i for i, (letter, n) in enumerate(zip(term, x.dims or ())) if n == 1 and letter in wide]
    if not ones:
        return term, x
    return "".join(letter for i, letter in enumerate(term) if i not in ones), build.Squeeze(x, squeeze_dims=ones)


def _on_diagonals(term: str, x: Tensor) -> tuple[str, Tensor]:
    """A term that has each letter once, and the input reduced to it."""
    while len(set(term)) != len(term):
        letter = next(letter for letter in term if term.count(letter) > 1)
        first = term.index(letter)
        second = term.index(letter, first + 1)
        rest = [i for i in range(len(term)) if i not in (first, second)]
        x = build.MatrixDiagPart(build.Transpose(x, np.array([*rest, first, second], np.int32)))
        term = "".join(term[i] for i in rest) + letter
    return term, x


def _explicit(equation: str, inputs: list[Tensor]) -> str:
    """The equation with `->`, and letters in place of `...`."""
    if not re.fullmatch(r"(?:[A-Za-z]|\.\.\.|,)*(?:->(?:[A-Za-z]|\.\.\.)*)?", equation):
        raise ArgumentError(expected="an equation such as 'ij,jk->ik'", found=repr(equation))
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(inputs):
        raise ArgumentError(expected=f"{len(terms)} inputs for {equation!r}", found=len(inputs))
    if any("..." in term and x.dims is None for term, x in zip(terms, inputs)):
        raise ArgumentError(f"Unable to statically infer ellipsis axes of {equation!r}: of an input of unknown rank")
    rest = [len(x.dims) - len(term.replace("...", "")) if "..." in term else 0  # type: ignore[arg-type]
            for term, x in zip(terms, inputs)]
    spare = [chr(c) for c in range(ord("a"), 0x250) if chr(c).isalpha() and chr(c) not in equation]
    dots = "".join(spare[:max(rest, default=0)])
    if min(rest, default=0) < 0:
        raise ArgumentError(f"equation {equation!r} names more axes than the inputs have: "
                            f"{', '.join(x.describe() for x in inputs)}")
    if not arrow:
        count = Counter(left.replace("...", "").replace(",", ""))
        right = ("..." if dots else "") + "".join(sorted(letter for letter, times in count.items() if times == 1))
    terms = [term.replace("...", dots[len(dots) - n:]) for term, n in zip(terms, rest)]
    right = right.replace("...", dots)
    if len(set(right)) != len(right):
        raise ArgumentError(expected="each letter once in the result", found=f"{right!r} in {equation!r}")
    if unknown := "".join(sorted(set(right) - set("".join(terms)))):
        raise ArgumentError(f"the result of {equation!r} has letters that no input has: {unknown!r}")
    return f"{','.join(terms)}->{right}"
