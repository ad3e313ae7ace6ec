"""tensorflow.python.util: decorators that say what they decorate, and signatures seen through them."""

import functools
import pickle
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.tensorflow_names import alias
from autodiff.tensorflow_names.python import compat, tensor_util
from autodiff.tensorflow_names.python import ops as tf_ops
from autodiff.tensorflow_names.python.custom_gradient import get_dependent_variables
from autodiff.tensorflow_names.python.framework import constant_op, errors_impl, inplace, registry
from autodiff.tensorflow_names.python.util import decorating, decorators, deprecation, dispatch, signatures


def doubled(target: Any) -> Any:
    def wrapper(x: int) -> int:
        return 2 * wrapper.__wrapped__(x)  # type: ignore[attr-defined]

    return decorators.make_decorator(target, wrapper, decorator_argspec=signatures.ArgSpec(["x"], None, None, (3,)))


def one_more(x: int, y: int = 1) -> int:
    """One more."""
    return x + y


def test_decorations_are_taken_off_and_put_on_another_function() -> None:
    decorated = doubled(decorators.TFDecorator("outer", doubled(one_more)))
    layers, target = decorators.unwrap(decorated)
    assert [layer.decorator_name for layer in layers] == ["doubled", "outer", "doubled"] and target is one_more
    assert (decorated(4), decorated.__name__, decorated.__doc__) == (20, "one_more", "One more.")
    decorators.rewrap(decorated, one_more, lambda x: x)
    assert decorated(4) == 16
    assert decorators.rewrap(one_more, one_more, len) is len


def test_a_decorated_method_is_bound() -> None:
    class Thing:
        @functools.partial(decorators.TFDecorator, "noted")
        def name(self, more: str) -> str:
            return f"thing {more}"

    assert Thing().name("a") == "thing a"


def test_a_context_manager_is_a_decoration() -> None:
    @decorators.contextmanager
    def opened(name: str) -> Any:
        yield name

    with opened("door") as name:
        assert name == "door"
    assert decorators.unwrap(opened)[0][0].decorator_name == "contextmanager"
    assert signatures.getargspec(opened).args == ["name"]


def test_signatures_are_those_that_a_decorator_gives_and_of_what_is_left_of_a_partial() -> None:
    assert signatures.getfullargspec(doubled(one_more)).defaults == (3,)
    assert signatures.getcallargs(doubled(one_more)) == {"x": 3} and signatures.isfunction(doubled(one_more))
    assert signatures.getargspec(functools.partial(one_more, 1)) == (["y"], None, None, (1,))
    assert signatures.getargspec(functools.partial(one_more, y=4)) == (["x", "y"], None, None, (4,))
    with pytest.raises(ValueError, match=r"Some arguments \['x'\] do not have default value"):
        signatures.getargspec(functools.partial(lambda m, x: None, m=1))
    with pytest.raises(ValueError, match="unknown partial keyword"):
        signatures.getargspec(functools.partial(one_more, z=1))
    assert decorating.fn_args(functools.partial(functools.partial(one_more, 1), y=4)) == ()


@pytest.mark.parametrize(("thing", "name"), [
    (doubled(one_more), "one_more"), ("".join, "<class 'builtin_function_or_method'>"),
    (functools.partial(one_more), "<class 'functools.partial'>")])
def test_what_a_function_is_called(thing: Any, name: str) -> None:
    assert decorating.get_func_name(thing) == name


def test_what_is_deprecated_warns_once_by_tensorflows_logger(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Any] = []
    logger = alias.module_named("tensorflow.python.platform.tf_logging")
    monkeypatch.setattr(deprecation, "module_named", lambda name: logger)
    monkeypatch.setitem(vars(logger), "warning", lambda text, *values: said.append(text % values))

    @deprecation.deprecated("2016-07-04", "Use another.")
    def old(x: int) -> int:
        """Twice."""
        return 2 * x

    @deprecation.deprecated_args(None, "Leave it out.", "extra", ("mode", "fine"), warn_once=False)
    def picky(x: int, mode: Any = None, *extra: int) -> int:
        """One line.

        And more.
        """
        return x

    assert old(2) == old(2) == 4 and len(said) == 1 and "old" in said[0] and "removed after 2016-07-04" in said[0]
    assert __file__ in said[0] and old.__doc__ == (
        "Twice. (deprecated)\n\nWarning: THIS FUNCTION IS DEPRECATED. It will be removed after 2016-07-04.\n"
        "Instructions for updating:\nUse another.")
    assert "SOME ARGUMENTS ARE DEPRECATED: `(extra, mode)`" in picky.__doc__ and picky.__doc__.endswith("\n\nAnd more.")
    picky(1), picky(1, "fine"), picky(x=1)
    assert len(said) == 1
    picky(1, "other", 3)
    with deprecation.silence():
        picky(1, "other")
    assert len(said) == 3
    valued = deprecation.deprecated_arg_values(None, "Do not.", mode=1)(lambda mode=1: mode)
    assert (valued(2), len(said), valued(), len(said)) == (2, 3, 1, 4)
    other = deprecation.deprecated_alias("old.Thing", "new.Thing", Exception)
    assert isinstance(other("x"), Exception) and "Please use new.Thing instead" in said[-1]


