"""A program of another framework as a graph, and the tables that say what its ops are made of."""
from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from ..api.variables.variable import Variable
from ..core import site
from ..core.errors import ArgumentError, AutodiffError
from ..core.graph import Graph, Tensor
from ..core.site import Site

tf: Any = import_module("..", __package__)  # the library by the names that scripts use, for the tables

Restore = Callable[[Any], None]  # gives variables values in a session


@dataclass(frozen=True)
class Model:
    """A foreign program, read. inputs: its placeholders by name, in the order of its arguments. outputs: tensors.

    variables: its parameters by dotted name. feeds: placeholder -> example value, for `session.run(outputs, feeds)`;
    empty where the source has none. values: what the source has names for -> the tensor.
    restore: gives the variables the values of the source in a session; None if initializing them does.
    """

    graph: Graph
    inputs: Mapping[str, Tensor]
    outputs: Sequence[Tensor]
    variables: Mapping[str, Variable] = field(default_factory=dict)
    feeds: Mapping[Tensor, np.ndarray] = field(default_factory=dict)
    values: Mapping[str, Tensor] = field(default_factory=dict)
    restore: "Restore | None" = None


class Use(NamedTuple):
    """One op of a foreign program: the source's name for it, and the user's line if it is known."""

    op: str
    site: Site | None = None


class MissingOp(NamedTuple):
    """An op that a table does not have: how many the program has of it, and the line of the first."""

    op: str
    uses: int
    site: Site | None


class MissingOpError(AutodiffError, NotImplementedError):
    """A foreign program uses ops that its table does not have. missing: all of them."""

    def __init__(self, source: str, missing: Sequence[MissingOp]) -> None:
        first, *others = missing
        more = f"; missing too: {', '.join(m.op for m in others)}" if others else ""
        super().__init__(f"{source} op {first.op!r} is not there: the model has {first.uses} of it{more}",
                         line=str(first.site or ""),
                         hint="`gradbg --survey FILE` lists what a model needs that is not there")
        self.missing = tuple(missing)


@dataclass(frozen=True)
class ForeignOp:
    """One row of a table. build(*inputs, **attributes) gives its outputs, made of our ops.

    Positional parameters of `build` are the inputs, keyword-only ones the attributes, with their defaults. An attribute
    that has the name of an input stands for it (older versions of an op). note: what differs from our op of that name.
    """

    name: str
    build: Callable[..., Any]
    note: str = ""

    @functools.cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.build)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of all that it takes."""
        return tuple(self._signature.parameters)

    def __call__(self, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> tuple[Any, ...]:
        """Add it to the graph at hand. Raises ArgumentError for inputs or attributes that it does not take."""
        try:
            bound = self._signature.bind(*inputs, **attributes)
        except TypeError as error:
            raise ArgumentError(f"{self.name} {error}: it takes {', '.join(self.arguments)}") from None
        found = self.build(*bound.args, **bound.kwargs)
        return tuple(found) if isinstance(found, (list, tuple)) else (found,)


class Table:
    """The ops of one source, by the source's names. ignored: attributes that change nothing here."""

    def __init__(self, source: str, ignored: Iterable[str] = ()) -> None:
        self.source, self.ops = source, dict[str, ForeignOp]()
        self._ignored = frozenset(ignored)

    def op(self, *names: str, note: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorator: the function says in a few lines of our ops what the ops of these names are."""
        def declare(build: Callable[..., Any]) -> Callable[..., Any]:
            for name in names:
                if name in self.ops:
                    raise ArgumentError(f"{self.source} op {name!r} is declared twice")
                self.ops[name] = ForeignOp(name, build, note)
            return build
        return declare

    def plain(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        """Declare ops that are one of ours, taking inputs and no attributes."""
        for name, function in functions.items():
            self.op(name)(_inputs_only(function))

    def rows(self, rules: Mapping[str, Any], **options: Any) -> None:
        """Declare ops that are one expression each: names, blanks between, -> the rule, or it and a note.

        options: what `op` is told of all.
        """
        for names, rule in rules.items():
            build, note = rule if isinstance(rule, tuple) else (rule, "")
            self.op(*names.split(), note=note, **options)(build)

    def __contains__(self, name: object) -> bool:
        return name in self.ops

    def missing(self, uses: Iterable[Use]) -> list[MissingOp]:
        """The ops of a program that the table lacks, most frequent first."""
        found: dict[str, list[Site | None]] = {}
        for use in uses:
            if use.op not in self.ops:
                found.setdefault(use.op, []).append(use.site)
        rows = [MissingOp(op, len(sites), next(filter(None, sites), None)) for op, sites in found.items()]
        return sorted(rows, key=lambda row: -row.uses)

    def check(self, uses: Iterable[Use]) -> None:
        """Raises MissingOpError if the table lacks an op of a program."""
        missing = self.missing(uses)
        if missing:
            raise MissingOpError(self.source, missing)

    def build(self, name: str, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> tuple[Any, ...]:
        """The outputs of one foreign op, added to the graph at hand."""
        wanted = {key: value for key, value in attributes.items() if key not in self._ignored}
        return self.ops[name](inputs, wanted)


def _inputs_only(function: Callable[..., Any]) -> Callable[..., Any]:
    def build(*inputs: Any) -> Any:
        return function(*inputs)
    return build


def build_at(graph: Graph, sites: Sequence[Site], where: str, build: Callable[..., Any], *arguments: Any) -> Any:
    """What build(*arguments) gives; the ops that it adds to `graph` are of these lines of the user's, innermost first.

    where: the foreign node, for the message of an error. Without sites the ops keep the line that called the reader.
    """
    try:
        with site.made_at(graph, site.frames_of(sites)):
            return build(*arguments)
    except AutodiffError as error:
        error.explain(line=str(sites[0]) if sites else "")
        error.node = f"{error.node}\nin {where}" if error.node else where
        raise


def legal_name(name: str) -> str:
    """A foreign name as the name of an operation: dots and slashes stay, what TensorFlow refuses becomes `_`."""
    return re.sub(r"^[^A-Za-z0-9.]+", "", re.sub(r"[^A-Za-z0-9_.\\/-]", "_", name)) or "value"
