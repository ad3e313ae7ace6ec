"""The chain to the origin: where the number came from that an op made nan or inf of, back to what was fed or kept."""
from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, past
from ...facts.function_calls import Calls
from ...facts.roles import PLACEHOLDERS, READS, VARIABLES, of_data, place_of, takes_elements
from ..arithmetic_rules import in_words, number
from ..edits.activations import named_at
from ..edits.in_datasets import name_of
from ..edits.in_graph import is_half
from ..findings import Link
from ..mistakes.signs import pairs_of_one
from ..mistakes.units import ACTIVATIONS
from ..spectra import equal_eigenvalues
from .recurrent import GROWS
from .sources import Index, Scene, Source, sources_of

_LONGEST = 4000  # ops on the way back
_ORDINARY = 8.0  # up to here a number says nothing, and above 1 / 1000
_PASSES = ("Identity", "Cast", "Reshape", "Transpose", "StridedSlice", "Squeeze", "ExpandDims", "Slice", "Tile", "Max",
           "BroadcastTo", "GatherV2", "GatherNd", "ReverseV2", "ConcatV2", "Pack", "ReadVariableOp",
           "Assign", "ListItem", "Select", "SelectV2", "StopGradient", "PreventGradient", "Min", "Neg", "Captured",
           "Argument", "Const", "CheckNumerics", "Split", "SplitV", "Unpack", "DiagPart",
           "MaxPool", "PlaceholderWithDefault", "ResourceGather")
_SUMS = ("MatMul", "BatchMatMulV2", "Einsum", "Sum", "Mean", "AddN", "BiasAdd", "Conv2D")
_ADDS = ("Add", "AddV2", "AddN", "Mul")
_FORKS = 3
_TURNS = 3  # times that a way comes by a line again: a loop
LOST = "float16 has no number below 6e-08 but 0"
ROUNDED = ": what rounding left"
NEEDS_SIGN = ("Log", "Sqrt", "Rsqrt", "Log1p", "Lgamma", "Digamma", "Pow")


def chain_of(out: Tensor, index: Index, scene: Scene) -> tuple[Link, ...]:
    """What led to an element, the origin first; the op that made it is the last.

    Only as far as it is known, and as long as the numbers are out of the ordinary.
    """
    if out not in scene.values or equal_eigenvalues(out.op, scene.values):
        return ()
    op, at = out.op, Source(out, index, np.asarray(scene.values[out])[index].item(), scene)
    given = sources_of(at)[:1]
    negative = op.type in NEEDS_SIGN and not np.isinf(at.value) and any(_is_negative(s.value) for s in given)
    return (*_empty_feed(op, scene), *_together(_followed(at, _FORKS, negative=negative)[::-1]))


def _followed(at: Source, forks: int, *, negative: bool) -> list[tuple[Link, Any]]:
    """The links from an element on back, with the value at each. forks: how often both of two zeros may be followed."""
    found: list[tuple[Link, Any]] = []
    for i in range(_LONGEST):
        sources = sources_of(at)
        chosen = _chosen(at, sources, negative=negative)
        link = _told(at, sources, chosen, is_last=not i and forks == _FORKS)
        if link is not None:
            found.append((replace(link, value=float(abs(at.value))), at.value))
        zeros = [s for s in sources if s.value == 0] if at.value == 0 and at.tensor.op.type in _ADDS else []
        lost = [s for s in zeros if s.tensor.op.type == "Const" and is_half(s.tensor.op)]
        if at.tensor.op.type != "Mul" and not lost:  # what a constant of 0 is added to
            zeros = [s for s in zeros if s.tensor.op.type != "Const"]
            chosen = zeros[0] if len(zeros) == 1 else chosen
        if len(zeros) > 1 and forks:
            ways = [_followed(s, forks - 1, negative=negative) for s in lost or zeros[:3]]
            return found + min(ways, key=_is_plain if at.tensor.op.type == "Mul" else _is_kept)
        cancels = _cancels(at, sources)
        if cancels and chosen is not None and abs(chosen.value) != 1:
            found += [(link, 0) for link in _constant_feed(chosen)]
            break
        negative = negative and (at.tensor.op.type not in ("MatMul", "Conv2D", "Mul") or chosen is not None
                                 and chosen.value == at.value)  # signs of the others come of many
        if chosen is None or not (cancels or _is_odd(chosen.value) or negative and _is_negative(chosen.value)
                                  or abs(at.value) in (0, 1) and abs(chosen.value) == 1 or _is_saturated(at)
                                  or at.tensor.op.type == "RealDiv" and _is_odd(at.value) and abs(chosen.value) < 1
                                  or at.tensor.op.type in READS and chosen.value == at.value):
            break
        at = chosen
    return found


