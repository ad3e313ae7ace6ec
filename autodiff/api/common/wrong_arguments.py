"""What Python and NumPy say of an argument that fits nowhere, as an error of ours: which argument, expected and found.

Functions convert and check what they are given where they use it, and say so in their own words. What no check has
foreseen ends in a line that Python refuses ("object is not iterable"). Here, at the door of `tf`, that becomes an error
that names the argument; the traceback of the line stays as its cause. What the user's own functions raise passes.
"""
from __future__ import annotations

import enum
import functools
import inspect
import linecache
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from types import FunctionType, ModuleType, TracebackType
from typing import Any

import numpy as np

from ...core import site
from ...core.convert import shortened
from ...core.declare import written_at
from ...core.errors import ArgumentError, AutodiffError, KindError
from ...core.graph import Tensor, get_default_graph

_RAW = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)
_BELOW = "<frozen", "numpy/", *(os.path.dirname(file) + os.sep for file in (os.__file__, np.__file__))
_LIBRARY = __name__.partition(".")[0] + "."
_ROOMS = f"{_LIBRARY}api.", f"{_LIBRARY}core.devices"  # of classes: those of graphs and runs have their own checks


def _is_scalar(value: Any) -> bool:
    return getattr(value, "ndim", None) == 0


_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {  # beginning of an annotation -> in words, and a test
    "None": ("None", lambda v: v is None), "str": ("a string", lambda v: isinstance(v, (str, bytes))),
    "bool": ("True or False", lambda v: isinstance(v, (bool, np.bool_, int))),
    "int": ("an int", lambda v: isinstance(v, (int, np.integer)) or hasattr(v, "__index__") and _is_scalar(v)),
    "float": ("a number", lambda v: isinstance(v, (int, float, np.number))),
    "Callable": ("a function", callable), "Mapping": ("a dict", lambda v: isinstance(v, Mapping)),
    "dict": ("a dict", lambda v: isinstance(v, Mapping))} | {
    word: ("a list", lambda v: isinstance(v, Iterable) and not isinstance(v, (str, bytes)) and not _is_scalar(v))
    for word in ("Sequence", "Iterable", "Collection", "list", "tuple")}


def checked(function: Any) -> Any:
    """`function`, whose refusals of arguments are AutodiffErrors that name them; of the class that Python raised.

    Before it refuses, the OpDispatchers of `_tf_dispatchers` are asked for a result (see tensorflow.python.util).
    """
    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except _RAW as error:
            for dispatcher in call._tf_dispatchers:  # type: ignore[attr-defined]
                result = dispatcher.handle(args, options)
                if result is not dispatcher.NOT_SUPPORTED:
                    return result
            refused = None if isinstance(error, AutodiffError) else _refusal(error, function, args, options)
            if refused is None:
                raise
            raise refused from error
    call._tf_dispatchers = []  # type: ignore[attr-defined]
    return call


def check_names(module: ModuleType) -> ModuleType:
    """The module, its public functions and classes, and those of the packages below it, `checked`, once."""
    names = vars(module)
    if "__checked__" not in names:
        names["__checked__"] = True
        for name, value in list(names.items()):
            if isinstance(value, ModuleType):
                if hasattr(value, "__path__") and value.__name__.startswith(f"{module.__name__}."):
                    check_names(value)
            elif not name.startswith("_"):
                names[name] = checked_name(value)
    return module


def checked_name(value: Any) -> Any:
    """A public name's value, `checked` if it is a function of this package or a class of the api."""
    if isinstance(value, FunctionType):
        return checked(value) if value.__module__.startswith(_LIBRARY) and not _is_checked(value) else value
    if isinstance(value, type) and value.__module__.startswith(_ROOMS) and not issubclass(value, (enum.Enum, tuple)):
        for kind in value.__mro__:
            if kind.__module__.startswith(_ROOMS):
                _check_methods(kind)
    return value


