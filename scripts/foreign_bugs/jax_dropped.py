"""Silent; line 24|25; never|updat|chang|moves."""
import jax
import jax.numpy as jnp


def init(key):
    k1, k2 = jax.random.split(key)
    return {"w": jax.random.normal(k1, (3, 5)), "v": jax.random.normal(k2, (5,))}


def loss(params, x, y):
    return jnp.mean((jax.nn.relu(x @ params["w"]) @ params["v"] - y) ** 2)


def sgd(params, grads, lr=0.05):
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


params = init(jax.random.PRNGKey(0))
x = jax.random.normal(jax.random.PRNGKey(1), (32, 3))
y = x[:, 0] - x[:, 1]
grad = jax.jit(jax.grad(loss))
for _ in range(12):
    grads = grad(params, x, y)
    sgd(params, grads)
