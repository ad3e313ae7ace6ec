"""Queues between runs and threads, and the inputs that tf.train makes of them."""

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.queues.batches import batch, unbatch


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    tf.reset_default_graph()
    yield


def test_first_in_first_out() -> None:
    queue = tf.FIFOQueue(10, [tf.float32, tf.int32], [[2], []])
    fill = queue.enqueue_many([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1, 2, 3]])
    one, two, rest = queue.dequeue(), queue.dequeue_many(1), queue.dequeue_up_to(5)
    with tf.Session() as session:
        session.run(fill)
        assert session.run(queue.size()) == 3
        np.testing.assert_equal(session.run(one), [[1.0, 2.0], 1])
        assert session.run(two[1]).tolist() == [2]
        session.run(queue.close())
        assert session.run(queue.is_closed())
        assert [part.tolist() for part in session.run(rest)] == [[[5.0, 6.0]], [3]]
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has insufficient elements"):
            session.run(one)
        with pytest.raises(tf.errors.CancelledError, match="is closed"):
            session.run(fill)


def test_the_other_kinds() -> None:
    shuffled = tf.RandomShuffleQueue(20, 0, tf.int32, [[]], seed=1)
    padded = tf.PaddingFIFOQueue(5, tf.int32, [[None]])
    sorted_ = tf.PriorityQueue(5, tf.string, [[]])
    named = tf.FIFOQueue(5, [tf.int32], [[]], names=["n"])
    with tf.Session() as session:
        session.run([shuffled.enqueue_many([range(12)]), named.enqueue({"n": 4}),
                     sorted_.enqueue_many([[3, 1, 2], ["c", "a", "b"]])])
        found = session.run(shuffled.dequeue_many(12)).tolist()
        assert sorted(found) == list(range(12)) != found
        for row in ([1], [2, 3]):
            session.run(padded.enqueue([tf.constant(row)]))
        assert session.run(padded.dequeue_many(2)).tolist() == [[1, 0], [2, 3]]
        assert [session.run(sorted_.dequeue()[1]) for _ in range(3)] == [b"a", b"b", b"c"]
        assert session.run(named.dequeue()) == {"n": 4}


@pytest.mark.parametrize(("words", "make"), [
    ("are incompatible", lambda queue: queue.enqueue([tf.ones([3])])),
    ("must have names", lambda queue: queue.enqueue({"x": 1.0})),
    ("must have the same length", lambda queue: tf.FIFOQueue(1, [tf.int32], [[], []])),
    ("requires a non-null input tensor", lambda queue: tf.train.string_input_producer([])),
    ("must be fully defined", lambda queue: tf.train.batch([tf.placeholder(tf.float32, [None])], 2)),
])
def test_what_does_not_fit_is_refused(words: str, make: Any) -> None:
    with pytest.raises(ValueError, match=words):
        make(tf.FIFOQueue(2, [tf.float32], [[2]]))


@pytest.mark.parametrize("shuffle", [False, True])
def test_inputs_come_in_batches_from_threads(shuffle: bool) -> None:
    columns = [np.arange(6, dtype=np.float32), tf.range(6) * 10]
    x, y = tf.train.slice_input_producer(columns, num_epochs=2, shuffle=False)
    pair = tf.train.shuffle_batch([x, y], 4, capacity=20, min_after_dequeue=2) if shuffle else \
        tf.train.batch({"x": x, 1: y}, 4)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        seen = []
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                values = session.run(pair)
                first, second = values if shuffle else (values["x"], values[1])
                assert (first * 10 == second).all()
                seen += first.tolist()
        coordinator.request_stop()
        coordinator.join(threads)
    assert sorted(seen) == sorted([*range(6)] * 2)
    assert shuffle or seen == [*range(6)] * 2


def test_seeds_of_queues_and_rates_of_sounds_are_judged_in_words() -> None:
    tf.RandomShuffleQueue(2, 0, [tf.float32], seed=-1)
    with pytest.raises(TypeError, match="a seed, an int"):
        tf.RandomShuffleQueue(2, 0, [tf.float32], seed=object())
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="sample_rate must be in"):
        session.run(tf.summary.audio("a", np.zeros((1, 4, 1), np.float32), tf.constant(-1.0)))


def test_a_script_teaches_its_classes_and_sets_its_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    from autodiff.core import convert

    monkeypatch.setattr(convert, "CONVERSIONS", [])

    class Pair:
        values = 1.0, 2.0

    tf.register_tensor_conversion_function(Pair, lambda v, dtype=None, name=None, as_ref=False: tf.constant(v.values))
    x = tf.constant(1.0) + Pair()
    x.scope = x.op.mine = "here"
    assert "__add__" in tf.Tensor.OVERLOADABLE_OPERATORS
    with tf.Session() as session:
        assert session.run(x.__div__(2.0)).tolist() == [1.0, 1.5]
    with pytest.raises(TypeError, match="conversion_func must be callable"):
        tf.register_tensor_conversion_function(Pair, 3)


