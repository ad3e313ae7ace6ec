"""TensorFlow's names in the debugger's sentences, and the ops of ONNX that a node would be made of instead."""

WORDS = tuple(sorted({
    "; or keep the forward value and pass the gradient straight through: z + tf.stop_gradient(chosen - z)": "",
    "tf.div_no_nan(x, y)": "Div(x, Where(y == 0, 1, y))",
    "tf.div_no_nan(x, y), or x / (y + 1e-12)": "Div(x, Add(y, 1e-12))",
    "tf.div_no_nan, or add a small constant": "add a small constant, as one Add before the Div",
    "tf.div_no_nan of the sum and the count": "Div of the sum and a Max of the count and 1",
    "tf.nn.l2_normalize": "LpNormalization", "tf.math.xlogy(x, y)": "Mul(x, Log(Max(y, 1e-12)))",
    "tf.nn.sigmoid_cross_entropy_with_logits": "Softplus(z) - z * target", "tf.log_sigmoid(x)": "Neg(Softplus(Neg(x)))",
    "tf.nn.softmax_cross_entropy_with_logits_v2": "SoftmaxCrossEntropyLoss",
    "tf.nn.softmax_cross_entropy_with_logits": "SoftmaxCrossEntropyLoss",
    "tf.nn.sparse_softmax_cross_entropy_with_logits": "SoftmaxCrossEntropyLoss",
    "tf.nn.log_softmax": "LogSoftmax", "tf.nn.softmax": "Softmax", "tf.reduce_logsumexp": "ReduceLogSumExp",
    "tf.reduce_sum": "ReduceSum", "tf.reduce_mean": "ReduceMean", "tf.nn.softplus": "Softplus", "tf.nn.relu": "Relu",
    "tf.nn.leaky_relu": "LeakyRelu", "tf.nn.tanh": "Tanh", "tf.nn.moments": "ReduceMean and ReduceSumSquare",
    "tf.clip_by_value": "Clip", "tf.maximum": "Max", "tf.minimum": "Min", "tf.where": "Where", "tf.sqrt": "Sqrt",
    "tf.rsqrt": "Reciprocal of Sqrt", "tf.log(": "Log(", "tf.log1p": "Log of 1 +", "tf.exp(": "Exp(", "tf.pow": "Pow",
    "tf.square": "Mul(x, x) of x =", "tf.acos": "Acos", "tf.tanh": "Tanh", "tf.sigmoid": "Sigmoid",
    "tf.argmax": "ArgMax", "tf.eye(n)": "EyeLike(m)",
    "with tf.clip_by_global_norm": "by their norm", "by tf.clip_by_global_norm": "by their norm",
    **{f"keep the forward value{joint} pass the gradient{colon} x + tf.stop_gradient(tf.{op}(x) - x)":
       "have an Identity in its place while the model is trained" for joint in (",", " and") for colon in (":", ",")
       for op in ("round", "floor", "ceil", "sign")}, "tf.reduce_max": "ReduceMax", "tf.nn.": "", "tf.": "",
    "tf.one_hot": "OneHot", "tf.round": "Round", "tf.squeeze": "Squeeze",
    "tf.expand_dims": "Unsqueeze", "tf.reshape": "Reshape", "tf.transpose": "Transpose", "tf.cast": "Cast",
    "tf.check_numerics": "IsNaN and IsInf", "tf.atan2": "Atan of a Div", "tf.ones_like": "ConstantOfShape of 1",
    "tf.nn.top_k": "TopK", "tf.sort": "TopK",
    "remove the tf.stop_gradient": "leave it out", "tf.stop_gradient": "a constant",
}.items(), key=lambda pair: -len(pair[0])))
