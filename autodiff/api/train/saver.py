"""Saver: variables of a session to a checkpoint and back."""
from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.collections import GraphKeys
from ...core.errors import ArgumentError, StateError, UnsupportedError
from ...core.graph import get_default_graph
from ...files.disk.replacing import replace_file
from ...ops.common.op_counts import count_more
from ..messages import SaverDef
from ..saved_graphs.meta_graph import complete, meta_graph_of, saver_nodes, write_message
from ..saved_graphs.meta_graph import import_meta_graph as add_meta_graph
from ..saved_graphs.scoped import export_scoped_meta_graph
from ..variables.variable import Variable
from .checkpoint_state import update_checkpoint_state
from .checkpoints import CheckpointReader, checkpoint_exists, remove_checkpoint, write_checkpoint
from .saved_variables import Restoring, arrays_of, bare_session, fitting, load_into, named_variables, without_states


class Saver:
    """Saves variables under their names, keeps the latest checkpoints, and restores them.

    var_list: variables, or name in the checkpoint -> variable; by default all global ones. max_to_keep: older
    checkpoints than so many are deleted; 0 or None keeps all. keep_checkpoint_every_n_hours: one in so many hours is
    kept for ever. reshape: a checkpoint may have another shape of as many elements. pad_step_number: steps have eight
    digits in names. Raises ArgumentError (ValueError) if there is nothing to save or two have one name, KindError
    (TypeError) for what is no variable. sharded and its like are accepted without effect.
    """

    def __init__(self, var_list: Any = None, reshape: bool = False, sharded: bool = False, max_to_keep: int | None = 5,
                 keep_checkpoint_every_n_hours: float = 10000.0, name: str | None = None,
                 restore_sequentially: bool = False, saver_def: Any = None, builder: Any = None,
                 defer_build: bool = False, allow_empty: bool = False, write_version: Any = None,
                 pad_step_number: bool = False, save_relative_paths: bool = False, filename: str | None = None) -> None:
        if builder is not None:
            raise UnsupportedError("a Saver is made of variables, not of a builder", hint="use Saver(var_list)")
        if defer_build and var_list:
            raise ArgumentError("If `var_list` is provided then build cannot be deferred. Either set defer_build=False "
                                "or var_list=None.")
        self._write_version = write_version or SaverDef.V2
        self._var_list, self._reshape, self._allow_empty = var_list, reshape, allow_empty
        self._max_to_keep, self._relative, self._sharded = max_to_keep or 0, save_relative_paths, sharded
        self._period, self._pad = keep_checkpoint_every_n_hours * 3600, pad_step_number
        self._kept_next = time.time() + self._period
        self._saved: list[tuple[str, float]] = []
        self._variables: dict[str, list[Variable]] | None = None
        self._states: list[Restoring] = []
        self._written: tuple[Any, Any, bytes] | None = None
        self._saver_def: Any = None  # of nodes that are in the graph: what our own Savers describe has none
        if saver_def is not None:
            self._max_to_keep = saver_def.max_to_keep
            self._period = saver_def.keep_checkpoint_every_n_hours * 3600
        if saver_def is not None and saver_def.restore_op_name in get_default_graph().operations:
            self._variables, self._saver_def = {}, saver_def
        elif not defer_build:
            self.build()

    def build(self) -> None:
        """Settle which variables are saved: now, if the constructor was told to wait."""
        wanted = self._var_list
        if wanted is None:
            graph = get_default_graph()
            wanted = [*graph.get_collection(GraphKeys.GLOBAL_VARIABLES),
                      *graph.get_collection(GraphKeys.SAVEABLE_OBJECTS)]
        wanted, states = without_states(wanted)
        found = named_variables(wanted)
        if not found and not states and not self._allow_empty:
            raise ArgumentError("No variables to save", hint="make the Saver after the variables, or give var_list")
        count_more(11 + len(found))  # operations that save and restore
        self._variables, self._states = found, [Restoring(state) for state in states]

    def save(self, sess: Any, save_path: Any, global_step: Any = None, latest_filename: str | None = None,
             meta_graph_suffix: str = "meta", write_meta_graph: bool = True, write_state: bool = True,
             strip_default_attrs: bool = False, save_debug_info: bool = False) -> str | None:
        """Write a checkpoint; gives its name: the path, and `-step` if a global step is given. None if it is empty.

        `<name>.meta` gets the graph as a MetaGraphDef, for import_meta_graph. Raises FailedPreconditionError for
        a variable without value, ArgumentError (ValueError) for a directory that cannot
        be made where it is not there, of which the last level is.
        """
        path = os.fspath(save_path)
        if latest_filename is not None and os.path.dirname(latest_filename):
            raise ArgumentError(f"latest_filename is a name without a directory, found {latest_filename!r}")
        folder = os.path.dirname(path)
        if folder and not os.path.isdir(folder):
            try:
                os.mkdir(folder)
            except OSError:
                raise ArgumentError(f"Parent directory of {path} doesn't exist, can't save.") from None
        if not os.path.basename(path):
            raise ArgumentError(expected="a name for the checkpoint", found=f"the directory {path!r}")
        session = bare_session(sess)
        if self._is_empty:
            return None
        prefix = path if global_step is None else f"{path}-{self._step(sess, global_step)}"
        if self._saver_def is not None:
            session.run(self._saver_def.save_tensor_name, {self._saver_def.filename_tensor_name: prefix})
        else:
            arrays = arrays_of(session, self._built())
            for state in self._states:
                arrays.update(state.arrays(session))
            write_checkpoint(prefix, arrays)
        if write_meta_graph and session is not None:
            with session.graph.as_default():
                data = self._meta_graph(strip_default_attrs)
            replace_file(f"{prefix}.{meta_graph_suffix}", lambda file: file.write(data))
        if write_state:
            outdated = self._remember(prefix)
            update_checkpoint_state(folder, prefix, self.last_checkpoints, latest_filename, self._relative)
            if outdated:
                remove_checkpoint(outdated, meta_graph_suffix=meta_graph_suffix)
        return prefix

    def _step(self, sess: Any, global_step: Any) -> str:
        if isinstance(global_step, (int, np.integer)) or sess is None:
            step: Any = global_step
        else:
            step = bare_session(sess).run(global_step)
        return f"{int(step):08d}" if self._pad else str(int(step))

    def _remember(self, prefix: str) -> str:
        """Add a checkpoint to the list; of too many the oldest leaves it. The one whose files are to go, or ""."""
        if not self._max_to_keep:
            return ""
        self._saved = [*((p, t) for p, t in self._saved if p != prefix), (prefix, time.time())]
        if len(self._saved) > self._max_to_keep:
            oldest, saved_at = self._saved.pop(0)
            if saved_at <= self._kept_next:
                return oldest
            self._kept_next += self._period
        return ""

    @property
    def last_checkpoints(self) -> list[str]:
        """Names of the checkpoints that are kept, oldest first."""
        return [path for path, _ in self._saved]

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]) -> None:
        """Take over checkpoints of an earlier Saver, oldest first."""
        self._saved = [(path, np.inf) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: Sequence[tuple[str, float]]) -> None:
        """Take over (name, time in seconds since 1970) of checkpoints, oldest first."""
        self._saved = list(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths: Iterable[str]) -> None:
        """Take over the checkpoints of a list that are still there."""
        there = [path for path in checkpoint_paths if checkpoint_exists(path)]
        self._saved = [(path, os.path.getmtime(path + ".index")) for path in there]

    def _meta_graph(self, strip_default_attrs: bool) -> bytes:
        """The MetaGraphDef as bytes; made anew only when the graph or a collection has grown since the last save."""
        graph = get_default_graph()
        size = graph.version, sum(map(len, graph.collected.values())), strip_default_attrs
        if self._written is None or self._written[:2] != (graph, size):
            self._written = graph, size, self.export_meta_graph(
                strip_default_attrs=strip_default_attrs).SerializeToString()
        return self._written[2]

    def export_meta_graph(self, filename: str | None = None, collection_list: Any = None, as_text: bool = False,
                          export_scope: str | None = None, clear_devices: bool = False,
                          strip_default_attrs: bool = False, **without_effect: Any) -> Any:
        """The graph, its collections and this Saver as a MetaGraphDef, which is written to a file if one is named."""
        saved = self._built() if self._saver_def is None else None
        made = meta_graph_of(get_default_graph(), saved, collection_list=collection_list)
        complete(made, clear_devices=clear_devices, strip_default_attrs=strip_default_attrs)
        made.saver_def.MergeFrom(self._described(made.saver_def))
        if filename is not None:
            write_message(made, filename, as_text=as_text)
        return made

    def _described(self, named: Any) -> Any:
        """A SaverDef with the names of another, and how this Saver works."""
        made = SaverDef()
        made.CopyFrom(self._saver_def if self._saver_def is not None else named)
        made.max_to_keep, made.keep_checkpoint_every_n_hours = self._max_to_keep, self._period / 3600
        made.sharded = self._sharded
        return made

    def as_saver_def(self) -> Any:
        """The SaverDef: how this Saver works, and the names that its nodes have in a stored graph."""
        if self._saver_def is not None:
            return self._saver_def
        return self._described(saver_nodes(self._built(), set(get_default_graph().operations))[1])

    to_proto, saver_def = as_saver_def, property(as_saver_def)

    def restore(self, sess: Any, save_path: Any) -> None:
        """Give the variables the values that a checkpoint has; they need not be initialized.

        Raises ArgumentError (ValueError) if there is no such checkpoint, NotFoundError for a variable
        that it lacks, InvalidArgumentError for another shape or dtype. No variable is changed then.
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ArgumentError("Can't load save_path when it is None.",
                                hint="tf.train.latest_checkpoint gives None where it finds none")
        if not checkpoint_exists(save_path):
            raise ArgumentError(f"The passed save_path is not a valid checkpoint: {os.fspath(save_path)}")
        if self._saver_def is not None:
            restore, names = self._saver_def.restore_op_name, self._saver_def.filename_tensor_name
            bare_session(sess).run(restore, {names: os.fspath(save_path)})
            return
        reader, session = CheckpointReader(save_path), bare_session(sess)
        keys = reader.keys_by_name()
        values = [(v, fitting(reader, keys.get(name, name), v, reshape=self._reshape))
                  for name, variables in self._built().items() for v in variables]
        for variable, value in values:
            load_into(session, variable, value, save_path)
        for state in self._states:
            state.run(session, reader)

    @property
    def _is_empty(self) -> bool:
        """Whether there is nothing to save, and that is allowed."""
        return self._saver_def is None and self._allow_empty and not self._built() and not self._states

    def _built(self) -> dict[str, list[Variable]]:
        if self._variables is None:
            raise StateError("this Saver was made with defer_build=True: call build() first")
        return self._variables


def get_saver_or_default() -> Saver:
    """The graph's one Saver, made now if there is none. Raises StateError (RuntimeError) for several ones."""
    graph = get_default_graph()
    found = graph.get_collection(GraphKeys.SAVERS)
    if len(found) > 1:
        raise StateError("More than one item in collection SAVERS. Please indicate which one to use by passing it to "
                         "the constructor.")
    if not found:
        found = [Saver(sharded=True, allow_empty=True)]
        graph.add_to_collection(GraphKeys.SAVERS, found[0])
    return found[0]


