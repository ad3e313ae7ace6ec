"""cond, case, while_loop and what is made of them: values, gradients of both orders, errors."""

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.control.known_choice import smart_case

pytestmark = pytest.mark.usefixtures("own_graph")


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def check_derivatives(function, at, *, order=2):
    """First and second derivatives of sum(function(x)) against central differences in float64."""
    x = tf.placeholder(tf.float64, np.shape(at))
    y = tf.reduce_sum(function(x))
    first = tf.gradients(y, x)[0]
    weights = np.cos(np.arange(np.size(at)) + 0.5).reshape(np.shape(at))
    second = tf.gradients(tf.reduce_sum(first * weights), x)[0]
    at = np.asarray(at, np.float64)
    with tf.Session() as session:
        def differences(tensor, weigh):
            found = np.zeros(at.shape)
            for i in np.ndindex(at.shape):
                step = np.zeros(at.shape)
                step[i] = 1e-5
                high, low = (session.run(tensor, {x: at + s * step}) for s in (1, -1))
                found[i] = np.sum(weigh * (high - low)) / 2e-5
            return found
        np.testing.assert_allclose(session.run(first, {x: at}), differences(y, 1.0), rtol=1e-6, atol=1e-8)
        if order == 2:
            np.testing.assert_allclose(session.run(second, {x: at}), differences(first, weights), rtol=1e-5, atol=1e-7)


AT = [0.3, -0.7, 1.1]


@pytest.mark.parametrize("take", [True, False])
def test_cond_derivatives(take):
    check_derivatives(lambda x: tf.cond(tf.constant(take), lambda: tf.sin(x) * x, lambda: x ** 3), AT)


def test_nested_cond_derivatives():
    def function(x):
        return tf.cond(x[0] > 0.0, lambda: tf.cond(x[1] > 0.0, lambda: x * 2.0, lambda: tf.exp(x)), lambda: x)
    check_derivatives(function, AT)


def test_while_derivatives_by_start_and_invariant():
    def function(x):
        return tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, tf.sin(a) * x + a), [0, x * 0.5])[1]
    check_derivatives(function, AT)


def test_a_loop_of_data_dependent_length():
    def function(x):
        return tf.while_loop(lambda a: tf.reduce_sum(a * a) < 40.0, lambda a: a * 1.7 + x * x, [x])
    check_derivatives(function, AT)


def test_a_loop_inside_of_a_loop():
    def inner(a, x):
        return tf.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, tf.tanh(b) + x), [0, a])[1]
    check_derivatives(lambda x: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, inner(a, x)), [0, x])[1], AT)


def test_a_branch_inside_of_a_loop():
    def body(i, a):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(a), lambda: a * a)
    check_derivatives(lambda x: tf.while_loop(lambda i, a: i < 4, body, [0, x])[1], AT)


def test_a_tensor_array_written_and_read_in_loops():
    def function(x):
        array = tf.TensorArray(tf.float64, size=3)
        _, array = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t.write(i, tf.sin(x[i]) * x[i])), [0, array])
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * array.read(i) + a),
                             [0, tf.constant(1.0, tf.float64)])[1]
    check_derivatives(function, AT)


@pytest.mark.parametrize("name", ["map_fn", "scan", "foldl", "foldr"])
def test_functional_derivatives(name):
    function = {"map_fn": lambda x: tf.map_fn(lambda row: tf.sin(row) * row, x),
                "scan": lambda x: tf.scan(lambda a, row: tf.tanh(a) * row + row, x),
                "foldl": lambda x: tf.foldl(lambda a, row: tf.sin(a) * row + a, x),
                "foldr": lambda x: tf.foldr(lambda a, row: a * row + row * row, x)}[name]
    check_derivatives(function, AT)


def test_hessian_through_a_loop_is_vectorized():
    x = tf.constant(AT, tf.float64)
    y = tf.reduce_sum(tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1])
    np.testing.assert_allclose(run(tf.hessians(y, x)[0]), np.diag(12 * np.square(AT)))


def test_hessian_through_a_branch_whose_predicate_is_fixed():
    x = tf.constant(AT, tf.float64)
    y = tf.reduce_sum(tf.cond(x[0] > 0.0, lambda: x ** 3, lambda: x))
    np.testing.assert_allclose(run(tf.hessians(y, x)[0]), np.diag(6 * np.array(AT)))


