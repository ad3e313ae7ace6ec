"""Names that Python and NumPy have removed are there for a script and its modules, and for nobody else."""

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
