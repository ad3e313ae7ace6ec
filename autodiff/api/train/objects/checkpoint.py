"""tf.train.Checkpoint: saves what objects hold, and gives it back to objects that hold the like."""
from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from ....core.defaults import get_default_session, session_for
from ....core.errors import ArgumentError, AutodiffError
from ....core.graph import get_default_graph
from ...control.dependencies import init_scope
from ...variables.trackable import AutoTrackable, restore_waiting, wait
from ...variables.variable import Variable
from ..checkpoint_state import get_checkpoint_state, update_checkpoint_state
from ..checkpoints import CheckpointReader, remove_checkpoint
from ..saved_variables import Restoring, bare_session, fitting, load_into
from .object_graph import VALUE, objects_below, slots_of, states_of, write_objects


class UnmatchedError(AutodiffError, AssertionError):
    """What a checkpoint has and what objects hold are not the same."""


class Restoration:
    """A checkpoint, or None, that is given to objects below a root as they come; what Checkpoint.restore gives.

    Eagerly variables get their values at once, or when they are made; in a graph when run_restore_ops or
    initialize_or_restore is called.
    """

    def __init__(self, root: Any, save_path: Any) -> None:
        self._root, self._path = root, save_path
        self._reader: Any = None if save_path is None else CheckpointReader(save_path)
        self._message: Any = None if self._reader is None else self._reader.object_graph
        self._done: set[int] = set()  # of variables that got their values
        self._kept: list[Any] = []
        self.has_objects = self._message is not None
        if get_default_graph().executing_eagerly and self._reader is not None:
            wait(self)
            restore_waiting()

    def __call__(self, session: Any = None) -> bool:
        """Give what is there, and has nothing yet, its values. Tells whether nothing of the checkpoint is left."""
        for key, state in self._pairs():
            if session is None and id(state) in self._done:
                continue
            self._done.add(id(state))
            self._kept.append(state)
            if isinstance(state, Variable):
                load_into(session, state, fitting(self._reader, key, state, reshape=False), self._path)
            else:
                Restoring(state(name=key) if callable(state) else state).run(session, self._reader)
        left = self._left()
        if session is None:
            self._reader.hold(left)
        return self.has_objects and not left

    def _bound(self) -> dict[int, Any]:
        """Node of the message -> the object that has its place."""
        bound: dict[int, Any] = {}
        waiting = [(0, self._root)] if self.has_objects else []
        for number, holder in waiting:
            if number not in bound:
                bound[number] = holder
                held = dict(next(objects_below(holder))[2])
                waiting += [(child.node_id, held[child.local_name]) for child in self._message.nodes[number].children
                            if child.local_name in held]
        for number, holder in list(bound.items()):
            slots = {(name, id(variable)): slot for name, variable, slot in slots_of(holder)}
            for each in self._message.nodes[number].slot_variables:
                slot = slots.get((each.slot_name, id(bound.get(each.original_variable_node_id))))
                if slot is not None:
                    bound[each.slot_variable_node_id] = slot
        return bound

    def _pairs(self) -> list[tuple[str, Any]]:
        """(key in the checkpoint, state) of what it has and an object holds."""
        if not self.has_objects:
            by_name = [(v._shared_name, v) for v in variables_below(self._root)] if self._reader is not None else []
            return [(name, v) for name, v in by_name if self._reader.has_tensor(name)]
        return [(each.checkpoint_key, states[each.name]) for number, holder in self._bound().items()
                for states in [states_of(holder)] for each in self._message.nodes[number].attributes
                if each.name in states]

    def assert_existing_objects_matched(self) -> "Restoration":
        """Raises UnmatchedError (AssertionError) if a variable below the root is not in the checkpoint."""
        self._check_path()
        found = {id(state) for _, state in self._pairs()}
        left = [v for v in variables_below(self._root) if id(v) not in found]
        if left:
            raise UnmatchedError(f"Object not assigned a value from checkpoint: {left[0]!r}")
        return self

    def assert_consumed(self) -> "Restoration":
        """Raises UnmatchedError (AssertionError) too if the checkpoint has what no object holds."""
        self.assert_existing_objects_matched()
        left = self._left()
        if left:
            raise UnmatchedError(f"Unresolved object in checkpoint {self._path}: {left[0]}")
        return self

    def _left(self) -> list[str]:
        """The keys of variables in the checkpoint of which no object holds one."""
        nodes, found = self._message.nodes if self.has_objects else (), {key for key, _ in self._pairs()}
        return [each.checkpoint_key for node in nodes for each in node.attributes
                if each.name == VALUE and each.checkpoint_key not in found]

    def assert_nontrivial_match(self) -> "Restoration":
        """Raises UnmatchedError (AssertionError) if nothing but the root was matched."""
        self._check_path()
        if len(self._bound()) < 2:
            raise UnmatchedError(f"Nothing except the root object matches a checkpointed value in {self._path}")
        return self

    def expect_partial(self) -> "Restoration":
        """Nothing is told of what is not matched in any case."""
        return self

    def _check_path(self) -> None:
        if self._reader is None:
            raise UnmatchedError("No checkpoint specified (save_path=None); nothing is being restored.")

    def run_restore_ops(self, session: Any = None) -> None:
        """Give the variables of a session, by default the default one, their values."""
        self._check_path()
        if not get_default_graph().executing_eagerly:
            self(_session(session))

    def initialize_or_restore(self, session: Any = None) -> None:
        """The same, and run the initializers of variables below the root that the checkpoint does not have."""
        if not get_default_graph().executing_eagerly:
            session, found = _session(session), {id(state) for _, state in self._pairs()}
            session.run([v.initializer for v in variables_below(self._root) if id(v) not in found])
            self(session)