def test_only_the_taken_branch_runs():
    seen = []
    def noted(name):
        return lambda: tf.py_func(lambda: seen.append(name) or np.float32(1.0), [], tf.float32)
    choice = tf.placeholder(tf.bool, [])
    y = tf.cond(choice, noted("then"), noted("else"))
    run(y, {choice: True})
    run(y, {choice: False})
    assert seen == ["then", "else"]


def test_the_branch_not_taken_gives_zeros_not_nan():
    x = tf.constant(0.0)
    y = tf.cond(x > 0.0, lambda: tf.log(x), lambda: x * 2.0)
    assert run(tf.gradients(y, x)) == [2.0]


def test_an_input_that_only_one_branch_uses():
    choice, u, v = tf.placeholder(tf.bool, []), tf.constant(3.0), tf.constant(5.0)
    gradients = tf.gradients(tf.cond(choice, lambda: u * u, lambda: v * 2.0), [u, v])
    assert run(gradients, {choice: True}) == [6.0, 0.0]
    assert run(gradients, {choice: False}) == [0.0, 2.0]


def test_a_branch_that_gives_an_outer_tensor_as_it_is():
    x = tf.constant(3.0)
    y = x * x
    result = tf.cond(tf.placeholder_with_default(True, []), lambda: y, lambda: x)
    assert run(tf.gradients(result, [x, y])) == [6.0, 1.0]


def test_a_variable_assigned_in_the_taken_branch_only():
    v = tf.Variable(1.0)
    choice = tf.placeholder(tf.bool, [])
    y = tf.cond(choice, lambda: tf.assign_add(v, 10.0), lambda: tf.identity(v))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(y, {choice: False}) == 1.0
        assert session.run(y, {choice: True}) == 11.0
        assert session.run(v) == 11.0


def test_a_variable_made_in_a_branch_lives_in_the_outer_graph():
    y = tf.cond(tf.constant(True), lambda: tf.get_variable("w", [], initializer=tf.ones_initializer()) * 2.0,
                lambda: tf.constant(0.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(y) == 2.0
        np.testing.assert_allclose(session.run(tf.gradients(y, tf.trainable_variables())), [2.0])


def test_cond_errors():
    x = tf.constant(1.0)
    with pytest.raises(TypeError, match="Python bool"):
        tf.cond(True, lambda: x, lambda: x)
    with pytest.raises(ValueError, match="must have the same type: float32, int32"):
        tf.cond(x > 0.0, lambda: x, lambda: tf.constant(1))
    with pytest.raises(ValueError, match="different structures"):
        tf.cond(x > 0.0, lambda: (x, x), lambda: x)
    with pytest.raises(TypeError, match="callable"):
        tf.cond(x > 0.0, x, x)


def test_while_errors():
    x = tf.constant([1.0])
    with pytest.raises(ValueError, match="no loop variables"):
        tf.while_loop(lambda: True, lambda: (), [])
    with pytest.raises(ValueError, match="enters the loop with shape"):
        tf.while_loop(lambda a: True, lambda a: tf.concat([a, a], 0), [x])
    with pytest.raises(TypeError, match="enters with dtype float32"):
        tf.while_loop(lambda a: True, lambda a: tf.cast(a, tf.int32), [x])


def test_shape_invariants_let_a_variable_grow():
    x = tf.constant([1.0], tf.float64)
    grown = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.concat([a, a[-1:] * 2.0], 0)), [0, x],
                          shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])[1]
    np.testing.assert_allclose(run(grown), [1, 2, 4, 8])
    np.testing.assert_allclose(run(tf.gradients(grown, x)), [[15.0]])


def test_maximum_iterations_and_structure():
    assert run(tf.while_loop(lambda a: True, lambda a: a + 1, [tf.constant(0)], maximum_iterations=5)) == 5
    i, (a, b) = tf.while_loop(lambda i, pair: i < 2, lambda i, pair: (i + 1, (pair[1], pair[0])), (0, (1.0, 2.0)))
    assert run([i, a, b]) == [2, 1.0, 2.0]


