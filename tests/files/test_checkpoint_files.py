"""Checkpoints of version 2, their tables and checksums: TensorFlow's are read, ours are what TensorFlow reads."""

from pathlib import Path

import numpy as np
import pytest

from autodiff.core.errors import AutodiffError, DataLossError, NotFoundError
from autodiff.files.checkpoint import BundleReader, Part, Stored, write_bundle
from autodiff.files.checkpoint_messages import WHOLE, slice_key
from autodiff.files.checkpoints import open_checkpoint
from autodiff.files.crc32c import crc32c, mask
from autodiff.files.sstable import decompress, read_table, write_table

FIXTURES = Path(__file__).parent / "fixtures"
MODEL = FIXTURES / "checkpoint" / "model-1"


def test_what_tensorflow_wrote_is_read() -> None:
    reader = BundleReader(str(MODEL))
    assert reader.dtypes() == {
        "beta1_power": "float32", "beta2_power": "float32", "brain": "bfloat16", "byte": "uint8",
        "complex": "complex64", "empty": "float32", "flag": "bool", "global_step": "int64", "half": "float16",
        "part": "float32", "resource": "float64", "text": "string",
        "w": "float32", "w/Adam": "float32", "w/Adam_1": "float32"}
    assert reader.shapes()["empty"] == [0, 3]
    expected = {"brain": [1.5, -2.25, 3.140625], "byte": [200, 3], "complex": [1 + 2j], "empty": [],
                "flag": [True, False, True], "global_step": 1, "half": [1.5, -2], "resource": 2.5,
                "part": np.arange(14.0).reshape(7, 2).tolist(), "text": [b"a", b"", b"h\xc3\xa9llo\x00"]}
    assert {name: reader.read(name).tolist() for name in expected} == expected
    gradient = np.arange(12, dtype=np.float32).reshape(3, 4) / 4  # of the sum of squares, before the step
    np.testing.assert_allclose(reader.read("w/Adam"), 0.1 * gradient, rtol=1e-6)


def test_the_version_before_is_read() -> None:
    reader = open_checkpoint(FIXTURES / "old_checkpoint" / "model.ckpt")
    assert reader.shapes() == {"flag": [2], "n": [], "part": [7, 2], "text": [2], "w": [2, 3]}
    assert reader.dtypes() == {"flag": "bool", "n": "int64", "part": "float32", "text": "string", "w": "float32"}
    expected = {"flag": [True, False], "n": 9, "part": np.arange(14.0).reshape(7, 2).tolist(), "text": [b"a", b"bc"],
                "w": [[0, 1, 2], [3, 4, 5]]}
    assert {name: reader.read(name).tolist() for name in expected} == expected


def copied(folder: Path) -> BundleReader:
    """The checkpoint that TensorFlow wrote, written once more by us."""
    found = BundleReader(str(MODEL))
    tensors: dict = {name: Stored(dtype, found.read(name)) for name, dtype in found.dtypes().items()}
    rows = found.read("part")
    tensors["part"] = [Stored("float32", rows[begin:end], Part((7, 2), (begin, 0)))
                       for begin, end in ((0, 3), (3, 5), (5, 7))]
    write_bundle(str(folder / "copy"), tensors)
    return BundleReader(str(folder / "copy"))


def test_what_is_written_is_byte_for_byte_what_tensorflow_wrote(tmp_path: Path) -> None:
    copied(tmp_path)
    for suffix in (".index", ".data-00000-of-00001"):
        assert (tmp_path / f"copy{suffix}").read_bytes() == Path(f"{MODEL}{suffix}").read_bytes()


def test_a_damaged_file_is_refused_whatever_the_damage(tmp_path: Path) -> None:
    random = np.random.RandomState(0)
    copied(tmp_path)
    for suffix in (".index", ".data-00000-of-00001"):
        path = tmp_path / f"copy{suffix}"
        good = path.read_bytes()
        for _ in range(60):
            damaged = bytearray(good)
            damaged[random.randint(len(good))] ^= 1 << random.randint(8)
            path.write_bytes(damaged if random.rand() < 0.7 else good[:random.randint(len(good))])
            with pytest.raises(AutodiffError):
                reader = BundleReader(str(tmp_path / "copy"))
                for name in reader.entries:
                    reader.read(name)
                raise DataLossError("only bytes that nobody reads were damaged")
        path.write_bytes(good)


def test_a_shard_that_is_not_there_is_named(tmp_path: Path) -> None:
    copied(tmp_path)
    (tmp_path / "copy.data-00000-of-00001").unlink()
    with pytest.raises(NotFoundError, match="copy.data-00000-of-00001; No such file.*\nit holds 'w'"):
        BundleReader(str(tmp_path / "copy")).read("w")


def test_a_foreign_file_is_named_by_the_format_that_was_expected(tmp_path: Path) -> None:
    (tmp_path / "x.index").write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(DataLossError, match="expected a table .sstable."):
        BundleReader(str(tmp_path / "x"))


@pytest.mark.parametrize("count", [0, 1, 17, 9000])
def test_tables_of_any_size_come_back(count: int) -> None:
    entries = {f"layer_{i:05d}/kernel".encode(): bytes([i % 256]) * (i % 70) for i in range(count)}
    assert read_table(write_table(entries.items()), "table") == entries


def test_checksums_are_the_published_ones() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E
    assert mask(0) == 0xA282EAD8


@pytest.mark.parametrize("size", [4095, 4096, 4097, 70_003, 1_000_000])
def test_lanes_give_what_one_byte_after_the_other_gives(size: int) -> None:
    data = np.random.RandomState(size).bytes(size)
    crc = 0
    for at in range(0, size, 4000):  # so short that the lanes do not come in
        crc = crc32c(data[at:at + 4000], crc)
    assert crc32c(data) == crc
    assert crc32c(data[999:], crc32c(data[:999])) == crc


def test_snappy_of_its_description() -> None:
    """A literal, then copies with one, two and four bytes of offset; the second overlaps itself."""
    data = b"".join([bytes([26, 3 << 2]), b"abcd", bytes([0x01, 4]), bytes([(11 << 2) | 2, 2, 0]),
                     bytes([(5 << 2) | 3, 20, 0, 0, 0])])
    assert decompress(data, 100) == b"abcdabcd" + b"cd" * 6 + b"abcdab"
    for damaged in (data[:-1], data[:4], bytes([255, 255, 255, 255, 15]), bytes([4, 0x01, 9])):
        with pytest.raises(DataLossError):
            decompress(damaged, 100)


@pytest.mark.parametrize(("extents", "key"), [
    ([(0, 3), (0, WHOLE)], "00 70 00 01 01 02 80 83 80 7f"),
    ([(64, 200), (0, 1 << 20)], "00 70 00 01 01 02 c040 c0c8 80 f0100000")])
def test_keys_of_parts_sort(extents: list[tuple[int, int]], key: str) -> None:
    assert slice_key("p", extents) == bytes.fromhex(key)
