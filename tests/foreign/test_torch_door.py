"""The door of PyTorch around scripts of a few ops: what is recorded, built, compared and told of each backward."""

import linecache
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.site import Site
from autodiff.core.traversal import ancestors
from autodiff.foreign.doors import View
from autodiff.foreign.leaf_names import is_of_all_rows

from .mini_torch import installed

HEAD = """import torch; from types import SimpleNamespace
w = torch.tensor([[0.5], [-1.0], [2.0]], requires_grad=True)
x = torch.tensor([[1.0, 2.0, 3.0], [0.5, -1.0, 1.0], [2.0, 0.0, 1.0], [1.0, 1.0, -1.0]])
y = torch.tensor([[1.0], [0.0], [2.0], [1.0]])
losses = []
for step in range(6):
"""
LOSS = "loss = (x @ w - y).square().mean()"
FREED = "loss.refuses = step * 'Trying to backward through the graph a second time'"
DOWN = ["losses.append(float(loss))", "loss.backward()", "with torch.no_grad():",
        "    w -= w.grad * torch.tensor(0.05)", "    w.grad.zero_()"]


@pytest.fixture
def told(tmp_path, capfd):
    def run(*lines, door=True, hurries=False):
        """A script of these lines in its loop: its namespace, steps, and what was said."""
        file = tmp_path / "train.py"
        file.write_text(HEAD + "".join(f"    {line}\n" for line in lines))
        linecache.checkcache()
        names, seen = {}, []
        with installed("autodiff.foreign.torch"):
            from autodiff.foreign.torch.door import TorchDoor
            made = TorchDoor(View(lambda: names, lambda: not door, hurries=lambda: hurries))
            ask = made.steps.run
            made.steps.run = lambda step: seen.append((float(ask(step)), step, [*made.steps.advice.findings()]))
            with made.opened():
                exec(compile(file.read_text(), str(file), "exec"), names)
        return SimpleNamespace(names=names, steps=seen, said=capfd.readouterr().err, advice=made.steps.advice,
                               recorder=made.recorder,
                               found=[(f.kind, f.place and f.place.line) for f in seen[-1][2]] if seen else [],
                               slopes=lambda: [made.steps.session.run(g, dict(s.feeds)) for _, s, _ in seen[-1:]
                                               for g in made.steps.gradients_of(s.loss).values() if g is not None])
    return run


def test_each_backward_is_a_step_with_the_values_that_torch_had(told):
    found = told(LOSS, *DOWN)
    assert np.allclose([loss for loss, *_ in found.steps], found.names["losses"], rtol=1e-6)
    (loss, step, _), = found.steps[-1:]
    assert (step.call, list(step.values)) == ("loss.backward()", ["w"])
    assert len({s.loss for _, s, _ in found.steps}) == 1  # one graph
    assert np.allclose(found.slopes()[0], step.gradients["w"], rtol=1e-6)
    assert (found.said, found.found) == ("", [])


@pytest.mark.parametrize("size, turns, seen", [(1, 10, 60), (201, 10, 22), (1, 14, 80)])
def test_of_steps_that_all_do_something_else_some_are_looked_at(size, turns, seen, told):
    found = told(f"for k in range({turns}):", "    h = x @ w", f"    for _ in range({size} + {turns} * step + k):",
                 "        h = h * torch.tensor(1.0)", "    far = float('inf') if (step, k) == (2, 9) else 0.0",
                 "    loss = (h - y).square().mean() - torch.tensor(far)", "    loss.backward()",
                 "    w.grad.zero_()", hurries=True)
    assert len(found.steps) == seen and sum(not np.isfinite(loss) for loss, *_ in found.steps) == 1
    assert ("one in 8 is looked at" in found.said) is (seen != 60)


@pytest.mark.parametrize("lines, line, text, remedy", [
    (["v = w * torch.tensor(0.1)", LOSS.replace("w", "v"), "loss.backward()", "v.grad * torch.tensor(0.05)"],
     7, "v.grad stays None", "v = (…).detach().requires_grad_() at train.py:7"),
    (["v = w * torch.tensor(0.1)", "u = w * torch.tensor(2.0)", LOSS.replace("@ w", "@ (v * u)"), "loss.backward()",
      "v.grad * torch.tensor(0.05)", "u.grad * torch.tensor(0.05)"], 7, "v.grad stays None: v is no leaf, as mul made "
     "it at train.py:7 of what requires a gradient; and so is u, made at train.py:8", "v = (…)"),
    (["v = w * torch.tensor(0.1)", "u = w * torch.tensor(2.0)", LOSS.replace("@ w", "@ (v * u)"), "loss.backward()",
      "for p in (w, v, u):", "    p.grad * torch.tensor(0.05)"], 7, "p.grad stays None: p is no leaf, as mul made it at"
     " train.py:7 of what requires a gradient; and so is u, made at train.py:8", "p = (…)"),
    ([LOSS, "loss.backward()", "with torch.no_grad():", "    w = w * torch.tensor(0.5)", "w.grad * 2"],
     10, "w.grad is None: w does not require a gradient, as mul made it anew at train.py:10 under no_grad", "w -= …"),
    (["h = h if step else w", "h = h * torch.tensor(0.5)", LOSS.replace("w", "h"),
      FREED, "loss.backward()"],
     8, "h comes from the step before, made at train.py:8", "h = h.detach()"),
    (["h, c = (h, c) if step else (w, w)", "h, c = h * c, c * torch.tensor(0.5)", LOSS.replace("w", "h"),
      FREED, "loss.backward()"],
     8, "h and c come from the step before, made at train.py:8", "h, c = h.detach(), c.detach()"),
    (["if not step:", "    h = None", "h = w * torch.tensor(0.5) if h is None else h * torch.tensor(0.5)",
      LOSS.replace("w", "h"), FREED, "loss.backward()"],
     12, "h comes from the step before, made at train.py:9", "train.py:12: h = h.detach()"),
    (["m = m if step else SimpleNamespace(h=w)", "def keep(value):", "    m.h = value", "h = m.h * torch.tensor(0.5)",
      "keep(h)", LOSS.replace("w", "h"), FREED, "loss.backward()"],
     9, "m.h comes from the step before, made at train.py:10, kept at train.py:9", "m.h = value.detach()"),
    (["m = m if step else SimpleNamespace(h=w)", "m.h = m.h * torch.tensor(0.5)", LOSS.replace("w", "m.h"), FREED,
      "loss.backward()"], 8, "m.h comes from the step before, made at train.py:8", "train.py:11: m.h = m.h.detach()"),
    (["v = torch.tensor([[1.0], [1.0], [1.0]], requires_grad=True)", "h = x @ v",
      "h._needs = False", "(x @ w * h).mean().backward()", LOSS.replace("- y", "* h"), "loss.backward()", "v.grad * 2"],
     8, "v has no gradient: the way to the loss ends: what mm makes of it", "use it for the loss"),
    (["h = h if step else x @ w", "loss = (h - y).square().mean()",
      FREED, "loss.backward()"],
     8, "h, made at train.py:7, is in two losses", "retain_graph=True"),
    (["h = x @ w", "h.mul_(torch.tensor(2.0))", LOSS.replace("x @ w", "h"), "loss.refuses = 'one has been modified by"
      " an inplace operation: [torch.FloatTensor [4, 1]], which is output 0'", "loss.backward()"],
     8, "mul_ changes in place at train.py:8", "x.clone()"),
    (["with torch.no_grad():", "    h = x @ w", LOSS.replace("x @ w", "h"),
      "loss.refuses = 'element 0 of tensors does not require grad'", "loss.backward()"],
     8, "it is computed under torch.no_grad(), mm at", "outside of no_grad()"),
    (["g = (w * w).detach()", "g.refuses = 'element 0 of tensors does not require grad'",
      "torch.autograd.grad(g, w, grad_outputs=None)"], 9, "it is the gradient that torch.autograd.grad gave at "
     "train.py:9", "create_graph=True in that call"),
    (["raise IndexError('Target 3 is out of bounds.')"], 0, "", "classes count from 0")])
