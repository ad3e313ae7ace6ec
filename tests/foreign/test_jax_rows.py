"""JAX's primitives, made of our ops: values and gradients are JAX's, in float32 and float64, as they were stored."""

from pathlib import Path

import pytest

import autodiff as tf
from autodiff.foreign.jax.primitives.whole import JAX

from .jax_rows import judge, loaded, stored

ROWS = stored(Path(__file__).parent / "jax_rows.json.gz")
# primitives that no function of jax.numpy, jax.nn and jax.lax in the rows leads to, or that need more than arrays
NOT_STORED = {
    "approx_top_k", "broadcast_to", "call", "checkpoint", "closed_call", "composite", "copy_p", "core_call",
    "custom_vjp_call_jaxpr", "custom_vmap_call", "device_put", "empty", "empty2", "layout_constraint", "name",
    "optimization_barrier", "pjit", "pure_callback", "pvary", "random_clone", "reshard", "sharding_constraint",
    "stage", "threefry2x32", "iota_2x32_shape", "eq_to", "igamma_grad_a",
}


@pytest.mark.parametrize("name", ROWS)
def test_values_and_gradients_are_jax_s(name):
    assert judge(ROWS[name]) is None


def test_every_primitive_of_the_table_has_a_row():
    used = {use.op for row in ROWS.values() for use in loaded(row["program"]).uses()}
    assert sorted(set(JAX.ops) - used - NOT_STORED) == []


def test_a_call_of_pythons_is_made_in_each_run_and_lets_no_gradient_through():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2])
        y, = JAX.ops["pure_callback"].build(x, callback=lambda value: [value * 2], results=(((2,), "float32"),))
        with tf.Session() as session:
            assert session.run(y, {x: [1.0, 2.0]}).tolist() == [2.0, 4.0] and y.shape.as_list() == [2]
        assert tf.gradients(y, x) == [None]
