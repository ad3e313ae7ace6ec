"""Nan; line 7; pow."""
import jax
import jax.numpy as jnp


def hill(x, k, n):
    return x ** n / (k ** n + x ** n)


def loss(params, dose, response):
    effective = dose - params["shift"]
    return jnp.mean((hill(effective, params["k"], params["n"]) - response) ** 2)


dose = jnp.linspace(0.05, 3.0, 20)
response = dose ** 2 / (1 + dose ** 2)
params = {"shift": jnp.array(0.2), "k": jnp.array(0.8), "n": jnp.array(1.5)}
opt_step = jax.jit(lambda p: jax.tree.map(lambda a, b: a - 0.1 * b, p, jax.grad(loss)(p, dose, response)))
for _ in range(11):
    params = opt_step(params)
