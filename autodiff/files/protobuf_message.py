"""Messages: records whose fields stand in a table, with the methods that protocol buffers' Python users know."""
from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError, KindError, UnsupportedError
from .protobuf_containers import MapField, Repeated, message_of
from .protobuf_fields import Field
from .protobuf_text import format_message
from .protobuf_wire import read_message, write_message


class Message:
    """A record of the fields in FIELDS. Reading a field that is not set gives its default.

    Raises ArgumentError (ValueError) for an unknown field in the constructor, UnsupportedError (AttributeError) for one
    that is read or set, KindError (TypeError) and ArgumentError (ValueError) for a value that does not fit.
    """

    FIELDS: tuple[Field, ...] = ()
    BY_NAME: dict[str, Field] = {}
    BY_NUMBER: dict[int, Field] = {}
    __slots__ = ("__weakref__", "_is_marked", "beside", "stored_values", "unknown_fields")

    def __init__(self, **fields: Any) -> None:
        self._restart()
        for name, value in fields.items():
            if name not in self.BY_NAME:
                raise ArgumentError(f"Protocol message {type(self).__name__} has no \"{name}\" field.",
                                    hint=f"it has {', '.join(self.BY_NAME)}")
            if value is not None:
                self._fill(self.BY_NAME[name], value)

    def _restart(self) -> None:
        for name, value in (("stored_values", {}), ("unknown_fields", []), ("_is_marked", False), ("beside", None)):
            object.__setattr__(self, name, value)

    def _fill(self, field: Field, value: Any) -> None:
        if field.key is not None:
            self.slot(field).update(value)
        elif field.repeated:
            self.slot(field).extend(value)
        elif field.is_message:
            made = self.slot(field)
            made.CopyFrom(message_of(field.kind, value))
            made.mark_set()
        else:
            self.put(field, field.kind.accepts(value))

    def _field(self, name: str) -> Field:
        if name not in self.BY_NAME:
            raise UnsupportedError(f"'{type(self).__name__}' object has no attribute '{name}'",
                                   hint=f"its fields are {', '.join(self.BY_NAME)}")
        return self.BY_NAME[name]

    def __getattr__(self, name: str) -> Any:
        found = self.stored_values.get(name) if name in self.BY_NAME else None
        if found is not None:
            return found
        if name.startswith("__"):
            raise AttributeError(name)
        field = self._field(name)
        return self.slot(field) if field.repeated or field.is_message or field.key is not None else field.kind.default

    def __setattr__(self, name: str, value: Any) -> None:
        field = self._field(name)
        if field.repeated or field.is_message or field.key is not None:
            raise UnsupportedError(f"Assignment not allowed to repeated field, map or message \"{name}\" in protocol "
                                   "message object.",
                                   hint=f"use {name}.extend(values), {name}.CopyFrom(message) or {name}[key]")
        self.put(field, field.kind.accepts(value))

    def slot(self, field: Field) -> Any:
        """The container or message of a field, made if it is not there yet."""
        found = self.stored_values.get(field.name)
        if found is None:
            found = MapField(field) if field.key is not None else Repeated(field) if field.repeated else field.kind()
            self.stored_values[field.name] = found
        return found

    def put(self, field: Field, value: Any) -> None:
        """Set a field to a value that is known to fit; the others of its oneof are cleared."""
        if field.oneof:
            for other in self.FIELDS:
                if other.oneof == field.oneof:
                    self.stored_values.pop(other.name, None)
        self.stored_values[field.name] = value

    def mark_set(self) -> None:
        """Let this message count as set in the one that holds it, even while it is empty."""
        object.__setattr__(self, "_is_marked", True)

    SetInParent = mark_set

    def is_set(self, field: Field) -> bool:
        """Whether a field is written: it has a value, and not just the default."""
        value = self.stored_values.get(field.name)
        if value is None:
            return False
        if field.repeated or field.key is not None:
            return len(value) > 0
        if field.is_message:
            return value.is_present()
        return field.explicit or bool(value != field.kind.default)

    def is_present(self) -> bool:
        """Whether this message counts as set in the one that holds it."""
        return self._is_marked or bool(self.unknown_fields) or any(self.is_set(field) for field in self.FIELDS)

    def HasField(self, name: str) -> bool:  # noqa: N802
        """Whether a field, or one of a oneof, is set."""
        if any(field.oneof == name for field in self.FIELDS):
            return self.WhichOneof(name) is not None
        return self.is_set(self._named(name))

    def _named(self, name: str) -> Field:
        if name not in self.BY_NAME:
            raise ArgumentError(f"Protocol message {type(self).__name__} has no field \"{name}\".",
                                hint=f"it has {', '.join(self.BY_NAME)}")
        return self.BY_NAME[name]

    def ClearField(self, name: str) -> None:  # noqa: N802
        """Forget a field's value."""
        for field in self.FIELDS:
            if name == field.oneof:
                self.stored_values.pop(field.name, None)
        if name not in {field.oneof for field in self.FIELDS}:
            self.stored_values.pop(self._named(name).name, None)

    def WhichOneof(self, name: str) -> str | None:  # noqa: N802
        """The field of a oneof that is set; None if none is. Raises ArgumentError for an unknown oneof."""
        group = [field for field in self.FIELDS if field.oneof == name]
        if not group:
            raise ArgumentError(f"Error: oneof {name} not found in {type(self).__name__}")
        return next((field.name for field in group if self.is_set(field)), None)

    def ListFields(self) -> list[tuple[Field, Any]]:  # noqa: N802
        """(field, value) of all that is set, by number."""
        return [(field, self.stored_values[field.name]) for field in self.FIELDS if self.is_set(field)]

    def put_beside(self, value: Any) -> None:
        """Keep what no field can hold, such as a Python function: copies have it too, bytes and text do not."""
        object.__setattr__(self, "beside", value)

    def Clear(self) -> None:  # noqa: N802
        """Forget everything."""
        marked = self._is_marked
        self._restart()
        object.__setattr__(self, "_is_marked", marked)

    def CopyFrom(self, other: Any) -> None:  # noqa: N802
        """Become equal to another message of the same type."""
        if other is not self:
            self.Clear()
            self.MergeFrom(other)

    def MergeFrom(self, other: Any) -> None:  # noqa: N802
        """Take what is set in another message: single values replace, repeated ones are appended."""
        if type(other) is not type(self):
            raise KindError(f"Parameter to MergeFrom() must be instance of same class: expected {type(self).__name__} "
                            f"got {type(other).__name__}.")
        for field, value in other.ListFields():
            if field.repeated or field.key is not None:
                self._fill(field, value)
            elif field.is_message:
                self.slot(field).MergeFrom(value)
                self.slot(field).mark_set()
            else:
                self.put(field, value)
        self.unknown_fields.extend(other.unknown_fields)
        if other.beside is not None:
            self.put_beside(other.beside)

    def MergeFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Add what bytes hold; gives their number. Raises DataLossError for damaged ones."""
        read_message(self, serialized)
        return len(serialized)

    def ParseFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Become what bytes hold; gives their number. Raises DataLossError for damaged ones."""
        self.Clear()
        return self.MergeFromString(serialized)

    @classmethod
    def FromString(cls, serialized: bytes) -> Any:  # noqa: N802
        """The message that bytes hold."""
        message = cls()
        message.MergeFromString(serialized)
        return message

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes."""
        return write_message(self)

    SerializePartialToString = SerializeToString

    def ByteSize(self) -> int:  # noqa: N802
        """The number of its bytes."""
        return len(write_message(self))

    def IsInitialized(self) -> bool:  # noqa: N802
        """True: no field is required."""
        return True

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, Message)
        return self.ListFields() == other.ListFields() and self.unknown_fields == other.unknown_fields

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return format_message(self)

    __repr__ = __str__

    def __deepcopy__(self, memo: Any) -> Any:
        made = type(self)()
        made.MergeFrom(self)
        return made

    __copy__ = __deepcopy__

    def __reduce__(self) -> Any:
        return type(self).FromString, (write_message(self),)
