"""Zero; line 8; compar|>|step|astype|constant; threshold."""
import jax
import jax.numpy as jnp


def predict(params, x):
    score = x @ params["w"]
    gate = (score > params["threshold"]).astype(jnp.float32)
    return gate * score


def loss_fn(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


params = {"w": jnp.array([1.0, -0.5, 0.3]), "threshold": jnp.array(0.1)}
x = jax.random.normal(jax.random.PRNGKey(0), (30, 3))
y = jnp.maximum(x[:, 0], 0)
for _ in range(11):
    g = jax.grad(loss_fn)(params, x, y)
    params = {k: params[k] - 0.1 * g[k] for k in params}
