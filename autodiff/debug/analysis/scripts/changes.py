"""Changes of a text: made, and as lines."""
from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher

from ....core.errors import ArgumentError

_TRAINS = ("fit", "fit_generator", "compile", "backward", "zero_grad")  # which give no number
_CALLED_WITH = ("training", "mask", "initial_state", "inputs")  # what a layer is told when it is called
Change = tuple[int, int, str]  # from where to where, and the new text


def changed(text: str, changes: Iterable[Change]) -> str:
    """A file's text with changes in it.

    Raises ArgumentError where two meet, or no Python comes of it, or what no call there could mean: a setting for what
    a layer gives, in place of the layer, or a number made of what trains.
    """
    before = text
    for at, (start, end, new) in enumerate(ordered := sorted(_nested(text, set(changes)), reverse=True)):
        if at and end > ordered[at - 1][0]:
            raise ArgumentError("two edits of one expression")
        text = text[:start] + new + text[end:]
    try:
        meant = _unmeant(text) <= _unmeant(before)
    except (SyntaxError, ValueError):
        meant = False
    if not meant:
        raise ArgumentError("the edit does not fit there")
    return text


def _unmeant(text: str) -> Counter[str]:
    """What is told by a keyword to the result of a call, and what takes the result of what trains for a number."""
    found = Counter[str]()
    for node in ast.walk(ast.parse(text)):
        parts = [*node.args, *(word.value for word in node.keywords)] if isinstance(node, ast.Call) else \
            [node.left, node.right] if isinstance(node, ast.BinOp) else []
        found.update(each.func.attr for each in parts if isinstance(each, ast.Call) and
                     isinstance(each.func, ast.Attribute) and each.func.attr in _TRAINS)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Call):
            found.update(str(word.arg) for word in node.keywords if word.arg not in _CALLED_WITH)
    return found


def _nested(text: str, changes: set[Change]) -> set[Change]:
    """The same, with what changes a part of what another one writes anew done in that."""
    for inner in sorted(changes, key=lambda each: each[1] - each[0]):
        start, end, new = inner
        old = text[start:end]
        around = [each for each in changes if each is not inner and each[0] <= start < end <= each[1]
                  and len(re.findall(rf"(?<!\w){re.escape(old)}(?!\w)", each[2])) == 1]
        if around and inner in changes:
            outer = min(around, key=lambda each: each[1] - each[0])
            changes = (changes - {inner, outer}) | {(*outer[:2], outer[2].replace(old, new))}
    return changes


def rows_of(old: str, new: str, file: str) -> dict[tuple[str, int], str]:
    """The lines of a text that are others in another, by file and number: "" for none, several for one and more."""
    before, after = (re.split("(?<=\n)", text) for text in (old, new))
    found: dict[tuple[str, int], str] = {}
    for tag, first, last, i, j in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            if first == last:  # beside the line that it is put in front of, or after
                first, last, i, j = (first, last + 1, i, j + 1) if last < len(before) else (first - 1, last, i - 1, j)
            found.update({(file, number): "" for number in range(first + 1, last + 1)})
            found[file, first + 1] = "".join(after[i:j]).rstrip("\r\n")
    return found
