"""The lines that made an operation, whichever function made the operation before it."""

import sys

import autodiff as tf

DEPTH = 8  # frames that are kept


def made(x, lines):
    """An operation, and the lines that lead here."""
    frame, found = sys._getframe(), []
    while frame is not None and len(found) < DEPTH:
        found.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    y, found[0] = x * 2.0, ("made", sys._getframe().f_lineno)
    lines.append((y.op, found))
    return y


def through(x, lines, depth):
    if depth:
        return through(x, lines, depth - 1)
    x = made(x, lines)
    return made(x, lines)


def turns(x, lines):
    for _ in range(3):
        x = made(x, lines)
        yield x


def test_operations_have_the_lines_of_their_own_call():
    lines = []
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2])
        for depth in (0, 0, 1, 12, 12):
            x = through(x, lines, depth)
            x = made(made(x, lines), lines)
        one, other = turns(x, lines), turns(x, lines)
        next(one)
        next(other)
        for _ in one:
            next(other)
    assert len(lines) == 26
    for op, expected in lines:
        assert [(each.function, each.line) for each in op.traceback] == expected, op.name
