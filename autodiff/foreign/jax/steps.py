"""Calls of gradient functions as graphs: calls that do the same are the same graph with other values."""
from __future__ import annotations

import contextlib
import copy
import inspect
import io
import itertools
import sys
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import jax
import numpy as np

from ...core.errors import AutodiffError
from ...core.graph import Tensor
from ...core.site import Site
from ...debug.analysis.advice import Remark
from ...debug.analysis.disconnected import DERIVED
from ...debug.facts.records import Place
from ...debug.facts.roles import as_place
from ..leaf_names import dotted, parameter_names
from ..model import legal_name, tf
from ..steps import ForeignStep, ForeignSteps, not_used
from .calls import Call
from .compiled import Traced, check_indices
from .data import Equation, Literal, Program, Variable, is_only_added, last_use
from .dropped import unread
from .jitted import Once, form_of
from .primitives.walk import build_program
from .primitives.whole import JAX
from .program import array_of, as_program, jaxpr_at_values, jaxpr_of, tidied
from .rows import held_by


class Leaf(NamedTuple):
    """An array among the arguments. place: which argument, and where in it. is_parameter: whether it is
    differentiated."""

    name: str
    value: Any
    place: tuple[int, Any]
    is_parameter: bool


@dataclass(frozen=True)
class Reading:
    """What a call was found to do. graph, key: what calls of the same program share, without and with what comes beside
    its value, and the numbers in it. numbers: of `program`."""

    leaves: list[Leaf]
    program: Program
    traced: Traced
    graph: Any
    numbers: tuple[float, ...]
    key: Any


@dataclass
class _Known:
    """A graph that was built. given: placeholders for the inputs that are no parameters, and for constants. numbers: of
    its program; free: those that are fed too. remarks: of parameters that the function had from around it too, when it
    was traced."""

    loss: Tensor
    given: list[Tensor]
    numbers: tuple[float, ...] = ()
    free: frozenset[int] = frozenset()
    remarks: dict[str, Remark] = field(default_factory=dict)


