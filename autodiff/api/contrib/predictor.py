"""tf.contrib.predictor: a SavedModel as a function of arrays."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.graph import Graph
from ...runtime.session import Session
from ..common.unsupported import refusing
from ..saved_model import DEFAULT_SERVING_SIGNATURE_DEF_KEY, SERVING, load

__all__ = ["from_saved_model"]


def from_saved_model(export_dir: Any, signature_def_key: str = DEFAULT_SERVING_SIGNATURE_DEF_KEY,
                     tags: str = SERVING) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A signature as a function of a dict of arrays, which gives one. tags: with commas between them."""
    session = Session(graph=Graph())
    signature = load(session, tags.split(","), export_dir).signature_def[signature_def_key]
    fetched = {key: info.name for key, info in signature.outputs.items()}
    return lambda given: session.run(fetched, {signature.inputs[key].name: value for key, value in given.items()})


__getattr__ = refusing("tf.contrib.predictor", __name__)
