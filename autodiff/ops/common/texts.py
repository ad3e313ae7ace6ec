"""What ops on strings share: the kind of their inputs, a function done to each, allowed words, tensors as texts."""

from functools import partial

import numpy as np

from ...core.declare import op
from ...core.dtypes import string
from ...core.errors import ArgumentError
from ...core.op import Kind

Text = Kind("Text", allowed=(string,), default=string)
text_op = partial(op, stateful=True, no_grad="texts have no gradient")


def each(function, texts, *others, dtype=object):
    """`function` of each text, and of what is beside it in arrays that broadcast with it. -> dtype[...]."""
    found = np.frompyfunc(function, 1 + len(others), 1)(np.asarray(texts, object), *others)
    return np.asarray(found, dtype)


def plain(text):
    """The bytes of a string of rank 0."""
    return np.asarray(text, object).item()


def check_word(op, attribute, word, allowed):
    """Raises ArgumentError (ValueError) unless an attribute is one of the allowed words."""
    if word not in allowed:
        listed = ", ".join(f'"{one}"' for one in allowed)
        raise ArgumentError(f"Attr '{attribute}' of '{op}' Op passed string '{word}' not in: {listed}")


# ---- tensors as texts, for what prints them ------------------------------------------------

_ESCAPES = {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", ord('"'): '\\"', ord("'"): "\\'", ord("\\"): "\\\\"}


def in_brackets(value, summarize, depth=0):
    """A tensor as tf.print shows it, of a long axis only `summarize` entries at each end; all if that is negative."""
    if np.ndim(value) == 0:
        return shown(value[()] if isinstance(value, np.ndarray) else value, '"')
    between = " " if np.ndim(value) == 1 else "\n" * (np.ndim(value) - 1) + " " * (depth + 1)
    edge = summarize if summarize is not None and summarize >= 0 else max(value.size, 1)
    begin = [in_brackets(part, summarize, depth + 1) for part in value[:edge]]
    end = [in_brackets(part, summarize, depth + 1) for part in value[max(edge, len(value) - edge):]]
    return f"[{between.join([*begin, *['...'] * (len(value) > 2 * edge), *end])}]"


def shown(item, quote=""):
    """A number or string as TensorFlow prints it: floats with the digits that tell them apart."""
    if isinstance(item, bytes):
        text = "".join(_ESCAPES.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in item)
        return f"{quote}{text}{quote}"
    if isinstance(item, (np.floating, float)):
        few, all_of_it = (15, 17) if isinstance(item, float) else (6, 9)
        text = f"{item:.{few}g}"
        return text if type(item)(text) == item or item != item else f"{item:.{all_of_it}g}"
    return str(int(item)) if isinstance(item, (np.bool_, bool)) else str(item)


def spelled(text):
    """Python's text of a string tensor of one element."""
    text = np.asarray(text, object).item()
    return text.decode() if isinstance(text, bytes) else text
