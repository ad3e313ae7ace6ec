"""GradientTape in graph mode and eagerly: one test body, run in both."""

import subprocess
import sys

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.defaults import STACKS
from autodiff.core.graph import Graph
from autodiff.runtime.eager import EagerContext


@pytest.fixture(params=["graph", "eager"], autouse=True)
def mode(request):
    if request.param == "graph":
        with Graph().as_default():
            yield "graph"
    else:
        STACKS.eager = EagerContext()
        yield "eager"
        STACKS.eager = None


def value(fetches):
    """What the tensors of a structure hold, in either mode."""
    if tf.executing_eagerly():
        return tf.nest.map_structure(lambda t: t.numpy(), fetches)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def resource(initial):
    return tf.get_variable("v", initializer=tf.constant(initial), use_resource=True)


def test_first_and_second_order():
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.gradient(y, x)
    assert value([first, outer.gradient(first, x)]) == [27.0, 18.0]


def test_persistent_tape_answers_twice():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert value([tape.gradient(z, x), tape.gradient(y, x)]) == [108.0, 6.0]


def test_a_spent_tape_refuses():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="persistent=True"):
        tape.gradient(y, x)


def test_misuse_says_what_to_do():
    x = tf.constant(1.0)
    with pytest.raises(RuntimeError, match="before the tape recorded"):
        tf.GradientTape().gradient(x, x)
    tape = tf.GradientTape()
    with tape, pytest.raises(ValueError, match="already recording"), tape:
        pass
    with pytest.raises(RuntimeError, match="inside of `with tape:`"):
        tf.GradientTape().watch(x)
    with pytest.raises(ValueError, match="inside of `with tape:`"):
        tape.reset()


def test_only_what_depends_on_something_watched_counts():
    x, u = tf.constant(3.0), tf.constant(4.0)
    with tf.GradientTape() as tape:
        before = x * x
        tape.watch(x)
        y = x * u + before
    found = tape.gradient(y, [x, u])
    assert value(found[0]) == 4.0 and found[1] is None


def test_structures_of_sources_are_kept():
    a, b = tf.constant(2.0), tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = a * b
    found = tape.gradient(y, {"a": a, "pair": (b, [a])})
    assert value(found) == {"a": 5.0, "pair": (2.0, [5.0])}


def test_output_gradients_and_unconnected():
    x, u = tf.constant([1.0, 2.0]), tf.constant([[1.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, u])
        y = x * x
    np.testing.assert_allclose(value(tape.gradient(y, x, output_gradients=[tf.constant([10.0, 100.0])])), [20, 400])
    np.testing.assert_allclose(value(tape.gradient(y, u, unconnected_gradients="zero")), [[0.0]])
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: "):
        tape.gradient(y, u, unconnected_gradients="nope")


def test_trainable_variables_are_watched_by_being_read():
    v = resource([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
    assert tape.watched_variables() == (v,)
    np.testing.assert_allclose(value(tape.gradient(y, v)), [2, 4])


def test_variables_are_left_alone_when_told_to():
    v = resource([1.0, 2.0])
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = tf.reduce_sum(v * v)
    assert tape.gradient(y, v) is None


def test_stop_recording_and_reset():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = y * x
        tape.watch(z)
        w = y + z
    assert value(tape.gradient(w, x)) == 6.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.reset()
        tape.watch(x)
        z = x * 2.0
    assert value(tape.gradient(z, x)) == 2.0


def test_jacobian_and_batch_jacobian():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.stack([x[:, 0] * x[:, 1], x[:, 0] ** 2], axis=1)
    full = np.zeros((2, 2, 2, 2))
    rows = np.array([[[2, 1], [2, 0]], [[4, 3], [6, 0]]], float)
    for b in (0, 1):
        full[b, :, b, :] = rows[b]
    np.testing.assert_allclose(value(tape.jacobian(y, x)), full)
    np.testing.assert_allclose(value(tape.batch_jacobian(y, x)), rows)
    with pytest.raises(ValueError, match="rank >= 2"):
        tape.batch_jacobian(y[0], x[0])


def test_gather_gives_rows():
    table = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch(table)
        y = tf.reduce_sum(tf.gather(table, [2, 0, 2]))
    found = tape.gradient(y, table)
    assert isinstance(found, tf.IndexedSlices)
    np.testing.assert_allclose(value(tf.convert_to_tensor(found)), [[1, 1], [0, 0], [2, 2]])


def test_control_flow_is_recorded():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cond(x > 1.0, lambda: x * x, lambda: x)
        _, y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * x), [tf.constant(0), y])
    assert value(tape.gradient(y, x)) == 32.0


def test_eager_mode_by_its_switch():
    script = ("import autodiff as tf; tf.enable_eager_execution(); v = tf.Variable(3.0)\n"
              "opt = tf.train.GradientDescentOptimizer(0.1)\n"
              "with tf.GradientTape() as tape: loss = v * v\n"
              "opt.apply_gradients([(tape.gradient(loss, v), v)]); print(v.numpy(), tf.executing_eagerly())\n"
              "try: tf.gradients(loss, v)\n"
              "except RuntimeError as error: print('RuntimeError')")
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False,
                           timeout=60)
    assert shown.stdout.split() == ["2.4", "True", "RuntimeError"], shown.stderr


