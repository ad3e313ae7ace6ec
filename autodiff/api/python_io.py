"""tf.python_io: TFRecord files, written and read in Python."""
from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ..core.errors import ArgumentError, FailedPreconditionError, KindError, NotFoundError
from ..files.record_file import RecordWriter, read_records
from .common.unsupported import refusing

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]


class TFRecordCompressionType:
    """How a file is compressed."""

    NONE, ZLIB, GZIP = 0, 1, 2


class TFRecordOptions:
    """Compression of a TFRecord file. compression_type: '', 'GZIP', 'ZLIB' or a TFRecordCompressionType."""

    compression_type_map = {TFRecordCompressionType.ZLIB: "ZLIB", TFRecordCompressionType.GZIP: "GZIP",
                            TFRecordCompressionType.NONE: ""}

    def __init__(self, compression_type: Any = None, flush_mode: Any = None, input_buffer_size: Any = None,
                 output_buffer_size: Any = None, window_bits: Any = None, compression_level: int | None = None,
                 compression_method: Any = None, mem_level: Any = None, compression_strategy: Any = None) -> None:
        self.compression_type = compression_type
        self.compression_level = -1 if compression_level is None else compression_level
        self.get_compression_type_string(compression_type)

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """'', 'GZIP' or 'ZLIB'. Raises ArgumentError (ValueError) for another one."""
        while isinstance(options, TFRecordOptions):
            options = options.compression_type
        found = cls.compression_type_map.get(options, options) or ""
        if found not in cls.compression_type_map.values():
            raise ArgumentError(f'Not a valid compression_type: "{found}"', expected="'', 'GZIP' or 'ZLIB'")
        return found


class TFRecordWriter:
    """Writes records to a file. Raises NotFoundError for a directory that is not there.

    Writing and flushing raise FailedPreconditionError after close().
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        compression = TFRecordOptions.get_compression_type_string(options)
        level = options.compression_level if isinstance(options, TFRecordOptions) else -1
        try:
            self._writer = RecordWriter(open(os.fspath(path), "wb"), compression, level)
        except OSError as error:
            raise NotFoundError(f"{os.fspath(path)}; {error.strerror}") from None

    def write(self, record: Any) -> None:
        """Add a record. Raises KindError (TypeError) for what is not bytes."""
        if isinstance(record, str):
            record = record.encode()
        if not isinstance(record, bytes):
            raise KindError(expected="bytes", found=repr(record), hint="use example.SerializeToString()")
        self._open().write(record)

    def flush(self) -> None:
        """Let readers see what was written."""
        self._open().flush()

    def _open(self) -> RecordWriter:
        if self._writer.closed:
            raise FailedPreconditionError(None, None, "Writer is closed.")
        return self._writer

    def close(self) -> None:
        """Close the file."""
        self._writer.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """The records of a file. Raises NotFoundError if there is none, DataLossError for a damaged one."""
    compression = TFRecordOptions.get_compression_type_string(options)
    try:
        file = open(os.fspath(path), "rb")
    except OSError as error:
        raise NotFoundError(f"{os.fspath(path)}; {error.strerror}") from None
    with file:
        yield from read_records(file, os.fspath(path), compression)


__getattr__ = refusing("tf.python_io", __name__)
