"""What does not fit: a layer, a loss or an op is given a shape, a dtype or numbers that it does not take."""
from __future__ import annotations

import ast
import contextlib
import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from ....core.site import Site, resolve
from ....debug.analysis.advice import Remark
from ....debug.analysis.refusals import fault_of
from ....debug.facts.roles import as_place, at_line
from ...new_calls import JOINING, all_calls_on, along_another_axis, argument, text_of_argument, with_word
from ...new_lines import NewLines, all_on, first_of, last_name, replaced
from ...new_lines import without_recording as unrecorded
from ..batches import whole_batches
from ..graph import sliced
from .scene import Scene, shown

_REMEDIES = {  # what torch says -> what to do
    "implicitly created only for scalar": "make one number of it before backward(): loss.mean(), or loss.sum()",
    r"mat1 and mat2 shapes|expected input.* to have \d+ channels|input.size\(-1\) must be equal|running_mean should "
    "contain|normalized_shape": "make the layer for as many features as it is given, or reshape what it is given",
    "same dtype, but got|expected (scalar type|.*dtype)|Input type .* and (weight|bias) type": "give data and layer "
    "one dtype where the data is made: x.float() for inputs, and targets of squared errors, .long() for class numbers",
    r"Target \S+ is out of bounds": "classes count from 0 to one less than the last layer has outputs",
    "index out of range in self": "make the table longer than the largest index: nn.Embedding(largest + 1, …)",
    "[Tt]arget size|batch_size .* to match target": "give predictions and targets one shape: y.view_as(prediction)",
    "between 0 and 1": "give it probabilities: torch.sigmoid(logits), or the logits to BCEWithLogitsLoss",
    "leaf Variable that requires grad": "change it under torch.no_grad(), or make a new tensor of it: w = w + …",
    r"Expected hidden\S* size": "begin with a state of the batch's size, x.size(0); or drop_last=True in DataLoader",
    "Expected more than 1 (value per|spatial)": "leave out a last batch of one: drop_last=True in DataLoader; where it "
    "is no training, model.eval() before",
    "incorrect number of gradients": "return one gradient for each argument of forward, None for what is no tensor",
    "appears to not have been used": "use it for the loss, or ask with allow_unused=True, which gives None for it",
    "floating point and complex dtype can require": "make it of floats: 1.0 for 1, or dtype=torch.float32",
    "constraint GreaterThan": "keep it above 0: F.softplus(x) + 1e-3, or torch.exp of what the layer gives",
    "without overflow": "mask with the least number of the dtype: torch.finfo(x.dtype).min"}

_SIZES = ("in_features", "in_channels", "num_features", "input_size", "num_embeddings")  # of layers
_CLASSES = ("out_features", "out_channels")


def remark_on(scene: Scene) -> Remark | None:
    """The cause, its line and what to do; None where torch's own words are all there is."""
    for pattern, finder in _FINDERS.items():
        with contextlib.suppress(StopIteration, ValueError):  # what was given is not known, or is more or less
            if re.search(pattern, scene.said) and (found := finder(scene)) is not None:
                return found
    remedy = next((words for pattern, words in _REMEDIES.items() if re.search(pattern, scene.said)), "")
    return Remark(_layer(scene), None, remedy, _lines(scene)) if remedy else None


def _reshaped(scene: Scene) -> Remark | None:
    """A reshape to other numbers of rows or columns than there are."""
    x, sizes = scene.op_arguments()[:2]
    return _to_rows(scene, x, sizes, Site(scene.file, scene.line, "")) if x.dim() > 1 and len(sizes) == 2 else Remark(
        f"{shown([x])} is to be made {list(sizes)}", None, f"give it sizes whose product is {x.numel()}, or -1 for one")


def _other_rows(scene: Scene) -> Remark | None:
    """A batch of another length than its targets, as a reshape made other rows of it."""
    x, target = next(given for _, *given in scene.layers() if len(given) > 1)
    for entry in reversed(sliced(scene.all, [x])):
        of, sizes = [*entry.args, (), ()][:2]
        if isinstance(of, torch.Tensor) and of.dim() > 2 and isinstance(sizes, (list, tuple)) and len(sizes) == 2 and (
                len(of), len(entry.result)) == (len(target), len(x)) and (site := resolve(entry.frames[:1])):
            return _to_rows(scene, of, sizes, site[0])
    return None


