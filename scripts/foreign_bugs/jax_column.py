"""Silent; line 12; broadcast|shape."""
import jax
import jax.numpy as jnp


def predict(params, x):
    h = jnp.tanh(x @ params["w1"] + params["b1"])
    return h @ params["w2"]


def mse(params, x, y):
    err = predict(params, x) - y
    return (err ** 2).mean()


k = jax.random.split(jax.random.PRNGKey(0), 3)
params = {"w1": jax.random.normal(k[0], (2, 8)), "b1": jnp.zeros(8), "w2": jax.random.normal(k[1], (8, 1))}
x = jax.random.normal(k[2], (17, 2))
y = x[:, 0] * x[:, 1]
step = jax.jit(jax.value_and_grad(mse))
for _ in range(15):
    loss, g = step(params, x, y)
    params = jax.tree.map(lambda p, d: p - 0.1 * d, params, g)
