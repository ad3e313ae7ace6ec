"""Sums of products by index letters, as pairwise matrix products."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import COMPLEX, FLOATS, int32, int64
from ...core.errors import ArgumentError, ShapeError
from ...core.infer import rank_of
from ...core.op import Spec, build
from ...core.shapes import show
from ..math.elementwise import conjugate


def _parts(equation, count):
    left, _, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != count:
        raise ArgumentError(expected=f"{len(terms)} inputs for {equation!r}", found=count)
    return terms, right


def _summed(*inputs, equation):
    terms, result = _parts(equation, len(inputs))
    sizes = {}
    for term, x in zip(terms, inputs):
        rank_of(x, exactly=len(term), what=f"input {term!r}")
        for letter, size in zip(term, x.dims or (None,) * len(term)):
            known = sizes.setdefault(letter, size)
            if known is None:
                sizes[letter] = size
            elif size is not None and size != known:
                raise ShapeError(f"sizes of {letter!r} differ in {equation!r}: {known} and {size} of {show(x.dims)}")
    return Spec(inputs[0].dtype.base_dtype, tuple(sizes[letter] for letter in result))


@op("Einsum", infer=_summed, dtypes=FLOATS + COMPLEX + (int32, int64))
def einsum(*inputs, equation):
    """The products of elements that agree in their letters, summed over letters that the result lacks.

    inputs: number[...]..., equation: such as "ij,jk->ik", explicit, a letter once in each term -> number[...].
    """
    terms, result = _parts(equation, len(inputs))
    term, x = terms[0], inputs[0]
    for i in range(1, len(inputs)):
        kept = set(result).union(*terms[i + 1:])
        x, term = _pair(term, x, terms[i], inputs[i], kept)
    return np.asarray(_reduced(term, x, result), order="C")


def _reduced(term, x, result):
    """Sum over the letters that the result lacks; order the axes as it does."""
    lost = tuple(i for i, letter in enumerate(term) if letter not in result)
    if lost:
        x, term = x.sum(axis=lost, dtype=x.dtype), "".join(letter for letter in term if letter in result)
    return np.asarray(x).transpose([term.index(letter) for letter in result])


def _pair(a, x, b, y, kept):
    """Two factors as one: a product of matrices for each element of the letters that stay in both."""
    both = [letter for letter in a if letter in b]
    batch, inner = [m for m in both if m in kept], [m for m in both if m not in kept]
    rows = [m for m in a if m not in b and m in kept]
    columns = [m for m in b if m not in a and m in kept]
    x = _reduced(a, x, [*batch, *rows, *inner])
    y = _reduced(b, y, [*batch, *inner, *columns])
    k, n = len(batch), x.shape[:len(batch)]
    split = k + len(rows)
    shape = *n, *x.shape[k:split], *y.shape[k + len(inner):]
    depth = int(np.prod(x.shape[split:]))
    product = np.matmul(x.reshape(*n, int(np.prod(x.shape[k:split])), depth),
                        y.reshape(*n, depth, int(np.prod(y.shape[k + len(inner):]))))
    return product.reshape(shape), "".join([*batch, *rows, *columns])


@einsum.gradient
def _(node, dy):
    terms, result = _parts(node.attrs["equation"], len(node.inputs))
    return [_for_input(node, dy, i, terms, result) for i in range(len(terms))]


def _for_input(node, dy, i, terms, result):
    others = [conjugate(x) for j, x in enumerate(node.inputs) if j != i]
    other_terms = [term for j, term in enumerate(terms) if j != i]
    found = set(result).union(*other_terms)
    target = "".join(letter for letter in terms[i] if letter in found)
    dx = build.Einsum(dy, *others, equation=f"{','.join([result, *other_terms])}->{target}")
    alone = [axis for axis, letter in enumerate(terms[i]) if letter not in found]
    for axis in alone:  # summed over without a partner: each element has the same gradient
        dx = build.ExpandDims(dx, axis)
    return build.BroadcastTo(dx, build.Shape(node.inputs[i])) if alone else dx


@einsum.batched
def _(node, args, batched):
    equation = node.attrs["equation"]
    terms, result = _parts(equation, len(args))
    letter = next(chr(c) for c in range(ord("A"), 0x250) if chr(c).isalpha() and chr(c) not in equation)
    terms = [letter + term if varies else term for term, varies in zip(terms, batched)]
    return build.Einsum(*args, equation=f"{','.join(terms)}->{letter}{result}")