class Builder:
    """Builds calls in the graph of `steps`."""

    def __init__(self, steps: ForeignSteps) -> None:
        self._steps = steps
        self._known: dict[Any, _Known] = {}

    def built(self, call: Call, reading: Reading, sites: Sequence[Site]) -> tuple[
            ForeignStep, Callable[[], Any], dict[int, Any]]:
        """The step that a call is, by the line of sites[0], a function that runs it with its indices checked, and what
        stands for each of its arguments, as a tree like it. Raises MissingOpError for primitives that are not there.
        """
        leaves, program = reading.leaves, reading.program
        JAX.check(program.uses())
        values = {leaf.name: array_of(leaf.value) for leaf in leaves if leaf.is_parameter}
        for name, value in values.items():
            self._steps.variable(name, value)
        ends = {leaf.name: end for leaf, v in zip(leaves, program.inputs) if (end := last_use(program, v)) is not None}
        added = {leaf.name for leaf, v in zip(leaves, program.inputs) if is_only_added(program, v)}
        self._steps.advice.untrained = {self._steps.variables[name].op.name for name in added & {*values}}
        self._steps.advice.remarks = {self._steps.variables[name].op.name: (
            Remark(f"it{DERIVED.format('the loss')}", _place(end.sites)) if name in added else
            not_used(end.primitive, _place(end.sites))) for name, end in ends.items() if name in values}
        cotangents = [] if call.cotangents is None else [array_of(c) for c in jax.tree.leaves(call.cotangents)]
        key = reading.graph, tuple(leaf.name for leaf in leaves), len(cotangents)
        known = self._found(key, call, reading, cotangents)
        program = freed(program, known.free)
        self._steps.advice.remarks |= known.remarks
        data = [array_of(leaf.value) for leaf in leaves if not leaf.is_parameter]
        data += [*cotangents, *(value for _, value in program.constants)]
        step = ForeignStep(known.loss, values, dict(zip(known.given, data)), _own_gradients(call, leaves), call.made_by,
                           _place(sites))
        nodes = iter(known.given)
        standing = {leaf.place: self._steps.variables[leaf.name] if leaf.is_parameter else next(nodes)
                    for leaf in leaves}
        trees = {number: _like(argument, {path: node for (n, path), node in standing.items() if n == number})
                 for number, argument in enumerate([*call.args, *call.kwargs.values()])}
        return step, lambda: check_indices(_Flat(call, leaves), [leaf.value for leaf in leaves]), trees

    def _found(self, key: Hashable, call: Call, reading: Reading, cotangents: Sequence[np.ndarray]) -> _Known:
        """The graph of such a call. Numbers that have changed since the last one are fed too, as what Python, or JAX at
        once, made of the data."""
        def new(free: frozenset[int]) -> _Known:
            program = freed(reading.program, free)
            made = self._new(program, reading.leaves, cotangents, _names_of(call.function, program))
            told = unread(call.function, parameter_names(call.function, call.args), reading)
            return replace(made, numbers=reading.numbers, free=free, remarks={
                self._steps.variables[name].op.name: remark for name, remark in told})

        exact = key, reading.numbers
        known = self._known.get(exact) or self._known.get(key)
        if known is None:
            known = self._known[key] = new(frozenset())
        free = known.free | {i for i, (a, b) in enumerate(zip(known.numbers, reading.numbers)) if a != b and (
            a == a or b == b)}
        if free != known.free:
            try:
                known = self._known[key] = new(free)
            except (AutodiffError, TypeError, ValueError, NotImplementedError):  # a rule that must know the number
                known = self._known[exact] = new(frozenset())
        return known

    def _new(self, program: Program, leaves: Sequence[Leaf], cotangents: Sequence[np.ndarray],
             names: Sequence[str]) -> _Known:
        given: list[Tensor] = []

        def placeholder(dtype: Any, shape: Any, name: str) -> Tensor:
            given.append(tf.placeholder(dtype, list(shape), name=legal_name(name)))
            return given[-1]

        with self._steps.graph.as_default():
            inputs = [self._steps.variables[leaf.name].read_value() if leaf.is_parameter else
                      placeholder(v.dtype, v.shape, leaf.name) for leaf, v in zip(leaves, program.inputs)]
            weights = [placeholder(c.dtype, c.shape, "cotangent") for c in cotangents]
            constants = [placeholder(v.dtype, v.shape, name) for (v, _), name in zip(program.constants, names)]
            outputs = build_program(program, inputs, constants=constants)
            if not weights:
                return _Known(outputs[0], given)
            return _Known(tf.add_n([tf.reduce_sum(y * w) for y, w in zip(outputs, weights)]), given)


def _names_of(function: Any, program: Program) -> list[str]:
    """What the script calls the arrays that a function reads from around it, by their values; else `constant`."""
    known = [(name, np.asarray(value)) for name, value in getattr(inspect.unwrap(function), "__globals__", {}).items()
             if isinstance(value, (jax.Array, np.ndarray)) and isinstance(value.dtype, np.dtype)]
    return [next((name for name, array in known if array.size > 1 and array.shape == np.shape(value) and np.array_equal(
        array, value)), "constant") for _, value in program.constants]


def _place(sites: Sequence[Site]) -> Place | None:
    return as_place(sites[0]) if sites else None


def leaves_of(call: Call, everything: bool) -> list[Leaf]:
    """The arrays that a program is traced for: parameters, and (everything) those of other arguments."""
    wanted = set(call.numbers)
    arguments = dict(enumerate(call.args)) | {len(call.args) + i: v for i, v in enumerate(call.kwargs.values())}
    titles = [*parameter_names(call.function, call.args), *call.kwargs]
    found, taken = [], set[str]()
    for number, value in arguments.items():
        for path, leaf in jax.tree_util.tree_leaves_with_path(value):
            is_parameter = number in wanted and jax.dtypes.issubdtype(jax.numpy.result_type(leaf), np.inexact)
            if not is_parameter and not (everything and isinstance(leaf, (jax.Array, np.ndarray))):
                continue
            name = (dotted(path) if is_parameter and path else "") or dotted(path, titles[number])
            if name in taken or name[0].isdigit():  # as of a list of layers
                name = dotted(path, titles[number])
            taken.add(name)
            found.append(Leaf(name, leaf, (number, path), is_parameter))
    return found


