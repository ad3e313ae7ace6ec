"""Errors of targets that a Keras model is given: classes by number where ones and zeros are wanted, other sizes."""
from __future__ import annotations

import ast
import re

from ..advice import Remark
from ..scripts.calls import given
from .raised_at import RaisedAt

_DENSE = {"categorical_crossentropy": "sparse_categorical_crossentropy",
          "CategoricalCrossentropy": "SparseCategoricalCrossentropy"}


def numbers_of_classes(at: RaisedAt) -> Remark | None:
    """A cross entropy of ones and zeros, that is given the numbers of classes: the one of these."""
    words = (part for call in at.calls("compile") for part in ast.walk(call))
    found = {each: said for each in words if (said := str(getattr(each, "value", "") if isinstance(
        each, ast.Constant) else getattr(each, "attr", getattr(each, "id", "")))) in _DENSE}
    if len(found) != 1:
        return None
    (node, said), = found.items()
    start, end = at.range(node)
    old = at.text[start:end]
    at_word = start + old.rindex(said)
    return at.remark(f"the targets are numbers of classes, and the loss {said} takes ones and zeros for each class",
                     f"{_DENSE[said]}, which takes numbers of classes", [
                         (at_word, at_word + len(said), _DENSE[said])], node)


def last_layer_of_another_size(at: RaisedAt) -> Remark | None:
    """A last layer that gives another number of values, or a row for each step of time where one is wanted."""
    shapes = re.search(r"target array with shape \(([^)]*)\) was passed for an output of shape \(([^)]*)\)", at.said)
    target, output = ([each.strip() for each in shapes[i].split(",") if each.strip()] for i in (1, 2)) if shapes else (
        [], [])
    if len(output) == len(target) + 1:
        words = [word for call in at.calls("LSTM", "GRU", "SimpleRNN") for word in given(call, None, "return_sequences")
                 if getattr(word, "value", None) is True]
        return at.remark("the last recurrent layer gives a row for each step of time, where one for each example is "
                         "wanted", "return_sequences=False", [(*at.range(words[-1]), "False")], words[-1]
                         ) if words else None
    units = [each for call in at.calls("Dense")[-1:] for each in given(call, 0, "units")]
    if len(units) != 1 or target[:-1] != output[:-1] or not target[-1].isdigit():
        return None
    numbers = [*at.numbers(units[0], float(output[-1]))]
    return at.remark(f"the last layer has {output[-1]} units, and each target has {target[-1]} numbers",
                     f"{target[-1]} in place of {output[-1]}", [(*at.range(numbers[0]), target[-1])], numbers[0]
                     ) if len(numbers) == 1 else None
