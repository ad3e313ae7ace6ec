"""What Keras was told around the layers: what callbacks take for better, and when a model is compiled."""
from __future__ import annotations

import inspect
import re
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from ....core.graph import Tensor
from ....core.site import RawFrames, resolve
from ...facts.records import Place
from ...facts.roles import as_place, at_line
from ..findings import Finding
from .case import Case, finding, update_op

_RATES = re.compile("(?i)acc|auc|precision|recall|f1|r2|iou|dice")  # numbers that are the better the greater they are
_ERRORS = re.compile("(?i)loss|err|mse|mae|mape|msle|perplex")  # and the smaller
_OFTEN = 2  # times that a model is compiled again at one line, which no change of its layers explains
_TOLD = 3  # epochs that are named
_TABLE = 2  # axes, at least, of what an output depends on as on no offset
TURNED, ANEW, UNSEEN = "better taken for worse", "compiled anew", "watched in vain"
FREED = "made trainable, and is not trained"


def habit_mistakes(case: Case) -> list[Finding]:
    """Findings about callbacks and calls of compile."""
    models = [*case.graph.extras.get("compiled", {}).values()] if case.steps else []
    return [found for model in models for found in (
        *_turned(model, case), *_unseen(model, case), *_compiled_anew(model, case))] + _since_compile(case)


def _turned(model: Any, case: Case) -> list[Finding]:
    """A callback that takes a larger loss, or a smaller accuracy, for better."""
    for each in getattr(model, "watchers", ()):
        up, down = (bool(rule.search(each.monitor)) for rule in (_RATES, _ERRORS))
        if up == down or each.is_max == up or not each.seen:
            continue
        name, other, left = type(each).__name__, "min" if each.is_max else "max", each.mode not in ("min", "max")
        how = "without a mode, so that less is better of all but accuracies" * left or f"with mode={each.mode!r}"
        stops = getattr(each, "stopped_epoch", 0)
        ended = f", and ended the training after epoch {stops + 1}" if stops else ""
        said = finding(63, TURNED, update_op(case), f"{name} watches {each.monitor!r} {how}: it "
                       f"takes a {'smaller' if up else 'larger'} one for better{ended}; it was {each.seen[0]:.4g} in "
                       f"the first epoch, {each.seen[-1]:.4g} in the last", f"mode={other!r}" + (
                           ", or leave mode out" * (not left)), confidence="certain", written=other)
        return [_at(said, each.frames)]
    return []


def set_by_callback(case: Case) -> tuple[str, str, bool] | None:
    """Which callback sets the learning rate, and when; what to do; whether it waits for a number to stand still.

    None where no callback of a Keras model does.
    """
    setters = [each for model in case.graph.extras.get("compiled", {}).values() for each in getattr(
        model, "setters", ()) if getattr(each, "lowered", True)]
    if not setters:
        return None
    each, name = setters[-1], type(setters[-1]).__name__
    where = at_line(next(map(as_place, resolve(each.frames[:1])), None))
    epochs = getattr(each, "lowered", [])
    if not epochs:
        return f"{name}{where} sets it before each epoch", "let its schedule fall more slowly, or end higher", False
    told = ", ".join(map(str, epochs[:_TOLD])) + f" and {len(epochs) - _TOLD} more" * (len(epochs) > _TOLD)
    return (f"{name}{where} lowers it after epoch{'s' * (len(epochs) > 1)} {told}, each time that {each.monitor} was "
            f"no better for {each.patience} epoch{'s' * (each.patience != 1)}", f"patience={4 * each.patience + 1}, or "
            "a min_lr that still changes something, if the rate is not meant to fall so soon", True)


def _unseen(model: Any, case: Case) -> list[Finding]:
    """A callback that watches a number which there is none of, and so does nothing."""
    for each in [each for each in getattr(model, "watchers", ()) if each.there and not each.seen]:
        near = get_close_matches(each.monitor, each.there, 1, 0.5) or ["loss"]
        said = finding(52, UNSEEN, update_op(case), f"{type(each).__name__} watches {each.monitor!r}, but the numbers "
                       f"of an epoch are {', '.join(each.there)}: it never finds one, and does nothing",
                       f"monitor={near[0]!r}, or have it measured: metrics of compile, validation_data of fit",
                       target=each.monitor, confidence="certain", written=near[0])
        return [_at(said, each.frames)]
    return []


