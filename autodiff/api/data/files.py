"""Datasets of files: the records or lines of one file after the other."""
from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from collections.abc import Iterator as PythonIterator
from typing import Any

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import string
from ...core.errors import NotFoundError
from ..python_io import TFRecordOptions, tf_record_iterator
from .dataset import Dataset
from .elements import Element

Reader = Callable[[str], Iterable[bytes]]


class _FileDataset(Dataset):
    """The records of each file, by a reader. filenames: a text, texts, a tensor of them, or a Dataset of them."""

    def __init__(self, filenames: Any, read: Reader) -> None:
        if isinstance(filenames, Dataset):
            names, sources = filenames._elements, filenames._sources
        else:
            def names(values: list[np.ndarray]) -> PythonIterator[Any]:
                return iter(np.asarray(values[0], object).ravel().tolist())

            sources = (convert_to_tensor(filenames, string),)

        def elements(values: list[np.ndarray]) -> PythonIterator[Any]:
            for name in names(values):
                name = np.asarray(name, object).item()
                yield from (np.array(text, object) for text in read(name.decode() if isinstance(name, bytes) else name))

        super().__init__(elements, Element(string, ()), sources)


class TFRecordDataset(_FileDataset):
    """The records of TFRecord files. compression_type: '', 'GZIP' or 'ZLIB'."""

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None,
                 num_parallel_reads: Any = None) -> None:
        options = TFRecordOptions(compression_type)
        super().__init__(filenames, lambda name: tf_record_iterator(name, options))


class TextLineDataset(_FileDataset):
    """The lines of text files, without their ends."""

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None,
                 num_parallel_reads: Any = None) -> None:
        super().__init__(filenames, lines_of)


class FixedLengthRecordDataset(_FileDataset):
    """Records of one length, after a header and before a footer of each file, in bytes."""

    def __init__(self, filenames: Any, record_bytes: int, header_bytes: int | None = None,
                 footer_bytes: int | None = None, buffer_size: Any = None, compression_type: Any = None,
                 num_parallel_reads: Any = None) -> None:
        super().__init__(filenames, lambda name: pieces(whole(name)[header_bytes or 0:], record_bytes,
                                                        footer_bytes or 0, record_bytes))


def whole(name: str, compression: str = "") -> bytes:
    """All of a file. compression: '', 'GZIP' or 'ZLIB'. Raises NotFoundError if there is none."""
    try:
        with open(name, "rb") as file:
            data = file.read()
            return zlib.decompress(data, wbits=zlib.MAX_WBITS | 32) if compression else data
    except OSError as error:
        raise NotFoundError(f"{name}; {error.strerror}") from None


def lines_of(name: str) -> list[bytes]:
    """The lines of a file without their ends."""
    return whole(name).splitlines()


def pieces(data: bytes, size: int, footer: int, hop: int) -> Iterable[bytes]:
    """Parts of one size that begin so many bytes after each other, before a footer."""
    return (data[at:at + size] for at in range(0, len(data) - footer - size + 1, hop))
