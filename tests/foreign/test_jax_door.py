"""The door of JAX around scripts of a few primitives: which calls are steps, what they hold, what is told."""

import linecache
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from autodiff.debug.facts.roles import place_of
from autodiff.foreign.doors import View

from .mini_jax import installed, jax

HEAD = """import jax, numpy as np
params = {"w": np.float32([0.5, -1.0, 2.0]), "b": np.float32(0.25)}
x, y = np.float32([1.0, 2.0, 3.0]), np.float32([1.0, 0.0, 2.0])
def loss_fn(params, x):
    e = x * params["w"] - y - params["b"]
    return (e * e).sum()
losses = []
"""
STEP = "loss, grads = jax.value_and_grad(loss_fn)(params, x)"
DOWN = "params = {name: value - np.float32(0.01) * grads[name] for name, value in params.items()}"


@pytest.fixture
def told(tmp_path, capfd):
    def run(*lines, head=HEAD):
        """A script of these lines, six times: its namespace, steps, handles, and what was said."""
        file = tmp_path / "train.py"
        file.write_text(head + "for step in range(6):\n" + "".join(f"    {line}\n" for line in lines))
        linecache.checkcache()
        names, seen = {}, []
        with installed("autodiff.foreign.jax"):
            from autodiff.foreign.jax.door import JaxDoor
            made = JaxDoor(View(lambda: names, lambda: False))
            ask = made.steps.run
            made.steps.run = lambda step: seen.append((float(ask(step)), step, [*made.steps.advice.findings()])
                                                      ) or seen[-1][0]
            before = jax.grad, jax.value_and_grad, jax.vjp
            with made.opened():
                assert jax.config.jax_disable_jit and jax.grad is not before[0]
                exec(compile(file.read_text(), str(file), "exec"), names)
            assert before == (jax.grad, jax.value_and_grad, jax.vjp) and not jax.config.jax_disable_jit
        last = seen[-1] if seen else (None, None, ())
        return SimpleNamespace(names=names, steps=seen, said=capfd.readouterr().err, door=made,
                               found=[(f.kind, f.place and f.place.line) for f in last[2]])
    return run


def test_each_call_is_a_step_with_the_values_and_gradients_that_jax_had(told):
    found = told(STEP, "losses.append(float(loss))", DOWN)
    assert np.allclose([loss for loss, *_ in found.steps], found.names["losses"], rtol=1e-5)
    (_, step, _), steps = found.steps[-1], found.door.steps
    assert (step.call, sorted(step.values), step.place.line) == ("jax.value_and_grad", ["b", "w"], 9)
    assert len({s.loss for _, s, _ in found.steps}) == 1  # one graph
    for name, slope in steps.gradients_of(step.loss).items():
        assert np.allclose(steps.session.run(slope, dict(step.feeds)), step.gradients[name], rtol=1e-3)
    assert {op.site.line for op in steps.graph.operations.values() if op.type == "Mul" and op.gradient_of is None
            } == {5, 6}
    assert {"loss", "x", "params"} <= set(found.door._view.handles)
    assert found.found == [] and found.said.count("jax.jit is off") == 1 == found.said.count("\n")


def test_the_script_gets_what_jax_gives(told):
    found = told("grads = jax.grad(loss_fn)(params, x)", DOWN)
    alone = dict(found.names["params"])
    with installed("autodiff.foreign.jax"):
        params = {"w": np.float32([0.5, -1.0, 2.0]), "b": np.float32(0.25)}
        for _ in range(6):
            grads = jax.grad(found.names["loss_fn"])(params, found.names["x"])
            params = {name: value - np.float32(0.01) * grads[name] for name, value in params.items()}
    assert all(np.array_equal(alone[name], params[name]) for name in params)
    assert found.steps[-1][1].call == "jax.grad"


def test_a_call_inside_of_what_is_differentiated_is_no_step(told):
    inner = "outer = jax.value_and_grad(lambda p, x: jax.value_and_grad(loss_fn)(p, x)[0])"
    assert len(told(inner, "loss, grads = outer(params, x)", DOWN).steps) == 6


@pytest.mark.parametrize(["update", "kind"], [("pass", "never updated"), (DOWN.replace("- np", "+ np"), "uphill")])
def test_what_the_steps_do_with_the_gradients_is_told(told, update, kind):
    found = told(STEP, "g = grads", update.replace("grads", "g"))
    assert (kind, 10) in found.found
    assert found.door.steps.advice.rate.place.line == 10  # where a rate that is too high would be changed


def test_a_parameter_keeps_its_name_where_the_script_has_it_for_something_else_too(told):
    found = told(STEP, head=HEAD.replace("    e = x", "    w = params['w'] * params['w']\n    e = w * x"))
    assert "w" not in found.door.steps.names_behind(found.steps[-1][1].loss)
    assert "e" in found.door.steps.names_behind(found.steps[-1][1].loss)


def test_what_is_made_of_a_parameter_and_not_used_is_named(told):
    head = HEAD.replace('"b":', '"c": np.float32(1.0), "b":')
    head = head.replace("    e = x", "    lost = params['c'] * x\n    e = x")
    remarks = told(STEP, head=head).door.steps.advice.remarks
    assert [(name, "not used for the loss" in r.text, r.place.line) for name, r in remarks.items()] == [("c", True, 5)]


def test_a_primitive_that_is_not_there_is_said_and_the_script_goes_on(told):
    odd = HEAD.replace("(e * e)", "(e.strange() if hasattr(e, 'strange') else e)")
    found = told(STEP, "losses.append(loss)", head=odd)
    assert found.steps == [] and len(found.names["losses"]) == 6
    assert "strange" in found.said and "no step" in found.said


@pytest.mark.parametrize("said, line, text, remedy", [
    ("grad requires real- or complex-valued inputs, but got int32", 9, "k has integers at train.py:9, int64",
     "x.astype(jnp.float32) at train.py:9"),
    ("Reverse-mode differentiation does not work for lax.while_loop", 10, "it is at train.py:10: raise", "lax.scan")])
def test_an_error_of_jax_is_told_with_its_line_and_what_to_do(told, said, line, text, remedy):
    with pytest.raises(TypeError) as error:
        told("k = np.array([1, 2])", f"raise TypeError({said!r}, k)")
    found = error.value.told
    assert found.text.startswith(text) and remedy in found.remedy and found.place.line == line, found


def test_what_an_installed_package_does_is_done_on_the_line_that_asked_for_it(told, tmp_path, monkeypatch):
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "losses_train.py").write_text("def squared(e):\n    return (e * e).sum()\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    monkeypatch.delitem(sys.modules, "losses_train", raising=False)
    head = HEAD.replace("import jax", "import losses_train, jax").replace("(e * e).sum()", "losses_train.squared(e)")
    place = place_of(told(STEP, head=head).steps[-1][1].loss.op)
    assert (place.file.rpartition("/")[2], place.line) == ("train.py", 6)
