"""Session: what may be fetched and fed, what comes back, when it fails, and how."""

import collections
import gc
import json
import warnings
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff import errors
from autodiff.api.train.hooks.timeline import Timeline
from autodiff.core.op import OPS, build
from autodiff.runtime.plan.running import running
from autodiff.runtime.program import HOT

Pair = collections.namedtuple("Pair", "u v")


pytestmark = pytest.mark.usefixtures("own_graph")


def variable(value: Any, name: str = "v") -> tuple[tf.Tensor, tf.Operation]:
    """A variable and the operation that initializes it."""
    value = np.asarray(value, np.float32)
    handle = build.VariableV2(shape=list(value.shape), dtype=tf.float32, name=name)
    return handle, build.Assign(handle, value).op


# ---- fetching ---------------------------------------------------------------------------

def test_a_structure_comes_back_with_its_own_types() -> None:
    a, b = tf.constant(1.0), tf.constant([2.0])
    kinds = collections.defaultdict(list, q=a)
    with tf.Session() as session:
        found = session.run([a, (b,), {"z": a, "y": [b]}, Pair(a, [b]), collections.OrderedDict(k2=a, k1=b), kinds, []])
    assert [type(x) for x in found[1:]] == [tuple, dict, Pair, collections.OrderedDict, collections.defaultdict, list]
    assert list(found[2]) == ["z", "y"]
    assert list(found[4]) == ["k2", "k1"]
    assert found[3].u == 1 and found[3].v[0].tolist() == [2]


def test_attrs_classes_are_structures() -> None:
    class Field:
        def __init__(self, name: str) -> None:
            self.name = name

    class Both:
        __attrs_attrs__ = (Field("a"), Field("b"))

        def __init__(self, a: Any, b: Any) -> None:
            self.a, self.b = a, b

    x = tf.constant(1.0)
    found = tf.Session().run(Both(x, [x]))
    assert type(found) is Both and found.a == 1 and found.b == [1]


def test_values_are_numpys_own() -> None:
    with tf.Session() as session:
        half, flags, whole, text, none = session.run(
            [tf.constant(1.5), tf.constant([True]), tf.constant(7, tf.int64), tf.constant("hi"), tf.constant(1.0).op])
    assert type(half) is np.float32 and type(flags) is np.ndarray and type(whole) is np.int64
    assert text == b"hi" and none is None


def test_names_bytes_and_operations_are_fetched() -> None:
    tf.constant(2.0, name="c")
    with tf.Session() as session:
        assert session.run(["c:0", b"c:0", "c"]) == [2, 2, None]


def test_indexed_slices_give_their_value() -> None:
    values, rows, shape = tf.constant([[1.0]]), tf.constant([0]), tf.constant([3, 1])
    found = tf.Session().run([tf.IndexedSlices(values, rows, shape), tf.IndexedSlices(values, rows)])
    assert type(found[0]) is tf.IndexedSlicesValue
    assert found[0].dense_shape.tolist() == [3, 1] and found[1].dense_shape is None


@pytest.mark.parametrize("fetch", [None, 3, 2.5, [None], {"a": 3.0}, np.zeros(2), object(), {1}, tf.Graph()],
                         ids=lambda fetch: type(fetch).__name__)
def test_what_is_no_element_is_a_type_error(fetch: Any) -> None:
    tf.constant(1.0)
    with pytest.raises(TypeError, match="Fetch argument"):
        tf.Session().run(fetch)


@pytest.mark.parametrize("fetch", ["nope", "nope:0", "c:7", "c:x"])
def test_an_unknown_name_is_a_value_error(fetch: str) -> None:
    tf.constant(1.0, name="c")
    with pytest.raises(ValueError, match="Fetch argument"):
        tf.Session().run(fetch)


def test_an_element_of_another_graph_is_a_value_error() -> None:
    tf.constant(1.0)
    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    for fetch in (foreign, foreign.op, [foreign]):
        with pytest.raises(ValueError, match="not an element of this graph"):
            tf.Session().run(fetch)


