"""TensorFlow's names in the debugger's sentences, and what PyTorch calls these."""

WORDS = tuple(sorted({
    "share one variable between the calls: tf.variable_scope(name, reuse=tf.AUTO_REUSE)":
        "make the layer once, and call it each time",
    "tf.stop_gradient lets no gradient through": ".detach() lets no gradient through",
    "stop_gradient lets no gradient through": "detach, no_grad and .data let no gradient through",
    "remove the tf.stop_gradient": "remove the .detach() or no_grad()",
    **{f"x + tf.stop_gradient(tf.{name}(x) - x)": f"x + (torch.{name}(x) - x).detach()"
       for name in ("round", "floor", "ceil", "rint", "sign")},
    "z + tf.stop_gradient(chosen - z)": "z + (chosen - z).detach()", "tf.stop_gradient": ".detach()",
    "(x, tf.stop_gradient(z)) for that of (tf.stop_gradient(x), z)": "(x, z.detach()) for that of (x.detach(), z)",
    **{f"tf.{name}imum({x}, ": f"torch.clamp({x}, {end}=" for name, end in (("max", "min"), ("min", "max"))
       for x in "xy"},
    "tf.div_no_nan, or add a small constant": "add a small constant", "tf.log_sigmoid": "F.logsigmoid",
    **{f"tf.nn.{theirs}_cross_entropy_with_logits(labels=": f"F.{ours}(reduction='none', target="
       for theirs, ours in {"softmax": "cross_entropy", "sigmoid": "binary_cross_entropy_with_logits"}.items()},
    ", logits=": ", input=", "tf.nn.softmax_cross_entropy_with_logits_v2": "F.cross_entropy",
    "tf.nn.softmax_cross_entropy_with_logits": "F.cross_entropy", "tf.nn.softmax": "torch.softmax",
    "tf.nn.softmax(x)": "torch.softmax(x, -1)", "tf.nn.log_softmax(x)": "F.log_softmax(x, -1)",
    "tf.nn.sigmoid_cross_entropy_with_logits": "F.binary_cross_entropy_with_logits",
    "tf.clip_by_global_norm": "torch.nn.utils.clip_grad_norm_", "tf.clip_by_value": "torch.clamp",
    "tf.reduce_logsumexp": "torch.logsumexp", "tf.reduce_sum": "torch.sum", "tf.reduce_mean": "torch.mean",
    "tf.math.xlogy": "torch.xlogy", "tf.div_no_nan(x, y), or x / (y + 1e-12)": "x / (y + 1e-12)",
    "tf.glorot_uniform_initializer": "nn.init.xavier_uniform_", "tf.orthogonal_initializer": "nn.init.orthogonal_",
    "tf.squeeze(prediction, 1)": "prediction.squeeze(1)", "tf.expand_dims(target, 1)": "target.unsqueeze(1)",
    "tf.one_hot": "F.one_hot", "tf.div_no_nan(x, y)": "x / torch.where(y == 0, torch.ones_like(y), y)",
    "tf.nn.moments(x, axes)": "x.var(axes)", "tf.div_no_nan of the sum and the count": "x.sum() / max(x.numel(), 1)",
    "tf.check_numerics": "torch.isfinite", "tf.nn.tanh or tf.nn.softplus": "torch.tanh or F.softplus",
    "tf.gradients(g[:, i], x)": "torch.autograd.grad(g[:, i].sum(), x, create_graph=True)",
    "make it with trainable=True, or name it in var_list": "let it require a gradient: requires_grad_(True)",
    "leave this variable out of the training": "do not give this parameter to the optimizer",
    ", or tf.truncated_normal(shape, stddev=0.1)": "",
    "activation=tf.nn.relu in tf.layers": "nn.ReLU() in nn.Sequential",
    "tf.nn.relu or tf.nn.tanh": "nn.ReLU or nn.Tanh", **{f"axis={axis}": f"dim={axis}" for axis in (-1, 0, 1)},
    "use_bias=False": "bias=False",
    "keep_prob is the share that is kept, rate the share that is dropped": "p is the share that is dropped",
    "tf.round(torch.sigmoid(logits))": "torch.sigmoid(logits).round()", "tf.squeeze(x, 1)": "x.squeeze(1)",
    "tf.reshape(x, [-1])": "x.reshape(-1)", "tf.cast(correct, tf.float32)": "correct.float()",
    ", or tf.layers.flatten(x)": ", or x.flatten(1)", "tf.transpose": "torch.permute",
    "loss + tf.losses.get_regularization_loss()": "loss + penalty",
    "tf.nn.weighted_cross_entropy_with_logits(": "nn.BCEWithLogitsLoss(",
    "tf.nn.sparse_softmax_cross_entropy_with_logits": "F.cross_entropy", "tf.nn.l2_normalize": "F.normalize",
    "run total.assign(tf.zeros_like(total)) after each update": "set total to 0 after each update",
    "tf.cast(x, tf.float32)": "x.float()", "tf.range": "torch.arange",
    "tf.reduce_max(x{1}, keepdims": "torch.amax(x{1}, keepdim", "tf.reduce_max(x, axis)": "x.amax(dim)",
    "tf.reduce_max(x, axis, keepdims=True)": "x.amax(dim, keepdim=True)", "tf.is_finite": "torch.isfinite",
    "tf.nn.top_k": "torch.topk", "tf.nn.sigmoid": "torch.sigmoid", "tf.custom_gradient": "torch.autograd.Function",
    "tf.Variable": "nn.Parameter", "tf.where(tf.is_inf(loss), 0.0, loss)": "zero_infinity=True",
    "weigh it: mask = tf.sequence_mask(lengths, dtype=tf.float32), then tf.reduce_sum(mask * loss) / "
    "tf.reduce_sum(mask)": "leave it out: ignore_index= of what the labels are there, in F.cross_entropy",
    "tf.nn.": "F.", "tf.": "torch.",  # the names that are the same there
}.items(), key=lambda pair: -len(pair[0])))
