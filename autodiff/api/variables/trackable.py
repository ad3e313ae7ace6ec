"""What object-based checkpoints follow: the objects that an object holds, by the names of its attributes."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...core.errors import ArgumentError
from ...core.graph import get_default_graph

_WAITING = "_restorations_that_wait"


class TrackableReference(NamedTuple):
    """What an object holds, and under which name."""

    name: str
    ref: Any


class Trackable:
    """An object whose attributes are followed, but those in `_untracked`."""

    _untracked: frozenset[str] = frozenset()
    _named: dict[str, Any] = {}  # noqa: RUF012: never changed, each object gets one of its own

    @property
    def _checkpoint_dependencies(self) -> Sequence[TrackableReference]:
        held = {name: value for name, value in vars(self).items()
                if name not in self._untracked and name != "_named" and is_trackable(value)}
        return [TrackableReference(name, value) for name, value in {**held, **self._named}.items()]

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Hold an object under a name that is no attribute. Raises ArgumentError (ValueError) for one that is used."""
        if not overwrite and any(name == each.name and trackable is not each.ref
                                 for each in self._checkpoint_dependencies):
            raise ArgumentError(f"Called Trackable._track_trackable() with name={name!r}, but a Trackable with this "
                                "name is already declared as a dependency.", hint="pass overwrite=True to replace it")
        vars(self)["_named"] = {**self._named, name: trackable}
        restore_waiting()
        return trackable


class AutoTrackable(Trackable):
    """What is put into an attribute of it gets at once what a checkpoint that was restored before has for it."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        restore_waiting(value)

    def _no_dependency(self, value: Any) -> Any:
        """`value`, to be held without being saved."""
        return value


def is_trackable(value: Any) -> bool:
    """Whether checkpoints of objects follow a value: an object with state, or a list or dict that holds one."""
    if isinstance(value, (list, tuple, Mapping)):
        return any(map(is_trackable, value.values() if isinstance(value, Mapping) else value))
    return isinstance(value, Trackable) or hasattr(type(value), "_gather_saveables_for_checkpoint")


def dependencies_of(holder: Any) -> list[TrackableReference]:
    """What an object, list or dict holds."""
    if isinstance(holder, (list, tuple, Mapping)):
        items = holder.items() if isinstance(holder, Mapping) else enumerate(holder)
        return [TrackableReference(str(name), value) for name, value in items if is_trackable(value)]
    return list(getattr(holder, "_checkpoint_dependencies", ()))


def wait(restoration: Any) -> None:
    """Have a restoration called, while executing eagerly, whenever variables may have been made, till it gives True."""
    get_default_graph().get_collection_ref(_WAITING).append(restoration)


def restore_waiting(made: Any = None) -> None:
    """Call what waits for variables. made: what was made, if that is known: nothing is called for other values."""
    waiting = get_default_graph().collected.get(_WAITING)
    if waiting and (made is None or is_trackable(made)):
        waiting[:] = [restoration for restoration in list(waiting) if not restoration()]