def test_random_numbers_differ_from_iteration_to_iteration():
    drawn = run(tf.map_fn(lambda _: tf.random_normal([]), tf.zeros([4])))
    assert len(set(drawn.tolist())) == 4


def test_case_takes_the_first_that_holds():
    x = tf.placeholder(tf.int32, [])
    y = tf.case([(x < 1, lambda: tf.constant(10)), (x < 5, lambda: tf.constant(20))], default=lambda: tf.constant(30))
    assert [run(y, {x: v}) for v in (0, 3, 9)] == [10, 20, 30]
    both = tf.case([(x < 1, lambda: tf.constant(1)), (x < 5, lambda: tf.constant(2))], default=lambda: tf.constant(3),
                   exclusive=True)
    assert run(both, {x: 3}) == 2
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(both, {x: 0})


def test_gradients_inside_of_a_body():
    x = tf.constant(2.0)
    y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + tf.gradients(a * a * x, a)[0]), [0, x])[1]
    # a <- a + 2 a x with x = 2: 2, 10, 50
    assert run(y) == 50.0


def test_ops_inside_know_the_users_line():
    x = tf.constant(2.0)
    y = tf.cond(x > 0.0, lambda: tf.log(x), lambda: x)
    inner = y.op.attrs["then_branch"].outputs[0].op
    assert inner.site.file == __file__


def test_a_predicate_is_a_bool_scalar():
    x = tf.constant(2.0)
    for wrong in (x, tf.constant(3), tf.constant([True])):
        with pytest.raises((TypeError, ValueError), match="Input .pred. of .Switch. Op has type|expected a predicate"):
            tf.cond(wrong, lambda: x, lambda: x)
    with pytest.raises(TypeError, match="type int32 that does not match expected type of bool|float32 that does not"):
        tf.while_loop(lambda k: k, lambda k: k + 1, [0])
    with pytest.raises(TypeError, match="spellings of one argument"):
        tf.cond(x > 1.0, lambda: x, lambda: x, fn1=lambda: x)


def test_a_branch_of_operations_gives_which_one_ran():
    p = tf.placeholder(tf.bool, [])
    ran = tf.cond(p, tf.no_op, tf.no_op)
    with tf.Session() as session:
        assert [session.run(ran, {p: q}) for q in (True, False)] == [True, False]


def test_a_tensor_array_is_written_once_and_read_where_it_was_written():
    array = tf.TensorArray(tf.float32, 2).write(0, 3.0)
    grown = tf.TensorArray(tf.float32, 0, dynamic_size=True).write(3, 1.0)
    filled = tf.TensorArray(tf.float32, 2, element_shape=[]).write(0, 3.0)
    varied = tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, 3.0)
    with tf.Session() as session:
        for failing, why in ((array.write(0, 4.0).stack(), "written already"), (varied.stack(), "not written"),
                             (array.write(2, 4.0).stack(), "out of range")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=why):
                session.run(failing)
        assert session.run(grown.size()) == 4
        for padded in (filled, array):  # the first write sets the shape of all
            np.testing.assert_array_equal(session.run(padded.stack()), [3.0, 0.0])


def test_a_loop_gives_what_its_body_gives():
    x = tf.constant(2.0)
    assert type(tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])) is tuple
    assert type(tf.while_loop(lambda i, a: i < 3, lambda i, a: [i + 1, a * x], (0, x))) is list
    nested = tf.while_loop(lambda s: s[0] < 3, lambda s: [(s[0] + 1, s[1])], [(0, x)])
    assert (type(nested), type(nested[0])) == (list, tuple)
    limited = tf.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x), [(0, x)], maximum_iterations=2)
    with tf.Session() as session:
        assert session.run(limited) == (2, 8.0)
    for wrong in (lambda: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, [a[0] * x]), (0, (x,))),
                  lambda: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], parallel_iterations=0),
                  lambda: tf.cond(x > 1.0, lambda: (x, x), lambda: [x, x])):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError):
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], maximum_iterations=[1])
    with pytest.raises(ValueError):
        tf.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1]), [(0, x)])