def test_an_error_of_torch_is_told_with_its_line_and_what_to_do(told, lines, line, text, remedy):
    with pytest.raises((RuntimeError, TypeError, IndexError)) as error:
        told(*lines)
    found = error.value.told
    assert found.text.startswith(text) and remedy in found.remedy, found
    assert (found.place.line if found.place else 0) == line


def test_what_is_detached_for_one_loss_trains_the_other(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("def step():\n    z = g(n).detach()\n    d = a(c(z), 0)\n    d.backward()\n    p = c(z)\n"
                    "    p.backward()\n")
    with installed("autodiff.foreign.torch"):
        from autodiff.foreign.torch.uncut import connected
        assert [*connected(str(file), 2).values()] == ["    z = g(n)", "    d = a(c(z.detach()), 0)"]


@pytest.mark.parametrize("value, call, mended", [
    ("self.net(n, k)", "m.draw(9, k=2)[0]", "m.net(9, 2)[0]"), ("self.a * k + n", "m.draw(9, 2)", "(m.a * 2 + 9)"),
    ("self.net(n)", "m.draw(9)", "")])
def test_the_function_that_no_grad_decorates_is_not_called_for_a_loss(tmp_path, value, call, mended):
    (file := tmp_path / "train.py").write_text(
        "class M:\n    @torch.no_grad()\n    def draw(self, n, k):\n"
        f"        return {value}\nx = {call}\nm.draw(1, 1)\n")
    sites = [Site(str(file), 4, "draw"), Site(str(file), 5, "<module>")]
    with installed("autodiff.foreign.torch"):
        from autodiff.foreign.torch.uncut import called_itself, told_unrecorded
        assert [*called_itself(sites).values()] == [f"x = {mended}"] * bool(mended)
        assert told_unrecorded((*sites,)) == "under the no_grad at train.py:2, called at train.py:5"


@pytest.mark.parametrize("asked", [False, True])
def test_what_is_differentiated_by_on_the_way_is_data(told, asked):
    ask = "torch.autograd.grad(h, t, grad_outputs=None)" if asked else "pass"
    found = told("from torch.optim import Optimizer", "o = Optimizer([w], 0.1) if not step else o",
                 "t = torch.tensor(1.0, requires_grad=True) if not step else t", "h = x @ w * t", ask,
                 "loss = (h - y).square().mean()", "loss.backward()")
    assert ("not in the optimizer" in [kind for kind, _ in found.found]) != asked


@pytest.mark.parametrize("writes, graphs", [("pass", 1), ("a.mul_(torch.tensor(2.0))", 2)])
def test_what_was_filled_before_the_loop_and_is_not_written_in_it_is_given(told, writes, graphs):
    found = told("if not step:", "    a = x * torch.tensor(1.0)", "    a.mul_(torch.tensor(2.0))", "for k in range(2):",
                 "    loss = (a @ w - y).square().mean()", f"    {writes}", "    loss.backward()",
                 "    w.grad.zero_()", "    losses.append(float(loss))")
    assert len({s.loss for _, s, _ in found.steps}) == graphs
    assert np.allclose([loss for loss, *_ in found.steps], found.names["losses"], rtol=1e-6)


@pytest.mark.parametrize("write", [
    "mini.dispatch('copy_', b[0], x)", "mini.dispatch('copy_', b.data[0], x)",
    "v = b.numpy(); b[1].mul_(torch.tensor(2.0)); v[0] = x.array",
    "z = x * x; mini.dispatch('copy_', b[0], z); z.mul_(torch.tensor(9.0))"])
def test_what_is_not_finite_before_the_loop_is_given_as_it_was_changed(told, write):
    found = told("import tests.foreign.mini_torch as mini", "if not step:",
                 "    b = mini.dispatch('add.Scalar', torch.stack([x, x]), -float('inf'))", f"    {write}",
                 "for k in range(2):", "    loss = (b[0] @ w - y).square().mean()", "    loss.backward()",
                 "    w.grad.zero_()", "    losses.append(float(loss))")
    assert np.isfinite(found.names["losses"]).all()
    assert np.allclose([loss for loss, *_ in found.steps], found.names["losses"], rtol=1e-6)


@pytest.mark.parametrize("write", ["v = x[0]", "x = x * torch.tensor(1.0); x.numpy()[1] = step"])
def test_data_changed_in_place_by_each_step_are_what_they_are(told, write):
    found = told(write, "x.mul_(torch.tensor(1.125))", LOSS, *DOWN)
    assert np.allclose([loss for loss, *_ in found.steps], found.names["losses"], rtol=1e-6)


@pytest.mark.parametrize("ask", ["torch.autograd.grad(h, t, create_graph=True)", "pass"])
def test_what_an_earlier_loss_asked_by_is_no_variable_of_the_next(told, ask):
    found = told("o = torch.optim.Optimizer([w], 0.1) if not step else o", "t = torch.tensor(1.0, requires_grad=True)",
                 "h = x @ w * t", ask, "(h - y).square().mean().backward()", LOSS, "loss.backward()")
    assert ("t" in found.steps[-1][1].values) is (ask == "pass")


def test_a_script_without_a_step_is_told_what_one_is(told):
    assert "nothing here was a step: loss.backward() is one" in told("x @ w").said


APART = ["p = {'a': w.detach(), 'b': torch.tensor([0.0])} if not step else p"]


def test_a_call_of_what_torch_func_made_is_a_step_and_gives_what_autograd_does(told):
    found = told(*APART, "def error(p, x):", "    e = (x @ p['a'] - y).square().mean()", "    return e, e",
                 "g, (v, h) = torch.func.grad_and_value(error, has_aux=True)(p, x)",
                 "p = {'a': p['a'] - g['a'] * torch.tensor(0.05), 'b': p['b']}", "losses.append(float(v))")
    assert found.said == "" and [loss for loss, *_ in found.steps] == pytest.approx(found.names["losses"])
    (_, step, _), = found.steps[-1:]
    assert (step.call, [*step.values]) == ("torch.func.grad()", ["a", "b"])
    assert np.allclose(found.slopes()[0], found.names["g"]["a"].array, rtol=1e-6)
    assert not found.names["g"]["b"].array.any() and not found.names["v"].requires_grad
    assert found.names["losses"][-1] < 0.5 * found.names["losses"][0]


def test_torch_func_by_two_arguments_is_one_step_of_both(told):
    found = told("def error(a, b): return (x @ (a - b) - y).square().mean()",
                 "g = torch.func.grad(error, argnums=(0, -1))(w.detach(), y[0] * w.detach())")
    (_, step, _), slopes = found.steps[-1], found.names["g"]
    assert found.said == "" and [*step.values] == ["a", "b"]
    assert np.allclose(slopes[0].array, -slopes[1].array) and np.allclose(found.slopes()[0], slopes[0].array, rtol=1e-5)


@pytest.mark.parametrize("call", [
    "torch.func.grad(error)(w)", "torch.func.grad(error, 1)(w.detach())", "torch.func.grad(lambda v: v)(w.detach())",
    "torch.func.grad(lambda v: (error(v), 3), has_aux=True)(w.detach())", "torch.func.grad(error)([1])",
    "around(torch.func.grad(error))(w.detach())"])
def test_what_autograd_cannot_do_for_torch_func_is_left_to_it(told, call):
    found = told("import tests.foreign.mini_torch as mini", "def error(v): return (x @ v - y).square().mean()",
                 "def around(f): mini.STATE.around = 1; return f", f"g = {call}", "mini.STATE.around = None")
    assert found.names["g"] == "left to torch" and not found.steps


def test_vmap_of_torch_func_is_a_step_of_all_rows_together(told):
    found = told("import sys", "def error(p, r): heard.add(sys.stdout); return (r @ p['a'] - y).square().mean()",
                 "p, heard = {'a': w.detach()}, set()", "z = x * torch.tensor(2.0)",
                 "g = torch.vmap(torch.func.grad(error), (None, 0))(p, torch.stack([x, z, z]))",
                 "unheard = sys.stdout not in heard")
    w, y = found.names["p"]["a"].array, found.names["y"].array
    (loss, step, _), = found.steps[-1:]
    assert loss == pytest.approx(np.mean([(r.array @ w - y) ** 2 for r in map(found.names.get, "xzz")]), rel=1e-6)
    assert (found.names["g"], step.call, [*step.values]) == ("left to torch", "torch.vmap(torch.func.grad())", ["a"])
    assert len(found.steps) == 6 and found.said == "" and found.names["unheard"]


def test_what_is_made_of_a_gradient_function_is_none_for_vmap(told):
    found = told("from functools import wraps", "def error(p, r): return (r @ p - y).square().mean()",
                 "slope = torch.func.grad(error)", "@wraps(slope)", "def of_more(p, r, more): return slope(p, r)",
                 "stack = torch.stack([x, x])", "g = torch.vmap(of_more, (None, 0, None))(w.detach(), stack, 1)")
    assert found.names["g"] == "left to torch" and not found.steps


@pytest.mark.parametrize(["axes", "numbers", "found"], [
    ((None, 0), [0], True), (0, [0, 1], False), ((0, None), [0], False), ((None, 0), [0, 1], None), (1, [0], None),
    (({"w": 0}, None), [0], None), ((None, 0), [1], None)])
def test_what_the_rows_of_a_vmap_share(axes, numbers, found):
    assert is_of_all_rows([{"w": 1.0}, 2.0], numbers, axes, lambda tree: not isinstance(tree, dict)) is found


def test_what_torch_func_differentiates_on_the_way_to_a_loss_is_no_step_of_its_own(told):
    found = told("g = torch.func.grad(lambda v: (v @ w).square().mean())(x)", LOSS, *DOWN)
    assert found.said == "" and len(found.steps) == 6 and [*found.steps[-1][1].values] == ["w"]


def test_the_elements_of_a_sparse_gradient_are_those_that_it_holds():
    with installed("autodiff.foreign.torch"):
        from autodiff.foreign.torch.record import numbers_of
        sparse = SimpleNamespace(is_sparse=True, coalesce=lambda: SimpleNamespace(values=lambda: "held"))
        sparse.detach = lambda: sparse
        assert numbers_of(sparse) == "held"


def test_two_losses_made_before_the_first_backward_are_two_steps(told):
    found = told("h = x @ w", "a, b = (h - y).square().mean(), (x @ (w * torch.tensor(2.0)) - y).square().mean()",
                 "a.backward()", "b.backward()", "w.grad.zero_()")
    assert found.said == "" and len(found.steps) == 12
    assert all(step.gradients["w"] is not None for _, step, _ in found.steps) and len(found.slopes()) == 1


def test_the_script_computes_the_same_bits(told):
    alone, watched = told(LOSS, *DOWN, door=False), told(LOSS, *DOWN)
    assert alone.steps == [] and alone.names["losses"] == watched.names["losses"]
    assert alone.names["w"].array.tobytes() == watched.names["w"].array.tobytes()


@pytest.mark.parametrize("lines", [
    ["x, y = (torch.stack([t[(step * 3 + i) % 4] for i in (1, 0)]) for t in (x0, y0)) if step else (x, y)"],
    ["x = torch.tensor([0.0])", "take(x, step)"]])
def test_data_that_no_op_made_are_fed_as_they_are(told, lines):
    before = ["x0, y0 = (x, y) if not step else (x0, y0)", "import tests.foreign.mini_torch as mini",
              "take = lambda t, k: mini.dispatch('set_', t, mini.Tensor(x0.array + k))"]
    found = told(*before, *lines, LOSS, *DOWN)
    assert found.said == ""
    assert np.allclose([loss for loss, *_ in found.steps], found.names["losses"], rtol=1e-6)


def test_an_edit_that_autograd_does_not_see_is_suspected(told):
    found = told("h = x @ w", "h.data.mul_(torch.tensor(2.0))", LOSS.replace("x @ w", "h"), *DOWN)
    assert [(s.place.line, "changes in place" in s.text) for s in found.advice.suspects] == [(8, True)]


@pytest.mark.parametrize("line, count", [("v[0] = 5.0", 1), ("u = v[0] + 5.0", 0)])
def test_numpy_that_writes_to_a_tensors_memory_is_suspected(told, line, count):
    found = told("h = x @ w", "v = h.detach().numpy()", line, LOSS.replace("x @ w", "h"), *DOWN)
    assert [(s.place.line, ".numpy()" in s.text) for s in found.advice.suspects] == [(9, True)] * count


def test_the_optimizer_that_lacks_a_parameter_is_the_last_one(told):
    found = told("import torch.optim as optim", "last = type('Last', (optim.Optimizer,), {})",
                 "o = [*(optim.Optimizer([w], 0.1) for _ in range(7)), last([w], 0.1)] if not step else o",
                 "t = torch.tensor(1.0, requires_grad=True) if not step else t",
                 LOSS.replace("w", "w * t"), "loss.backward()")
    assert [f.remedy for f in found.steps[-1][2] if f.kind == "not in the optimizer" and "Last" in f.remedy]


def test_an_optimizer_of_frozen_parameters_alone_is_told(told):
    lines = ["import torch.optim as optim", "v = torch.tensor(1.0, requires_grad=True) if not step else v",
             "o = optim.Optimizer([v], 0.1) if not step else o", "v.requires_grad = {}", LOSS, "loss.backward()"]
    assert "frozen parameters" in [kind for kind, _ in told(*lines[:3], lines[3].format(False), *lines[4:]).found]
    assert "frozen parameters" not in [kind for kind, _ in told(*lines[:3], lines[3].format(True), *lines[4:]).found]


def test_a_parameter_is_made_where_it_was_filled_last(told):
    found = told("with torch.no_grad():", "    w.mul_(torch.tensor(1.0))", LOSS, *DOWN)
    assert found.steps[0][1].loss.graph.get_operation_by_name("w").traceback[0].line == 8


def test_what_is_made_without_gradients_and_then_differentiated_is_a_leaf(told):
    found = told("with torch.no_grad():", "    v = w * torch.tensor(0.1)", "v.requires_grad = True",
                 "loss = (x @ w * (x @ v)).square().mean() * torch.tensor(0.01)", *DOWN)
    assert np.allclose(found.slopes()[0], found.steps[-1][1].gradients["w"], rtol=1e-5)


def test_a_hook_that_changes_gradients_is_suspected_and_one_that_looks_is_not(told):
    hooked = ["h = x @ w", "h.register_hook(lambda dy: {})", LOSS.replace("x @ w", "h"), *DOWN]
    found = told(*[line.format("dy * torch.tensor(0.5)") for line in hooked])
    assert [(s.place.line, "hook" in s.text) for s in found.advice.suspects] == [(8, True)]
    assert np.allclose(found.slopes()[0], 2 * found.steps[-1][1].gradients["w"], rtol=1e-5)  # ours is without
    assert told(*[line.format("None") for line in hooked]).advice.suspects == []
    assert found.found == []
    assert ("gradient turned", 8) in told(*[line.format("dy * torch.tensor(-0.5)") for line in hooked]).found


def test_what_backward_computes_again_is_suspected(told):
    found = told("torch.utils.checkpoint.checkpoint(None)", LOSS, *DOWN)
    assert [(s.place.line, "checkpoint" in s.text) for s in found.advice.suspects] == [(7, True)]


def test_clipping_that_no_step_uses_is_named(told):
    clip = "torch.nn.utils.clip_grad_norm_([w], 1.0)"
    descent = "descent = descent if step else torch.optim.Optimizer([w])"
    assert told(descent, LOSS, "descent.zero_grad()", "loss.backward()", "descent.step()", clip
                ).found == [("clipped in vain", 12)]
    assert told(descent, LOSS, "descent.zero_grad()", "loss.backward()", clip, "descent.step()").found == []


def test_what_was_made_before_a_step_stays_what_it_was(told):
    first = ["descent = descent if step else torch.optim.Optimizer([w])", "h = x @ w", "descent.zero_grad()",
             "(h - y).square().mean().backward()", "descent.step()"]
    later = ["u = torch.tensor([[0.3], [0.2], [-1.0]], requires_grad=True)", "gap = (h * torch.tensor(2.0)).detach()",
             "loss = (x @ u * gap).mean()", "losses.append(float(loss))", "loss.backward()"]
    found = told(*first, *later)
    assert np.allclose([loss for loss, *_ in found.steps[1::2]], found.names["losses"], rtol=1e-6)


def test_a_part_of_data_has_its_name(told):
    found = told("both = torch.stack([x[0], x[step % 4]])", "loss = (both @ w).square().mean()", *DOWN)
    assert {t.op.name for t in found.steps[-1][1].feeds} == {"both"}


def test_a_part_of_a_detached_parameter_comes_from_it(told):
    made = "u = torch.tensor([[0.3], [0.2], [-1.0]], requires_grad=True) if not step else u"
    found = told(made, "part = u.detach()[1]", "loss = (x @ w * part).square().mean()", *DOWN)
    assert "u" in {op.name for op in ancestors([found.steps[-1][1].loss])}
    assert "u" not in found.advice.remarks  # the graph tells what cuts it off


def test_clipping_that_leaves_nothing_is_named(told):
    descent = "descent = descent if step else torch.optim.Optimizer([w], 1e-12)"
    step = ["descent.zero_grad()", "loss.backward()", "torch.nn.utils.clip_grad_norm_([w], {})", "descent.step()"]
    twice = [LOSS, *step, LOSS, *step]
    assert told(descent, *[line.format(1e-9) for line in twice]).found == [("clipped to nothing", 11)]
    assert told(descent, *[line.format(1.0) for line in twice]).found == [("learning rate too low", 7)]
    spoiled = [f"{LOSS} * torch.tensor(float('nan'))", "descent.zero_grad()", "loss.backward()", "descent.step()"]
    assert told(descent, *2 * spoiled).found == []  # what is nan is not slow


def test_clipping_below_an_epsilon_and_a_momentum_without_end_are_named(told):
    made = "o = o if step + k else torch.optim.Optimizer([w]); o.param_groups[0].update(eps=1e-8, momentum={})"
    step = [LOSS, "o.zero_grad()", "loss.backward()", "torch.nn.utils.clip_grad_norm_([w], {})",
            "w.grad.mul_(torch.tensor({}))", "o.step()"]

    def found(momentum, most, times):
        return told("for k in range(4):", *(f"    {line}" for line in (
            made.format(momentum), *step[:3], step[3].format(most), step[4].format(times), step[5]))).found
    assert found(0.9, 1e-9, 1e-10) == [("clipped to nothing", 12)]
    assert found(0.9, 1e-3, 1e-3) == [] and found(0.999, 1.0, 1.0) == [("momentum too high", 8)]


@pytest.mark.parametrize("lines, kinds", [
    (["b.zero_grad()"], {"never stepped"}), (["b.zero_grad()", "b.step()"], set()),
    (["v.grad = None"], {"never stepped"}),
    (["b.zero_grad()", "with torch.no_grad():", "    v -= v.grad * torch.tensor(0.05) if v.grad else y[1]"], set())])
def test_an_optimizer_that_never_steps_beside_another_is_named(told, lines, kinds):
    found = told("if not step:", "    v = torch.tensor([[1.0], [1.0], [1.0]], requires_grad=True)",
                 "    a, b = torch.optim.Optimizer([w]), torch.optim.Optimizer([v])", "for k in range(4):",
                 *(f"    {line}" for line in (LOSS, "loss.backward()", "a.step()", "a.zero_grad()", "other = (x @ v - "
                                              "y).square().mean()", "other.backward()", *lines[1:], lines[0])))
    assert {kind for kind, _ in found.found} & {"never stepped"} == kinds


def test_a_weight_decay_that_outweighs_the_loss_is_named(told):
    def steps(decay):
        descent = f"descent = descent if step else torch.optim.Optimizer([w]); descent.param_groups[0].update({decay})"
        return told(descent, LOSS, "descent.zero_grad()", "loss.backward()", "descent.step()").found
    assert steps("weight_decay=9.0") == [("weight decay", 7)]
    assert steps("weight_decay=0.01") == []


@pytest.mark.parametrize("decay, kinds", [(1.0, ["weight decay"]), (0.01, [])])
def test_a_weight_decay_that_balances_the_loss_is_named(told, decay, kinds):
    made = "descent = descent if step + _ else torch.optim.Optimizer([w])"
    given = f"descent.param_groups[0].update(weight_decay={decay})"
    down = ["with torch.no_grad():", f"    w -= w * torch.tensor({0.1 * decay})", "    w -= w.grad * torch.tensor(0.1)",
            "    w.grad.zero_()"]
    found = told("for _ in range(9):", *(f"    {line}" for line in (
        made, given, LOSS, "descent.zero_grad()", "loss.backward()", "descent.step()", *down)))
    assert [f.kind for f in found.steps[-1][2]] == kinds


def test_a_schedule_that_leaves_no_rate_has_its_line(told):
    made = "descent = descent if step else torch.optim.Optimizer([w])"
    plan = "plan = plan if step else torch.optim.lr_scheduler.LRScheduler(descent)"
    found = told(made, plan, LOSS, "descent.zero_grad()", "loss.backward()", "descent.step()", "descent.step()")
    assert found.found == [("learning rate too low", 8)] and found.advice.rate.place.line == 7
    raised = "descent.param_groups[0].update(initial_lr=0.01, lr=2.0)"
    rate = told(made, plan, raised, LOSS, "descent.zero_grad()", "loss.backward()", "descent.step()").advice.rate
    assert (rate.text, rate.place.line) == ("the learning rate is 2, 200 times what it began with, by its schedule", 8)
    group = "step or descent.param_groups.append({'params': [], 'lr': 7.0})"
    rate = told(made, group, LOSS, "descent.zero_grad()", "loss.backward()", "descent.step()").advice.rate
    assert (rate.text, rate.place.line) == ("the learning rate is 7 in one of its groups", 7)


def test_a_schedule_of_the_scripts_own_that_raises_the_rate_has_its_line(told):
    found = told("descent = descent if step else torch.optim.Optimizer([w])", "factor = lambda n: 2.0 * n",
                 "plan = plan if step else torch.optim.lr_scheduler.LRScheduler(descent)",
                 "plan.optimizer, plan.last_epoch, plan.lr_lambdas = descent, step, [factor]",
                 "descent.param_groups[0].update(initial_lr=0.05, lr=0.05 * factor(step))", LOSS,
                 "descent.zero_grad()", "loss.backward()", "descent.step()")
    rising, = found.advice.uphill()
    assert rising.text.startswith("the learning rate rises, from 0.05 that the optimizer was given to 0.5")
    assert [*found.advice.written(rising).values()] == ["    factor = lambda n: min(1.0, 2.0 * n)"]


def test_a_warm_up_that_is_not_divided_ends_at_1(tmp_path):
    (file := tmp_path / "train.py").write_text(
        "def warm(n):\n    def factor(step):\n        if step < n:\n            return step + 1\n"
        "        return 1.0\n    return factor\n")
    exec(compile(file.read_text(), str(file), "exec"), names := {})
    linecache.checkcache()
    with installed("autodiff.foreign.torch"):
        from autodiff.foreign.torch.rates import bounded
        (first, mended), (later, as_it_is) = (bounded(names["warm"](9), turn) for turn in (3, 20))
    assert (first.line, mended, later.line, as_it_is) == (4, "(step + 1) / n", 5, "min(1.0, 1.0)")


@pytest.mark.parametrize(["loss", "wrong", "right"], [
    ("kl_div", [[0.25, 0.75], [0.5, 0.5]], [[-0.25, 0.75], [0.5, 0.5]]),
    ("nll_loss", [[0.25, 0.75], [0.5, 0.5]], [[-0.6931472, -0.6931472], [0.0, -50.0]])])
def test_losses_that_take_logarithms(told, loss, wrong, right):
    of = f"torch.nn.functional.{loss}(torch.tensor({{}}), target=x)"
    assert told(of.format(wrong), LOSS, *DOWN).found == [("no logarithms", 7)]
    assert told(of.format(right), LOSS, *DOWN).found == []


def test_what_is_assigned_to_data_is_where_the_way_ends(told):
    made = "v = v if step else torch.tensor([[1.0], [1.0], [1.0]], requires_grad=True)"
    found = told(made, "w.data = v * torch.tensor(0.5)", LOSS, *DOWN).advice.remarks
    assert [(name, ".data = " in r.text, r.place.line) for name, r in found.items()] == [("v", True, 8)]


def test_a_loss_without_a_step_and_parameters_that_are_all_frozen_are_told(told):
    made = "descent = descent if step else torch.optim.Optimizer([w])"
    assert ("never stepped", 10) in told(made, LOSS, "descent.zero_grad()", "loss.backward()").found
    tested = ["fisher = torch.tensor(0.0)", LOSS, "loss.backward()", "descent.step() if step == 0 else None",
              "fisher = w.grad.square() if kept else w.grad.norm()", "descent.zero_grad()"]
    for kept in (True, False):  # what makes something of the gradients needs no step
        kinds = [kind for kind, _ in told(made, f"kept = {kept}", *tested).found]
        assert ("never stepped" in kinds) is not kept
    closed = ["def closure():", "    descent.zero_grad()", f"    {LOSS}", "    loss.backward()",
              "descent.step(closure)"]
    found = told(made, *closed)
    assert len(found.steps) == 36
    assert not [f.kind for *_, each in found.steps for f in each if f.kind == "never stepped"]
    with pytest.raises(RuntimeError) as error:
        raise RuntimeError("element 0 of tensors does not require grad")
    with installed("autodiff.foreign.torch"):
        from autodiff.foreign.torch.raised.post_mortem import PostMortem
        nothing, frozen = SimpleNamespace(entries=[], older=[]), SimpleNamespace(frozen=lambda _: None, optimizers=())
        from torch import Tensor
        loss, given = Tensor(np.zeros(1)), {"w": SimpleNamespace(requires_grad=False)}
        found = PostMortem(error.value, nothing, frozen, (None, loss), given).remark()
    assert found.text == "requires_grad of all 1 parameters is False"


def test_the_way_ended_before_the_step_that_takes_the_numbers(told):
    made = "v = v if step else torch.tensor([[1.0], [1.0], [1.0]], requires_grad=True)"
    first = ["h = x @ v", "h._needs = False", "(x @ w * h).mean().backward()"]
    found = told(made, *first, LOSS.replace("- y", "* h"), *DOWN)
    assert [(name, r.place.line) for name, r in found.advice.remarks.items()] == [("v", 8)]


def test_a_state_that_is_detached_before_each_step_makes_no_step_part_of_another(told):
    state = ["h = (h if step else y) * torch.tensor(0.5)", "h._needs = False", "h = x @ w - h"]
    found = told(*state, LOSS.replace("x @ w", "h"), *DOWN)
    assert len({s.loss for _, s, _ in found.steps}) < 3
    assert np.allclose(found.slopes()[0], found.steps[-1][1].gradients["w"], rtol=1e-6)


def test_the_remedy_of_a_finding_is_known_as_lines(told):
    found = told("descent = descent if step else torch.optim.Optimizer([w])", LOSS, "loss.backward()", "descent.step()")
    finding = next(f for f in found.steps[-1][2] if f.kind == "gradients accumulate")
    (_, line), = written = found.advice.written(finding)
    assert line == 10 and [*written.values()] == ["    descent.step()\n    descent.zero_grad()"]


def test_the_way_ends_where_a_gradient_still_flowed(told):
    made = "v = v if step else torch.tensor([[1.0], [1.0], [1.0]], requires_grad=True)"
    found = told(made, "h = x @ v", "cut = h.detach()", "other = cut * cut", LOSS, *DOWN).advice.remarks
    assert [(name, r.place.line) for name, r in found.items()] == [("v", 8)]  # not where its numbers went from there


@pytest.mark.parametrize("around", ["with torch.no_grad():", "if True:"])  # of the latter torch gives it zeros
def test_what_is_drawn_of_a_parameter_carries_no_gradient(told, around):
    made = "v = v if step else torch.tensor([[1.0], [1.0], [1.0]], requires_grad=True)"
    drawn = ["import tests.foreign.mini_torch as mini", around, "    z = mini.dispatch('normal', v)"]
    found = told(made, *drawn, LOSS.replace("@ w", "@ (w * z)"), *DOWN).advice.remarks
    assert [(name, "normal draws" in r.text, "no_grad" in r.remedy, r.place.line) for name, r in found.items()] == [
        ("v", True, False, 10)]


@pytest.mark.parametrize(["number", "graphs"], [("float('nan')", 1), ("float(step % 2)", 2)])
def test_numbers_that_change_are_fed_and_nan_is_no_change(told, number, graphs):
    found = told("import tests.foreign.mini_torch as mini", f"h = mini.dispatch('add.Scalar', x @ w, {number})",
                 LOSS.replace("x @ w", "h"), *DOWN)
    assert len({s.loss for _, s, _ in found.steps}) == graphs and len(found.steps) == 6


def test_an_op_of_the_users_own_is_looked_into(told):
    found = told("import tests.foreign.mini_torch as mini", "loss = mini.dispatch('own', x @ w - y).mean()", *DOWN)
    assert len(found.steps) == 6 and found.said == ""
    assert np.allclose(found.slopes()[0], found.steps[-1][1].gradients["w"], rtol=1e-6)


def test_a_branch_that_torch_would_compile_is_run_as_it_is(told):
    branches = "h = torch.cond(x, lambda v: v * torch.tensor(1.0), lambda v: 1 / 0, (x @ w - y,))"
    found = told(branches, "loss = h.square().mean()", *DOWN)
    assert len(found.steps) == 6 and found.said == ""
    assert np.allclose(found.slopes()[0], found.steps[-1][1].gradients["w"], rtol=1e-6)


@pytest.mark.parametrize(["rows", "found"], [
    ([[0, 1, 2], [2, 0, 1]], []), ([[0, 1, 2], [2, 1, 0]], [("padding in between", 9)])])
def test_a_token_between_others_is_no_padding(told, rows, found):
    ids = f"ids = mini.Tensor(__import__('numpy').array({rows}))"
    look = "h = mini.dispatch('embedding', w, ids, 1)"
    assert told("import tests.foreign.mini_torch as mini", ids, look, "loss = (h * h).mean()", *DOWN).found == found


@pytest.mark.parametrize(["batch", "found"], [("x", [("same batch", 8)]), ("x * torch.tensor(1.0 - step / 10)", [])])
def test_a_batch_of_several_that_never_changes_has_the_line_that_took_it(told, batch, found):
    take = [f"loader.batch = {batch}", "x1 = next(loader)", LOSS.replace("x @", "x1 @")]
    made = "loader = torch.utils.data.dataloader._BaseDataLoaderIter() if not step else loader"
    steps = ["for again in range(2):", *(f"    {line}" for line in (*take, *DOWN))]
    assert told(made, *steps).found == [(kind, line + 2) for kind, line in found]


@pytest.mark.parametrize(["variances", "passes", "found"], [
    ((1.0, 400.0, 2.0), 1, ["shared normalization"]), ((1.0, 400.0, 2.0), 3, []), ((1.0, 3.0, 2.0), 1, [])])
def test_a_normalization_of_unlike_inputs_in_one_forward_pass(variances, passes, found):
    with installed("autodiff.foreign.torch") as torch:
        from autodiff.foreign.torch.between import Between
        norm = torch.nn.modules.batchnorm._BatchNorm()
        norm.training, recorder, entries = True, SimpleNamespace(modules=[]), []
        between = Between({}, recorder, set)
        for number, variance in enumerate(variances):
            given = [torch.tensor([1.0]), None, torch.tensor([variance ** -0.5])]
            entries.append(SimpleNamespace(args=[*[None] * 4, torch.tensor([100.0]) if not number else entries[0].args[
                4]], made=given, frames=(), module=norm))
            recorder.modules = ["net"]
            between.left(norm, (), given[0])
            recorder.modules = []
            if passes > 1:
                between.left(torch.nn.Module(), (), None)
        between._shared(entries)
        assert [each.kind for each in between.findings()] == found


@pytest.mark.parametrize(["line", "found"], [
    ("kept = kept - loss if kept else loss - y", [("losses keep their graphs", 15)]),
    ("kept.append(float(loss))", []), ("perplexity = loss - y", [])])
def test_losses_that_are_kept_with_their_graphs(told, line, found):
    steps = ["for again in range(2):", *(f"    {line}" for line in (LOSS, *DOWN, line))]
    assert told("kept = kept if step else []", *steps).found == found


def test_a_batch_filled_piece_by_piece_is_fed_whole(told):
    fill = ["z = y * torch.tensor(0.0)", *("z += y" for _ in range(4))]
    found = told(*fill, LOSS.replace("- y", "- z"), *DOWN)
    feeds = [{t.op.name: v for t, v in step.feeds.items()} for _, step, _ in found.steps]
    assert np.allclose(feeds[-1]["z"], 4 * np.array([[1.0], [0.0], [2.0], [1.0]]))
    assert np.allclose([loss for loss, *_ in found.steps], found.names["losses"], rtol=1e-6)


def test_steps_uphill_have_the_line_of_the_update(told):
    assert told(LOSS, *[line.replace("-=", "+=") for line in DOWN]).found == [("uphill", 11)]


def test_a_scaled_loss_is_looked_at_as_it_is(told):
    scaled = ["scaler = torch.amp.GradScaler()", LOSS, DOWN[0], "scaler.scale(loss).backward()"]
    found = told(*scaled, "scaler.unscale_([w])", "torch.nn.utils.clip_grad_norm_([w], 1.0)", *DOWN[2:])
    assert np.allclose([loss for loss, *_ in found.steps], found.names["losses"], rtol=1e-6) and found.found == []
    assert np.allclose(found.slopes()[0], found.steps[-1][1].gradients["w"], rtol=1e-5)
    assert told(*scaled, "torch.nn.utils.clip_grad_norm_([w], 1.0)", "scaler.unscale_([w])", *DOWN[2:]
                ).found == [("clipped while scaled", 11)]


def test_an_op_that_is_not_there_is_said_once_and_the_script_goes_on(told):
    found = told(LOSS.replace("square", "strange"), *DOWN)
    assert found.steps == [] and len(found.names["losses"]) == 6
    assert found.said.count("aten.strange") == 1 and "train.py:7" in found.said and "goes on" in found.said
    assert len(found.recorder.entries) < 20  # the record begins anew all the same


@pytest.mark.parametrize("way, found", [
    ("(x @ (w * z) - y).square().mean() - v.mean()", [("sample cut", 10)]),
    ("(z - v).square().mean() - (x @ w - y).square().mean()", [])])  # it meets its own mean, as in a log_prob
def test_a_draw_that_cuts_the_way_to_what_it_is_drawn_by(told, way, found):
    drawn = ["import tests.foreign.mini_torch as mini", "with torch.no_grad():", "    z = mini.dispatch('normal', v)"]
    slowly = [line.replace("0.05", "0.001") for line in DOWN]
    assert told("v = w * w", *drawn, f"loss = {way}", *slowly).found == found


def test_a_loss_that_is_not_finite_and_that_the_script_gives_up_is_a_step(told):
    found = told(LOSS, "loss = loss * torch.tensor(float('inf')) if step == 2 else loss",
                 "if step == 2: continue", *DOWN[1:])
    assert [(step.call, np.isfinite(loss)) for loss, step, _ in found.steps][1:4] == [
        ("loss.backward()", True), ("a loss that is not finite", False), ("loss.backward()", True)]


def test_a_chain_of_samples_leaves_nothing_to_the_loss_of_its_last_one(told):
    chain = ["def sampled(s):", "    for _ in range(3):", "        s = s.detach().requires_grad_()",
             "        g, = torch.autograd.grad((s @ u).square().mean(), [s])",
             "        with torch.no_grad(): s = s - g * torch.tensor(0.1)", "    return s"]
    found = told("u = w.detach()", *chain, "loss = (sampled(x) @ w - y).square().mean()", *DOWN)
    assert found.said == ""
    assert [sorted(step.values) for _, step, _ in found.steps] == [*[["s", "w"]] * 3, ["w"]] * 6


@pytest.mark.parametrize("given, is_left", [("pass", True), ("p.grad = q.grad", False)])
def test_what_a_step_copies_and_computes_with_gets_no_gradient_unless_the_script_gives_it_that(told, given, is_left):
    found = told("import copy", "if not step: p = torch.nn.Parameter(w.array, requires_grad=True)",
                 "if not step: optimizer = torch.optim.Optimizer([p])", "q, = copy.deepcopy([p])",
                 "loss = (x @ q - y).square().mean()", "loss.backward()", given, "optimizer.step()")
    (_, step, kinds), remark = found.steps[-1], found.advice.remarks.get("p")
    assert ("q" in step.values, remark is not None and remark.text.startswith("copy.deepcopy makes")) == (
        not is_left, is_left), (step.values, remark)
    assert not is_left or (remark.place.line, [f.kind for f in kinds]) == (10, [])
    assert len({s.loss for _, s, _ in found.steps[1:]}) == 1


@pytest.mark.parametrize("keeping, kept", [
    ("best, = copy.deepcopy([w])", ["w"]), ("best = torch.nn.Parameter(w.array, requires_grad=True)", ["best", "w"])])
def test_a_copy_that_is_kept_of_what_is_trained_is_no_part_of_the_step(keeping, kept, told):
    found = told("import copy", "if not step: w = torch.nn.Parameter(w.array, requires_grad=True)",
                 "if not step: optimizer = torch.optim.Optimizer([w])", keeping, LOSS, *DOWN)
    assert sorted(found.steps[-1][1].values) == kept


@pytest.mark.parametrize("rate, ages", [(True, [{}, {"w": 1}, {"w": 2}]), (False, [{}, {}, {}])])
def test_a_parameter_in_place_of_another_is_older_than_its_first(rate, ages, told):
    found = told(f"if {rate} or not step: w = torch.nn.Parameter(w.array, requires_grad=True)", LOSS, *DOWN)
    assert [step.ages for _, step, _ in found.steps[:3]] == ages


def test_lines_of_one_function_that_made_two_things_part_their_ways():
    def here():
        frame, found = sys._getframe(1), []
        while frame is not None and frame.f_code.co_filename == __file__:
            found.append((frame.f_code, frame.f_lasti))
            frame = frame.f_back
        return tuple(found)

    def maker():
        return here()

    def other():
        return maker()

    first = maker()
    then = other()
    with installed("autodiff.foreign.torch"):
        from autodiff.foreign.torch.unkept import parted
        early, late = parted(first, then, first)
        assert late.line - early.line == 1 and parted(then, first) is None and parted(first, first) is None


@pytest.mark.parametrize("calls, is_told", [
    ("g n", True), ("g n n", True), ("n n", False), ("g m m", False), ("g n e", False), ("g u", False), ("g d", False)])
def test_a_test_in_the_mode_of_training_is_told(calls, is_told):
    """g: for a training; n: under no_grad; m: that, of the same; e: in eval mode; u: for a loss; d: drops nothing."""
    import tests.foreign.mini_torch as mini
    with installed("autodiff.foreign.torch"):
        from autodiff.foreign.torch.between import MODAL, Between
        layer, same = MODAL[1](), (mini.Tensor([1.0]),)
        layer.training, layer.p = True, 0.0 if "d" in calls else 0.5
        net = type("Net", (), {"training": True, "modules": lambda self: [self, layer]})()
        between = Between({}, SimpleNamespace(modules=[]), lambda: ())
        for call in calls.split():
            net.training, made = call != "e", mini.Tensor([2.0])
            with mini.no_grad(on=call == "g"):
                between.left(net, same if call == "m" else (mini.Tensor([1.0]),), made)
            if call == "u":
                between.tested([SimpleNamespace(given=[made], made=[mini.Tensor([3.0], requires_grad=True)])])
        between.tested()
        assert [f.kind for f in between.findings()] == ["tested in training mode"] * is_told


_GONE = ["h = x @ w", "h.square()", LOSS, *DOWN]
_LATE = [LOSS, "loss.backward()", "t = (w * w).mean()", "loss = loss - t", "losses.append(float(loss))",
         "with torch.no_grad():", "    w -= w.grad * torch.tensor(0.05)", "    w.grad.zero_()"]


@pytest.mark.parametrize("lines, said", [
    (_GONE, "what h.square() gives is a new tensor, which nothing takes, in each of 4 steps: h stays as it was; 4 of "
     "its 4 elements would be others at 8"),
    ([each.replace("h.sq", "z = h.sq") for each in _GONE], "z is computed in each of 4 steps, of what is trained at 8"),
    (["z = x @ w", "z = (x @ w).square()", LOSS, "print(z)", *DOWN], "z is computed in each of 4 steps at 7"),
    ([LOSS, *DOWN[:2], "g = w.grad.square()", *DOWN[2:]], "or of its gradients, and nothing takes it at 10"),
    ([each.replace("h.square()", "print(h.square())") for each in _GONE], ""),
    ([each.replace("h.square()", "losses.append(h.square())") for each in _GONE[:3]] + ["loss.backward()"], ""),
    ([each.replace("h.square()", "h.mul_(torch.tensor(2.0))") for each in _GONE], ""),
    ([each.replace("h.square()", "h = h * torch.tensor(1.0)").replace("x @ w - y", "h - y") for each in _GONE], ""),
    ([*_GONE[:1], "if not step:", "    h.square()", *_GONE[2:]], ""),
    (["v = x.square()", LOSS, *DOWN], ""),  # of data alone
])
def test_a_result_that_nothing_takes_is_told(told, lines, said):
    found = [f for f in told(*lines).steps[-1][2] if f.kind in ("result not used", "added after backward")]
    assert bool(found) == bool(said)
    for finding in found:
        text, _, line = said.rpartition(" at ")
        assert all(part in finding.text for part in text.split(", of what")) and finding.place.line == int(line)


@pytest.mark.parametrize("lines, line", [
    (_LATE, 10), ([*_LATE[:1], *_LATE[2:4], _LATE[1], *_LATE[4:]], 0),
    ([each.replace("loss - t", "loss - t.detach()") for each in _LATE], 0),
    ([LOSS, *DOWN, "total = total - loss if step else loss"], 0)])
def test_a_term_that_is_added_after_the_backward_trains_nothing(told, lines, line):
    late = [f for f in told(*lines).steps[-1][2] if f.kind == "added after backward"]
    assert [f.place.line for f in late] == [line] * bool(line)
    assert [f.text for f in late if "only after its backward() at train.py:8, in 5 steps" not in f.text] == []


@pytest.mark.parametrize("added, line", [("part.item()", 11), ("v", 9), ("2.5", 0), ("part.detach().item()", 0)])
def test_a_number_of_what_is_trained_is_no_term_that_trains(told, added, line):
    found = told("import tests.foreign.mini_torch as mini", "part = (w * w).mean()", "v = part.item()" if added == "v"
                 else "", LOSS.replace("loss =", "more ="), f"loss = mini.dispatch('add.Scalar', more, {added})", *DOWN)
    assert [at for kind, at in found.found if kind == "term cut off"] == [line] * bool(line)


@pytest.mark.parametrize("given, counted", [
    ("pass", 1), ("if step: w.grad = g", 2), ("w.grad = None", 1),
    ("v = torch.autograd.grad(loss, (each for each in [w]))", 1)])
def test_a_gradient_that_is_only_looked_at_is_no_step(given, counted, told):
    found = told("if not step: w = torch.nn.Parameter(w.array, requires_grad=True)",
                 "if not step: optimizer = torch.optim.Optimizer([w])", LOSS, "g, = torch.autograd.grad(loss, [w])",
                 given, "losses.append(float(loss))", "optimizer.zero_grad()", "loss.backward()", "optimizer.step()")
    calls = [step.call for _, step, _ in found.steps]
    assert calls == ["torch.autograd.grad()", "loss.backward()"][-counted:] * 6


def test_gradients_that_a_script_sets_itself_do_not_pile_up(told):
    found = told("if not step: w = torch.nn.Parameter(w.array, requires_grad=True)",
                 "if not step: optimizer = torch.optim.Optimizer([w])", LOSS, "g, = torch.autograd.grad(loss, [w])",
                 "losses.append(float(loss))", "w.grad = g", "optimizer.step()")
    kinds = [f.kind for *_, findings in found.steps for f in findings]
    assert len(found.steps) == 6 and "gradients accumulate" not in kinds


def test_what_ops_without_a_slope_are_given_is_known_but_what_is_written_to():
    with installed("autodiff.foreign.torch") as torch, tf.Graph().as_default():
        from autodiff.foreign.torch import steps
        tensors = [torch.tensor([float(i)]) for i in range(3)]
        nodes = {id(t): tf.placeholder(tf.float32, [1], name=f"n{i}") for i, t in enumerate(tensors)}
        for tensor in tensors[::2]:
            tf.sqrt(nodes[id(tensor)])
        entries = [SimpleNamespace(made=(t,), written=(t,) * (i == 2)) for i, t in enumerate(tensors)]
        assert [(node.op.name, *at) for node, *at in steps._steep(entries, nodes)] == [("n0", 0, 0)]



@pytest.mark.parametrize("zeroed, is_told", [
    ("pass", True), ("w.grad.zero_()", False), ("w.grad = None", False), ("if step == 3: w.grad = None", True)])
def test_gradients_that_a_step_by_hand_uses_again_pile_up(zeroed, is_told, told):
    found = told(LOSS, *DOWN[:-1], f"    {zeroed}")
    piled = [f for *_, findings in found.steps for f in findings if f.kind == "gradients accumulate"]
    assert bool(piled) == is_told
    if is_told:
        assert "the script's own step" in piled[-1].text and piled[-1].remedy == "w.grad = None before loss.backward()"
        assert [*found.advice.written(piled[-1]).values()] == ["    w.grad = None\n    loss.backward()"]


def test_gradients_gathered_before_a_step_by_hand_do_not_pile_up(told):
    step = ["if step % 3 == 2:", "    with torch.no_grad():", "        w -= w.grad * torch.tensor(0.05)",
            "    w.grad = None"]
    found = told(LOSS, *DOWN[:2], *step)
    assert len(found.steps) == 6 and "gradients accumulate" not in {f.kind for *_, each in found.steps for f in each}
