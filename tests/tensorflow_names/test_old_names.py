"""Names that Python and NumPy have removed are there for a script and its modules, and for nobody else."""

import sys
from pathlib import Path

import numpy as np
import pytest

from autodiff.tensorflow_names.old_names import REMOVED, code_of, in_modules_of, old_name
from cli.main import main

SCRIPT = """
import collections, time
import numpy as np
import numpy
from collections import Iterable, OrderedDict
from fractions import gcd as common
x = np.array([1, 2], np.float)
kinds = x.dtype, numpy.int, isinstance([], collections.Mapping), isinstance([], Iterable)
shaped = np.reshape(x, newshape=[2, 1]).shape
clock, six = time.clock(), common(12, 18)
ends = np.alltrue([True]), np.Inf
grid = np.meshgrid([1, 2], [3])
grid.append(6)
middle = np.percentile([1, 2], 50, interpolation="lower")
np.own = 3
del np.own
"""


def test_old_names_give_what_they_gave() -> None:
    found: list[str] = []
    space: dict = {}
    exec(code_of(SCRIPT, "old.py", found), space)
    assert space["kinds"] == (np.float64, int, False, True)
    assert (space["shaped"], space["six"], space["ends"]) == ((2, 1), 6, (True, np.inf))
    assert space["middle"] == 1
    assert {"np.float", "numpy.int", "collections.Iterable", "time.clock", "np.alltrue", "newshape="} <= set(found)
    assert not hasattr(np, "float")


def test_what_is_there_is_left_alone() -> None:
    found: list[str] = []
    exec(code_of("import numpy as np\nnp.float32, np.float64\nx = 'np.float'", "new.py", found), {})
    assert not found
    assert old_name("collections", "OrderedDict")
    assert all(REMOVED["numpy"].values()) or not np.nan
    with pytest.raises(SyntaxError):
        code_of("np.float(", "bad.py", found)


BEFORE_NUMPY_2 = """
import numpy as np, random, threading
from random import sample
from numpy import vstack
rows = np.array([[np.zeros(3), 1], [np.zeros(3), 2]]), np.array([[1, 2], [1]]), np.asarray([[1], []])
stacked = np.vstack(map(list, [[1, 2], [3, 4]])), vstack(row for row in [[1], [2]])
drawn = len(random.sample({1, 2, 3}, 2)), len(sample({1: 1, 2: 2}.keys(), 2))
octets = np.fromstring(np.arange(3, dtype=np.uint8).tostring(), dtype=np.uint8)
octets[0] = 7
one = np.array([2.5])
numbers = float(one), int(one), "%d %.1f" % (one, one), "%s" % one
filled, kept = np.zeros(2), {}
filled[0] = one
filled[1] += one
kept["one"] = one
scaled = np.ones(2, "f") * np.sqrt(2.0), np.sqrt(2.0) + 1, one.astype("f") / one[0]
same = np.array(rows[0], copy=False) is rows[0]
thread = threading.Thread(target=print)
alive = thread.isAlive()
"""


def test_what_numpy_once_made_of_numbers_and_rows_it_makes_again() -> None:
    found: list[str] = []
    space: dict = {}
    exec(code_of(BEFORE_NUMPY_2, "old.py", found), space)
    assert [(made.shape, made.dtype) for made in space["rows"]] == [((2, 2), object), ((2,), object), ((2,), object)]
    assert [made.tolist() for made in space["stacked"]] == [[[1, 2], [3, 4]], [[1], [2]]]
    assert (space["drawn"], space["octets"].tolist()) == ((2, 2), [7, 1, 2])
    assert space["numbers"] == (2.5, 2, "2 2.5", "[2.5]")
    assert space["filled"].tolist() == [2.5, 2.5] and space["kept"]["one"] is space["one"]
    assert [value.dtype for value in space["scaled"]] == [np.float32, np.float64, np.float32]
    assert (space["same"], space["alive"]) == (True, False)
    assert not {"np.array", "vstack", "random.sample"} & set(found)


@pytest.mark.parametrize("line", ["float(np.ones(2))", "np.array([1, [2]], np.float32)", "'%d' % np.ones(2)",
                                  "np.array([[1, 2], [1]])\nif 0:\n    import torch"])
def test_what_numpy_never_made_and_what_torch_is_used_with_is_refused_as_ever(line: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        exec(code_of(f"import numpy as np\n{line}", "new.py", []), {})


def test_numbers_in_lists_are_shown_as_then_and_warnings_stand_on_the_scripts_line(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = "import numpy as np", "print([np.float32(0.5)])", "x = np.zeros(1) / np.float64(0)"
    (tmp_path / "model.py").write_text("\n".join(lines))
    with pytest.warns(RuntimeWarning, match="invalid value") as said:
        main(["--batch", "-nx", "-ex", "run", str(tmp_path / "model.py")])
    assert "[0.5]" in capsys.readouterr().out
    assert [(Path(each.filename).name, each.lineno) for each in said] == [("model.py", 3)]


def test_a_script_and_its_modules_have_them_with_a_remark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "its_own.py").write_text("import numpy as np\nkind = np.int\n")
    (tmp_path / "model.py").write_text("import numpy as np, its_own\nkind = np.float\nprint(kind, its_own.kind)\n")
    assert main(["--batch", "-nx", "-ex", "info scripts", str(tmp_path / "model.py")]) in (0, 1)
    shown = capsys.readouterr().out
    assert "<class 'float'> <class 'int'>" in shown
    assert "removed since, and put back for this script: np.float, np.int" in shown


def test_modules_elsewhere_have_none(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "far_away.py").write_text("import numpy as np\nkind = np.int\n")
    with in_modules_of([str(tmp_path / "inside")], []), pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        with pytest.raises(AttributeError):
            import far_away  # noqa: F401


def test_what_is_put_back_comes_after_what_must_be_first() -> None:
    text = ('"""A script."""\nfrom __future__ import annotations\nimport numpy as np\n'
            "def f(x: Missing): return np.float(x)\n")
    names: dict[str, object] = {}
    exec(code_of(text, "script.py", []), names)
    assert names["__doc__"] == "A script." and names["f"]("2") == 2.0  # type: ignore[operator]
    plain: dict[str, object] = {}
    exec(code_of("x = [1]\nx = x + x\n", "script.py", []), plain)
    assert {*plain} == {"x", "__builtins__"}  # nothing is put into a script that needs none of it


def test_modules_of_the_debugger_itself_are_loaded_as_they_are() -> None:
    with in_modules_of([str(Path(__file__).parents[2])], []):
        found = {name for name in ("autodiff", "cli", "tests") if sys.meta_path[0].find_spec(name, None)}
    assert found == {"tests"}
