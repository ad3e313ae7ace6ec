"""Where a script arranges what it trains with: shuffles, pairs of rows, weights of classes, dropout; and mends."""
from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .....core.errors import ArgumentError
from .....core.graph import Operation
from .....core.site import source_lines
from .....core.traversal import ancestors
from ....facts.records import NewLines, Place
from ....facts.roles import PLACEHOLDERS, at_line, place_on
from ...findings import Finding
from ...mistakes.all_mistakes import UNSCALED
from ...mistakes.case import Case
from ...mistakes.last_layer import NO_PROBABILITY
from ...mistakes.modes import HALF, MOST_DROPPED, rate_of_dropout
from ...mistakes.rows.copies import COPIES, LEFT
from ...mistakes.rows.fitted import ONE_KIND, SPLIT, STATES
from ...mistakes.targets.bootstrapped import NEXT_UNUSED
from ...scripts.calls import called, given, is_call, owner_of, owner_text, word_of, words_of
from ...scripts.changes import Change
from ...scripts.ends import ends
from ...scripts.expressions import number_of, pairs_of
from ...scripts.source_tree import Source
from ...scripts.thrown_away import kept, left_dataset
from . import switches
from .given import given_behind
from .layer_lines import LAYER_LINES, a_unit_each, as_of_classes, line_of, of_numbers, quicker
from .row_lines import by_its_number, dataset_kept, of_next, predicted_mixed
from .schedules import by_steps

_APART, _RARE = "labels do not follow from inputs", "unbalanced classes"
_DRAWS = ("permutation", "randint", "choice", "sample", "randominteger", "integers", "shuffle")
_SIDES = 2  # arrays that belong together: inputs and labels
_SEED = 1  # of shuffles that are to have the same order
_SHUFFLED = 10000  # elements that are shuffled at a time
_HEAVIEST = 50.0  # times: what a rare class is weighed by
_KEEPS = ("keep_prob", "input_keep_prob", "output_keep_prob", "state_keep_prob")


class Arranged(NamedTuple):
    """Where the arrays of a finding are arranged, and the lines that mend it; {} where they are not known."""

    place: Place
    lines: NewLines


def arranged(finding: Finding, op: Operation | None, case: Case) -> Arranged | None:
    """What a script does to the arrays that a finding is about; None where no line surely does it."""
    fed, is_switch = given_behind(op), finding.kind in _SWITCHES
    if is_switch and (op is None or not op.graph.extras.get("compiled")) or not is_switch and not case.steps:
        return None
    site = finding.place if is_switch else fed or (op.site if op is not None else None)
    file = site.file if site is not None else ""
    try:
        source = Source("".join(source_lines(file)))
        at = fed.line if fed is not None else 0
        line, changes = (_FOUND[finding.kind](source, at, finding, case) if finding.kind in _FOUND else
                         _SWITCHES[finding.kind](source, at, finding))
    except (SyntaxError, ValueError, LookupError, ArgumentError):
        return None
    try:
        lines = source.rows(changes, file)
    except ArgumentError:
        lines = {}
    return Arranged(place_on(file, line), lines)


