"""Errors of what Keras' layers and models are given: an axis too few, another size, a key, a layer that is missing."""
from __future__ import annotations

import ast
import re
from typing import Any

from ....core.names import closest
from ..advice import Remark
from ..scripts.calls import called, given
from ..scripts.changes import Change
from ..scripts.parsed import is_within
from .raised_at import RaisedAt

_RECURRENT = ("LSTM", "GRU", "SimpleRNN", "CuDNNLSTM", "CuDNNGRU")
_OF_IMAGES = ("Conv1D", "Conv2D", "Conv3D", "Convolution1D", "Convolution2D", "Convolution3D")
_LOOPS = ("fit", "evaluate", "predict")
_ERRORS = ("mse", "mean_squared_error", "mae", "mean_absolute_error", "categorical_crossentropy")
_SIZES = ("input_dim", "input_shape", "batch_input_shape", "shape")


def one_row_for_a_sequence(at: RaisedAt) -> Remark | None:
    """A recurrent layer behind another one, which gives its last output alone."""
    inside = [call for call in at.calls(*_RECURRENT) if is_within(call, at.node)]
    before = [call for call in at.calls(*_RECURRENT) if at.range(call)[1] < at.range(at.node)[1] and call not in inside]
    call = inside[-2] if len(inside) > 1 else before[-1] if before else None
    if call is None or "expected ndim=3, found ndim=2" not in at.said:
        return None
    return at.remark("the recurrent layer before it gives its last output alone, one row for each example, where a row "
                     "for each step of time is wanted", "return_sequences=True", [
                         at.told(call, "return_sequences", "True")], call)


def an_axis_of_one(at: RaisedAt) -> Remark | None:
    """Arrays without a last axis of one, as of channels or of features, that the model is to be given."""
    said = re.search(r"expected (\S+) to have (\d+) dimensions, but got array with shape \(([^)]*)\)", at.said)
    data = _data_of(at.node)
    found = [size for size in said[3].split(",") if size.strip()] if said is not None else []
    if said is None or data is None or int(said[2]) != len(found) + 1 or not at.numpy:
        return None
    text = at.written(data)
    same = [each for call in at.calls(*_LOOPS) if (each := _data_of(call)) is not None and at.written(each) == text]
    new = f"{at.numpy}.expand_dims({text}, -1)"
    return at.remark(f"{text} has {len(found)} axes, and {said[1]} takes {said[2]}: the last, of channels or features, "
                     "is missing", f"{new} in place of it", [(*at.range(each), new) for each in same])


def one_example(at: RaisedAt) -> Remark | None:
    """An example without the axis of examples: a batch of it."""
    data = _data_of(at.node)
    if data is None or not at.numpy or "it is one example" not in at.hint:
        return None
    return at.in_place(f"{at.written(data)} is one example, and a batch of examples is wanted", data,
                       f"{at.numpy}.expand_dims({at.written(data)}, 0)")


def as_images(at: RaisedAt) -> Remark | None:
    """An input_shape of images without their channel, or with it in front; and the data that are so."""
    word = next((each for node in ast.walk(at.node) if isinstance(node, ast.Call) for each in node.keywords
                 if each.arg == "input_shape" and isinstance(each.value, ast.Tuple)), None)
    sizes: list[Any] = word.value.elts if word is not None else []  # type: ignore[attr-defined]
    is_first = "subtracting" in at.said and len(sizes) == 3 and getattr(sizes[0], "value", 0) in (1, 3)
    is_lacking = len(sizes) == 2 and "expected ndim=4, found ndim=3" in at.said
    if not at.numpy or not is_first and not is_lacking:
        return None
    rest = [at.written(each) for each in (sizes[1:] if is_first else sizes)]
    new = f"({', '.join([*rest, at.written(sizes[0]) if is_first else '1'])})"
    made = "{}.moveaxis({}, 1, -1)" if is_first else "{}.expand_dims({}, -1)"
    data = [each for call in at.calls(*_LOOPS) if (each := _data_of(call)) is not None]
    changes: list[Change] = [(*at.range(word.value), new)]  # type: ignore[union-attr]
    changes += [(*at.range(each), made.format(at.numpy, at.written(each))) for each in data]
    said = "the channels of images come first in its input_shape, and are taken last" if is_first else \
        "its input_shape has no axis of channels"
    return at.remark(said, f"input_shape={new}, and the data so", changes)


def misspelt(at: RaisedAt) -> Remark | None:
    """The name of a loss that there is not, where one is near."""
    said, near = re.search(r":(\S+)", at.said), re.search(r"did you mean '([^']+)'", at.hint)
    words = [node for call in at.calls("compile") for node in ast.walk(call)
             if isinstance(node, ast.Constant) and said is not None and str(node.value) == said[1]]
    if near is None or len(words) != 1:
        return None
    return at.remark(f"no loss is called {str(words[0].value)!r}", f"{near[1]!r} in place of it", [
        (*at.range(words[0]), repr(near[1]))], words[0])


def _data_of(call: ast.AST) -> ast.expr | None:
    """What a call of fit, evaluate or predict is given as inputs."""
    return next(iter(given(call, 0, "x")), None)


