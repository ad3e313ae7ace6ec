"""tf.gradients, hessians and the Hessian-vector product: every argument, and numbers that others computed."""

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.graph import Graph


@pytest.fixture(autouse=True)
def graph():
    with Graph().as_default() as g:
        yield g


def run(*fetches, **feeds):
    with tf.Session() as session:
        found = session.run(list(fetches), {f"{k}:0": v for k, v in feeds.items()})
    return found[0] if len(found) == 1 else found


def test_one_entry_for_each_x_and_ys_are_summed():
    x = tf.constant([1.0, 2.0, 3.0])
    both = tf.gradients([x * 2.0, x * x], [x, x])
    assert isinstance(both, list)
    np.testing.assert_allclose(run(*both), [[4, 6, 8], [4, 6, 8]])


def test_an_x_listed_as_tuple_or_alone_is_the_same():
    x = tf.constant(3.0)
    np.testing.assert_allclose(run(*tf.gradients(x * x, x), *tf.gradients((x * x,), (x,))), [6, 6])


def test_unconnected_x_gives_none_or_zeros():
    x, u = tf.constant([1.0, 2.0]), tf.constant([[5.0]])
    assert tf.gradients(x * x, [u]) == [None]
    np.testing.assert_array_equal(run(*tf.gradients(x * x, u, unconnected_gradients="zero")), [[0.0]])
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: "):
        tf.gradients(x, x, unconnected_gradients="both")


def test_grad_ys_weigh_the_ys_and_are_checked():
    x = tf.constant([1.0, 2.0])
    np.testing.assert_allclose(run(*tf.gradients([x * x, x], x, grad_ys=[[10.0, 100.0], None])), [21, 401])
    with pytest.raises(ValueError, match="2 ys and 1 grad_ys"):
        tf.gradients([x, x], x, grad_ys=[None])
    with pytest.raises(ValueError, match=r"\[3\], expected \[2\]"):
        tf.gradients(x, x, grad_ys=tf.constant([1.0, 2.0, 3.0]))


def test_grad_ys_of_as_many_elements_or_that_repeat_take_the_shape_of_their_ys():
    x, s = tf.constant([1.0, 2.0]), tf.constant(3.0)
    found = run(*tf.gradients(s * s, s, grad_ys=[[1.0]]), *tf.gradients(x * x, x, grad_ys=[[[1.0, 10.0]]]),
                *tf.gradients(tf.tanh(x * 0.0), x, grad_ys=2.0), *tf.gradients(x * x, x, grad_ys=2.0))
    assert [value.tolist() for value in found] == [6.0, [2.0, 40.0], [0.0, 0.0], [4.0, 8.0]]


def test_stop_gradients_hold_a_tensor_constant():
    x = tf.constant(3.0)
    a = x * x
    y = a * x + a
    np.testing.assert_allclose(run(*tf.gradients(y, [x, a], stop_gradients=a)), [9.0, 4.0])
    assert tf.gradients(a, [x], stop_gradients=[a]) == [None]


def test_integers_are_constants():
    i = tf.constant([1, 2])
    assert tf.gradients(i * i, i * 1) == [None]


@pytest.mark.parametrize("method", [0, 1, 2, None])
def test_aggregation_methods_agree(method):
    x = tf.constant([1.0, 2.0])
    y = x * x + tf.exp(x) + tf.sin(x) + 3.0 * x
    expected = 2 * np.array([1, 2]) + np.exp([1, 2]) + np.cos([1, 2]) + 3
    np.testing.assert_allclose(run(*tf.gradients(y, x, aggregation_method=method)), expected, rtol=1e-6)


def test_an_unknown_aggregation_method_is_refused():
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="aggregation_method is 7"):
        tf.gradients(x, x, aggregation_method=7)


def test_names_lie_in_the_scope_of_their_forward_op():
    x = tf.constant(2.0, name="x")
    with tf.name_scope("net"):
        y = tf.square(x, name="sq")
    gradient = tf.gradients(y, x)[0]
    assert gradient.name.startswith("gradients/net/sq_grad/")
    assert tf.gradients(y, x)[0].name.startswith("gradients_1/net/sq_grad/")
    assert tf.gradients(y, x, name="mine")[0].name.startswith("mine/net/sq_grad/")


