"""Wrong; line 16; jvp|tangent|custom; w."""
import jax
import jax.numpy as jnp


@jax.custom_jvp
def mish(x):
    return x * jnp.tanh(jax.nn.softplus(x))


@mish.defjvp
def mish_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    s = jax.nn.softplus(x)
    th = jnp.tanh(s)
    return mish(x), t * (th + x * (1 - th ** 2))


def loss(w, x, y):
    return jnp.mean((mish(x @ w).sum(1) - y) ** 2)


w = 0.4 * jax.random.normal(jax.random.PRNGKey(0), (5, 3))
x = jax.random.normal(jax.random.PRNGKey(1), (25, 5))
y = x[:, 0]
for _ in range(11):
    w = w - 0.05 * jax.grad(loss)(w, x, y)
