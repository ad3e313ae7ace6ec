"""Silent; line 14; softmax."""
import jax
import jax.numpy as jnp
from jax import random, value_and_grad


def net(p, x):
    h = jax.nn.relu(x @ p["a"])
    return jax.nn.softmax(h @ p["b"])


def loss(p, x, y):
    out = net(p, x)
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(out) * y, -1))


k = random.PRNGKey(0)
p = {"a": random.normal(k, (5, 16)), "b": random.normal(k, (16, 3))}
x = random.normal(k, (32, 5))
y = jax.nn.one_hot(jnp.argmax(x[:, :3], 1), 3)
for _ in range(12):
    v, g = value_and_grad(loss)(p, x, y)
    p = jax.tree.map(lambda a, b: a - 0.1 * b, p, g)
