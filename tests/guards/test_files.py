"""Files that are damaged, or made to harm: each is refused in words, or read; never a bug of ours, a hang, a flood."""
from __future__ import annotations

import io
import json
import random
import resource
import shutil
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.errors import AutodiffError
from autodiff.debug import Debugger
from autodiff.files.disk.arrays import write_arrays
from autodiff.files.record_file import pack_record, read_records
from autodiff.files.sstable import read_table, write_table
from cli.language.interpreter import execute
from cli.model.results import Error, Group, Result, error_in
from cli.model.shell import Shell
from cli.view.render import plain, to_json

from ..foreign.onnx_made import graph, model, node, value
from .conftest import Share
from .damage import damaged, rezipped, twisted, twisted_json

FIXTURES = Path(__file__).parents[1] / "files" / "fixtures"
LONGEST, LARGEST = 1.0, 1 << 30  # seconds of the processor, bytes

Harm = Callable[[bytes, random.Random], bytes]
Read = Callable[[str, random.Random], bool]  # whether a file was read; False if it was refused in words


# ---- what is damaged ----------------------------------------------------------------------
def fixture(name: str) -> Callable[[Path], str]:
    def made(folder: Path) -> str:
        source = FIXTURES / name
        if source.is_dir():
            shutil.copytree(source, folder / source.name)
        else:
            for path in source.parent.glob(source.stem + ".*"):
                shutil.copy(path, folder)
        return str(folder / source.name)
    return made


def meta_graph(folder: Path) -> str:
    shutil.copytree(FIXTURES / "checkpoint", folder, dirs_exist_ok=True)
    return str(folder / "model-1.meta")


def text_graph(folder: Path) -> str:
    (folder / "net.pbtxt").write_text(str(tf.GraphDef.FromString((FIXTURES / "graphs" / "loop.pb").read_bytes())))
    return str(folder / "net.pbtxt")


def onnx_model(folder: Path) -> str:
    nodes = [node("MatMul", ["x", "fc.weight"], ["h"], name="fc", trace='File "net.py", line 8, in forward\n  x'),
             node("Transpose", ["h"], ["t"], perm=[1, 0]), node("ReduceMean", ["t"], ["r"], keepdims=1),
             node("Reshape", ["h", "size"], ["f"]), node("Concat", ["f", "f"], ["c"], axis=0),
             node("Tanh", ["c"], ["y"])]
    made = graph(nodes, [value("x", np.float32, ("n", 2))], [value("y", np.float32, ("m", 2)), value("r")],
                 {"fc.weight": np.ones((2, 2), np.float32), "size": np.array([-1, 2])})
    (folder / "net.onnx").write_bytes(model(made))
    np.savez(folder / "net.npz", x=np.ones((3, 2), np.float32))
    return str(folder / "net.onnx")


def recording(folder: Path) -> str:
    with tf.Graph().as_default() as made:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.Variable(np.ones((2, 2), np.float32), name="w")
        h = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.matmul(x, w), lambda: tf.nn.dropout(x, 0.5))
        h = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, tf.sin(v)), [0, h])[1]
        loss = tf.reduce_mean(tf.square(h) + tf.py_func(lambda: np.float32(2), [], tf.float32), name="loss")
        tf.identity(tf.constant(["a", "b"]), name="words")
    dbg = Debugger(made, handles={"loss": loss, "w": w}, script="model.py")
    dbg.feed_from(lambda: {x: np.ones((2, 2), np.float32)})
    dbg.train("loss", lr=0.1)
    dbg.watch("w")
    dbg.record(str(folder / "rec"))
    dbg.run(2)
    dbg.recordings.stop()
    return str(folder / "rec")


def command_file(folder: Path) -> str:
    shutil.copy(Path(__file__).parents[2] / "scripts" / "commands" / "tour.gradbg", folder / "tour.gradbg")
    return str(folder / "tour.gradbg")


def table(data: bytes, chance: random.Random) -> bytes:
    """The index of a checkpoint with true checksums."""
    entries = read_table(data, "")
    key = chance.choice(list(entries))
    entries[key] = twisted(entries[key], chance)
    return write_table(sorted(entries.items()))


def records(data: bytes, chance: random.Random) -> bytes:
    found = list(read_records(io.BytesIO(data), ""))
    at = chance.randrange(len(found))
    found[at] = twisted(found[at], chance)
    return b"".join(map(pack_record, found))


def recorded_json(data: bytes, chance: random.Random) -> bytes:
    with np.load(io.BytesIO(data)) as archive:
        arrays = dict(archive)
    about = json.loads(arrays["about.json"].tobytes())
    arrays["about.json"] = np.frombuffer(json.dumps(twisted_json(about, chance)).encode(), np.uint8)
    out = io.BytesIO()
    write_arrays(out, arrays)
    return out.getvalue()


# ---- who reads it -------------------------------------------------------------------------
def bugs(result: Result) -> list[Result]:
    if isinstance(result, Group):
        return [bug for part in result.parts for bug in bugs(part)]
    return [result] if isinstance(result, Error) and result.code == "bug" else []


LOOKS = ("info script", "info tensors", "run", "next", "print $1", "grads", "why", "info op 1", "list", "doctor",
         "back", "print {0}", "grad {0}", "info op {0}", "why {0}")


