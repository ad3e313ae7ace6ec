"""Nan; line 9; sqrt|norm."""
import jax
import jax.numpy as jnp
from jax import random


def cost(p, x):
    r = x @ p["w"]
    return jnp.sqrt(jnp.sum(r**2))


p = {"w": jnp.zeros((3, 2))}
x = random.normal(random.PRNGKey(1), (5, 3))
for _ in range(3):
    v, g = jax.value_and_grad(cost)(p, x)
    p = jax.tree.map(lambda a, b: a - 0.1 * b, p, g)
