"""Specs of tensors, functions called while the graph is built, partitioners, and module paths that libraries import."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.control import functional as functional_ops
from autodiff.api.type_specs import BoundedTensorSpec, type_spec_from_value
from autodiff.files.graph_messages import GRAPH_MESSAGES
from autodiff.tensorflow_names import alias
from autodiff.tensorflow_names.python import function, tensor_shape


@pytest.fixture(autouse=True)
def _fresh() -> None:
    tf.reset_default_graph()


def test_specs_are_compared_and_fit_tensors() -> None:
    spec = tf.TensorSpec([None, 3], tf.float32, "x")
    assert spec == tf.TensorSpec([None, 3], "float32", "x") != tf.TensorSpec([None, 3], tf.float32)
    assert spec.is_compatible_with(tf.zeros([2, 3]))
    assert not spec.is_compatible_with(tf.zeros([2, 4]))
    assert tf.TensorSpec.from_tensor(tf.zeros([2], name="z")).name == "z"
    bounded = BoundedTensorSpec([3], tf.int32, 0, [1, 2, 3])
    assert BoundedTensorSpec.from_spec(bounded) == bounded
    near, far, high = (BoundedTensorSpec([3], tf.float32, low, top) for low, top in ((0, 5), (1e-9, [5] * 3), (0, 6)))
    assert near == far != high and hash(near) == hash(far)
    assert tf.IndexedSlicesSpec([4]) == tf.IndexedSlicesSpec([4], tf.float32, tf.int64)
    common = tf.TensorSpec([2, 3]).most_specific_compatible_type(tf.TensorSpec([2, 4]))
    assert common == tf.TensorSpec([2, None])
    sparse = tf.SparseTensor([[0, 1]], [1.0], [2, 3])
    assert type_spec_from_value(sparse) == tf.SparseTensorSpec([2, 3])
    rows = tf.IndexedSlices(tf.ones([1, 3]), tf.constant([0]))
    assert type_spec_from_value(rows)._from_components((rows.values, rows.indices)).values is rows.values
    with pytest.raises(ValueError, match="Types are not compatible"):
        tf.TensorSpec([2]).most_specific_compatible_type(tf.TensorSpec([2], tf.int32))
    with pytest.raises(ValueError, match="maximum is not compatible with shape"):
        BoundedTensorSpec([3], tf.int32, 0, [1, 2])
    with pytest.raises(ValueError, match="should be a tf.Tensor"):
        tf.TensorSpec.from_tensor(3)


def test_functions_are_called_while_the_graph_is_built() -> None:
    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def doubled(x: Any) -> Any:
        return x * 2

    @function.Defun(tf.float32, tf.float32)
    def product(x: Any, y: Any) -> Any:
        return x * y

    x = tf.constant([1.0, 2.0])
    y = product(doubled(x), np.float32(3))
    assert y.op.name.startswith("product")
    with tf.Session() as session:
        np.testing.assert_allclose(session.run([y, tf.gradients(y, x)[0]]), [[6, 12], [6, 6]])
    with pytest.raises(ValueError, match="incompatible with input_signature"):
        doubled([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="Expected number of arguments: 2, received: 1"):
        product(x)
    with pytest.raises(TypeError, match="not a callable"):
        tf.function(3)


def test_partitioners_say_how_a_variable_would_be_cut() -> None:
    shape = tf.TensorShape([100, 50])
    assert tf.fixed_size_partitioner(4)(shape, dtype=tf.float32) == [4, 1]
    assert tf.variable_axis_size_partitioner(2000)(shape=shape, dtype=tf.float32) == [10, 1]
    assert tf.variable_axis_size_partitioner(2000, max_shards=3)(shape=shape, dtype=tf.float32) == [3, 1]
    assert tf.min_max_variable_partitioner(8, min_slice_size=5000)(shape=shape, dtype=tf.float32) == [4, 1]
    assert tf.get_variable("whole", [2], partitioner=tf.fixed_size_partitioner(1)).shape.as_list() == [2]


def test_sizes_of_one_name_are_equal() -> None:
    x, y = tf.ones([3, 2], name="x"), tf.ones([2, 3], name="y")
    free = tf.placeholder(tf.float32, name="free")
    fine = tf.assert_shapes([(x, ("n", "m")), (y, "mn"), (tf.constant(1), ()), (x, ("*", 2)), (free, None)])
    dynamic = tf.assert_shapes({x: ("n", "m"), free: ("n",)})
    with tf.Session() as session:
        session.run([fine, dynamic], {free: [1.0, 2.0, 3.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"tensor x:0 dimension 0\] \[Tensor free"):
            session.run(dynamic, {free: [1.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="must have rank"):
            session.run(dynamic, {free: 1.0})
    for words, shapes in (("dimension 0 must have size 3.  Received size 2", [(x, "ab"), (y, "ac")]),
                          ("Specified explicitly.  Tensor x:0 dimension 1 must have size 5", [(x, ("a", 5))]),
                          ("must have rank 1.  Received rank 2", [(x, "a")]),
                          ("only allowed as the first entry", [(x, "a*")]), ("must be an iterable", [(x, 2)])):
        with pytest.raises(ValueError, match=words):
            tf.assert_shapes(shapes)


def test_shapes_by_old_words() -> None:
    assert tensor_shape.unknown_shape(rank=2).as_list() == [None, None]
    assert (tensor_shape.vector(3), tensor_shape.matrix(2, 3), tensor_shape.scalar()) == ([3], [2, 3], [])


def test_modules_that_libraries_import_and_may_never_call() -> None:
    with alias.standing_in(shadow=True):
        from tensorflow.python.grappler import item
        from tensorflow.python.ops.resource_variable_ops import ResourceVariable
        from tensorflow.python.tpu import tpu_function
        assert ResourceVariable(1.0).is_resource
        for module in (item, tpu_function):
            with pytest.raises(AttributeError, match="gradbg does not support"):
                module.anything  # noqa: B018
        with pytest.raises(ImportError):
            import tensorflow.python.nonsense  # noqa: F401


def test_a_defun_has_the_gradient_that_it_is_given() -> None:
    twice = function.Defun(tf.float32, python_grad_func=lambda op, dy: 10.0 * dy * op.inputs[0])(lambda x: x * 2.0)
    by_function = function.Defun(tf.float32, grad_func=lambda x, dy: 7.0 * dy)(lambda x: x * 2.0)
    named = function.Defun(tf.float32, func_name="Named")(lambda x: x * 2.0)
    tf.RegisterGradient("of Named")(lambda op, dy: 5.0 * dy)
    x = tf.constant(3.0)
    with tf.get_default_graph().gradient_override_map({"Named": "of Named"}):
        ys = [twice(x), by_function(x), named(x)]
    with tf.Session() as session:
        assert session.run(ys) == [6.0, 6.0, 6.0]
        assert session.run([tf.gradients(y, x)[0] for y in ys]) == [30.0, 7.0, 5.0]


def test_a_defun_has_a_definition_of_its_own() -> None:
    outside = tf.constant(10.0, name="outside")

    @function.Defun(tf.float32, tf.float32, noinline=True, experimental_tag=3)
    def scaled(x, y):
        """A product."""
        return x * y + outside

    count = len(tf.get_default_graph().operations)
    definition = scaled.definition
    assert len(tf.get_default_graph().operations) == count and re.fullmatch("scaled_[0-9a-f]{8}", scaled.name)
    assert [len(definition.signature.input_arg), len(definition.signature.output_arg)] == [3, 1]
    assert (definition.attr["_noinline"].b, definition.attr["experimental_tag"].i) == (True, 3)
    assert scaled.captured_inputs == [outside] and scaled.stateful_ops == [] and not definition.signature.is_stateful
    again = function._from_definition(type(definition).FromString(definition.SerializeToString()), grad_func=scaled)
    assert (again.name, again.definition, again.grad_func_name) == (scaled.name, definition, scaled.name)
    drawn = function.Defun()(lambda: tf.random_uniform([2]))
    assert drawn.definition.signature.is_stateful and drawn.stateful_ops[0][1] == "RandomUniform"
    dx = functional_ops.symbolic_gradient([3.0, 4.0, 1.0], [tf.float32] * 2, scaled)
    with tf.Session() as session:
        assert session.run([scaled(2.0, 3.0), *again(2.0, 3.0, 1.0)]) == [16.0, 7.0]
        assert session.run(dx) == [4.0, 3.0]


@pytest.mark.parametrize(("call", "words"), [
    (lambda: function.Defun(tf.float32)(lambda x, y: x), "number of specified input types"),
    (lambda: function.Defun()(lambda x=1: x), "defaults .* are not supported"),
    (lambda: function.Defun()(lambda: (None, None)).definition, "can not return None"),
    (lambda: function.Defun()(lambda: tf.constant(1))(2), "arguments: 0"),
    (lambda: function.Defun()(lambda x: x)(2, device="/cpu:0"), "Unknown keyword arguments: device"),
    (lambda: function.Defun(grad_func=len, python_grad_func=len)(lambda x: x)(2), "Gradient defined twice"),
    (lambda: functional_ops.symbolic_gradient([1.0], [tf.float32], "unheard"), "Function unheard is not defined")])
def test_a_defun_refuses_in_tensorflows_words(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_a_function_by_value_takes_no_state() -> None:
    drawn = tf.random_uniform([2])
    inner = next(op for op in tf.get_default_graph().get_operations() if op.type == "RandomUniform")
    with pytest.raises(ValueError, match="Cannot capture a stateful node"):
        function.Defun(capture_by_value=True)(lambda: drawn + 1)()
    assert function.Defun(capture_by_value=True, whitelisted_stateful_ops={inner})(lambda: drawn + 1)().shape == (2,)


def test_a_library_of_functions_knows_their_gradients() -> None:
    f, g = (function.Defun(*[tf.float32] * n)(lambda x, *dy: x * 2) for n in (1, 2))
    library = GRAPH_MESSAGES["FunctionDefLibrary"]()
    assert function.from_library(library) == []
    library.function.extend([f.definition, g.definition])
    library.gradient.add(function_name=f.name, gradient_func=g.name)
    made = {each.name: each for each in function.from_library(library)}
    assert made[f.name].grad_func_name == g.name and made[g.name].grad_func_name is None
    library.gradient.add(function_name=g.name, gradient_func=f.name)
    with pytest.raises(ValueError, match="contains cyclic gradient functions!"):
        function.from_library(library)
    library.gradient.add(function_name="h", gradient_func=f.name)
    with pytest.raises(ValueError, match="FunctionDefLibrary missing 'h' FunctionDef"):
        function.from_library(library)


def test_a_function_does_what_it_assigns_and_asserts_in_order():
    v = tf.Variable(1.0, use_resource=True)

    @tf.function
    def step(x):
        made.append(tf.get_variable("made", initializer=5.0, use_resource=True)) if not made else None
        v.assign_add(1.0)
        tf.debugging.assert_greater(x, 0.0, message="too small")
        result = x * v
        v.assign(10.0 * v)
        return result

    made = []
    x = tf.placeholder(tf.float32, [])
    y, both = step(x), tf.function(lambda: step(step(x)))()
    effect = tf.function(lambda: [v.assign(0.5)].clear())()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(made[0].assign(7.0)) == 7
        assert (session.run(y, {x: 3.0}), session.run(v)) == (6.0, 20.0)
        assert (session.run(both, {x: 1.0}), session.run(v)) == (21.0 * 211.0, 2110.0)
        assert session.run(effect) is None and session.run([v, made[0]]) == [0.5, 7.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
            session.run(y, {x: -1.0})


def test_loops_and_branches_of_a_function_do_what_stands_in_them():
    v = tf.Variable(1.0, use_resource=True)

    def twice(i):
        v.assign_add(1.0)
        return i + 1

    def ten_more():
        v.assign_add(10.0)
        return tf.constant(0)

    def counted(x):
        tf.while_loop(lambda i: i < 3, twice, [0])
        tf.cond(x > 0, ten_more, lambda: tf.constant(1))
        return x * v

    y, by_hand = tf.function(counted)(tf.constant(3.0)), counted(tf.constant(3.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(by_hand) == 3.0  # in a graph alone nothing waits for them
        assert (session.run(y), session.run(v)) == (42.0, 14.0)


def test_what_a_function_gives_is_tensors() -> None:
    tf.reset_default_graph()
    given = tf.function(lambda: (2, None, "a"))()
    assert (given[0].dtype, given[1], given[2].dtype) == (tf.int32, None, tf.string)