def test_what_comes_back_is_the_callers_own() -> None:
    v, initial = variable([1, 2])
    c = tf.constant([1.0, 2.0])
    same = build.Identity(c)
    fed = tf.placeholder(tf.float32)
    passed, viewed, size = build.Identity(fed), build.Reshape(fed * 2.0, [2, 1]), build.Shape(fed)
    value = np.ones(2, np.float32)
    with tf.Session() as session:
        session.run(initial)
        for _ in range(HOT + 4):  # through the loop and the generated function
            found = session.run([v, c, same, fed, passed, viewed, size], {fed: value})
            assert found[-1].tolist() == [2]
            for array in found:
                array += 50
        assert session.run([v, c, same])[0].tolist() == [1, 2]
        assert session.run(c).tolist() == [1, 2]
        assert value.tolist() == [1, 1]


def test_a_variable_is_not_changed_through_what_it_was_given() -> None:
    v, _ = variable([0, 0])
    fed = tf.placeholder(tf.float32, [2])
    changed = build.Assign(v, build.Identity(fed))
    value = np.ones(2, np.float32)
    with tf.Session() as session:
        session.run(changed.op, {fed: value})
        value += 5
        assert session.run(v).tolist() == [1, 1]
        mine = np.zeros(2, np.float32)
        session.variables["v"] = mine
        mine += 1
        assert session.run(v).tolist() == [0, 0]


# ---- feeding ----------------------------------------------------------------------------

def test_any_tensor_can_be_fed_and_cuts_what_is_above() -> None:
    missing = tf.placeholder(tf.float32, [], name="missing")
    middle = missing * 2.0
    with tf.Session() as session:
        assert session.run(middle + 1.0, {middle: 10}) == 11
        assert session.run([middle, middle + 1.0], {middle: 10}) == [10, 11]


def test_a_fed_constant_is_not_folded() -> None:
    a = tf.constant(3.0)
    b = a * a
    c = b + 1.0
    with tf.Session() as session:
        assert [session.run(c), session.run(c, {b: 100}), session.run(c, {a: 2}), session.run(c)] == [10, 101, 5, 10]


def test_a_variable_can_be_fed() -> None:
    v, _ = variable([1, 2])
    read = build.Identity(v)
    with tf.Session() as session:
        assert session.run(read, {v: [5, 6]}).tolist() == [5, 6]
        with pytest.raises(ValueError, match="shape"):
            session.run(read, {v: [5, 6, 7]})


def test_keys_may_be_names_slices_and_tuples() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.placeholder(tf.float32, [2], name="y")
    slices = tf.IndexedSlices(tf.placeholder(tf.float32), tf.placeholder(tf.int32), tf.placeholder(tf.int32))
    with tf.Session() as session:
        assert session.run(x + 1.0, {"x:0": 2}) == 3
        assert session.run([x, y], {(x, y): (1, np.ones(2))})[1].tolist() == [1, 1]
        found = session.run(slices, {slices: ([[1.0]], [0], [2, 1])})
        assert found.values.tolist() == [[1]] and found.dense_shape.tolist() == [2, 1]
        with pytest.raises(ValueError, match="expected 2 values"):
            session.run([x, y], {(x, y): (1,)})


@pytest.mark.parametrize(("dtype", "value", "found"), [
    (tf.float32, 3, 3.0), (tf.float32, np.float64(1.5), 1.5), (tf.int32, [1.5, 2.5], [1, 2]),
    (tf.int32, np.array([1, 2], np.int64), [1, 2]), (tf.bool_, 1, True), (tf.string, ["a", b"b"], [b"a", b"b"]),
    (tf.float32, "1.5", 1.5)])
def test_values_are_cast_to_the_dtype(dtype: Any, value: Any, found: Any) -> None:
    x = tf.placeholder(dtype)
    got = tf.Session().run(build.Identity(x), {x: value})
    assert got.tolist() == found if dtype is not tf.string else list(got) == found


