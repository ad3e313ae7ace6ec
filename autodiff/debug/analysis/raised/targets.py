"""Errors of targets: of classes by number where ones and zeros are wanted, of another size, of labels of no class."""
from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from ..advice import Remark
from ..scripts.calls import called, given, is_call, words_of
from ..scripts.changes import Change
from ..scripts.expressions import name_of
from .raised_at import RaisedAt

_DENSE = {"categorical_crossentropy": "sparse_categorical_crossentropy",
          "CategoricalCrossentropy": "SparseCategoricalCrossentropy"}
_MANY = 100  # classes, of which 255 may be one


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


def not_learnt(at: RaisedAt) -> Remark | None:
    """The one label outside of the classes, in labels that have several of these."""
    said = re.search(r"label value of (-?\d+) which is outside the valid range of \[0, (\d+)\)", at.said)
    label, size = map(int, said.groups()) if said is not None else (0, 0)
    held = [{*np.unique(value).tolist()} for frame in at.callers() for value in frame.names.values() if isinstance(
        value, np.ndarray) and value.dtype.kind in "iuf" and (value == label).any()]
    is_mark = any(each - {*range(size)} == {label} and len(each) > 2 for each in held)
    if not is_mark and (label != 255 or size > _MANY) or label == size:
        return None
    text = f"{label} is no class, as the others are from 0 to {size - 1}: it marks what is not to be learnt"
    calls = [node for node in at.spanned(at.error.op, exact=False) if isinstance(node, ast.Call)]
    for call in calls:
        if called(call) == "compile":
            return at.remark(text, f"leave it out of the loss: a mask of labels that are not {label}", _of_keras(
                at, call, label), call)
        words, around = words_of(call), at._around[call]
        nodes = [*given(call, slice(0 if "_with_" in called(call) else 2)), *(
            words[name] for name in ("labels", "y_true", "logits", "y_pred") if name in words)]
        is_mean = is_call(around, "reducemean", "reducesum") and len(given(around, slice(None), "axis")) == 1
        if len(nodes) == 2 and "sparse" in called(call) and "weights" not in words and (
                is_mean or "_with_" not in called(call)):
            mask = at.tensorflow("not_equal", nodes[0], str(label))
            return at.remark(text, f"leave it out of the loss: {at.module()}.boolean_mask of labels and logits", [
                (*at.range(node), at.tensorflow("boolean_mask", node, mask)) for node in nodes], call)
    return at.remark(text, "leave it out: weights of 0 where it is, with any class in its place there", [])


def _of_keras(at: RaisedAt, made: ast.Call, label: int) -> list[Change]:
    """A loss of its own, of rows that have another label, in place of the one that a model is compiled with."""
    loss: Any = next(iter(given(made, 1, "loss")), ast.Name("", ast.Load()))
    name = str(loss.value) if isinstance(loss, ast.Constant) else name_of(getattr(loss, "func", loss))
    if name.replace("_", "") != "sparsecategoricalcrossentropy":
        return []
    tf, kept, new, acc = at.module(), *map(at.new_name, ("kept", "masked_loss", "acc"))
    more = "".join(f", {word.arg}={at.written(word.value)}" for word in getattr(loss, "keywords", ())
                   if word.arg == "from_logits")
    counted = [each for node in words_of(made).values() for each in ast.walk(node) if isinstance(each, ast.Constant)
               and each.value in ("acc", "accuracy")]  # which takes the kind of labels from the loss
    lines = [f"def {kept}(y_true, y_pred):",
             f"    labels, rows = {tf}.reshape(y_true, [-1]), {tf}.reshape(y_pred, [-1, y_pred.shape[-1]])",
             f"    return [{tf}.boolean_mask(each, {tf}.not_equal(labels, {label})) for each in (labels, rows)]"]
    for name, function in ((new, f"losses.sparse_categorical_crossentropy(*{kept}(y_true, y_pred){more})"),
                           (acc, f"metrics.sparse_categorical_accuracy(*{kept}(y_true, y_pred))"))[:1 + bool(counted)]:
        lines += [f"def {name}(y_true, y_pred):", f"    return {tf}.keras.{function}"]
    return [at.before(at.statement(made), *lines), (*at.range(loss), new), *(
        (*at.range(each), acc) for each in counted)]