@pytest.mark.parametrize(("call", "text"), [
    (lambda: deprecation.deprecated("07-04-2016", "x"), "YYYY-MM-DD"),
    (lambda: deprecation.deprecated(None, ""), "instructions"),
    (lambda: deprecation.deprecated(None, "x")(3), "is not a function"),
    (lambda: deprecation.deprecated_args(None, "x"), "Specify which argument"),
    (lambda: deprecation.deprecated_args(None, "x", "no")(len), r"not present.*\['no'\]")])
def test_deprecations_refuse_what_nobody_could_follow(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_variables_that_outputs_depend_on() -> None:
    with tf.Graph().as_default():
        w, b, c = (tf.Variable(1.0, trainable=t) for t in (True, True, False))
        x = tf.identity(w) * 2.0
        found = get_dependent_variables({"x": x}, [{"y": x + b * c + tf.ones_like(w)}])
        assert found == [b]
        rows = tf_ops._as_indexed_slices(tf.ones([3, 2]))
        with tf.Session() as session:
            assert session.run(rows).indices.tolist() == [0, 1, 2]


def test_changes_after_the_date_of_tensorflow_1_15_are_not_made() -> None:
    assert (compat.forward_compatible(2019, 8, 20), compat.forward_compatible(2019, 8, 21)) == (True, False)
    with compat.forward_compatibility_horizon(2019, 9, 1):
        assert compat.forward_compatible(2019, 8, 21)
    assert not compat.forward_compatible(2019, 8, 21)


def test_a_registry_takes_each_name_once() -> None:
    known = registry.Registry("names")
    known.register(one_more)
    assert known.lookup("one_more") is one_more and list(known.list()) == ["one_more"]
    with pytest.raises(KeyError, match=r"Registering two names with name 'one_more'! \(Previous registration was in"):
        known.register(one_more)
    with pytest.raises(LookupError):
        known.lookup("another")


def test_errors_have_tensorflows_numbers() -> None:
    for code in (5, 16):
        error = pickle.loads(pickle.dumps(errors_impl._make_specific_exception(None, None, None, code)))
        assert (error.error_code, error.message) == (code, "") and code in errors_impl.Code.values()
    with pytest.warns(UserWarning, match="Unknown error code: 37"):
        assert isinstance(errors_impl._make_specific_exception(None, None, "no", 37), tf.errors.UnknownError)
    assert errors_impl.error_code_from_exception_type(tf.errors.NotFoundError) == tf.errors.NOT_FOUND == 5


def test_shapes_of_protos_and_shapes_as_tensors() -> None:
    proto = tf.make_tensor_proto([1, 2, 3, 4], shape=[2, 2])
    assert tensor_util.ShapeEquals(proto, (2, 2)) and not tensor_util.ShapeEquals(proto, [4])
    assert tensor_util.constant_value(tensor_util.shape_tensor(tf.TensorShape([1, 2]))).tolist() == [1, 2]


def test_rows_are_changed_in_a_copy() -> None:
    x = tf.zeros([3, 2])
    made = [inplace.inplace_update(x, [-1], [[7.0, 8.0]]), inplace.inplace_add(x, 1, [1.0, 2.0]),
            inplace.inplace_sub(x, None, tf.ones([3, 2])), x, inplace.empty([2], tf.string)]
    with tf.Session() as session:
        last, middle, whole, kept, blank = session.run(made)
    assert last.tolist() == [[0, 0], [0, 0], [7, 8]] and middle.tolist() == [[0, 0], [1, 2], [0, 0]]
    assert (whole == -1).all() and not kept.any() and blank.tolist() == [b"", b""]
    for words, i, v in ("must be a vector", [[0]], [[1.0, 1.0]]), ("x and v shape doesn't match", [0], [1.0]), (
            "i and x shape doesn't match", [0, 1], [[1.0, 1.0]]):
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            inplace.inplace_update(x, i, v)


def test_constants_of_the_framework_have_as_many_elements_as_their_shape() -> None:
    assert constant_op.constant(3, shape=[2]).shape.as_list() == [2] == constant_op.constant_v1([1], shape=[2]).shape
    with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(5,\), got \(7,\)"):
        constant_op.constant([1, 2, 3, 4, 5, 6, 7], shape=[5])


def test_raw_ops_of_einsum_unique_and_pooling_take_tensors_for_attributes() -> None:
    x = np.arange(16.0).reshape(1, 4, 4, 1)
    pooled = tf.raw_ops.MaxPoolV2(input=x, ksize=tf.placeholder_with_default([1, 2, 2, 1], [4]), strides=[1, 2, 2, 1],
                                  padding="VALID")
    known = tf.raw_ops.MaxPoolV2(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    rows = tf.raw_ops.UniqueV2(x=[[1, 0], [1, 0], [2, 0]], axis=[0])
    a, b = np.ones((5, 1, 2, 3)), np.ones((1, 4, 3, 2))
    product = tf.raw_ops.Einsum(inputs=[a, b], equation="...ij,...jk->...ik")
    with tf.Session() as session:
        assert session.run(pooled).tolist() == session.run(known).tolist() == x[:, 1::2, 1::2].tolist()
        assert [part.tolist() for part in session.run(rows)] == [[[1, 0], [2, 0]], [0, 0, 1]]
        assert np.array_equal(session.run(product), np.einsum("...ij,...jk->...ik", a, b))


def test_small_things_that_raw_callers_ask_for() -> None:
    stack = tf.raw_ops.Stack(elem_type=tf.float32)
    pushed = tf.raw_ops.StackPush(handle=stack, elem=[4.0, 5.0])
    with tf.control_dependencies([pushed]):
        popped = tf.raw_ops.StackPop(handle=stack, elem_type=tf.float32)
    both = tf.raw_ops.ScalarSummary(tags=["a", "b"], values=[1.0, 2.0])
    signed = tf.constant([-3.0, 4.0])
    roots = tf.reduce_euclidean_norm(signed, []), tf.reduce_euclidean_norm(signed)
    gradients = alias.module_named("tensorflow.python.eager.backprop").val_and_grad_function(tf.square)(3.0)
    halves = tf.nn.embedding_lookup_sparse(tf.ones([2, 3], tf.float16), tf.SparseTensor([[0, 0]], [1], [1, 1]), None)
    with tf.Session() as session:
        assert session.run(popped).tolist() == [4.0, 5.0]
        assert [(v.tag, v.simple_value) for v in tf.Summary.FromString(session.run(both)).value] == [("a", 1), ("b", 2)]
        assert [value.tolist() for value in session.run(roots)] == [[-3.0, 4.0], 5.0]
        assert session.run(gradients) == (9.0, [6.0]) and halves.dtype == tf.float32
        assert session.run([tf.reduce_all([]), tf.reduce_any([])]) == [True, False]


def test_a_case_by_another_cond_and_known_values() -> None:
    asked = []

    def chosen(predicate: bool, yes: Any, no: Any) -> Any:
        asked.append(predicate)
        return yes() if predicate else no()

    pairs = [(False, lambda: 1), (True, lambda: 2), (True, lambda: 3)]
    assert tf_ops._case_helper(chosen, pairs, None, False, "case") == 2 and asked == [False, True]
    assert tf_ops._case_helper(chosen, pairs[:1], lambda: 7, False, None) == 7
    for tensor, value in (tf.constant(4), 4), (tf.placeholder(tf.int32), None):
        assert tensor_util.TF_TryEvaluateConstant_wrapper(tensor.graph._c_graph, tensor._as_tf_output()) == value


def test_data_to_try_models_with_and_axes_in_front() -> None:
    get = alias.module_named("tensorflow.python.keras.testing_utils").get_test_data
    (x, y), (more, labels) = get(8, 4, (3, 2), 5, random_seed=1)
    assert x.shape == (8, 3, 2) and more.shape == (4, 3, 2) and len(y) == 8 and set(labels) <= set(range(5))
    assert np.array_equal(get(8, 4, (3, 2), 5, random_seed=1)[0][0], x)
    with tf.Session() as session:
        assert session.run(tf_ops.add_leading_unit_dimensions(tf.ones([2, 3]), 2)).shape == (1, 1, 2, 3)


def test_a_function_answers_for_an_op_where_its_types_are() -> None:
    class Own:
        value = 3.0

    @dispatch.add_dispatch_support
    def op(x: Any, y: Any = 2) -> Any:
        return x + y

    for called in (op, tf.add_n):
        known = called._tf_dispatchers
        with pytest.raises(AssertionError, match="must exactly match"):
            dispatch.dispatch_for_types(called, Own)(lambda other: 0)
        assert not known

    dispatch.dispatch_for_types(op, Own)(lambda x, y=2: ("own", y))
    assert op(1) == 3 and op(Own()) == ("own", 2) and op([Own()], 5) == ("own", 5)
    with pytest.raises(TypeError):
        op(1, "a")
    with pytest.raises(AssertionError, match="Dispatching not enabled for"):
        dispatch.dispatch_for_types(len, Own)(len)


@pytest.mark.parametrize(("module", "name"), [
    ("preprocessing.image", "ImageDataGenerator"), ("preprocessing.sequence", "pad_sequences"),
    ("preprocessing.text", "Tokenizer"), ("constraints", "max_norm"), ("datasets", "mnist")])
def test_modules_of_python_keras_have_what_those_of_keras_have(module: str, name: str) -> None:
    found = getattr(alias.module_named(f"tensorflow.python.keras.{module}"), name)
    assert found is getattr(functools.reduce(getattr, module.split("."), tf.keras), name)