def _is_plain(found: list[tuple[Link, Any]]) -> bool:
    """Whether a zero was only fed: the other one tells more."""
    return not found or found[-1][0].kind == "fed" and found[-1][1] == 0


def _is_kept(found: list[tuple[Link, Any]]) -> tuple[bool, bool]:
    """Of a sum, all of which is 0: whether a zero is a variable's, as biases begin, or was only fed."""
    return bool(found) and found[-1][0].kind == "variable", _is_plain(found)


def _empty_feed(op: Operation, scene: Scene) -> list[Link]:
    """Of what an op was given nothing of: the placeholder that was fed without rows."""
    if not op.inputs or op.inputs[0] not in scene.values or np.size(scene.values[op.inputs[0]]):
        return []
    fed = next((each for each in ancestors(op.inputs) if each.type in PLACEHOLDERS and each.outputs[0] in scene.values
                and not np.size(scene.values[each.outputs[0]])), None)
    if fed is None:
        return []
    shape = list(np.shape(scene.values[fed.outputs[0]]))
    return [Link(f"an array of shape {shape} was fed for {fed.name!r}", place_of(fed), "empty", fed.name)]


def _together(found: list[tuple[Link, Any]]) -> list[Link]:
    """The links, those of many ops at one line in a row as one, as are those at the lines of a loop."""
    links: list[Link] = []
    rows = [place for place, _ in itertools.groupby(each[0].place for each in found)]
    turns = {place for place in rows if rows.count(place) > _TURNS}
    for place, group in itertools.groupby(found, key=lambda each: turns if each[0].place in turns else each[0].place):
        one_by_one = list(group)
        middle = [each for each in one_by_one[:-1] if each[0].kind == "op"]
        if len(middle) > 3 and place is not None:
            (_, first), *_, (last, value) = middle
            links += [each[0] for each in one_by_one if each[0].kind != "op"]
            links += [replace(last, text=f"{len(middle)} ops there take it from {number(first)} to {number(value)}"),
                      one_by_one[-1][0]]
        else:
            links += [each[0] for each in one_by_one]
    return links


def _is_negative(value: Any) -> bool:
    return isinstance(value, (int, float)) and value < 0


def _is_odd(value: Any) -> bool:
    """Whether a number may have led to nan or inf."""
    size = abs(value)
    return isinstance(value, bool) or bool(not np.isfinite(size) or size == 0 or size > _ORDINARY or size < 1e-3)


def _is_saturated(at: Source) -> bool:
    return at.tensor.op.type in ("Sigmoid", "Tanh", "Erf") and abs(at.value) == 1


def _cancels(at: Source, sources: Sequence[Source]) -> bool:
    """Whether the element is 0 as two equal numbers were subtracted."""
    return at.value == 0 and at.tensor.op.type in ("Sub", "SquaredDifference", "Add", "AddV2") and any(
        s.value != 0 for s in sources)


def _constant_feed(at: Source) -> list[Link]:
    """Of what equals its own mean: that its column was fed with one number."""
    while at.tensor.op.type in _PASSES and (sources := sources_of(at)):
        at = sources[0]
    is_table = at.tensor.op.type in PLACEHOLDERS and np.ndim(at.scene.values[at.tensor]) > 1
    return [_fed(at)] if is_table and _throughout(at) not in ("", f" throughout row {at.index[0]}") else []


def _fed(at: Source) -> Link:
    op, value = at.tensor.op, at.value if isinstance(at.value, bool) else number(at.value)
    where = _throughout(at) or _spot(at.index)
    return Link(f"{value} was fed for {op.name!r}{where}", place_of(op), "fed", op.name, at.index)