def _apart(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """Two arrays that are each brought into an order of its own, or rows that are taken of each by other numbers."""
    if (shuffles := _zipped(source, case)) is not None:
        return shuffles
    if (drawn := predicted_mixed(source)) is not None:
        return drawn
    for found in (_shuffled(source), _reordered(source), _taken(source)):
        if len(found) == _SIDES:
            (first, one), (second, other) = found
            return second.lineno, [*one, *other]
    raise ArgumentError("no two orders are written")


def _zipped(source: Source, case: Case) -> tuple[int, list[Change]] | None:
    """The last shuffle of datasets that are zipped later; one seed for all that draw from as many elements."""
    found = [each for _, shuffles in case.graph.extras.get("shuffled apart", ()) for each in shuffles if each.site]
    calls = [[call for call in source.at_line(line, ast.Call) if is_call(call, "shuffle")]
             for line in sorted({each.site.line for each in found})]
    if not calls:
        return None
    if len({each.size for each in found}) > 1 or any(len(each) != 1 for each in calls):
        return found[-1].site.line, []
    seed = next((source.raw(word) for call, in calls for word in given(call, 1, "seed")
                 if number_of(word) == number_of(word)), str(_SEED))
    return found[-1].site.line, [(*source.range(call.args[1]), seed) if len(call.args) > 1 else source.told(
        call, "seed", seed) for call, in calls]


_Ordered = list[tuple[ast.expr | ast.stmt, list[Change]]]


def _shuffled(source: Source) -> _Ordered:
    """The statements that shuffle two arrays in place, and the same state of the generator before both."""
    calls = [node.value for node in source.all(ast.Expr) if isinstance(node.value, ast.Call)
             and is_call(node.value, "shuffle") and owner_of(node.value) is not None and len(node.value.args) == 1]
    states = [node.lineno for node in source.calls_named("seed", "setstate")]
    pairs = [(one, other) for one, other in zip(calls, calls[1:]) if source.scope(one) is source.scope(other)
             and ast.unparse(one.func) == ast.unparse(other.func) and ast.unparse(one) != ast.unparse(other)
             and not any(one.lineno < at <= other.lineno for at in states)]
    if not pairs:
        return []
    owner = ast.unparse(pairs[0][0].func).rpartition(".")[0]
    kind = next((ast.unparse(value) for value in _given(source, owner)), "")
    save, put = (f"{owner}.bit_generator.state", f"{owner}.bit_generator.state = {{}}") if "default_rng" in kind else (
        (f"{owner}.getstate()", f"{owner}.setstate({{}})") if owner == "random" else
        (f"{owner}.get_state()", f"{owner}.set_state({{}})"))
    name = source.new_name("order")
    lines = [f"{name} = {save}", put.format(name)]
    return [(call, [source.before(source.statement(call), line)]) for call, line in zip(pairs[0], lines)]


def _reordered(source: Source) -> _Ordered:
    """The statements that take the rows of two arrays by permutations of their own, and one permutation for both."""
    found = [(node, each) for node in source.all(ast.Assign) for each in ast.walk(node.value)
             if isinstance(each, ast.Subscript) and is_call(each.slice, "permutation")]
    if len(found) != _SIDES or ast.unparse(found[0][1].value) == ast.unparse(found[1][1].value) or source.scope(
            found[0][0]) is not source.scope(found[1][0]):
        return []
    name, ((first, one), (second, other)) = source.new_name("order"), found
    return [(first, [source.before(first, f"{name} = {source.raw(one.slice)}"), (*source.range(one.slice), name)]),
            (second, [(*source.range(other.slice), name)])]


def _taken(source: Source) -> _Ordered:
    """Rows of two arrays by numbers that are drawn one after the other, beside each other; those of the first."""
    for node in ast.walk(source.tree):
        sides = node.elts if isinstance(node, ast.Tuple) else node.values if isinstance(node, ast.Dict) else [
            *given(node, slice(None)), *words_of(node).values()]
        rows = [(each, each.slice.id) for each in (_rows(source, side) for side in sides)
                if each is not None and isinstance(each.slice, ast.Name)]
        if len(rows) == _SIDES and rows[0][1] != rows[1][1] and all(any(
                is_call(value, *_DRAWS) for value in _given(source, name)) for _, name in rows):
            at = rows[1][0].slice
            return [(rows[0][0], []), (rows[1][0], [(*source.range(at), rows[0][1])])]
    return []


def _rows(source: Source, node: ast.expr | None) -> ast.Subscript | None:
    """The rows of an array that an expression is, or that the name that it is was given."""
    if isinstance(node, ast.Name):
        values = _given(source, node.id)
        node = values[0] if len(values) == 1 else None
    return node if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) else None


def _given(source: Source, name: str) -> list[ast.expr]:
    """What a name is given anywhere."""
    return [value for node in source.all(ast.Assign) for key, value in pairs_of(node)
            if isinstance(key, ast.Name) and key.id == name]


