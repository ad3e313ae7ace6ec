"""Loading a SavedModel: one of its graphs, by tags, with the values of its variables."""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ...core.errors import ArgumentError, AutodiffError, DataLossError, StateError, shown_as
from ...core.graph import Graph, get_default_graph
from ..messages import SavedModel
from ..saved_graphs.meta_graph import read_message_file
from ..train.saver import Saver, import_meta_graph
from ..variables.assignment import global_variables
from . import constants
from .signature_def_utils import load_op_from_signature_def


@shown_as("OSError")
class NoModelError(AutodiffError, OSError):
    """A directory without a model's file; an OSError, as TensorFlow's loader raises."""


@shown_as("OSError")
class DamagedModelError(DataLossError, OSError):  # type: ignore[misc, valid-type]
    """A model's file that is none; an OSError, as TensorFlow's loader raises."""


def maybe_saved_model_directory(export_dir: Any) -> bool:
    """Whether a directory holds a SavedModel's file."""
    return any(os.path.isfile(os.path.join(os.fspath(export_dir), name))
               for name in (constants.SAVED_MODEL_FILENAME_PB, constants.SAVED_MODEL_FILENAME_PBTXT))


contains_saved_model = maybe_saved_model_directory


def read_saved_model(export_dir: Any) -> Any:
    """The SavedModel of a directory. Raises NoModelError (OSError) if there is none, DataLossError if it is damaged."""
    folder = os.fspath(export_dir)
    for name in (constants.SAVED_MODEL_FILENAME_PB, constants.SAVED_MODEL_FILENAME_PBTXT):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            try:
                return read_message_file(path, SavedModel)
            except DataLossError as error:
                raise DamagedModelError(f"Cannot parse file {path}: {error.sentence}", **error.where) from None
    raise NoModelError(f"SavedModel file does not exist at: {folder}/{{{constants.SAVED_MODEL_FILENAME_PBTXT}|"
                       f"{constants.SAVED_MODEL_FILENAME_PB}}}")


parse_saved_model = read_saved_model


def find_meta_graph(model: Any, tags: Iterable[str]) -> Any:
    """The graph that has exactly these tags. Raises StateError (RuntimeError) if there is none."""
    wanted = set(tags)
    for meta in model.meta_graphs:
        if set(meta.meta_info_def.tags) == wanted:
            return meta
    there = [sorted(meta.meta_info_def.tags) for meta in model.meta_graphs]
    raise StateError(f"MetaGraphDef associated with tags {', '.join(sorted(wanted))} could not be found in SavedModel.",
                     hint=f"its graphs have the tags {there}")


class SavedModelLoader:
    """Loads the graphs of a SavedModel, in one step or several."""

    def __init__(self, export_dir: Any) -> None:
        self.export_dir, self.saved_model = os.fspath(export_dir), read_saved_model(export_dir)

    def get_meta_graph_def_from_tags(self, tags: Iterable[str]) -> Any:
        """The graph that has exactly these tags. Raises StateError (RuntimeError) if there is none."""
        return find_meta_graph(self.saved_model, tags)

    def load_graph(self, graph: Graph, tags: Iterable[str], import_scope: str | None = None,
                   return_elements: Iterable[str] | None = None, **saver_kwargs: Any) -> tuple[Any, list[Any] | None]:
        """Add a graph to another one; gives its Saver, and the operations and tensors asked for by name.

        Raises ArgumentError (ValueError) for a name that it has not.
        """
        meta, names = self.get_meta_graph_def_from_tags(tags), list(return_elements or ())
        there = {node.name for node in meta.graph_def.node}
        for name in names:
            if name.partition(":")[0] not in there:
                raise ArgumentError(f"Requested return_element {name!r} not found in graph_def.")
        with graph.as_default():
            saver = import_meta_graph(meta, import_scope=import_scope, **saver_kwargs)
        found = [graph.as_graph_element(_below(import_scope, name)) for name in names]
        return saver, None if return_elements is None else found

    def restore_variables(self, sess: Any, saver: Any, import_scope: str | None = None) -> None:
        """Give a session's variables their values. Raises ArgumentError (ValueError) without a Saver for them."""
        with sess.graph.as_default():
            if saver is None and not global_variables(import_scope):
                return
            if not isinstance(saver, Saver):
                raise ArgumentError("No tf.train.Saver object was passed to the function "
                                    "`SavedModelLoader.restore_variables`. Since there are variables in the graph, a "
                                    "saver is required.")
            prefix = os.path.join(self.export_dir, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
            if os.path.exists(prefix + ".index"):
                saver.restore(sess, prefix)

    def run_init_ops(self, sess: Any, tags: Iterable[str], import_scope: str | None = None) -> None:
        """Run what the graph is to run first, with the files of its assets."""
        meta = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default():
            first = get_init_op(meta, import_scope)
            if first is not None:
                sess.run(first, {_below(import_scope, asset.tensor_info.name): os.path.join(
                    self.export_dir, constants.ASSETS_DIRECTORY, asset.filename) for asset in meta.asset_file_def})

    def load(self, sess: Any, tags: Iterable[str], import_scope: str | None = None, **saver_kwargs: Any) -> Any:
        """Add a graph to a session's, and restore its variables there; gives its MetaGraphDef."""
        saver, _ = self.load_graph(sess.graph, tags, import_scope, **saver_kwargs)
        self.restore_variables(sess, saver, import_scope)
        self.run_init_ops(sess, tags, import_scope)
        return self.get_meta_graph_def_from_tags(tags)


def load(sess: Any, tags: Iterable[str], export_dir: Any, import_scope: str | None = None, **saver_kwargs: Any) -> Any:
    """Add a graph of a SavedModel to a session's, and restore its variables there; gives its MetaGraphDef."""
    if isinstance(tags, str):
        raise ArgumentError("tags: a set or list of texts", found=repr(tags))
    return SavedModelLoader(export_dir).load(sess, tags, import_scope, **saver_kwargs)


def get_init_op(meta_graph_def: Any, import_scope: str | None = None) -> Any:
    """What a loaded graph runs first; None if nothing."""
    return _op_of(meta_graph_def, constants.INIT_OP_SIGNATURE_KEY, import_scope,
                  constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY)


def get_train_op(meta_graph_def: Any, import_scope: str | None = None) -> Any:
    """What trains a loaded graph; None if nothing."""
    return _op_of(meta_graph_def, constants.TRAIN_OP_SIGNATURE_KEY, import_scope, constants.TRAIN_OP_KEY)


def _op_of(meta: Any, signature: str, scope: str | None, *collections: str) -> Any:
    """An operation that a signature names, else one in a collection, which the graph at hand has by now."""
    if signature in meta.signature_def:
        return load_op_from_signature_def(meta.signature_def[signature], signature, scope)
    found = [op for key in collections if key in meta.collection_def for op in get_default_graph().get_collection(key)]
    return found[0] if found else None


def _below(scope: str | None, name: str) -> str:
    return f"{scope}/{name}" if scope else name
