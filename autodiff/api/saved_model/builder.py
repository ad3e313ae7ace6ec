"""Writing a SavedModel: graphs with tags and signatures, the values of their variables, files as assets."""
from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.constant_value import static_value
from ...core.errors import ArgumentError, StateError
from ..messages import SavedModel
from ..saved_graphs.meta_graph import write_message
from ..train.saver import Saver
from . import constants
from .signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from .signature_def_utils import predict_signature_def
from .tag_constants import SERVING
from .utils import build_tensor_info


class Builder:
    """Collects a SavedModel's graphs; `save` writes it. Raises ArgumentError (AssertionError) for a full directory."""

    def __init__(self, export_dir: Any) -> None:
        self._folder = os.fspath(export_dir)
        self._model = SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
        self._has_variables = False
        if os.path.isdir(self._folder) and os.listdir(self._folder):
            raise FullDirectoryError(f"Export directory already exists, and isn't empty: {self._folder}",
                                     hint="choose a different export directory, or delete all the contents of this one")
        os.makedirs(self._folder, exist_ok=True)

    def add_meta_graph_and_variables(self, sess: Any, tags: Iterable[str],
                                     signature_def_map: Mapping[str, Any] | None = None,
                                     assets_collection: Sequence[Any] | None = None, legacy_init_op: Any = None,
                                     clear_devices: bool = False, main_op: Any = None,
                                     strip_default_attrs: bool = False, saver: Any = None) -> None:
        """Add a session's graph, and save its variables. Raises StateError (AssertionError) the second time."""
        if self._has_variables:
            raise StateError("Graph state including variables and assets has already been saved. Please invoke "
                             "`add_meta_graph()` instead.")
        folder = os.path.join(self._folder, constants.VARIABLES_DIRECTORY)
        os.makedirs(folder, exist_ok=True)
        saver = saver or Saver(allow_empty=True)
        saver.save(sess, os.path.join(folder, constants.VARIABLES_FILENAME), write_meta_graph=False, write_state=False)
        self._add(saver, tags, signature_def_map, assets_collection, main_op or legacy_init_op, clear_devices)
        self._has_variables = True

    def add_meta_graph(self, tags: Iterable[str], signature_def_map: Mapping[str, Any] | None = None,
                       assets_collection: Sequence[Any] | None = None, legacy_init_op: Any = None,
                       clear_devices: bool = False, main_op: Any = None, strip_default_attrs: bool = False,
                       saver: Any = None) -> None:
        """Add the graph at hand. Raises StateError before the variables of one were saved."""
        if not self._has_variables:
            raise StateError("Graph state including variables and assets has not been saved yet. Please invoke "
                             "`add_meta_graph_and_variables()` first.")
        self._add(saver or Saver(allow_empty=True), tags, signature_def_map, assets_collection,
                  main_op or legacy_init_op, clear_devices)

    def _add(self, saver: Saver, tags: Iterable[str], signatures: Mapping[str, Any] | None,
             assets: Sequence[Any] | None, main_op: Any, clear_devices: bool) -> None:
        made = saver.export_meta_graph(clear_devices=clear_devices)
        made.meta_info_def.tags.extend(tags)
        made.signature_def.update(signatures or {})
        for tensor in assets or ():
            self._add_asset(made, tensor)
        if main_op is not None:
            made.collection_def[constants.MAIN_OP_KEY].node_list.value.append(main_op.name)
            made.collection_def[constants.LEGACY_INIT_OP_KEY].node_list.value.append(main_op.name)
        self._model.meta_graphs.extend_raw([made])

    def _add_asset(self, made: Any, tensor: Any) -> None:
        """Copy the file that a constant tensor names."""
        value = static_value(tensor)
        if value is None:
            raise ArgumentError(f"Asset filepath tensor {tensor.name} is no constant")
        source = np.asarray(value, object).item()
        source = source.decode() if isinstance(source, bytes) else source
        folder = os.path.join(self._folder, constants.ASSETS_DIRECTORY)
        os.makedirs(folder, exist_ok=True)
        shutil.copyfile(source, os.path.join(folder, os.path.basename(source)))
        made.asset_file_def.add(tensor_info=build_tensor_info(tensor), filename=os.path.basename(source))

    def save(self, as_text: bool = False) -> str:
        """Write the model's file; gives its path."""
        name = constants.SAVED_MODEL_FILENAME_PBTXT if as_text else constants.SAVED_MODEL_FILENAME_PB
        path = os.path.join(self._folder, name)
        write_message(self._model, path, as_text=as_text)
        return path


class FullDirectoryError(ArgumentError, AssertionError):
    """A directory that holds something already; an AssertionError, as TensorFlow's builder raises."""


SavedModelBuilder = _SavedModelBuilder = Builder


def simple_save(session: Any, export_dir: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any],
                legacy_init_op: Any = None) -> None:
    """Write a session's graph with its variables, for serving. inputs, outputs: the signature, name -> tensor."""
    with session.graph.as_default():
        builder = Builder(export_dir)
        signature = predict_signature_def(inputs, outputs)
        builder.add_meta_graph_and_variables(session, [SERVING], {DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
                                             main_op=legacy_init_op, clear_devices=True)
        builder.save()
