"""A recording is looked at without the script; a cut loses one step; nothing in it is ever run."""
from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from autodiff.errors import ArgumentError, AutodiffError

import autodiff as tf
from autodiff.debug import Debugger
from autodiff.debug.history import recording
from autodiff.files.disk.arrays import read_arrays, write_arrays
from cli.language.interpreter import execute
from cli.model.results import error_in
from cli.model.shell import Shell
from cli.view.render import plain

STEPS = 5


def recorded(folder: Path) -> tuple[Debugger, str]:
    """A model with a branch, a loop, noise, a Python function and strings, recorded for five steps."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.Variable(np.linspace(-1, 1, 6).reshape(3, 2).astype(np.float32), name="w")
        fixed = tf.Variable(np.ones(1000, np.float32), name="fixed", trainable=False)
        h = tf.nn.dropout(tf.tanh(tf.matmul(x, w)), 0.7, name="h")
        h = tf.cond(tf.reduce_sum(h) > 0.0, lambda: h * 2.0, lambda: h * 3.0)
        h = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.sin(v) + 0.1), [0, h])[1]
        scale = tf.py_func(lambda: np.float32(np.random.rand()), [], tf.float32, name="scale")
        scale.set_shape([])
        loss = tf.reduce_mean(tf.square(h) * scale * tf.reduce_mean(fixed), name="loss")
    dbg = Debugger(graph, handles={"loss": loss, "w": w, "number": 3}, script="model.py")
    rng = np.random.default_rng(0)
    dbg.feed_from(lambda: {x: rng.standard_normal((4, 3))})
    dbg.train("loss", optimizer="momentum", lr=0.05)
    path = str(folder / "training.rec")
    dbg.record(path)
    dbg.watch("w")
    dbg.run(STEPS)
    return dbg, path


def opened(path: str) -> Debugger:
    dbg = Debugger()
    dbg.open_recording(path)
    return dbg


def test_every_tensor_of_every_step_is_there(tmp_path: Path) -> None:
    dbg, path = recorded(tmp_path)
    other = opened(path)
    assert [r.run for r in other.records] == [1, 2, 3, 4, 5]
    assert list(other.records) == list(dbg.records)
    for step in (1, 3, 5):
        for name in ("loss", "w", "x", "h/mul_1", "scale", "gradients/loss_grad/BroadcastTo"):
            np.testing.assert_array_equal(other.value(name, step=step).array, dbg.value(name, step=step).array)
    other.history.goto(2)
    dbg.history.goto(2)
    np.testing.assert_array_equal(other.grad("w").array, dbg.grad("w").array)
    assert other.grad("w").source == "the script's gradient call"
    place = other.op("loss").traceback[0]
    assert (place.file, place.line) == (dbg.op("loss").traceback[0].file, dbg.op("loss").traceback[0].line)
    assert other.y == "loss:0" and other.script().file == "model.py"
    assert other.why("w").kind in ("fine", "tiny", "zero")
    assert other.path("", "w").hops and other.stepper.goto("loss").op == "loss"


def test_after_an_evaluation_questions_go_to_the_last_training(tmp_path: Path) -> None:
    dbg, path = recorded(tmp_path)
    dbg.feed_from(dict)
    dbg.run(fetches=["w"])
    other = opened(path)
    assert [r.trains for r in other.records] == [True] * STEPS + [False]
    assert other.grads().rows == dbg.grads().rows and other.grads().at.step == STEPS
    assert other.why("w") == dbg.why("w")
    assert other.doctor().findings == dbg.doctor().findings


def test_unchanged_variables_are_written_once(tmp_path: Path) -> None:
    _, path = recorded(tmp_path)
    held = ["v:fixed.npy" in zipfile.ZipFile(file).namelist() for file in sorted(Path(path).glob("run-*.npz"))]
    assert held == [True, False, False, False, False]


def test_kept_steps_can_be_written_later(tmp_path: Path) -> None:
    dbg, _ = recorded(tmp_path)
    done = dbg.record(str(tmp_path / "some.rec"), slice(2, 4))
    assert (done.runs, done.goes_on) == (2, False)
    assert [r.run for r in opened(str(tmp_path / "some.rec")).records] == [2, 3]
    with pytest.raises(ArgumentError, match="none of these steps is kept"):
        dbg.record(str(tmp_path / "none.rec"), slice(90, 99))


def test_a_cut_loses_the_step_under_way_at_most(tmp_path: Path) -> None:
    _, path = recorded(tmp_path)
    last = sorted(Path(path).glob("run-*.npz"))[-1]
    last.with_suffix(".npz.part-12345678").write_bytes(last.read_bytes()[:100])
    last.unlink()
    assert [r.run for r in opened(path).records] == [1, 2, 3, 4]
    damaged = sorted(Path(path).glob("run-*.npz"))[-1]
    damaged.write_bytes(damaged.read_bytes()[:200])
    assert [r.run for r in opened(path).records] == [1, 2, 3]


def test_nothing_is_pickled_and_no_pickle_is_read(tmp_path: Path) -> None:
    _, path = recorded(tmp_path)
    for file in Path(path).glob("*.npz"):
        np.load(file, allow_pickle=False)

    class Evil:
        def __reduce__(self) -> Any:
            return (pytest.fail, ("a pickle was run",))

    np.savez(Path(path) / "graph.npz", **{"about.json": np.array([Evil()], dtype=object)})
    with pytest.raises(ArgumentError, match="cannot read"):
        opened(path)


@pytest.mark.parametrize("damage", [b"", b"not a zip", b"PK\x03\x04 half"])
def test_a_damaged_recording_is_one_clear_error(tmp_path: Path, damage: bytes) -> None:
    _, path = recorded(tmp_path)
    (Path(path) / "graph.npz").write_bytes(damage)
    with pytest.raises(AutodiffError):
        opened(path)


def test_a_recording_of_another_schema_is_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = recording.SCHEMA
    monkeypatch.setattr(recording, "SCHEMA", now - 1)
    _, path = recorded(tmp_path)
    monkeypatch.undo()
    with pytest.raises(ArgumentError, match=f"it has schema {now - 1}, expected {now}: record it anew$"):
        opened(path)


def test_folders_of_anything_else_are_not_touched(tmp_path: Path) -> None:
    dbg, _ = recorded(tmp_path)
    mine = tmp_path / "mine"
    mine.mkdir()
    for name in ("graph.npz", "weights.npz", "step-0000001.npz"):
        np.savez(mine / name, w=np.arange(3))
    before = {file.name: file.read_bytes() for file in mine.iterdir()}
    for path in (tmp_path, mine, mine / "weights.npz"):
        for overwrite in (False, True):
            with pytest.raises(ArgumentError, match="exists and is no recording"):
                dbg.record(str(path), overwrite=overwrite)
    (mine / "gradbg-recording.json").write_text("{}")  # even so, what a recording has not written stays
    with pytest.raises(ArgumentError, match="graph.npz' is not of a recording"):
        dbg.record(str(mine), overwrite=True)
    assert {name: (mine / name).read_bytes() for name in before} == before


def test_a_recording_is_replaced_only_when_that_is_asked_for(tmp_path: Path) -> None:
    dbg, path = recorded(tmp_path)
    weights = Path(path) / "weights.npz"
    np.savez(weights, w=np.arange(3))
    with pytest.raises(ArgumentError, match="already"):
        dbg.record(path, overwrite=True)  # the one under way
    dbg.recordings.stop()
    with pytest.raises(ArgumentError, match="is a recording already: runs 1 to 5, .* bytes"):
        dbg.record(path, slice(1, 3))
    assert len(opened(path).records) == 5
    shell = Shell(dbg)
    said = plain(execute(f"record '{path}' steps 1:3 --overwrite", shell))
    assert "replaced: runs 1 to 5" in said and "2 runs are in" in said
    assert [r.run for r in opened(path).records] == [1, 2] and weights.exists()


def test_a_recording_under_way_is_nobody_elses(tmp_path: Path) -> None:
    dbg, path = recorded(tmp_path)
    code = ("import sys; import autodiff as tf; from autodiff.debug import Debugger\n"
            "try: Debugger(tf.Graph()).record(sys.argv[1], overwrite=True)\n"
            "except ValueError as error: print(error)")
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])})
    assert "another gradbg is recording into" in done.stdout, done
    dbg.run(1)
    assert len(opened(path).records) == STEPS + 1


def test_a_full_disk_ends_the_recording_not_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dbg, path = recorded(tmp_path)
    before = sorted(os.listdir(path))

    def full(file: Any, arrays: Any) -> None:
        file.write(b"some")
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(recording, "write_arrays", full)
        done = dbg.run(3)
    assert len(done.records) == 3 and done.stop is None
    assert [record.notes for record in done.records] == [
        (f"recording stops: No space left on device; the 5 runs in {path} can be read",), (), ()]
    assert sorted(os.listdir(path)) == before and len(opened(path).records) == STEPS


def test_what_was_not_written_is_not_referred_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recorder whose writing failed once writes that step's values with the next."""
    dbg, _ = recorded(tmp_path)
    recorder = recording.Recorder(str(tmp_path / "other.rec"), dbg.model.graph, {"script": "", "y": ""}, {})
    with monkeypatch.context() as patch:
        patch.setattr(recording, "write_arrays", lambda *_: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(OSError):
            recorder.write(dbg.state.moments[3], dbg.records[3], 0)
    recorder.write(dbg.state.moments[4], dbg.records[4], 0)
    other = opened(str(tmp_path / "other.rec"))
    np.testing.assert_array_equal(other.value("fixed").array, np.ones(1000))
    assert other.value("loss").array == dbg.value("loss", step=5).array


def test_texts_come_back_to_the_byte(tmp_path: Path) -> None:
    graph = tf.Graph()
    with graph.as_default():
        words = tf.placeholder(tf.string, [None], name="words")
        tf.concat([words, tf.constant(["a\0", "\u00e9"])], 0, name="joined")
    dbg = Debugger(graph)
    dbg.record(str(tmp_path / "rec"))
    dbg.feed("words", np.array([b"\xff\0\0", b""], object))
    dbg.run(fetches="joined:0")
    assert opened(str(tmp_path / "rec")).value("joined").array.tolist() == [b"\xff\0\0", b"", b"a\0", "\u00e9".encode()]


def test_two_recordings_are_compared(tmp_path: Path) -> None:
    dbg, path = recorded(tmp_path)
    assert dbg.diff(path).first is None
    dbg.set("w", 0.5)
    dbg.recordings.stop()
    dbg.run(1)
    assert dbg.diff(path).first is not None


def test_at_the_prompt(tmp_path: Path) -> None:
    _, path = recorded(tmp_path)
    shell = Shell()
    assert "5 runs" in plain(execute(f"load '{path}'", shell))
    for line in ("back 2", "print loss", "grads", "why w", "info script", "info tensors /loss/", "goto loss", "rs",
                 "list loss"):
        assert error_in(execute(line, shell)) is None, (line, execute(line, shell))
    again = tmp_path / "again.rec"
    assert "2 runs" in plain(execute(f"record '{again}' steps 1:3", shell))
    assert error_in(execute(f"record '{again}'", shell)) is not None
    assert "from now on" in plain(execute(f"record '{again}' --overwrite", shell))
    assert "0 runs" in plain(execute("record off", shell))
    assert error_in(execute("record off", shell)) is not None


@pytest.mark.parametrize("line", ["load {0}", "source {0}"])
def test_a_device_without_an_end_is_refused(line: str) -> None:
    result = execute(line.format("/dev/zero"), Shell())
    assert error_in(result) is not None and "/dev/zero'" in plain(result), result


def test_a_recorded_place_in_a_device_shows_no_lines(tmp_path: Path) -> None:
    """Names of files in a recording are anybody's."""
    _, path = recorded(tmp_path)
    arrays = read_arrays(f"{path}/graph.npz")
    about = json.loads(arrays["about.json"].tobytes())
    for entry in about["ops"]:
        entry["frames"] = [["/dev/zero", 1, "f"]]
    arrays["about.json"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    with open(f"{path}/graph.npz", "wb") as file:
        write_arrays(file, arrays)
    dbg = opened(path)
    assert dbg.op("loss").traceback[0].text == "" and dbg.why("w").text
    with pytest.raises(ArgumentError, match="cannot read '/dev/zero'"):
        dbg.source("loss")
