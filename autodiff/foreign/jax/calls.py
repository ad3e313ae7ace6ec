"""Calls of what jax.grad and its like made of a function, and of what jax.vmap made of that."""
from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax

from ...core.site import Site
from ..leaf_names import is_of_all_rows
from ..new_lines import nodes_on
from .rows import held_by


@dataclass(frozen=True)
class Call:
    """A call of what jax.grad or its like made of a function. made_by: which of them it was. gradients: what JAX found,
    in the trees of the arguments that are differentiated (argnums). cotangents: of jax.vjp, else None."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    argnums: int | Sequence[int]
    has_aux: bool
    made_by: str
    gradients: Any = None
    cotangents: Any = None

    @property
    def numbers(self) -> list[int]:
        """Which arguments are differentiated, counted from 0."""
        asked = [self.argnums] if isinstance(self.argnums, int) else self.argnums
        return [n % max(len(self.args), 1) for n in asked]

    @property
    def code(self) -> Hashable:
        """What functions that are made anew for each call share."""
        return getattr(self.function, "__code__", None) or self.function

    def gradients_in(self, result: Any) -> Any:
        """The gradients in what was given for them."""
        return result[1] if self.made_by == "jax.value_and_grad" else result[0] if self.has_aux else result

    def trees_of(self, slopes: dict[tuple[int, Any], Any]) -> Any:
        """Gradients by the places of leaves, in the trees of the arguments that are differentiated."""
        flat = [(n, *jax.tree_util.tree_flatten_with_path(self.args[n])) for n in self.numbers]
        trees = [jax.tree.unflatten(tree, [slopes[n, path] for path, _ in leaves]) for n, leaves, tree in flat]
        return trees[0] if isinstance(self.argnums, int) else tuple(trees)

    def names(self, sites: Sequence[Site]) -> list[str]:
        """What the line that asked gives for each argument by position, "" for what is no name; [] if not known."""
        return [text if text.isidentifier() else "" for text in self.texts(sites)]

    def texts(self, sites: Sequence[Site]) -> list[str]:
        """The same, of expressions too, as they are written."""
        for node in nodes_on(sites[0].file, sites[0].line) if sites else ():
            given = [*itertools.takewhile(lambda each: not isinstance(each, ast.Starred), node.args)] if isinstance(
                node, ast.Call) else []
            is_whole = isinstance(node, ast.Call) and len(given) == len(node.args)
            if given and len(given) <= len(self.args) and (not is_whole or len(given) == len(self.args)) and not any(
                    isinstance(each, ast.Lambda) for each in given):
                return [*map(ast.unparse, given)] + [""] * (len(self.args) - len(given))
        return []

    def differentiated(self, sites: Sequence[Site]) -> str:
        """The name of the one argument that is."""
        names = self.names(sites)
        return names[self.numbers[0]] if names and len(self.numbers) == 1 else ""


def of_all_rows(call: Call, rows: Callable[..., Any], in_axes: Any, result: Any) -> Call | None:
    """What jax.vmap did of a call, as one of all rows together: of the mean of their values, or, where each row has
    arguments of its own that are differentiated, of the sum.

    rows: the function of all rows. in_axes, result: what jax.vmap was given, and gave. None where it is neither.
    """
    def is_leaf(tree: Any) -> bool:
        return bool(jax.tree_util.all_leaves([tree]))

    is_shared = is_of_all_rows(call.args, call.numbers, in_axes, is_leaf)
    is_by_data = all(is_leaf(call.args[n]) for n in call.numbers) and any(
        isinstance(x, jax.Array) for x in held_by(call.function))  # of a model that the function closes over
    if is_shared is None or is_by_data and not is_shared:
        return None
    whole = jax.numpy.mean if is_shared else jax.numpy.sum

    @functools.wraps(call.function)
    def together(*args: Any, **kwargs: Any) -> Any:
        found = rows(*args, **kwargs)
        return (whole(found[0]), found[1]) if call.has_aux else whole(found)

    gradients = call.gradients_in(result)
    if is_shared:
        gradients = jax.tree.map(lambda g: whole(g, axis=0), gradients)
    return replace(call, function=together, made_by=f"jax.vmap({call.made_by})", gradients=gradients)
