"""py_func, gradients by hand, checks and printing."""

import numpy as np
import pytest
from autodiff.errors import (
    InvalidArgumentError,
    OutOfRangeError,
    UnimplementedError,
    UnknownError,
)

import autodiff as tf
from autodiff.runtime.eager import EagerContext

pytestmark = pytest.mark.usefixtures("own_graph")


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


# ---- Python functions -------------------------------------------------------------------

def test_py_func():
    x = tf.constant([[1.0, 2.0]])
    double, total = tf.py_func(lambda a: (a * 2, a.sum()), [x], [tf.float32, tf.float32])
    text = tf.py_func(lambda: "abc", [], tf.string)
    assert (double.name, double.shape.ndims) == ("PyFunc:0", None)
    np.testing.assert_array_equal(run(double), [[2.0, 4.0]])
    assert run([total, text]) == [3.0, b"abc"]
    assert tf.gradients(double, x) == [None]


def raiser(error):
    def function(a):
        raise error
    return function


FAILURES = [(raiser(ValueError("x")), tf.float32, InvalidArgumentError),
            (raiser(TypeError("x")), tf.float32, InvalidArgumentError),
            (raiser(StopIteration()), tf.float32, OutOfRangeError), (raiser(KeyError("x")), tf.float32, UnknownError),
            (raiser(NotImplementedError("x")), tf.float32, UnimplementedError),
            (lambda a: a.astype(np.float64), tf.float32, InvalidArgumentError),
            (lambda a: (a, a), [tf.float32], InvalidArgumentError), (lambda a: 1, tf.int32, InvalidArgumentError)]


@pytest.mark.parametrize(("function", "dtype", "error"), FAILURES)
def test_failures_of_a_python_function(function, dtype, error):
    with pytest.raises(error):
        run(tf.py_func(function, [tf.constant(1.0)], dtype))


def test_a_python_function_cannot_change_its_arguments():
    def spoil(a):
        a[:] = 7
        return a

    x = tf.constant([1.0, 2.0])
    y = x + 0.0
    values = run([tf.py_func(spoil, [y], tf.float32), y])
    np.testing.assert_array_equal(values, [[7, 7], [1, 2]])


def test_py_function_runs_eagerly_and_is_differentiated():
    def function(a, b):
        return (a * a * b, a + b) if float(a) > 0 else (a, b)

    a, b = tf.constant(3.0), tf.constant(2.0)
    product, total = tf.py_function(function, [a, b], [tf.float32, tf.float32])
    assert run([product, total]) == [18.0, 5.0]
    assert run(tf.gradients(product + 10.0 * total, [a, b])) == [22.0, 19.0]


# ---- gradients by hand ------------------------------------------------------------------

def test_custom_gradient_and_its_own_gradient():
    @tf.custom_gradient
    def ten_times(x):
        y = tf.exp(x)
        return y, lambda dy: dy * y * 10.0

    x = tf.constant(1.0)
    first = tf.gradients(ten_times(x), x)[0]
    second = tf.gradients(first, x)[0]
    np.testing.assert_allclose(run([first, second]), np.exp(1) * np.array([10, 10]), rtol=1e-6)


def test_custom_gradient_of_a_function_that_reads_a_variable():
    v = tf.Variable(2.0, use_resource=True)

    @tf.custom_gradient
    def product(x):
        return v * x, lambda dy, variables=None: (dy * 5.0, [dy * 7.0 for _ in variables])

    x = tf.constant(3.0)
    y = product(x)
    assert run([y, *tf.gradients(y, [x, v])]) == [6.0, 5.0, 7.0]


def test_custom_gradient_errors():
    v = tf.Variable(2.0, use_resource=True)
    with pytest.raises(TypeError, match="variables"):
        tf.custom_gradient(lambda x: (v * x, lambda dy: dy))(tf.constant(1.0))
    with pytest.raises(ValueError, match="keywords"):
        tf.custom_gradient(lambda x: (x, lambda dy: dy))(x=tf.constant(1.0))
    with pytest.raises(ValueError, match="2 gradients for 1"):
        x = tf.constant(1.0)
        tf.gradients(tf.custom_gradient(lambda x: (x, lambda dy: (dy, dy)))(x), x)


