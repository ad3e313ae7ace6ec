"""Silent; line 16; sign|ris|up|grow|maxim."""
import jax.numpy as jnp
from jax import random, value_and_grad


def loss(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


k = random.PRNGKey(0)
x = random.normal(k, (32, 5))
y = x @ jnp.arange(5.0)
w = jnp.zeros(5)
for _ in range(12):
    v, g = value_and_grad(loss)(w, x, y)
    w = w + 0.01 * g