def _like(tree: Any, nodes: dict[Any, Any], path: tuple[Any, ...] = ()) -> Any:
    """A tree of dicts, lists and tuples with our tensors in the place of its arrays. nodes: by the path of the leaf."""
    if isinstance(tree, dict):
        return {key: _like(part, nodes, (*path, jax.tree_util.DictKey(key))) for key, part in tree.items()}
    if isinstance(tree, (list, tuple)):
        fields = getattr(tree, "_fields", None)
        keys = map(jax.tree_util.GetAttrKey, fields) if fields else map(jax.tree_util.SequenceKey, range(len(tree)))
        parts = [_like(part, nodes, (*path, key)) for part, key in zip(tree, keys)]
        return type(tree)(*parts) if fields else type(tree)(parts)
    return nodes.get(path, tree)


def changing(call: Call) -> list[int | None] | None:
    """While a call is traced, what `Once` has of it: the arrays that its function closes over are traced too, or stay
    what they are."""
    flat, held = _Flat(call, leaves_of(call, everything=True)), held_by(call.function)
    outside = jaxpr_of(flat, flat.values)[1]
    found = [next((i for i, x in enumerate(held) if x is each), -1) if isinstance(each, jax.core.Tracer) else None
             for each in outside]
    return None if -1 in found else found


def read_once(call: Call, once: Once | None) -> Reading:
    """`read`, or what that found when the same call was read before, with the values of this one."""
    if once is None or once.outside is None:
        return read(call)
    held = held_by(call.function)
    form = form_of((call.args, call.kwargs)), call.code, len(held)
    if once.first is None or once.first[0] != form:
        found = read(call)
        if found.traced.aux is not None and len(found.traced.outside) == len(once.outside):
            once.first = form, found
        return found
    first: Reading = once.first[1]
    given = {(number, path): leaf for number, argument in enumerate([*call.args, *call.kwargs.values()])
             for path, leaf in jax.tree_util.tree_leaves_with_path(argument)}
    leaves = [leaf._replace(value=given[leaf.place]) for leaf in first.leaves]
    outside = [old if i is None else held[i] for i, old in zip(once.outside, first.traced.outside)]
    constants = tuple((v, array_of(value)) for (v, _), value in zip(first.program.constants, outside))
    return replace(first, leaves=leaves, program=replace(first.program, constants=constants),
                   traced=first.traced._replace(outside=outside, values=[leaf.value for leaf in leaves]))


def read(call: Call) -> Reading:
    """The arrays among the arguments, and their program. Where Python looks at values, only parameters vary."""
    try:
        flat = _Flat(call, leaves_of(call, everything=True))
        jaxpr, outside = jaxpr_of(flat, flat.values)
    except jax.errors.ConcretizationTypeError:
        flat = _Flat(call, leaves_of(call, everything=False))
        jaxpr, outside = jaxpr_at_values(flat, flat.values)
        flat.aux = None
    whole = as_program(jaxpr, outside)
    program, moving = tidied(whole, flat.count), [i for i, leaf in enumerate(flat.leaves) if leaf.is_parameter]
    return Reading(flat.leaves, program, Traced(jaxpr, outside, flat.values, moving, flat.aux), *signature(program),
                   signature(whole))


class _Flat:
    """What is differentiated as a function of the leaves, to its value and what comes beside it.

    What it prints is not seen again. count: of the arrays that are the value. aux: the tree of what comes beside it,
    None where that is not of arrays or Python does more than is seen.
    """

    def __init__(self, call: Call, leaves: list[Leaf]) -> None:
        self._call, self.leaves, self.values = call, leaves, [leaf.value for leaf in leaves]
        self._trees = [jax.tree_util.tree_flatten_with_path(x) for x in (*call.args, *call.kwargs.values())]
        self.count, self.aux = 1, None

    def __call__(self, *values: Any) -> tuple[Any, list[Any]]:
        call, said = self._call, io.StringIO()
        given = {leaf.place: v for leaf, v in zip(self.leaves, values)}
        made = [jax.tree.unflatten(tree, [given.get((i, path), old) for path, old in found])
                for i, (found, tree) in enumerate(self._trees)]
        with contextlib.redirect_stdout(said):
            result = _unspent(call.function)(*made[:len(call.args)], **dict(zip(call.kwargs, made[len(call.args):])))
        value, beside = (result[0], result[1]) if call.has_aux else (result, ())
        self.count = len(jax.tree.leaves(value))
        found, tree = jax.tree.flatten(beside)
        is_all = all(isinstance(each, (jax.Array, np.ndarray)) for each in found) and not said.getvalue()
        self.aux = tree if is_all else None
        return value, found if is_all else []