def test_an_accumulator_averages_gradients_that_are_not_of_an_old_step() -> None:
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=[2])
    gradient = tf.placeholder(tf.float32)
    now, old = accumulator.apply_grad(gradient, local_step=1), accumulator.apply_grad(gradient, local_step=0)
    taken = accumulator.take_grad(2)
    with tf.Session() as session:
        for operation, values in (now, [1.0, 2.0]), (old, [3.0, 4.0]):
            session.run(operation, {gradient: values})
        assert session.run(taken).tolist() == [2.0, 3.0]  # the next step begins
        for operation, values in (old, [9.0, 9.0]), (now, [1.0, 1.0]), (now, [2.0, 4.0]):
            session.run(operation, {gradient: values})
        assert session.run(accumulator.num_accumulated()) == 2
        with pytest.raises(tf.errors.InvalidArgumentError, match="Shape mismatch"):
            session.run(now, {gradient: [1.0]})
        session.run(accumulator.set_global_step(5))
        assert session.run(taken).tolist() == [1.5, 2.5]
    with pytest.raises(ValueError, match="are incompatible"):
        accumulator.apply_grad([1.0])
    with pytest.raises(ValueError, match="reduction_type"):
        tf.ConditionalAccumulator(tf.float32, reduction_type="MAX")


@pytest.mark.parametrize("reduction, row", [("MEAN", [2.0, 3.0]), ("SUM", [4.0, 6.0])])
def test_an_accumulator_of_rows_averages_each_over_the_gradients_that_had_it(reduction: str, row: list[float]) -> None:
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 2], reduction_type=reduction)
    first = accumulator.apply_grad([3, 1], [[1.0, 2.0], [5.0, 6.0]], grad_shape=[4, 2])
    second = accumulator.apply_indexed_slices_grad(tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([3])))
    taken = accumulator.take_indexed_slices_grad(2)
    with tf.Session() as session:
        session.run(first)
        session.run(second)
        found = session.run(taken)
        assert found.indices.tolist() == [1, 3] and found.dense_shape.tolist() == [4, 2]
        assert found.values.tolist() == [[5.0, 6.0], row]
        wrong: Any = [("index is 4 exceeded 4", [4], [[1.0, 2.0]]), ("dim 1 to be 2", [0], [[1.0]]),
                      ("should be vector", [[0]], [[1.0, 2.0]]), ("0-dimensional", [0], 1.0),
                      ("Expected 2 non-empty input values, got 1", [0, 1], [[1.0, 2.0]])]
        for words, indices, values in wrong:
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(accumulator.apply_grad(indices, values, local_step=1))


def test_queues_of_one_shared_name_are_one() -> None:
    first, second = (tf.FIFOQueue(3, tf.float32, [[]], shared_name="both") for _ in range(2))
    with tf.Session() as session:
        session.run(first.enqueue(1.0))
        assert (session.run(second.size()), session.run(second.dequeue()), session.run(first.size())) == (1, 1.0, 0)
    for words, arguments in ("capacity", (4, tf.float32, [[]])), ("types", (3, tf.int32, [[]])), (
            "shapes", (3, tf.float32, [[2]])):
        other = tf.FIFOQueue(*arguments, shared_name="both")
        for run in other.queue_ref, other.size():
            with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(run)


def test_a_queue_has_a_node_that_says_what_it_holds() -> None:
    with tf.container("c"):
        made = [tf.RandomShuffleQueue(5, 2, [tf.int32, tf.string], name="r"),
                tf.PriorityQueue(-1, tf.float32, ((2,),), name="p")]
    first, second = (queue.queue_ref.op.node_def for queue in made)
    assert (first.name, first.op, second.op) == ("r", "RandomShuffleQueueV2", "PriorityQueueV2")
    assert list(first.attr["component_types"].list.type) == [3, 7] and first.attr["min_after_dequeue"].i == 2
    assert (second.attr["container"].s, second.attr["capacity"].i) == (b"c", -1)
    assert len(second.attr["shapes"].list.shape) == 1


def test_a_queue_of_a_list_has_the_shapes_of_all() -> None:
    made = [tf.PaddingFIFOQueue(9, tf.float32, [shape]) for shape in ([1, 2], [3, 2], [None, 2])]
    assert tf.QueueBase.from_list(tf.constant(1), made).shapes[0].as_list() == [None, 2]
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="index 3 is not in"):
        session.run(tf.QueueBase.from_list(3, made).dequeue())
    for shapes, says in ((None, "a list of shapes must be provided"), ([None], "defined rank")):
        with pytest.raises(ValueError, match=says):
            tf.PaddingFIFOQueue(9, tf.float32, shapes)


