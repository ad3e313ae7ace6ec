"""What the remedies of errors are in a script's text."""
from __future__ import annotations

import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autodiff.debug.engine.questions.patches import patch_of_lines
from autodiff.foreign import new_calls as calls
from autodiff.foreign import new_lines as lines
from autodiff.foreign.loops import counted
from autodiff.foreign.own_gradients import misshapen, of_custom_vjp

LOOP, STEP = "i, z = lax.while_loop(lambda c: {}, lambda c: ({}), (0, x))", "lambda c: (c[0] + 1, g(c))"
RULE = """def f(w): ...
def bwd(w, g):
    return (g.T @ w,)
f.defvjp(fwd, bwd)
f(x)"""
CASES: dict[str, tuple[str, Callable[[str], Any], str]] = {
    "cut": ("for x in y:\n    h = f(h)", lambda f: lines.before(f, 2, "h = h.detach()"),
            "for x in y:\n    h = h.detach()\n    h = f(h)"),
    "argument that is a sum": ("l = f(x, y + 1)", lambda f: calls.argument(
        f, 1, "target", 1, "{}.float()", lambda _: True), "l = f(x, (y + 1).float())"),
    "state that is kept": ("best = None\nbest = m.state_dict()\nm.load_state_dict(best)", lambda f: calls.kept_apart(
        f, 3), "best = None\nbest = {k: v.clone() for k, v in m.state_dict().items()}\nm.load_state_dict(best)"),
    "state that is kept twice": ("a = m.state_dict()\na = n.state_dict()\nm.load_state_dict(a)", lambda f: (
        calls.kept_apart(f, 3)), "a = m.state_dict()\na = n.state_dict()\nm.load_state_dict(a)"),
    "state of another": ("a.load_state_dict(a.state_dict())", lambda f: calls.kept_apart(f, 1),
                         "a.load_state_dict(a.state_dict())"),
    "appended layer": ("for n in ns:\n    ls.append(nn.Linear(n, n))\n    ls.append(d)", lambda f: (
        calls.activated_behind(f, 2)), "for n in ns:\n    ls.append(nn.Linear(n, n))\n    ls.append(nn.ReLU())\n"
        "    ls.append(d)"),
    "layer in a row": ("net = S(\n    Linear(3, 4),\n    Linear(4, 2))", lambda f: calls.activated_behind(f, 2),
                       "net = S(\n    Linear(3, 4), ReLU(),\n    Linear(4, 2))"),
    "layer of a list": ("ls = [nn.Conv2d(3, 4, 1)]", lambda f: calls.activated_behind(f, 1),
                        "ls = [nn.Conv2d(3, 4, 1), nn.ReLU()]"),
    "two layers": ("ls = [Linear(3, 4), Linear(4, 2)]", lambda f: calls.activated_behind(f, 1),
                   "ls = [Linear(3, 4), Linear(4, 2)]"),
    "layer alone": ("a = nn.Linear(3, 4)", lambda f: calls.activated_behind(f, 1), "a = nn.Linear(3, 4)"),
    "added": ("h += x * 2", lambda f: lines.out_of_place(f, 1), "h = h + x * 2"),
    "method": ("h.mul_(2 * x)", lambda f: lines.out_of_place(f, 1), "h = h.mul(2 * x)"),
    "part": ("h[0, 1] = x", lambda f: lines.out_of_place(f, 1), "h = h.clone()\nh[0, 1] = x"),
    "option": ("r = nn.ReLU(inplace=True)", lambda f: lines.out_of_place(f, 1), "r = nn.ReLU(inplace=False)"),
    **{f"gradient of {old}": (f"def bwd(r, g):\n    dw = {old}\n    return dx, dw", lambda f: misshapen(
        f, 3, "xw", [None, [4, 3]], [[5], [3, 4]]).lines, f"def bwd(r, g):\n    dw = {new}\n    return dx, dw")
       for old, new in (("x.t().mm(g)", "g.t().mm(x)"), ("x.T @ (g * 2)", "(g * 2).T @ x"),
                        ("jnp.dot(g.T, x)", "jnp.dot(x.T, g)"), ("f(x, g)", "f(x, g).T"))},
    "gradients in order": ("def bwd(r, g):\n    return dw, dx", lambda f: misshapen(
        f, 2, "xw", [[5, 4], [4, 3]], [[4, 3], [5, 4]]).lines, "def bwd(r, g):\n    return dx, dw"),
    "gradient of a sum": ("def bwd(r, g):\n    return g.sum()", lambda f: misshapen(f, 2, "x", [[5]], [[]]).lines,
                          "def bwd(r, g):\n    return g.sum()"),
    **{f"gradient summed by {old}": (f"def bwd(r, g):\n    return -(g * r).{old}", lambda f, dx=dx: misshapen(
        f, 2, "x", [[5]], [dx], [[3, 5]]).lines, f"def bwd(r, g):\n    return -(g * r).{new}")
       for old, dx, new in (("sum(1)", [3], "sum(0)"), ("sum(-1)", [3], "sum(0)"), ("sum()", [], "sum(0)"),
                            ("sum(0)", [3], "sum(0)"), ("mean(1)", [3], "mean(1)"))},
    **{f"loop while {test}": (f"N, M = 5, f()\n{LOOP.format(test, step)}", lambda f: counted(f, 2),
                              f"N, M = 5, f()\n{new}")
       for test, step, new in (
           ("c[0] < N", "c[0] + 1, g(c)", f"i, z = lax.fori_loop(0, N, lambda _, carry: ({STEP})(carry), (0, x))"),
           ("(c[0] <= 7) & h(c)", "c[0] + 1, g(c)", "i, z = lax.fori_loop(0, 7 + 1, lambda _, carry: "
            "jax.tree_util.tree_map(lambda new, old: jnp.where((lambda c: (c[0] <= 7) & h(c))(carry), new, old), "
            f"({STEP})(carry), carry), (0, x))"),
           *((test, step, LOOP.format(test, step)) for test, step in (
               ("c[0] < M", "c[0] + 1, g(c)"), ("c[0] < N", "c[0] * 2, g(c)"), ("c[1] < N", "c[0] + 1, g(c)"))))},
    "rule of jax": (RULE, lambda f: of_custom_vjp(f, 5, "at output[0] the bwd rule produced an output of type float32"
                                                  "[2,5] corresponding to an input of type float32[5,2], so").lines,
                    RULE.replace("g.T @ w", "w.T @ g")),
    "nothing": ("h = x", lambda f: lines.out_of_place(f, 1), "h = x"),
    "in place": ("for x in y:\n    w = w - 2 * x\n    b = b - x\nc = c - 1", lambda f: lines.in_place(f, 2),
                 "for x in y:\n    w -= 2 * x\n    b -= x\nc = c - 1"),
    "made of another": ("w = v - x", lambda f: lines.in_place(f, 1), "w = v - x"),
    "leaves": ("w -= g\nb -= g\nprint(w)", lambda f: lines.without_recording(f, 1),
               "with torch.no_grad(): w -= g\nwith torch.no_grad(): b -= g\nprint(w)"),
    "layer": ("l = nn.Linear(16 * 5, é)", lambda f: calls.argument(f, 1, "in_features", 0, "64", lambda _: False),
              "l = nn.Linear(64, é)"),
    "which": ("l = loss(net(x), y)", lambda f: calls.argument(f, 1, "target", 1, "{}.long()", lambda name: (
        getattr(name, "id", "") == "loss")), "l = loss(net(x), y.long())"),
    "several": ("l = loss(net(x), y)", lambda f: calls.argument(f, 1, "input", 0, "{}.float()", lambda _: False),
                "l = loss(net(x), y)"),
    "scalar": ("a = (b * c).backward()", lambda f: lines.first_of(f, 1, "backward", "mean()"),
               "a = (b * c).mean().backward()"),
    "word": ("g = a.grad(u, t, o=f(u), retain_graph=True)[0]", lambda f: calls.with_word(
        f, 1, "grad", "create_graph", "True", ("retain_graph",)), "g = a.grad(u, t, o=f(u), create_graph=True)[0]"),
    "another word": ("g = a.grad(u, t)[0]", lambda f: calls.with_word(f, 1, "grad", "create_graph", "True"),
                     "g = a.grad(u, t, create_graph=True)[0]"),
    "no such call": ("g = a.step(u)", lambda f: calls.with_word(f, 1, "grad", "create_graph", "True"), "g = a.step(u)"),
    "function": ("return torch.softmax(self.fc(x), dim=1)", lambda f: calls.without_call(f, 1, "softmax"),
                 "return self.fc(x)"),
    "method of": ("p = f(x).sigmoid()", lambda f: calls.without_call(f, 1, "sigmoid"), "p = f(x)"),
    "of an axis": ("p = f(x).softmax(-1)", lambda f: calls.without_call(f, 1, "softmax"), "p = f(x)"),
    "mask": ("y, _ = self.attn(q, h, h, key_padding_mask=valid)", lambda f: calls.turned_mask(f, 1),
             "y, _ = self.attn(q, h, h, key_padding_mask=~valid)"),
    "mask of a mask": ("s = s.masked_fill(~there, -1e9)", lambda f: calls.turned_mask(f, 1),
                       "s = s.masked_fill(there, -1e9)"),
    "mask compared": ("s = s.masked_fill(m[:, None] != 0, -1e9)", lambda f: calls.turned_mask(f, 1),
                      "s = s.masked_fill(m[:, None] == 0, -1e9)"),
    "two masks": ("y = f(q, a_mask=a, b_mask=b)", lambda f: calls.turned_mask(f, 1), "y = f(q, a_mask=a, b_mask=b)"),
    "integers": ("w = f([1])", lambda f: lines.value(f, 1, "{}.astype(float)"), "w = f([1]).astype(float)")}


@pytest.mark.parametrize("case", CASES)
def test_a_line_as_the_remedy_has_it(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, change, new = CASES[case]
    monkeypatch.chdir(tmp_path)
    file = str(tmp_path / "train.py")
    Path(file).write_text(old + "\n")
    linecache.checkcache()
    found = change(file)
    assert (patch_of_lines(found, file).new.decode() if found else old + "\n") == new + "\n"
