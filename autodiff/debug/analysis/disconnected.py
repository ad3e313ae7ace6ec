"""Why y does not depend on x, and why a variable that y depends on is not trained."""
from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import numpy as np

from ...core.constant_value import static_value
from ...core.graph import Operation, Tensor
from ...core.traversal import ancestors, descendants, in_order, users_of
from ...gradients.between import carries_gradient
from ...gradients.blocked_reasons import GradientCall
from ..facts.graph_lists import calls_of, trainable_tensors
from ..facts.records import NewLines, Place
from ..facts.roles import ASSIGNS, PLACEHOLDERS, STORES, VARIABLES, as_place, at_line, place_of, takes_elements
from .advice import advice_of
from .findings import WhyNone
from .scripts.thrown_away import Instead, read_instead
from .unused_states import unused_state
from .update_blame import is_copy, is_no_weight, is_store

_QUESTIONS = (*ASSIGNS, "IsVariableInitialized", "VarIsInitializedOp")
_STORES = (*STORES, "ScatterAdd")
_READS = ("Identity", "ReadVariableOp")
_NO_RESULTS = (*_STORES, *_READS, "NoOp", "Const", "Shape", "Reshape")
_LIKE = ("ZerosLike", "OnesLike")
_SUMS = ("Add", "AddV2", "BiasAdd")
DERIVED = " is added to what {} takes derivatives of, which say nothing of it: that does no harm"
_FEW = 8  # ops that a copy is made of
_SHARE = "share one variable between the calls: tf.variable_scope(name, reuse=tf.AUTO_REUSE)"
_MANY = 12  # pairs of results that are looked at

_Alike = tuple[Operation, Operation, Place | None, Instead | None]
_Told = tuple[str, str] | tuple[str, str, NewLines]  # what is said, the remedy, and it as lines


def disconnected(y: Tensor, x: Tensor) -> WhyNone:
    """Why no path leads from x to y."""
    users = [op for op in dict.fromkeys(x._consumers) if op.type not in _QUESTIONS]
    used_by = tuple(op.name for op in _past_reads(users))
    what = f"{y.name} does not depend on {x.name}"
    state = unused_state(y, x)
    if state is not None:
        return WhyNone(y.name, x.name, "disconnected", f"{what}: {state.text}", state.remedy, (), used_by,
                       place_of(x.op), state.lines)
    text, remedy, *lines = _reason(y, x, users, used_by)
    return WhyNone(y.name, x.name, "disconnected", f"{what}{text}", remedy, (), used_by, place_of(x.op), *lines)


