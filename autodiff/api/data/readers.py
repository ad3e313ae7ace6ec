"""Readers: the records of the files that a queue names, one or several at each run."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import int64, string
from ...core.errors import UnsupportedError
from ...core.function_graph import taking_anew
from ...core.graph import Operation, Tensor, get_default_graph
from ...core.op import build
from ..control.custom import py_func
from ..python_io import tf_record_iterator
from .files import lines_of, pieces, whole

Record = tuple[bytes, bytes]  # its key, `file:place`, and what it says


class ReaderBase:
    """Reads records of the files whose names come from a queue. Where it is belongs to the graph, as a queue does.

    records: a file's records. supports_serialize: False, its place cannot be stored.
    """

    supports_serialize = False

    def __init__(self, records: Callable[[bytes], Iterable[Record]], name: str | None) -> None:
        self._records = records
        self._name = get_default_graph().unique_name(name or type(self).__name__)
        self.reader_ref = convert_to_tensor(self._name, name=f"{self._name}/handle")
        self._begin()

    def _begin(self) -> None:
        self._open: Iterator[Record] = iter(())
        self._counts = {"records": 0, "files": -1}  # the one that is open is not done

    def _next(self, take: Callable[[], bytes], count: int) -> list[Record]:
        """Up to so many records of one file: the next that has any."""
        while True:
            found = [record for _, record in zip(range(count), self._open)]
            if found:
                self._counts["records"] += len(found)
                return found
            self._counts["files"] += 1
            self._open = iter(())
            file = take()
            self._open = iter(self._records(file))

    def read(self, queue: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Key and value of the next record: string[], string[]. Waits for a file's name.

        The run fails with OutOfRangeError when the queue is closed and all is read.
        """
        key, value = self._built(queue, convert_to_tensor(1, int64), name or f"{self._name}_Read",
                                 lambda found: found[0], ())
        return key, value

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Keys and values of up to so many records of one file: string[n], string[n]."""
        keys, values = self._built(queue, convert_to_tensor(num_records, int64), name or f"{self._name}_ReadUpTo",
                                   lambda found: list(zip(*found)), [None])
        return keys, values

    def _built(self, queue: Any, count: Tensor, name: str, form: Callable[[list[Record]], Any], dims: Any) -> list[Any]:
        host = queue._host

        @taking_anew
        def read(number: Any) -> list[np.ndarray]:
            found = self._next(lambda: bytes(np.asarray(host.dequeue(1)[0][0], object).item()), int(number))
            return [np.array(part, object) for part in form(found)]

        with get_default_graph().name_scope(name):
            tensors = list(py_func(read, [count], [string, string]))
            for tensor in tensors:
                tensor.set_shape(dims)
            return tensors

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records were read: int64[]."""
        return self._number(lambda: self._counts["records"], name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many files were read to their ends: int64[]."""
        return self._number(lambda: max(self._counts["files"], 0), name)

    def _number(self, count: Callable[[], int], name: str | None) -> Tensor:
        found = py_func(lambda: np.int64(count()), [], int64, name=name)
        found.set_shape([])
        return found

    def reset(self, name: str | None = None) -> Operation:
        """The operation that forgets the file it is in, and the counts."""
        def begin() -> np.bool_:
            self._begin()
            return np.bool_(True)

        done = py_func(begin, [], "bool", name=name)
        with get_default_graph().control_dependencies([done]):
            return build.NoOp()

    def serialize_state(self, name: str | None = None) -> Tensor:
        """Raises UnsupportedError."""
        raise UnsupportedError(f"where a {type(self).__name__} is cannot be stored", hint="use a tf.data.Dataset")

    restore_state = serialize_state


def _numbered(file: bytes, records: Iterable[bytes], first: int) -> Iterable[Record]:
    return ((b"%s:%d" % (file, number), record) for number, record in enumerate(records, first))


class IdentityReader(ReaderBase):
    """Gives the names themselves, as keys and values."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(lambda file: [(file, file)], name)


class WholeFileReader(ReaderBase):
    """Gives whole files; a key is a file's name."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(lambda file: [(file, whole(file.decode()))], name)


class TextLineReader(ReaderBase):
    """Gives lines without their ends, after so many of a header; a key is `file:number`, from 1."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        skip = skip_header_lines or 0
        super().__init__(lambda file: _numbered(file, lines_of(file.decode())[skip:], skip + 1), name)


class FixedLengthRecordReader(ReaderBase):
    """Gives records of one length, or so many bytes after the one before; a key is `file:number`, from 0."""

    def __init__(self, record_bytes: int, header_bytes: int | None = None, footer_bytes: int | None = None,
                 hop_bytes: int | None = None, name: str | None = None, encoding: str | None = None) -> None:
        def records(file: bytes) -> Iterable[Record]:
            data = whole(file.decode(), encoding or "")[header_bytes or 0:]
            return _numbered(file, pieces(data, record_bytes, footer_bytes or 0, hop_bytes or record_bytes), 0)

        super().__init__(records, name)


class TFRecordReader(ReaderBase):
    """Gives records of TFRecord files; a key is `file:offset`, in bytes."""

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        def records(file: bytes) -> Iterable[Record]:
            offset = 0
            for record in tf_record_iterator(file.decode(), options):
                yield b"%s:%d" % (file, offset), record
                offset += len(record) + 16  # its length and two checksums

        super().__init__(records, name)
