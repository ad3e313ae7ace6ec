"""The door of JAX around scripts of a few primitives: which calls are steps, what they hold, what is told."""

import io
import itertools
import linecache
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from autodiff.core.site import Site
from autodiff.debug.facts.roles import place_of
from autodiff.foreign.auxiliary import with_auxiliary
from autodiff.foreign.doors import View
from autodiff.foreign.read_around import read_around

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
    count = itertools.count()

    def run(*lines, head=HEAD):
        """A script of these lines, six times: its namespace, steps, handles, and what was said."""
        file = tmp_path / str(next(count)) / "train.py"
        file.parent.mkdir()
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
            with made.opened(), made.optimizers.watched(sys.modules["optax"]):
                assert jax.grad is not before[0]
                assert jax.config.jax_compilation_cache_dir  # where loops are found that were compiled before
                exec(compile(file.read_text(), str(file), "exec"), names)
            assert before == (jax.grad, jax.value_and_grad, jax.vjp)
        last = seen[-1] if seen else (None, None, ())
        return SimpleNamespace(names=names, steps=seen, said=capfd.readouterr().err, door=made,
                               found=[(f.kind, f.place and f.place.line) for f in last[2]],
                               written=[[*made.steps.advice.written(f).values()] for f in last[2]])
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


def test_numbers_that_change_are_fed_and_what_is_compiled_is_given_them(told):
    found = told("def scaled(p, x, beta): e = x * p['w'] - y; return (e * e * beta * 0.5).sum()",
                 "made = jax.value_and_grad(scaled)(params, x, 0.25 * step)", "losses.append(float(made[0]))")
    assert [loss for loss, *_ in found.steps] == pytest.approx(found.names["losses"], rel=1e-6)
    w, x, y = found.names["params"]["w"], found.names["x"], found.names["y"]
    assert found.names["losses"] == pytest.approx([
        0.125 * step * np.sum((x * w - y) ** 2) for step in range(6)], rel=1e-5)
    assert len({s.loss for _, s, _ in found.steps}) == 2  # the number of a half stays one
    assert [1 for op in found.steps[-1][1].loss.graph.operations.values() if op.type == "Const"]
    assert len(found.door._own._made) == 2


ROWS = "def of_row(p, x): e = x * p['w'] - p['b']; return (e * e).sum()"


@pytest.mark.parametrize(["call", "args", "mean"], [
    ("jax.vmap(jax.grad(of_row), in_axes=(None, 0))", "params, np.stack([x, y])", True),
    ("jax.vmap(jax.value_and_grad(of_row), (0, None))", "jax.tree.map(lambda a: np.stack([a, a]), params), x", False)])
def test_vmap_of_a_gradient_is_a_step_of_all_rows_together(told, call, args, mean):
    found = told(ROWS, f"args = {args}", f"g = {call}(*args)")
    (loss, step, _), steps = found.steps[-1], found.door.steps
    assert found.said.count("\n") == 1 and len(found.steps) == 6 and step.call.startswith("jax.vmap(jax.")
    p, x = found.names["args"]
    each = [((row * w - b) ** 2).sum() for w, b, row in zip(p["w"], p["b"], [x, x])] if not mean else [
        ((row * p["w"] - p["b"]) ** 2).sum() for row in x]
    assert loss == pytest.approx(np.mean(each) if mean else np.sum(each), rel=1e-5)
    for name, slope in steps.gradients_of(step.loss).items():
        assert np.allclose(steps.session.run(slope, dict(step.feeds)), step.gradients[name], rtol=1e-3, atol=1e-3)


_IN_ROWS = (ROWS, "import functools", "from jax._src.interpreters.batching import BatchTracer",
            "from types import SimpleNamespace",
            "one, other = SimpleNamespace(parent_trace=0), SimpleNamespace(parent_trace=0)",
            "row = lambda value, axis=0, of=one: BatchTracer(of, value, axis)",
            "p = {'w': row(np.stack([params['w'], 2 * params['w']])), 'b': params['b']}")


@pytest.mark.parametrize(["made", "call"], [
    ("jax.value_and_grad(of_row)", "(p, x)"),
    ("jax.value_and_grad(lambda q, k=2.0, *, x=x: of_row(q, x))", "(p)"),
    ("(lambda scale: jax.value_and_grad(lambda p: of_row(p, x * scale)))(row(np.float32([[1.0, 1.0]]), 1))", "(p)"),
    ("jax.value_and_grad(functools.partial(lambda s, p, x: of_row(p, x * s), row(np.float32([1.0, 1.0]))))", "(p, x)")])
def test_a_gradient_inside_of_what_vmap_is_given_is_a_step_of_all_rows_together(told, made, call):
    found = told(*_IN_ROWS, f"loss, slopes = {made}{call}")
    loss, step, _ = found.steps[-1]
    p, x = found.names["params"], found.names["x"]
    each = [((x * w - b) ** 2).sum() for w, b in ((p["w"], p["b"]), (2 * p["w"], p["b"]))]
    assert loss == pytest.approx(sum(each), rel=1e-5) and len(found.steps) == 6
    got = found.names["loss"], found.names["slopes"]["b"]
    assert {(type(row).__name__, row.batch_dim) for row in got} == {("BatchTracer", 0)}
    assert np.allclose(got[0].val, each, rtol=1e-5) and np.shape(got[1].val) == (2,)
    assert step.call == "jax.vmap(jax.value_and_grad)" and np.shape(step.gradients["w"]) == (2, 3)


@pytest.mark.parametrize("call", [
    "jax.grad(of_row)({'w': row(np.stack([x, y])), 'b': row(np.float32([0.0, 1.0]), of=other)}, x)",  # of two vmaps
    "jax.grad(of_row)({'w': row(row(np.ones((2, 2, 3)), of=other)), 'b': x[0]}, x)",  # of one in another
    "jax.grad(of_row, argnums=1)(params, row(np.stack([x, y])))",
    "jax.grad(lambda x, y=y: of_row(params, x + y))(row(np.stack([x, y])))"])
def test_what_is_differentiated_in_rows_that_are_not_to_be_told_apart_is_no_step(told, call):
    assert told(*_IN_ROWS, f"g = {call}").steps == []


def test_a_function_that_calls_itself_is_differentiated(told):
    lines = ("def maker():", "    def power(p, n): return loss_fn(p, x) if n == 0 else power(p, n - 1)",
             "    return power", "power = maker()",
             "loss, grads = jax.value_and_grad(lambda p, power=power: power(p, 2))(params)")
    assert len(told(*lines).steps) == 6