def _reason(y: Tensor, x: Tensor, users: list[Operation], used_by: tuple[str, ...]) -> _Told:
    below = ancestors([y])
    if x.op in below and x is not y:
        return f", but on another output of {x.op.name}", "use this output in the computation"
    if y in {t for op in ancestors([x]) for t in op.outputs}:
        return ": it is the other way round", f"ask for the gradient of {x.name} with respect to {y.name}"
    if not any(op.type in (*VARIABLES, *PLACEHOLDERS) for op in below):
        return (f": {y.name}{at_line(place_of(y.op))} is made of constants only", "keep tensors in the computation: "
                "what Session.run or eval() gave are mere numbers when they are put back into the graph")
    begun = _begun_with(x, below)
    if begun is not None and begun.type not in ASSIGNS:
        into = f"{begun.inputs[0].op.name!r} by {begun.type}{at_line(place_of(begun))}"
        return (f": it goes into {into}, and {y.name} reads what is stored there, through which no gradient flows",
                "minimize a loss of the tensors themselves, as of tf.losses; keep what is accumulated, as by "
                "tf.metrics, for reports")
    if begun is not None:
        variable = begun.inputs[0].op
        when = "its first value" if begun.name == f"{variable.name}/Assign" else "a value"
        return (f": it only gives {variable.name!r} {when}{at_line(place_of(begun))}, and {y.name} reads what is "
                "stored", f"ask for the gradient of {variable.name!r}, or compute with the tensor itself")
    source = _copied(x, below)
    if source is not None:
        return (f": it is a copy made of {source.name!r}{at_line(place_of(x.op))}, and {y.name} uses {source.name!r} "
                "without it", f"ask for the gradient of {source.name!r}, or compute {y.name} from this copy")
    if x.op.type in VARIABLES and x.op not in below and is_no_weight(x) and not is_copy(x):
        update = next(op for op in in_order(descendants([x])) if is_store(op) and op.inputs[0] is not x)
        return (f": only updates take it, as {update.type}{at_line(place_of(update))}, as their rate: no gradient is "
                "wanted of it", "")
    if x.op.type in VARIABLES and x not in trainable_tensors(y.graph):
        return (f": it is not trainable, and {y.name} is not made of it",
                "ask for the gradients of tf.trainable_variables() in place of all variables")
    alike, twin = _alike(x, below), _twin(x, below)
    if alike is not None:
        return _of_another_call(y, x, alike, twin)
    if twin is not None:
        return f": {y.name} uses {twin.name!r}, which the same line made in another call", _SHARE
    if all(not op.outputs or not any(t._consumers for t in op.outputs) for op in users):
        return _unused(y, x, below)
    made = [op for op in in_order(descendants([x])) if op.gradient_of is None and op not in below and op.inputs
            and op.outputs]
    known = _numbers_in(below)
    number = next((c for op in reversed(made) if (c := _numbers_of(op.outputs[0], known)) is not None), None)
    if number is not None:
        return (f": a constant{at_line(place_of(number))} is there in the place of what is made of it, as of numbers "
                "that were fetched", "compute with the tensor itself: what Session.run or eval() gave are mere numbers")
    if only_added(x, below):
        return f": it{DERIVED.format(y.name)}", ""
    if (found := _led_elsewhere(y, made, below)) is not None:
        return found
    some = ", ".join(used_by[:3]) + (" …" if len(used_by) > 3 else "")
    return f": it is used by {some}, not on the way to {y.name}", "use it in the computation, or drop it"


def _of_another_call(y: Tensor, x: Tensor, alike: _Alike, twin: Operation | None) -> _Told:
    """Of what is made of x, and y is made of the like of it: which result to use, or that one variable is to be shared.
    """
    mine, theirs, used, found = alike
    is_lost = not any(t._consumers for t in mine.outputs)
    names = found or Instead(repr(mine.name), repr(theirs.name), at_line(place_of(mine)), at_line(used), {})
    where = "nothing uses" if is_lost else "goes elsewhere"
    text = (f": it is in {names.lost}{names.made}, which {where}; {y.name} is made of {names.used}, which the same "
            "line made in another call")
    remedy = f"use {names.lost} in place of {names.used}{names.read}"
    asked = next((call.xs for call in calls_of(y.graph) if y in call.ys and x in call.xs), ())
    if twin is None or found and is_lost and theirs in ancestors(mine.inputs):  # the next layer, with its own weights
        return text, remedy, names.lines
    below = ancestors([y])
    if asked and not any(each.op in below for each in asked):
        return f"{text}, with {twin.name!r}", f"give var_list what {y.name} is made of, as {twin.name!r}; or {remedy}"
    return f"{text}, with {twin.name!r}", f"{remedy}; or {_SHARE}" if is_lost else f"{_SHARE}; or {remedy}"