def test_unconnected_zeros_of_a_variable_have_the_shape_of_its_value():
    v, x = resource([1.0, 2.0]), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    zeros, dx = tape.gradient(y, [v, x], unconnected_gradients="zero")
    np.testing.assert_array_equal(value(zeros), [0.0, 0.0])
    np.testing.assert_array_equal(value(tape.jacobian(y, v, unconnected_gradients="zero")), [0.0, 0.0])
    assert value(dx) == 6.0


def test_a_source_that_depends_on_another_source_hides_nothing():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.identity(x)
    assert value(tape.gradient(y, [x, y])) == [1.0, 1.0]


@pytest.mark.parametrize("watched", [3.0, "a", np.ones(2), [1.0]])
def test_only_tensors_and_variables_can_be_watched(watched):
    with tf.GradientTape() as tape, pytest.raises(ValueError):
        tape.watch(watched)


def test_watching_after_the_context_records_nothing():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        pass
    tape.watch(x)
    assert tape.gradient(x * x, x) is None


@pytest.mark.parametrize("source", [None, 3.0, "a"])
def test_a_source_is_a_tensor_or_variable(source):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(AttributeError):
        tape.gradient(y, source)


def test_a_complex_target_receives_one():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.complex(x, x) * tf.complex(x, 2.0 * x)
    assert value(tape.gradient(y, x)) == -6.0


def test_batch_jacobian_of_an_unconnected_target_is_zeros():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.ones([2, 3])
    np.testing.assert_array_equal(value(tape.batch_jacobian(y, x)), np.zeros((2, 3, 2)))


def test_eagerly_a_wrong_shape_or_dtype_is_a_failed_run(mode):
    x, whole = tf.constant([1.0, 2.0]), tf.constant([1, 2])
    failing = [lambda: x + tf.constant([1.0, 2.0, 3.0]), lambda: tf.matmul(x, x), lambda: tf.reshape(x, [3]),
               lambda: whole // 0, lambda: x + whole]
    refused = tf.errors.InvalidArgumentError if mode == "eager" else (ValueError, TypeError)
    for fail in failing[:3] + failing[4:] if mode == "graph" else failing:
        with pytest.raises(refused):
            fail()


def test_eagerly_there_is_nothing_left_to_run(mode):
    v = resource([1.0, 2.0])
    done = tf.group(v.assign([3.0, 4.0])), tf.print("x", output_stream=sys.stderr), tf.global_variables_initializer()
    if mode == "eager":
        assert done == (None, None, None)
        assert repr(v).endswith("numpy=array([3., 4.], dtype=float32)>")
        with pytest.raises(NotImplementedError):
            tf.constant(1.0).eval()
        with pytest.raises(ValueError):
            v.assign([1.0])
        assert tf.assert_equal(v, [3.0, 4.0]) is None
        assert tf.constant([[1.0]]).ndim == 2
    else:
        assert None not in done


def test_a_variable_is_its_own_derivative():
    v = resource(3.0)
    with tf.GradientTape() as tape:
        pass
    with tf.GradientTape(persistent=True) as inside:
        found = inside.gradient(v, v)
    assert value([tape.gradient(v, v), found]) == [1.0, 1.0]
