"""Ops of ours with the gradient that another framework has at their kinks and poles."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.graph import Tensor, get_default_graph
from .model import tf


def ruled(source: str, kind: str, rule: Callable[..., Any], made: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors like `made`, whose ops of one kind have another gradient: that of a source.

    rule: of the operation and the gradient of its output, to a gradient for each input.
    """
    name = f"{source} {kind}"
    tf.RegisterGradient(name)(rule)

    def built(*inputs: Any) -> Tensor:
        with get_default_graph().gradient_override_map({kind: name}):
            return made(*inputs)

    return built