@pytest.mark.parametrize(("dtype", "dims", "value", "kind"), [
    (tf.float32, [None, 2], [[1, 2, 3]], ValueError), (tf.float32, [None, 2], [1, 2], ValueError),
    (tf.float32, None, [[1, 2], [3]], ValueError), (tf.float32, [], "abc", ValueError),
    (tf.float32, None, None, ValueError), (tf.int32, [], 3_000_000_000, TypeError), (tf.uint8, [], -1, TypeError),
    (tf.float32, [], 16777217, TypeError), (tf.float32, [], 1j, TypeError), (tf.string, [], 3, TypeError),
    (tf.float32, [], object(), TypeError)])
def test_a_value_that_does_not_fit_is_refused_before_the_run(dtype: Any, dims: Any, value: Any, kind: Any) -> None:
    x = tf.placeholder(dtype, dims, name="x")
    session = tf.Session()
    with pytest.raises(kind, match="x") as caught:
        session.run(build.Identity(x), {x: value})
    assert isinstance(caught.value, errors.AutodiffError)
    assert session.runs == 0


def test_a_tensor_is_no_value_and_an_operation_no_key() -> None:
    x = tf.placeholder(tf.float32, [])
    with tf.Session() as session:
        for feed in ({x: tf.constant(1.0)}, {x.op: 1}, {"nope:0": 1}, {"x": 1}, {3: 1}, [(x, 1)]):
            with pytest.raises(TypeError):
                session.run(x, feed)


# ---- failing in the run -----------------------------------------------------------------

def test_a_missing_feed_names_the_placeholder() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    with pytest.raises(errors.InvalidArgumentError, match="'x:0' must be fed") as caught:
        tf.Session().run(x + 1.0)
    assert caught.value.op is x.op and not isinstance(caught.value, ValueError)


def test_a_variable_without_a_value_is_a_failed_precondition() -> None:
    v, _ = variable([1, 2])
    y = build.Identity(v) + 1.0
    with pytest.raises(errors.FailedPreconditionError, match="Attempting to use uninitialized value v"):
        tf.Session().run(y)


def test_a_variable_made_after_the_initializer_is_told_so() -> None:
    for late in (True, False):
        with tf.Graph().as_default(), tf.Session() as session:
            made = [tf.Variable(0.0), *([] if late else [tf.Variable(1.0, name="v")])]
            start = tf.variables_initializer(made)
            v = tf.Variable(1.0, name="v") if late else made[1]
            with pytest.raises(errors.FailedPreconditionError) as caught:
                session.run(v)
            assert (f"the initializer at {start.site} was made before v" in caught.value.hint) == late


@pytest.mark.parametrize("runs", [1, HOT + 4], ids=["loop", "generated"])
def test_a_kernels_refusal_knows_op_values_and_line(runs: int) -> None:
    a, b = tf.placeholder(tf.float32, [None], name="a"), tf.placeholder(tf.float32, [None], name="b")
    total = build.Add(build.Tanh(a), b, name="total")
    session = tf.Session()
    for _ in range(runs):
        with pytest.raises(errors.InvalidArgumentError) as caught:
            session.run(total, {a: [1, 2], b: [1, 2, 3]})
    assert caught.value.op is total.op
    lines = caught.value.message.splitlines()
    assert lines[1].startswith("in total: Add(") and lines[2] == "found float32[2], float32[3]"
    assert lines[-1].startswith("written at test_session.py:")
    assert session.run(total, {a: [1, 2], b: [3, 4]}).shape == (2,)