def _to_rows(scene: Scene, x: Any, sizes: Sequence[int], site: Site) -> Remark | None:
    """What is said of rows of another size than the examples have; the layer behind them takes as many."""
    texts: Sequence[ast.expr] = ()
    for call in all_calls_on(site.file, site.line, "view", "reshape"):
        texts = getattr(call.args[-1], "elts", call.args[-2:])
    row, place = x[0].numel(), as_place(site)
    if sizes[1] == row:
        return Remark(f"it is given a batch of {len(x)}, {shown([x])}, and made rows for one of {sizes[0]}", place,
                      "-1 for the length of the batch", replaced(site.file, texts[0], "-1") if texts else {})
    lines = replaced(site.file, texts[1], str(row)) if texts else {}
    for layer in scene.modules() if lines else ():
        if getattr(layer, "in_features", None) == sizes[1]:
            lines = {**lines, **_made(scene, layer, "in_features", 0, row)}
    return Remark(f"what is to be rows of {sizes[1]} is {shown([x])}{at_line(place)}: {row} numbers an example", place,
                  f"{row} for {sizes[1]}, in the layer that takes it too; or x.flatten(1)", lines)


def _product(scene: Scene) -> Remark | None:
    """A matrix that would fit if it were transposed."""
    x, y = scene.op_arguments()
    fits = x.shape[-1] == y.shape[-1] != y.shape[-2]
    lines: NewLines = {}
    for node in all_on(scene.file, scene.line) if fits else ():
        second = [node.right] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) else node.args[
            -1:] if isinstance(node, ast.Call) and last_name(node.func) in ("mm", "bmm", "matmul") else []
        lines = lines or (replaced(scene.file, second[0], "{}.transpose(-1, -2)") if second else {})
    return Remark(f"it is the product of {shown([x, y])}", None, "transpose the second, whose last axis is as long as "
                  "that of the first" if fits else "give the first as many columns as the second has rows", lines)


def _singular(scene: Scene) -> Remark | None:
    """A matrix without a Cholesky factor: what is wrong with it, and how much on its diagonal makes it have one."""
    call = next(iter(all_calls_on(scene.file, scene.line, "cholesky")))
    x = next(e.args[0] for e in reversed(scene.all) if "cholesky" in str(e.op))
    matrix = x.detach().cpu().double().numpy()
    of = call.func.value if isinstance(call.func, ast.Attribute) and not call.args else call.args[0]
    least = max(-float(np.linalg.eigvalsh(matrix).min()), torch.finfo(x.dtype).eps * abs(matrix).max() * len(x))
    ridge = f"1e{math.ceil(math.log10(10 * least))} * torch.eye({x.shape[-1]})"
    return Remark(f"the matrix {ast.unparse(of)} is not positive definite: {fault_of(matrix)}", None, "add a little "
                  f"to its diagonal: + {ridge}", replaced(scene.file, of, f"{{}} + {ridge}"))


def _joined(scene: Scene) -> Remark | None:
    """Parts of other ranks, one of which has an axis of one; or parts that another axis joins."""
    tensors = scene.op_arguments()[0]
    call = next(iter(all_calls_on(scene.file, scene.line, *JOINING)))
    text, shapes = f"it joins {shown(tensors)}", [list(t.shape) for t in tensors]
    texts = getattr(call.args[0], "elts", [])
    least = min(shapes, key=len)
    if any(len(shape) != len(least) for shape in shapes):
        axes = [next((k for k, n in enumerate(shape) if len(shape) == len(least) + 1 and n == 1 and [
            *shape[:k], *shape[k + 1:]][0] == least[0]), None) for shape in shapes]
        lines = {at: line for axis, node in zip(axes, texts) if axis is not None for at, line in replaced(
            scene.file, node, f"{{}}.squeeze({axis})").items()}
        return Remark(text, None, "give them one number of axes: x.squeeze(1) takes one of length 1 out", lines)
    if (found := along_another_axis(scene.file, scene.line, shapes, "dim")) is None:
        return Remark(text, None, "give all but the axis that is joined one length")
    axis, lines = found
    return Remark(f"{text}, which differ in axis {axis}", None, f"dim={axis}, if these are features of the same "
                  "examples", lines)


def _ranks(scene: Scene) -> Remark | None:
    """Classes as columns of one number, or as one-hot rows, for a loss that takes their numbers."""
    layer, x, target = next(each for each in scene.layers() if len(each) > 2)
    is_column = target.dim() == x.dim() and target.shape[1] == 1
    if target.shape == x.shape and not re.search("multi-target", scene.said):
        how, words = ".float()", "floats for one-hot rows, or their class numbers, y.argmax(1)"
    elif target.dim() != x.dim():
        return None
    else:
        how = (".squeeze(1)" if is_column else ".argmax(1)") + ".long()" * (is_column and target.is_floating_point())
        words = f"give it class numbers, integers of {[len(x), *x.shape[2:]]}: y{how}"
    return Remark(_given(scene, layer, x, target), None, words, _target(scene, layer, how))


