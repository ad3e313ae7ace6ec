"""The Debugger as a library: names, watches, runs, values, derivatives, what-if; the script sees none of it."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from autodiff.errors import ArgumentError, AutodiffError, ResourceExhaustedError, StateError, UnknownNameError

import autodiff as tf
from autodiff.core.graph import Tensor
from autodiff.debug import Debugger, GradientsDebugger, clear_gradient_debuggers
from autodiff.debug.facts.lazy_rows import Rows
from autodiff.debug.facts.stats import bad_elements, has_nonfinite, statistics
from autodiff.debug.language.conditions import Seen, parse_condition

X = np.random.RandomState(0).randn(6, 3)
TARGET = np.random.RandomState(1).randn(6, 2)


def central(function: Any, at: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """d function / d at by central differences; a new last block of axes for `at`."""
    columns = []
    for i in range(at.size):
        delta = np.zeros(at.size)
        delta[i] = step
        delta = delta.reshape(at.shape)
        columns.append((np.asarray(function(at + delta)) - function(at - delta)) / (2 * step))
    return np.stack(columns, -1).reshape(*np.shape(columns[0]), *at.shape)


def loss_of(w: np.ndarray) -> float:
    return float(np.mean(np.sum((np.tanh(X @ w) - TARGET) ** 2, 1)))


@pytest.fixture
def model() -> tuple[tf.Graph, dict[str, Any]]:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float64, [None, 3], name="x")
        target = tf.placeholder(tf.float64, [None, 2], name="target")
        with tf.name_scope("layer"):
            w = tf.Variable(np.linspace(-0.5, 0.7, 6).reshape(3, 2), name="w")
            h = tf.tanh(tf.matmul(x, w), name="h")
        unused = tf.Variable(np.ones(2), name="unused")
        errors = tf.reduce_sum(tf.square(h - target), 1, name="errors")
        loss = tf.reduce_mean(errors, name="loss")
    return graph, dict(x=x, target=target, w=w, h=h, errors=errors, loss=loss, unused=unused, scale=3)


@pytest.fixture
def dbg(model: tuple[tf.Graph, dict[str, Any]]) -> Debugger:
    """A debugger of a regression that was fed, trained for one step."""
    graph, handles = model
    found = Debugger(graph, handles=handles)
    found.feed("x", X)
    found.feed("target", TARGET)
    found.train("loss", lr=0.1)
    found.run(1)
    return found


W0 = np.linspace(-0.5, 0.7, 6).reshape(3, 2)


# ---- names ------------------------------------------------------------------------------

@pytest.mark.parametrize(("target", "names"), [
    ("w", ("layer/w:0",)), ("h", ("layer/h:0",)), ("layer/h", ("layer/h:0",)), ("layer/h:0", ("layer/h:0",)),
    ("MatMul", ("layer/MatMul:0",)), ("/^layer/h:0$/", ("layer/h:0",)), ("%0", ("x:0",))])
def test_targets(dbg: Debugger, target: str, names: tuple[str, ...]) -> None:
    assert dbg.resolve(target) == names


@pytest.mark.parametrize(("target", "hint"), [
    ("layer/MatMull", "did you mean 'matmul'"), ("los", "'loss'"), ("w:7", "has no output"), ("%99999", "%0 to"),
    ("/qqq/", "no tensor name matches"), ("/[/", "not a regular expression")])
def test_unknown_targets_name_the_nearest(dbg: Debugger, target: str, hint: str) -> None:
    with pytest.raises(AutodiffError) as caught:
        dbg.resolve(target)
    assert hint in str(caught.value)


def test_ambiguous_suffixes_are_listed(dbg: Debugger) -> None:
    with pytest.raises(ArgumentError, match="stands for 2 operations: 'layer/w/read', 'unused/read'"):
        dbg.resolve("read")


def test_short_handles_of_a_tensor_and_its_gradient(dbg: Debugger) -> None:
    short = dbg.model.short("h")
    np.testing.assert_array_equal(dbg.value(short).array, dbg.value("h").array)
    np.testing.assert_array_equal(dbg.value("g" + short[1:]).array, dbg.grad("h").array)


# ---- running and watching ---------------------------------------------------------------

def test_a_run_is_recorded_with_what_was_watched(dbg: Debugger) -> None:
    dbg.watch("h", "w")
    before = dbg.value("w").array
    record = dbg.run(1).records[0]
    assert record.run == 2 and record.fetches == ("loss:0", "prompt/GradientDescent")
    assert record.loss == pytest.approx(loss_of(before), rel=1e-12)
    sample = record.sample("layer/w:0", gradient=True)
    assert sample is not None and sample.of == "loss:0" and sample.stats is not None
    assert sample.stats.norm == pytest.approx(np.linalg.norm(central(loss_of, before)), rel=1e-6)
    assert record.sample("layer/h:0").stats.shape == (6, 2)  # type: ignore[union-attr]


def test_records_are_frozen_names_and_numbers(dbg: Debugger) -> None:
    def walk(item: Any) -> Iterator[Any]:
        yield item
        if dataclasses.is_dataclass(item):
            for field in dataclasses.fields(item):
                yield from walk(getattr(item, field.name))
        elif isinstance(item, (list, tuple)):
            for part in item:
                yield from walk(part)

    dbg.watch("h", condition="norm(.) > 0")
    answers = [dbg.run(1), dbg.grads(), dbg.op("h"), dbg.tensors(stats=True), dbg.variables(), dbg.why("w"),
               dbg.path("", "w"), dbg.script(), dbg.stops(), dbg.where("h"), dbg.lists.memory(), dbg.grad("h")]
    for answer in answers:
        assert not [item for item in walk(answer) if isinstance(item, (Tensor, tf.Operation, tf.Graph))]
    with pytest.raises(dataclasses.FrozenInstanceError):
        answers[0].asked = 3  # type: ignore[misc]


def test_training_is_the_scripts_own(dbg: Debugger) -> None:
    dbg.run(4)
    w = W0.copy()
    for _ in range(5):
        w -= 0.1 * central(loss_of, w)
    np.testing.assert_allclose(dbg.value("w").array, w, rtol=1e-6)


def test_watching_changes_no_value(model: tuple[tf.Graph, dict[str, Any]]) -> None:
    def after(watch: bool) -> np.ndarray:
        dbg = Debugger(model[0], handles=model[1])
        dbg.feed("x", X)
        dbg.feed("target", TARGET)
        if watch:
            dbg.watch("/.*/", condition="nan")
        dbg.train("loss", optimizer="adam", lr=0.1, clip_norm=1.0)
        dbg.run(3)
        return dbg.value("w").array

    np.testing.assert_array_equal(after(True), after(False))


@pytest.mark.parametrize(("condition", "steps"), [
    ("step >= 4", 3), ("loss < 1e9", 1), ("ratio(.) > 1e-9", 1), ("norm(.) > 1e9", 10), ("not nan", 1),
                                                  ("changed and step > 2", 2)])
def test_a_watch_stops_where_its_condition_holds(dbg: Debugger, condition: str, steps: int) -> None:
    number = dbg.watch("w", condition=condition).number
    runs = dbg.run(10)
    assert len(runs.records) == steps
    assert (runs.stop is None) == (steps == 10)
    if runs.stop:
        assert (runs.stop.kind, runs.stop.number) == ("watch", number)


def test_ignore_disable_delete_and_commands(dbg: Debugger) -> None:
    number = dbg.break_at("w", condition="norm(.) > 0").number
    dbg.watches.commands(number, ("print w",))
    dbg.watches.ignore(number, 2)
    runs = dbg.run(10)
    assert len(runs.records) == 3 and runs.stop is not None and runs.stop.commands == ("print w",)
    dbg.watches.enable(number, False)
    assert dbg.run(2).stop is None
    assert [row.number for row in dbg.delete(number)] == [number]
    assert dbg.stops() == ()
    with pytest.raises(ArgumentError, match=f"no watch or breakpoint has number {number}"):
        dbg.delete(number)


def test_unwatch_takes_names_out(dbg: Debugger) -> None:
    dbg.watch("h", "w")
    assert dbg.watches.unwatch("h")[0].names == ("layer/w:0",)
    dbg.watches.unwatch("w")
    assert dbg.stops("watch") == ()


def test_break_at_a_step_and_until(dbg: Debugger) -> None:
    dbg.break_at(step=4)
    assert dbg.run(10).records[-1].run == 4
    runs = dbg.run(10, until="step >= 6")
    assert (runs.records[-1].run, runs.stop.kind) == (6, "condition")  # type: ignore[union-attr]
    assert dbg.holds("step == 6") and not dbg.holds("nan")


def test_a_masked_value_is_no_harm() -> None:
    graph = tf.Graph()
    with graph.as_default():
        a = tf.Variable([1.0, 0.0], name="a")
        logs = tf.log(a, name="logs")
        masked = tf.reduce_sum(tf.where([True, False], logs, tf.zeros(2)), name="masked")
        safe = tf.reduce_sum(a * 2.0, name="safe")
    dbg = Debugger(graph)
    dbg.watch("logs", condition="harmful")
    dbg.y = "safe"
    assert dbg.run(1, fetches=[safe, logs]).stop is None
    dbg.y = "masked"
    stop = dbg.run(1, fetches=[masked, tf.gradients(masked, a)[0]]).stop
    assert stop is None or stop.target == "logs:0"
    assert dbg.why(kind="nan").origins[0].trap == "where"


def test_feeds_from_a_generator_end_the_run(model: tuple[tf.Graph, dict[str, Any]]) -> None:
    graph, handles = model

    def batches() -> Iterator[dict]:
        for i in range(3):
            yield {"x": X + i, handles["target"]: TARGET}

    dbg = Debugger(graph, handles={**handles, "batches": batches})
    dbg.train("loss")
    dbg.feed_from("batches")
    runs = dbg.run(10)
    assert (len(runs.records), runs.stop.kind) == (3, "end")  # type: ignore[union-attr]
    np.testing.assert_array_equal(dbg.value("x", step=2).array, X + 1)


def test_feeds_from_a_function_of_the_step_and_in_order(dbg: Debugger) -> None:
    dbg.feeds.clear()
    dbg.feed_from(lambda step: (X * step, TARGET))
    dbg.run(1)
    np.testing.assert_array_equal(dbg.value("x").array, X * 2)


def test_a_script_runs_through_the_debugger(model: tuple[tf.Graph, dict[str, Any]]) -> None:
    graph, handles = model
    with graph.as_default():
        train = tf.train.GradientDescentOptimizer(0.1).minimize(handles["loss"])
        init = tf.global_variables_initializer()
    dbg = Debugger(graph, handles=handles)
    dbg.watch("h", "w")
    session = tf.Session(graph=graph)
    assert dbg.on_run(session, init)[0] is None
    result, record = dbg.on_run(session, {"l": handles["loss"], "t": train}, {handles["x"]: X,
                                                                              handles["target"]: TARGET})
    assert set(result) == {"l", "t"} and result["t"] is None
    assert result["l"] == record.loss == pytest.approx(loss_of(W0), rel=1e-12)
    assert record.sample("layer/w:0", gradient=True) is not None
    with pytest.raises(tf.errors.InvalidArgumentError):
        dbg.on_run(session, handles["loss"])
    assert "must be fed" in dbg.records[-1].error and dbg.records[-1].stops[0].kind == "error"
    with pytest.raises(TypeError):
        dbg.on_run(session, None)


# ---- op by op ---------------------------------------------------------------------------

def test_stepping_through_a_run(dbg: Debugger) -> None:
    at = dbg.stepper.begin()
    assert (at.position, at.finished) == (0, False)
    at = dbg.stepper.goto("h")
    assert (at.op, at.phase, at.outputs[0].stats.shape) == ("layer/h", "forward", (6, 2))  # type: ignore[union-attr]
    with pytest.raises(ArgumentError, match="comes later"):
        dbg.value("loss")
    assert dbg.where().op.name == "layer/h"
    assert dbg.stepper.goto("h").op == "layer/h"
    at = dbg.stepper.goto("gradients/layer/h_grad/" + next(
        row.name.rsplit("/", 1)[-1] for row in dbg.ops("/layer/h_grad/")))
    assert at.phase == "backward" and at.place is not None and at.place.text.startswith("h = tf.tanh")
    runs = dbg.stepper.finish()
    assert runs.records[0].loss == pytest.approx(dbg.value("loss").array) and dbg.stepper.cursor is None
    with pytest.raises(StateError):
        dbg.stepper.finish()


def test_a_value_set_in_an_open_run_flows_on(dbg: Debugger) -> None:
    dbg.stepper.begin()
    dbg.stepper.goto("h")
    dbg.set("h", np.zeros((6, 2)))
    assert dbg.stepper.finish().records[0].loss == pytest.approx(np.mean(np.sum(TARGET ** 2, 1)))


# ---- values -----------------------------------------------------------------------------

def test_values_are_of_the_last_run_and_variables_of_now(dbg: Debugger) -> None:
    np.testing.assert_allclose(dbg.value("h").array, np.tanh(X @ W0), rtol=1e-12)
    np.testing.assert_allclose(dbg.value("w").array, W0 - 0.1 * central(loss_of, W0), rtol=1e-6)
    assert (dbg.value("h").when, dbg.value("w").when) == ("step 1", "now")


def test_values_of_past_steps(dbg: Debugger) -> None:
    first = dbg.value("loss").array
    dbg.run(5)
    assert dbg.value("loss", step=1).array == first
    np.testing.assert_array_equal(dbg.value("w", step=1).array, W0)
    with pytest.raises(ArgumentError, match="there is no step 99: the last is 6"):
        dbg.value("loss", step=99)


def test_random_ops_replay_bit_for_bit() -> None:
    graph = tf.Graph()
    with graph.as_default():
        noise = tf.random_normal([4], name="noise")
        tf.reduce_sum(noise, name="total")
    dbg = Debugger(graph)
    runs = [dbg.run(1, fetches=noise) and dbg.result for _ in range(3)]
    assert not np.array_equal(runs[0], runs[1])
    for step in (1, 2, 3):
        np.testing.assert_array_equal(dbg.value("noise", step=step).array, runs[step - 1])
        assert dbg.value("total", step=step).array == pytest.approx(runs[step - 1].sum(), rel=1e-6)


@pytest.mark.parametrize(("expression", "expected"), [
    ("w[0:2, 1]", lambda w, h: w[0:2, 1]), ("norm(layer/h:0) * 2", lambda w, h: 2 * np.linalg.norm(h)),
    ("layer/h.sum(axis=0)", lambda w, h: h.sum(axis=0)), ("np.maximum(h, 0) @ w.T", lambda w, h: np.maximum(h,
                                                                                                            0) @ w.T),
    ("`/^layer/h:0$/` > 0", lambda w, h: h > 0), ("scale + 1", lambda w, h: 4), ("h/h", lambda w, h: h / h),
    ("MatMul", lambda w, h: np.arctanh(h))])
def test_expressions(dbg: Debugger, expression: str, expected: Any) -> None:
    w = dbg.value("w").array
    np.testing.assert_allclose(dbg.evaluate(expression).array, expected(w, np.tanh(X @ W0)), rtol=1e-9)


@pytest.mark.parametrize("text", [
    "__import__('os')", "w.__class__", "().__class__.__bases__", "[i for i in w]", "lambda: 1",
                                  "9**9**9 and w.dump('f')",
    "zeros(10**12)", "np.load('f')", "w.tofile('f')", "open('f')", "sum(w, out=w)", "w[", "", "f'{w}'", "(w := 1)",
    "nosuch + 1", "w.T.base", "np.random.rand(3)", "'a'*10**9", "getattr(w, 'base')"])
def test_what_is_no_expression_is_refused(dbg: Debugger, text: str) -> None:
    with pytest.raises(AutodiffError):
        dbg.evaluate(text)


def test_the_history(dbg: Debugger) -> None:
    first = dbg.value("h")
    second = dbg.evaluate(f"${first.number} * 2")
    np.testing.assert_array_equal(second.array, 2 * first.array)
    assert [v.number for v in dbg.values.kept()] == [first.number, second.number]
    assert dbg.evaluate("1 + 1", keep=False).number == 0
    with pytest.raises(ArgumentError, match=r"there is no \$77"):
        dbg.evaluate("$77")


def test_an_unfed_placeholder_says_so(model: tuple[tf.Graph, dict[str, Any]]) -> None:
    dbg = Debugger(model[0], handles=model[1])
    with pytest.raises(AutodiffError, match="must be fed"):
        dbg.value("errors")
    with pytest.raises(UnknownNameError, match="has no value yet"):
        dbg.value("w")


# ---- derivatives ------------------------------------------------------------------------

def test_gradients_of_anything_by_anything(dbg: Debugger) -> None:
    h = np.tanh(X @ W0)
    np.testing.assert_allclose(dbg.grad("w").array, central(loss_of, W0), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(dbg.grad("h").array, 2 * (h - TARGET) / 6, rtol=1e-12)
    found = dbg.grad("w", "h")
    assert found.summed and found.y_shape is None
    np.testing.assert_allclose(found.array, X.T @ (1 - h ** 2), rtol=1e-12)
    np.testing.assert_allclose(dbg.grad("x", "errors").array, 2 * ((h - TARGET) * (1 - h ** 2)) @ W0.T, rtol=1e-12)


def test_per_example_gradients(dbg: Debugger) -> None:
    def errors(w: np.ndarray) -> np.ndarray:
        return np.sum((np.tanh(X @ w) - TARGET) ** 2, 1)

    np.testing.assert_allclose(dbg.grad("w/read", "errors", per_example=True).array, central(errors, W0), rtol=1e-5,
                               atol=1e-8)
    np.testing.assert_array_equal(dbg.grad("w", per_example=True).array,
                                  dbg.grad("w", "errors", per_example=True).array)
    ranked = dbg.gradients.examples("w", top=3)
    norms = [np.linalg.norm(row) for row in dbg.grad("w", per_example=True).array]
    assert [index for index, _ in ranked.rows] == sorted(range(6), key=lambda i: -norms[i])[:3]


def test_hessians(dbg: Debugger) -> None:
    expected = central(lambda w: central(loss_of, w, 1e-4), W0, 1e-4).reshape(6, 6)
    full = dbg.hessian("w")
    np.testing.assert_allclose(full.array, expected, atol=1e-6)
    assert full.asymmetry is not None and full.asymmetry < 1e-12
    assert (full.cost.parameters, full.cost.rows, full.cost.bytes) == (6, 6, 288)
    np.testing.assert_allclose(dbg.hessian("w", rows=slice(1, 3), kind="rows").array, full.array[1:3], rtol=1e-12)
    np.testing.assert_allclose(dbg.hessian("w", kind="diag").array, np.diag(full.array), rtol=1e-12)
    v = np.arange(6.0).reshape(3, 2)
    product = dbg.hessian("w", kind="hvp", v="arange(6.0).reshape(3, 2)").array
    np.testing.assert_allclose(product.ravel(), full.array @ v.ravel(), rtol=1e-12)
    np.testing.assert_allclose(dbg.grad("w", order=2).array.ravel(), full.array.sum(0), rtol=1e-9)


def test_a_hessian_over_budget_is_refused_with_advice(dbg: Debugger) -> None:
    with pytest.raises(ResourceExhaustedError, match=r"--diag") as caught:
        dbg.hessian("w", budget=100)
    assert "--rows 0:2" in str(caught.value) and "--hvp" in str(caught.value)


def test_the_table_of_gradients(dbg: Debugger) -> None:
    dbg.run(2)
    table = dbg.grads(sort="norm")
    (row,) = table.rows
    assert (row.name, row.handle, table.y, table.at.step, table.source) == ("layer/w:0", "w", "loss:0", 3, "train op")
    assert len(row.norms) == 3 and row.stats is not None and row.norms[-1] == row.stats.norm
    change = np.linalg.norm(dbg.value("w").array - dbg.value("w", step=3).array)
    assert row.update == pytest.approx(change / np.linalg.norm(dbg.value("w", step=3).array), rel=1e-12)
    assert [m.name for m in table.missing] == ["unused:0"] and "nothing uses it" in table.missing[0].reason
    assert [r.name for r in dbg.grads(by="scope").rows] == ["layer"]
    assert [r.name for r in dbg.grads("h").rows] == ["layer/h:0"]


def test_the_script_sees_nothing(model: tuple[tf.Graph, dict[str, Any]]) -> None:
    graph, handles = model
    with graph.as_default():
        tf.gradients(handles["loss"], handles["w"])
    own = GradientsDebugger()
    own.watch_gradients_by_tensors(graph, handles["h"])
    dbg = Debugger(graph, handles=handles)
    dbg.feed("x", X)
    dbg.feed("target", TARGET)
    dbg.run(1)

    def view() -> Any:
        return ([op.name for op in graph.get_operations()], handles["h"].consumers(), graph.unique_name("h", False),
                dbg.session.runs, sorted(dbg.session.variables), {k: list(v) for k, v in graph.collected.items()},
                graph.extras["gradient_observers"], own.gradient_tensors(), tf.Graph.get_name_scope(graph))

    graph.finalize()
    before = view()
    dbg.grad("x", "h")
    dbg.hessian("w")
    dbg.why("w")
    dbg.why(kind="nan")
    dbg.path("", "w")
    dbg.grad("w/read", "errors", per_example=True)
    dbg.tensors(stats=True)
    dbg.value("h")
    assert view() == before
    assert graph.finalized
    clear_gradient_debuggers()


def test_the_scripts_own_debugger_stays_the_only_one(model: tuple[tf.Graph, dict[str, Any]]) -> None:
    clear_gradient_debuggers()
    graph, handles = model
    Debugger(graph, handles=handles)
    own = GradientsDebugger()
    own.watch_gradients_by_tensors(graph, handles["h"])
    tf.gradients(handles["loss"], handles["w"])
    assert list(own.gradient_tensors()) == ["layer/h:0"]
    clear_gradient_debuggers()


# ---- lists ------------------------------------------------------------------------------

def test_lists(dbg: Debugger) -> None:
    rows = {row.name: row for row in dbg.tensors("/^layer/", stats=True)}
    row = rows["layer/h:0"]
    assert row.handle == "h" and row.stats is not None and row.gradient is not None
    card = dbg.op("h")
    assert (card.type, card.inputs[0].name, card.why_no_gradient) == ("Tanh", "layer/MatMul:0", "")
    assert card.traceback[0].text.startswith("h = tf.tanh")
    back = dbg.op(next(row.name for row in dbg.ops("/h_grad/")))
    assert (back.role, back.forward_op, back.gradient_of) == ("gradient", "layer/h", "loss:0")
    assert [(v.name, v.used) for v in dbg.variables()] == [("layer/w:0", True), ("unused:0", False)]
    assert [v.name for v in dbg.variables(unused=True)] == ["unused:0"]
    script = dbg.script()
    assert (script.y, script.train_op, script.parameters) == ("loss:0", "prompt/GradientDescent", 8)
    assert dbg.lists.memory().variables == 64
    line = next(line for line in dbg.source("h").lines if line.current)
    assert line.text.strip().startswith("h = tf.tanh") and line.gradient_norm is not None


def test_the_plan_says_what_became_of_every_op_of_the_run(model: tuple[tf.Graph, dict[str, Any]]) -> None:
    dbg = Debugger(model[0], handles=model[1])
    with pytest.raises(ArgumentError, match="nothing was run"):
        dbg.places.plan()
    dbg.feed("x", X)
    dbg.feed("target", TARGET)
    dbg.train("loss", lr=0.1)
    dbg.run(1)
    first = dbg.places.plan()
    assert not first.is_compiled and sum(count for _, count in first.counts) == first.ops == len(first.rows)
    dbg.run(30)
    found = dbg.places.plan()
    assert found.is_compiled and len(found.table) == 1 + found.steps and found.blocks
    rows = {row.name: row for row in found.rows}
    assert [rows[name].kind for name in ("x", "layer/w", "layer/w/read", "layer/h", "loss/Const", "Const")
            if name in rows] == ["fed", "variable", "same", "calls", "constant"]
    assert rows["layer/h"].text == "computed by tanh, in place into layer/MatMul"
    assert rows["layer/h"].place is not None and "unused" not in rows and found.outside > 0
    assert [row.name for row in dbg.places.plan("h").rows] == ["layer/h"]
    dbg.watch("layer/MatMul")
    dbg.run(30)
    kept = dbg.places.plan("/^layer/h$/").rows[0]
    assert kept.others == (), "what is watched is not written over"


def test_rows_are_made_when_looked_at(dbg: Debugger) -> None:
    made: list[int] = []

    def make(item: int) -> str:
        made.append(item)
        return str(item)

    rows = Rows(range(5), make)
    assert (len(rows), rows[-1], rows[1:3], rows[1]) == (5, "4", ("1", "2"), "1") and made == [4, 1, 2]
    assert rows == ("0", "1", "2", "3", "4")
    with pytest.raises(IndexError):
        rows[5]
    assert dbg.lists.tensors_listed("h") == dbg.tensors("h")


def test_what_if_and_back(dbg: Debugger) -> None:
    old = dbg.value("w").array.copy()
    dbg.set("w", "w * 0")
    assert dbg.value("loss").array == pytest.approx(np.mean(np.sum(TARGET ** 2, 1)), rel=1e-12)
    assert dbg.value("loss").when == "now"
    dbg.set("w", old)
    assert dbg.value("loss").array == pytest.approx(loss_of(old), rel=1e-12)
    dbg.set("h", 1.0)
    assert dbg.run(1).records[0].loss == pytest.approx(np.mean(np.sum((1 - TARGET) ** 2, 1)), rel=1e-12)
    dbg.edits.unset("h")
    with pytest.raises(ArgumentError, match="not overridden"):
        dbg.edits.unset("h")


# ---- parts ------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "holds"), [
    ("nan", True), ("not nan", False), ("inf", False), ("nan and step >= 10", True), ("norm(·) > 3 or inf", True),
    ("max(.) > 3", False), ("(nan or inf) and not zero", True), ("loss > 2 and loss <= 2.5", True),
    ("ratio(.) > 0.1", False), ("none", False), ("zeros > 0", False), ("nans == 1", True), ("not not nan", True),
                                             ("nan or nan and inf", True)])
def test_conditions(text: str, holds: bool) -> None:
    seen = Seen(statistics(np.array([1.0, np.nan, 3.0])), 12, loss=2.5)
    assert parse_condition(text).holds(seen) is holds


@pytest.mark.parametrize("text", ["", "nan and", "nan nan", "nann", "max(.) >", "1 > 2", "import os", "norm(", "loss",
                                  "a[0]"])
def test_what_is_no_condition_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(ArgumentError, match="at column"):
        parse_condition(text)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_statistics_are_of_the_finite_elements(dtype: Any) -> None:
    found = statistics(np.array([[3.0, np.nan, 0.0], [-4.0, np.inf, -np.inf]], dtype))
    assert (found.count, found.nans, found.positive_infs, found.negative_infs, found.zeros) == (6, 1, 1, 1, 1)
    assert (found.minimum, found.maximum, found.norm, found.max_abs) == (-4.0, 3.0, 5.0, 4.0)
    assert found.mean == pytest.approx(-1 / 3) and found.shape == (2, 3)


@pytest.mark.parametrize(("array", "norm"), [
    (np.full(400, 1e18, np.float32), 2e19), (np.full(4, 3e38, np.float32), 6e38), (np.full(4, 1e300), 2e300),
    (np.full(4, 1e-300), 2e-300), (np.full(4, 6e4, np.float16), 1.2e5), (np.array([1e-30], np.float32), 1e-30)])
def test_a_norm_neither_overflows_nor_underflows(array: np.ndarray, norm: float) -> None:
    assert statistics(array).norm == pytest.approx(norm, rel=1e-2 if array.dtype == np.float16 else 1e-5)


@pytest.mark.parametrize(("value", "expected"), [
    (np.array([]), (0, None)), (np.array([2, -3]), (2, -3.0)), (np.array([True, False]), (2, 0.0)), (7, (1, 7.0)),
    (np.array(["a"], object), (1, None)), (np.array([3 + 4j]), (1, 5.0)), (np.full(2, np.nan), (2, None))])
def test_statistics_take_anything(value: Any, expected: tuple) -> None:
    found = statistics(value)
    assert (found.count, found.minimum) == expected


def test_bad_elements() -> None:
    array = np.zeros((2, 3))
    assert not has_nonfinite(array) and bad_elements(array) == ()
    array[1, 2], array[0, 1] = np.nan, np.inf
    assert has_nonfinite(array) and bad_elements(array) == ((0, 1), (1, 2))


def test_six_thousand_ops_in_a_chain() -> None:
    graph = tf.Graph()
    with graph.as_default():
        a = tf.Variable(0.5, name="a")
        y: Any = a * 1.0
        for _ in range(2000):
            y = tf.sin(y) + 0.0 * y
        loss = tf.log(y - y, name="loss")
    dbg = Debugger(graph, handles={"loss": loss})
    dbg.run(1)
    assert dbg.why("loss").origins[0].rule == "log(0) = -inf"
    assert dbg.path("", "a").hops
    assert dbg.explain.why_missing("a").kind == "flows"