@pytest.mark.parametrize("call", [
    "jax.vmap(jax.grad(of_row, argnums=1), (None, 0))(params, np.stack([x, y]))", "jax.vmap(of_row, (None, 0))(params, "
    "np.stack([x, y]))", "jax.vmap(jax.grad(of_row), ({'w': None, 'b': 0}, 0))",
    "jax.vmap(functools.wraps(made := jax.grad(of_row))(lambda p, x, _: x), (None, 0, None))(params, x[None], 1)"])
def test_of_data_that_a_model_is_differentiated_by_and_of_no_gradient_vmap_is_no_step(told, call):
    said = told("import functools", ROWS, f"g = {call}").said
    assert "nothing here was a step" in said and "is no step:" not in said


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


def test_a_function_is_asked_once_a_step_and_one_that_says_something_by_jax_itself(told):
    counted = HEAD.replace("    e = x", "    calls.append(0)\n    e = x").replace("def loss", "calls = []\ndef loss")
    step = "(loss, e), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, x)"
    found = told(step, "losses.append((float(loss), float(e.sum())))", DOWN, head=counted.replace(
        "(e * e).sum()", "(e * e).sum(), e"))
    assert len(found.names["calls"]) == 6 == len(found.steps)
    aloud = counted.replace("    e = x", "    print(0)\n    e = x")
    talking = told(STEP, "losses.append(float(loss))", DOWN, head=aloud)
    assert len(talking.names["calls"]) > 12
    assert np.allclose([loss for loss, _ in found.names["losses"]], talking.names["losses"], rtol=1e-5)
    assert found.names["losses"][0][1] == 0.75


@pytest.mark.parametrize("reverse", [False, True])
def test_each_turn_of_a_scan_is_a_step_whose_function_is_asked_once(told, reverse):
    head = HEAD + f"""calls = []
def turn(w, row):
    r = row["r"]
    def size(w):
        calls.append(0)
        return ((w * r - 1.0) * (w * r - 1.0)).sum()
    loss, slope = jax.value_and_grad(size)(w)
    return w - slope * np.float32(0.1), {{"loss": loss, "row": row["r"]}}
rows = {{"r": np.float32([[1.0, 2.0], [0.5, 1.0], [0.25, -1.0], [1.5, 1.0], [2.0, -1.0], [1.0, 1.0]])}}
end, seen = jax.lax.scan(turn, np.float32([1.0, 1.0]), rows, reverse={reverse})
"""
    found, w = told("pass", head=head), np.float32([1.0, 1.0])
    rows = found.names["rows"]["r"]
    losses = []
    for r in rows[::-1] if reverse else rows:
        losses.append(((w * r - 1) ** 2).sum())
        w = w - 0.1 * 2 * (w * r - 1) * r
    assert np.allclose([loss for loss, *_ in found.steps], losses, rtol=1e-4)
    assert np.allclose(found.names["end"], w, rtol=1e-4)
    assert np.allclose(found.names["seen"]["loss"], losses[::-1] if reverse else losses, rtol=1e-4)
    assert np.array_equal(found.names["seen"]["row"], rows)
    assert len(found.names["calls"]) == 3  # twice traced, and read with the first values


def test_a_script_without_a_step_is_told_what_one_is(told):
    assert "nothing here was a step: a call of what jax.grad" in told("y = x + 1").said


def test_a_scan_of_a_package_is_traced_as_jax_does_it(told, tmp_path, monkeypatch):
    (room := tmp_path / "some-packages").mkdir()
    (room / "counting.py").write_text("calls = []\ndef counted():\n    def body(carry, row):\n        calls.append(0)\n"
                                      "        return carry, row\n    return body\n")
    monkeypatch.syspath_prepend(str(room))
    head = HEAD + "import counting\nend, seen = jax.lax.scan(counting.counted(), x, np.ones((6, 2)))\n"
    found = told("pass", head=head)
    assert len(found.names["counting"].calls) == 2  # for the shapes, and where JAX runs it


def test_what_jax_has_compiled_is_let_go_before_there_is_too_much_of_it(told, monkeypatch):
    cleared = []
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.jax import door as module
        made = module.JaxDoor(View(dict, lambda: False))
        monkeypatch.setattr(made._jitted, "let_go", lambda: cleared.append(made._since))
        monkeypatch.setattr(module.sys, "platform", "linux")
        monkeypatch.setattr("builtins.open", lambda *_: io.BytesIO(b"piece\n" * (20_001 if made._since > 32 else 9)))
        for _ in range(70):
            made._made_room()
    assert cleared == [64]


def test_a_backward_of_pythons_is_compiled_only_where_jax_traces_it_once():
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.jax.compiled import _CALLING, _is_plain
        equation = SimpleNamespace(primitive=SimpleNamespace(name="custom_vjp_call"))
        jaxpr = SimpleNamespace(effects=(), eqns=[equation])
        assert _is_plain(jaxpr, _CALLING) and not _is_plain(jaxpr, (*_CALLING, "custom_vjp"))


def test_an_object_of_a_package_that_takes_from_its_lists_is_read_as_a_copy(told, tmp_path, monkeypatch):
    (room := tmp_path / "some-packages").mkdir()
    (room / "spending.py").write_text("from collections import deque\nclass Spending:\n    def __init__(self, f):\n"
                                      "        self.f, self.left = f, deque(range(50))\n    def __call__(self, p, x):"
                                      "\n        self.left.popleft()\n        return self.f(p, x)\n")
    monkeypatch.syspath_prepend(str(room))
    found = told("f = spending.Spending(loss_fn)", "loss, grads = jax.value_and_grad(f)(params, x)", DOWN,
                 "left = len(f.left)", head="import spending\n" + HEAD)
    assert len(found.steps) == 6 and found.names["left"] == 50


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


def test_what_is_added_to_what_only_derivatives_are_taken_of_does_no_harm(told):
    head = HEAD.replace('"b":', '"c": np.float32(1.0), "b":')
    head = head.replace("    e = x", "    energy = x * x * params['w'] - params['c']\n    e = x")
    advice = told(STEP, head=head).door.steps.advice
    assert ["c"] == [*advice.untrained] == [name for name, r in advice.remarks.items() if "does no harm" in r.text]


def test_a_primitive_that_is_not_there_is_said_and_the_script_goes_on(told):
    odd = HEAD.replace("(e * e)", "(e.strange() if hasattr(e, 'strange') else e)")
    found = told(STEP, "losses.append(loss)", head=odd)
    assert found.steps == [] and len(found.names["losses"]) == 6
    assert "strange" in found.said and "no step" in found.said