def test_branches_share_an_inner_tensor() -> None:
    inner: list[Any] = []
    x, taken = tf.Variable(3.0), tf.placeholder(tf.bool, [])

    def multiply() -> Any:
        inner.append(x * 3.0)
        return inner[0]

    tf.cond(taken, multiply, lambda: 1.0)
    twice = tf.cond(taken, lambda: inner[0] * 2.0, lambda: 1.0)
    beside = inner[0] + 1.0
    slope = tf.gradients(twice, x)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([twice, beside, slope], {taken: True}) == [18, 10, 6]
        assert session.run([twice, slope], {taken: False}) == [1, 0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="was not written"):
            session.run(beside, {taken: False})


def test_an_inner_tensor_of_a_loop_stays_inside() -> None:
    inner: list[Any] = []

    def body(i: Any) -> Any:
        inner.append(i * 2)
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    with pytest.raises(ValueError, match="Cannot use 'while/mul' as input to 'add' because 'while/mul' is in a while"):
        inner[0] + 1
    with pytest.raises(ValueError, match="input to 'while_1/add' because they are in different while loops"):
        tf.while_loop(lambda i: i < 3, lambda i: i + inner[0], [0])
    with pytest.raises(ValueError, match="input to 'while_2/NextIteration' because they are in different"):
        tf.while_loop(lambda i: i < 3, lambda i: inner[0], [0])
    with pytest.raises(ValueError, match="input to 'cond/mul' because 'while/mul' is in a while loop"):
        tf.cond(tf.constant(True), lambda: inner[0] * inner[0], lambda: 1)
    drawn: list[Any] = []
    tf.cond(tf.constant(True), lambda: drawn.append(tf.random_normal([])) or drawn[0], lambda: 1.0)
    with pytest.raises(ValueError, match="let the branch return it"):
        drawn[0] + 1.0


def test_a_critical_section_is_one_step_of_a_run():
    section, v = tf.CriticalSection(), tf.Variable(0, use_resource=True)

    def add(amount):
        before = v.read_value()
        with tf.control_dependencies([before]):
            between = tf.py_func(lambda: np.int32(amount), [], tf.int32)
        with tf.control_dependencies([v.assign(before + between)]):
            return {"value": v.read_value(), "done": tf.no_op(), "none": None}

    each = [section.execute(lambda amount=amount: add(amount)) for amount in (1, 10, 100)]
    with tf.Session() as session:
        session.run(v.initializer)
        session.run([part["done"] for part in each])
        assert session.run(v) == 111 and each[0]["none"] is None
        assert session.run(each[0]["value"]) == 112
    with pytest.raises(ValueError, match="without end"):
        section.execute(lambda: section.execute(tf.no_op))


def test_a_cast_to_its_own_type_leaves_a_resource_variable():
    v = tf.Variable(1.0, use_resource=True)
    assert tf.cast(v, tf.float32) is v


def test_a_smart_case_decides_what_the_graph_knows_in_order() -> None:
    def never() -> Any:
        raise AssertionError("this is not taken")

    x = tf.placeholder(tf.int32, [])
    first = tf.constant(3)
    mixed = smart_case([(x > 1, lambda: tf.constant(1)), (tf.constant(False), never), (False, never),
                        (True, lambda: first), (x > 0, never)], default=never)
    assert smart_case([(True, lambda: first), (x > 0, never)], default=never, exclusive=True) is first
    with tf.Session() as session:
        assert [session.run(mixed, {x: value}) for value in (2, 0)] == [1, 3]


def test_what_a_branch_first_captures_within_control_dependencies_waits():
    """Constant checks have no input in common with what waits for them."""
    x, which = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
    counter = tf.Variable(0)

    def checked(value):
        with tf.control_dependencies([tf.assign_add(counter, 1)]):
            return tf.identity(value)

    either = tf.cond(which, lambda: x + 1, lambda: checked(x))
    nested = tf.cond(which, lambda: x + 1, lambda: tf.cond(x > 0, lambda: checked(x), lambda: x))
    loop = tf.while_loop(lambda i: i < 3, lambda i: checked(x) + i, [0.0])
    with tf.Session() as session:
        session.run(counter.initializer)
        counts = [(session.run(fetched, {x: 1.0, which: side}), session.run(counter))[1]
                  for fetched, side in ((either, True), (either, False), (nested, False), (loop, True))]
    assert counts == [0, 1, 2, 5]


