"""TensorFlow's names in the debugger's sentences, and what PyTorch calls these."""

WORDS = tuple(sorted({
    "tf.stop_gradient lets no gradient through": ".detach() lets no gradient through",
    "stop_gradient lets no gradient through": "detach, no_grad and .data let no gradient through",
    "remove the tf.stop_gradient": "remove the .detach() or no_grad()",
    "z + tf.stop_gradient(chosen - z)": "z + (chosen - z).detach()", "tf.stop_gradient": ".detach()",
    "that tf.where does not take": "that torch.where does not take", "tf.where": "torch.where",
    "tf.maximum(x, ": "torch.clamp(x, min=", "tf.maximum": "torch.maximum", "tf.minimum(x, ": "torch.clamp(x, max=",
    "tf.minimum": "torch.minimum", "tf.sqrt": "torch.sqrt", "tf.acosh": "torch.acosh", "tf.atan2": "torch.atan2",
    "tf.div_no_nan, or add a small constant": "add a small constant",
    "or divide with tf.div_no_nan": "or divide by a count of at least 1", "tf.log1p": "torch.log1p",
    "tf.log(": "torch.log(", "tf.log_sigmoid": "F.logsigmoid", "tf.nn.log_softmax": "F.log_softmax",
    "tf.ones_like": "torch.ones_like", "tf.nn.leaky_relu": "F.leaky_relu", "tf.nn.relu": "F.relu",
    "tf.nn.softplus": "F.softplus", "tf.nn.softmax_cross_entropy_with_logits_v2": "F.cross_entropy",
    "tf.nn.softmax_cross_entropy_with_logits": "F.cross_entropy", "tf.nn.softmax": "torch.softmax",
    "tf.nn.sigmoid_cross_entropy_with_logits": "F.binary_cross_entropy_with_logits", "tf.sigmoid": "torch.sigmoid",
    "tf.clip_by_global_norm": "torch.nn.utils.clip_grad_norm_", "tf.clip_by_value": "torch.clamp",
    "tf.reduce_logsumexp": "torch.logsumexp", "tf.reduce_sum": "torch.sum", "tf.reduce_mean": "torch.mean",
    "use tf.math.xlogy(x, y), which is 0 where x is 0, as is its gradient":
        "bound what the logarithm is of: x * torch.log(torch.clamp(y, min=1e-12))",
    "tf.math.xlogy": "torch.xlogy", "tf.div_no_nan(x, y), or x / (y + 1e-12)": "x / (y + 1e-12)",
    "tf.glorot_uniform_initializer": "nn.init.xavier_uniform_", "tf.orthogonal_initializer": "nn.init.orthogonal_",
    "tf.squeeze(prediction, 1)": "prediction.squeeze(1)", "tf.expand_dims(target, 1)": "target.unsqueeze(1)",
    "tf.pow": "torch.pow", "tf.tanh": "torch.tanh", "tf.exp(": "torch.exp(", "tf.rsqrt": "torch.rsqrt",
    "tf.linalg.slogdet": "torch.linalg.slogdet", "tf.one_hot": "F.one_hot", "tf.eye": "torch.eye",
    "tf.div_no_nan(x, y)": "x / torch.where(y == 0, torch.ones_like(y), y)", "tf.nn.moments(x, axes)": "x.var(axes)",
    "tf.div_no_nan of the sum and the count": "x.sum() / max(x.numel(), 1)", "tf.square": "torch.square",
    "tf.diag(tf.range(n, dtype=x.dtype))": "torch.diag(torch.arange(n, dtype=x.dtype))", "tf.acos": "torch.acos",
    "tf.check_numerics": "torch.isfinite", "make it with trainable=True, or name it in var_list":
        "let it require a gradient: requires_grad_(True)",
    "leave this variable out of the training": "do not give this parameter to the optimizer",
}.items(), key=lambda pair: -len(pair[0])))