def at_prompt(path: str, chance: random.Random) -> bool:
    shell = Shell()
    if error_in(typed(f"load '{path}'", shell)) is not None:
        return False
    names = shell.dbg.model.names()
    for line in chance.sample(LOOKS, 4):
        typed(line.format(chance.choice(names) if names else "x"), shell)
    return True


def typed(line: str, shell: Shell) -> Result:
    result = execute(line, shell)
    assert bugs(result) == [], f"{line}: {plain(result)}"
    assert isinstance(plain(result), str) and to_json(line, result)
    return result


def as_checkpoint(path: str) -> Any:
    reader = tf.train.NewCheckpointReader(path)
    for name in reader.get_variable_to_shape_map():
        try:
            reader.get_tensor(name)
        except AutodiffError:
            pass


def by_library(act: Callable[[str], Any]) -> Read:
    def read(path: str, _: random.Random) -> bool:
        try:
            act(path)
        except (AutodiffError, OSError) as error:
            assert str(error)
            return False
        return True
    return read


def by_line(line: str) -> Read:
    return lambda path, _: error_in(typed(line.format(path), Shell())) is None


FORMATS: dict[str, tuple[Callable[[Path], str], str, dict[str, Harm], Read]] = {
    # name: what is made, the files that are damaged, how, and who reads
    "recording": (recording, "rec/*.npz", {"bytes": damaged, "json": recorded_json, "members": rezipped}, at_prompt),
    "graph": (fixture("graphs/loop.pb"), "*.pb", {"bytes": damaged, "fields": twisted}, at_prompt),
    "frozen graph": (fixture("graphs/convolution.pb"), "*.pb", {"bytes": damaged, "fields": twisted}, at_prompt),
    "text graph": (text_graph, "*.pbtxt", {"bytes": damaged}, at_prompt),
    "meta graph": (meta_graph, "*.meta", {"bytes": damaged, "fields": twisted}, at_prompt),
    "saved model": (fixture("saved_model"), "*/*.pb", {"bytes": damaged, "fields": twisted}, at_prompt),
    "dump": (fixture("dump"), "dump/**/*", {"bytes": damaged, "fields": twisted}, at_prompt),
    "onnx": (onnx_model, "*.onnx", {"bytes": damaged, "fields": twisted}, at_prompt),
    "feeds": (onnx_model, "*.npz", {"bytes": damaged, "members": rezipped}, at_prompt),
    "checkpoint": (meta_graph, "model-1.*[0-9x]", {"bytes": damaged}, by_library(lambda path: as_checkpoint(
        path.removesuffix(".meta")))),
    "checkpoint's index": (meta_graph, "*.index", {"entries": table}, by_library(lambda path: as_checkpoint(
        path.removesuffix(".meta")))),
    "old checkpoint": (fixture("old_checkpoint"), "*/*", {"bytes": damaged, "entries": table},
                       by_library(lambda path: as_checkpoint(path + "/model.ckpt"))),
    "archive checkpoint": (fixture("npz_checkpoint"), "*/*data*", {"bytes": damaged, "members": rezipped},
                           by_library(lambda path: as_checkpoint(path + "/model"))),
    "events": (fixture("events"), "*/*", {"bytes": damaged, "fields": records}, by_library(
        lambda path: list(tf.train.summary_iterator(path + "/events.out.tfevents.1")))),
    "records": (fixture("plain.tfrecord"), "plain.tfrecord", {"bytes": damaged, "fields": records}, by_library(
        lambda path: list(tf.python_io.tf_record_iterator(path)))),
    "compressed records": (fixture("gzip.tfrecord"), "gzip.tfrecord", {"bytes": damaged}, by_library(
        lambda path: list(tf.python_io.tf_record_iterator(path, tf.python_io.TFRecordOptions("GZIP"))))),
    "archive": (onnx_model, "*.npz", {"bytes": damaged, "members": rezipped}, by_line("diff '{0}/../net.npz'")),
    "command file": (command_file, "*", {"bytes": damaged}, by_line("source '{0}'")),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.filterwarnings("ignore")  # NumPy's, of values that were damaged
def test_damaged_files_are_refused_or_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: Share,
                                           is_long: bool) -> None:
    make, pattern, harms, read = FORMATS[name]
    monkeypatch.chdir(tmp_path)
    whole = tmp_path / "whole"
    whole.mkdir()
    path = make(whole)
    assert read(path, random.Random(0)) or pattern != "*.onnx" and path.endswith((".onnx", ".gradbg"))
    files = sorted(file for file in whole.glob(pattern) if file.is_file())
    for seed in share.seeds(8):
        chance = random.Random(seed)
        file, harm = chance.choice(files), chance.choice(list(harms))
        data = file.read_bytes()
        began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        file.write_bytes(harms[harm](data, chance))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                was_read = read(path, chance)
        except Exception as error:
            error.add_note(f"{name}, seed {seed}: {harm} of {file.name}")
            raise
        finally:
            file.write_bytes(data)
        taken = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
        assert taken < LARGEST, f"{name}, seed {seed}: {harm} of {file.name}: {taken} bytes"
        if is_long and not was_read:
            spent = time.process_time() - began
            assert spent < LONGEST, f"{name}, seed {seed}: {harm} of {file.name}: {spent} s"