def _floats(scene: Scene) -> Remark | None:
    """Integers for targets of a loss that takes floats; it may be its backward that says so."""
    for layer, x, target in (each for each in scene.layers() if len(each) > 2):
        return Remark(_given(scene, layer, x, target), None, "give it floats: y.float()", _target(
            scene, layer, ".float()"))
    for entry in reversed(scene.all):
        for site in resolve(entry.frames[:1]) if "loss" in str(entry.op) and any(
                not t.is_floating_point() for t in entry.args[:2] if isinstance(t, torch.Tensor)) else ():
            return Remark(f"a loss is made of {shown(entry.args[:2])}", as_place(site), "give it floats: y.float()",
                          argument(site.file, site.line, "target", 1, "{}.float()", _is_loss))
    return None


def _is_loss(function: ast.expr) -> bool:
    return any(part in ast.unparse(function).lower() for part in ("loss", "crit"))


def _beyond(scene: Scene) -> Remark | None:
    """Classes that are counted from 1, or more than the last layer tells apart."""
    layer, x, target = next(each for each in scene.layers() if len(each) > 2)
    low, high, count = int(target.min()), int(target.max()), x.shape[1 if x.dim() > 1 else 0]
    text = (f"{_given(scene, layer, x, target)} from {low} to {high}, where {count} classes are told apart, 0 to "
            f"{count - 1}")
    rest = target[target != high]
    if low == 1 and high == count:
        return Remark(text, None, "count classes from 0: subtract 1", _target(scene, layer, " - 1"))
    mark = -1 if low == -1 and high < count else 255 if high == 255 and len(rest) and int(rest.max()) < count else None
    if mark is not None:
        sites = resolve(scene.habits.made.get(id(layer), ())[:1]) or [Site(scene.file, scene.line, "")]
        called = type(layer).__name__ if isinstance(layer, torch.nn.Module) else layer.__name__
        return Remark(text, None, f"{mark} marks what is no class: ignore_index={mark} in the loss", with_word(
            sites[0].file, sites[0].line, called, "ignore_index", str(mark)))
    last = scene.maker(x)
    have = next((name for name in _CLASSES if getattr(last, name, None) == count), "")
    if low < 0 or not have:
        return Remark(text, None, _REMEDIES[r"Target \S+ is out of bounds"])
    return Remark(text, None, f"give the last layer {high + 1} outputs, one a class", _made(
        scene, last, have, 1, high + 1))