def _throughout(at: Source) -> str:
    """` throughout column 2`, where all numbers of it are this one; of zeros first the row; "" if it is but one."""
    array = np.asarray(at.scene.values[at.tensor])
    same = (array == at.value) | (array != array) & (at.value != at.value)
    if not array.ndim or len(array) < 2 or array.ndim == 1 or same.all():
        return " throughout" if array.size > 1 and same.all() else ""
    if array.ndim == 2 and array.shape[1] > 1 and at.value == 0 and same[at.index[0]].all():
        return f" throughout row {at.index[0]}"
    return f" throughout column {at.index[-1]}" if same[..., at.index[-1]].all() else ""


def _stacked(at: Source) -> Link:
    """A row of what a loop has put together: how its rows grow, and the line in the loop that makes them."""
    op, rows = at.tensor.op, np.abs(np.asarray(at.scene.values[at.tensor]))
    loop, place = op.inputs[0], place_of(op)
    growth = _in_turns([float(row.max(initial=0.0)) for row in rows]) if rows.dtype.kind == "f" and rows.ndim else ""
    if growth and loop.op.type == "While":
        made = loop.op.attrs["body"].outputs[loop.op.outputs.index(loop)]
        made = made.op.inputs[2] if made.op.type == "ListSet" else made
        place = place_of(past(made, ("Identity",)).op) or place
    return Link(f"{op.name} gives {number(at.value)}{growth}", place, "op", op.name)


def _growth(at: Source) -> str:
    """How a loop's variable came to what it is in the end."""
    op, scene = at.tensor.op, at.scene
    if not isinstance(scene.inside, Calls) or scene.around is not None:
        return ""
    number = op.outputs.index(at.tensor)
    sizes = []
    for call in scene.inside.of(op, scene.values):
        array = np.asarray(call.values[call.outputs[number]])
        sizes.append(float(np.abs(array).max(initial=0.0)) if array.dtype.kind == "f" else 0.0)
    return _in_turns(sizes)


def _in_turns(sizes: Sequence[float]) -> str:
    sizes = sizes[next((i for i, size in enumerate(sizes) if size), 0):]
    if len(sizes) < 3 or not 0 < sizes[0] < sizes[-1] or not np.isfinite(sizes).all():
        return ""
    factor = (sizes[-1] / sizes[0]) ** (1 / (len(sizes) - 1))
    return f"{GROWS}{sizes[0]:.3g} to {sizes[-1]:.3g} in {len(sizes)} iterations, {factor:.3g} times in each"


def _chosen(at: Source, sources: Sequence[Source], *, negative: bool) -> Source | None:
    """The element to go on with: the one that the number comes of. negative: what counts is its sign."""
    kind = at.tensor.op.type
    if kind == "RealDiv" and len(sources) > 1 and sources[1].value == 0:
        return sources[1]
    known = [s for s in sources if s.tensor.op.type not in ("Const", "Range")] or list(sources)
    bad = [s for s in known if not np.isfinite(s.value)]
    if bad or not known:
        return bad[0] if bad else None
    forward = [s for s in known if s.tensor.op.gradient_of is None]
    if at.tensor.op.gradient_of is not None and forward:  # what was computed, not what came back
        known = sorted(forward, key=lambda s: s.value != 0)[:1]
    if negative and any(_is_negative(s.value) for s in known):
        return min(known, key=lambda s: s.value)
    if kind == "RealDiv" and len(known) > 1:
        over, under = (abs(each.value) for each in known[:2])
        return known[0] if at.value == 0 or over * under >= 1 and np.isfinite(at.value) else known[1]
    if kind in ("Mul", "Prod", "Pow") and at.value == 0:
        return min(known, key=lambda s: abs(s.value))
    return max(known, key=lambda s: abs(s.value))


