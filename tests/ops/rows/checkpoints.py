"""Rows of what a stored graph's `save` and `restore` are made of; tests/files has what the files hold."""

import tempfile
from pathlib import Path

import numpy as np

from autodiff.core.errors import InvalidArgumentError, NotFoundError

from ..case import Case, array

MODEL = str(Path(__file__).parents[2] / "files" / "fixtures" / "checkpoint" / "model-1")
FOLDER = tempfile.TemporaryDirectory()


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
    Case("ShardedFilename", ("model", np.int32(1), np.int32(3))),
]
