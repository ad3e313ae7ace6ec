"""Every write fails once at each of its calls: what was there is whole, or what is new; and the session lives."""
from __future__ import annotations

import contextlib
import errno
import functools
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.errors import AutodiffError
from autodiff.debug import Debugger
from autodiff.files.checkpoints import open_checkpoint
from cli.language.interpreter import execute
from cli.model import told_files
from cli.model.results import Error, error_in
from cli.model.shell import Shell
from cli.screen.line_history import LineHistory
from cli.view.render import plain

from .faulty import Faults, Killed

FAILURES = {"full disk": errno.ENOSPC, "bad disk": errno.EIO, "no right": errno.EACCES, "killed": 0}
PART = re.compile(r".*\.part-[0-9a-f]{8}(\.old)?")  # what a killed writer leaves
MOST = 400  # calls of one write


class Case(NamedTuple):
    """A write. begin: what there is before, in a folder; act: the write, None if nothing failed, else what was said.

    state: what can be read of the folder afterwards. is_between: whether a state may follow a failure, given those
    before and after. is_done: whether one is that after another write, given that after one.
    """

    begin: Callable[[Path], Any]
    act: Callable[[Any, Path], str | None]
    state: Callable[[Path], Any]
    is_between: Callable[[Any, Any, Any], bool] = lambda state, before, after: state in (before, after)
    is_done: Callable[[Any, Any], bool] = lambda state, after: state == after