_get_saver_or_default = get_saver_or_default


def import_meta_graph(meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None,
                      **options: Any) -> Saver | None:
    """Add a graph and its collections, of a MetaGraphDef or the file of one; gives its Saver, None if it saves nothing.

    graph: instead of the default one. Raises OSError for a file that is not there, DataLossError for what is no
    MetaGraphDef.
    """
    with (options.pop("graph", None) or get_default_graph()).as_default() as graph:
        meta, scope = add_meta_graph(meta_graph_or_file, clear_devices, import_scope, **options)
        if not meta.HasField("saver_def"):
            return Saver() if graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope) else None
        saver_def = SaverDef()
        saver_def.CopyFrom(meta.saver_def)
        for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
            setattr(saver_def, field, f"{scope}/{getattr(saver_def, field)}" if scope else getattr(saver_def, field))
        return Saver(saver_def=saver_def, allow_empty=True)


def export_meta_graph(filename: str | None = None, graph: Any = None, collection_list: Any = None,
                      **options: Any) -> Any:
    """A graph and its collections as a MetaGraphDef, which is written to a file if one is named.

    options: as of export_scoped_meta_graph.
    """
    return export_scoped_meta_graph(filename, graph=graph, collection_list=collection_list, **options)[0]


def write_graph(graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True) -> str:
    """Write a graph as a GraphDef, as text or binary; gives the path."""
    found = graph_or_graph_def.as_graph_def() if hasattr(graph_or_graph_def, "as_graph_def") else graph_or_graph_def
    os.makedirs(logdir, exist_ok=True)
    path = os.path.join(logdir, name)
    write_message(found, path, as_text=as_text)
    return path