def test_a_branch_waits_for_what_its_results_wait_for_alone():
    unfed, x = tf.placeholder(tf.float32, [], name="unfed"), tf.constant(3)

    def branch(needed):
        with tf.control_dependencies([unfed]):
            aside = x + 1
        return aside if needed else x + 2

    with tf.Session() as session:
        assert session.run(tf.cond(tf.constant(True), lambda: branch(False), lambda: x)) == 5
        with pytest.raises(tf.errors.InvalidArgumentError, match="unfed"):
            session.run(tf.cond(tf.constant(True), lambda: branch(True), lambda: x))


def test_rows_of_two_branches_have_indices_of_one_type():
    rows = {dtype: tf.IndexedSlices(tf.constant([10]), tf.constant([0], dtype=dtype)) for dtype in (tf.int32, tf.int64)}
    either = tf.cond(tf.constant(True), lambda: rows[tf.int32], lambda: rows[tf.int64])
    with tf.Session() as session:
        assert session.run(either.indices).dtype == np.int64
    with pytest.raises(TypeError, match="Cannot reconcile tf.cond 0-th outputs"):
        tf.cond(tf.constant(True), lambda: rows[tf.int32], lambda: tf.constant([10]))


def test_a_branch_cannot_have_what_the_other_computes():
    inside = []
    with pytest.raises(ValueError, match="Tensor there:0 in true_fn is accessed from false_fn."):
        tf.cond(tf.constant(True), lambda: inside.append(tf.identity(1, name="there")) or inside[0],
                lambda: inside[0] + 1)
    with pytest.raises(ValueError, match="Tensor one:0 in branch 1 is accessed from branch 3."):
        tf.switch_case(tf.constant(2), [lambda: 0, lambda: inside.append(tf.identity(1, name="one")) or inside[1],
                                        lambda: 0, lambda: inside[1] + 1])


def test_rows_in_a_loop_keep_the_shape_of_the_first_unless_told() -> None:
    rows = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 3]), dense_shape=tf.constant([10, 3]))
    for given, shape in (None, [2, 3]), ([tf.TensorShape([None, 3])], [None, 3]):
        left = tf.while_loop(lambda _: False, lambda slices: [slices], [rows], given)
        assert left.values.shape.as_list() == shape and left.dense_shape.shape == [2]


@pytest.mark.parametrize("use_resource", [False, True])
def test_gradients_of_rows_taken_in_a_branch_are_rows(use_resource: bool) -> None:
    """A momentum of rows that no branch took stays as it is, as in TensorFlow 1.15.5, from which the numbers are."""
    begin = (np.arange(12).reshape(6, 2) / 4 + 1).astype(np.float32)
    v = tf.get_variable("rows", initializer=begin, use_resource=use_resource)
    first, rows = tf.placeholder(tf.bool, []), tf.placeholder(tf.int32, [None])
    taken = tf.cond(first, lambda: tf.gather(v, rows) ** 2, lambda: tf.gather(v, rows) ** 3)
    loss = tf.reduce_sum(taken)
    assert isinstance(tf.gradients(loss, v)[0], tf.IndexedSlices)
    train = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for feeds in (True, [1, 4]), (False, [2, 4]), (True, [0, 0]), (False, [5, 1]):
            session.run(train, dict(zip((first, rows), feeds)))
        np.testing.assert_allclose(session.run(v).ravel(), [
            0.924, 1.155, 1.3364, 1.5474, 1.6748, 1.8384, 2.5, 2.75, 2.0909, 2.2017, 3.1325, 3.3281], atol=5e-5)


def test_branches_may_give_one_result_alone_or_in_a_list():
    One = namedtuple("One", "only")
    p = tf.placeholder(tf.bool)
    forms = (lambda: tf.constant(1), lambda: [tf.constant(2)], lambda: (tf.constant(3),), lambda: One(tf.constant(4)))
    found = [result for first in forms for result in (tf.cond(p, first, forms[0]), tf.case([(p, forms[1])], first))]
    with tf.Session() as session:
        assert session.run(found, {p: True}) == [1, 2, 2, 2, 3, 2, 4, 2]
        assert session.run(found[1::2], {p: False}) == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="nested structure"):
        tf.cond(p, forms[0], forms[1], strict=True)