def _unused(y: Tensor, x: Tensor, below: set[Operation]) -> tuple[str, str]:
    """Of what nothing uses: what is there in its place."""
    number = _numbers_of(x, _numbers_in(below)) if x.op.type in VARIABLES else None
    if number is not None:
        return (f": a constant of its shape{at_line(place_of(number))} is there in its place, as of numbers that were "
                "fetched of it", "compute with the variable itself: what Session.run or eval() gave are mere numbers")
    given = [t for op in below if op.type not in PLACEHOLDERS and takes_elements(op) for t in op.outputs]
    like = next((t for t in given if t.dtype is x.dtype and t.dims and x.dims and t.dims[1:] == x.dims[1:]), None)
    if like is not None and x.op.type in PLACEHOLDERS:
        return (f": nothing uses it; {y.name} is made of what the dataset gives, {like.name!r}"
                f"{at_line(place_of(like.op))}", f"ask for the gradient of {like.name!r}, or build the model on "
                f"{x.op.name!r}")
    if (twice := _used_twice(x, below)) is not None:
        other, first, last = twice
        return (f": nothing uses it; {other.name!r}, of the same shape, is used twice{at_line(place_of(first))} and"
                f"{at_line(place_of(last))}", f"use {x.op.name!r} in place of {other.name!r}{at_line(place_of(last))}")
    fed = [op for op in in_order(below) if op.type in PLACEHOLDERS]
    if fed and x.op.type in VARIABLES and not any(op.type in VARIABLES for op in below):
        alike = [op.name for op in fed if op.outputs[0].dims == x.dims]
        return (f": nothing uses it; {y.name}{at_line(place_of(y.op))} is made of what is fed alone, as for "
                f"{fed[0].name!r}{at_line(place_of(fed[0]))}, which no step changes", f"make {y.name} of {x.op.name!r}"
                + "".join(f" in place of {name!r}" for name in alike[:1]))
    return ": nothing uses it", "use it in the computation, or drop it"


def _used_twice(x: Tensor, below: set[Operation]) -> tuple[Operation, Operation, Operation] | None:
    """The one other variable of a variable's shape that two lines use, and the first and the last op that do."""
    shape, found = x.op.attrs.get("shape"), []
    for op in below if x.op.type in VARIABLES and shape else ():
        if op.type in VARIABLES and op.attrs.get("shape") == shape and op is not x.op:
            users = [c for c in in_order(_past_reads(op.outputs[0]._consumers)) if c in below]
            if len({place_of(c) for c in users if c.gradient_of is None}) > 1:
                found.append((op, users[0], users[-1]))
    return found[0] if len(found) == 1 else None


def only_added(x: Tensor, below: Collection[Operation]) -> bool:
    """Whether a foreign program adds x to what is not in y, though what that is made of is, as an energy of forces."""
    sums = [op for op in in_order(descendants([x])) if op.type in _SUMS and op.gradient_of is None]
    others = [t.op for op in sums[:1] for t in op.inputs if x.op not in ancestors([t])]
    return bool(advice_of(x.graph).words) and x.op not in below and bool(others) and all(op not in below and any(
        each.type in VARIABLES and each in below for each in ancestors(op.outputs)) for op in others)


def _led_elsewhere(y: Tensor, made: list[Operation], below: set[Operation]) -> _Told | None:
    """Of what is made of x and nothing uses: where it ends, and what to compute of it."""
    if (instead := _fed_instead(made, below)) is not None:
        lost, fed = instead
        if (found := read_instead(lost.op, fed, made, below)) is not None:
            return (f": it leads to {found.lost}{found.made}, which nothing uses, and {y.name} is made of what is fed "
                    f"for {found.used}", f"use {found.lost} in place of {found.used}{found.read}", found.lines)
        return (f": it leads to {lost.name!r}{at_line(place_of(lost.op))}, which nothing uses, and {y.name} is made of "
                f"what is fed for {fed.name!r}", f"compute {y.name} of {lost.name!r} in place of {fed.name!r}")
    made = [op for op in made if op.type not in _QUESTIONS]
    end = next((op for op in reversed(made) if not any(t._consumers for t in op.outputs)), None)
    if end is not None and not is_store(end) and len(made) > 1:
        alike = [op for op in below if op.type == end.type and op.gradient_of is None and op.outputs[0].dims ==
                 end.outputs[0].dims and len(end.outputs[0].dims or ()) > 1]
        both = [op for op in ancestors([end.outputs[0]]) if op in below and op.type in (*VARIABLES, *PLACEHOLDERS)]
        both = alike or [op for op in both if op.outputs[0].dims == end.outputs[0].dims] or both
        beside = f" in place of {both[0].name!r}" if len(both) == 1 else ""
        return (f": it leads to {end.name!r}{at_line(place_of(end))}, which nothing uses, not on the way to {y.name}",
                f"compute {y.name} of {end.name!r}{beside}")
    return None


