"""Flags of a script: declared with a default, set by the command line; what is unknown there is left alone."""
from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from ..core.errors import ArgumentError, AutodiffError, shown_as
from ..core.names import did_you_mean
from .common.unsupported import refusing

__all__ = [
    "DEFINE_alias", "DEFINE_bool", "DEFINE_boolean", "DEFINE_enum", "DEFINE_float", "DEFINE_integer", "DEFINE_list",
    "DEFINE_multi_float", "DEFINE_multi_integer", "DEFINE_multi_string", "DEFINE_string", "FLAGS", "DuplicateFlagError",
    "Error", "FlagValues", "IllegalFlagValueError", "UnparsedFlagAccessError", "mark_flag_as_required",
    "mark_flags_as_required"]


class Error(AutodiffError):
    """A flag that is declared, set or read wrongly."""


class DuplicateFlagError(Error):
    """A flag that is declared twice with different meanings."""


class IllegalFlagValueError(Error):
    """A value that its flag cannot take."""


class UnparsedFlagAccessError(Error):
    """A flag that is read before the command line is."""


@shown_as("AttributeError")
class UnknownFlagError(Error, AttributeError):
    """A flag that no one declared."""


class Flag:
    """One flag. value: of now. default: when the command line has none. kind: text -> value. several: values add up."""

    def __init__(self, name: str, default: Any, help: str, kind: Callable[[Any], Any], several: bool = False) -> None:  # noqa: A002
        self.name, self.default, self.help, self.kind, self.several = name, default, help or "", kind, several
        self.value, self.present, self.required = default, 0, False

    @property
    def is_boolean(self) -> bool:
        return self.kind is _boolean

    def parse(self, text: Any) -> None:
        """Take a value of the command line. Raises IllegalFlagValueError if it does not fit."""
        try:
            value = self.kind(text)
        except ValueError as error:
            raise IllegalFlagValueError(f"flag --{self.name}={text}: {error}") from None
        self.value = [*(self.value if self.present else []), value] if self.several else value
        self.present += 1


class FlagValues:
    """All flags by name: FLAGS.rate. The command line is read when the first value is asked for."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, as for another script."""
        self.__dict__.update({"__flags": {}, "_parsed": False})

    @property
    def _all(self) -> dict[str, Flag]:
        return self.__dict__["__flags"]

    def declare(self, flag: Flag) -> None:
        """Add a flag. Raises DuplicateFlagError if its name is taken by another."""
        old = self._all.get(flag.name)
        if old is not None and (old.default, old.kind, old.help) != (flag.default, flag.kind, flag.help):
            raise DuplicateFlagError(f"flag {flag.name!r} is declared twice: with the defaults {old.default!r} and "
                                     f"{flag.default!r}")
        self._all[flag.name] = flag

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        """Read a command line (argv[0] is the program); gives the words that are no flags of ours.

        `--name=value`, `--name value`, `-name`, `--boolean`, `--noboolean`; all after `--` is left. Raises
        IllegalFlagValueError for a value that does not fit or a required flag that is missing.
        """
        self.__dict__["_parsed"] = True
        left = list(argv[:1])
        rest = iter(argv[1:])
        for word in rest:
            if word == "--":
                left.extend(rest)
            elif word in ("--help", "-h", "-help", "--helpfull", "--helpshort") and "help" not in self._all:
                self._tell(argv[0] if argv else "")
            elif not self._take(word, rest):
                left.append(word)
        for flag in self._all.values():
            if flag.required and flag.value is None:
                raise IllegalFlagValueError(f"flag --{flag.name} must be given a value")
        return left

    def _take(self, word: str, rest: Iterator[str]) -> bool:
        """Set the flag that a word names; False if it names none of ours."""
        name, given, value = word.lstrip("-").partition("=")
        name = name.replace("-", "_") if name not in self._all else name
        flag = self._all.get(name)
        if not word.startswith("-"):
            return False
        if flag is None:
            flag, value, given = self._all.get(name.removeprefix("no")), "false", "="
            if not name.startswith("no") or flag is None or not flag.is_boolean or "=" in word:
                return False
        elif not given:
            value = "true" if flag.is_boolean else next(rest, "")
        flag.parse(value)
        return True

    def _tell(self, program: str) -> NoReturn:
        print(f"flags of {os.path.basename(program)}:")
        for name, flag in sorted(self._all.items()):
            print(f"  --{'[no]' if flag.is_boolean else ''}{name}: {flag.help} (default: {flag.default!r})")
        sys.exit(1)

    def _parse_flags(self, args: Sequence[str] | None = None) -> None:
        """Read the command line, as scripts for TensorFlow before 1.5 ask."""
        self(sys.argv if args is None else [sys.argv[0], *args], known_only=True)

    def is_parsed(self) -> bool:
        return self.__dict__["_parsed"]

    def mark_as_parsed(self) -> None:
        """Take the values as they are, without reading the command line."""
        self.__dict__["_parsed"] = True

    def flag_values_dict(self) -> dict[str, Any]:
        """Name -> value of every flag."""
        return {name: getattr(self, name) for name in self._all}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if not self.is_parsed():
            self(sys.argv, known_only=True)
        return self[name].value

    def __getitem__(self, name: str) -> Flag:
        """A flag with all that is declared of it. Raises UnknownFlagError (AttributeError)."""
        if name not in self._all:
            near = did_you_mean(name, self._all)
            raise UnknownFlagError(f"no flag {name!r} is declared" + (f"\n{near}" if near else ""))
        return self._all[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name].value = value

    def set_default(self, name: str, value: Any) -> None:
        """Change a default, and the value unless the command line has set it."""
        flag = self[name]
        flag.default = value
        if not flag.present:
            flag.value = value

    def __delattr__(self, name: str) -> None:
        del self._all[self[name].name]

    def __contains__(self, name: object) -> bool:
        return name in self._all

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *self._all])