def test_registered_gradients():
    @tf.RegisterGradient("TestCustomTimesSeven")
    def _(op, dy):
        return dy * 7.0 * op.inputs[0]

    tf.NotDifferentiable("TestCustomNone")
    x, graph = tf.constant(3.0), tf.get_default_graph()
    with graph.gradient_override_map({"Square": "TestCustomTimesSeven"}):
        y = tf.square(x)
    with graph.gradient_override_map({"Square": "TestCustomNone"}):
        z = tf.square(x)
    assert run(tf.gradients(y, x)) == [21.0]
    assert tf.gradients(z, x) == [None]


def test_registering_twice_or_over_a_built_in_is_a_keyerror():
    tf.NotDifferentiable("TestCustomTwice")
    for name in ("TestCustomTwice", "Square"):
        with pytest.raises(KeyError, match="already"):
            tf.RegisterGradient(name)(lambda op, dy: dy)
    for register in (tf.RegisterGradient, tf.NotDifferentiable):
        with pytest.raises(TypeError):
            register(3)


# ---- checks -----------------------------------------------------------------------------

CHECKS = [  # check, a value that passes, one that does not
    (lambda x: tf.Assert(tf.reduce_all(x > 0.0), [x]), [1.0], [-1.0]),
    (lambda x: tf.assert_positive(x), [1.0], [0.0]),
    (lambda x: tf.assert_negative(x), [-1.0], [0.0]),
    (lambda x: tf.assert_non_negative(x), [0.0], [-1.0]),
    (lambda x: tf.assert_non_positive(x), [0.0], [1.0]),
    (lambda x: tf.assert_equal(x, 3.0), [3.0, 3.0], [3.0, 4.0]),
    (lambda x: tf.assert_none_equal(x, 3.0), [1.0, 4.0], [3.0, 4.0]),
    (lambda x: tf.assert_less(x, 3.0), [2.0], [3.0]),
    (lambda x: tf.assert_less_equal(x, 3.0), [3.0], [4.0]),
    (lambda x: tf.assert_greater(x, [3.0]), [4.0], [3.0]),
    (lambda x: tf.assert_greater_equal(x, 3), [3.0], [2.0]),
    (lambda x: tf.assert_near(x, [1.0]), [1.0000001], [1.1]),
    (lambda x: tf.check_numerics(x, "bad"), [1.0], [np.nan]),
    (lambda x: tf.verify_tensor_all_finite(x, "bad"), [1.0], [np.inf]),
]


@pytest.mark.parametrize(("check", "good", "bad"), CHECKS)
def test_checks(check, good, bad):
    x = tf.placeholder(tf.float32, [None])
    checked = check(x)
    run(checked, {x: good})
    with pytest.raises(InvalidArgumentError):
        run(checked, {x: bad})


def test_what_is_known_fails_while_the_graph_is_built():
    x = tf.placeholder(tf.float32, [None])
    for error, check in [(InvalidArgumentError, lambda: tf.assert_equal(1, 2)),
                         (ValueError, lambda: tf.assert_rank(x, 2)),
                         (ValueError, lambda: tf.assert_rank_at_least(x, 2)),
                         (ValueError, lambda: tf.assert_rank_in(x, (0, 2))),
                         (ValueError, lambda: tf.assert_scalar(x)), (TypeError, lambda: tf.assert_integer(x)),
                         (TypeError, lambda: tf.assert_type(x, tf.int32))]:
        with pytest.raises(error):
            check()


def test_rank_is_checked_in_the_run_where_it_is_unknown():
    x = tf.placeholder(tf.float32)
    for check in (tf.assert_rank(x, 1), tf.assert_rank_at_least(x, 1), tf.assert_rank_in(x, (1, 2))):
        run(check, {x: [1.0]})
        with pytest.raises(InvalidArgumentError):
            run(check, {x: 1.0})


def test_add_check_numerics_ops_checks_every_float():
    x = tf.placeholder(tf.float32)
    tf.log(x)
    check = tf.add_check_numerics_ops()
    run(check, {x: 1.0})
    with pytest.raises(InvalidArgumentError, match="Log:0"):
        run(check, {x: 0.0})


def test_order_of_elements():
    found = run([tf.is_non_decreasing([1, 1, 2]), tf.is_strictly_increasing([1, 1, 2]),
                 tf.is_strictly_increasing([1, 2])])
    assert found == [True, False, True]


def test_printing(capfd):
    x = tf.placeholder(tf.float32, [None])
    shown = tf.Print(x, [x, tf.shape(x)], "x = ", first_n=1)
    line = tf.print("x:", x, "n =", tf.size(x))
    with tf.Session() as session:
        for _ in range(2):
            session.run(shown, {x: [1.0, 2.0]})
        session.run(line, {x: [1.0, 2.0]})
    assert capfd.readouterr().err.splitlines() == ["x = [1 2][2]", "x: [1 2] n = 2"]


