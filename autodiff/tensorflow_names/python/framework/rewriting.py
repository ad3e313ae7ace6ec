"""tensorflow.python.compiler.xla and grappler: who rewrites graphs for speed. Here plans do so, and graphs stay."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....api.control.dependencies import group
from ....core import nest
from ....core.convert import convert_to_tensor
from ....core.graph import Operation

__all__ = ["OptimizeGraph", "compile"]


def compile(computation: Callable[..., Any], inputs: Sequence[Any] | None = None) -> Any:  # noqa: A001
    """What a function gives for the inputs as tensors: one value as a tuple, an operation where there is none."""
    found = computation(*[nest.map_structure(convert_to_tensor, each) for each in inputs or ()])
    flat = [each for each in nest.flatten(found) if each is not None]
    if all(isinstance(each, Operation) for each in flat):
        return group(*flat)
    return found if isinstance(found, (list, tuple, dict)) else (found,)


def OptimizeGraph(config_proto: Any, metagraph: Any, verbose: bool = True, graph_id: bytes = b"",  # noqa: N802
                  cluster: Any = None, strip_default_attributes: bool = False) -> Any:
    """The GraphDef of a MetaGraphDef, a copy of it: no option asks for anything here."""
    made = type(metagraph.graph_def)()
    made.CopyFrom(metagraph.graph_def)
    return made
