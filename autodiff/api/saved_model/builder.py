"""Writing a SavedModel: graphs with tags and signatures, the values of their variables, files as assets."""
from __future__ import annotations

import filecmp
import itertools
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.collections import add_to_collection, get_collection
from ...core.constant_value import static_value
from ...core.errors import ArgumentError, StateError, UnknownNameError
from ..messages import SavedModel
from ..saved_graphs.meta_graph import write_message
from ..train.saver import Saver
from . import constants
from .signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from .signature_def_utils import op_signature_def, predict_signature_def
from .tag_constants import SERVING
from .utils import build_tensor_info


class _SavedModelBuilder:
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
                                     assets_list: Sequence[Any] | None = None, clear_devices: bool = False,
                                     init_op: Any = None, train_op: Any = None, strip_default_attrs: bool = False,
                                     saver: Any = None) -> None:
        """Add a session's graph, and save its variables. init_op: run when it is loaded.

        Raises StateError (AssertionError) the second time; UnnamedTensorError (AssertionError) for a signature with a
        tensor without name or element type.
        """
        saver = self._saved(sess, signature_def_map, saver)
        self._add(saver, tags, signature_def_map, assets_list, (clear_devices, strip_default_attrs), {
            constants.INIT_OP_SIGNATURE_KEY: init_op, constants.TRAIN_OP_SIGNATURE_KEY: train_op})

    def add_meta_graph(self, tags: Iterable[str], signature_def_map: Mapping[str, Any] | None = None,
                       assets_list: Sequence[Any] | None = None, clear_devices: bool = False, init_op: Any = None,
                       train_op: Any = None, strip_default_attrs: bool = False, saver: Any = None) -> None:
        """Add the graph at hand. Raises as add_meta_graph_and_variables; StateError before that was called."""
        saver = self._saver_after(signature_def_map, saver)
        self._add(saver, tags, signature_def_map, assets_list, (clear_devices, strip_default_attrs), {
            constants.INIT_OP_SIGNATURE_KEY: init_op, constants.TRAIN_OP_SIGNATURE_KEY: train_op})

    def _saved(self, sess: Any, signatures: Mapping[str, Any] | None, saver: Any) -> Saver:
        """The Saver that has saved a session's variables now."""
        if self._has_variables:
            raise NoVariablesError("Graph state including variables and assets has already been saved. Please invoke "
                                   "`add_meta_graph()` instead.")
        _check_signatures(signatures)
        folder = os.path.join(self._folder, constants.VARIABLES_DIRECTORY)
        os.makedirs(folder, exist_ok=True)
        saver = saver or Saver(allow_empty=True)
        saver.save(sess, os.path.join(folder, constants.VARIABLES_FILENAME), write_meta_graph=False, write_state=False)
        self._has_variables = True
        return saver

    def _saver_after(self, signatures: Mapping[str, Any] | None, saver: Any) -> Saver:
        if not self._has_variables:
            raise NoVariablesError("Graph state including variables and assets has not been saved yet. Please invoke "
                                   "`add_meta_graph_and_variables()` first.")
        _check_signatures(signatures)
        return saver or Saver(allow_empty=True)

    def _add(self, saver: Saver, tags: Iterable[str], signatures: Mapping[str, Any] | None,
             assets: Sequence[Any] | None, left_out: tuple[bool, bool], ops: Mapping[str, Any]) -> Any:
        made = saver.export_meta_graph(clear_devices=left_out[0], strip_default_attrs=left_out[1])
        made.meta_info_def.tags.extend(tags)
        made.signature_def.update(signatures or {})
        for key, op in ops.items():
            if op is not None:
                made.signature_def[key].CopyFrom(op_signature_def(op, key))
        files: dict[str, str] = {}
        for tensor in assets or ():
            self._add_asset(made, tensor, files)
        self._model.meta_graphs.extend_raw([made])
        return made

    def _add_asset(self, made: Any, tensor: Any, files: dict[str, str]) -> None:
        """Copy the file that a constant tensor names. files: of this graph, name there -> path.

        A file of that name that another graph has stays; another one of this graph goes by `name_1`.
        """
        value = static_value(tensor)
        if value is None:
            raise ArgumentError(f"Asset filepath tensor {tensor.name} is no constant")
        source = np.asarray(value, object).item()
        source = source.decode() if isinstance(source, bytes) else source
        base = os.path.basename(source)
        tried = (base if i == 0 else f"{base}_{i}" for i in itertools.count())
        name = next(name for name in tried if name not in files or filecmp.cmp(files[name], source, shallow=False))
        files.setdefault(name, source)
        target = os.path.join(self._folder, constants.ASSETS_DIRECTORY, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.exists(target):
            shutil.copyfile(source, target)
        made.asset_file_def.add(tensor_info=build_tensor_info(tensor), filename=name)

    def save(self, as_text: bool = False) -> str:
        """Write the model's file; gives its path."""
        name = constants.SAVED_MODEL_FILENAME_PBTXT if as_text else constants.SAVED_MODEL_FILENAME_PB
        path = os.path.join(self._folder, name)
        write_message(self._model, path, as_text=as_text)
        return path


class Builder(_SavedModelBuilder):
    """As _SavedModelBuilder, with main_op and legacy_init_op, which go to a collection of the graph."""

    def add_meta_graph_and_variables(self, sess: Any, tags: Iterable[str],  # type: ignore[override]
                                     signature_def_map: Mapping[str, Any] | None = None,
                                     assets_collection: Sequence[Any] | None = None, legacy_init_op: Any = None,
                                     clear_devices: bool = False, main_op: Any = None,
                                     strip_default_attrs: bool = False, saver: Any = None) -> None:
        """Add a session's graph, and save its variables. main_op: run when it is loaded.

        Raises StateError (AssertionError) the second time, ArgumentError (ValueError) for a second main_op of a graph.
        """
        with sess.graph.as_default():
            _collect_first(main_op if main_op is not None else legacy_init_op)
            saver = self._saved(sess, signature_def_map, saver)
            _collect_assets(self._add(saver, tags, signature_def_map, assets_collection,
                                      (clear_devices, strip_default_attrs), {}))

    def add_meta_graph(self, tags: Iterable[str],  # type: ignore[override]
                       signature_def_map: Mapping[str, Any] | None = None,
                       assets_collection: Sequence[Any] | None = None, legacy_init_op: Any = None,
                       clear_devices: bool = False, main_op: Any = None, strip_default_attrs: bool = False,
                       saver: Any = None) -> None:
        """Add the graph at hand. Raises as add_meta_graph_and_variables; StateError before that was called."""
        _collect_first(main_op if main_op is not None else legacy_init_op)
        saver = self._saver_after(signature_def_map, saver)
        _collect_assets(self._add(saver, tags, signature_def_map, assets_collection,
                                  (clear_devices, strip_default_attrs), {}))


def _collect_first(op: Any) -> None:
    """Note the operation that a loaded graph runs first."""
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY) if op is not None else ():
        if get_collection(key):
            raise ArgumentError(f"Graph already contains one or more main ops under the collection {key}.")
    if op is not None:
        add_to_collection(constants.MAIN_OP_KEY, op)