def _channels(scene: Scene) -> Remark | None:
    """Images with channels last, or without an axis of them, for a convolution."""
    layer, x = next(each for each in scene.layers() if hasattr(each[0], "in_channels"))
    rank, have = len(layer.kernel_size), layer.in_channels
    if x.dim() == rank + 2 and x.shape[-1] == have:
        order = ", ".join(map(str, (0, rank + 1, *range(1, rank + 1))))
        how, words = f".permute({order})", "channels come second"
    elif x.dim() == rank + 1 and have == 1:
        how, words = ".unsqueeze(1)", "give it an axis of one channel"
    elif x.dim() == 2 and rank == 2 and (side := math.isqrt(x.shape[1] // have)) ** 2 * have == x.shape[1]:
        how, words = f".view(-1, {have}, {side}, {side})", "give it images for rows"
    else:
        return None
    return Remark(_given(scene, layer, x), None, f"{words}: x{how}", argument(
        scene.file, scene.line, "input", 0, f"{{}}{how}", partial(scene.calls, layer)))


def _two_shapes(scene: Scene) -> Remark | None:
    """An op of two tensors that do not broadcast."""
    tensors = [t for t in scene.op_arguments() if isinstance(t, torch.Tensor)]
    return Remark(f"it is given {shown(tensors[:2])}", None, "give both one shape, with 1 for an axis that all share") \
        if len(tensors) > 1 else None


def _axis(scene: Scene) -> Remark | None:
    """An axis that a tensor does not have."""
    x = next(t for t in scene.op_arguments() if isinstance(t, torch.Tensor))
    return Remark(f"it is given {shown([x])}, of rank {x.dim()}", None, "an axis that is there, as dim=-1; or "
                  "keep that of the batch: squeeze(1) for squeeze(), x[i:i + 1] for x[i]")


_FINDERS: dict[str, Callable[[Scene], Remark | None]] = {
    "not positive-definite": _singular,
    "is invalid for input of size": _reshaped, "batch_size .* to match target": _other_rows,
    "cannot be multiplied|first two dimensions of batch2": _product,
    "same number of dimensions|Sizes of tensors must match": _joined,
    "multi-target|spatial targets|with class probabilities": _ranks, "Found dtype|desired output type": _floats,
    "Target .* out of bounds": _beyond, "expected input|input to conv": _channels,
    "size of tensor a": _two_shapes, "Dimension out of range": _axis}


def _given(scene: Scene, layer: Any, *tensors: Any) -> str:
    name = layer if isinstance(layer, torch.nn.Module) else f"F.{layer.__name__}"
    return f"{name}{scene.habits.made_at(layer)} is given {shown(tensors)}"


def _target(scene: Scene, layer: Any, how: str) -> NewLines:
    """What comes behind the target that a loss is given on the line."""
    return argument(scene.file, scene.line, "target", 1, f"{{}}{how}", partial(scene.calls, layer))


def _made(scene: Scene, layer: Any, name: str, position: int, size: int) -> NewLines:
    """A layer with another size where the script makes it."""
    for site in resolve(scene.habits.made.get(id(layer), ())[:1]):
        return argument(site.file, site.line, name, position, str(size), lambda function: last_name(
            function) == type(layer).__name__)
    return {}


def _lines(scene: Scene) -> NewLines:
    """The line that the error is about, or that of the layer, as the remedy has it; {} if that is not sure."""
    layer, given = next(((layer, given) for layer, *given in scene.layers()), (None, []))
    x, (file, line) = given[0] if given else None, (scene.file, scene.line)
    for part, write in {"scalar": partial(first_of, file, line, "backward", "mean()"), "leaf Variable": partial(
            unrecorded, file, line), **dict.fromkeys(("more than 1 value", "Expected hidden"), partial(
                whole_batches, scene.frames))}.items():
        if part in scene.said:
            return write()
    if x is None:
        return {}
    calls = partial(scene.calls, layer)
    if "of input should be between 0 and 1" in scene.said and bool(torch.isfinite(x).all()):
        return argument(file, line, "input", 0, "torch.sigmoid({})", calls)
    if "type" in scene.said and layer is not None:
        is_loss = len(given) > 1
        wanted = given[0].dtype if is_loss else next(layer.parameters()).dtype
        wanted = torch.long if is_loss and re.search("[Ll]ong", scene.said) else wanted
        new = {torch.long: ".long()", torch.float32: ".float()"}.get(wanted, f".to({wanted})")
        return argument(file, line, "target" if is_loss else "input", int(is_loss), f"{{}}{new}", calls)
    if len(given) > 1 and given[1].numel() == x.numel() and "size" in scene.said:
        return argument(file, line, "target", 1, f"{{}}.view_as({text_of_argument(file, line, 0)})", calls)
    have = next((name for name in _SIZES if hasattr(layer, name)), "")
    if not have:
        return {}
    wanted, is_linear = getattr(layer, have), isinstance(layer, torch.nn.Linear)
    if is_linear and x.dim() > 2 and x[0].numel() == wanted:
        return argument(file, line, "input", 0, "{}.flatten(1)", calls)
    size = x.shape[-1 if is_linear or x.dim() < 3 or have == "input_size" else 1]
    return _made(scene, layer, have, 0, int(x.max()) + 1 if have == "num_embeddings" else size)


def _layer(scene: Scene) -> str:
    """The innermost of torch's layers that the error has passed, and what it was given."""
    values = (frame.f_locals.get("value") for frame, _ in reversed(scene.frames))  # of a distribution's check
    value = next((each for each in values if isinstance(each, torch.Tensor)), None)
    if "the constraint" in scene.said and value is not None:
        return f"it goes down to {float(value.detach().min()):.3g} where no more than 0 is allowed"
    for layer, *given in scene.layers():
        is_range = re.search("between 0 and 1|out of range", scene.said)
        wrong = given["of target" in scene.said:][:1] if is_range else []
        ranges = "".join(f" from {float(t.min()):.3g} to {float(t.max()):.3g}" for t in wrong)
        first, *others = [shown([t]) + ranges * any(t is each for each in wrong) for t in given]
        return " and ".join([f"{_given(scene, layer)}{first}", *others])
    return ""