def test_several_of_a_sorted_queue_are_taken_when_they_are_all_there() -> None:
    queue = tf.PriorityQueue(9, [], ())
    with tf.Session() as session:
        session.run(queue.enqueue_many([[5, 3]]))
        found: list = []
        taken, given = queue.dequeue_many(4), queue.enqueue_many([[1, 4]])
        waiting = threading.Thread(target=lambda: found.extend(session.run(taken)), daemon=True)
        waiting.start()
        session.run(given)
        waiting.join(20)
        assert found == [1, 3, 4, 5]


def test_what_waits_to_be_added_is_there_when_a_take_returns() -> None:
    queue = tf.FIFOQueue(1, tf.int32, [[]])
    with tf.Session() as session:
        session.run(queue.enqueue(0))
        waiting = threading.Thread(target=session.run, args=(queue.enqueue_many([[1, 2]]),), daemon=True)
        waiting.start()
        assert [session.run(queue.dequeue()) for _ in range(3)] == [0, 1, 2]
        waiting.join(20)
        assert not waiting.is_alive()


def test_rows_of_all_parts_are_as_many_and_of_their_shapes() -> None:
    queue = tf.FIFOQueue(9, [tf.int32, tf.int32], [[], [3]])
    with pytest.raises(ValueError, match="Dimensions must be equal"):
        queue.enqueue_many(([1, 2], [[1, 2, 3]]))
    fed = tf.placeholder(tf.int32)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected \[2,3\], got \[2,4\]"):
        session.run(queue.enqueue_many(([1, 2], fed)), {fed: np.zeros((2, 4), np.int32)})
    sorted_ = tf.PriorityQueue(5, tf.string, ())
    with tf.Session() as session:
        session.run(sorted_.enqueue_many(([2, 1], ["b", "a"])))
        assert [x.tolist() for x in session.run(sorted_.dequeue_many(2))] == [[1, 2], [b"a", b"b"]]


def test_a_run_that_waits_or_loops_ends_at_its_time_limit() -> None:
    waits = tf.FIFOQueue(1, tf.float32).dequeue()
    loops = tf.while_loop(lambda i: i > 0, lambda i: tf.maximum(i, 1), [1])
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=20)) as session:
        with pytest.raises(tf.errors.DeadlineExceededError, match="for notification: the dequeue operation"):
            session.run(waits)
        with pytest.raises(tf.errors.DeadlineExceededError, match="for notification: the loop 'while/While'"):
            session.run(loops, options=tf.RunOptions(timeout_in_ms=5))
        assert session.run(tf.while_loop(lambda i: i < 3, lambda i: i + 1, [1])) == 3
    with pytest.raises(tf.errors.NotFoundError, match="No session factory registered for the given session options"):
        tf.Session("nowhere")


def test_queue_runners_go_with_a_meta_graph():
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(3, tf.float32, name="queue")
        steps = [tf.no_op(name=name) for name in ("add", "close", "cancel")]
        kinds = (tf.errors.OutOfRangeError, tf.errors.CancelledError)
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, steps[:1], *steps[1:], kinds))
        meta = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(meta, import_scope="in")
        runner, = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        assert [op.name for op in (runner.queue, *runner.enqueue_ops, runner.close_op, runner.cancel_op)] == [
            "in/queue", "in/add", "in/close", "in/cancel"]
        assert runner.queue_closed_exception_types == kinds
        assert runner.to_proto("other") is None
        assert runner.queue is graph.get_operation_by_name("in/queue")


def test_runs_of_two_threads_are_one_batch() -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    (rows,), index, number = batch([x], 1, 3, 20_000_000, 0, allowed_batch_sizes=[4])
    own = unbatch(rows * 10, index, number, 20_000_000)
    late = unbatch(rows[:0], index[:0], number, 1)
    given: list[Any] = []
    with tf.Session() as session:
        first = threading.Thread(target=lambda: given.append(session.run([own, index], {x: [[1, 2]]})))
        first.start()
        mine, places = session.run([own, index], {x: [[3, 4], [5, 6]]})
        first.join(20)
        assert given[0][0].tolist() == [[10, 20]] and mine.tolist() == [[30, 40], [50, 60]]
        whole = places if len(places) else given[0][1]  # the last to come has the batch
        assert len(places) + len(given[0][1]) == 2 and sorted((whole[:, 2] - whole[:, 1]).tolist()) == [1, 2]
        assert session.run(rows, {x: np.ones((3, 2))}).shape == (4, 2)
        with pytest.raises(tf.errors.DeadlineExceededError, match="did not arrive within timeout"):
            session.run(late, {x: np.ones((3, 2))})
        both = batch([x, tf.ones([1])], 1, 9, 0, 0)[1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="must have equal 0th-dimension size"):
            session.run(both, {x: np.ones((2, 2))})