FLAGS = FlagValues()


def _boolean(text: Any) -> bool:
    if str(text).lower() in ("true", "t", "1", "yes", "y"):
        return True
    if str(text).lower() in ("false", "f", "0", "no", "n"):
        return False
    raise ValueError("expected true or false")


def _integer(text: Any) -> int:
    return text if isinstance(text, int) else int(str(text), 0 if str(text).startswith(("0x", "0X")) else 10)


def _words(text: Any) -> list[str]:
    return list(text) if isinstance(text, (list, tuple)) else [word.strip() for word in text.split(",") if word.strip()]


def _defining(kind: Callable[[Any], Any], what: str, *, several: bool = False) -> Callable[..., None]:
    def define(name: str = "", default: Any = None, help: str = "", flag_values: FlagValues | None = None,  # noqa: A002
               **others: Any) -> None:
        name, default, help = (others.get(old, now) for old, now in (  # noqa: A001 (TensorFlow's names before 1.5)
            ("flag_name", name), ("default_value", default), ("docstring", help)))
        if several and default is not None and (isinstance(default, str) or not isinstance(default, (list, tuple))):
            default = [default]
        if default is not None:
            try:
                default = [kind(v) for v in default] if several else kind(default)
            except ValueError as error:
                raise IllegalFlagValueError(f"default {default!r} of flag {name!r}: {error}") from None
        (FLAGS if flag_values is None else flag_values).declare(Flag(name, default, help, kind, several))

    define.__doc__ = f"Declare a flag: {what}."
    return define


DEFINE_string = _defining(str, "a text, or None")
DEFINE_integer = _defining(_integer, "a whole number")
DEFINE_float = _defining(float, "a number")
DEFINE_bool = DEFINE_boolean = _defining(_boolean, "true or false; `--name` and `--noname` on the command line")
DEFINE_list = _defining(_words, "texts, with commas between them")
DEFINE_multi_string = _defining(str, "texts, each given by the flag anew", several=True)
DEFINE_multi_integer = _defining(_integer, "whole numbers, each given by the flag anew", several=True)
DEFINE_multi_float = _defining(float, "numbers, each given by the flag anew", several=True)


def DEFINE_enum(name: str, default: str | None, enum_values: Sequence[str], help: str = "",  # noqa: N802, A002
                flag_values: FlagValues | None = None) -> None:
    """Declare a flag: one of some texts."""
    def one_of(text: Any) -> str:
        if text not in enum_values:
            raise ValueError(f"expected one of {', '.join(enum_values)}, found {text!r}")
        return text

    _defining(one_of, "")(name, default, help, flag_values)


def DEFINE_alias(name: str, original_name: str, flag_values: FlagValues | None = None) -> None:  # noqa: N802
    """Declare another name of a flag."""
    values = FLAGS if flag_values is None else flag_values
    values._all[name] = values[original_name]


def mark_flag_as_required(flag_name: str, flag_values: FlagValues | None = None) -> None:
    """A flag that the command line must set, unless it has a default."""
    values = FLAGS if flag_values is None else flag_values
    if flag_name not in values:
        raise ArgumentError(f"no flag {flag_name!r} is declared yet: declare it first")
    values[flag_name].required = True


def mark_flags_as_required(flag_names: Sequence[str], flag_values: FlagValues | None = None) -> None:
    """Flags that the command line must set."""
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


__getattr__ = refusing("tf.flags", __name__)
