"""Variables: names, values, assignment, initializing. Expected values are TensorFlow 1.15.5's."""

import copy

import numpy as np
import pytest
from autodiff.errors import FailedPreconditionError

import autodiff as tf
from autodiff.runtime.eager import eager_mode
from autodiff.tensorflow_names.python.variables import variable_op, variable_shape

KINDS = pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])


pytestmark = pytest.mark.usefixtures("own_graph")


def op_names():
    return [op.name for op in tf.get_default_graph().get_operations()]


def run(*fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(fetch) for fetch in fetches]


# ---- what a variable is made of ---------------------------------------------------------

def test_operations_of_a_reference_variable():
    v = tf.Variable([1.0, 2.0], name="v")
    assert op_names() == ["v/initial_value", "v", "v/Assign", "v/read"]
    assert (v.name, v.dtype, v.shape.as_list()) == ("v:0", tf.float32.as_ref, [2])
    assert (v.op.type, v.initializer.name, v.value().name) == ("VariableV2", "v/Assign", "v/read:0")


def test_operations_of_a_resource_variable():
    v = tf.Variable([1.0, 2.0], name="v", use_resource=True)
    assert op_names() == ["v/Initializer/initial_value", "v", "v/IsInitialized/VarIsInitializedOp", "v/Assign",
                          "v/Read/ReadVariableOp"]
    assert (v.name, v.dtype, v.shape.as_list(), v.handle.dtype) == ("v:0", tf.float32, [2], tf.resource)
    assert isinstance(v, tf.Variable)


def test_operations_of_a_variable_from_a_function():
    tf.Variable(lambda: tf.ones([2]), name="v")
    assert op_names() == ["v/Initializer/ones", "v", "v/Assign", "v/read"]


def test_dtypes_of_initial_values():
    made = [tf.Variable(x).dtype.base_dtype for x in (1, 1.0, True, "a", np.float64(1), np.array([1], np.int64))]
    assert made == [tf.int32, tf.float32, tf.bool, tf.string, tf.float64, tf.int64]
    assert tf.Variable(1, dtype=tf.float64).dtype.base_dtype == tf.float64


def test_collections():
    tf.Variable(1.0, name="v", trainable=False)
    tf.Variable(1.0, name="w", collections=["c1", "c2"])
    tf.Variable(1, name="i")
    names = {key: [v.name for v in tf.get_collection(key)] for key in ("variables", "trainable_variables", "c1", "c2")}
    assert names == {"variables": ["v:0", "i:0"], "trainable_variables": ["w:0", "i:0"], "c1": ["w:0"], "c2": ["w:0"]}


ERRORS = [
    (ValueError, lambda: tf.Variable()),
    (ValueError, lambda: tf.Variable([1.0], collections="abc")),
    (ValueError, lambda: tf.Variable(tf.placeholder(tf.float32, [None]))),
    (TypeError, lambda: tf.Variable("a", dtype=tf.float32)),
    (ValueError, lambda: tf.Variable(1.0, constraint=3)),
    (TypeError, lambda: list(tf.Variable([1.0]))),
    (TypeError, lambda: tf.Variable(1, dtype=tf.int64) + 1.5),
    (TypeError, lambda: np.asarray(tf.Variable(1.0))),
    (ValueError, lambda: tf.assign(tf.Variable([1.0, 2.0]), [1.0, 2.0, 3.0])),
    (TypeError, lambda: tf.scatter_add(tf.constant([1.0]), [0], [1.0])),
]


@pytest.mark.parametrize(("error", "make"), ERRORS)
def test_errors(error, make):
    with pytest.raises(error):
        make()


# ---- values -----------------------------------------------------------------------------

