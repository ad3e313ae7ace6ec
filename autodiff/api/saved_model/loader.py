"""Loading a SavedModel: one of its graphs, by tags, with the values of its variables."""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ...core.errors import ArgumentError, AutodiffError, StateError, shown_as
from ..messages import SavedModel
from ..saved_graphs.meta_graph import read_message_file
from ..train.saver import import_meta_graph
from . import constants


@shown_as("OSError")
class NoModelError(AutodiffError, OSError):
    """A directory without a model's file; an OSError, as TensorFlow's loader raises."""


def maybe_saved_model_directory(export_dir: Any) -> bool:
    """Whether a directory holds a SavedModel's file."""
    return any(os.path.isfile(os.path.join(os.fspath(export_dir), name))
               for name in (constants.SAVED_MODEL_FILENAME_PB, constants.SAVED_MODEL_FILENAME_PBTXT))


contains_saved_model = maybe_saved_model_directory


def read_saved_model(export_dir: Any) -> Any:
    """The SavedModel of a directory. Raises NoModelError (OSError) if there is none, DataLossError if it is damaged."""
    folder = os.fspath(export_dir)
    for name in (constants.SAVED_MODEL_FILENAME_PB, constants.SAVED_MODEL_FILENAME_PBTXT):
        if os.path.isfile(os.path.join(folder, name)):
            return read_message_file(os.path.join(folder, name), SavedModel)
    raise NoModelError(f"SavedModel file does not exist at: {folder}/{{{constants.SAVED_MODEL_FILENAME_PBTXT}|"
                       f"{constants.SAVED_MODEL_FILENAME_PB}}}")


def find_meta_graph(model: Any, tags: Iterable[str]) -> Any:
    """The graph that has exactly these tags. Raises StateError (RuntimeError) if there is none."""
    wanted = set(tags)
    for meta in model.meta_graphs:
        if set(meta.meta_info_def.tags) == wanted:
            return meta
    there = [sorted(meta.meta_info_def.tags) for meta in model.meta_graphs]
    raise StateError(f"MetaGraphDef associated with tags {', '.join(sorted(wanted))} could not be found in SavedModel.",
                     hint=f"its graphs have the tags {there}")


def load(sess: Any, tags: Iterable[str], export_dir: Any, import_scope: str | None = None, **saver_kwargs: Any) -> Any:
    """Add a graph of a SavedModel to a session's, and restore its variables there; gives its MetaGraphDef."""
    if isinstance(tags, str):
        raise ArgumentError("tags: a set or list of texts", found=repr(tags))
    meta = find_meta_graph(read_saved_model(export_dir), tags)
    folder = os.fspath(export_dir)
    with sess.graph.as_default():
        saver = import_meta_graph(meta, import_scope=import_scope, **saver_kwargs)
        prefix = os.path.join(folder, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
        if saver is not None and os.path.exists(prefix + ".index"):
            saver.restore(sess, prefix)
        assets = {_below(import_scope, asset.tensor_info.name): os.path.join(folder, constants.ASSETS_DIRECTORY,
                                                                             asset.filename)
                  for asset in meta.asset_file_def}
        for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
            names = list(meta.collection_def[key].node_list.value) if key in meta.collection_def else []
            if names:
                sess.run(_below(import_scope, names[0]), assets)
                break
    return meta


def _below(scope: str | None, name: str) -> str:
    return f"{scope}/{name}" if scope else name