def test_a_generated_function_fails_as_the_loop_does(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    y = build.Tanh(build.Square(x) + x, name="y")
    healthy = OPS["Tanh"].kernel
    broken = [False]

    def tanh(x: Any, *, out: Any = None) -> Any:
        if broken[0]:
            raise ValueError("it broke")
        return np.array(healthy(x)) if out is None else healthy(x, out=out)

    monkeypatch.setattr(OPS["Tanh"], "kernel", tanh)
    session = tf.Session()
    for _ in range(HOT + 4):
        session.run(y, {x: [1, 2]})
    broken[0] = True
    with pytest.raises(errors.InvalidArgumentError, match="Tanh cannot take values like these") as caught:
        session.run(y, {x: [1, 2]})
    assert caught.value.op is y.op and "found float32[2]" in caught.value.message


def test_an_interrupt_passes_and_the_session_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.placeholder(tf.float32, [None])
    y = build.Tanh(x)
    interrupted = [False]

    def tanh(x: Any, *, out: Any = None) -> Any:
        if interrupted[0]:
            raise KeyboardInterrupt
        return np.tanh(np.asarray(x), out=out)

    monkeypatch.setattr(OPS["Tanh"], "kernel", tanh)
    session = tf.Session()
    for _ in range(HOT + 4):
        expected = session.run(y, {x: [1, 2]})
        interrupted[0] = True
        with pytest.raises(KeyboardInterrupt):
            session.run(y, {x: [1, 2]})
        interrupted[0] = False
        assert (session.run(y, {x: [1, 2]}) == expected).all()


# ---- sessions ---------------------------------------------------------------------------

def test_a_closed_session_refuses() -> None:
    x = tf.constant(1.0)
    with tf.Session() as session:
        assert tf.get_default_session() is session and x.eval() == 1
    assert tf.get_default_session() is None
    with pytest.raises(RuntimeError, match="closed"):
        session.run(x)
    with pytest.raises(ValueError, match="Cannot evaluate tensor using `eval.*`: No default session is registered"):
        x.eval()


def test_sessions_nest_and_are_entered_once() -> None:
    with tf.Session() as outer:
        with tf.Session() as inner:
            assert tf.get_default_session() is inner
        assert tf.get_default_session() is outer
        with pytest.raises(RuntimeError, match="not re-entrant"):
            outer.__enter__()
    with tf.Session().as_default() as session:
        assert tf.get_default_session() is session
    assert session.run(tf.constant(1.0)) == 1
    blocks = [tf.Session().as_default() for _ in range(2)]
    for block in blocks:
        block.__enter__()
    with pytest.raises(AssertionError, match="Nesting violated"):
        blocks[0].__exit__(None, None, None)
    blocks[1].__exit__(None, None, None)
    assert tf.get_default_session() is None


def test_an_interactive_session_is_the_default_until_closed() -> None:
    graph = tf.Graph()
    session = tf.InteractiveSession(graph=graph)
    assert tf.get_default_graph() is graph
    assert tf.constant(2.0).eval() == 2
    session.close()
    assert tf.get_default_session() is None and tf.get_default_graph() is not graph


def test_an_empty_graph_cannot_run() -> None:
    with pytest.raises(RuntimeError, match="empty"):
        tf.Session(graph=tf.Graph()).run([])


def test_options_are_accepted_and_wrong_kinds_refused() -> None:
    x = tf.constant(1.0)
    config = tf.ConfigProto(allow_soft_placement=True, gpu_options=tf.GPUOptions(allow_growth=True))
    config.gpu_options.per_process_gpu_memory_fraction = 0.5
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    assert tf.Session(config=config).run(x, options=options, run_metadata=tf.RunMetadata()) == 1
    for arguments in ({"config": 3}, {"graph": 3}, {"target": 3}):
        with pytest.raises(TypeError):
            tf.Session(**arguments)
    with pytest.raises(ValueError, match="no field 'foo'"):
        tf.ConfigProto(foo=3)


@pytest.mark.parametrize("dims, value, remedy", [
    ([None], np.eye(3), "np.argmax(value, axis=1)"), ([None, 10], [1, 2], "np.eye(10)[value]"),
    ([None, 1], [0.5, 2.0], "np.reshape(value, (-1, 1))"), ([2, 3], np.ones(6), "np.reshape(value, (2, 3))"),
    ([], np.ones((1, 1)), "np.reshape(value, ())"),
    ([], [1.0, 2.0], ""), ([4], np.ones((8, 1)), ""), ([4], np.eye(3), ""), ([4, 10], [1, 2], "")])
def test_a_feed_of_another_shape_is_made_to_fit_only_where_it_can_be(dims: list, value: Any, remedy: str) -> None:
    x = tf.placeholder(tf.float32, dims)
    with pytest.raises(errors.ShapeError) as caught:
        tf.Session().run(x, {x: value})
    assert remedy in caught.value.hint and bool(remedy) == bool(caught.value.hint)
    if remedy:
        fits = eval(remedy, {"np": np, "value": np.asarray(value)})
        assert tf.Session().run(x, {x: fits}).shape == np.shape(fits)


def test_a_callable_takes_its_feeds_in_order() -> None:
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    session = tf.Session()
    assert session.make_callable([x - y, {"y": y}], [x, y])(5, 2) == [3, {"y": 2}]
    assert session.make_callable(tf.constant(1.0))() == 1
    with pytest.raises(ValueError, match="expected 2 values"):
        session.make_callable(x, [x, y])(1)
    with pytest.raises(TypeError, match="feed_list"):
        session.make_callable(x, x)


def test_the_graph_may_grow_between_runs() -> None:
    x = tf.constant(2.0)
    with tf.Session() as session:
        assert session.run(x) == 2
        assert session.run(x * x) == 4


def test_a_run_within_a_run_has_its_own_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.placeholder(tf.float32, [2])
    y = build.Tanh(x * 2.0) + 1.0
    session = tf.Session()
    inner: list[Any] = []

    def tanh(v: Any, *, out: Any = None) -> Any:
        if len(inner) == 1:
            inner.append(None)
            inner[1] = session.run(y, {x: [7, 8]})
        return np.tanh(np.asarray(v), out=out)

    monkeypatch.setattr(OPS["Tanh"], "kernel", tanh)
    for _ in range(HOT + 4):
        expected = session.run(y, {x: [1, 2]})
    inner.append("armed")
    assert (session.run(y, {x: [1, 2]}) == expected).all()
    assert (inner[1] == session.run(y, {x: [7, 8]})).all()


def test_what_must_not_be_fed_or_fetched() -> None:
    x, y = tf.constant(1.0), tf.constant(2.0)
    graph = tf.get_default_graph()
    graph.prevent_feeding(x)
    graph.prevent_fetching(y.op)
    assert (graph.is_feedable(x), graph.is_feedable(y), graph.is_fetchable(x), graph.is_fetchable(y)) == (
        False, True, True, False)
    with tf.Session() as session:
        assert session.run(x + y) == 3.0
        with pytest.raises(ValueError, match="may not be fed"):
            session.run(x, {x: 1.0})
        with pytest.raises(ValueError, match="may not be fetched"):
            session.run(y)


def test_a_tensor_is_no_python_value() -> None:
    x = tf.constant([1.0, 2.0])
    for use in (bool, iter):
        with pytest.raises(TypeError) as raised:
            use(x)
        assert type(raised.value).__name__ == "OperatorNotAllowedInGraphError"
    with pytest.raises(NotImplementedError):
        np.array(x)
    with pytest.raises(KeyError):
        tf.get_default_graph().get_tensor_by_name(":0")


def test_a_placeholder_with_a_default_has_the_shape_it_is_given() -> None:
    anything = tf.placeholder_with_default([1.0, 2.0], None)
    assert anything.shape.ndims is None
    with tf.Session() as session:
        assert session.run(tf.size(anything), {anything: np.zeros((2, 3))}) == 6


def test_python_values_become_constants_by_tensorflows_rules() -> None:
    x, i = tf.constant([1.0, 2.0]), tf.constant([1, 2])
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(x + True), [2.0, 3.0])
        np.testing.assert_array_equal(session.run(tf.constant([True, False], tf.int32)), [1, 0])
    for mixed in ([1, "a"], ["a", 1.5], [None, 1], np.array([1, 2], object), [x, i]):
        with pytest.raises(TypeError):
            tf.convert_to_tensor(mixed)
    with pytest.raises(TypeError):
        tf.stack([x, i])
    with pytest.raises(ValueError):
        tf.fill(2, 1)
    assert [0] * tf.Dimension(2) == [0, 0]


