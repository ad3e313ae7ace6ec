"""JAX's primitives, made of our ops: values and gradients are JAX's, in float32 and float64, as they were stored."""

from pathlib import Path

import pytest

from autodiff.foreign.jax.primitives.whole import JAX

from .jax_rows import judge, loaded, stored

ROWS = stored(Path(__file__).parent / "jax_rows.json.gz")
# primitives that no function of jax.numpy, jax.nn and jax.lax in the rows leads to, or that need more than arrays
NOT_STORED = {
    "approx_top_k", "broadcast_to", "call", "checkpoint", "closed_call", "composite", "copy_p", "core_call",
    "custom_vjp_call_jaxpr", "custom_vmap_call", "device_put", "empty", "empty2", "layout_constraint", "name",
    "optimization_barrier", "pjit", "pvary", "random_clone", "reshard", "sharding_constraint",
    "stage", "threefry2x32", "iota_2x32_shape", "eq_to", "igamma_grad_a",
}


@pytest.mark.parametrize("name", ROWS)
def test_values_and_gradients_are_jax_s(name):
    assert judge(ROWS[name]) is None


def test_every_primitive_of_the_table_has_a_row():
    used = {use.op for row in ROWS.values() for use in loaded(row["program"]).uses()}
    assert sorted(set(JAX.ops) - used - NOT_STORED) == []