def size_of_inputs(at: RaisedAt) -> Remark | None:
    """A number of features that the first layer was told, and that the data do not have."""
    said = re.search(r"expected (\S+) to have shape \((\d+),\) but got array with shape \((\d+),\)", at.said)
    words = [node for call in at.all(ast.Call) for node in given(call, 0 if called(call) == "Input" else None, *_SIZES)]
    numbers = {number for word in words for node in ast.walk(word) if isinstance(node, ast.expr)
               for number in at.numbers(node, float(said[2]))} if said is not None else set()
    if said is None or len(numbers) != 1:
        return None
    number = numbers.pop()
    return at.remark(f"the first layer is told of {said[2]} numbers for each example, and the data have {said[3]}",
                     f"{said[3]} in place of {said[2]}", [(*at.range(number), said[3])], number)


def key_of_another_name(at: RaisedAt) -> Remark | None:
    """A key of a dict of inputs that is no name of the model's."""
    said = re.search(r"No data provided for \"(.*)\"\. Need data for each key in: (\[.*?\])", at.said)
    names = ast.literal_eval(said[2]) if said is not None else []
    data = _data_of(at.node)
    wrong = [key for key in data.keys if isinstance(key, ast.Constant) and key.value not in names and said is not None
             and (len(names) == 1 or said[1] in closest(str(key.value), names))] if isinstance(data, ast.Dict) else []
    if said is None or len(wrong) != 1:
        return None
    key = str(wrong[0].value)
    return at.remark(f"the model's inputs are {', '.join(names)}, and a key is {key}", f"{said[1]} in place of {key}",
                     [(*at.range(wrong[0]), repr(said[1]))])


def ones_for_classes(at: RaisedAt) -> Remark | None:
    """A cross entropy of the numbers of classes, that is given ones and zeros for each class."""
    said = re.search(r"logits shape \[(\d+),(\d+)\] and labels shape \[(\d+)\]", at.said)
    words = [node for call in at.calls("compile") for node in ast.walk(call)
             if getattr(node, "value", "") == "sparse_categorical_crossentropy"]
    if said is None or len(words) != 1 or int(said[1]) * int(said[2]) != int(said[3]):
        return None
    new = at.written(words[0]).replace("sparse_", "")
    return at.remark(f"the targets are {said[2]} ones and zeros for each example, and the loss "
                     "sparse_categorical_crossentropy takes the number of the class", "categorical_crossentropy, which "
                     "takes ones and zeros", [(*at.range(words[0]), new)], words[0])


def numbers_for_classes(at: RaisedAt) -> Remark | None:
    """A squared error of a softmax over several classes, that is given the numbers of the classes."""
    said = re.search(r"array with shape \([^,]*, ?1?\) was passed for an output of shape \(\w+, (\d+)\)", at.said)
    words = [node for call in at.calls("compile") for node in ast.walk(call) if getattr(node, "value", "") in _ERRORS]
    is_softmax = any(getattr(node, "value", "") == "softmax" for call in at.calls("Dense", "Activation")
                     for node in ast.walk(call))
    if said is None or int(said[1]) < 3 or len(words) != 1 or not is_softmax:
        return None
    return at.remark(f"the last layer gives {said[1]} probabilities, one for each class, and the target is one number, "
                     "that of the class", "sparse_categorical_crossentropy, which takes the numbers of classes", [
                         (*at.range(words[0]), repr("sparse_categorical_crossentropy"))], words[0])


def flattened_first(at: RaisedAt) -> Remark | None:
    """A last layer of images, where one row for each example is wanted: flattened before the dense layers."""
    shapes = re.search(r"target array with shape \(([^)]*)\) was passed for an output of shape \(([^)]*)\)", at.said)
    sizes = [[each for each in shapes[i].split(",") if each.strip()] for i in (1, 2)] if shapes else [[], []]
    calls, images = at.calls("Dense"), at.calls(*_OF_IMAGES)
    said = re.search(r"logits shape \[(\d+),\d+\] and labels shape \[(\d+)\]", at.said)
    is_more = said is not None and int(said[1]) > int(said[2])
    if len(sizes[1]) <= len(sizes[0]) and not is_more or not images:
        return None
    first = next((call for call in calls if at.range(call) > at.range(images[-1])), None)
    spelled = at.written(first.func).replace("Dense", "Flatten") if first is not None else ""
    if first is None or "." not in spelled and spelled not in at.names:
        return None
    around, start = next(at.around(first), None), at.range(first)[0]
    if isinstance(around, ast.List):
        change: Change = (start, start, f"{spelled}(), ")
    elif isinstance(around, ast.Call) and called(around) == "add":
        change = at.before(at.statement(first), f"{at.written(around.func)}({spelled}())")
    elif isinstance(around, ast.Call) and around.func is first and len(around.args) == 1:
        change = (*at.range(around.args[0]), f"{spelled}()({at.written(around.args[0])})")
    else:
        return None
    return at.remark(f"the dense layers are given {'sequences' if '1D' in called(images[-1]) else 'images'}, and give "
                     "a row for each place, where one for each example is wanted", f"{spelled}() before them", [change],
                     first)