def _compiled_anew(model: Any, case: Case) -> list[Finding]:
    """A model that is compiled again and again at one line, with training between."""
    if model.compiled_anew < _OFTEN:
        return []
    said = finding(44, ANEW, update_op(case), f"the model was compiled {model.compiled_anew + 1} times at this line, "
                   "and trained between: each time it gets a new optimizer, which knows nothing of the steps before, "
                   "and its training is built once more", "compile once, before the loop; a rate is changed by "
                   "keras.backend.set_value(model.optimizer.lr, rate)", confidence="certain")
    return [_at(said, model._frames_of_loss)]


def _since_compile(case: Case) -> list[Finding]:
    """Weights that were frozen, or set free, after the one Keras model that trains them was compiled."""
    models = case.graph.extras.get("compiled", {}).values()
    for model, weight in ((each, weight) for each in models for weight in each.changed):
        is_trained = weight in model.to_train
        if any(weight in m.weights and (weight in (m.to_train or ())) != is_trained and m.used > model.compiled
               for m in models):
            continue  # as another was told since, as of a critic that only its own model trains
        said = "frozen, and is trained all the same" if is_trained else FREED
        return [finding(64, "changed after compile", case.y.op, f"{weight.name} (of {len(model.changed)}) was {said}: "
                        "its model was compiled before that, and goes by what was trainable then",
                        "compile the model again after trainable is changed", target=weight.name, confidence="certain")]
    return []


def _at(said: Finding, frames: RawFrames) -> Finding:
    return replace(said, place=next(map(as_place, resolve(frames[:1])), said.place))


def frozen_in(variable: Tensor) -> Any:
    """The innermost layer of compiled Keras models that is told not to train a variable; None for none."""
    stack, found = [*variable.graph.extras.get("compiled", {}).values()], None
    while stack:
        if not (layer := stack.pop()).trainable and any(weight.op is variable.op for weight in layer.weights):
            found = layer
        stack += layer._inside()
    return found


def of_no_layer(variable: Tensor) -> tuple[str, str, Place | None] | None:
    """What is said of a variable that Keras models compute with and that is none of their weights, the remedy, and the
    line of the Lambda in which its layer is called; None where it is no such, or the script gave it its values."""
    layers = [*variable.graph.extras.get("compiled", {}).values()]
    owned = {weight.op for model in layers for weight in model.weights}
    if not layers or variable.op in owned or variable.op.name in variable.graph.extras.get("set by keras", ()):
        return None
    for layer in layers:
        layers += [each for each in layer._inside() if each not in layers]
        if name := _read_by(getattr(layer, "function", None), variable):
            at = next(map(as_place, resolve(layer._frames[:1])), None)
            return (f"it is of {name}, which a Lambda{at_line(at)} calls and does not know of: it is no weight of the "
                    f"model, and fit does not train it", f"call {name} outside of the Lambda, or have the Lambda hold "
                    f"it: its inner = {name}", at)
    return None if len(variable.op.attrs["shape"] or ()) < _TABLE else (
        "it is read in the model, as inside of a Lambda, but no layer made it: it is no weight of the model, and fit "
        "does not train it", "make it by add_weight in a Layer, or use Embedding or Dense", None)


def _read_by(function: Any, variable: Tensor, deepest: int = 3) -> str:
    """What a function, or one that it calls, reads a layer by that has the variable; "" for none."""
    if not inspect.isfunction(function) or not deepest:
        return ""
    found = inspect.getclosurevars(function)
    read = {**found.globals, **found.nonlocals}
    own = {f"{name}.{key}": each for name, value in read.items() if not inspect.ismodule(value)
           for key, each in getattr(value, "__dict__", {}).items() if key in found.unbound}
    return next((name for name, value in (read | own).items() if any(
        weight.handle_tensor is variable for layer in (value if isinstance(value, (list, tuple)) else [value])
        if hasattr(layer, "_inside") for weight in layer.weights)), "") or next(filter(None, (
            _read_by(value, variable, deepest - 1) for value in read.values())), "")