def test_no_garbage_is_looked_for_while_a_plan_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    def needing(*given: Any, **named: Any) -> Any:
        seen.append(gc.isenabled())
        return running(*given, **named)

    monkeypatch.setattr("autodiff.runtime.plan.plan.running", needing)
    with tf.Session() as session:
        assert session.run(tf.constant(2.0) * 3.0) == 6.0
    assert seen == [False]
    assert gc.isenabled()


def test_a_traced_run_notes_its_times_and_sizes() -> None:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    y = tf.square(x, name="y") + 1.0
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(y, {x: np.ones((2, 3))}, run_metadata=metadata)
        assert not metadata.HasField("step_stats")
        value = session.run(y, {x: np.ones((2, 3))}, options=options, run_metadata=metadata)
        stats = metadata.step_stats.dev_stats[0]
        assert value.tolist() == [[2] * 3] * 2 and len(metadata.partition_graphs[0].node) == 4
        assert tf.RunMetadata.FromString(metadata.SerializeToString()) == metadata
        nodes = {node.node_name: node for node in stats.node_stats}
        about = nodes["y"].output[0].tensor_description
        assert nodes["y"].timeline_label == "y = Square(x)" and nodes["add"].op_end_rel_micros > 0
        assert [d.size for d in about.shape.dim] == [2, 3] and about.allocation_description.allocated_bytes == 24
        call = session.make_callable(y, [x], accept_options=True)
        call(np.ones((2, 3)), options=None, run_metadata=metadata)
        assert not metadata.HasField("step_stats") and not metadata.partition_graphs
    trace = json.loads(Timeline(tf.RunMetadata.FromString(tf.RunMetadata().SerializeToString()).step_stats)
                       .generate_chrome_trace_format())
    assert trace == {"traceEvents": []}