def files(folder: Path) -> dict[str, bytes]:
    """Every file by its name, without what only a killed writer leaves."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and not PART.fullmatch(path.name)}


@functools.cache
def model() -> Debugger:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.Variable(np.ones((3, 2), np.float32), name="w")
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)), name="loss")
    dbg = Debugger(graph, handles={"loss": loss, "w": w}, script="model.py")
    dbg.feed_from(lambda: {x: np.ones((2, 3), np.float32)})
    dbg.train("loss", lr=0.1)
    dbg.watch("w")
    return dbg


@functools.cache
def shell() -> Shell:
    made = Shell(model.__wrapped__())
    for line in ("next 2", "alias g = grads", "print w", "grads"):
        execute(line, made)
    return made


def shell_before(folder: Path) -> Shell:
    (folder / "out").write_text("old\n")
    (folder / "mine.txt").write_text("mine")
    return shell()


def typed(line: str) -> Callable[[Any, Path], str | None]:
    def act(shell: Shell, folder: Path) -> str | None:
        result = execute(line.format(folder), shell)
        return plain(result) if isinstance(error_in(result), Error) else None
    return act


def line_case(line: str) -> Case:
    return Case(shell_before, typed(line), files)


def told(act: Callable[[], Any]) -> str | None:
    try:
        act()
    except (OSError, AutodiffError) as error:
        return str(error)
    return None


# ---- checkpoints --------------------------------------------------------------------------
def saver_before(folder: Path, **options: Any) -> tuple[Any, Any]:
    with tf.Graph().as_default() as graph:
        w = tf.Variable(np.zeros(3, np.float32), name="w")
        grown = tf.assign_add(w, np.ones(3, np.float32))
        saver = tf.train.Saver(**options)
        session = tf.Session(graph=graph)
        session.run(w.initializer)
    (folder / "mine.txt").write_text("mine")
    saver.save(session, str(folder / "model"), global_step=1 if options else None, write_meta_graph=False)
    session.run(grown)
    return saver, session


def save(context: Any, folder: Path) -> str | None:
    saver, session = context
    steps = 2 if saver._max_to_keep == 1 else None
    return told(lambda: saver.save(session, str(folder / "model"), global_step=steps, write_meta_graph=False))


def latest(folder: Path) -> Any:
    """The values of the latest checkpoint, and what is no file of one."""
    path = tf.train.latest_checkpoint(str(folder))
    return None if path is None else open_checkpoint(path).read("w").tolist(), (folder / "mine.txt").read_text()


# ---- recordings ---------------------------------------------------------------------------
def record(dbg: Debugger, folder: Path) -> str | None:
    """Over one of two steps of another run; then the session goes on, whatever became of the recording."""
    try:
        dbg.record(str(folder / "rec"), overwrite=True)
    except AutodiffError as error:
        said: str | None = str(error)
    else:
        said = None
    runs = dbg.run(2)
    assert len(runs.records) == 2 and not any(each.error for each in runs.records)
    notes = [note for each in runs.records for note in each.notes]
    if dbg.hooks.recorder is not None:
        dbg.recordings.stop()
    return said or " ".join(notes) or None


def recorded_before(folder: Path) -> Debugger:
    dbg = model()
    if dbg.hooks.recorder is not None:
        dbg.recordings.stop()  # what the killed program had under way
    (folder / "mine.txt").write_text(f"{dbg.log.run}")
    dbg.record(str(folder / "rec"))
    dbg.run(2)
    dbg.recordings.stop()
    (folder / "rec" / "weights.npz").write_bytes(b"mine too")
    return dbg


def steps(folder: Path) -> Any:
    """The steps of a recording whose losses, computed again, are theirs; what is no file of it."""
    other, before = Debugger(), int((folder / "mine.txt").read_text())
    other.open_recording(str(folder / "rec"))
    right = [each.run - before for each in other.records
             if float(other.value("loss", step=other.log.at(each).step).array) == each.loss]
    return right, (folder / "rec" / "weights.npz").read_bytes()


def are_prefix(state: Any, before: Any, after: Any) -> bool:
    """The first steps of one or the other."""
    return state[1] == before[1] and any(state[0] == whole[0][:len(state[0])] for whole in (before, after))


# ---- the rest -----------------------------------------------------------------------------
def history_before(folder: Path) -> LineHistory:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADBG_HISTORY", str(folder / "history"))
        history = LineHistory()
    history.store_string("print loss")
    return history


def remember(history: LineHistory, folder: Path) -> None:
    history.append_string("define x\nend")
    assert history.get_strings()[-1] == "define x\nend"


def lines(folder: Path) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADBG_HISTORY", str(folder / "history"))
        return list(LineHistory().load_history_strings())


def trusted_before(folder: Path) -> None:
    (folder / "trusted").write_text("0123  /another\n")
    (folder / "commands").write_text("grads\n")


def trusting(_: None, folder: Path) -> str | None:
    with mocked(told_files, "TRUSTED", str(folder / "trusted")):
        return told(lambda: told_files.trust(str(folder / "commands")))


def spill_before(folder: Path) -> Debugger:
    dbg = model()
    dbg.state.budget = 10
    dbg.run(1)
    return dbg


def spill(dbg: Debugger, folder: Path) -> str | None:
    """Steps on disk are those that were; if they cannot be there, it is told, and the session goes on in memory."""
    with mocked(tempfile, "tempdir", str(folder)):
        said = told(lambda: dbg.history.spill(1 << 20))
        runs = dbg.run(5)
    assert len(runs.records) == 5 and not any(each.error for each in runs.records)
    notes = [note for each in runs.records for note in each.notes]
    for each in runs.records[:2]:
        if each.run in [moment.run for moment in dbg.state.moments]:
            with contextlib.suppress(AutodiffError):  # a step that cannot be read says so
                assert float(dbg.value("loss", step=dbg.log.at(each).step).array) == each.loss
    dbg.history.spill(0)
    return said or " ".join(notes) or None


@contextlib.contextmanager
def mocked(module: Any, name: str, value: Any) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, value)
        yield


CASES = {
    "export npz": line_case("export npz {0}/out"),
    "export dot": line_case("export dot {0}/out"),
    "export events": line_case("export events {0}/out"),
    "export tsv, new": line_case("export tsv {0}/new"),
    "save": line_case("save {0}/out"),
    "redirection": line_case("grads > {0}/out"),
    "redirection, added": Case(shell_before, typed("grads >> {0}/out"), files, is_done=lambda state, after: state["out"]
                               .endswith(after["out"].removeprefix(b"old\n"))),
    "print --write": line_case("print w --write {0}/out"),
    "checkpoint": Case(saver_before, save, latest),
    "checkpoint, of one": Case(lambda folder: saver_before(folder, max_to_keep=1), save, latest),
    "recording": Case(recorded_before, record, steps, are_prefix, lambda state, after: len(state[0]) == len(after[0])),
    "spilling": Case(spill_before, spill, lambda folder: None),
    "history": Case(history_before, remember, lines, is_done=lambda state, after: state[-2:] == after[-2:]),
    "trust": Case(trusted_before, trusting, files),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of objects that died in a kill
def test_every_call_of_a_write_may_fail(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                        is_long: bool, record_property: Callable[[str, int], None]) -> None:
    """Each in one way, in turn; with more time, in every way."""
    case = CASES[name]
    monkeypatch.setattr(time, "time", lambda: 1e9)
    monkeypatch.setattr("os.getpid", lambda: 1)
    before, after = None, None
    for at in range(MOST):
        for failure in FAILURES if is_long else [list(FAILURES)[(at + at // 4) % 4]]:
            error = FAILURES[failure]
            folder = tmp_path / "files"
            folder.mkdir()
            context = case.begin(folder)
            before = case.state(folder)
            if after is None:
                assert case.act(context, folder) is None
                after = case.state(folder)
                assert after != before or name == "spilling", "nothing was written"
                shutil.rmtree(folder)
                folder.mkdir()
                context = case.begin(folder)
            faults, where = Faults(folder, at, error), f"{name}, {failure}"
            said = None
            with faults.active(), contextlib.suppress(Killed):
                said = case.act(context, folder)
            if not faults.has_failed:
                assert at > 3 and faults.calls, f"{where}: no call was seen"
                record_property("faults", at * (len(FAILURES) if is_long else 1))
                return
            where += f" at {at}: {faults.calls[at]}"
            state = case.state(folder)
            assert case.is_between(state, before, after), f"{where}\n{state}\n{before}\n{after}"
            if error:
                left = [path for path in folder.rglob("*") if PART.fullmatch(path.name)]
                assert left == [] or faults.calls[at] == "remove", (where, left)
                assert not faults.unraised, (where, faults.unraised)
                assert said is None or "bug" not in said and "Traceback" not in said, (where, said)
                assert case.act(context, folder) is None, f"{where}: once more"
                assert case.is_done(case.state(folder), after), f"{where}: once more\n{case.state(folder)}\n{after}"
            shutil.rmtree(folder)
    raise AssertionError(f"{name}: more than {MOST} calls")
