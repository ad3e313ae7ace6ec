"""Predictions by a threshold in a loss of a PyTorch script, as the loss is to have them."""
import linecache

import pytest

from autodiff.debug.engine.questions.patches import patch_of_lines
from autodiff.foreign.thresholds import unchosen, ungated

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


@pytest.mark.parametrize("old, at, new", [
    ("c = CrossEntropyLoss()|" + LOOP + "p = h.softmax(1).argmax(1).float()|    l = c(p, y.float())|    l.backward()",
     (3, 5), "c = CrossEntropyLoss()|" + LOOP +
     "p = h.softmax(1).argmax(1).float()|    l = c(h, y)|    l.backward()"),
    (LOOP + "p = torch.argmax(h, 1)|    l = F.cross_entropy(p, y) + k|    a = acc(p, y)|    l.backward()", (2, 5),
     LOOP + "p = torch.argmax(h, 1)|    l = F.cross_entropy(h, y) + k|    a = acc(p, y)|    l.backward()"),
    (LOOP + "p = h.argmax(1)|    l = F.mse_loss(p, y)|    l.backward()", (2, 4), ""),
    (LOOP + "p = m(x).argmax(1)|    l = F.cross_entropy(p, y)|    l.backward()", (2, 4), "")])
def test_a_loss_has_the_logits_that_are_at_hand(old, at, new, tmp_path):
    file = tmp_path / "train.py"
    file.write_text(old.replace("|", "\n") + "\n")
    linecache.checkcache()
    found = unchosen(str(file), *at)
    assert bool(found) == bool(new)
    assert not found or patch_of_lines(found.lines, str(file)).new.decode() == new.replace("|", "\n") + "\n"
