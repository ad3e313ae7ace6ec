"""Past steps on disk: only where asked for, read back to the bit, and gone at the end."""
from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from autodiff.errors import ArgumentError, StateError

import autodiff as tf
from autodiff.debug import Debugger
from autodiff.debug.history import disk_cache
from cli.language.interpreter import execute
from cli.model.results import error_in
from cli.model.shell import Shell
from cli.view.render import plain

from ..expect import expect_run
from .test_ring import noisy

MODEL = """
import numpy as np
import tensorflow.compat.v1 as tf

x = tf.placeholder(tf.float32, [None, 50], name="x")
w = tf.Variable(tf.zeros([50, 20]), name="w")
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1), name="loss")
step = tf.train.AdamOptimizer(0.01).minimize(loss)
rng = np.random.RandomState(0)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(60):
        session.run([loss, step], {x: rng.rand(8, 50)})
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    made = tmp_path / "temporary"
    made.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(made))
    return made


def small(steps: int, limit: int, budget: int = 900) -> tuple[Debugger, list[Any], list[Any]]:
    """A noisy model of which memory holds a few steps only; what steps began with, and what they gave."""
    dbg, session, named = noisy()
    dbg.state.budget = budget
    dbg.history.spill(limit)
    rng = np.random.default_rng(2)
    before, given = [], []
    for _ in range(steps):
        before.append(dict(session.variables))
        feeds = {named["x"]: rng.standard_normal((4, 3)).astype(np.float32)}
        given.append(dbg.on_run(session, [named["loss"], named["h"], named["step"]], feeds)[0][:2])
    return dbg, before, given


def test_steps_on_disk_are_those_that_were(folder: Path) -> None:
    dbg, before, given = small(50, 1 << 20)
    at = dbg.history.position
    assert at.kept == 50 and at.first.run == 1 and at.on_disk > 30 and at.bytes <= dbg.state.budget
    files = list(folder.glob("gradbg-*/*.npz"))
    assert files and at.disk_bytes == sum(file.stat().st_size for file in files)
    for step in [*range(50, 0, -7), *range(1, 51)]:
        expect_run(dbg, step, before[step - 1], given[step - 1])
    dbg.history.goto(2)
    np.testing.assert_array_equal(dbg.evaluate("loss").array, given[1][0])
    assert dbg.history.back().at.step == 1 and dbg.stepper.cursor is None and dbg.stepper.replay().at.step == 1


def test_the_oldest_go_when_the_disk_s_share_is_full(folder: Path) -> None:
    dbg, before, _ = small(60, 16_000)
    at = dbg.history.position
    assert 0 < at.on_disk < 50 and at.disk_bytes <= 16_000 and at.kept == 61 - at.first.run
    np.testing.assert_array_equal(dict(dbg.state.moment(at.first.run).variables)["w"], before[at.first.run - 1]["w"])
    assert dbg.history.spill(8_000).disk_bytes <= 8_000
    left = dbg.history.position
    assert left.first.run > at.first.run and left.kept - left.on_disk == at.kept - at.on_disk
    dbg.history.goto(run=left.first.run)
    at = dbg.history.spill(0)
    assert at.is_present and at.on_disk == at.disk_limit == 0 and at.folder == "" and at.kept < left.kept
    assert list(folder.iterdir()) == []


def test_nothing_is_on_disk_unless_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "mkdtemp", lambda **_: pytest.fail("a folder was made"))
    dbg, before, _ = small(40, 0)
    assert dbg.history.position.kept < 40 and dbg.history.position.on_disk == 0 and list(folder.iterdir()) == []


def test_a_full_disk_is_told_once_and_the_session_lives(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, left = disk_cache.write_arrays, [2]

    def full(file: Any, arrays: Any) -> None:
        if not left[0]:
            file.write(b"some")
            raise OSError(errno.ENOSPC, "No space left on device")
        left[0] -= 1
        write(file, arrays)

    monkeypatch.setattr(disk_cache, "write_arrays", full)
    dbg, before, given = small(60, 1 << 20)
    notes = [note for record in dbg.records for note in record.notes]
    assert len(notes) == 1 and "No space left on device" in notes[0] and "in memory only" in notes[0]
    at = dbg.history.position
    assert at.on_disk == 0 and at.kept == 61 - at.first.run < 30 and list(folder.iterdir()) == []
    np.testing.assert_array_equal(dbg.value("loss", step=at.first.run).array, given[at.first.run - 1][0])


def test_a_folder_that_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    dbg = noisy()[0]
    with pytest.raises(ArgumentError, match="no runs can be put on disk: No such file"):
        dbg.history.spill(1 << 20)
    with pytest.raises(ArgumentError, match="bytes"):
        dbg.history.spill(-1)
    assert dbg.history.position.disk_limit == 0


def test_a_file_that_is_gone_or_damaged_says_so(folder: Path) -> None:
    dbg, _, _ = small(50, 1 << 20)
    files = sorted(folder.glob("gradbg-*/*.npz"), key=lambda path: path.stat().st_mtime_ns)
    files[0].write_bytes(files[0].read_bytes()[:200])
    os.remove(files[1])
    for step in (1, dbg.history.position.on_disk):
        try:
            dbg.value("w", step=step)
        except StateError as error:
            assert "cannot be read any more" in error.message
    with pytest.raises(StateError, match="cannot be read any more"):
        dbg.value("w", step=1)
    dbg.value("w", step=50)
    dbg.history.spill(0)


def test_what_a_file_cannot_hold_stays_as_it_is(folder: Path) -> None:
    graph = tf.Graph()
    with graph.as_default():
        words = tf.placeholder(tf.string, [2], name="words")
        x = tf.placeholder(tf.float64, [40, 30], name="x")
        drawn = tf.py_func(lambda a: a + np.random.rand(), [x], tf.float64, name="drawn")
        joined = tf.identity(words, name="joined")
        total = tf.reduce_sum(tf.matmul(drawn, x, transpose_b=True), name="total")
    base = np.random.default_rng(0).random((60, 80))
    given = []
    with tf.Session(graph=graph) as session:
        dbg = Debugger(graph, session)
        dbg.state.budget = 30_000
        dbg.history.spill(1 << 24)
        for i in range(12):
            array = (base[:40, :30], np.asfortranarray(base[:40, :30]), base[::2, ::2][:40, :30])[i % 3]
            array = array if array.shape == (40, 30) else base[20:, 50:]
            given.append(dbg.on_run(session, [total, joined], {x: array + i, words: [b"a\0", b"\xff" * i]})[0])
        assert dbg.history.position.on_disk >= 6
        for step, (number, text) in enumerate(given, 1):
            assert dbg.value("total", step=step).array == number
            assert dbg.value("joined", step=step).array.tolist() == text.tolist()
    assert list(folder.glob("gradbg-*/*.npz"))


def test_at_the_prompt(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    shell = Shell()

    def typed(line: str) -> str:
        result = execute(line, shell)
        assert error_in(result) is None, plain(result)
        return plain(result)

    assert "ring.disk 0" in typed("set")
    for wrong in ("set ring.disk much", "set ring.disk -1"):
        assert error_in(execute(wrong, shell)) is not None
    assert "removed at the end" in typed("set ring.disk 1.5MB") and "1572864" in typed("set ring.disk")
    typed(f"load '{tmp_path / 'model.py'}'")
    shell.dbg.state.budget = 100_000
    typed("run")
    said = typed("info steps")
    assert "61 of 61, from run 1 (before step 1) on" in said and "on disk" in said and str(folder) in said
    assert "on disk" in typed("info memory")
    losses = [record.loss for record in shell.dbg.records]
    typed("goto run 2")
    assert float(shell.dbg.evaluate("loss").array) == losses[1]
    assert "differ" in typed("diff run 2 step 60")
    typed("goto step 60")
    assert "kept in memory only" in typed("set ring.disk 0") and not list(folder.iterdir())
    assert "none; set ring.disk 1GB" in typed("info steps")
    shell.close()


def test_the_folder_goes_with_the_process(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    look = "python __import__('os').listdir(__import__('tempfile').gettempdir())"
    command = [sys.executable, "-m", "cli", "-nx", "--batch", "-ex", "set ring.disk 1MB", "-ex", "next 9", "-ex", look]
    done = subprocess.run([*command, str(tmp_path / "model.py")], env={**os.environ, "TMPDIR": str(folder)}, timeout=60,
                          capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0 and "gradbg-" in done.stdout, done.stdout + done.stderr
    assert list(folder.iterdir()) == []