def _unspent(function: Any) -> Any:
    """A copy of an object of a package, which may take from its lists what each call needs, as those of flax.nnx do."""
    module = sys.modules.get(type(function).__module__)
    if "-packages" not in (getattr(module, "__file__", None) or ""):
        return function
    copied = copy.copy(function)
    for name, value in vars(function).items():
        if isinstance(value, (list, dict, deque)):
            object.__setattr__(copied, name, copy.copy(value))
    return copied


def _own_gradients(call: Call, leaves: Sequence[Leaf]) -> dict[str, np.ndarray | None]:
    """What JAX found, by the name of the parameter."""
    trees = [call.gradients] if isinstance(call.argnums, int) else call.gradients
    found = {(n, jax.tree_util.keystr(path)): g for n, tree in zip(call.numbers, trees)
             for path, g in jax.tree_util.tree_leaves_with_path(tree)}
    return {leaf.name: array_of(found[leaf.place[0], jax.tree_util.keystr(leaf.place[1])])
            for leaf in leaves if leaf.is_parameter}


def _numbers_of(e: Equation) -> Iterator[int]:
    """Which inputs of an equation are numbers; none of one whose gradient JAX traces, by what varies of them."""
    for i, v in enumerate(e.inputs if e.primitive not in JAX.pulled_back else ()):
        if isinstance(v, Literal) and v.value.dtype.kind == "f" and not v.value.ndim:
            yield i


def freed(program: Program, free: Collection[int]) -> Program:
    """A program in which some of its numbers are constants. free: which, in the order of `signature`."""
    if not free:
        return program
    constants, count, equations = [*program.constants], itertools.count(), []
    for e in program.equations:
        inputs: list[Any] = [*e.inputs]
        for i in _numbers_of(e):
            if next(count) in free:
                value = inputs[i].value
                inputs[i] = Variable(value.dtype.name, ())
                constants.append((inputs[i], value))
        equations.append(replace(e, inputs=tuple(inputs)))
    return replace(program, constants=tuple(constants), equations=tuple(equations))


def signature(program: Program) -> tuple[Any, tuple[float, ...]]:
    """What tells a program from others: primitives, shapes, lines, and what goes where; not the constants, nor its own
    numbers, which come beside it."""
    names: dict[Variable, int] = {}
    numbers: list[float] = []

    def atom(v: Variable | Literal) -> Any:
        if isinstance(v, Literal):
            return v.value.tobytes(), v.value.dtype.name
        return names.setdefault(v, len(names)), v.dtype, v.shape

    def plain(value: Any) -> Any:
        if isinstance(value, Program):
            return signature(value), tuple(c.tobytes() for _, c in value.constants)
        if isinstance(value, dict):
            return tuple((key, plain(part)) for key, part in value.items())
        if isinstance(value, tuple):
            return tuple(map(plain, value))
        return repr(value)

    def described(e: Equation) -> Any:
        inputs, found = [*map(atom, e.inputs)], [*_numbers_of(e)]
        for i in found:
            inputs[i] = inputs[i][1:]
        numbers.extend(float(e.inputs[i].value) for i in found)  # type: ignore[union-attr]
        return e.primitive, (*inputs,), tuple(map(atom, e.outputs)), plain(dict(e.params)), e.sites

    inputs = tuple(map(atom, (*program.inputs, *(v for v, _ in program.constants))))
    return (inputs, tuple(map(described, program.equations)), tuple(map(atom, program.outputs))), tuple(numbers)
