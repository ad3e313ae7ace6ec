"""TensorFlow's names in the debugger's sentences, and what JAX calls these."""

WORDS = tuple(sorted({
    "share one variable between the calls: tf.variable_scope(name, reuse=tf.AUTO_REUSE)":
        "give both calls the same parameters",
    "tf.stop_gradient": "jax.lax.stop_gradient", "tf.rsqrt": "jax.lax.rsqrt", "tf.pow": "jnp.power",
    "tf.one_hot": "jax.nn.one_hot", "tf.sigmoid": "jax.nn.sigmoid", "tf.log_sigmoid": "jax.nn.log_sigmoid",
    "tf.reduce_logsumexp": "jax.nn.logsumexp", "tf.nn.softmax_cross_entropy_with_logits_v2":
    "optax.softmax_cross_entropy", "tf.nn.softmax_cross_entropy_with_logits": "optax.softmax_cross_entropy",
    "tf.nn.sigmoid_cross_entropy_with_logits": "optax.sigmoid_binary_cross_entropy",
    "tf.clip_by_global_norm": "optax.clip_by_global_norm", "tf.clip_by_value": "jnp.clip", "tf.reduce_sum": "jnp.sum",
    "tf.reduce_mean": "jnp.mean", "tf.math.xlogy": "jax.scipy.special.xlogy",
    "tf.div_no_nan(x, y), or x / (y + 1e-12)": "x / (y + 1e-12)",
    "tf.div_no_nan, or add a small constant": "add a small constant, or divide by jnp.where(y == 0, 1, y)",
    "tf.glorot_uniform_initializer": "jax.nn.initializers.glorot_uniform",
    "tf.orthogonal_initializer": "jax.nn.initializers.orthogonal", "tf.squeeze(prediction, 1)": "prediction.squeeze(1)",
    "tf.expand_dims(target, 1)": "target[:, None]", "tf.div_no_nan(x, y)": "x / jnp.where(y == 0, 1, y)",
    "tf.acos": "jnp.arccos", "tf.div_no_nan of the sum and the count": "x.sum() / max(x.size, 1)",
    "tf.check_numerics": "jnp.isfinite", "tf.cholesky": "jnp.linalg.cholesky",
    "tf.atan2": "jnp.arctan2",
    "tf.nn.moments": "jnp.mean and jnp.var", "tf.custom_gradient": "jax.custom_vjp",
    "leave this variable out of the training": "leave this parameter out of what is differentiated",
    "let the registered gradient function return a tensor for this input":
        "let the backward function return a gradient for this argument",
    ", or tf.truncated_normal(shape, stddev=0.1)": "",
    "activation=tf.nn.relu in tf.layers": "jax.nn.relu after a layer", "tf.squeeze(x, 1)": "x.squeeze(1)",
    "tf.cast(correct, tf.float32)": "correct.astype(jnp.float32)", ", or tf.layers.flatten(x)": "",
    "loss + tf.losses.get_regularization_loss()": "loss + penalty",
    "tf.nn.sparse_softmax_cross_entropy_with_logits": "optax.softmax_cross_entropy_with_integer_labels",
    "run total.assign(tf.zeros_like(total)) after each update": "set total to 0 after each update",
    "tf.cast(x, tf.float32)": "x.astype(jnp.float32)", "tf.range": "jnp.arange", "tf.reduce_max": "jnp.max",
    "tf.is_finite": "jnp.isfinite", "tf.nn.top_k": "jax.lax.top_k", "tf.Variable": "parameter",
    "tf.nn.tanh": "jnp.tanh", "tf.nn.": "jax.nn.", "tf.": "jnp.",  # the names that are the same there
}.items(), key=lambda pair: -len(pair[0])))
