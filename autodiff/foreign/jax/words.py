"""TensorFlow's names in the debugger's sentences, and what JAX calls these."""

WORDS = tuple(sorted({
    "tf.stop_gradient": "jax.lax.stop_gradient", "that tf.where does not take": "that jnp.where does not take",
    "tf.where": "jnp.where", "tf.maximum": "jnp.maximum", "tf.minimum": "jnp.minimum", "tf.sqrt": "jnp.sqrt",
    "tf.rsqrt": "jax.lax.rsqrt", "tf.log(": "jnp.log(", "tf.log1p": "jnp.log1p", "tf.exp(": "jnp.exp(",
    "tf.pow": "jnp.power", "tf.tanh": "jnp.tanh", "tf.sign": "jnp.sign", "tf.round": "jnp.round",
    "tf.ones_like": "jnp.ones_like", "tf.eye": "jnp.eye", "tf.one_hot": "jax.nn.one_hot",
    "tf.nn.leaky_relu": "jax.nn.leaky_relu", "tf.nn.relu": "jax.nn.relu", "tf.nn.softplus": "jax.nn.softplus",
    "tf.sigmoid": "jax.nn.sigmoid", "tf.log_sigmoid": "jax.nn.log_sigmoid", "tf.nn.softmax": "jax.nn.softmax",
    "tf.nn.log_softmax": "jax.nn.log_softmax", "tf.reduce_logsumexp": "jax.nn.logsumexp",
    "give the logits to tf.nn.softmax_cross_entropy_with_logits_v2, or take the logarithm of a softmax from "
    "tf.nn.log_softmax": "take the logarithm of a softmax from jax.nn.log_softmax",
    "tf.nn.softmax_cross_entropy_with_logits_v2": "jax.nn.log_softmax",
    "tf.nn.softmax_cross_entropy_with_logits": "jax.nn.log_softmax",
    "tf.nn.sigmoid_cross_entropy_with_logits": "jax.nn.log_sigmoid of the logits and of their negatives",
    "tf.clip_by_global_norm": "optax.clip_by_global_norm", "tf.clip_by_value": "jnp.clip",
    "tf.reduce_sum": "jnp.sum", "tf.reduce_mean": "jnp.mean", "tf.math.xlogy": "jax.scipy.special.xlogy",
    "tf.div_no_nan(x, y), or x / (y + 1e-12)": "x / (y + 1e-12)",
    "tf.div_no_nan, or add a small constant": "add a small constant, or divide by jnp.where(y == 0, 1, y)",
    "normalize by tf.nn.l2_normalize(x, axis), which bounds it from below, or add 1e-12 under the root":
        "add 1e-12 under its root, before you divide by it",
    "tf.glorot_uniform_initializer": "jax.nn.initializers.glorot_uniform",
    "tf.orthogonal_initializer": "jax.nn.initializers.orthogonal", "tf.linalg.slogdet": "jnp.linalg.slogdet",
    "tf.squeeze(prediction, 1)": "prediction.squeeze(1)", "tf.expand_dims(target, 1)": "target[:, None]",
    "tf.div_no_nan(x, y)": "x / jnp.where(y == 0, 1, y)", "tf.acos": "jnp.arccos", "tf.square": "jnp.square",
    "tf.div_no_nan of the sum and the count": "x.sum() / max(x.size, 1)",
    "tf.diag(tf.range(n, dtype=x.dtype))": "jnp.diag(jnp.arange(n, dtype=x.dtype))",
    "tf.check_numerics": "jnp.isfinite", "tf.acosh": "jnp.arccosh",
    "or divide with tf.div_no_nan": "or divide by a count of at least 1",
    "tf.atan2": "jnp.arctan2", "tf.nn.moments": "jnp.mean and jnp.var",
    "tf.custom_gradient": "jax.custom_vjp", "leave this variable out of the training":
        "leave this parameter out of what is differentiated",
    "let the registered gradient function return a tensor for this input":
        "let the backward function return a gradient for this argument",
}.items(), key=lambda pair: -len(pair[0])))
