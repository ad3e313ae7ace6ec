"""W1: a chain of 1,000 scalar ops (add, multiply, sine) and its derivative. W1d is the same in float64."""
import math

import numpy as np

COUNT = 1000
X, A, B = 0.05, 1.0001, 0.001


def graph(tf, dtype="float32"):
    """The value and the derivative by x."""
    x, a, b = [tf.placeholder(dtype, []) for _ in range(3)]
    y = x
    for i in range(COUNT):
        y = y + b if i % 3 == 0 else y * a if i % 3 == 1 else tf.sin(y)
    return [y, tf.gradients(y, [x])[0]], {x: X, a: A, b: B}, None


def graph_float64(tf):
    """The same in double precision."""
    return graph(tf, "float64")


def naive():
    """A loop over NumPy scalars, with a tape."""
    x, a, b = np.float32(X), np.float32(A), np.float32(B)

    def step():
        y, tape = x, []
        for i in range(COUNT):
            if i % 3 == 2:
                tape.append(y)
            y = y + b if i % 3 == 0 else y * a if i % 3 == 1 else np.sin(y)
        dy = np.float32(1)
        for i in reversed(range(COUNT)):
            if i % 3:
                dy = dy * (a if i % 3 == 1 else np.cos(tape.pop()))
        return [y, dy]

    return step


def tuned():
    """Straight lines of Python floats."""
    lines = [f"def step(y={X!r}, a={A!r}, b={B!r}):"]
    lines += [" y = y + b" if i % 3 == 0 else f" s{i} = y = y * a" if i % 3 == 1 else " y = sin(y)"
              for i in range(COUNT)]
    lines.append(" g = 1.0")
    lines += [" g = g * a" if i % 3 == 1 else f" g = g * cos(s{i - 1})" for i in reversed(range(COUNT)) if i % 3]
    lines.append(" return [y, g]")
    names = {"sin": math.sin, "cos": math.cos}
    exec("\n".join(lines), names)
    return names["step"]