def _fed_instead(made: list[Operation], below: set[Operation]) -> tuple[Tensor, Operation] | None:
    """The last result that nothing uses of which one placeholder on the way to y has the type and shape; and that."""
    for t in (t for op in reversed(made) for t in op.outputs if not t._consumers and t.dtype.is_floating and t.dims):
        behind = ancestors([t])
        fed = [op for op in below if op.type in PLACEHOLDERS and op not in behind and op.outputs[0].dtype is t.dtype
               and op.outputs[0].dims == t.dims]
        learnt = descendants(trainable_tensors(t.graph)) if fed else set[Operation]()
        fed = [op for op in fed if not _is_compared(op, below, learnt)]
        if fed:
            return (t, fed[0]) if len(fed) == 1 else None
    return None


def _is_compared(fed: Operation, below: set[Operation], learnt: set[Operation]) -> bool:
    """Whether a placeholder meets what is learnt, made of variables, as labels do, before it goes into a layer."""
    reached = [fed]
    for op in reached:
        for c in (c for c in users_of(op) if c in below and c not in reached):
            others = [t.op for t in c.inputs if t.op in learnt and t.op not in reached]
            if any(other.type not in (*VARIABLES, *_READS) for other in others):
                return True
            reached += [] if others else [c]
    return False


def _past_reads(users: Iterable[Operation]) -> list[Operation]:
    """Ops that use a tensor; in place of one that only reads a variable those that use what it read."""
    found: list[Operation] = []
    for op in users:
        if op.type in _READS and op.name.rpartition("/")[2] in ("read", "ReadVariableOp"):
            found += [c for t in op.outputs for c in t._consumers] or [op]
        else:
            found.append(op)
    return list(dict.fromkeys(found))


def _begun_with(x: Tensor, below: set[Operation]) -> Operation | None:
    """What stores x in a variable that y reads."""
    for op in below:
        if op.type in VARIABLES and op is not x.op:
            for store in op.outputs[0]._consumers:
                if store.type in _STORES and x.op in ancestors(store.inputs[1:]):
                    return store
    return None


def _copied(x: Tensor, below: set[Operation]) -> Operation | None:
    """What x was made of within a few ops, if y is made of it too."""
    if not x.op.inputs or x.op.type in VARIABLES:
        return None
    above = [op for op in ancestors([x]) if op is not x.op]
    sources = [op for op in above if op in below and op.type != "Const" and any(map(carries_gradient, op.outputs)) and (
        op.type in (*VARIABLES, *PLACEHOLDERS) or any(t._consumers for t in op.outputs))]
    nearest = max(sources, key=lambda op: op.index, default=None)
    if nearest is None or len({*above} - ancestors(nearest.outputs)) >= _FEW:
        return None
    return nearest.inputs[0].op if nearest.type in _READS and nearest.inputs else nearest


def _numbers_in(below: set[Operation]) -> dict[tuple[object, ...], Operation]:
    """The constants on the way to y of more than one number, by their type and shape."""
    values = [(op, static_value(op.outputs[0])) for op in below if op.type == "Const" and op.gradient_of is None]
    return {(value.dtype, *value.shape): op for op, value in values if value is not None and value.size > 1
            and value.dtype.kind == "f" and np.unique(value).size > 1}


def _numbers_of(x: Tensor, known: dict[tuple[object, ...], Operation]) -> Operation | None:
    """A constant that has a tensor's type and shape."""
    shape = x.op.attrs.get("shape") if x.op.type in VARIABLES else x.dims
    return known.get((np.dtype(x.dtype.base_dtype.as_numpy_dtype), *shape)) if shape and x.dtype.is_floating else None


