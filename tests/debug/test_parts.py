"""The Debugger is made of parts: each can be made alone, and its attributes are written in its own file only."""

import ast
import types
from pathlib import Path

import numpy as np

import autodiff as tf
from autodiff.debug import Debugger
from autodiff.debug.engine.log import RunLog
from autodiff.debug.engine.model import Model
from autodiff.debug.engine.overrides import Overrides
from autodiff.debug.engine.questions.lists import Lists
from autodiff.debug.engine.runs.assembly import RunParts
from autodiff.debug.engine.runs.effects import Effects
from autodiff.debug.engine.runs.samples import InnerSamples
from autodiff.debug.engine.state import State
from autodiff.debug.engine.training import Training
from autodiff.debug.engine.watches import Watches

from ..expect import expect_none

DEBUG = Path(__file__).parents[2] / "autodiff" / "debug"
OWN_FILE = {"run_view.py": {"view"}}  # a file's other names for objects whose class it holds


def written_elsewhere(source: str, own: set[str]) -> list[str]:
    """Attributes that a file writes of anything but `self`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(
            node, (ast.AugAssign, ast.AnnAssign)) else []
        for target in (part for t in targets for part in (t.elts if isinstance(t, ast.Tuple) else [t])):
            if isinstance(target, ast.Attribute) and ast.unparse(target.value) not in {"self", *own}:
                found.append(f"{target.lineno}: {ast.unparse(target)}")
    return found


def test_no_file_writes_the_attributes_of_another() -> None:
    files = [DEBUG / "debugger.py", *sorted((DEBUG / "engine").rglob("*.py"))]
    expect_none([f"{path.name}:{line}" for path in files
                 for line in written_elsewhere(path.read_text(), OWN_FILE.get(path.name, set()))])


def test_a_write_from_outside_is_noticed() -> None:
    assert written_elsewhere("self.a = 1\nself.state.view = 2\nx, moments.trouble = 3, 4\n", set()) == [
        "2: self.state.view", "3: moments.trouble"]


def test_the_debugger_is_one_class_of_some_forty_names() -> None:
    assert Debugger.__mro__ == (Debugger, object)
    assert len([name for name in vars(Debugger) if not name.startswith("_")]) <= 45
    parts = [part for part in vars(Debugger(tf.Graph())).values() if type(part).__module__.startswith("autodiff.debug")]
    expect_none([type(part).__name__ for part in parts if type(part).__mro__[1:] != (object,)], "inherits")
    assert len(parts) > 20


def test_no_part_knows_the_debugger() -> None:
    dbg = Debugger(tf.Graph())
    expect_none([f"{type(part).__name__}.{name}" for part in vars(dbg).values()
                 for name, value in getattr(part, "__dict__", {}).items()
                 if value is dbg or isinstance(value, types.MethodType) and value.__self__ is dbg])


def model() -> tuple[Model, tf.Tensor]:
    graph = tf.Graph()
    with graph.as_default():
        w = tf.Variable([3.0, 4.0], name="w")
        loss = tf.reduce_sum(tf.square(w), name="loss")
    return Model(graph, handles={"loss": loss}), loss


def test_parts_are_made_alone() -> None:
    made, loss = model()
    assert made.y == "loss:0" and made.resolve("w") == ("w:0",) and made.initialize() == 1
    state = State(made, Overrides(), RunLog())
    assert float(state.values([loss], state.moment())[0]) == 25.0
    watches = Watches(made)
    assert watches.watch("loss", condition="nan").number == 1 and watches.due(1) == [1]
    assert not Effects(state).roots()[0].op.gradient_of and InnerSamples(state).outer(loss) is loss.op
    assert [row.name for row in Lists(state, Training(state, watches), Effects(state)).variables()] == ["w:0"]


def test_runs_are_made_without_a_debugger() -> None:
    made, loss = model()
    runs = RunParts(State(made, Overrides(), RunLog()))
    assert runs.runner.run(2, fetches=[loss]).records[-1].loss == 25.0
    assert runs.stepper.begin([loss]).total > 0 and runs.stepper.finish().records[0].run == 3


def test_overrides_know_what_was_edited() -> None:
    made, loss = model()
    overrides = Overrides()
    overrides.put(loss, np.float32(1))
    overrides.feed(loss, np.float32(2))
    assert overrides.present() == {loss: 1.0} and overrides.drop(loss) == 1.0 and overrides.present() == {loss: 2.0}
    overrides.freeze("w", 5)
    assert overrides.thaw("w") == 5 and overrides.thaw("w") is None
