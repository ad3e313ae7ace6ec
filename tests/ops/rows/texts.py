"""Rows of ops on strings; tests/api/test_strings.py has what TensorFlow gives."""

import numpy as np
from autodiff.errors import ArgumentError, InvalidArgumentError, ShapeError

from ..case import Case, array
from .bytes import texts

WORDS, TABLE = texts(b" Ab c ", "dÉ".encode()), texts(b"a", b"b", b"c", b"d", b"e", b"f").reshape(2, 3)

ROWS: list[Case] = [
    Case("StringLower", (WORDS,)),
    Case("StringUpper", (WORDS,), {"encoding": "utf-8"}),
    Case("StringStrip", (WORDS,)),
    Case("StringLength", (WORDS,), {"unit": "UTF8_CHAR"}),
    Case("StringLength", (WORDS,), {"unit": "WORD"}, fails=ArgumentError, id="unit"),
    Case("Substr", (TABLE, np.int32([0, -1, 1]), np.int32([1, 2, 3]))),
    Case("Substr", (WORDS, np.int32(9), np.int32(1)), fails=InvalidArgumentError, at_run=True, id="beyond"),
    Case("Substr", (WORDS, np.int32([1]), np.int32(1)), fails=ShapeError, id="shapes"),
    Case("RegexReplace", (WORDS, "[bc]", "-")),
    Case("RegexReplace", (WORDS, "[", "-"), fails=InvalidArgumentError, at_run=True, id="pattern"),
    Case("RegexFullMatch", (WORDS, "d.")),
    Case("EncodeBase64", (WORDS,)),
    Case("DecodeBase64", (texts(b"aGVsbG8"),)),
    Case("DecodeBase64", (texts(b"aGVs?G8"),), fails=InvalidArgumentError, at_run=True, id="character"),
    Case("AsString", (array(2, 3),), {"precision": 2}),
    Case("AsString", (array(2, 3),), {"scientific": True, "shortest": True}, fails=InvalidArgumentError, at_run=True,
         id="both"),
    Case("StringToNumber", (texts(b" 1.5", b"-2e3"),), {"out_type": "float32"}),
    Case("StringToNumber", (texts(b"one"),), {"out_type": "float32"}, fails=InvalidArgumentError, at_run=True,
         id="word"),
    Case("StringToHashBucketFast", (WORDS,), {"num_buckets": 10}),
    Case("StringToHashBucketFast", (WORDS,), {"num_buckets": 0}, fails=ArgumentError, id="none"),
    Case("StringToHashBucketStrong", (WORDS,), {"num_buckets": 10, "key": (1, 2)}),
    Case("StringToHashBucketStrong", (WORDS,), {"num_buckets": 10, "key": (1,)}, fails=InvalidArgumentError,
         at_run=True, id="key"),
    Case("StringToHashBucket", (WORDS,), {"num_buckets": 10}),
    Case("StringJoin", (WORDS, b"-", WORDS), {"separator": "+"}),
    Case("StringJoin", (WORDS, TABLE), fails=ShapeError, id="shapes"),
    Case("ReduceJoin", (TABLE, np.int32([0, 1])), {"separator": "."}),
    Case("ReduceJoin", (TABLE, np.int32([1])), {"keep_dims": True}, id="kept"),
    Case("ReduceJoin", (TABLE, np.int32([2])), fails=ArgumentError, id="axis"),
    Case("UnsortedSegmentJoin", (TABLE, np.int32([1, 1]), np.int32(3)), {"separator": "."}),
    Case("UnsortedSegmentJoin", (TABLE, np.int32([1, 3]), np.int32(3)), fails=InvalidArgumentError, at_run=True,
         id="number"),
    Case("StringSplit", (WORDS, " ")),
    Case("StringSplit", (TABLE, " "), fails=ShapeError, id="rank"),
    Case("StringSplitV2", (WORDS, "")),
    Case("StringFormat", (array(2, 3), TABLE), {"template": "{} and {}", "placeholder": "{}", "summarize": 1}),
    Case("StringFormat", (array(2, 3),), {"template": "", "placeholder": "{}"}, fails=ArgumentError, id="places"),
]
