"""Pickles of plain values and arrays, as data sets are published in: nothing else than these is ever made of them."""
from __future__ import annotations

import pickle
from typing import Any, BinaryIO

import numpy as np

from ...core.errors import DataLossError

_PARTS = {("_codecs", "encode"), ("numpy", "ndarray"), ("numpy", "dtype"), *(
    (f"numpy.{core}.multiarray", name) for core in ("core", "_core") for name in ("_reconstruct", "scalar"))}


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _PARTS:
            raise pickle.UnpicklingError(f"it holds a {module}.{name}, which is never made")
        return super().find_class(module, name)


def read_pickle(file: BinaryIO, is_array: bool = False) -> Any:
    """Dicts, lists, numbers, arrays; text of Python 2 as bytes. Raises DataLossError for all else.

    is_array: it lies in an .npy file, whose elements are such values, if they are not numbers.
    """
    try:
        if not is_array:
            return _Plain(file, encoding="bytes").load()
        np.lib.format.read_magic(file)
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        return (_Plain(file, encoding="bytes").load() if dtype.hasobject else
                np.frombuffer(file.read(), dtype)).reshape(shape)
    except Exception as error:  # a damaged one raises whatever it leads to
        raise DataLossError(f"no pickle of plain values and arrays: {error}") from None