def test_a_timeline_is_what_chrome_draws() -> None:
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(tf.exp(tf.constant(1.0, name="c"), name="e"), run_metadata=metadata,
                    options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE))
    events = json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format())["traceEvents"]
    by_name = {event["name"]: event for event in events if event["ph"] == "X"}
    assert events[0]["args"]["name"].endswith("device:CPU:0 Compute")
    assert by_name["Exp"]["args"] == {"name": "e", "op": "Exp", "input0": "c"} and by_name["Exp"]["dur"] > 0
    assert [event["ph"] for event in events if event.get("cat") == "DataFlow"] == ["s", "t"]


def test_a_function_of_a_session_by_the_names_of_what_it_is_fed_and_fetches():
    x = tf.placeholder(tf.float32, name="fed_by_name")
    options = tf.CallableOptions(feed=[x.name], fetch=[(x + 1).name])
    options.run_options.trace_level = tf.RunOptions.FULL_TRACE
    with tf.Session() as session:
        call, seen = session._make_callable_from_options(options), tf.RunMetadata()
        assert call(2.0) == [3.0] and call(3.0, run_metadata=seen) == [4.0] and seen.step_stats.dev_stats
        with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup' before"):
            session.partial_run("no handle", x)
        with pytest.raises(tf.errors.InvalidArgumentError, match="specify at least one target"):
            session.partial_run_setup([], [x])
    assert session._closed


def test_an_interactive_session_that_is_left_open_is_told():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        tf.InteractiveSession().close()
        left = tf.InteractiveSession()
        assert not told
        with tf.Session().as_default():
            tf.InteractiveSession().close()
        left.close()
        tf.InteractiveSession().close()
    assert len(told) == 1 and "already active" in str(told[0].message)


def test_a_session_has_the_options_of_its_server():
    waiting = tf.FIFOQueue(1, tf.float32).dequeue()
    server = tf.train.Server.create_local_server(config=tf.ConfigProto(operation_timeout_in_ms=20))
    with tf.Session(server.target) as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(waiting)
