"""Files are replaced whole or not at all, and read within bounds."""
from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autodiff.core.errors import DataLossError
from autodiff.files.checkpoint import Stored, data_path, write_bundle
from autodiff.files.checkpoints import open_checkpoint
from autodiff.files.disk import arrays
from autodiff.files.disk.arrays import arrays_in, read_arrays, write_arrays
from autodiff.files.disk.reading import open_file, read_text
from autodiff.files.disk.replacing import append, replace_file


def failing(file: Any) -> None:
    file.write(b"half")
    raise OSError(28, "No space left on device")


def test_what_was_there_stays_until_all_is_written(tmp_path: Path) -> None:
    file, link = tmp_path / "notes", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    with pytest.raises(OSError, match="No space"):
        replace_file(str(link), failing)
    assert file.read_text() == "old" and sorted(os.listdir(tmp_path)) == ["link", "notes"]
    replace_file(str(link), lambda out: out.write(b"new"))
    assert file.read_text() == "new" and link.is_symlink() and stat.S_IMODE(file.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["link", "notes"]


def test_what_is_no_file_is_told_in_words(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # which nobody reads: opening it would wait
    words = {tmp_path: "it is a directory", f"{tmp_path}/": "it is a directory", "/dev/full": "No space left",
             tmp_path / "pipe": "No such device", tmp_path / "a" / "b": "No such file"}
    for path, expected in words.items():
        for act in (lambda path: replace_file(path, lambda out: out.write(b"x")), lambda path: append(path, b"x")):
            with pytest.raises(OSError) as caught:
                act(str(path))
            assert expected in caught.value.strerror
    replace_file("/dev/null", lambda out: out.write(b"x"))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode) and os.listdir(tmp_path) == ["pipe"]
    with pytest.raises(OSError, match="no file, but a device"):
        open_file("/dev/zero")
    with pytest.raises(OSError, match="at most 1 MB"):
        read_text("/dev/zero", 1 << 20)


AS_OTHERS = """
import os, sys
from autodiff.files.disk.replacing import append, replace_file
if os.geteuid() == 0: os.setuid(65534)
for act in (lambda path: replace_file(path, lambda out: out.write(b'x')), lambda path: append(path, b'x')):
    try: act(sys.argv[1])
    except OSError as error: print(error.strerror)
try: replace_file(sys.argv[2], lambda out: out.write(b'x'))
except OSError as error: print(error.strerror)
"""


def test_files_of_others_and_what_is_printed_into_stay() -> None:
    """A folder that everybody may write in is no leave to take the place of another's file in it."""
    with tempfile.TemporaryDirectory() as folder:
        theirs, printed = Path(folder) / "theirs", Path(folder) / "printed"
        theirs.write_text("old")
        theirs.chmod(0o444 if os.geteuid() else 0o666)
        os.chmod(folder, 0o777)
        with open(printed, "wb") as out:
            subprocess.run([sys.executable, "-c", AS_OTHERS, str(theirs), str(printed)], stdout=out, check=True,
                           timeout=60, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])})
        *said, own = printed.read_text().splitlines()
        assert own == "what this program prints goes there" and len(said) == 2
        assert set(said) <= {"it belongs to another user", "Permission denied"} and theirs.read_text() == "old"


def test_arrays_come_back_whatever_their_names(tmp_path: Path) -> None:
    made = {"file": np.arange(3), "scope/w:0": np.asfortranarray(np.eye(3)), "allow_pickle": np.zeros((0, 2))}
    replace_file(str(tmp_path / "a.npz"), lambda out: write_arrays(out, made))
    found = read_arrays(str(tmp_path / "a.npz"))
    assert list(found) == list(made)
    for name, array in made.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].flags.f_contiguous == array.flags.f_contiguous and found[name].flags.writeable
    with pytest.raises(ValueError):
        write_arrays(io.BytesIO(), {"objects": np.array([{}])})


def archive(path: Path, header: dict[str, Any], data: bytes = b"", packing: int = zipfile.ZIP_STORED) -> None:
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f4", "fortran_order": False, **header})
    with zipfile.ZipFile(path, "w", packing) as out:
        out.writestr("a.npy", head.getvalue() + data)


LIES: dict[str, Callable[[Path], Any]] = {
    "says 2e9 elements": lambda path: archive(path, {"shape": (2_000_000_000,)}),
    "unpacks to a hundred times more": lambda path: archive(path, {"shape": (1 << 20,)}, bytes(1 << 22),
                                                            zipfile.ZIP_DEFLATED),
    "elements without a size": lambda path: archive(path, {"shape": (1 << 40,), "descr": "|S0"}),
    "a negative shape": lambda path: archive(path, {"shape": (-4, -1)}, bytes(16)),
    "Python objects": lambda path: archive(path, {"shape": (2,), "descr": "|O"}, bytes(16)),
    "packed otherwise": lambda path: archive(path, {"shape": (4,)}, bytes(16), zipfile.ZIP_LZMA),
    "a plain array": lambda path: path.write_bytes(b"\x93NUMPY\x01\0"),
    "nothing": lambda path: path.write_bytes(b""),
}


@pytest.mark.parametrize("lie", LIES)
def test_archives_are_refused_by_what_they_say(lie: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    LIES[lie](tmp_path / "a.npz")
    monkeypatch.setattr(arrays, "_SMALL", 1 << 16)
    monkeypatch.setattr(np.lib.format, "read_array", lambda *_, **__: pytest.fail("memory was taken"))
    with pytest.raises(DataLossError, match=r"a\.npz: "):
        read_arrays(str(tmp_path / "a.npz"))


def test_a_checkpoint_whose_writer_died_between_its_files_is_the_new_one(tmp_path: Path) -> None:
    prefix = str(tmp_path / "model")
    for number in (1, 2, 3):
        write_bundle(prefix, {"w": Stored("float32", np.full(4, number, np.float32))})
        if number == 1:
            old = Path(prefix + ".index").read_bytes()
        if number == 2:  # as it is after the first move
            os.replace(prefix + ".index", prefix + ".index.part-12345678")
            Path(prefix + ".index").write_bytes(old)
        assert open_checkpoint(prefix).read("w").tolist() == [number] * 4
    assert sorted(os.listdir(tmp_path)) == ["model.data-00000-of-00001", "model.index"]
    assert os.path.exists(data_path(prefix, 0, 1))


def test_what_two_add_at_once_is_all_there(tmp_path: Path) -> None:
    def add(who: str) -> None:
        for i in range(100):
            append(str(tmp_path / "history"), f"{who} {i} ".encode() + b"x" * 5000 + b"\n")

    threads = [threading.Thread(target=add, args=(who,)) for who in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    lines = (tmp_path / "history").read_text().splitlines()
    assert sorted(line.rstrip("x ") for line in lines) == sorted(f"{who} {i}" for who in "ab" for i in range(100))


def test_one_thread_at_a_time_has_numpy_parse_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two at once may break Python 3.11's parser: "AST constructor recursion depth mismatch"."""
    inside, most, read = [], [], np.lib.format.read_magic

    def counted(file: io.BytesIO) -> tuple[int, int]:
        inside.append(1)
        time.sleep(2e-3)
        most.append(len(inside))
        inside.pop()
        return read(file)

    written = io.BytesIO()
    write_arrays(written, {"a": np.ones(3), "b": np.ones(2)})
    data = written.getvalue()
    monkeypatch.setattr(np.lib.format, "read_magic", counted)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: arrays_in(io.BytesIO(data), len(data)), range(4)))
    assert max(most) == 1
    assert all(each["b"].tolist() == [1, 1] for each in found)
