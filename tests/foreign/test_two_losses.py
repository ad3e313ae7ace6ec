"""Two losses of one forward pass in a PyTorch script: the lines that mend the error that the second one raises."""
from __future__ import annotations

import linecache
from pathlib import Path

import pytest

from autodiff.debug.engine.questions.patches import patch_of_lines
from autodiff.foreign.torch.two_losses import TwoLosses

ACTOR, CRITIC = {1, 2}, {3, 4}  # parameters
LEAVES = {"adv": CRITIC, "v": CRITIC, "a": ACTOR, "p": ACTOR | CRITIC, "logp": ACTOR, "first": CRITIC, "z": ACTOR,
          "one": ACTOR | CRITIC, "q": ACTOR | CRITIC}
# the line of the second backward, that of the step between; the text, and as it is remedied
CHANGED = {
    "an advantage": (6, 4, "for s in b:|    v = c(s)|    p = -(logp * v).mean()|    o.step()|    q.zero_grad()|"
                     "    p.backward()", "    p = -(logp * v.detach()).mean()"),
    "a critic of actions": (5, 4, "for s in b:|    p = -c(a)|    first.backward()|    o.step()|    p.backward()",
                            "    o.step()|    p = -c(a)"),
    "a discriminator": (6, 4, "for s in b:|    p = c(a)|    first.backward()|    o.step()|    q = l(p, t)|"
                        "    q.backward()", "    o.step()|    p = c(a)"),
    "of two lines": (5, 4, "def f():|    p = c(a)|    p = -p.mean()|    o.step()|    p.backward()",
                     "    o.step()"),
    "of more than a line": (5, 4, "def f():|    p = -c(|        a)|    o.step()|    p.backward()", "")}
FREED = {
    "a second backward": (3, "l = f(x)|p.backward()|p.backward()", ACTOR, True, "-p.backward()"),
    "an advantage": (4, "v = c(s)|p = -(logp * v).mean()|first.backward()|p.backward()", CRITIC, False,
                     "p = -(logp * v.detach()).mean()"),
    "an encoder": (5, "v = c(s)|one = g(v)|p = h(v)|one.backward()|p.backward()", ACTOR | CRITIC, False,
                   "one.backward(retain_graph=True)")}


def _file(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(folder)
    Path("train.py").write_text(text.replace("|", "\n") + "\n")
    linecache.checkcache()
    return str(folder / "train.py")


def _gone(lines: object, file: str) -> list[str]:
    """The lines that stand there no more, or elsewhere."""
    return [line[1:] for line in patch_of_lines(lines, file).diff.splitlines()[2:] if line[:1] == "-"]  # type: ignore


def _new(lines: object, file: str) -> str:
    """What stands there instead."""
    diff = patch_of_lines(lines, file).diff if lines else ""  # type: ignore[arg-type]
    return "|".join(line[line[:1] == "+":] for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in (
        "+++", "---") and (line[:1] == "+" or "\n+" not in diff.replace("\n+++", "")))


@pytest.mark.parametrize("case", CHANGED)
def test_what_a_step_has_changed_is_cut_off_or_computed_again(case: str, tmp_path: Path,
                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    line, step, text, new = CHANGED[case]
    file = _file(text, tmp_path, monkeypatch)
    found = TwoLosses(file, line, step, lambda name: LEAVES.get(name, ()), CRITIC, [ACTOR, CRITIC]).mended()
    assert _new(found.lines, file) == new.removeprefix("    o.step()|") and bool(found.words) == bool(new)


@pytest.mark.parametrize("case", FREED)
def test_what_a_backward_has_freed_is_kept_or_cut_off(case: str, tmp_path: Path,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    line, text, first, is_same, new = FREED[case]
    file = _file(text, tmp_path, monkeypatch)
    losses = TwoLosses(file, line, 0, lambda name: LEAVES.get(name, ()), (), [ACTOR, CRITIC])
    assert _new(losses.shared("v", line - 1, first, is_same).lines, file) == new


def test_the_first_loss_is_cut_off_from_what_it_is_not_to_train(tmp_path: Path,
                                                                monkeypatch: pytest.MonkeyPatch) -> None:
    file = _file("v = g(n)|first = b(d(v))|first.backward()|o.step()|p = b(d(v))|p.backward()", tmp_path, monkeypatch)
    leaves = {"v": CRITIC, "first": ACTOR | CRITIC, "p": ACTOR | CRITIC}
    losses = TwoLosses(file, 6, 4, lambda name: leaves.get(name, ()), ACTOR, [ACTOR, CRITIC])
    assert _new(losses.shared("v", 5, ACTOR | CRITIC, False).lines, file) == "first = b(d(v.detach()))"


@pytest.mark.parametrize("between, gone", [("n = 1", ["    p = -c(a)"]), ("print(p)", [])])
def test_what_is_computed_after_a_step_is_moved_there_unless_it_is_read_before(between: str, gone: list[str], tmp_path:
                                                                               Path, monkeypatch: pytest.MonkeyPatch
                                                                               ) -> None:
    text = f"def f():|    p = -c(a)|    {between}|    first.backward()|    o.step()|    go(w, p)"
    file = _file(text, tmp_path, monkeypatch)
    found = TwoLosses(file, 6, 5, lambda name: LEAVES.get(name, ()), CRITIC, [ACTOR, CRITIC]).mended()
    assert _gone(found.lines, file) == gone and _new(found.lines, file) == "    p = -c(a)"
    assert found.words == f"compute p {'' if gone else 'again '}after the step at train.py:5"
