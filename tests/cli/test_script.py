"""A model script runs unedited under the debugger, and stops at its runs."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autodiff import Session
from cli.model.script import ModelScript
from cli.model.script_frames import script_line, script_traceback
from cli.model.usage_error import UsageError

LOOP = """
import sys
import tensorflow.compat.v1 as tf

x = tf.constant(2.0, name="x")
seen = []
with tf.Session() as session:
    for i in range(3):
        seen.append(session.run(x * x))
"""


def watched(session: Any, fetches: Any, feed_dict: Any = None, *, call: Any) -> tuple[Any, Any]:
    """A debugger that only looks on."""
    return call(session, fetches, feed_dict), SimpleNamespace(stops=())


def script(folder: Path, text: str, *arguments: str) -> ModelScript:
    path = folder / "model.py"
    path.write_text(text)
    return ModelScript(str(path), arguments, watched)


def test_it_stops_at_its_runs_and_goes_on(tmp_path: Path) -> None:
    model = script(tmp_path, LOOP)
    event = model.start()
    assert (event.kind, model.request and model.request.line) == ("before", 9)
    assert len(model.namespace["seen"]) == 0
    event = model.resume()
    assert (event.kind, len(event.records)) == ("after", 1)
    event = model.resume(before=True)
    assert (event.kind, event.records, model.namespace["seen"]) == ("before", (), [4.0])
    event = model.resume(10)
    assert (event.kind, len(event.records), model.namespace["seen"]) == ("ended", 2, [4.0, 4.0, 4.0])
    with pytest.raises(UsageError, match="at its end"):
        model.resume()
    model.close()


def test_everything_is_taken_back(tmp_path: Path) -> None:
    before = sys.argv, list(sys.path), Session.run, sys.modules.get("__main__"), sys.modules.get("tensorflow")
    model = script(tmp_path, LOOP, "--fast")
    model.start()
    assert (sys.argv[1:], Session.run is before[2]) == (["--fast"], False)
    model.close()
    assert before == (sys.argv, sys.path, Session.run, sys.modules.get("__main__"), sys.modules.get("tensorflow"))


def test_leaving_runs_the_scripts_finally_blocks(tmp_path: Path) -> None:
    text = LOOP.replace("with tf.Session",
                        "try:\n  session = tf.Session()\n  session.run(x)\nfinally:\n  print('closed')\n"
                        "with tf.Session")
    model = script(tmp_path, text.replace("print('closed')", "seen.append('closed')"))
    model.start()
    model.close()
    assert model.namespace["seen"] == ["closed"]


def test_a_script_that_only_builds_runs_to_its_end(tmp_path: Path) -> None:
    model = script(tmp_path, "import autodiff as tf\nloss = tf.constant(1.0, name='loss')\n")
    event = model.start()
    assert event.kind == "ended"
    assert event.graph is not None
    assert list(event.graph.operations) == ["loss"]
    assert model.graph() is event.graph
    model.close()


def test_handles_are_globals_locals_and_attributes(tmp_path: Path) -> None:
    model = script(tmp_path, """
import autodiff as tf
class Model:
    def __init__(self):
        self.logits = tf.constant(1.0)
def main(depth):
    model = Model()
    inner = tf.identity(model.logits)
    tf.Session().run(inner)
if __name__ == "__main__":
    main(3)
""")
    model.start()
    assert {"main", "depth", "model", "inner", "model.logits"} <= set(model.handles())
    model.close()


def test_the_scripts_own_error_comes_unchanged(tmp_path: Path) -> None:
    model = script(tmp_path, "def f():\n    return {}['gone']\nf()\n")
    event = model.start()
    assert event.kind == "raised"
    assert isinstance(event.error, KeyError)
    assert script_line(event.error) == (str(tmp_path / "model.py"), 2)
    text = script_traceback(event.error)
    assert text.startswith("Traceback (most recent call last):\n  File \"" + str(tmp_path))
    assert text.endswith("KeyError: 'gone'")
    model.close()


@pytest.mark.parametrize(("ending", "kind"),
                         [("sys.exit()", "ended"), ("sys.exit(0)", "ended"), ("sys.exit(3)", "raised")])
def test_exit(tmp_path: Path, ending: str, kind: str) -> None:
    model = script(tmp_path, f"import sys\n{ending}\n")
    assert model.start().kind == kind
    model.close()


def test_errors_that_the_script_handles_are_its_own_affair(tmp_path: Path) -> None:
    model = script(tmp_path, """
import autodiff as tf
try:
    tf.Session().run(tf.placeholder(tf.float32))
except tf.OpError as error:
    caught = error
""")
    model.start()
    assert model.resume(5).kind == "ended"
    assert "caught" in model.namespace
    model.close()


@pytest.mark.parametrize(("text", "message"), [
    ("x = (1,\n", "'(' was never closed"), ("x = = 1\n", "invalid syntax"), ("\x00", "null bytes")])
def test_no_python_is_said_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    model = script(tmp_path, text)
    with pytest.raises(UsageError, match=message.replace("(", r"\(")) as caught:
        model.start()
    assert caught.value.code == "script_syntax"


def test_no_such_script_names_those_there(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("")
    with pytest.raises(UsageError, match="no script") as caught:
        ModelScript(str(tmp_path / "model.py"), (), watched).start()
    assert "other.py" in caught.value.hint


PACKAGE = {
    "mine/__init__.py": "import tensorflow as tf\nfrom . import parts\n", "mine/parts.py": "two = 2\n",
    "mine/main.py": "import sys\nfrom .parts import two\nfrom .inner import deep\nargv = sys.argv[1:]\n",
    "mine/__main__.py": "from .main import *\n", "mine/inner/deep.py": "from ..parts import two\nfound = __package__\n",
    "mine/broken/__init__.py": "1 / 0\n", "mine/broken/main.py": "",
}


def test_modules_run_as_python_runs_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in PACKAGE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    for name, package in (("mine", "mine"), ("mine.main", "mine"), ("mine.inner.deep", "mine.inner")):
        (tmp_path / "mine" / "parts.py").write_text(f"two = {len(name)}  # was edited meanwhile\n" * len(name))
        model = ModelScript(name, ("a",), watched, as_module=True)
        assert model.start().error is None
        assert (model.namespace["__package__"], model.namespace["two"]) == (package, len(name))
        assert (model.namespace.get("argv"), model.namespace.get("found")) in ((["a"], None), (None, package))
        model.close()
    model = ModelScript("mine.broken.main", (), watched, as_module=True)
    assert repr(model.start().error) == "ZeroDivisionError('division by zero')"
    assert "importlib" not in script_traceback(model.error)  # type: ignore[arg-type]
    model.close()
    for name, about in (("no.such", "no module"), ("mine.inner", "a package without"), ("mine/main.py", "no module")):
        with pytest.raises(UsageError, match=about):
            ModelScript(name, (), watched, as_module=True).start()


@pytest.mark.parametrize("line", ["import tensorflow as tf", "import tensorflow.compat.v1 as tf",
                                  "from tensorflow.compat import v1 as tf",
                                  "import tensorflow; tf = tensorflow.compat.v1",
                                  "from tensorflow.python import debug as d; import tensorflow as tf; d.Debugger",
                                  "from tensorflow import nn, float32; import tensorflow as tf"])
def test_tensorflows_names_give_autodiff(tmp_path: Path, line: str) -> None:
    model = script(tmp_path, f"{line}\nx = tf.constant(1.0)\n")
    event = model.start()
    assert event.error is None
    assert event.graph is not None
    assert len(event.graph.operations) == 1
    model.close()
