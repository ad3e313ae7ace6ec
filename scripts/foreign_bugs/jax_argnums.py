"""Silent; line 12|15; argnums|argument|never|updat|not the|shape."""
import jax
import jax.numpy as jnp


def loss(x, w):
    return jnp.mean((jnp.tanh(x @ w) - 0.5) ** 2)


x = jax.random.normal(jax.random.PRNGKey(0), (4, 4))
w = jax.random.normal(jax.random.PRNGKey(1), (4, 4))
dloss = jax.jit(jax.value_and_grad(loss))
for _ in range(15):
    v, g = dloss(x, w)
    w = w - 0.5 * g
