"""Rows of bytes as numbers, and of examples; tests/api/test_records_api.py has what TensorFlow wrote."""

import tempfile
from pathlib import Path

import numpy as np

from autodiff.core.errors import InvalidArgumentError, NotFoundError
from autodiff.files.example_messages import EXAMPLE_MESSAGES
from autodiff.files.tensor_values import proto_of_array

from ..case import Case

FOLDER = tempfile.TemporaryDirectory()
HERE = str(Path(__file__))


def texts(*found: bytes) -> np.ndarray:
    whole = np.empty(len(found), object)
    whole[:] = found
    return whole


def example(**features: list) -> bytes:
    kinds = {int: "int64_list", float: "float_list", bytes: "bytes_list"}
    return EXAMPLE_MESSAGES["Example"](features={"feature": {
        key: {kinds[type(values[0])]: {"value": values}} for key, values in features.items()}}).SerializeToString()


ONE, TWO = example(a=[1, 2], b=[0.5]), example(a=[3, 4], b=[1.5, 2.5])
BATCH = {"Nsparse": 1, "Ndense": 1, "sparse_types": ("float32",), "Tdense": ("int64",), "dense_shapes": ((2,),)}
SINGLE = {"num_sparse": 1, "sparse_keys": ("b",), "dense_keys": ("a",), "sparse_types": ("float32",),
          "Tdense": ("int64",), "dense_shapes": ((2,),)}
SEQUENCE = EXAMPLE_MESSAGES["SequenceExample"](feature_lists={"feature_list": {
    "n": {"feature": [{"int64_list": {"value": [1, 2]}}]}}}).SerializeToString()
SEQUENCES = {"Ncontext_sparse": 0, "Ncontext_dense": 0, "Nfeature_list_sparse": 0, "Nfeature_list_dense": 1,
             "context_sparse_types": (), "Tcontext_dense": (), "feature_list_dense_types": ("int64",),
             "context_dense_shapes": (), "feature_list_sparse_types": (), "feature_list_dense_shapes": ((2,),)}
NONE = np.empty(0, np.int64)

ROWS: list[Case] = [
    Case("DecodeRaw", (texts(b"\1\0\2\0", b"\3\0\4\1"),), {"out_type": "int16"}),
    Case("DecodeRaw", (texts(b"\1\0\2"),), {"out_type": "int16"}, fails=InvalidArgumentError, at_run=True, id="odd"),
    Case("DecodePaddedRaw", (texts(b"\1\0\2\0", b"\3"), 2), {"out_type": "int16"}),
    Case("DecodePaddedRaw", (texts(b"\1\0\2"), 3), {"out_type": "int16"}, fails=InvalidArgumentError, at_run=True,
         id="odd"),
    Case("DecodeJSONExample", (texts(b'{"features": {}}'),)),
    Case("DecodeJSONExample", (texts(b"{]"),), fails=InvalidArgumentError, at_run=True, id="syntax"),
    Case("SerializeTensor", (np.int32([[1, 2, 3]]),)),
    Case("ParseTensor", (proto_of_array("float32", np.ones(3, np.float32)).SerializeToString(),),
         {"out_type": "float32"}),
    Case("ParseTensor", (proto_of_array("float32", np.ones(3, np.float32)).SerializeToString(),),
         {"out_type": "int32"}, fails=InvalidArgumentError, at_run=True, id="dtype"),
    Case("ReadFile", (HERE,)),
    Case("ReadFile", ("no/such",), fails=NotFoundError, at_run=True, id="file"),
    Case("WriteFile", (f"{FOLDER.name}/x", b"text")),
    Case("WriteFile", ("/dev/null/folder", b"text"), fails=NotFoundError, at_run=True, id="folder"),
    Case("MatchingFiles", (HERE[:-3] + "*",)),
    Case("ParseExample", (texts(ONE, TWO), texts(), "b", "a", NONE), BATCH),
    Case("ParseExample", (texts(ONE, example(b=[0.5])), texts(), "b", "a", NONE), BATCH, fails=InvalidArgumentError,
         at_run=True, id="missing"),
    Case("ParseExample", (texts(ONE, example(a=[1], b=[0.5])), texts(), "b", "a", NONE), BATCH,
         fails=InvalidArgumentError, at_run=True, id="length"),
    Case("ParseSingleExample", (ONE, NONE), SINGLE),
    Case("ParseSingleExample", (example(a=[0.5], b=[0.5]), NONE), SINGLE, fails=InvalidArgumentError, at_run=True,
         id="dtype"),
    Case("ParseSingleSequenceExample", (SEQUENCE, texts(), "n", b""), SEQUENCES),
    *(Case("ParseSequenceExample", (texts(SEQUENCE, SEQUENCE), texts()), {
        **SEQUENCES, "feature_list_dense_missing_assumed_empty": (), "context_sparse_keys": (),
        "context_dense_keys": (), "feature_list_sparse_keys": (), "feature_list_dense_keys": (key,)}, **fails)
      for key, fails in {
            "n": {}, "m": {"fails": InvalidArgumentError, "at_run": True, "id": "missing"}}.items()),
    Case("ParseSingleSequenceExample", (SEQUENCE, texts(), "m", b""), SEQUENCES, fails=InvalidArgumentError,
         at_run=True, id="missing"),
]