def test_aggregates_lie_in_the_gradient_scope_itself():
    x = tf.constant(2.0, name="x")
    assert tf.gradients(tf.square(x) + tf.exp(x), x)[0].name == "gradients/AddN:0"


def test_one_term_is_passed_on_as_the_same_object():
    x = tf.constant(2.0)
    y = tf.identity(x)
    gx, gy = tf.gradients(tf.square(y), [x, y])
    assert gx is gy


def test_gradient_ops_know_their_forward_op_and_the_users_line():
    x = tf.constant(2.0)
    y = tf.tanh(x)
    gradient = tf.gradients(y, x)[0]
    assert gradient.op.forward_op is y.op
    assert gradient.op.gradient_of is y
    assert gradient.op.forward_op.site.file == __file__
    assert gradient.op.forward_op.site.text == "y = tf.tanh(x)"


def test_second_order_ops_go_back_to_the_users_op():
    x = tf.constant(2.0)
    y = tf.tanh(x)
    second = tf.gradients(tf.gradients(y, x), x)[0]
    assert second.op.forward_op in (y.op, x.op)


def test_gated_gradients_wait_for_each_other():
    x, w = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    dx, dw = tf.gradients(tf.multiply(x, w, name="y"), [x, w], gate_gradients=True)
    assert "tuple/control_dependency" in dx.name and "tuple/control_dependency" in dw.name
    np.testing.assert_allclose(run(dx, dw), [[3, 4], [1, 2]])


def test_a_diamond_chain_of_a_million_paths_is_linear():
    x = y = tf.constant(1.0, tf.float64)
    for _ in range(20):
        y = y + y
    started = len(tf.get_default_graph().get_operations())
    gradient = tf.gradients(y, x)[0]
    assert len(tf.get_default_graph().get_operations()) - started < 200
    assert run(gradient) == 2.0 ** 20


def test_a_chain_deeper_than_the_recursion_limit():
    x = y = tf.constant(0.5, tf.float64)
    for _ in range(3000):
        y = tf.sin(y)
    value, gradient = run(y, *tf.gradients(y, x))
    step = 1e-4
    def iterate(v):
        for _ in range(3000):
            v = np.sin(v)
        return v
    assert gradient == pytest.approx((iterate(0.5 + step) - iterate(0.5 - step)) / (2 * step), rel=1e-6)


def test_a_missing_rule_is_a_lookup_error_that_names_op_and_line(graph):
    x = tf.constant(3.0)
    with graph.gradient_override_map({"Square": "NeverRegistered"}):
        y = tf.square(x)
    with pytest.raises(LookupError, match=r"(?s)'NeverRegistered'.*test_gradients\.py.*RegisterGradient"):
        tf.gradients(y, x)


def test_a_finalized_graph_refuses(graph):
    x = tf.constant(1.0)
    graph.finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        tf.gradients(x, x)


def test_complex_y_needs_grad_ys():
    x = tf.constant(1 + 2j)
    with pytest.raises(TypeError, match="grad_ys"):
        tf.gradients(x * x, x)


def test_feeding_an_intermediate_changes_what_flows_through_it():
    x = tf.placeholder(tf.float32, [], name="x")
    h = tf.exp(x, name="h")
    gradient = tf.gradients(tf.sin(h), h)[0]
    assert run(gradient, h=0.5) == pytest.approx(np.cos(0.5))


@pytest.mark.parametrize("size", [3, None])
def test_hessian_of_a_quadratic_form(size):
    a = np.array([[2.0, 1.0, 0.5], [0.0, 3.0, -1.0], [4.0, 0.0, 1.0]])
    x = tf.placeholder(tf.float64, [size], name="x")
    y = 0.5 * tf.reduce_sum(x * tf.reshape(tf.matmul(tf.constant(a), tf.reshape(x, [-1, 1])), [-1]))
    np.testing.assert_allclose(run(*tf.hessians(y, x), x=[1.0, 2.0, 3.0]), 0.5 * (a + a.T))


