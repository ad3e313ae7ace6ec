"""What is said beside a script's error whose cause is around it: a module, a file, the network, standard input."""

import io
import sys
from pathlib import Path

import pytest

from cli.main import main


@pytest.mark.parametrize(("text", "said"), [
    ("import nothing_of_this_name", f"{sys.executable} -m pip install nothing_of_this_name"),
    ("import skimage.nothing.at_all", "pip install scikit-image"),
    ("import urllib.request as u\nu.urlretrieve('http://localhost:9/x.gz', 'data/x.gz')",
     "http://localhost:9/x.gz cannot be had from here: fetch it elsewhere, and put it where the script looks for it as "
     "data/x.gz"),
    ("import urllib.request as u\nu.urlopen(u.Request('http://localhost:9/y'))", "http://localhost:9/y cannot be had"),
    ("open('beside.csv')", "it is beside the script, and is looked for in"),
    ("import tensorflow as tf\ntf.train.AdamOptimizer().minimize(tf.floor(tf.Variable(2.5)))",
     "passes Floor (Floor, model.py:2), which lets no gradient through"),
    ("n = int(input('steps? '))", "answer at a terminal, or pipe the answers in"),
])
def test_what_to_do_is_said(text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                            capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.py").write_text(text)
    (tmp_path / "beside.csv").write_text("")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["-nx", "--batch", "-ex", "list", str(tmp_path / "model.py")]) == 4
    shown = " ".join("".join(capsys.readouterr()).split())
    assert said in shown, shown
    assert f"at model.py:{text.count(chr(10)) + 1}: " in shown  # never a line of a library


def test_an_authors_error_has_no_such_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.py").write_text("open('/nowhere/at/all')")
    main(["-nx", "--batch", "-ex", "list", str(tmp_path / "model.py")])
    assert "No such file or directory: '/nowhere/at/all'\n  where, list" in "".join(capsys.readouterr())