def _alike(x: Tensor, below: set[Operation]) -> _Alike | None:
    """The last op made of x, of those that other lines use, of which the same line made another one that y uses; that
    one; the line that uses it; and how the script calls the two. Further back, where these differ in data besides.
    """
    like = {(op.type, place_of(op)): op for op in in_order(below) if op.gradient_of is None and op.inputs}
    made = [op for op in in_order(descendants([x])) if op.gradient_of is None]
    lines = {site for each in made for site in each.traceback}
    pairs: list[tuple[Operation, Operation, Place | None, bool]] = []
    for op in reversed(made):
        place = place_of(op)
        other = like.get((op.type, place)) if op.type not in _NO_RESULTS and op not in below and len(
            op.traceback) > 1 and op.outputs[0].dims != () else None
        if other is None or place is None or any(place_of(c) == place for c in users_of(op)):
            continue
        sites = (site for c in reversed(other.outputs[0]._consumers) if c in below for site in c.traceback)
        site = next((site for site in sites if site not in lines), None)
        pairs.append((op, other, None if site is None else as_place(site), _same_but_for(op, other, {*made})))
        named = read_instead(op, other, made, below) if pairs[-1][-1] else None
        if named is not None or len(pairs) == _MANY:
            return (*pairs[-1][:-1], named)
    return next(((*pair[:-1], None) for pair in sorted(pairs, key=lambda pair: not pair[-1])), None)


def _same_but_for(op: Operation, other: Operation, made: set[Operation]) -> bool:
    """Whether what two ops of one line are made of differs in what is of `made`, and in variables, but not in data."""
    if other in ancestors(op.outputs):
        return True  # layers of one kind, one upon the other
    pairs, seen = [(op, other)], set[tuple[Operation, Operation]]()
    for a, b in pairs:
        if a is b or (a, b) in seen:
            continue
        seen.add((a, b))
        if a.type == b.type and len(a.inputs) == len(b.inputs) > 0 and place_of(a) == place_of(b):
            pairs += [(t.op, u.op) for t, u in zip(a.inputs, b.inputs)]
        elif (a not in made or a.type in _LIKE) and a.type not in VARIABLES:
            one, two = (static_value(each.outputs[0]) for each in (a, b))
            if one is None or two is None or not np.array_equal(one, two):
                return False
    return True


def _twin(x: Tensor, below: set[Operation]) -> Operation | None:
    """Another variable that the same line of the script made, and that y uses."""
    if x.op.type not in VARIABLES or place_of(x.op) is None:
        return None

    def kind(op: Operation) -> tuple[object, ...]:
        name = re.sub(r"_\d+$", "", op.name.rpartition("/")[2])
        return place_of(op), op.span, op.attrs.get("shape"), name

    return next((op for op in in_order(below) if op.type in VARIABLES and op is not x.op and kind(op) == kind(x.op)),
                None)


def asks_for_nothing(call: GradientCall) -> bool:
    """Whether only the derivative of y by y was taken, as Keras does where no weight is left to train."""
    return set(call.xs) <= set(call.ys)


def not_trained(y: Tensor, x: Tensor, call: GradientCall, others: Iterable[GradientCall], trainable: bool) -> WhyNone:
    """Why a variable that a gradient could reach gets none: the gradient call was not asked for it."""
    flows = f"a gradient flows from {y.name} to {x.name}"
    other = next((each for each in others if each is not call and each.found.get(x) is not None), None)
    found = call.found.get(y)
    site = getattr(getattr(found, "op", None), "site", None)
    asked = at_line(None if site is None else as_place(site))
    if other is not None:
        text = (f"{flows}, but the gradient call of {y.name}{asked} was not asked for it; that of "
                f"{other.ys[0].name} was")
        remedy = f"why {x.op.name} --of {other.ys[0].name} looks at that one"
    elif asks_for_nothing(call):
        return WhyNone(y.name, x.name, "not asked", "nothing at all is trained: every variable that "
                       f"{y.name} depends on is frozen", "leave something trainable before compile: the new layers, "
                       "where the others are frozen", (), (), place_of(y.op))
    elif not trainable and x.op.type in VARIABLES:
        text = f"{flows}, but it is not trainable, so the gradient call{asked} was not asked for it"
        remedy = "make it with trainable=True, or name it in var_list"
    else:
        text = (f"{flows}, but the gradient call{asked} was not asked for it: it was given {len(call.xs)} others"
                f" ({', '.join(each.name for each in call.xs[:3])}{' …' if len(call.xs) > 3 else ''})")
        remedy = "add it to xs or var_list (trainable variables are taken by default)"
    return WhyNone(y.name, x.name, "not asked", text, remedy, (), (), place_of(x.op))
