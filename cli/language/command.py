"""@command: a function becomes a command; its signature is the grammar, its docstring the help page."""
from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from autodiff.core.names import did_you_mean

from ..model.usage_error import UsageError
from .argument_kinds import Kind
from .other_words import INSTEAD

SIGNS = "/@!"  # verbs of one character, with no blank needed behind them
GROUPS = ("Script", "Run", "Watch", "Look", "Gradients", "Diagnose", "Change", "Shell")


@dataclass(frozen=True)
class Parameter:
    """One argument or option. kind None: a flag. optional: may be left out. by_name: passed by keyword."""

    name: str
    kind: Kind | None
    default: Any
    optional: bool
    variadic: bool = False
    by_name: bool = False

    @property
    def is_option(self) -> bool:
        return self.by_name and (self.kind is None or not self.kind.introducer)

    @property
    def takes_many(self) -> bool:
        """Whether it takes all words that are left."""
        return self.variadic or self.kind is not None and self.kind.rest and not self.kind.introducer

    @property
    def option(self) -> str:
        return "--" + self.name.rstrip("_").replace("_", "-")

    @property
    def synopsis(self) -> str:
        if self.kind is None:
            return f"[{self.option}]"
        if self.is_option:
            return f"[{self.option} {self.kind.metavar}]"
        lead = f"{self.kind.introducer} " if self.kind.introducer not in ("", "/") else ""
        text = lead + self.kind.metavar + ("…" if self.variadic else "")
        return f"[{text}]" if self.optional else text


class Alias(NamedTuple):
    """What another word stands for: the command's name, maybe with arguments, and what its own options are called.

    options: "-n" -> "--name", "--kind relu" for a fixed value, or "/s" for a letter of the format.
    """

    words: str
    options: Mapping[str, str] = {}


@dataclass(frozen=True)
class Command:
    """One command. aliases: other word -> what it stands for."""

    name: str
    group: str
    aliases: dict[str, Alias]
    run: Callable[..., Any]
    wants: str
    parameters: tuple[Parameter, ...]
    shorts: dict[str, str]
    repeats: bool
    summary: str
    body: str
    examples: tuple[str, ...]
    api: str

    @property
    def arguments(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if not p.is_option)

    @property
    def options(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.is_option)

    @property
    def synopsis(self) -> str:
        formats = [p for p in self.arguments if p.kind and p.kind.introducer == "/"]
        others = [p for p in self.parameters if p not in formats]
        words = [p.synopsis for p in formats + others]
        return self.name + " ".join(words) if self.name in SIGNS else " ".join([self.name, *words])

    @property
    def takes_expression(self) -> bool:
        return any(p.kind is not None and p.kind.expression for p in self.parameters)

    @property
    def keeps_marks(self) -> bool:
        """Whether `>` and `|` are always its argument's own."""
        return any(p.kind is not None and p.kind.keeps_marks for p in self.parameters)

    @property
    def is_raw(self) -> bool:
        """Whether all of the line is its one argument."""
        return len(self.parameters) == 1 and self.parameters[0].takes_many and not self.parameters[0].variadic

    @property
    def same(self) -> list[str]:
        """Aliases that stand for nothing but the name."""
        return [word for word, alias in self.aliases.items() if alias == Alias(self.name)]


COMMANDS: dict[str, Command] = {}


def command(name: str, *, group: str, aliases: tuple[str, ...] = (), shorthands: dict[str, str | Alias] | None = None,
            shorts: dict[str, str] | None = None, repeats: bool = False) -> Callable[[Callable], Callable]:
    """Declare a command.

    shorthands: words of other debuggers, with blanks between -> what they stand for (`lt` -> `info tensors`). shorts:
    short options -> option, as in an Alias, or "?" and what to type instead. repeats: an empty line on a terminal does
    it again.
    """
    def declare(run: Callable) -> Callable:
        known = {word: Alias(name) for word in aliases}
        for words, alias in (shorthands or {}).items():
            known |= dict.fromkeys(words.split(), alias if isinstance(alias, Alias) else Alias(alias))
        parameters = _parameters(run)
        wants = next(iter(inspect.signature(run).parameters))
        COMMANDS[name] = Command(name, group, known, run, wants, parameters, shorts or {}, repeats,
                                 *_sections(inspect.getdoc(run) or ""))
        return run
    return declare


def _parameters(run: Callable) -> tuple[Parameter, ...]:
    hints = get_type_hints(run, include_extras=True)
    found = []
    for parameter in list(inspect.signature(run).parameters.values())[1:]:
        kind, may_be_none = _kind(hints[parameter.name])
        variadic = parameter.kind is parameter.VAR_POSITIONAL
        has_default = parameter.default is not parameter.empty
        found.append(Parameter(parameter.name, kind, parameter.default if has_default else None,
                               has_default or may_be_none or variadic, variadic,
                               parameter.kind is parameter.KEYWORD_ONLY))
    return tuple(found)


def _kind(hint: Any) -> tuple[Kind | None, bool]:
    """The Kind in an annotation (None for a flag), and whether None is allowed."""
    if hint is bool:
        return None, True
    if get_origin(hint) is Annotated:
        return next(k for k in get_args(hint) if isinstance(k, Kind)), False
    kinds = [_kind(part)[0] for part in get_args(hint) if part is not type(None)]
    return kinds[0], True


def _sections(doc: str) -> tuple[str, str, tuple[str, ...], str]:
    """Summary, body, examples and API of a docstring."""
    body, api = doc, ""
    parts = re.split(r"^(Example|API):[ ]*", doc, flags=re.MULTILINE)
    body = parts[0]
    named = dict(zip(parts[1::2], parts[2::2]))
    summary, _, body = body.partition("\n")
    examples = tuple(line.strip() for line in named.get("Example", "").splitlines() if line.strip())
    api = " ".join(named.get("API", "").split())
    return summary.strip(), body.strip("\n"), examples, api


def find(verb: str) -> tuple[Command, Alias]:
    """The command of a verb and what the verb stands for: exact name, alias, unique beginning.

    Raises UsageError that lists the candidates, or guesses.
    """
    if verb in COMMANDS:
        return COMMANDS[verb], Alias(verb)
    for candidate in COMMANDS.values():
        if verb in candidate.aliases:
            return candidate, candidate.aliases[verb]
    if verb in INSTEAD:
        raise UsageError(f"{verb!r} is another debugger's word", INSTEAD[verb], code="unknown_command")
    near = [name for name in COMMANDS if name.startswith(verb) and " " not in name]
    if len(near) == 1:
        return COMMANDS[near[0]], Alias(near[0])
    if near:
        raise UsageError(f"{verb!r} could be {', '.join(near[:-1])} or {near[-1]}", "type more of it",
                         code="ambiguous_command")
    guess = did_you_mean(verb, verbs())
    raise UsageError(f"unknown command {verb!r}", f"{guess} " * bool(guess) + "type help for all commands",
                     code="unknown_command")


def verbs() -> list[str]:
    """All names and aliases of one word."""
    names = [name for name in COMMANDS if " " not in name]
    return [*names, *(alias for c in COMMANDS.values() for alias in c.aliases)]


def topics(name: str) -> list[str]:
    """Second words of the commands that begin with `name`: `info` has `tensors`, `ops`, …"""
    return [other.partition(" ")[2] for other in COMMANDS if other.startswith(name + " ")]