def _fit_at(source: Source, line: int) -> ast.Call:
    """The call of Keras that gives the data. Raises ArgumentError."""
    calls = [node for node in source.at_line(line, ast.Call) if is_call(node, "fit", "fitgenerator")]
    if not calls:
        raise ArgumentError("no call gives them")
    return calls[0]


def _in_order(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """A shuffle whose dataset is thrown away; fit that is told not to shuffle; or the one dataset of the file, which is
    cut into batches unshuffled."""
    if (found := left_dataset(source, "shuffle")) is not None:
        return found
    batched = [owner for call in source.calls_named("batch") if (owner := owner_of(call)) is not None
               and "shuffle" not in ast.unparse(owner)]
    if len(batched) == 1 and "from_tensor_slices" in source.text and ".shuffle(" not in source.text:
        end = source.range(batched[0])[1]
        return batched[0].lineno, [(end, end, f".shuffle({_SHUFFLED})")]
    told = [word for word in given(_fit_at(source, line), None, "shuffle") if getattr(word, "value", 1) is False]
    if not told:
        raise ArgumentError("it is not told not to shuffle")
    return told[0].lineno, [(*source.range(told[0]), "True")]


def _permuted(source: Source, line: int, finding: Finding) -> tuple[int, list[Change]]:
    """The two arrays of fit in another order, which is drawn once before it."""
    call, module = _fit_at(source, line_of(finding)), source.imported().get("numpy", "")
    arrays = [node.id for node in (*given(call, 0, "x"), *given(call, 1, "y")) if isinstance(node, ast.Name)]
    statement = source.statement(call)
    if len(arrays) != _SIDES or not module or source.is_in_loop(call) or word_of(call, "sample_weight") is not None:
        raise ArgumentError("not two arrays by name")
    name, both = source.new_name("order"), ", ".join(arrays)
    return call.lineno, [source.before(statement, f"{name} = {module}.random.permutation(len({arrays[0]}))",
                                       f"{both} = {arrays[0]}[{name}], {arrays[1]}[{name}]")]


def _as_given(source: Source, line: int, finding: Finding) -> tuple[int, list[Change]]:
    """fit that is told not to shuffle."""
    call = _fit_at(source, line_of(finding))
    told = word_of(call, "shuffle")
    return call.lineno, [source.one_more(call, "shuffle=False") if told is None else (
        *source.range(told.value), "False")]


def _weighed(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """fit without weights of classes, of which one is rare."""
    call = _fit_at(source, line)
    fed = next((t for t in case.steps[0].feeds if t.name == finding.target), None)
    labels = [np.asarray(run.feeds[fed]) for run in case.steps if fed is not None and fed in run.feeds]
    if not labels or word_of(call, "class_weight", "sample_weight") is not None:
        raise ArgumentError("classes are weighed, or not known")
    share = float(np.mean([each.argmax(-1).mean() if each.ndim > 1 and each.shape[-1] > 1 else each.mean()
                           for each in labels]))
    weight = min(max(1 - share, share) / min(1 - share, share), _HEAVIEST)
    weights = f"{{0: 1.0, 1: {weight:.2g}}}" if share < 1 / _SIDES else f"{{0: {weight:.2g}, 1: 1.0}}"
    return line, [source.one_more(call, f"class_weight={weights}")]


def _turned(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """The weights of two classes in each other's place where they are written; else one over them, as fit has them."""
    call = _fit_at(source, line)
    for node in given(call, None, "class_weight"):
        made = _given(source, node.id) if isinstance(node, ast.Name) else [node]
        if len(made) == 1 and isinstance(made[0], ast.Dict) and len(made[0].values) == _SIDES:
            one, other = made[0].values
            return made[0].lineno, [(*source.range(one), source.raw(other)), (*source.range(other), source.raw(one))]
        return (made[0] if len(made) == 1 else call).lineno, [(*source.range(node), "{k: 1 / w for k, w in "
                                                               f"{source.beside(node)}.items()}}")]
    for node in given(call, None, "sample_weight"):
        return call.lineno, [(*source.range(node), f"1 / {source.beside(node)}")]
    raise ArgumentError("fit is given no weights")


def fewer_dropped(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """The shares of all dropout that leaves hardly anything: each is what is left of 1, as where keep_prob and rate
    were taken for one another."""
    at = finding.place.line if finding.place is not None else 0
    shares = {node: is_kept for call in source.calls_named("dropout", "dropoutwrapper")
              for node, is_kept in _shares(source, call)}
    op = next((each for each in case.behind if each.name == finding.op), None)
    rate = rate_of_dropout(op) if op is not None else None
    for holder in ancestors([rate]) if rate is not None else ():
        if holder.type in PLACEHOLDERS:  # what is kept is taken from 1
            shares |= {node: holder is not rate.op for _, value in source.fed(holder)  # type: ignore[union-attr]
                       for node in _numbers(source, value)}
    dropped = {node: 1 - number_of(node) if is_kept else number_of(node) for node, is_kept in shares.items()}
    wrong = [node for node, share in dropped.items() if MOST_DROPPED < share < 1] or [
        node for node, share in dropped.items() if HALF + 1e-6 < share < 1]
    if not wrong:
        raise ArgumentError("no share is written there")
    return at, [(*source.range(node), f"{1 - number_of(node):.3g}") for node in wrong]


def _shares(source: Source, call: ast.Call) -> Iterator[tuple[ast.expr, bool]]:
    """The numbers that a call is given to drop by, and whether they are what is kept."""
    is_layer, is_first = called(call)[:1].isupper(), owner_text(call).endswith("nn")
    place = 0 if is_layer else 1
    for node in given(call, place if is_first and not is_layer else None, *_KEEPS):
        yield from ((each, True) for each in _numbers(source, node))
    for node in given(call, None if is_first and not is_layer else place, "rate", "p"):
        yield from ((each, False) for each in _numbers(source, node))


def _numbers(source: Source, node: ast.expr) -> Sequence[ast.expr]:
    """The literals that an expression may be."""
    return [end for end in ends(source, node) if number_of(end) == number_of(end)]


def thrown_away_at(done: Arranged) -> str:
    """What is said of a line that computes in vain."""
    return f"what {done.place.text} gives is thrown away{at_line(done.place)}"


def is_thrown_away(done: Arranged) -> bool:
    """Whether the line is to be as it is, and given to a name."""
    return done.lines.get((done.place.file, done.place.line), "").strip().endswith(f" = {done.place.text.strip()}")


def keeping(done: Arranged) -> str:
    """That line as it is to be."""
    return f"keep it, {done.lines[done.place.file, done.place.line].splitlines()[0].strip()}"


def _kept(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """What scales the data and is thrown away. Raises ArgumentError for nothing."""
    found = kept(source)
    if found is None:
        raise ArgumentError("nothing is thrown away")
    return found


_FOUND = {
    _APART: _apart, UNSCALED: _kept, "sorted by class": _in_order, COPIES: by_its_number,
    LEFT: dataset_kept, NEXT_UNUSED: of_next, _RARE: _weighed,
    "class weights the wrong way round": _turned,
    **dict.fromkeys((
    "squared error of classes", "squared error of a softmax", "binary cross entropy of classes",
    "sigmoid over classes", "one class for several", "one class"), as_of_classes),
    "class numbers": a_unit_each,
    **dict.fromkeys((NO_PROBABILITY, "labels out of range"), of_numbers),
    "averages behind": quicker, "learning rate decayed to nothing": by_steps, "dropout drops too much": fewer_dropped}
_SWITCHES = {"not trained": switches.freed, "no gradient": switches.freed,
             "changed after compile": switches.compiled_again, "batch norm in evaluation mode": switches.untold,
             "dropout in evaluation": switches.untold, "copied the wrong way": switches.set_back,
             **dict.fromkeys((SPLIT, ONE_KIND), _permuted), STATES: _as_given, **LAYER_LINES}
