"""What optax is asked for while a script runs: optimizers and their rates, what they gave, what was made of it."""
from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import sys
from collections import deque
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import jax
import numpy as np

from ...core.site import Site, capture, resolve
from ...debug.analysis.findings import Finding
from ...debug.facts.roles import as_place, at_line
from ...ops.common.instead import instead
from ..course import TURNS, listed
from ..doors import View
from ..leaf_names import dotted
from ..new_calls import calls_on
from ..new_lines import NewLines, replaced
from ..script_lines import spelled

_KEPT = 64  # calls
_jit: Callable[..., Any] = getattr(jax, "jit", lambda function: function)  # JAX's own, whatever stands for it
_ROUNDING = 1e-4  # of updates that are gradients times a number
_COUNTS = (0, 1, 10)  # of steps, at which a schedule is asked whether it is above 0
Leaves = Sequence[Any]


class Asked(NamedTuple):
    """A call. kind: "step" (of a gradient: params, what it gave), "init" (params, state), "update" (gradients and
    state, updates and state) or "apply" (params and updates, params). of: the optimizer, by a number of its own."""

    kind: str
    given: tuple[Leaves, Leaves]
    found: tuple[Leaves, Leaves]
    sites: tuple[Site, ...]
    of: int = 0


class Rated(NamedTuple):
    """A learning rate that an optimizer was given. rate: None for a schedule. position: which argument it is."""

    name: str
    rate: float | None
    site: Site
    position: int