@pytest.mark.parametrize("said, line, text, remedy", [
    ("grad requires real- or complex-valued inputs, but got int32", 10, "it is at train.py:10",
     "x.astype(jax.numpy.float32)"),
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


OPTAX = HEAD.replace("import jax", "import jax, optax") + """optimizer = optax.momentum(0.01)
state = optimizer.init(params)
"""
UPDATE, APPLY = "updates, state = optimizer.update(grads, state)", "params = optax.apply_updates(params, updates)"
MASK = "optimizer = optax.masked(optax.momentum(0.01), {'w': True, 'b': False})"


def test_a_right_program_of_optax_has_no_finding_and_its_rate_is_known(told):
    found = told(STEP, UPDATE, APPLY, head=OPTAX)
    assert found.found == [] and "optax.momentum is 0.01" in found.door.steps.advice.rate.text
    assert [*found.door.steps.advice.slower(0.1).values()] == ["optimizer = optax.momentum(0.001)"]


@pytest.mark.parametrize(["lines", "kind", "line", "mended"], [
    ([STEP, "params = optax.apply_updates(params, grads)"], "gradients for updates", 12,
     "    updates, state = optimizer.update(grads, state, params)\n    " + APPLY),
    ([STEP, UPDATE, "params = optax.apply_updates(params, grads)"], "gradients for updates", 13, f"    {APPLY}"),
    ([STEP, UPDATE.replace(", state =", ", new ="), APPLY], "optimizer state left", 12, f"    {UPDATE}"),
    ([STEP, UPDATE, APPLY.replace("params =", "new =")], "never updated", 12, f"    {APPLY}"),
    ([STEP, UPDATE, APPLY.replace("params = ", "")], "never updated", 13, f"    {APPLY}"),
    ([STEP, UPDATE, "params = {n: p - updates[n] for n, p in params.items()}"], "uphill", 12,
     "    params = {n: p + updates[n] for n, p in params.items()}"),
    ([MASK, STEP, UPDATE, APPLY], "masked gradients", 11, f"    {MASK.replace('= ', '= optax.chain(')}, optax.masked("
     "optax.set_to_zero(), jax.tree_util.tree_map(lambda m: not m, {'w': True, 'b': False})))")])

def test_what_is_done_with_optax_wrongly_is_told_and_its_line_written(told, lines, kind, line, mended):
    found = told(*lines, head=OPTAX)
    assert (kind, line) == found.found[0] and found.written[0] == [mended], (found.found, found.written)


def test_a_line_that_calls_a_function_of_jaxs_is_known_through_what_watches_it(told):
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.jax import draws, program
        frames = [compile("0", file, "exec") for file in ("/site-packages/jax/core.py", draws.__file__, "/a/train.py",
                                                          program.__file__, "/a/main.py")]
        sites = program._sites(SimpleNamespace(raw_frames=lambda: (frames, [0] * len(frames))))
    assert [site.file for site in sites if "jax" not in site.file] == ["/a/train.py"]


def test_a_parameter_that_is_frozen_is_not_missed_where_no_gradient_reaches_it(told):
    made = "optax.multi_transform({'on': optax.momentum(0.01), 'off': optax.set_to_zero()}, "
    head = OPTAX.replace("optax.momentum(0.01)", made + "{'w': 'on', 'b': 'on', 's': 'off'})")
    head = head.replace("np.float32(0.25)}", "np.float32(0.25), 's': np.float32(2.0)}")
    assert head.count("multi_transform") == head.count("2.0)}") == 1
    found = told(STEP, UPDATE, APPLY, head=head)
    assert found.door.steps.advice.untrained == {found.door.steps.variables["s"].op.name} and found.found == []


@pytest.mark.parametrize("name, rate, mended", [
    ("scale", "0.01", "-0.01"), ("scale", "2 * 0.01", "-(2 * 0.01)"), ("scale", "-0.01", None),
    ("scale_by_schedule", "float", None), ("scale_by_schedule", "rate", "lambda count: -rate(count)"),
    ("scale_by_schedule", "lambda n: -rate(n)", None)])
def test_updates_that_are_scaled_without_a_minus_are_told_where_they_are(told, name, rate, mended):
    head = OPTAX.replace("momentum(0.01)", f"{name}({rate})").replace("losses = []", "rate = lambda n: 0.01")
    found = told(STEP, UPDATE, APPLY, "losses = [loss]", head=head)
    at = 1 + head.splitlines().index(f"optimizer = optax.{name}({rate})")
    assert [each for each in found.found if each[0] == "uphill"] == ([("uphill", at)] if mended else []), found.found
    assert not mended or found.written[0] == [f"optimizer = optax.{name}({mended})"], found.written


@pytest.mark.parametrize(["text", "lines", "argument", "mended"], [
    ("def f(p, x):|    return mean(g(x))|def g(x):|    return x @ w['a']|y = g(0)", (4, 2), "p",
     "    return mean(g(p, x))|def g(w, x):|y = g(w, 0)"),
    ("def f(p):|    return mean(g())|def g():|    return w['a']", (4, 2), "p", "    return mean(g(p))|def g(w):"),
    ("def f(p, x):|    return x @ w['a'] + w['b']", (2,), "p", "    return x @ p['a'] + p['b']"),
    ("def f(p, x):|    return mean(g(x))|def g(x):|    return x @ w['a']|y = map(g, [0])", (4, 2), "p", ""),
    ("def f(p, x):|    return mean(g(x)) + p|def g(x):|    return x @ w['a']", (4, 2), "p", None),
    ("def f(p, x):|    return mean(g(x))|def g(w):|    return w['a']", (4, 2), "p", None)])
def test_what_a_function_reads_from_around_it_is_handed_to_it(tmp_path, text, lines, argument, mended):
    (file := tmp_path / "train.py").write_text(text.replace("|", "\n") + "\n")
    sites = [Site(str(file), line, name) for line, name in zip(lines, "gf" if len(lines) > 1 else "f")]
    found = read_around(sites, "f", argument, ["w"])
    new = None if found is None else [line for _, each in sorted(found.lines.items()) for line in each.split("\n")]
    assert (new if new is None else "|".join(filter(None, new))) == mended


def test_an_optimizer_that_each_step_begins_anew_is_begun_before_the_loop(told):
    found = told(STEP, "state = optimizer.init(params)", UPDATE, APPLY, head=OPTAX.replace("state = opt", "# opt"))
    assert found.found == [("optimizer state left", 12)]
    assert found.written == [["", "state = optimizer.init(params)\nfor step in range(6):"]]


def test_what_a_function_makes_is_given_to_the_next_step_where_it_is_called(told):
    function = ("def train_step(p, s):\n    loss, grads = jax.value_and_grad(loss_fn)(p, x)\n"
                "    u, s = optimizer.update(grads, s)\n    return optax.apply_updates(p, u), s, loss\n")
    assert told("params, state, loss = train_step(params, state)", head=OPTAX + function).found == []
    lost = told("new, state, loss = train_step(params, state)", head=OPTAX + function)
    assert lost.found[0][0] == "never updated"
    assert lost.written[0] == ["    params, state, loss = train_step(params, state)"]
    lost = told("params, _, loss = train_step(params, state)", head=OPTAX + function)
    assert lost.found[0][0] == "optimizer state left"
    assert lost.written[0] == ["    params, state, loss = train_step(params, state)"]
    assert told("train_step(params, state)", head=OPTAX + function).written[0] == [
        "    params, state, _ = train_step(params, state)"]


@pytest.mark.parametrize("function, call, mended", [
    ("def down(p, g):\n    return {n: v - np.float32(0.01) * g[n] for n, v in p.items()}\n", "down(params, grads)",
     "    params = down(params, grads)"),
    ("def down(p, g, s):\n    s = {n: v + g[n] for n, v in s.items()}\n"
     "    return {n: v - np.float32(0.01) * s[n] for n, v in p.items()}, s\nsums = {n: 0 * v for n, v in "
     "params.items()}\n", "down(params, grads, sums)", "    params, sums = down(params, grads, sums)")])
def test_an_update_of_the_scripts_own_that_is_dropped_is_taken(told, function, call, mended):
    found = told(STEP, call, head=HEAD + function)
    at = (HEAD + function).count("\n") + 3
    assert found.found[0] == ("never updated", at) and found.written[0] == [mended], (found.found, found.written)
    assert told(STEP, "losses.append(params)").found[0] == ("never updated", 9)


HEADS = HEAD.replace('params = {"w"', 'N = 4\nparams = {"heads": N, "w"')
REFUSING = """
def refuse(*_, **__):
    raise TypeError("grad requires real- or complex-valued inputs, but got int32")
"""


@pytest.mark.parametrize("head, text, mended", [
    (HEADS, "params['heads'] is a number of int", [HEAD.splitlines()[1]]),
    (HEADS.replace("    e = x", "    k = x[:params['heads']]\n    e = x"), "params['heads'] is a number of int",
     [HEAD.splitlines()[1], "    k = x[:N]"]),
    (HEAD.replace('np.float32(0.25)', "0"), "params['b'] is a number of int", [
        HEAD.splitlines()[1].replace("np.float32(0.25)", "0.0")]),
    (HEAD.replace('np.float32(0.25)', "np.array([1, 2])"), "params['b'] is an array of int", [
        HEAD.splitlines()[1].replace("np.float32(0.25)", "np.array([1, 2]).astype(jax.numpy.float32)")])])
def test_an_integer_among_the_parameters_has_its_line(told, monkeypatch, head, text, mended):
    names = {}
    exec(compile(REFUSING, "site-packages/jax.py", "exec"), names)
    monkeypatch.setattr(jax, "value_and_grad", lambda *_, **__: names["refuse"])
    with pytest.raises(TypeError) as error:
        told(STEP, head=head)
    assert error.value.told.text.startswith(text) and [*error.value.told.lines.values()] == mended, error.value.told


@pytest.mark.parametrize("make, update, mended", [
    ("jax.value_and_grad(loss_fn)", DOWN, "jax.value_and_grad(loss_fn, argnums=1)"),
    ("jax.value_and_grad(loss_fn, 0)", DOWN, "jax.value_and_grad(loss_fn, 1)"),
    ("jax.value_and_grad(loss_fn)", "rows = rows - grads", None)])
def test_data_that_stand_where_the_parameters_were_to_be_are_told(told, monkeypatch, make, update, mended):
    names = {}
    exec(compile(REFUSING, "site-packages/jax.py", "exec"), names)
    monkeypatch.setattr(jax, "value_and_grad", lambda *_, **__: names["refuse"])
    with pytest.raises(TypeError) as error:
        told(f"loss, grads = {make}(rows, params)", update, head=HEAD + "rows = np.array([1, 2, 3])\n")
    remark = error.value.told
    assert ("the parameters are argument 1" in remark.text) is (mended is not None), remark
    assert mended is None or [*remark.lines.values()] == [f"    loss, grads = {mended}(rows, params)"], remark


@pytest.mark.parametrize("kept, evaluated, is_left", [
    (False, True, True), (True, True, False), (False, False, False)])
def test_averages_that_are_used_as_init_made_them_after_steps_gave_others_are_told(kept, evaluated, is_left):
    stats = {"batch_stats": {"mean": np.zeros(3, np.float32)}}
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.jax.averages import Averages
        module = type("Module", (), {"init": lambda self, key: stats, "apply": lambda self, given, mutable=False: (
            (0, {"batch_stats": {"mean": given["batch_stats"]["mean"] + 1}}) if mutable else 0)})
        averages = Averages()
        with averages.watched(SimpleNamespace(Module=module)):
            model = module()
            state = model.init(0)
            for _ in range(4):
                _, new = model.apply(state, mutable=["batch_stats"])
                state = new if kept else state
                _ = evaluated and model.apply(state)
        assert [f.kind for f in averages.findings()] == ["averages left"] * is_left


A, B, C = ({"w": np.full(3, k, np.float32), "b": np.full(1, k, np.float32)} for k in (1, 2, 3))


@pytest.mark.parametrize(["calls", "severity"], [
    ([(A, True)], 92), ([({"x": B["b"], **A}, False)], 59), ([(A, True), (C, True)], 0), ([(C, True)], 0),
    ([({"old": A, "new": C}, False)], 0), ([({"old": A, "new": C}, False), (A, True)], 92), ([], 0)])
def test_a_model_that_is_applied_to_what_training_began_with_is_told(tmp_path, calls, severity):
    file = tmp_path / "train.py"
    file.write_text("def test(state, x):\n    return state.f({'params': params}, x)\nprint(params)\n")
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.jax.evaluated import Evaluated, trained
        kept, at = Evaluated(), [Site(str(file), 2, "test")]
        kept.met(A, at, is_model=True)
        for p in (A, A, B, B):
            kept.stepped(p, "state.params")
        for tree, is_model in calls:
            kept.met(tree, at, is_model=is_model)
        found = kept.findings()
        assert [f.severity for f in found] == [severity] * bool(severity)
        assert [*trained(str(file), 2, "state.params").values()] == ["    return state.f({'params': state.params}, x)"]
        assert not trained(str(file), 2, "other.params") and all("norm 2, and" in f.text for f in found)
        kept.stepped(B, "state.params")
        assert not kept.findings()


@pytest.mark.parametrize("given, mended", [("grads=g", 'grads=g, batch_stats=new["batch_stats"]'), ("*g", None)])
def test_averages_are_kept_where_the_state_is_made_anew(tmp_path, given, mended):
    lines = ["def step(state):", "    def loss(p):", "        y, new = state.apply_fn(p, mutable=True)",
             "        return y, new", "    (v, new), g = grad(loss)(state.params)",
             f"    return state.apply_gradients({given})"]
    (file := tmp_path / "train.py").write_text("\n".join(lines))
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.jax.averages import kept
        assert [*kept(str(file), 3).values()] == ([lines[-1].replace(given, mended)] if mended else [])


@pytest.mark.parametrize("imports, name, ours", [
    ("import jax.numpy as np", "jax.numpy.mean", "np.mean"), ("from jax import numpy", "jax.numpy.sum", "numpy.sum"),
    ("import jax", "jax.numpy.sum", "jax.numpy.sum"), ("import jax, jax.numpy as jnp", "jax.random.split",
                                                       "jax.random.split"),
    ("import jax.numpy\nimport jax.random as r", "jax.random.key", "r.key"), ("", "jax.numpy.sum", "jnp.sum")])
def test_functions_of_jax_are_spelled_as_the_script_imports_them(tmp_path, imports, name, ours):
    (file := tmp_path / "train.py").write_text(imports + "\n")
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.script_lines import spelled
        assert spelled(str(file), name) == ours


def test_what_a_function_reads_from_around_it_is_called_as_the_script_calls_it(told):
    (_, step, _), *_ = told(STEP, DOWN).steps
    assert [t.op.name for t in step.feeds] == ["x", "y"]


def test_a_gradient_by_data_that_moves_a_parameter_is_asked_by_that_one(told):
    head = HEAD.replace("def loss_fn(params, x):", "def loss_fn(x, params):")
    right = told("grads = jax.grad(loss_fn, 1)(x, params)", DOWN, head=head)
    found = told("grads = jax.grad(loss_fn)(x, params)", "params = {n: np.asarray(p - 0.01 * grads.sum(), 'f')"
                 " for n, p in params.items()}", head=head.replace("np.float32(0.25)", "np.asarray(0.25, 'f')"))
    assert right.found == [] and found.found[0] == ("other argument", 9)
    assert found.written[0] == ["    grads = jax.grad(loss_fn, argnums=1)(x, params)"]


def test_what_came_after_the_first_nan_does_not_hide_how_it_began(told):
    found = told(STEP, DOWN.replace("- np", "+ np"),
                 "params = {n: p * (np.nan if step > 4 else 1) for n, p in params.items()}")
    assert ("uphill", 10) in found.found
    assert [f.kind for f in found.door.steps.advice.uphill()] == ["uphill"]


@pytest.mark.parametrize("said, value, call, mended", [
    ("had shape: (3,)", "e * e", STEP, ["    return jax.numpy.mean(e * e)"]),
    ("was (1, 2)", "e, e", STEP, ["    (loss, _), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, x)"]),
    ("was (1, 2)", "e, e", "grads = jax.grad(loss_fn, 0)(params, x)",
     ["    grads, _ = jax.grad(loss_fn, 0, has_aux=True)(params, x)"])])
def test_a_loss_that_is_no_number_is_made_one(told, monkeypatch, said, value, call, mended):
    names = {"said": said}
    exec(compile("""def refuse(*_):
    try:
        raise TypeError("of another")  # which has no line of the script's
    except TypeError as error:
        raise TypeError(f"Gradient only defined for scalar-output functions. Output {said}") from error
""", "site-packages/jax.py", "exec"), names)
    for name in ("grad", "value_and_grad"):
        monkeypatch.setattr(jax, name, lambda *_, **__: names["refuse"])
    with pytest.raises(TypeError) as error:
        told(call, head=HEAD.replace("(e * e).sum()", value))
    assert [*error.value.told.lines.values()] == mended and error.value.told.place.line == 6


@pytest.mark.parametrize("lines, mended", [
    ("(l, m), grads = BOTH(p)", "(l, m), grads = BOTH, has_aux=True)(p)"),
    ("l, grads = BOTH(p)", "(l, _), grads = BOTH, has_aux=True)(p)"),
    ("out, grads = BOTH(p)|l, m = out", "out, grads = BOTH, has_aux=True)(p)"),
    ("out, grads = BOTH(p)|print(out[0])", "out, grads = BOTH, has_aux=True)(p)"),
    ("s.l, grads = BOTH(p)", "(s.l, _), grads = BOTH, has_aux=True)(p)"),
    ("made = BOTH(p)|l, grads = made", "made = BOTH, has_aux=True)(p)|(l, _), grads = made"),
    ("made = BOTH(p)|print(made[0])", "made = BOTH, has_aux=True)(p)|print(made[0][0])"),
    ("BOTH(p)", "BOTH, has_aux=True)(p)"), ("print(BOTH(p))", ""),
    ("grads, m = ONE(p)", "grads, m = ONE, has_aux=True)(p)"), ("grads = ONE(p)", "grads, _ = ONE, has_aux=True)(p)"),
    ("ga, gb = ONE(p)", "(ga, gb), _ = ONE, has_aux=True)(p)"), ("f(ONE(p))", "f(ONE, has_aux=True)(p)[0])")])
def test_more_than_a_loss_is_taken_as_the_script_takes_it(tmp_path, lines, mended):
    def written(text):
        return text.replace("BOTH", "jax.value_and_grad(f").replace("ONE", "jax.grad(f").replace("f(p)", "f)(p)")

    (file := tmp_path / "train.py").write_text(written(f"return l, m|{lines}").replace("|", "\n"))
    linecache.checkcache()
    found = with_auxiliary(str(file), 1, 2)
    assert "|".join(filter(None, map(found.get, sorted(found)))).replace("\n", "|") == written(mended)


@pytest.mark.parametrize("said, line, mended", [
    ("you are not passing `params`", UPDATE, UPDATE.replace("state)", "state, params)")),
    ("Incompatible shapes for broadcasting", "e = softmax_cross_entropy(x, y)",
     "e = softmax_cross_entropy_with_integer_labels(x, y)"),
    ("unsupported operand", "grads, loss = jax.value_and_grad(f)(x); grads + 1", None), ("anything", UPDATE, None)])
def test_what_optax_refuses_is_written_as_it_takes_it(tmp_path, said, line, mended):
    file = tmp_path / "train.py"
    file.write_text(f"{line}\n{APPLY}\n")
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.jax.raised import of_optax
        found = of_optax(str(file), 1, said)
    assert (found and [*found.lines.values()]) == (mended and [mended])


@pytest.mark.parametrize("line, mended", [("h[:, i] = x + 1", "h = h.at[:, i].set(x + 1)"), (
    "h.a[0] -= x", "h.a = h.a.at[0].subtract(x)"), ("h[0] //= x", None)])
def test_an_element_that_is_changed_in_place_is_written_as_jax_has_it(tmp_path, line, mended):
    (file := tmp_path / "train.py").write_text(f"{line}\n")
    linecache.checkcache()
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.jax.raised import of_item
        found = of_item(str(file), 1, "JAX arrays are immutable and do not support in-place item assignment.")
    assert [*found.lines.values()] == ([mended] if mended else [])


def test_a_value_and_gradients_taken_in_the_other_order_are_told(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("grads, loss = jax.value_and_grad(f)(x)\nparams = step(grads)\nprint(loss)\n")
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.jax.raised import swapped
        assert [*swapped(str(file), 2).lines.values()] == ["loss, grads = jax.value_and_grad(f)(x)"]
        assert swapped(str(file), 3) is None


@pytest.mark.parametrize("lines, call, mended", [
    ("x = f()|x_train, x_test = x[:9], x[9:]|x_train = jnp.asarray(x_train)", "g(p, x_train[i], y)", 1),
    ("x = f()|z = 1", "g(p, x, y)", 1), ("x = f()|for i in n:|    x = g()", "g(p, x, y)", 0), ("x = 1", "g(p, x)", 0)])
def test_data_are_scaled_where_they_are_whole(tmp_path, lines, call, mended):
    from autodiff.core.site import Site
    from autodiff.debug.analysis.findings import Finding
    from autodiff.debug.facts.roles import as_place
    rows = ["def loss(params, data, y):", "    return data", *lines.split("|"), call]
    (file := tmp_path / "train.py").write_text("\n".join(rows) + "\n")
    linecache.checkcache()
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.jax.written import Known, written
        found = written(Finding(0, "inputs not scaled", "", "", "data:0", "each column", "", "", as_place(Site(
            str(file), len(rows), ""))), Known((), "", None))
    assert [*found.items()] == [((str(file), 3), "x = f()\nx = (x - x.mean(0)) / (x.std(0) + 1e-8)")] * mended


def test_a_rate_that_has_a_name_is_lowered_where_that_is_given(told):
    pair = "w, b = params['w'] - LR * grads['w'], params['b'] - LR * grads['b']"
    found = told(STEP, pair, "params = {'w': np.asarray(w), 'b': np.asarray(b)}", head=HEAD + "LR = 0.01\n")
    assert [*found.door.steps.advice.slower(0.1).values()] == ["LR = 0.001"]
    found = told(STEP, pair.replace("LR", "0.01"), "params = {'w': np.asarray(w), 'b': np.asarray(b)}")
    assert found.door.steps.advice.slower(0.1) == {}


TRACED = ("Attempted boolean conversion of traced array with shape bool[].\nThe error occurred while tracing the "
          "function step at /a/train.py:2 for jit. This concrete value was not available in Python because it depends "
          "on the value of the argument n.\nSee https://docs")
CARRIED = ("scan body function carry input and carry output must have equal types, but they differ:\n\nThe input "
           "carry {} has type int32[] but the corresponding output carry component has type float32[], so the dtypes "
           "do not match.")
REFUSED = {  # a script, the line, JAX's words, whether n was a number of Python's -> the script as it is mended
    "returns": ("def f(n):\n    if n > 0 and n < 2:\n        return n\n    return -n\n", 2, TRACED, False,
                "def f(n):\n    return jnp.where((n > 0) & (n < 2), n, -n)\n\n\n"),
    "else": ("if not n:\n    y = 1\nelse:\n    y = n\n", 1, TRACED, False, "y = jnp.where(~(n), 1, n)\n\n\n\n"),
    "changed": ("if n > 1:\n    y *= n\n", 1, TRACED, False, "y = jnp.where(n > 1, y * n, y)\n\n"),
    "two things": ("if n > 1:\n    y *= n\n    z = 1\n", 1, TRACED, False, None),
    "chosen": ("y = 2 * (n if n > 1 else 0)\n", 1, TRACED, False, "y = 2 * (jnp.where(n > 1, n, 0))\n"),
    "a tree": ("if n > 1:\n    g = tree_map(lambda v: v / n, g)\n", 1, TRACED, False,
               "g = tree_map(lambda v: jnp.where(n > 1, v / n, v), g)\n\n"),
    "a list": ("if n > 1:\n    g = [v / n for v in g]\n", 1, TRACED, False,
               "g = jax.tree_util.tree_map(lambda a, b: jnp.where(n > 1, a, b), [v / n for v in g], g)\n\n"),
    "a flag": ("@jax.jit\ndef step(n):\n    if n > 1:\n        g()\n", 3, TRACED, True,
               '@jax.jit(static_argnames=("n",))\ndef step(n):\n    if n > 1:\n        g()\n'),
    "a count": ("def step(n):\n    for i in range(n):\n        g()\nf = jax.jit(jax.grad(step))\n", 2, TRACED, True,
                "def step(n):\n    for i in range(n):\n        g()\n"
                'f = jax.jit(jax.grad(step), static_argnames=("n",))\n'),
    "NumPy": ("y = np.mean(n) + float(n)\n", 1, TRACED, False, "y = jnp.mean(n) + n\n"),
    "carried": ("y = lax.scan(body, 0, xs)\n", 1, CARRIED.format("carry"), False,
                "y = lax.scan(body, jnp.asarray(0, jnp.float32), xs)\n"),
    "carried second": ("init = (h, 0)\ny = lax.scan(body, init, xs)\n", 2, CARRIED.format("component carry[1]"), False,
                       "init = (h, jnp.asarray(0, jnp.float32))\ny = lax.scan(body, init, xs)\n"),
    "given with an axis": ("def body(c, x):\n    return (c[0], c[1] + x), None\ny = lax.scan(body, (h, 0), xs)\n", 3,
                           CARRIED.format("component carry[1]").replace("int32[]", "float32[]").replace(
                               "corresponding output carry component has type float32[]",
                               "corresponding output carry component has type float32[1]"), False,
                           "def body(c, x):\n    return (c[0], jnp.reshape(c[1] + x, ())), None\n"
                           "y = lax.scan(body, (h, 0), xs)\n"),
    "given with an axis made before": (
        "def body(c, x):\n    e, n = c\n    y = jnp.tanh(e) @ w + b\n    d = y - x\n    return (e, n + d ** 2), None\n"
        "y = lax.scan(body, (h, 0), xs)\n", 6, CARRIED.format("component carry[1]").replace(
            "int32[]", "float32[]").replace("component has type float32[]", "component has type float32[1]"), False,
        "def body(c, x):\n    e, n = c\n    y = jnp.tanh(e) @ w + b\n    d = y - x\n"
        "    return (e, jnp.reshape(n + d ** 2, ())), None\ny = lax.scan(body, (h, 0), xs)\n"),
    "by number": ("y = lax.fori_loop(0, 3, body, 1)\n", 1, CARRIED.format("component loop_carry[1]"), False,
                  "y = lax.fori_loop(0, 3, body, jnp.asarray(1, jnp.float32))\n")}


@pytest.mark.parametrize("case", REFUSED)
def test_what_jax_refuses_to_trace_has_its_line(case, tmp_path):
    text, line, words, is_number, mended = REFUSED[case]
    file = tmp_path / "train.py"
    file.write_text(text)
    linecache.checkcache()
    n = SimpleNamespace(aval=SimpleNamespace(weak_type=is_number, dtype=np.dtype(np.float32), shape=()))
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.jax.traced import of_carry, of_traced
        names = {"n": n, "np": np, "jnp": jax.numpy}
        remark = of_traced(str(file), line, words, names) or of_carry(str(file), line, words)
    assert ("made before" in case) == remark.text.startswith("y = jnp.tanh(e) @ w + b at train.py:3 brings an axis")
    lines = text.splitlines()
    for (_, at), new in remark.lines.items():
        lines[at - 1] = new
    assert ("\n".join(lines) + "\n" if remark.lines else None) == mended


def test_what_another_library_is_to_take_is_called_outside_of_the_step(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("def plan(costs):\n    costs = np.asarray(costs)\n    return other.solved(costs)\n")
    linecache.checkcache()
    words = "The numpy.ndarray conversion method __array__() was called on traced array with shape float32[64,64]"
    other = SimpleNamespace(solved=linecache.getline)
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.jax.traced import of_traced
        names = {"np": np, "jnp": jax.numpy, "other": other}
        remark = of_traced(str(file), 2, words, names)
        assert "jax.jit" not in remark.text and remark.remedy.startswith("call other.solved where nothing is traced")
        assert not remark.lines
        file = tmp_path / "inner.py"
        file.write_text("def plan(costs):\n    costs = np.asarray(costs)\n    return np.sum(costs)\n")
        assert of_traced(str(file), 2, words, names).lines == {(str(file), 2): "    costs = jnp.asarray(costs)"}


def test_a_rate_of_the_command_line_is_found_where_its_default_stands(tmp_path):
    import ast

    from autodiff.foreign.script_lines import usual_on
    file = tmp_path / "train.py"
    file.write_text("p.add_argument('-l', '--learning-rate', default=0.5)\np.add_argument('--name', default='a')\n")
    rate, name, other = (usual_on(str(file), ast.parse(f"args.{each}").body[0].value) for each in (
        "learning_rate", "name", "momentum"))
    assert (rate.value, name, other) == (0.5, None, None)


@pytest.mark.parametrize("use, count", [("b(g['params'])", 2), ("b(g)", 0)])
def test_of_variables_of_several_kinds_the_parameters_are_differentiated_by(tmp_path, use, count):
    file = tmp_path / "train.py"
    file.write_text(f"l, g = jax.value_and_grad(f)(v, x)\n{use}\n")
    linecache.checkcache()
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.jax.integers import _by_parameters
        lines = [*_by_parameters(str(file), 1, "v").values()]
    assert lines == ["l, g = jax.value_and_grad(lambda params, *rest: f({**v, 'params': params}, *rest))"
                     "(v['params'], x)", "b(g)"][:count]


@pytest.mark.parametrize(["lines", "at", "mended"], [
    ("""def update(carry, _):
    params, key = carry
    a, b = jax.random.split(key)
    loss = jax.value_and_grad(f)(params, draw(a), b)
    return (params, key), loss
""", 4, {3: "    key, a, b = jax.random.split(key, 3)"}),
    ("""def update(params, key):
    a, b = jax.random.split(key)
    return jax.value_and_grad(f)(params, draw(a), b)
""", 3, {}),
    ("""for i in range(9):
    a, b, c = random.split(key, num=3)
    step(a, b)
    step(c, b)
""", 4, {2: "    key, a, b, c = random.split(key, 4)"}),
    ("""for i in range(9):
    key, a = jax.random.split(key)
    step(a)
""", 3, {})])
def test_a_key_that_stays_is_split_once_more_where_it_is_handed_on(lines, at, mended, tmp_path):
    (file := tmp_path / "train.py").write_text(lines)
    linecache.checkcache()
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.jax.draws import split_again
        assert {line: text for (_, line), text in split_again(str(file), at).items()} == mended


@pytest.mark.parametrize(["rule", "at", "lines", "mended"], [
    ("change left", 2, "if x:\n    x['a'].at[\n0].set(y)", {2: "    x['a'] = x['a'].at["}),
    ("change left", 1, "x = x.at[0].set(y)", {}),
    ("same random key", 2, "def f(c, _):\n    x = g(jax.random.choice(c[0], 9))\n    return c, x\nscan(f, c)", {}),
    ("same random key", 3, "def f(c, _):\n    k, p = c\n    x = jax.random.choice(k, 9)\n    return (k, p), x\n"
     "scan(f, c)", {3: "    k, subkey = jax.random.split(k)\n    x = jax.random.choice(subkey, 9)"}),
    ("same random key", 3, "key = jax.random.PRNGKey(0)\nfor i in n:\n    p = step(p, key, x)",
     {3: "    key, subkey = jax.random.split(key)\n    p = step(p, subkey, x)"}),
    ("same random key", 3, "key = jax.random.PRNGKey(0)\nfor i in n:\n    p = step(p, key, f(key))", {}),
    ("mean before square", 2, "import jax.numpy as jnp\nl = jnp.mean(r - y) ** 2 + p",
     {2: "l = ((r - y) ** 2).mean() + p"}),
    ("same random key", 2, "def f(k):\n    x = jax.random.choice(k, 9)\n    return x, k\nf(c)", {}),
    ("same random key", 2, "def f(p, k):\n    return p + jax.random.normal(jax.random.PRNGKey(0))\nkey, a = "
     "jax.random.split(b)\nv = jax.value_and_grad(f)(p, a)", {2: "    return p + jax.random.normal(k)"}),
    ("same random key", 3, "def f(i, k):\n    r = jax.random.key(3)\n    return jax.random.normal(r)\ndef g(k):\n"
     "    for n in range(3):\n        x = f(n, k)\nkey, a = jax.random.split(b)\ng(a)",
     {2: "    r = jax.random.fold_in(k, i)"}),
    ("same random key", 2, "def f(p, k):\n    return p + jax.random.normal(jax.random.PRNGKey(0))\nf(p, 3)", {})])
def test_what_jax_changes_no_array_by_and_keys_of_its_loops_are_written(rule, at, lines, mended, tmp_path):
    (file := tmp_path / "train.py").write_text(lines)
    linecache.checkcache()
    with installed("autodiff.foreign.jax"):
        from autodiff.debug.analysis.findings import Finding
        from autodiff.debug.facts.records import Place
        from autodiff.foreign.jax.written import Known, written
        finding = Finding(80, rule, "", "", "", "", "", "", Place(str(file), at, "", ""))
        assert {line: text for (_, line), text in written(finding, Known((), "", None)).items()} == mended


@pytest.mark.parametrize(["batch", "is_told"], [
    (lambda i: np.arange(3.0), True), (lambda i: np.arange(3.0) + i, False), (lambda i: _WHOLE, False)])
def test_a_batch_drawn_anew_by_the_same_key_is_told_of_what_a_loss_closes_over(batch, is_told, tmp_path):
    (file := tmp_path / "train.py").write_text("for i in range(9):\n    step(choice(key))\n")
    with installed("autodiff.foreign.jax"):
        from autodiff.core.site import Site
        from autodiff.foreign.jax.draws import Draw, Draws, drawn_alike
        draws, turns, rounds = Draws(), [], ()

        def closed_over(state, x):
            return lambda w: (state, x)

        for i in range(9):
            draws._now.add(Draw("choice", b"1", Site(str(file), 2, "")))
            x = batch(i)
            rounds = draws.since(SimpleNamespace(args=(), numbers=[], function=closed_over(np.full(2, float(i)), x)))
            turns.append(SimpleNamespace(step=SimpleNamespace(feeds={"x": x}), keys={}))
        found = [(f.place.line, "the very same batch" in f.text) for f in drawn_alike(turns, rounds)]
    assert found == [(2, True)] * is_told


@pytest.mark.parametrize(["body", "line", "mended"], [
    ("k, sub = split(self.key)\n    return choice(sub, 9)", 2, "    self.key, sub = split(self.key)"),
    ("a, b = split(s['k'])\n    return choice(a, 9), choice(b, 9)", 2, "    s['k'], a, b = split(s['k'], 3)"),
    ("self.key, sub = split(self.key)\n    return choice(sub, 9)", 0, ""),
    ("key, sub = split(key)\n    return choice(sub, 9)", 2, ""),
    ("key, sub = split(key)\n    return choice(sub, 9), key", 0, "")])
def test_a_function_that_keeps_no_new_key_is_told(body, line, mended, tmp_path):
    (file := tmp_path / "train.py").write_text(f"def draw(self, key):\n    {body}\n")
    linecache.checkcache()
    with installed("autodiff.foreign.jax"):
        from autodiff.core.site import Site
        from autodiff.foreign.jax.draws import kept_key, unkept_on
        assert unkept_on(Site(str(file), 3, "draw")) == line
        assert "".join(kept_key(str(file), 2).values()) == mended


_WHOLE = np.arange(3.0)  # of a training by all examples


JIT = "jit = lambda given: given\nclass M:\n    def __init__(self): self.w = 2.0\n"


@pytest.mark.parametrize(["lines", "call", "change", "names", "mended"], [
    ("lr = 0.5\n@jit\ndef f(x): return x * lr\nfor i in n: f(1)\nlr = lr * 0.1", "f, 1", "lr = 0.1", "lr",
     ["def f(x, lr): return x * lr\nfor i in n: f(1, lr=lr)", ""]),
    ("c = [1]\ndef g(x): return x * c[0]\n@jit\ndef f(x): return g(x)", "f, 1", "c[0] += 1", "c", []),
    ("def made(p):\n    return lambda x: x * p['w']\np = {'w': 3}\nf = made(p)", "f, 1", "p['w'] = 4", "p", []),
    ("class N(M):\n    @jit\n    def f(self, x): return x * self.w\nm = N()\nm.f(1)", "N.f, m, 1", "m.w = 3.0",
     "self.w", ["    def f(self, x, w): return x * w", "m.f(1, w=m.w)"]),
    ("m = M()\ndef f(x, k=2): return x * k * m.w", "f, 1", "m = M(); m.w = 5.0", "m", []),
    ("import functools\na = np.ones(2)\ng = lambda a, x: x * a.sum()\nf = functools.partial(lambda x: g(a, x))", "f, 1",
     "a *= 3", "a", []),
    ("lr, seen = 0.5, []\ndef f(x): seen.append(lr); return x * lr", "f, 1", "lr = 0.5; seen.append(1)", "", []),
    ("n = 0\ndef f(x):\n    global n\n    n += 1\n    return x * n", "f, 1", "n += 5", "", []),
    ("m = M()\ndef f(x): return x * m.w", "f, 1", "m.losses = [1]", "", [])])
def test_what_a_jitted_function_reads_is_kept_as_it_was_at_its_first_call(tmp_path, lines, call, change, names, mended):
    file = tmp_path / "train.py"
    file.write_text(f"{JIT}{lines}\n")
    linecache.checkcache()
    space = {"np": np, "n": range(2), "__name__": "__main__"}
    with installed("autodiff.foreign.jax"):
        from autodiff.foreign.jax.stale import as_argument, findings, reads_of
        exec(compile(file.read_text(), str(file), "exec"), space)
        function, *args = eval(call, space)
        first, reads = function(*args), reads_of(function, args)
        exec(change, space)
        now = function(*args)
        with reads.as_first(lambda: function(*args)):
            assert function(*args) == first if names else function(*args) != first or now == first
        told = [(f.kind, f.target) for f in findings([reads])]
        assert told == ([("stale under jit", names)] if names else []) and (not names or function(*args) == now)
        assert [*as_argument(str(file), names).values()] == mended
