"""What repeated and map fields of messages hold: a list and a dict whose values are checked when they come in."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..core.errors import ArgumentError
from .protobuf_fields import Field


def message_of(kind: type, value: Any) -> Any:
    """A message, or one made of a dict of fields."""
    return kind(**value) if isinstance(value, Mapping) else value


def accepted(field: Field, value: Any) -> Any:
    """A value as a repeated field stores it."""
    if not field.is_message:
        return field.kind.accepts(value)
    made = field.kind()
    made.MergeFrom(message_of(field.kind, value))
    return made


class Repeated(list):
    """The values of a repeated field; each is checked when it comes in."""

    def __init__(self, field: Field, values: Iterable[Any] = ()) -> None:
        self._field = field
        super().__init__(self._accepted(values))

    def _accept(self, value: Any) -> Any:
        return accepted(self._field, value)

    def _accepted(self, values: Iterable[Any]) -> list[Any]:
        return [self._accept(value) for value in values]

    def add(self, **fields: Any) -> Any:
        """Append a new message, and give it."""
        made = self._field.kind(**fields)
        super().append(made)
        return made

    def append(self, value: Any) -> None:
        """Append a value; of a message, a copy."""
        super().append(self._accept(value))

    def extend(self, values: Iterable[Any]) -> None:
        """Append several values; of messages, copies."""
        super().extend(self._accepted(values))

    MergeFrom = extend

    def extend_raw(self, values: Iterable[Any]) -> None:
        """Append values that are known to fit."""
        super().extend(values)

    def insert(self, index: Any, value: Any) -> None:
        """Put a value before another."""
        super().insert(index, self._accept(value))

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, self._accepted(value) if isinstance(index, slice) else self._accept(value))

    def __iadd__(self, values: Any) -> Any:  # type: ignore[misc]
        self.extend(values)
        return self

    def __reduce__(self) -> Any:
        return list, (list(self),)


class MapField(dict):
    """The entries of a map field. Messages in it are made when they are first asked for."""

    def __init__(self, field: Field) -> None:
        super().__init__()
        self._field = field

    def __missing__(self, key: Any) -> Any:
        kind = self._field.kind
        self.put(self._key(key), kind() if self._field.is_message else kind.default)
        return self[key]

    def _key(self, key: Any) -> Any:
        return self._field.key.accepts(key) if self._field.key else key

    def put(self, key: Any, value: Any) -> None:
        """Set an entry that is known to fit."""
        super().__setitem__(key, value)

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._field.is_message:
            raise ArgumentError("May not set values directly, call my_map[key].CopyFrom(value)")
        super().__setitem__(self._key(key), self._field.kind.accepts(value))

    def get_or_create(self, key: Any) -> Any:
        """The message of a key, a new one if there is none."""
        return self[key]

    def update(self, entries: Any = (), **more: Any) -> None:  # type: ignore[override]
        """Set several entries; of messages, copies."""
        for key, value in dict(entries, **more).items():
            if self._field.is_message:
                self[key].CopyFrom(message_of(self._field.kind, value))
            else:
                self[key] = value

    MergeFrom = update

    def __reduce__(self) -> Any:
        return dict, (dict(self),)