class Optimizers:
    """The last calls, in order, and the optimizers that were made. is_compiled: whether the script has what calls them
    compiled, so that what they do with arrays may be too."""

    def __init__(self, is_compiled: Callable[[], bool] = lambda: False) -> None:
        self.is_compiled = is_compiled
        self.asked: deque[Asked] = deque(maxlen=_KEPT)
        self.begun: dict[int, Asked] = {}  # the first init of each optimizer
        self.rated: list[Rated] = []
        self.scaled: list[Site] = []  # where updates are multiplied by what is above 0
        self.masked: list[Site] = []  # where an optimizer was made that leaves other gradients as they are
        self.freezes = False  # whether an optimizer was made that keeps some parameters as they are
        self._zeroing, self._held = set[int](), set[int]()  # those of set_to_zero, and what they were given, by id
        self.frozen = set[str]()  # paths of parameters that are kept as they are
        self._depth, self._count = 0, 0

    def note(self, kind: str, given: tuple[Any, Any], found: tuple[Any, Any], of: int = 0) -> None:
        """Keep a call, unless something is traced by it."""
        trees = [jax.tree.leaves(each) for each in (*given, *found)]
        if not any(isinstance(leaf, jax.core.Tracer) for leaves in trees for leaf in leaves):
            self.asked.append(Asked(kind, (trees[0], trees[1]), (trees[2], trees[3]), users_sites(), of))
            if kind == "init":
                self.begun.setdefault(of, self.asked[-1])

    def watched(self, optax: ModuleType) -> contextlib.AbstractContextManager[None]:
        """While the script runs, once it has imported optax."""
        watching = {"apply_updates": self._applying, "set_to_zero": self._freezing, "scale": self._scaling,
                    "scale_by_schedule": self._scaling, "masked": self._masking}
        optimizer = optax.GradientTransformation
        real = optimizer.__new__
        made = functools.wraps(real)(lambda cls, init, update: real(cls, *self._told(init, update)))
        return instead([(optimizer, "__new__", made), *(
            (optax, name, watching.get(name, self._rating)(getattr(optax, name)))
            for name in (*watching, *_rated_by(optax)) if hasattr(optax, name))])

    def _told(self, init: Callable[..., Any], update: Callable[..., Any]) -> tuple[Any, Any]:
        """Both functions of an optimizer; what those that it is made of do is not noted."""
        self._count += 1
        number = self._count

        @functools.wraps(init)
        def begun(params: Any) -> Any:
            if number in self._zeroing:
                self._held |= {*map(id, jax.tree.leaves(params))}
            state = self._inside(lambda: init(params))
            if not self._depth:
                self.note("init", (params, None), (state, None), number)
                self.frozen |= {dotted(path) for path, leaf in jax.tree_util.tree_leaves_with_path(params)
                                if id(leaf) in self._held}
                self._held.clear()
            return state

        whole = _jit(update)

        @functools.wraps(update)
        def updated(updates: Any, state: Any, *args: Any, **options: Any) -> Any:
            is_whole = not self._depth and self.is_compiled() and not options and all(
                isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer)
                for leaf in jax.tree.leaves((updates, state, args)))
            found = self._inside(lambda: (whole if is_whole else update)(updates, state, *args, **options))
            if not self._depth:
                self.note("update", (updates, state), found, number)
            return found

        return begun, updated

    def _inside(self, run: Callable[[], Any]) -> Any:
        self._depth += 1
        try:
            with jax.disable_jit(False):  # optax's own functions call none of the script's
                return run()
        finally:
            self._depth -= 1

    def _applying(self, real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def apply_updates(params: Any, updates: Any) -> Any:
            found = real(params, updates)
            self.note("apply", (params, updates), (found, None))
            return found
        return apply_updates

    def _freezing(self, real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def set_to_zero() -> Any:
            self.freezes = True
            made = real()
            self._zeroing.add(self._count)
            return made
        return set_to_zero

    def _masking(self, real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def masked(*args: Any, **options: Any) -> Any:
            if not self._depth:
                self.masked += users_sites()[:1]
            return real(*args, **options)
        return masked

    def _scaling(self, real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def scale(step_size: Any) -> Any:
            if not self._depth and any(isinstance(size, (int, float)) and size > 0 for size in (
                    map(float, map(step_size, _COUNTS)) if callable(step_size) else [step_size])):
                self.scaled += users_sites()[:1]
            return real(step_size)
        return scale

    def _rating(self, real: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(real)
        position = [*signature.parameters].index("learning_rate")

        @functools.wraps(real)
        def made(*args: Any, **options: Any) -> Any:
            sites = users_sites()
            with contextlib.suppress(TypeError):  # which it says itself
                rate = signature.bind(*args, **options).arguments.get("learning_rate")
                is_known = isinstance(rate, (int, float, np.ndarray, jax.Array)) and np.ndim(rate) == 0
                if sites and rate is not None and not self._depth:
                    self.rated.append(Rated(real.__name__, float(rate) if is_known else None, sites[0], position))
            return self._inside_of_optax(lambda: real(*args, **options))
        return made

    def _inside_of_optax(self, run: Callable[[], Any]) -> Any:
        before = len(self.rated)
        found = run()
        del self.rated[before:]  # those that an optimizer makes of its own
        return found

    def rate(self) -> Rated | None:
        """That of the only optimizer; None if there are several, or none."""
        lines = dict.fromkeys(self.rated)
        return next(iter(lines)) if len(lines) == 1 else None

    def of_kind(self, kind: str) -> list[Asked]:
        """The last calls of a kind."""
        return [call for call in self.asked if call.kind == kind]

    def keeps(self, name: str) -> bool:
        """Whether a parameter is frozen."""
        return any(name == path or name.endswith(f".{path}") for path in self.frozen)

    def adds_nothing(self) -> bool:
        """Whether what is applied leaves all parameters as they are."""
        applied = self.of_kind("apply")
        return bool(applied) and all(_same(call.given[0], call.found[0]) for call in applied)

    def gradients_applied(self) -> list[Finding]:
        """Gradients given to apply_updates as they are."""
        found = {id(leaf) for call in self.of_kind("step") for leaf in call.found[0]}
        applied = self.of_kind("apply")[-TURNS:]
        if len(applied) < TURNS or not all(call.given[1] and all(id(leaf) in found for leaf in call.given[1])
                                           for call in applied):
            return []
        lost = self.of_kind("update")
        why = (f"what update gives at {lost[-1].sites[0]} is not used" if lost and lost[-1].sites else
               "the optimizer's update is never called")
        place = _place(applied[-1])
        return [Finding(97, "gradients for updates", "", "", "", "optax.apply_updates is given the gradients "
                        f"themselves{at_line(place)}, and adds them to the parameters, so the loss rises: {why}",
                        "updates, opt_state = optimizer.update(grads, opt_state, params), then optax.apply_updates("
                        "params, updates)", "grads", place, confidence="certain")]

    def let_past(self, names: Sequence[str]) -> list[Finding]:
        """Gradients that optax.masked gives back as they are, applied as updates. names: of the parameters."""
        asked, sites = self.of_kind("update")[-TURNS:], [*dict.fromkeys(self.masked)]
        found = [_as_they_were(call) for call in asked if len(call.given[0]) == len(call.found[0]) == len(names)]
        past = [name for i, name in enumerate(names) if all(i in each for each in found)]
        if len(found) < TURNS or len(sites) != 1 or not past or len(past) == len(names):
            return []
        return [Finding(97, "masked gradients", "", "", past[0], f"optax.masked{at_line(as_place(sites[0]))} leaves "
                        f"the gradients of what its mask has False for as they are, those of {listed(past)}, and "
                        "apply_updates adds them: these are not frozen, but go uphill", "freeze them too: optax.chain("
                        "optax.masked(tx, mask), optax.masked(optax.set_to_zero(), the other mask)), or train them by "
                        "optax.multi_transform", "grads", as_place(sites[0]), confidence="certain")]

    def state_left(self) -> list[Finding]:
        """An optimizer whose update begins with the same state each time, though it gives another."""
        for number in dict.fromkeys(call.of for call in self.of_kind("update")):
            calls = [call for call in self.of_kind("update") if call.of == number]
            first = calls[0]
            if len(calls) <= TURNS or _same(first.given[1], first.found[1]) or not all(
                    _same(first.given[1], call.given[1]) for call in calls[1:]):
                continue
            begun = [call for call in self.of_kind("init") if call.of == number]
            is_anew = len(begun) >= len(calls) - 1
            why = (f"init makes it anew each time{f' at {begun[-1].sites[0]}' if begun[-1].sites else ''}" if is_anew
                   else "what update returns is not given to the next step")
            return [Finding(66, "optimizer state left", "", "", "", f"the optimizer begins step after step "
                            f"with the same state, so that it has no averages, momentum or count of steps: {why}",
                            "call init once, before the loop" if is_anew else
                            "updates, opt_state = optimizer.update(grads, opt_state, params), and give opt_state to "
                            "the next step", "grads", _place(begun[-1] if is_anew else calls[-1]))]
        return []


def open_door(view: View) -> Any:
    """A context in which what the script asks of optax is noted, by the door of JAX."""
    return view.doors["jax"].optimizers.watched(sys.modules["optax"])


def users_sites() -> tuple[Site, ...]:
    """The script's own lines, innermost first."""
    return tuple(site for site in resolve(capture()) if "-packages" not in site.file)


def _place(call: Asked) -> Any:
    return as_place(call.sites[0]) if call.sites else None


def _as_they_were(call: Asked) -> set[int]:
    """Which gradients an optimizer has only multiplied by one number above 0, if at all."""
    pairs = [*zip(call.given[0], call.found[0])]
    for g, update in sorted(pairs, key=lambda pair: -np.size(pair[0])):
        factor = float(np.linalg.norm(update) / (np.linalg.norm(g) or np.inf))
        if factor > 0 and np.allclose(update, factor * g, rtol=_ROUNDING, atol=0):
            return {i for i, (g, update) in enumerate(pairs) if np.any(g) and np.allclose(
                update, factor * g, rtol=_ROUNDING, atol=0)}
    return set()


def frozen(file: str, line: int) -> NewLines:
    """What an optimizer's mask leaves out, held by another one."""
    for call in calls_on(file, line, "masked"):
        given = [word.value for word in call.keywords if word.arg == "mask"] + call.args[1:2]
        optax = ast.unparse(call.func).removesuffix("masked")
        for mask in [each for each in given if isinstance(each, (ast.Name, ast.Attribute, ast.Dict))]:
            other = f"{spelled(file, 'jax.tree_util.tree_map')}(lambda m: not m, {ast.unparse(mask)})"
            return replaced(file, call, f"{optax}chain({{}}, {optax}masked({optax}set_to_zero(), {other}))")
    return {}


def _same(a: Leaves, b: Leaves) -> bool:
    return len(a) == len(b) and all(x is y or np.array_equal(x, y, equal_nan=True) for x, y in zip(a, b))


def _rated_by(optax: ModuleType) -> list[str]:
    """The names of functions that are given a learning rate."""
    return [name for name, each in vars(optax).items()
            if inspect.isfunction(each) and "learning_rate" in inspect.signature(each).parameters]
