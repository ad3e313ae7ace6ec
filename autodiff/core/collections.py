"""GraphKeys and collections: named lists that a graph keeps."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .errors import ArgumentError
from .graph import get_default_graph

OUTPUTS = "model_outputs"  # what a model that was read gives, in its order


class GraphKeys:
    """Names of the collections that the library itself fills or reads."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    REGULARIZATION_LOSSES = "regularization_losses"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    VARIABLES = GLOBAL_VARIABLES  # the name before TensorFlow 1.0


def add_to_collection(name: Any, value: Any) -> None:
    """Append to a list of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Append to several lists of the default graph, once to each."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """A copy of a list of the default graph; `scope` is a regex that item names must match from their start."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """A list of the default graph itself."""
    return get_default_graph().get_collection_ref(key)


def checked_names(collections: Any, default: Iterable[str]) -> list[Any]:
    """The collections that a new variable joins. Raises ArgumentError unless they are a list, tuple or set."""
    if collections is None:
        return list(default)
    if isinstance(collections, str) or not isinstance(collections, (list, tuple, set)):
        raise ArgumentError(expected="collections to be a list, tuple or set",
                            found=f"{collections!r} of type {type(collections).__name__}")
    return list(collections)
