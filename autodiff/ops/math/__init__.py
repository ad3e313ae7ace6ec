"""Ops on numbers, element by element and along axes.

A file is a family: kernel, shape rule, gradient and batching of each op stand together. Start with elementwise.py.
"""

from . import (  # noqa: F401  importing a family declares its ops
    bits,
    cast,
    comparison,
    cumulative,
    elementwise,
    error_functions,
    fft,
    histogram,
    incomplete_integrals,
    inverse_error_function,
    reductions,
    segments,
    special,
    trigonometry,
    unary,
)
