"""Zero; line 9; round; w1."""
import jax
import jax.numpy as jnp
from jax import random, value_and_grad


def model(params, x):
    h = jnp.tanh(x @ params["w1"])
    h = jnp.round(h * 8) / 8
    return h @ params["w2"]


def loss(params, x, y):
    return jnp.mean((model(params, x) - y) ** 2)


k = random.PRNGKey(0)
params = {"w1": random.normal(k, (3, 8)), "w2": random.normal(k, (8, 1))}
x = random.normal(k, (20, 3))
y = x[:, :1]
for _ in range(3):
    v, g = value_and_grad(loss)(params, x, y)
    params = jax.tree.map(lambda p, q: p - 0.1 * q, params, g)