def _collect_assets(made: Any) -> None:
    """The collection in which TensorFlow's older loaders look for assets."""
    for asset in made.asset_file_def:
        made.collection_def[constants.ASSETS_KEY].any_list.value.add().Pack(asset)


def _check_signatures(signatures: Mapping[str, Any] | None) -> None:
    for key, signature in (signatures or {}).items():
        if key in (constants.INIT_OP_SIGNATURE_KEY, constants.TRAIN_OP_SIGNATURE_KEY):
            raise UnknownNameError(f'SignatureDef map key "{key}" is reserved for internal use.')
        for info in (*signature.inputs.values(), *signature.outputs.values()):
            if info.WhichOneof("encoding") is None or not info.dtype:
                raise UnnamedTensorError("All TensorInfo protos used in the SignatureDefs must have the name and dtype "
                                         "fields set.", found=f"{key!r}: {info}")


class UnnamedTensorError(ArgumentError, AssertionError):
    """A signature with a tensor that cannot be found; an AssertionError, as TensorFlow's builder raises."""


class NoVariablesError(StateError, AssertionError):
    """Graphs without variables; an AssertionError, as TensorFlow's builder raises."""


class FullDirectoryError(ArgumentError, AssertionError):
    """A directory that holds something already; an AssertionError, as TensorFlow's builder raises."""


SavedModelBuilder = Builder


def simple_save(session: Any, export_dir: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any],
                legacy_init_op: Any = None) -> None:
    """Write a session's graph with its variables, for serving. inputs, outputs: the signature, name -> tensor."""
    with session.graph.as_default():
        builder = Builder(export_dir)
        signature = predict_signature_def(inputs, outputs)
        builder.add_meta_graph_and_variables(session, [SERVING], {DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
                                             main_op=legacy_init_op, clear_devices=True)
        builder.save()
