"""from_jax: a function of arrays, by its jaxpr, as a graph."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from ...core.graph import Graph
from ...debug.analysis.advice import advice_of
from ..model import Model, legal_name, tf
from .primitives.walk import build_program
from .primitives.whole import JAX
from .program import array_of, input_names, trace
from .words import WORDS


def from_jax(function: Callable[..., Any], *arguments: Any) -> Model:
    """The graph of function(*arguments): placeholders for the leaves of its arguments, outputs for those of its result.

    arguments: trees of arrays; their values become `feeds`. Lines are those of the user's that made each equation.
    Raises MissingOpError, which lists all primitives that the table does not have.
    """
    program = trace(function, arguments)
    JAX.check(program.uses())
    graph = Graph()
    advice_of(graph).words = WORDS
    with graph.as_default():
        names = input_names(function, arguments)
        placeholders = [tf.placeholder(v.dtype, v.shape, name=legal_name(name))
                        for v, name in zip(program.inputs, names)]
        outputs = build_program(program, placeholders)
    values = map(array_of, jax.tree.leaves(arguments))
    return Model(graph, dict(zip(names, placeholders)), outputs, {}, dict(zip(placeholders, values)))
