"""Commands in any order: values are those of a plain run of the script, undo is exact, what is kept stays bounded."""
from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import autodiff as tf
from autodiff.debug import Debugger
from cli.language.interpreter import execute
from cli.model.results import error_in
from cli.model.shell import Shell
from cli.view.render import plain

from .conftest import Share

BUILD = """
import numpy as np
import tensorflow.compat.v1 as tf
tf.set_random_seed(3)
x = tf.placeholder(tf.float32, [None, 3], name="x")
w = tf.Variable(np.linspace(-1, 1, 6).reshape(3, 2).astype(np.float32), name="w")
rows = tf.Variable(tf.random_normal([5, 2]), name="rows")
h = tf.nn.dropout(tf.tanh(tf.matmul(x, w)), 0.7, name="h")
h = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, tf.sin(v) + 0.1), [0, h])[1]
loss = tf.add(tf.reduce_mean(tf.square(h)), tf.reduce_sum(tf.square(tf.gather(rows, [1, 3, 1]))), name="loss")
train = tf.train.AdamOptimizer(0.05).minimize(loss)
init = tf.global_variables_initializer()
def feeds(i):
    return {x: np.random.RandomState(i).rand(4, 3)}
"""
LOOP = """
with tf.Session() as session:
    session.run(init)
    for i in range(1000):
        session.run([loss, train], feeds(i))
"""
BUDGET = 3000  # bytes: a dozen steps
VARIABLES = ("w", "rows")