def _check_methods(kind: type) -> None:
    for name, method in list(vars(kind).items()):
        if name == "__new__" and not _is_checked(method.__func__):
            kind.__new__ = staticmethod(checked(method.__func__))  # type: ignore[method-assign]
        elif (name == "__init__" or name[0] != "_") and isinstance(method, FunctionType) and not _is_checked(method):
            setattr(kind, name, checked(method))


def _is_checked(function: FunctionType) -> bool:
    return function.__code__.co_filename == __file__


def _refusal(error: Exception, function: Any, args: Any, options: Any) -> AutodiffError | None:
    """The error of ours; None if a function of the user's raised it, or Python says that an argument is missing."""
    signature = inspect.signature(function)
    try:
        given = signature.bind(*args, **options).arguments
    except TypeError:
        return None
    if "positional argument" in str(error) or "keyword argument" in str(error) or not _is_ours(error.__traceback__):
        return None
    kind = KindError if isinstance(error, (TypeError, AttributeError)) else ArgumentError
    name, owner = function.__name__, given.get("cls") or type(given["self"]) if {"self", "cls"} & set(given) else None
    if owner is not None:
        name = owner.__name__ if name[0] == "_" else f"{owner.__name__}.{name}"
    known = {key: value for key, value in given.items() if key not in ("self", "cls")}
    annotations = {key: str(parameter.annotation) for key, parameter in signature.parameters.items()}
    wrong = [key for key, value in known.items() if not _fits(value, annotations[key])][:1]
    wrong = wrong or _blamed(error.__traceback__, known)
    summary = (function.__doc__ or "").strip().split("\n")[0]
    return kind(f"{name} cannot take " + (" and ".join(map(repr, wrong)) if wrong else "these arguments"),
                expected=_in_words(annotations[wrong[0]]) if len(wrong) == 1 else "",
                found=", ".join(f"{key}={_shown(known[key])}" for key in wrong or known),
                line=written_at(get_default_graph()), hint=f"{name}: {summary}" if summary else "")


def _is_ours(trace: TracebackType | None) -> bool:
    """Whether the innermost frame, but for those of Python's library and NumPy, is one of this package."""
    ours = False
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith(site.PACKAGE):
            ours = True
        elif not file.startswith(_BELOW) or "-packages" in file and not file.startswith(_BELOW[-1]):
            ours = False
        trace = trace.tb_next
    return ours


def _fits(value: Any, annotation: str) -> bool:
    """Whether an annotation allows a value, as far as _KINDS knows."""
    parts = [re.match(r"\w*", part)[0] for part in annotation.split(" | ")]  # type: ignore[index]
    return any(part not in _KINDS or _KINDS[part][1](value) for part in parts)


def _in_words(annotation: str) -> str:
    parts = [re.match(r"\w*", part)[0] for part in annotation.split(" | ")]  # type: ignore[index]
    return " or ".join(_KINDS[part][0] for part in parts) if all(part in _KINDS for part in parts) else ""


def _blamed(trace: TracebackType | None, given: Mapping[str, Any]) -> list[str]:
    """The arguments that stand in the expression that failed, or in one that led there: the innermost that has any."""
    found: list[str] = []
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code.co_filename.startswith(site.PACKAGE) and frame.f_code.co_filename != __file__:
            values = [frame.f_locals[word] for word in _words(trace) if word in frame.f_locals]
            found = [key for key, value in given.items() if any(value is other for other in values)] or found
        trace = trace.tb_next
    return found


def _words(trace: TracebackType) -> Collection[str]:
    """The names in the expression of a frame that failed."""
    code = trace.tb_frame.f_code
    first, last, begin, end = list(code.co_positions())[trace.tb_lasti // 2]
    lines = linecache.getlines(code.co_filename)[(first or 1) - 1:last or 0]
    if lines:
        lines[-1] = lines[-1][:end]
        lines[0] = lines[0][begin:]
    return re.findall(r"[A-Za-z_]\w*", "".join(lines))


def _shown(value: Any) -> str:
    if isinstance(value, Tensor):
        return value.describe()
    text = shortened(value)
    return text if isinstance(value, (str, bytes, int, float, list, tuple, dict, type(None))) \
        else f"{text} of type {type(value).__name__!r}"
