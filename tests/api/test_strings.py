"""tf.strings gives what TensorFlow 1.15 gives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff as tf

S = ["Hello|World", "a b"]
LONG = ["q" * 128, "x" * 200, "y" * 40, "0123456789abcdefg", "abc", ""]

VALUES: list[tuple[Callable[[], Any], Any]] = [
    (lambda: tf.strings.reduce_join([["a", "b"], ["c", "d"]], [0, 1], separator="-"), b"a-c-b-d"),
    (lambda: tf.reduce_join([["a", "b"], ["c", "d"]]), b"abcd"),
    (lambda: tf.as_string([1.5, -2.0], precision=1, width=6), [b"   1.5", b"  -2.0"]),
    (lambda: tf.as_string([1 + 2j]), [b"(1.000000,2.000000)"]),
    (lambda: tf.as_string([True]), [b"true"]),
    (lambda: tf.strings.regex_replace(S, "([A-Z])", r"<\1>"), [b"<H>ello|<W>orld", b"a b"]),
    (lambda: tf.regex_replace(S, tf.constant("l"), "", replace_global=False), [b"Helo|World", b"a b"]),
    (lambda: tf.strings.regex_full_match(S, "a.*"), [False, True]),
    (lambda: tf.string_split(S, "| ").values, [b"Hello", b"World", b"a", b"b"]),
    (lambda: tf.string_split(["ab"], "").indices, [[0, 0], [0, 1]]),
    (lambda: tf.strings.split(["a  b", ""]).dense_shape, [2, 2]),
    (lambda: tf.strings.format("{}", [tf.constant([1 / 3.0, 2.0, 1e10])]), b"[0.333333343 2 1e+10]"),
    (lambda: tf.strings.format("<{}>", tf.constant([[b"\xff'", b"b"]])), rb'<[["\377\'" "b"]]>'),
    (lambda: tf.strings.format("{}", tf.reshape(tf.range(8), [2, 4]), summarize=1), b"[[0 ... 3]\n [4 ... 7]]"),
    (lambda: tf.strings.to_hash_bucket_fast(S, 1000), [288, 877]),
    (lambda: tf.strings.to_hash_bucket_fast(LONG[:2], 1000), [130, 527]),
    (lambda: tf.strings.to_hash_bucket_strong(S, 1000, [1, 2]), [408, 600]),
    (lambda: tf.strings.to_hash_bucket(S, 1000), [118, 105]),
    (lambda: tf.substr("h\u00e9llo", -4, 2, unit="UTF8_CHAR"), "\u00e9l".encode()),
    (lambda: tf.decode_base64(tf.encode_base64("hi", pad=True)), b"hi"),
    (lambda: tf.strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 2, "+"), [b"b", b"a+c"]),
    (lambda: tf.strings.upper("\u00e9a"), "\u00e9A".encode()),
    (lambda: tf.strings.join([S, "!"], "-"), [b"Hello|World-!", b"a b-!"]),
    (lambda: tf.string_to_number([" 12 ", "0xF"]), [12.0, 15.0]),
]


@pytest.mark.parametrize("row", range(len(VALUES)))
def test_values(row: int) -> None:
    make, wanted = VALUES[row]
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(make())
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == wanted


def test_what_does_not_fit_is_refused() -> None:
    for words, make in ((r"2 placeholder\(s\) in template does not match 1", lambda: tf.strings.format("{} {}", [1])),
                        ('not in: "BYTE", "UTF8_CHAR"', lambda: tf.strings.length("a", unit="WORD")),
                        ("Invalid reduction dimension 2", lambda: tf.reduce_join([["a"]], 2)),
                        ("no ragged tensors", lambda: tf.strings.split(["a"], result_type="RaggedTensor"))):
        with tf.Graph().as_default(), pytest.raises((ValueError, AttributeError), match=words):
            make()
