"""Tools of the layers of tf.contrib: variables under other names, outputs under their scopes' names."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ....core.constant_value import static_value
from ....core.errors import ArgumentError, KindError
from ....core.graph import Tensor, get_default_graph
from ...control.control_flow import cond
from ...variables.layer_base import add_once
from ...variables.variable import Variable
from ..framework import model_variable

_ALIASES = "output_aliases"


def renaming_getter(names: dict[str, str] | None = None) -> Callable[..., Variable]:
    """A custom getter that makes model variables, with the last part of their names replaced as `names` says."""

    def renamed(getter: Any, name: str, *args: Any, reuse: Any = None, constraint: Any = None,
                validate_shape: bool = True, custom_getter: Any = None, **options: Any) -> Variable:
        *scopes, last = name.split("/")
        return model_variable("/".join([*scopes, (names or {}).get(last, last)]), *args, custom_getter=getter,
                              **options)

    return renamed


def collections_for(collections: Any, name: str) -> Any:
    """The collections of one variable: a list for all of them, or a dict by name."""
    return collections.get(name) if isinstance(collections, dict) else collections


def collect(variable: Variable | None, collections: Any, name: str) -> None:
    """Add a variable to the collections that are its."""
    if variable is not None:
        for collection in collections_for(collections, name) or ():
            add_once(get_default_graph().outermost.get_collection_ref(collection), variable)


def collect_named_outputs(collections: Any, alias: str, outputs: Tensor) -> Tensor:
    """Add a layer's output to collections, under its scope's name. collections: a name, several, or None."""
    if collections:
        aliases = get_default_graph().outermost.extras.setdefault(_ALIASES, {})
        aliases.setdefault(outputs, []).append(alias.removesuffix("/"))
        get_default_graph().add_to_collections(collections, outputs)
    return outputs


def finished(outputs: Tensor, activation_fn: Any, collections: Any, alias: str) -> Tensor:
    """A layer's output after its activation, added to collections; see collect_named_outputs."""
    return collect_named_outputs(collections, alias, outputs if activation_fn is None else activation_fn(outputs))


def convert_collection_to_dict(collection: str, clear_collection: bool = False) -> dict[str, Tensor]:
    """Name -> output of a collection that layers filled."""
    graph = get_default_graph()
    aliases = graph.outermost.extras.get(_ALIASES, {})
    outputs = OrderedDict((alias, tensor) for tensor in graph.get_collection(collection)
                          for alias in aliases.get(tensor, [tensor.op.name]))
    if clear_collection:
        graph.clear_collection(collection)
    return outputs


def constant_value(value_or_tensor_or_var: Any, dtype: Any = None) -> Any:
    """The value that is known while the graph is built, or None."""
    if value_or_tensor_or_var is None:
        raise ArgumentError(expected="a value or tensor", found="None")
    if isinstance(value_or_tensor_or_var, Variable):
        return None
    return static_value(value_or_tensor_or_var) if isinstance(value_or_tensor_or_var, Tensor) \
        else value_or_tensor_or_var


def last_dimension(shape: Any, min_rank: int = 1) -> Any:
    """The last size of a shape. Raises ArgumentError (ValueError) for one of another rank, or of unknown last size."""
    size = shape.with_rank_at_least(min_rank)[-1].value if shape.dims else None
    if size is None:
        raise ArgumentError("last dimension of shape must be known", expected=f"{min_rank} or more sizes", found=shape)
    return size


def smart_cond(pred: Any, fn1: Any, fn2: Any, name: str | None = None) -> Any:
    """cond, or just the call of one function if the predicate is known."""
    known = constant_value(pred)
    if known is None:
        return cond(pred, fn1, fn2, name=name)
    if not callable(fn1) or not callable(fn2):
        raise KindError(expected="two functions", found=f"{fn1!r} and {fn2!r}")
    return fn1() if known else fn2()


def channels_first(data_format: str | None, allowed: tuple[str | None, ...] = ("NHWC", "NCHW")) -> str:
    """'channels_first' or 'channels_last'. Raises ArgumentError (ValueError) for a format that is not allowed."""
    if data_format not in allowed:
        raise ArgumentError(expected=f"a data_format of {', '.join(map(str, allowed))}", found=repr(data_format))
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"
