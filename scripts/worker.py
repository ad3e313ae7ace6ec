"""The half of the comparison that runs in TensorFlow's own Python (3.7): scripts in, results out, a line each."""
import base64
import functools
import json
import os
import sys

import numpy as np


def evaluate(tf, script):
    """Execute a script in a fresh graph: its `result` as arrays, texts and Nones by name, and what it raised."""
    space = {"tf": tf, "np": np, "attempt": functools.partial(_attempt, tf)}
    try:
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            exec(compile(script, "<random program>", "exec"), space)
    except Exception as error:  # whatever a library raises is its answer
        return {}, f"{type(error).__name__}: {str(error)[:300]}"
    return {k: v if v is None or isinstance(v, str) else np.asarray(v) for k, v in space["result"].items()}, None


def _attempt(tf, build, feeds=None, variables=False):
    """What a function gives, its tensors run; or that it is refused, in words that both libraries share."""
    try:
        found = build()
        if found is None or isinstance(found, str):
            return found
        with tf.Session() as session:
            if variables:
                session.run(tf.global_variables_initializer())
            value = session.run(found, feeds)
        return np.asarray(value[0] if isinstance(value, tuple) else value)
    except Exception as error:
        return "refused ({}: {})".format(type(error).__name__, str(error).split("\n")[0][:120])


def encoded(value):
    """A result as JSON has it."""
    if value is None or isinstance(value, str):
        return value
    if value.dtype.kind in "OSU":
        return {"dtype": "object", "shape": value.shape,
                "data": [v.decode("latin1") if isinstance(v, bytes) else str(v) for v in value.ravel().tolist()]}
    return {"dtype": value.dtype.name, "shape": value.shape,
            "data": base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()}


def decoded(value):
    """Undo `encoded`."""
    if value is None or isinstance(value, str):
        return value
    if value["dtype"] == "object":
        return np.array(value["data"], object).reshape(value["shape"])
    return np.frombuffer(base64.b64decode(value["data"]), value["dtype"]).reshape(value["shape"])


def main():
    """Serve scripts with TensorFlow, Grappler off: one JSON string a line in, one JSON list a line out."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever TensorFlow prints goes elsewhere
    import tensorflow as tf

    if not tf.__version__.startswith("1."):
        tf = tf.compat.v1
        tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    options = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    options.graph_options.rewrite_options.disable_meta_optimizer = True
    tf.Session = functools.partial(tf.Session, config=options)
    for line in sys.stdin:
        values, error = evaluate(tf, json.loads(line))
        answers.write(json.dumps([{k: encoded(v) for k, v in values.items()}, error]) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
