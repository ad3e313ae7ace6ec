"""tf.contrib.opt: minimizers outside of the graph, and averages that are saved; the numbers are TensorFlow 1.15.5's."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff as tf

pytestmark = pytest.mark.usefixtures("own_graph")
opt = tf.contrib.opt


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Session() as made:
        yield made


def started(session: Any) -> Any:
    session.run(tf.global_variables_initializer())
    return session


def rosenbrock_like() -> Any:
    v, b = tf.Variable([7.0, 8.0], name="vector"), tf.Variable(3.0, name="b")
    return v, b, tf.reduce_sum(tf.square(v - [1.0, 2.0])) + tf.square(b * v[0] - 2.0)


def test_scipy_minimizes_with_variables_fed(session: Any, caplog: Any) -> None:
    v, b, loss = rosenbrock_like()
    tf.Variable([1.0], name="unused")
    before = len(tf.get_default_graph().get_operations())
    optimizer = opt.ScipyOptimizerInterface(loss, options={"maxiter": 100})
    made = [op.name for op in tf.get_default_graph().get_operations()[before:] if "gradients" not in op.name]
    assert made[:6] == ["Placeholder", "Placeholder_1", "Placeholder_2", "Reshape/shape", "Reshape", "Assign"]
    assert made[12:15] == ["zeros_like", "Reshape_3/shape", "Reshape_3"] and made[-1] == "concat_1"
    seen: list[Any] = []
    steps: list[Any] = []
    tf.logging.set_verbosity(tf.logging.INFO)
    optimizer.minimize(started(session), fetches=[loss, b], step_callback=lambda x: steps.append(x.copy()),
                       loss_callback=lambda *values: seen.append(values))
    tf.logging.set_verbosity(tf.logging.WARN)
    found = session.run([v, b])
    np.testing.assert_allclose([*found[0], found[1]], [1, 2, 2], 1e-6)
    np.testing.assert_allclose(seen[:3], [(433.0, 3.0), (205.38155, 2.0970123), (70.40839, 0.82309103)], 1e-5)
    assert (len(seen), len(steps)) == (28, 21)
    np.testing.assert_allclose(steps[0], [6.572269, 7.95926371, 2.09701232, 1.0], 1e-5)
    assert caplog.messages[0].startswith("Optimization terminated with:\n  Message: CONVERGENCE")
    assert caplog.messages[0].endswith("\n  Number of iterations: 21\n  Number of functions evaluations: 28")


def test_bounds_broadcast_and_constraints_hold(session: Any) -> None:
    v = tf.Variable([[7.0, 7.0], [-3.0, 2.0]], dtype=tf.float64)
    w = tf.Variable([1.0, 2.0], dtype=tf.float64)
    loss = tf.reduce_sum(tf.square(v)) + tf.reduce_sum(tf.square(w + v[0]))
    bounded = opt.ScipyOptimizerInterface(
        loss, var_to_bounds={v: ([1, -np.inf], [[np.inf, 5], [4, 4]])}, method="L-BFGS-B")
    inf = np.inf
    assert bounded._packed_bounds == [(1, inf), (-inf, 5), (1, 4), (-inf, 4), (-inf, inf), (-inf, inf)]
    bounded.minimize(started(session))
    np.testing.assert_allclose(session.run(v), [[1, 0], [1, 0]], atol=2e-6)
    u, target = tf.Variable([7.0, 7.0]), tf.placeholder(tf.float32)
    constrained = opt.ScipyOptimizerInterface(
        tf.reduce_sum(tf.square(u - target)), [u], [u[1] - 1.0], [u[0] - 1.0], method="SLSQP")
    constrained.minimize(started(session), feed_dict={target: 0.0})
    np.testing.assert_allclose(session.run(u), [1, 1], 1e-6)


def test_a_resource_is_not_seen_where_it_is_fed(session: Any) -> None:
    """As in TensorFlow: a feed reaches the variable's own read, and a loss reads for itself."""
    v = tf.get_variable("v", initializer=[3.0, 4.0], use_resource=True)
    opt.ScipyOptimizerInterface(tf.reduce_sum(tf.square(v - [1.0, 2.0]))).minimize(started(session))
    assert session.run(v).tolist() == [3, 4]


def test_a_minimizer_of_ones_own(session: Any) -> None:
    class Descent(opt.ExternalOptimizerInterface):
        def _minimize(self, initial_val: Any, loss_grad_func: Any, equality_funcs: Any, equality_grad_funcs: Any,
                      inequality_funcs: Any, inequality_grad_funcs: Any, packed_bounds: Any, step_callback: Any,
                      optimizer_kwargs: Any) -> Any:
            for _ in range(optimizer_kwargs["n"]):
                initial_val = initial_val - 0.1 * loss_grad_func(initial_val)[1]
            step_callback([f(initial_val) for f in equality_funcs + equality_grad_funcs])
            return initial_val

    v = tf.Variable([3.0, 4.0])
    seen: list[Any] = []
    Descent(tf.reduce_sum(v * v), equalities=[v[0]], n=2).minimize(started(session), step_callback=seen.append)
    np.testing.assert_allclose(session.run(v), [1.92, 2.56], 1e-6)
    assert seen[0][0] == [np.float32(1.9200001)] and seen[0][1][0].tolist() == [1, 0]


def test_what_external_minimizers_refuse(session: Any, monkeypatch: Any) -> None:
    loss = rosenbrock_like()[2]
    for options, text in (({"bounds": [(0, 1)]}, "Bounds must be set using the var_to_bounds argument"),
                          ({"jac": False}, "Optimizer keyword arg 'jac' is set automatically")):
        with pytest.raises(ValueError, match=text):
            opt.ScipyOptimizerInterface(loss, **options).minimize(started(session))
    with pytest.raises(NotImplementedError, match="subclass from it and implement the _minimize"):
        opt.ExternalOptimizerInterface(loss).minimize(session)
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setattr("autodiff.api.contrib.opt.external.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="No module named 'scipy'(.|\n)*pip install scipy"):
        opt.ScipyOptimizerInterface(loss).minimize(session)


def test_averages_are_saved_under_the_names_of_variables(session: Any, tmp_path: Path) -> None:
    v, u = tf.Variable([7.0, 8.0], name="v"), tf.Variable(2.0, name="u")
    b = tf.get_variable("b", [3], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2))
    optimizer = opt.MovingAverageOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), average_decay=0.5)
    with pytest.raises(RuntimeError, match="Must call apply_gradients or minimize before"):
        optimizer.swapping_saver()
    step = optimizer.minimize(tf.reduce_sum(v * v) + tf.reduce_sum(tf.convert_to_tensor(b)))
    assert step.name == "train_with_avg"
    with pytest.raises(ValueError, match="Variable to swap v/ExponentialMovingAverage is not part of variables to"):
        optimizer.swapping_saver([v])
    saver = optimizer.swapping_saver()
    started(session)
    for _ in range(3):
        session.run(step)
    kept = tf.train.load_checkpoint(saver.save(session, str(tmp_path / "model")))
    for name, value in {"v": [2.597, 2.968], "v/ExponentialMovingAverage": [0.434, 0.496], "v/Momentum": [27.86, 31.84],
                        "b": [0.6345] * 3, "b/ExponentialMovingAverage": [0.439] * 3, "b/Momentum": [2.71] * 3,
                        "u": 2.0}.items():
        np.testing.assert_allclose(kept.get_tensor(name), value, 1e-5)
    saver.restore(started(session), saver.last_checkpoints[-1])
    np.testing.assert_allclose(session.run(v), [0.434, 0.496], 1e-5)
    assert session.run(u) == 2.0
