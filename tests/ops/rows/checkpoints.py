"""Rows of what a stored graph's `save` and `restore` are made of; tests/files has what the files hold."""

import tempfile
from pathlib import Path

import numpy as np

from autodiff.core.errors import InvalidArgumentError, NotFoundError, UnimplementedError

from ..case import Case, array

MODEL = str(Path(__file__).parents[2] / "files" / "fixtures" / "checkpoint" / "model-1")
FOLDER = tempfile.TemporaryDirectory()
for _name, _words in ("new", "a b c d e f"), ("old", "d b x"):
    Path(FOLDER.name, _name).write_text("\n".join(_words.split()) + "\n")
NEW, OLD = f"{FOLDER.name}/new", f"{FOLDER.name}/old"


def texts(*found: str) -> np.ndarray:
    return np.array([text.encode() for text in found], object)


ROWS: list[Case] = [
    Case("RestoreV2", (MODEL, texts("w", "part"), texts("", "7 2 3,2:-")), {"dtypes": ("float32", "float32")}),
    Case("RestoreV2", (MODEL, texts("none"), texts("")), {"dtypes": ("float32",)}, fails=NotFoundError, at_run=True,
         id="key"),
    Case("RestoreV2", (MODEL, texts("w"), texts("")), {"dtypes": ("int32",)}, fails=InvalidArgumentError, at_run=True,
         id="dtype"),
    Case("RestoreV2", ("no/such", texts("w"), texts("")), {"dtypes": ("float32",)}, fails=NotFoundError, at_run=True,
         id="file"),
    Case("SaveV2", (f"{FOLDER.name}/x", texts("a", "b"), texts("", "4 2 1,3:-"), array(2, 3), array(3, 2))),
    Case("SaveV2", (f"{FOLDER.name}/no/such", texts("a"), texts(""), array(2)), fails=NotFoundError, at_run=True,
         id="folder"),
    Case("MergeV2Checkpoints", (texts(), f"{FOLDER.name}/merged")),
    Case("MergeV2Checkpoints", (texts("no/such"), f"{FOLDER.name}/merged"), fails=NotFoundError, at_run=True,
         id="file"),
    Case("GenerateVocabRemapping", (NEW, OLD), {"new_vocab_offset": 1, "num_new_vocab": 3, "old_vocab_size": 2}),
    Case("GenerateVocabRemapping", (NEW, OLD), {"new_vocab_offset": 4, "num_new_vocab": 3},
         fails=InvalidArgumentError, at_run=True, id="short"),
    Case("LoadAndRemapMatrix", (MODEL, "w", np.array([1, -1]), np.array([2, -1, 0, 1]), np.float32(array(5))),
         {"num_rows": 2, "num_cols": 4}),
    Case("LoadAndRemapMatrix", (MODEL, "w", np.array([1, 0]), np.zeros(0, np.int64), np.float32(array(0))),
         {"num_rows": 2, "num_cols": 4}, id="rows"),
    Case("LoadAndRemapMatrix", (MODEL, "w", np.array([1, -1]), np.array([2]), np.float32(array(3))),
         {"num_rows": 2, "num_cols": 1}, fails=InvalidArgumentError, at_run=True, id="values"),
    Case("LoadAndRemapMatrix", (MODEL, "w", np.array([1, 1]), np.array([2]), np.float32(array(0))),
         {"num_rows": 2, "num_cols": 1}, fails=UnimplementedError, at_run=True, id="twice"),
    Case("ShardedFilename", ("model", np.int32(1), np.int32(3))),
]