def test_hessians_are_one_block_for_each_x():
    u, v = tf.constant([1.0, 2.0], tf.float64), tf.constant([[3.0]], tf.float64)
    y = tf.reduce_sum(u ** 3) * tf.reduce_sum(v)
    blocks = tf.hessians(y, [u, v])
    assert [b.shape.as_list() for b in blocks] == [[2, 2], [1, 1, 1, 1]]
    np.testing.assert_allclose(run(blocks[0]), np.diag([18.0, 36.0]))


def test_hessian_of_rosenbrock_is_the_published_one():
    x = tf.constant([-1.2, 1.0], tf.float64)
    y = 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2
    # Rosenbrock (1960): [[1200 a^2 - 400 b + 2, -400 a], [-400 a, 200]] at (-1.2, 1)
    np.testing.assert_allclose(run(*tf.hessians(y, x)), [[1330.0, 480.0], [480.0, 200.0]])


def test_hvp_is_the_hessian_times_v_for_several_xs():
    u, v = tf.constant([1.0, 2.0], tf.float64), tf.constant(3.0, tf.float64)
    y = tf.reduce_sum(tf.sin(u)) * v * v
    hu, hv = tf.hessian_vector_product(y, [u, v], [tf.constant([1.0, 0.0], tf.float64), tf.constant(2.0, tf.float64)])
    np.testing.assert_allclose(run(hu), [-np.sin(1) * 9 + np.cos(1) * 12, np.cos(2) * 12])
    np.testing.assert_allclose(run(hv), np.cos(1) * 6 + 2 * (np.sin(1) + np.sin(2)) * 2)
    with pytest.raises(ValueError, match="2 xs and 1 vectors"):
        tf.hessian_vector_product(y, [u, v], [u])


def test_building_ten_thousand_ops_and_their_gradients_takes_no_recursion():
    x = y = tf.constant([0.5], tf.float64)
    for _ in range(5000):
        y = y * 1.0001
    tf.gradients(y, x)
    assert len(tf.get_default_graph().get_operations()) > 10_000


def test_names_of_what_ys_receive(graph):
    x = tf.constant([2.0], name="x")
    tf.gradients([x * x, tf.exp(x)], x, grad_ys=[[3.0], None])
    names = [(op.name, op.type) for op in graph.get_operations() if op.name.startswith("gradients/")]
    assert names[:5] == [("gradients/grad_y_0", "Const"), ("gradients/grad_ys_0", "Identity"),
                         ("gradients/Shape", "Const"), ("gradients/grad_ys_1", "Const"), ("gradients/Fill", "Fill")]


def test_gradients_have_the_names_that_tensorflow_gives_them(graph):
    x, b = tf.constant([[1.0, 2.0]], name="x"), tf.constant([2.0, 1.0], name="b")
    for y, expected in ((x * x, "mul_grad/Mul"), (tf.square(x), "Square_grad/Mul_1"),
                        (tf.reduce_sum(x), "Sum_grad/Tile"),
                        (tf.transpose(x), "transpose_grad/transpose"), (tf.unstack(x), "unstack_grad/stack"),
                        (tf.split(x, 2, 1)[0], "split_grad/concat")):
        tf.gradients(y, x, name="g")
        assert any(op.name.endswith(expected) for op in graph.get_operations()), expected
    assert tf.gradients(x + b, b, name="plus")[0].name == "plus/add_grad/Reshape:0"
    assert tf.gradients(x * x, x, name="same")[0].name == "same/AddN:0"


def test_unconnected_zeros_of_a_resource_variable_are_those_of_its_value():
    x, v = tf.constant(3.0), tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    zeros, = tf.gradients(x * x, [v], unconnected_gradients="zero")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(zeros), [0.0, 0.0])


def test_gradients_stand_with_the_operations_that_they_are_for() -> None:
    x = tf.Variable([[1.0]])
    with tf.device("/job:ps"):
        y = tf.matmul(x, [[2.0]], name="product")
    grad = tf.gradients(y, x, colocate_gradients_with_ops=True)[0]
    assert grad.op.colocation_groups() == [b"loc:@product"] and grad.device == "/job:ps"
    with pytest.raises(LookupError, match="explicitly disabled"):
        tf.gradients(tf.raw_ops.PreventGradient(input=x, message="no"), x)
