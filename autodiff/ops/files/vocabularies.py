"""Matrices of a checkpoint by other vocabularies: which old entry a new one is, and rows and columns in a new order."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import float32, int32, int64
from ...core.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from ...core.infer import rank_of
from ...core.op import Kind, Spec, outputs
from ..common.file_formats import file_format
from ..common.texts import Text, spelled

Places = Kind("Places", allowed=(int64,), default=int64)
Floats = Kind("Floats", allowed=(float32,), default=float32)


def _lines(path):
    try:
        with open(spelled(path), "rb") as file:
            return file.read().splitlines()
    except OSError as error:
        raise NotFoundError(f"{spelled(path)}; {error.strerror}") from None


def _remapping(new_vocab_file, old_vocab_file, *, new_vocab_offset, num_new_vocab, old_vocab_size):
    return Spec(int64, (num_new_vocab,)), Spec(int32, ())


@op("GenerateVocabRemapping", infer=_remapping, stateful=True, no_grad="places are integers")
def remapping(new_vocab_file: Text, old_vocab_file: Text, *, new_vocab_offset, num_new_vocab, old_vocab_size=-1):
    """Where entries of a vocabulary are in an older one, -1 if nowhere, and how many of them are.

    The files have a line for each entry; of the new one num_new_vocab lines from new_vocab_offset on count, of the old
    one the first old_vocab_size, -1 for all. -> int64[num_new_vocab], int32[].
    """
    old = _lines(old_vocab_file)[:None if old_vocab_size < 0 else old_vocab_size]
    places = {line: place for place, line in enumerate(old)}
    new = _lines(new_vocab_file)[new_vocab_offset:new_vocab_offset + num_new_vocab]
    if len(new) < num_new_vocab:
        raise InvalidArgumentError(expected=f"{num_new_vocab} lines from line {new_vocab_offset} on", found=len(new))
    found = np.array([places.get(line, -1) for line in new], np.int64)
    return outputs((found, np.int32(np.count_nonzero(found >= 0))))


def _matrix(ckpt_path, old_tensor_name, row_remapping, col_remapping, initializing_values, *, num_rows, num_cols,
            max_rows_in_memory):
    rank_of(row_remapping, exactly=1, what="row_remapping")
    rank_of(col_remapping, exactly=1, what="col_remapping")
    return Spec(float32, (num_rows, num_cols))


def _once(places, what):
    used = places[places >= 0]
    if len(np.unique(used)) < len(used):
        raise UnimplementedError(f"the same old {what} is for several new ones: {places.tolist()}")


@op("LoadAndRemapMatrix", infer=_matrix, stateful=True, no_grad="the values come from a file")
def load_and_remap_matrix(ckpt_path: Text, old_tensor_name: Text, row_remapping: Places, col_remapping: Places,
                          initializing_values: Floats, *, num_rows, num_cols, max_rows_in_memory=-1):
    """A checkpoint's matrix with its rows and columns taken by their places; -1 is a new one, from initializing_values.

    row_remapping: int64[num_rows]; col_remapping: int64[num_cols], or int64[0] for all columns as they are.
    -> float32[num_rows, num_cols]. Raises UnimplementedError for a place used twice.
    """
    reader, name = file_format("checkpoints").open_checkpoint(spelled(ckpt_path)), spelled(old_tensor_name)
    if name not in reader.entries:
        raise NotFoundError(f"Key {name} not found in checkpoint {spelled(ckpt_path)!r}")
    old = reader.read(name)
    columns = col_remapping if len(col_remapping) else np.arange(num_cols)
    for what, places, wanted, stored in (("row", row_remapping, num_rows, len(old)),
                                         ("column", columns, num_cols, old.shape[1])):
        _once(places, what)
        if len(places) != wanted or places.max(initial=-1) >= stored:
            raise InvalidArgumentError(expected=f"{wanted} places of {what}s below {stored}", found=places.tolist())
    there = (row_remapping >= 0)[:, None] & (columns >= 0)
    missing = there.size - np.count_nonzero(there)
    if initializing_values.size != missing:
        raise InvalidArgumentError(f"Expected {missing} initializing values for what is missing, found "
                                   f"{initializing_values.size}")
    made = np.empty((num_rows, num_cols), np.float32)
    made[~there] = initializing_values.ravel()
    made[there] = old[np.ix_(row_remapping[row_remapping >= 0], columns[columns >= 0])].ravel()
    return made
