"""tf.gfile: files read from their starts, whatever is written; places, sizes and modes as TensorFlow has them."""

import zlib
from pathlib import Path

import pytest

import autodiff as tf
from autodiff.tensorflow_names.python.util import file_io


def test_a_file_is_written_and_read_from_its_start(tmp_path: Path) -> None:
    name = str(tmp_path / "a.txt")
    with tf.gfile.GFile(name, "r+") as file:
        file.write("one\r\n")
        file.write("two ü".encode())
    assert (file.size(), file.tell(), file.readline(), file.tell(), list(file)) == (11, 0, "one\r\n", 5, ["two ü"])
    file.seek(position=5)
    assert file.read(3) == "two" and file.seekable()
    file.seek(-2, 2)
    assert (file.read(9), file.read()) == ("ü", "")
    with tf.gfile.GFile(name, "ab") as file:
        file.write("!")
        assert file.tell() == 12
    assert tf.gfile.GFile(name, "rb").readlines() == [b"one\r\n", "two ü!".encode()]
    found = tf.gfile.Stat(name)
    assert (found.length, found.is_directory) == (12, False) and tf.gfile.Stat(str(tmp_path)).is_directory
    assert found.mtime_nsec == Path(name).stat().st_mtime_ns


def test_what_a_mode_or_a_place_does_not_allow_is_refused(tmp_path: Path) -> None:
    name = str(tmp_path / "a.txt")
    file_io.write_string_to_file(name, "text")
    with pytest.raises(tf.errors.PermissionDeniedError, match="File isn't open for writing"):
        tf.gfile.GFile(name).write("x")
    with pytest.raises(tf.errors.PermissionDeniedError, match="File isn't open for reading"):
        tf.gfile.GFile(name, "w").read()
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode is not 'r' or 'w'"):
        tf.gfile.GFile(name, "x")
    for place in ((-1,), (0, 3)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.gfile.GFile(name).seek(*place)
    with pytest.raises(TypeError, match="offset argument required"):
        tf.gfile.GFile(name).seek()


def test_files_are_compared_and_summed(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in "abc"]
    for name, text in zip(names, ("one", "two", "two")):
        file_io.write_string_to_file(name, text)
    assert [file_io.filecmp(names[1], name) for name in names] == [False, True, True]
    assert file_io.file_crc32(names[1]) == file_io.file_crc32(names[2]) == hex(zlib.crc32(b"two"))
