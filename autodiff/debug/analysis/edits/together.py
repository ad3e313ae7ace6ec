"""Edits that belong together: of all ops of one expression, of all alike in a script, of what comes after them."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, descendants, in_order
from ...facts.roles import at_line, place_of
from ..findings import Origin
from . import formulas
from .in_graph import Edit, at_one_place, bounds_of, edits_of, of_log, squashed
from .in_logarithms import logarithm_of_exponents
from .named import named

EXPONENTIALS = ("Exp", "Cosh", "Sinh")
_REPEATED = (*EXPONENTIALS, "Log", "Softmax", "Sqrt", "RealDiv")
_ROUNDED = -1e-4  # above it a negative number is what rounding left
_MOST = 4  # guards of what comes after


def forms_of(op: Operation, origin: Origin) -> tuple[list[list[Edit]], list[list[Edit]]]:
    """What may be written in place of an op, and bounds for what it is given; each for all ops of its expression."""
    given = origin.operands[0].value if origin.operands and origin.phase == "forward" else None
    negative = isinstance(given, (int, float)) and given < _ROUNDED
    outside = op.type in ("Acos", "Asin") and isinstance(given, float) and abs(given) > 1 - _ROUNDED
    here = at_one_place(op)
    forms = [([*(formulas.normalized(each) if outside else ()), *named(each), *edits_of(each, origin.trap),
               *formulas.better_forms(each, negative=negative)], bounds_of(each)) for each in here]
    forms[0] = ([edit for edit in forms[0][0] if edit.op not in here or not forms[0][1] or all(
        any(other.words == edit.words for other in form) for form, _ in forms)], forms[0][1])  # it is of all calls
    others = _of_squashes(op)
    forms += [([], bounds_of(each)) for each in others]
    edits, bounds = ([[edit, *(other for more in forms[1:] for other in more[kind] if other.words == edit.words)]
                      for edit in forms[0][kind]] for kind in (0, 1))
    for form in edits:
        form += [edit for each in others for edit in of_log(each)] if form[0].is_of_logits else []
        form += _of_same_formula(form)
        form.sort(key=lambda edit: edit.op is not None and (edit.op.site != op.site, edit.op.index))
    return edits, bounds


def _of_same_formula(form: list[Edit]) -> list[Edit]:
    """The same exact form of the other logarithms of a function: one is too large for its type as the other."""
    op, known = form[0].op, {edit.op for edit in form}
    if op is None or op.type != "Log" or op.site is None or not form[0].is_exact or form[0].is_of_logits:
        return []
    logs = [each for each in op.graph.operations.values() if each.type == "Log" and each.gradient_of is None
            and each not in known and each.site is not None and (each.site.file, each.site.function) == (
                op.site.file, op.site.function)]
    return [edit for each in logs for edit in logarithm_of_exponents(each) if edit.words == form[0].words]


def _of_squashes(log: Operation) -> list[Operation]:
    """The other logarithms of what the same expression, or function, made a probability: one saturates as the other."""
    squash = squashed(log)[0] if log.type == "Log" else None
    if squash is None:
        return []
    same = {*at_one_place(squash)}
    others = [each for each in log.graph.operations.values() if each.type == "Log" and each.gradient_of is None]
    return [each for each in others if (made := squashed(each)[0]) is not None and each not in at_one_place(log) and (
        made in same or made.type == squash.type and _function_of(each, made) == _function_of(log, squash) is not None)]


def _function_of(log: Operation, squash: Operation) -> tuple[str, str] | None:
    """The file and function that made both a logarithm and what it is of."""
    sites = {(op.site.file, op.site.function) if op.site is not None else None for op in (log, squash)}
    return sites.pop() if len(sites) == 1 else None


def further(op: Operation, top: Tensor, form: list[Edit]) -> list[Edit]:
    """What guards the ops between an op and y against the 0 that an edit of it may give."""
    between = in_order(descendants(op.outputs) & ancestors([top]))
    known = {edit.op for edit in form}
    guards = ((*edits_of(each, ""), *bounds_of(each)) for each in between if each.gradient_of is None
              and each.type in _REPEATED and each not in known)
    return [edits[0] for edits in guards if edits][:_MOST]


def elsewhere(edits: Sequence[Edit]) -> str:
    """`, as well as at train.py:16`: where else the same is to be written."""
    is_one = (len({edit.words for edit in edits}) == 1 and any(edit.op and edit.op.type in _REPEATED for edit in edits)
              or all(edit.is_of_logits for edit in edits))
    others = dict.fromkeys(at_line(place_of(edit.op)) for edit in edits if edit.op is not None and is_one)
    return ", as well as" + " and".join(list(others)[1:4]) if len(others) > 1 else ""


def logits_of(edits: Sequence[Edit]) -> str:
    """What the x of edits of logits is, where the script has it under no name that their line can tell."""
    made = squashed(edits[0].op)[0] if edits and edits[0].op is not None and edits[0].is_of_logits else None
    return "" if made is None else f"x are the logits, what {made.type.lower()} is given{at_line(place_of(made))}"


def widened(form: list[Edit]) -> Iterable[list[Edit]]:
    """Of an op's expression alone; then of all that the script has where the same is to be done."""
    yield form
    op, words = form[0].op, form[0].words
    if op is None or op.type not in _REPEATED:
        return
    more = [edit for other in op.graph.operations.values() if other.type == op.type and other.gradient_of is None
            and other.site is not None and (op.type == "RealDiv" or op.type.lower() in other.site.text)
            for edit in (*edits_of(other, ""), *bounds_of(other)) if edit.words == words]
    if len(more) > len(form):
        yield [*form, *(edit for edit in more if edit.op not in {each.op for each in form})]