def variables_below(root: Any) -> list[Variable]:
    """The variables that objects below a root hold, and the slots of optimizers for them."""
    found = [holder for holder, _, _ in objects_below(root)]
    return [*(v for v in found if isinstance(v, Variable)), *(slot for v in found for _, variable, slot in slots_of(v)
                                                               if any(variable is each for each in found))]


def _session(session: Any) -> Any:
    """The session that is given, the default one or Keras'; None while executing eagerly."""
    graph = get_default_graph()
    if session is None and not graph.executing_eagerly:
        kept = graph.outermost.extras.get("keras", {}).get("session") if get_default_session() is None else None
        session = session_for(graph, kept, "save or restore objects")
    return bare_session(session)


class Checkpoint(AutoTrackable):
    """Objects by name: variables, layers, models, optimizers, modules, lists and dicts of them. Raises KindError
    (TypeError), through `save`, for what has no state.
    """

    def __init__(self, **kwargs: Any) -> None:
        for name, value in sorted(kwargs.items()):
            setattr(self, name, value)

    @property
    def save_counter(self) -> Variable:
        """How many checkpoints `save` wrote: int64[]. Made when it is first asked for, or a checkpoint has it."""
        if "save_counter" not in vars(self):
            with init_scope():
                vars(self)["save_counter"] = Variable(np.int64(0), name="save_counter", trainable=False,
                                                      use_resource=True, collections=[])
        return vars(self)["save_counter"]

    def write(self, file_prefix: Any, session: Any = None) -> str:
        """Write a checkpoint of this very name. session: in a graph, by default the default one."""
        return write_objects(self, os.fspath(file_prefix), _session(session))

    def save(self, file_prefix: Any, session: Any = None) -> str:
        """Write a checkpoint `<prefix>-<number>`, of numbers from 1 on, and make it the directory's latest."""
        path = self._numbered(file_prefix, session)
        update_checkpoint_state(os.path.dirname(path), path, [path], save_relative_paths=True)
        return path

    def _numbered(self, file_prefix: Any, session: Any = None) -> str:
        session, counter = _session(session), self.save_counter
        if session is None:
            number = int(counter.assign_add(1).numpy())
        else:
            number = int(session.variables.get(counter.op.name, 0)) + 1
            load_into(session, counter, np.array(number), None)
        return self.write(f"{os.fspath(file_prefix)}-{number}", session)

    def restore(self, save_path: Any) -> Restoration:
        """Give the objects what a checkpoint has, also one of a Saver by the variables' names. None: nothing.

        The result tells what was matched, and gives the values in a graph. Raises NotFoundError if there is none.
        """
        restoration = Restoration(self, save_path)
        if restoration.has_objects:
            _ = self.save_counter
            restore_waiting()
        return restoration

    read = restore


class CheckpointManager:
    """Saves `<directory>/<checkpoint_name>-<number>`, keeps the latest max_to_keep, None for all.

    keep_checkpoint_every_n_hours: of those that are too many one in so many hours is kept for ever. What an earlier
    manager of the directory kept is taken over. Raises ArgumentError (ValueError) for a max_to_keep below 1.
    """

    def __init__(self, checkpoint: Checkpoint, directory: Any, max_to_keep: int | None,
                 keep_checkpoint_every_n_hours: float | None = None, checkpoint_name: str = "ckpt") -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ArgumentError(f"Expected a positive integer or `None` for `max_to_max_to_keep`, got {max_to_keep}.")
        self._checkpoint, self._folder, self._name = checkpoint, os.fspath(directory), checkpoint_name
        self._max_to_keep, self._hours = max_to_keep, keep_checkpoint_every_n_hours
        state, now = get_checkpoint_state(self._folder), time.time()
        self.latest_checkpoint: str | None = state.model_checkpoint_path if state else None
        self._saved: dict[str, float] = {}
        self._preserved = now
        if state and len(state.all_model_checkpoint_timestamps) == len(state.all_model_checkpoint_paths):
            self._saved = dict(zip(state.all_model_checkpoint_paths, state.all_model_checkpoint_timestamps))
            self._preserved = state.last_preserved_timestamp or now - 1

    @property
    def checkpoints(self) -> list[str]:
        """The names of those that may still be deleted, oldest first."""
        return list(self._saved)

    def save(self, checkpoint_number: Any = None) -> str:
        """Write one of a number, by default one after the last; delete what is too many. Gives its name."""
        prefix = os.path.join(self._folder, self._name)
        if checkpoint_number is None:
            path = self._checkpoint._numbered(prefix)
        else:
            number = checkpoint_number.numpy() if hasattr(checkpoint_number, "numpy") else checkpoint_number
            path = self._checkpoint.write(f"{prefix}-{int(number)}")
        self._saved.pop(path, None)
        self._saved[path] = time.time()
        self.latest_checkpoint = path
        while self._max_to_keep is not None and len(self._saved) > self._max_to_keep:
            oldest, saved_at = next(iter(self._saved.items()))
            del self._saved[oldest]
            if self._hours is not None and saved_at - self._hours * 3600 >= self._preserved:
                self._preserved = saved_at
            else:
                remove_checkpoint(oldest)
        update_checkpoint_state(self._folder, path, self.checkpoints, save_relative_paths=True,
                                all_model_checkpoint_timestamps=list(self._saved.values()),
                                last_preserved_timestamp=self._preserved)
        return path