class Plainly:
    """The script without a debugger, a run at a time. losses: by the number of the run; None of what has none."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        with tf.Graph().as_default() as graph:
            exec(compile(BUILD.replace("tensorflow.compat.v1", "autodiff"), "<plain>", "exec"), self.names)
        self.session = tf.Session(graph=graph)
        self.losses: list[Any] = [None]
        self.frozen: dict[str, np.ndarray] = {}

    def run(self) -> None:
        names, run = self.names, len(self.losses)
        if run == 1:
            self.losses.append(self.session.run(names["init"]))
        else:
            self.losses.append(self.session.run([names["loss"], names["train"]], names["feeds"](run - 2))[0])
        self.session.variables.update(self.frozen)


class Commands(RuleBasedStateMachine):
    """What is typed, beside a plain run with the same changes at the same time."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="gradbg-test-"))
        self.undone: list[Any] = []
        self.recorded = 0  # runs before the recording under way
        self.recordings = 0
        self.lines: list[str] = []

    @initialize()
    def load(self) -> None:
        (self.folder / "model.py").write_text(BUILD + LOOP)
        self.shell, self.plain = Shell(), Plainly()
        self.typed(f"load '{self.folder / 'model.py'}'")
        self.dbg.state.budget = BUDGET

    def teardown(self) -> None:
        if hasattr(self, "shell"):
            self.shell.close()
        shutil.rmtree(self.folder)

    @property
    def dbg(self) -> Debugger:
        return self.shell.dbg

    @property
    def is_open(self) -> bool:
        return self.dbg.stepper.execution is not None

    @property
    def is_past(self) -> bool:
        return not self.dbg.history.position.is_present or self.dbg.stepper.is_replaying

    def typed(self, line: str, *, may_fail: bool = False) -> str:
        """Type a line; make the runs plainly that it has made, and compare their losses."""
        self.lines.append(line)
        result = execute(line, self.shell)
        shown, error = plain(result), error_in(result)
        assert error is None or may_fail and error.code != "bug", (self.lines, shown)
        while len(self.plain.losses) <= self.dbg.log.run:
            self.plain.run()
        for record in list(self.dbg.records)[-4:]:
            if record.loss is not None:
                expected = float(self.plain.losses[record.run])
                np.testing.assert_equal(record.loss, expected, str((self.lines, record.run)))
        return shown

    # ---- onward -----------------------------------------------------------------------------
    @rule(count=st.integers(1, 4))
    def go_on(self, count: int) -> None:
        self.typed(f"run -t {count}")

    @rule(count=st.integers(1, 3))
    def next(self, count: int) -> None:
        self.typed(f"next {count}", may_fail=True)

    @rule(ops=st.integers(1, 30))
    def step(self, ops: int) -> None:
        self.typed(f"step {ops}", may_fail=True)

    # ---- back -------------------------------------------------------------------------------
    @precondition(lambda self: self.dbg.log.run > 1 and not self.is_open)
    @rule(where=st.floats(0, 1), tensor=st.sampled_from(["loss", "h", "grad(w)"]))
    def look_back(self, where: float, tensor: str) -> None:
        """Any run that is kept: its loss, computed again, is that of the plain run."""
        kept = [moment.run for moment in self.dbg.state.moments]
        run = kept[int(where * (len(kept) - 1))]
        self.typed(f"goto run {run}")
        if run > 1:
            found = self.dbg.evaluate("loss", keep=False)
            assert np.asarray(found.array).tobytes() == np.asarray(self.plain.losses[run]).tobytes(), (self.lines, run)
            self.typed(f"print {tensor}", may_fail=tensor != "loss")

    @precondition(lambda self: not self.is_open)
    @rule(line=st.sampled_from(["back", "back 3", "rs 2", "rc", "goto step 2", "next", "print loss", "info steps"]))
    def wander(self, line: str) -> None:
        self.typed(line, may_fail=True)

    # ---- what stops and shows ---------------------------------------------------------------
    @rule(line=st.sampled_from(["watch w", "watch loss", "watch h", "break if loss < 1", "break loss", "break step 5",
                                "break if norm(grad(w)) > 0.01", "tbreak if loss > 0.1", "delete", "delete 1",
                                "disable 1", "grads", "why w", "info vars"]))
    def other(self, line: str) -> None:
        self.typed(line, may_fail=True)

    # ---- changes ----------------------------------------------------------------------------
    @precondition(lambda self: self.dbg.log.run > 0 and not self.is_open and not self.is_past)
    @rule(name=st.sampled_from(VARIABLES), value=st.sampled_from(["0.5", "-0.25", "nan"]))
    def set(self, name: str, value: str) -> None:
        variables = self.plain.session.variables
        self.undone.append((dict(variables), dict(self.plain.frozen), name))
        self.typed(f"set {name} = {value.replace('nan', 'np.nan')}")
        variables[name] = np.full_like(variables[name], float(value))
        if name in self.plain.frozen:
            self.plain.frozen[name] = variables[name]

    @precondition(lambda self: self.dbg.log.run > 0 and not self.is_open and not self.is_past)
    @rule(name=st.sampled_from(VARIABLES))
    def freeze(self, name: str) -> None:
        self.undone.append((None, dict(self.plain.frozen), name))
        self.typed(f"freeze {name}")
        self.plain.frozen[name] = self.plain.session.variables[name]

    @precondition(lambda self: self.undone and not self.is_open and not self.is_past)
    @rule()
    def undo(self) -> None:
        before, frozen, name = self.undone.pop()
        self.typed("undo")
        if before is not None:
            self.plain.session.variables[name] = before[name]
        if name in frozen:
            self.plain.frozen[name] = frozen[name]
        else:
            self.plain.frozen.pop(name, None)

    # ---- recordings -------------------------------------------------------------------------
    @precondition(lambda self: not self.recorded and not self.is_open)
    @rule()
    def record(self) -> None:
        self.recordings += 1
        self.typed(f"record '{self.folder / f'{self.recordings}.rec'}'")
        self.recorded = self.dbg.log.run + 1

    @precondition(lambda self: self.recorded and not self.is_open)
    @rule()
    def look_at_the_recording(self) -> None:
        self.typed("record off")
        other = Debugger()
        other.open_recording(str(self.folder / f"{self.recordings}.rec"))
        runs = list(other.state.moments)
        assert [moment.run for moment in runs] == list(range(self.recorded, self.dbg.log.run + 1)), self.lines
        loss = other.model.graph.get_tensor_by_name("loss:0")
        for moment in runs:
            if moment.run > 1:
                found = other.state.replayer.values(moment, [loss])[0]
                assert found.tobytes() == self.plain.losses[moment.run].tobytes(), (self.lines, moment.run)
        self.recorded = 0

    # ---- what always holds ------------------------------------------------------------------
    @invariant()
    def variables_are_those_of_the_plain_run(self) -> None:
        if not hasattr(self, "shell") or self.is_open or not self.dbg.log.run:
            return
        ours, theirs = self.dbg.model.session.variables, self.plain.session.variables
        assert sorted(ours) == sorted(theirs), self.lines
        for name, value in theirs.items():
            assert np.asarray(ours[name]).tobytes() == np.asarray(value).tobytes(), (self.lines, name)

    @invariant()
    def what_is_kept_is_bounded(self) -> None:
        if hasattr(self, "shell"):
            moments = self.dbg.state.moments
            assert len(moments) < 40 and moments.spent < 2 * BUDGET, (self.lines, len(moments), moments.spent)


def test_commands_in_any_order(share: Share) -> None:
    for seed in share.seeds(1):
        run_state_machine_as_test(Commands, settings=settings(
            max_examples=8 if seed == 0 else 100, stateful_step_count=20 if seed == 0 else 50, deadline=None,
            database=None, derandomize=seed == 0, suppress_health_check=list(HealthCheck)))