def _told(at: Source, sources: Sequence[Source], chosen: Source | None, *, is_last: bool) -> Link | None:
    """What happened at an op, None where it only passes a number on."""
    op = at.tensor.op
    value = at.value if isinstance(at.value, bool) else number(at.value)
    where = f"[{','.join(map(str, at.index))}]" if at.index else ""
    place, turn = place_of(op), f", {at.scene.call.where}" if at.scene.call is not None else ""
    if op.type in PLACEHOLDERS:
        return _fed(at)
    if op.type in VARIABLES:
        return Link(f"{op.name}{where} is {value}", place, "variable", op.name, at.index)
    if takes_elements(op):
        where = _throughout(at) or _spot(at.index)
        number_of = op.outputs.index(at.tensor)
        return Link(f"the dataset gave {value}{where} of its component {name_of(op, number_of)}", of_data(op) or place,
                    "fed", op.name, at.index, output=number_of)
    if not op.inputs and op.type not in ("Captured", "Argument"):
        array = np.asarray(at.scene.values[at.tensor])
        if op.type == "Const" and array.ndim and np.any(array) and (at.value == 0 or not np.isfinite(at.value)):
            return Link(f"the constant {op.name!r} has {value}{_spot(at.index)}", place, "made", op.name, at.index)
        if op.type == "Const" and not array.ndim and at.value == 0:
            return Link(f"a number of the script is 0 there: {LOST}" if is_half(op) else
                        f"the script gave 0 for the constant {op.name!r}", place, "made", op.name)
        return None if op.type == "Const" else Link(f"{op.type} gave {value}", place, "made", op.name)
    if op.type == "While":
        made = past(op.attrs["body"].outputs[op.outputs.index(at.tensor)], ("Identity",)).op
        place = (place_of(made) if not at.value else None) or place
        return Link(f"{op.name} gives {value}{_growth(at)}", place, "op", op.name)
    if op.type == "ListStack" and not isinstance(at.value, bool):
        return _stacked(at)
    same = chosen is not None and (chosen.value == at.value or abs(chosen.value - at.value) < 0.01 * abs(at.value))
    if op.type in _PASSES or same and not is_last or isinstance(at.value, bool):
        return None
    pairs = pairs_of_one(op)
    itself = ", of each with itself" * bool(pairs and at.value == 0 and len({*at.index[pairs[0]:pairs[0] + 2]}) == 1)
    place = (named_at(op) if op.type in ACTIVATIONS else None) or place
    return Link(_words(at, sources, value) + itself + turn, place, "op", op.name, underflows=_underflows(at, sources))


def _underflows(at: Source, sources: Sequence[Source]) -> bool:
    """Whether an element is 0 though no number that it is made of is."""
    return at.value == 0 and at.tensor.op.type in ("Exp", "Sigmoid", "Square", "Mul") and bool(sources) and all(
        s.value for s in sources)


def _is_mean_of_one(t: Tensor, scene: Scene) -> bool:
    """Whether a tensor is a mean over nothing but one example."""
    t = past(t, ("StopGradient", "Identity"))
    return t.op.type == "Mean" and t in scene.values and np.size(scene.values[t]) == np.size(
        scene.values.get(t.op.inputs[0], ()))


def _words(at: Source, sources: Sequence[Source], value: Any) -> str:
    """What an op made of its numbers."""
    op = at.tensor.op
    given = np.asarray(at.scene.values.get(op.inputs[0], 0.0))
    if op.type == "Softmax" and len(sources) > 1 and at.value == 0:
        return f"softmax({number(sources[0].value)}) = 0 beside {number(sources[1].value)} in its row"
    if op.type == "Prod" and sources:
        count = given.size // max(np.size(at.scene.values[at.tensor]), 1)
        return f"a product of {count} numbers as small as {number(sources[0].value)} = {value}"
    if op.type in _SUMS:
        zeros = at.value == 0 and sources and all(s.value == 0 for s in sources[:1])
        return f"{op.type} gives {value}" + (" of nothing but zeros" if zeros else "")
    if op.type == "Softmax" and not np.isfinite(at.value):
        return f"softmax of a row that is {number(sources[0].value)} throughout = {value}" if sources else ""
    if not sources:
        return f"{op.type} gives {value}"
    text = in_words(op.type, [s.value for s in sources], at.value)
    if _underflows(at, sources):
        text += ": too small for the type"
    if at.value == 0 and op.type in ("Sub", "SquaredDifference") and _is_mean_of_one(op.inputs[1], at.scene):
        text += ": the mean is of one number"
    if op.type == "Sub" and 0 < abs(at.value) < 1e-5 * max(abs(s.value) for s in sources):
        text += ROUNDED
    return text + (": it is saturated" if _is_saturated(at) else "")


def _spot(index: Index) -> str:
    """` at row 5, column 1`, of a table."""
    words = ("row", "column")
    return "" if not index else " at " + (", ".join(f"{word} {i}" for word, i in zip(words, index)) if len(index) <= 2
                                          else f"[{', '.join(map(str, index))}]")