def test_printing_of_structures_and_to_files(capfd, tmp_path):
    file = tmp_path / "lines"
    sparse = tf.SparseTensor([[0, 1]], ["a"], [1, 2])
    lines = [tf.print("at:", {"b": tf.constant([0.5]), "a": (1, "x")}, [tf.constant(True)]), tf.print(sparse),
             tf.print(tf.constant("alone"), end="!")]
    kept = tf.print(tf.range(8), output_stream=f"file://{file}")
    with tf.Session() as session:
        for line in lines:
            session.run(line)
        session.run(kept)
        session.run(kept)
    assert capfd.readouterr().err == (
        "at: {'a': (1, 'x'), 'b': [0.5]} [1]\n"
        "'SparseTensor(indices=[[0 1]], values=[\"a\"], shape=[1 2])'\nalone!")
    assert file.read_text() == "[0 1 2 ... 5 6 7]\n" * 2
    with pytest.raises(ValueError, match="Unknown output stream"):
        tf.print(1, output_stream="unknown")


def test_a_list_that_a_py_func_gives_is_several_values():
    x = tf.constant([1.0, 2.0])
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(tf.py_func(lambda a: [a], [x], tf.float32)), [1.0, 2.0])
        with pytest.raises(InvalidArgumentError, match="returns 2 values, expected 1"):
            session.run(tf.py_func(lambda a: (a, a), [x], tf.float32))
    with pytest.raises(ValueError, match="a function"):
        tf.py_func(3, [x], tf.float32)


def test_assertions_have_tensorflows_names() -> None:
    given = tf.placeholder(tf.float32, [2])
    assert tf.assert_less(given, 1.0).name == "assert_less/Assert/AssertGuard/Merge"
    assert tf.assert_less(1.0, 2.0).name == "assert_less_1/Assert/Assert"
    assert tf.assert_rank(given, 1, name="r").name == "r/static_checks_determined_all_ok"
    assert tf.assert_integer(1).name == "assert_integer/statically_determined_was_integer"


def test_what_a_python_function_raises_is_told_with_its_lines():
    def inner():
        raise ValueError("no rows")

    def outer():
        inner()

    for call in (tf.py_func, tf.py_function):
        failing = call(outer, [], tf.int64)
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(failing)
        words = str(caught.value)
        assert words.startswith("ValueError: no rows")
        assert words.index("in outer") < words.index("in inner") < words.rindex("ValueError: no rows")


@pytest.mark.parametrize("value, words", [({"a": 1}, "Unsupported object type dict"),
                                          (np.zeros(2, [("a", "f4")]), "Unsupported numpy data type")])
def test_what_is_no_array_of_numbers_or_strings_is_refused(value, words):
    with tf.Session() as session, pytest.raises(tf.errors.InternalError, match=words):
        session.run(tf.py_func(lambda: value, [], tf.int64))


def test_python_functions_run_in_eager_mode_too():
    mixed = np.array([b"a", "b"], object)
    with EagerContext().as_default():
        assert np.asarray(tf.py_function(lambda x: x * 2.0, [tf.constant(3.0)], tf.float32)) == 6.0
        assert np.asarray(tf.py_func(lambda: mixed, [], tf.string)).tolist() == [b"a", b"b"]
    with pytest.raises(ValueError, match="callable"):
        tf.py_function(3, [], tf.int64)


def test_a_python_function_without_results():
    called = []
    effect = tf.py_func(called.append, [tf.constant(3)], [])
    assert tf.py_func(called.append, [tf.constant(4)], [], stateful=False) == []
    with tf.Session() as session:
        session.run(effect)
        with pytest.raises(tf.errors.UnknownError, match="Attempting to return a variable"):
            session.run(tf.py_function(lambda: tf.Variable(0.0), [], tf.float32))
    assert called == [3]
    with EagerContext().as_default():
        assert tf.py_function(lambda: None, [], []) == []


def test_an_op_may_have_the_gradient_of_another_kind() -> None:
    x = tf.constant([-2.5, 0.4, 3.0])
    with tf.get_default_graph().gradient_override_map({"Sign": "Identity", "Floor": "Square", "Ceil": "Shape"}):
        made = tf.sign(x), tf.floor(x), tf.ceil(x)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run([tf.gradients(y, x)[0] for y in made[:2]]), [[1, 1, 1], [-5, 0.8, 6]])
    assert tf.gradients(made[2], x) == [None]
