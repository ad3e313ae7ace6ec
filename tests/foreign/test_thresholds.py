"""Predictions by a threshold in a loss of a PyTorch script, as the loss is to have them."""
import linecache

import pytest

from autodiff.debug.engine.questions.patches import patch_of_lines
from autodiff.foreign.thresholds import ungated

LOOP = "for x, y in b:|    "


@pytest.mark.parametrize("old, at, new", [
    (LOOP + "p = (m(x) > 0.5).float()|    l = c(p, y)|    a = acc(p, y)|    l.backward()", (2, 5), LOOP +
     "scores = m(x)|    p = (scores > 0.5).float()|    l = c(scores, y)|    a = acc(p, y)|    l.backward()"),
    (LOOP + "o = m(x)|    p = o.ge(0).to(d)|    e = y - p|    l = (e * e).mean()|    l.backward()", (3, 6), LOOP +
     "o = m(x)|    p = o.ge(0).to(d)|    e = y - o|    l = (e * e).mean()|    l.backward()"),
    (LOOP + "l = c((m(x) > 0.5).float(), y)|    l.backward()", (2, 3), LOOP + "l = c(m(x), y)|    l.backward()"),
    ("def f(x):|  return (g(x) > 0.5).float()|l = c(f(x), y)|l.backward()", (2, 4),
     "def f(x):|  return g(x)|l = c(f(x), y)|l.backward()"),
    ("def f(x):|  o = (g(x) > 0.5).float()|  return o|l = c(f(x), y)|l.backward()", (2, 5),
     "def f(x):|  o = g(x)|  return o|l = c(f(x), y)|l.backward()"),
    (LOOP + "p = (m(x) > t).float()|    l = c(p, y)|    l.backward()", (2, 4), ""),
    (LOOP + "p = (m(x) > 0.5) == (n(x) > 0.5)|    l = c(p, y)|    l.backward()", (2, 4), "")])
def test_a_loss_has_what_a_threshold_is_put_to(old, at, new, tmp_path):
    file = tmp_path / "train.py"
    file.write_text(old.replace("|", "\n") + "\n")
    linecache.checkcache()
    found = ungated(str(file), *at)
    lines = found.lines if found is not None else {}
    text = patch_of_lines(lines, str(file)).new.decode() if lines else ""
    assert text == new.replace("|", "\n") + "\n" * bool(new)
