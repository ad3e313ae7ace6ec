"""What a layer has: its variables, losses and updates, and those of the variables and layers in its attributes."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core import nest
from ...core.graph import Tensor
from ...core.site import RawFrames, capture
from ...core.traversal import reached
from .layer_calls import Described
from .trackable import TrackableReference
from .variable import Variable


class Holding(Described):
    """Lists of what a layer made itself; what its attributes hold, also in lists and dicts, counts as its own."""

    frozen_at: RawFrames | None = None  # where it was made not to be trained
    freed_at: RawFrames | None = None  # where it was made trainable again
    _trainable_weights: list[Variable]
    _non_trainable_weights: list[Variable]
    _losses: list[Tensor]
    _updates: list[Any]
    _conditional: list[Any]  # of the losses and updates those that come of inputs
    _untracked = frozenset({"_trainable_weights", "_non_trainable_weights", "_arguments", "inbound_nodes"})

    @property
    def trainable(self) -> bool:
        """Whether optimizers change its variables, and those of what it holds, by default."""
        return self.frozen_at is None

    @trainable.setter
    def trainable(self, value: Any) -> None:
        frames = capture(depth=2)
        self.frozen_at, self.freed_at = (None, self.freed_at or self.frozen_at and frames) if value else (frames, None)

    def _held(self, kind: Any) -> list[Any]:
        found: list[Any] = []
        for name, value in vars(self).items():
            if name not in self._untracked:
                for each in held_in(value, kind):
                    add_once(found, each)
        return found

    def _inside(self) -> list[Any]:
        """The layers that it holds."""
        return self._held(Holding)

    def _all(self, what: str, *, trainable: bool | None = None) -> list[Any]:
        """Its own list of that name, and those of the layers inside, which a public name has them give themselves."""
        found = list(vars(self)[f"_{what.lstrip('_')}"])
        if trainable is not None:
            kept = {*map(id, self._trainable_weights), *map(id, self._non_trainable_weights)}
            found += [v for v in self._held(Variable) if v.trainable == trainable and id(v) not in kept]
        for layer in self._inside():
            for item in layer._all(what) if what[0] == "_" else getattr(layer, what):
                add_once(found, item)
        return found

    @property
    def trainable_weights(self) -> list[Variable]:
        return self._all("trainable_weights", trainable=True) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Variable]:
        return self._all("non_trainable_weights", trainable=False) + (
            [] if self.trainable else self._all("trainable_weights", trainable=True))

    @property
    def weights(self) -> list[Variable]:
        """All variables, the trainable ones first."""
        return self.trainable_weights + self.non_trainable_weights

    trainable_variables = property(lambda self: self.trainable_weights)
    non_trainable_variables = property(lambda self: self.non_trainable_weights)
    variables = property(lambda self: self.weights)

    @property
    def losses(self) -> list[Tensor]:
        """The regularization losses of its variables and outputs."""
        return self._all("losses")

    @property
    def updates(self) -> list[Any]:
        """Operations to run along with training; none of a layer that is not trained."""
        return self._all("updates") if self.trainable else []

    def get_losses_for(self, inputs: Any) -> list[Tensor]:
        """The losses that come of some inputs; None for those that come of none."""
        return self._of(self.losses, inputs)

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """The updates that come of some inputs; None for those that come of none."""
        return self._of(self.updates, inputs)

    def _of(self, items: list[Any], inputs: Any) -> list[Any]:
        conditional = set(map(id, self._all("_conditional")))
        if inputs is None:
            return [item for item in items if id(item) not in conditional]
        reached = reached_from(inputs)
        return [item for item in items if id(item) in conditional and not reached.isdisjoint(
            (item, *getattr(item, "control_inputs", ())))]  # a value that is read after the update

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        held = list(super()._checkpoint_dependencies)
        known = {id(each.ref) for each in held}
        return [*held, *(TrackableReference(v._shared_name.rpartition("/")[2], v)
                         for v in (*self._trainable_weights, *self._non_trainable_weights) if id(v) not in known)]


def held_in(value: Any, kind: Any) -> Iterator[Any]:
    """What of a kind a value is, or a list or dict holds."""
    if isinstance(value, kind):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from held_in(each, kind)


def add_once(items: list[Any], item: Any) -> None:
    """Append an item that is not in the list yet; items are told apart by identity."""
    if all(item is not other for other in items):
        items.append(item)


def get_reachable_from_inputs(inputs: Any, targets: Any = None) -> set[Any]:
    """The tensors that depend on some tensors, and those themselves. targets: nothing else is wanted."""
    found = {item for item in reached_from(inputs) if hasattr(item, "consumers")}
    return found if targets is None else found.intersection(nest.flatten(targets))


def reached_from(inputs: Any) -> set[Any]:
    """The tensors and operations that depend on some tensors, and those themselves."""
    return reached(nest.flatten(inputs), lambda item: item.consumers() if hasattr(item, "consumers") else item.outputs)
