"""Nan; line 9; div|/|0."""
import jax
import jax.numpy as jnp
from jax import random


def attention(q, k, mask):
    e = jnp.exp(q @ k.T) * mask
    return e / e.sum(-1, keepdims=True)


def loss(w, x, mask):
    return jnp.sum(attention(x @ w, x, mask) ** 2)


w = jnp.eye(4)
x = random.normal(random.PRNGKey(0), (6, 4))
mask = jnp.ones((6, 6)).at[2].set(0)


@jax.jit
def update(w):
    v, g = jax.value_and_grad(loss)(w, x, mask)
    return w - 0.01 * g, v


for _ in range(3):
    w, v = update(w)
