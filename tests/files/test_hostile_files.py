"""Hostile files: whatever the bytes say, memory stays in proportion to them, and one error says what is wrong."""

import io
import struct
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from autodiff.core.errors import AutodiffError
from autodiff.files.checkpoint import BundleReader
from autodiff.files.crc32c import mask, masked_crc32c
from autodiff.files.graph_messages import GRAPH_MESSAGES
from autodiff.files.protobuf_text import parse_message
from autodiff.files.protobuf_wire import write_varint
from autodiff.files.record_file import read_records
from autodiff.files.sstable import decompress, read_table, write_table
from autodiff.files.tensor_values import array_of_proto

FIXTURES = Path(__file__).parent / "fixtures"
GraphDef, TensorProto = GRAPH_MESSAGES["GraphDef"], GRAPH_MESSAGES["TensorProto"]
HUGE = write_varint(1 << 60)


def peak_of(act: Callable[[], object]) -> int:
    """The most bytes that were held at once while something was refused, or done."""
    tracemalloc.start()
    try:
        act()
    except AutodiffError:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak


def shaped(size: int, **values: list) -> object:
    return TensorProto(dtype=1, tensor_shape={"dim": [{"size": size}, {"size": size}]}, **values)


def with_footer(index: bytes) -> bytes:
    return index.ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57)


LIES = {
    "a field of 2**60 bytes": lambda: GraphDef.FromString(b"\x0a" + HUGE + b"x"),
    "a packed list without an end": lambda: TensorProto.FromString(b"\x3a" + HUGE),
    "a tensor of 2**60 elements": lambda: array_of_proto(shaped(1 << 30, float_val=[1.0])),
    "a tensor of none": lambda: array_of_proto(shaped(1 << 30)),
    "a record of 2**60 bytes": lambda: list(read_records(io.BytesIO(
        (head := struct.pack("<Q", 1 << 60)) + struct.pack("<I", masked_crc32c(head)) + b"x" * 20), "f")),
    "a compressed record of 2**60 bytes": lambda: list(read_records(io.BytesIO(zlib.compress(
        (head := struct.pack("<Q", 1 << 60)) + struct.pack("<I", masked_crc32c(head)) + b"x" * 20)), "f", "ZLIB")),
    "snappy of 2**60 bytes": lambda: decompress(HUGE + b"\0", 1 << 26),
    "snappy that refers far back": lambda: decompress(write_varint(1 << 20) + b"\0a" + b"\xfe\xff\xff" * 10, 1 << 26),
    "a table whose blocks are far off": lambda: read_table(with_footer(HUGE * 4), "table"),
    "a table of a huge block": lambda: read_table(with_footer(b"\0" + HUGE + b"\0" + HUGE), "table"),
    "a text of open brackets": lambda: parse_message("library { function { signature { " * 2000, GraphDef()),
    "a text of one long token": lambda: parse_message("node { name: '" + "x" * 100_000, GraphDef()),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_small_file_that_lies_takes_little_memory(lie: str) -> None:
    assert peak_of(LIES[lie]) < 4_000_000


def test_an_index_that_lies_takes_little_memory(tmp_path: Path) -> None:
    """Entries far outside of the data, and shapes far beyond it, with checksums that are right."""
    entry = GRAPH_MESSAGES["TensorShapeProto"](dim=[{"size": 1 << 40}]).SerializeToString()
    lying = b"\x08\x01\x12" + write_varint(len(entry)) + entry + b"\x20" + write_varint(1 << 40) + b"\x28" + HUGE
    lying += b"\x35" + struct.pack("<I", mask(0))
    parts = b"\x08\x01\x12" + write_varint(len(entry)) + entry + b"\x3a\x02\x0a\x00"
    (tmp_path / "x.index").write_bytes(write_table([(b"", b"\x08\x01"), (b"a", lying), (b"b", parts)]))
    (tmp_path / "x.data-00000-of-00001").write_bytes(b"1234")
    reader = BundleReader(str(tmp_path / "x"))
    for name in ("a", "b"):
        assert peak_of(lambda name=name: reader.read(name)) < 1_000_000
        with pytest.raises(AutodiffError):
            reader.read(name)


def test_damaged_graphs_take_memory_in_proportion() -> None:
    good = (FIXTURES / "graphs" / "recurrent.pb").read_bytes()
    random = np.random.RandomState(1)
    for _ in range(40):
        damaged = bytearray(good)
        for at in random.randint(0, len(good), 5):
            damaged[at] = random.randint(256)
        assert peak_of(lambda data=bytes(damaged): GraphDef.FromString(data)) < 200 * len(good)
