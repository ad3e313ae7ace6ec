"""tensorflow.python.util.tf_inspect: Python's inspect, seen through decorators to what they decorate."""
from __future__ import annotations

import functools
import inspect
from collections import namedtuple
from typing import Any

from .decorators import unwrap

ArgSpec = namedtuple("ArgSpec", "args varargs keywords defaults")
FullArgSpec = inspect.FullArgSpec
currentframe = inspect.currentframe


def _declared(obj: Any) -> Any:
    """The signature that the outermost decorator with one gives; None without."""
    return next((layer.decorator_argspec for layer in unwrap(obj)[0] if layer.decorator_argspec is not None), None)


def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """The arguments of a function, a class or an object that can be called; of ours without types, as TensorFlow's."""
    declared = _declared(obj)
    if declared is not None:
        return FullArgSpec(*declared, [], None, {}) if isinstance(declared, ArgSpec) else declared
    function = unwrap(obj)[1]
    if (getattr(function, "__module__", None) or "").startswith("autodiff."):
        declaring = inspect.unwrap(function, stop=lambda layer: hasattr(layer, "__signature__"))
        return inspect.getfullargspec(declaring)._replace(annotations={})
    return inspect.getfullargspec(function)


def getargspec(obj: Any) -> ArgSpec:
    """The positional arguments of a function, in the words of older Pythons.

    Raises ValueError for a partial function with an argument without default after one that has one.
    """
    if isinstance(obj, functools.partial):
        return _of_partial(obj)
    declared = _declared(obj)
    if isinstance(declared, ArgSpec):
        return declared
    found = getfullargspec(obj)
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def _of_partial(obj: functools.partial) -> ArgSpec:
    inner = getargspec(obj.func)
    defaults = dict(zip(reversed(inner.args), reversed(inner.defaults or ())))
    args = inner.args[len(obj.args):]
    unknown = set(obj.keywords) - set(args)
    if unknown and not inner.keywords:
        raise ValueError("Function does not have **kwargs parameter, but contains an unknown partial keyword.")
    defaults.update(obj.keywords)
    first = next((place for place, name in enumerate(args) if name in defaults), len(args))
    bare = [name for name in args[first:] if name not in defaults]
    if bare:
        raise ValueError(f"Some arguments {bare} do not have default value, but they are positioned after those with "
                         "default values. This can not be expressed with ArgSpec.")
    return ArgSpec(args, inner.varargs, inner.keywords, tuple(defaults[name] for name in args[first:]) or None)


def getcallargs(*func_and_positional: Any, **named: Any) -> dict[str, Any]:
    """What each argument of the first function would be, were it called with the rest."""
    func, *positional = func_and_positional
    spec = getfullargspec(func)
    if inspect.ismethod(func):
        positional.insert(0, func.__self__)
    found = {**(spec.kwonlydefaults or {}), **named}
    found.update(zip([name for name in spec.args if name not in named], positional))
    for name, value in zip(reversed(spec.args), reversed(spec.defaults or ())):
        found.setdefault(name, value)
    return found


def getdoc(object: Any) -> str | None:  # noqa: A002
    """The text of the outermost decorator, who knows most."""
    return inspect.getdoc(object)


def __getattr__(name: str) -> Any:
    """Python's function of that name, of what is decorated in the end."""
    found = getattr(inspect, name)
    if not name.startswith(("is", "getsource", "getfile")):
        return found

    @functools.wraps(found)
    def seen_through(object: Any) -> Any:  # noqa: A002
        return found(unwrap(object)[1])

    return seen_through