@KINDS
def test_operators_work_on_the_value(use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    found = run(v + 1, 3 - v, v * v, 2 / v, v ** 2, -v, abs(-v), v // 1.5, v % 1.5, v[1], v > 1.0, tf.identity(v))
    expected = [[2, 3], [2, 1], [1, 4], [2, 1], [1, 4], [-1, -2], [1, 2], [0, 1], [1, 0.5], 2, [False, True], [1, 2]]
    for value, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(value, wanted)
    assert v == v and v != 3


@KINDS
def test_gradient_reaches_the_variable(use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    y = v * v + tf.square(v)
    np.testing.assert_array_equal(run(tf.gradients(y, v)[0])[0], [4.0, 8.0])


@KINDS
def test_gradient_of_a_gather_is_its_rows(use_resource):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=use_resource)
    gradient = tf.gradients(tf.gather(v, [1, 1]), v)[0]
    assert isinstance(gradient, tf.IndexedSlices)
    np.testing.assert_array_equal(run(tf.convert_to_tensor(gradient))[0], [[0, 0], [2, 2]])


@KINDS
def test_assigning(use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    found = run(v.assign([3.0, 4.0]), v.assign_add([1.0, 1.0]), v.assign_sub([2.0, 0.0]), tf.assign(v, [7.0, 8.0]), v)
    for value, wanted in zip(found, [[3, 4], [4, 5], [2, 5], [7, 8], [7, 8]], strict=True):
        np.testing.assert_array_equal(value, wanted)


@KINDS
def test_loading_and_evaluating(use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    with tf.Session() as session:
        session.run(v.initializer)
        v.load([5.0, 6.0], session)
        np.testing.assert_array_equal(v.eval(), [5.0, 6.0])
        with pytest.raises(ValueError):
            v.load([1.0, 2.0, 3.0], session)
        session.run(tf.variables_initializer([v]))
        np.testing.assert_array_equal(session.run(v), [1.0, 2.0])


def test_an_op_that_waits_for_an_assignment_sees_it():
    v = tf.Variable(1.0)
    before = v + 0.0
    with tf.control_dependencies([v.assign(5.0)]):
        after, read, sum_ = tf.identity(v), v.read_value(), tf.constant(1.0) + v
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run([before, after, read, sum_]) == [1.0, 5.0, 5.0, 6.0]


def test_assign_to_another_shape_when_that_is_allowed():
    v = tf.Variable([1.0, 2.0])
    changed = tf.assign(v, [1.0, 2.0, 3.0], validate_shape=False)
    assert changed.shape.as_list() == [3]
    np.testing.assert_array_equal(run(changed)[0], [1.0, 2.0, 3.0])
    free = tf.Variable([[1.0, 2.0]], validate_shape=False)
    assert free.shape.ndims is None
    free.set_shape([1, 2])
    assert free.shape.as_list() == [1, 2]


@KINDS
def test_changing_rows(use_resource):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], use_resource=use_resource)
    places, rows = [0, 2], [[1.0, 1.0], [2.0, 2.0]]
    found = run(tf.scatter_update(v, places, rows), tf.scatter_add(v, places, rows), tf.scatter_sub(v, [0, 0], rows),
                tf.scatter_mul(v, places, rows), tf.scatter_div(v, places, rows), tf.scatter_min(v, places, rows),
                tf.scatter_max(v, [1, 1], rows), tf.scatter_nd_update(v, [[0, 1]], [9.0]),
                tf.scatter_nd_add(v, [[0], [0]], rows), tf.scatter_nd_sub(v, [[0, 1]], [9.0]),
                tf.scatter_add(v, [1], 10.0))
    expected = [[[1, 1], [3, 4], [2, 2]], [[2, 2], [3, 4], [4, 4]], [[-1, -1], [3, 4], [4, 4]],
                [[-1, -1], [3, 4], [8, 8]], [[-1, -1], [3, 4], [4, 4]], [[-1, -1], [3, 4], [2, 2]],
                [[-1, -1], [3, 4], [2, 2]], [[-1, 9], [3, 4], [2, 2]], [[2, 12], [3, 4], [2, 2]],
                [[2, 3], [3, 4], [2, 2]], [[2, 3], [13, 14], [2, 2]]]
    for value, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(value, wanted)


def test_gradients_through_assignments():
    v = tf.Variable([1.0, 2.0])
    assert tf.gradients(v.assign([1.0, 1.0]) * 2.0, v) == [None]
    assert tf.gradients(tf.scatter_add(v, [0], [5.0]) * 2.0, v) == [None]
    with pytest.raises(LookupError):
        tf.gradients(tf.scatter_update(v, [0], [5.0]) * 2.0, v)


# ---- initializing -----------------------------------------------------------------------

@KINDS
def test_uninitialized_variables(use_resource):
    a = tf.Variable(1.0, name="a", use_resource=use_resource)
    b = tf.Variable(1.0, name="b", collections=[tf.GraphKeys.LOCAL_VARIABLES], use_resource=use_resource)
    missing = tf.report_uninitialized_variables()
    with tf.Session() as session:
        assert session.run(missing).tolist() == [b"a", b"b"]
        with pytest.raises(FailedPreconditionError, match="Attempting to use uninitialized value a"):
            session.run(a + 1.0)
        assert not session.run(tf.is_variable_initialized(a))
        assert session.run(a.initialized_value()) == 1.0
        session.run(tf.global_variables_initializer())
        assert session.run(missing).tolist() == [b"b"]
        session.run(tf.local_variables_initializer())
        assert session.run(missing).tolist() == []
        assert session.run([a, b]) == [1.0, 1.0]


@KINDS
def test_initial_values_may_read_other_variables(use_resource):
    a = tf.Variable(2.0, name="a", use_resource=use_resource)
    b = tf.Variable(a * 3.0, name="b", use_resource=use_resource)
    c = tf.Variable(b + a, name="c", use_resource=use_resource)
    assert run([a, b, c])[0] == [2.0, 6.0, 8.0]


def test_a_random_initial_value_is_drawn_once():
    v = tf.Variable(tf.random_normal([2, 3]))
    w = tf.Variable(v.initialized_value() * 2.0)
    first, second = run([v, w])[0]
    np.testing.assert_array_equal(second, 2 * first)


def test_a_variable_made_in_a_branch_lives_outside_of_it():
    result = tf.cond(tf.constant(True), lambda: tf.Variable(2.0, name="v") * 1.0, lambda: tf.constant(3.0))
    assert run(result) == [2.0]


def test_variables_are_made_without_control_dependencies():
    with tf.control_dependencies([tf.constant(1.0)]):
        v = tf.Variable(1.0)
        tf.train.AdamOptimizer().minimize(v * v)
    assert [x.name for x in tf.global_variables() if x.initializer.control_inputs or x.op.control_inputs] == []


def test_resource_variables_by_default():
    tf.enable_resource_variables()
    assert tf.resource_variables_enabled() and tf.Variable(1.0).op.type == "VarHandleOp"
    tf.disable_resource_variables()
    assert tf.Variable(1.0).op.type == "VariableV2"


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_part_of_a_variable_can_be_assigned(use_resource):
    v = tf.get_variable("v", initializer=[[1.0, 2.0], [3.0, 4.0]], use_resource=use_resource)
    second, column = v[1].assign([7.0, 8.0]), v[:, tf.constant(0)].assign([0.0, 5.0])
    assert not hasattr(v + 1.0, "assign")
    with pytest.raises(ValueError):
        v[1].assign([1.0, 2.0, 3.0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(second), [[1, 2], [7, 8]])
        session.run(column)
        np.testing.assert_array_equal(session.run(v), [[0, 2], [5, 8]])


def test_rows_are_changed_and_gathered_in_both_modes() -> None:
    def after() -> tuple:
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=True)
        rows = tf.raw_ops.ResourceGather(resource=v.handle, indices=[[1], [0]], batch_dims=1)
        return v, rows, lambda: v.scatter_add(tf.IndexedSlices(tf.constant([[10.0, 20.0]]), tf.constant([1])))

    v, rows, change = after()
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(rows).tolist() == [[2.0], [3.0]]
        assert session.run(change()).tolist() == [[1.0, 2.0], [13.0, 24.0]]
    with eager_mode():
        v, rows, change = after()
        assert rows.numpy().tolist() == [[2.0], [3.0]]
        assert change().numpy().tolist() == [[1.0, 2.0], [13.0, 24.0]]
        assert v.assign([[0.0, 0.0], [0.0, 0.0]], read_value=False) is None


def test_the_reference_of_a_bare_variable_can_be_assigned() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        ref = variable_op([1, 2], tf.float32, set_shape=False)
        given = tf.assign(ref, [[1.0, 2.0]])
        assert (ref.shape.ndims, given.shape.as_list()) == (None, [1, 2])
        session.run(given)
        assert session.run(tf.assign_add(ref, [[1.0, 1.0]])).tolist() == [[2.0, 3.0]]
        assert session.run(tf.assign_sub(ref, [[0.5, 0.0]])).tolist() == [[1.5, 3.0]]


def test_a_resource_eagerly_and_what_does_not_fit() -> None:
    with eager_mode():
        v = tf.Variable([1.0, 2.0], name="v")
        v.load([3.0, 4.0])
        other = copy.deepcopy(v)
        other.assign([5.0, 6.0])
        assert v.initialized_value().numpy().tolist() == v.gather_nd([[0], [1]]).numpy().tolist() == [3.0, 4.0]
        tf.assign(v[1], 7.0), v[:1].assign([6.0])
        assert v.numpy().tolist() == [6.0, 7.0]
        assert "<unprintable>" in str(v.handle)
        with pytest.raises(ValueError, match="resource"):
            v.handle.numpy()
    with tf.Graph().as_default():
        v = tf.Variable([1.0, 2.0], use_resource=True)
        assert variable_shape(v.handle).op.type == "Const"
        with tf.Session() as session:
            session.run(v.initializer)
            session.run(tf.raw_ops.DestroyResourceOp(v.handle))
            with pytest.raises(tf.errors.FailedPreconditionError):
                session.run(v)
            with pytest.raises(tf.errors.NotFoundError, match="localhost/Variable does not exist"):
                session.run(tf.raw_ops.DestroyResourceOp(v.handle, ignore_lookup_error=False))
        with pytest.raises(NotImplementedError, match="only available when eager"):
            copy.deepcopy(v)
        with pytest.raises(ValueError, match="not compatible with"):
            tf.Variable([1.0], shape=[4], use_resource=True)


def test_a_part_of_a_variable_is_assigned():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=True)
    change = tf.assign(v[1, :], [5.0, 6.0])
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(change)
        assert session.run(v).tolist() == [[1, 2], [5, 6]]


def test_parts_of_variables_are_assigned_where_they_can_be():
    v = tf.Variable([[1, 2], [3, 4]], name="v")
    with tf.Session() as session:
        with pytest.raises(FailedPreconditionError, match="Attempting to use uninitialized value v"):
            session.run(v[0].assign([5, 6]))
        session.run(v.initializer)
        assert session.run(v[8:10, 0].assign(np.zeros(0, np.int32))).tolist() == [[1, 2], [3, 4]]
        assert session.run(v[8:10, 8:10].assign(np.zeros((1, 0), np.int32))).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(AttributeError, match="Sliced assignment is only supported for variables"):
        tf.constant([1, 2])[:1].assign([3])


def test_gather_nd_takes_constant_counts_of_batch_axes_alone():
    params, indices = np.arange(12).reshape(2, 3, 2), np.array([[2], [0]])
    with tf.Session() as session:
        assert session.run(tf.gather_nd(params, indices, batch_dims=tf.constant([1]))).tolist() == [[4, 5], [6, 7]]
    for error, count in (TypeError, tf.constant([0, 1])), (ValueError, -1), (ValueError, 2):
        with pytest.raises(error):
            tf.gather_nd(params, indices, batch_dims=count)


def test_the_shape_of_a_sparse_value_is_that_of_the_whole():
    value = tf.SparseTensorValue([[0, 1], [1, 0]], [42, 24], [2, 3])
    with tf.Session() as session:
        assert [np.array(x).tolist() for x in session.run([tf.shape(value), tf.size(value), tf.rank(value)])] == [
            [2, 3], 6, 2]


@pytest.mark.parametrize("name", ["truncated_normal", "orthogonal", "identity"])
def test_initializers_of_real_numbers_refuse_others(name):
    with pytest.raises(ValueError, match="Expected floating point type, got tf.int32"):
        getattr(tf.initializers, name)()([2, 3], dtype=tf.int32)
