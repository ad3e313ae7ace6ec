"""Random numbers that a script draws between its steps, and the keys that it draws them by."""
from __future__ import annotations

import ast
import functools
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import jax
import numpy as np

from ...core.site import Site
from ...debug.analysis.findings import Finding
from ...debug.facts.roles import as_place
from ...ops.common.instead import instead
from ..course import TURNS, Turn
from ..handed_on import function_of, returned_by
from ..new_calls import calls_on
from ..new_lines import NewLines, last_name, nodes_on, replaced
from ..script_lines import assigned_on, loop_around, loops_around, nodes_in, on_lines, spelled
from .calls import Call
from .optimizers import users_sites
from .rows import held_by

DRAWING = ("normal", "uniform", "randint", "permutation", "choice", "bernoulli", "categorical", "truncated_normal",
            "gumbel", "exponential", "laplace", "multivariate_normal")
_LOOPS = ("scan", "fori_loop", "while_loop")
_KEPT = 12  # steps


class Draw(NamedTuple):
    """What was drawn, by which key, at which line; inner: its own, where that line calls a function that draws."""

    name: str
    key: bytes
    site: Site
    inner: Site | None = None


class Round(NamedTuple):
    """Of a step: what was drawn before it; arrays that it was given, but not differentiated, and those closed over."""

    draws: frozenset[Draw]
    given: Sequence[Any]


class Draws:
    """The draws before each of the last steps of one line."""

    def __init__(self) -> None:
        self._now = set[Draw]()
        self._rounds: dict[Any, deque[Round]] = {}

    def watched(self, is_inside: Callable[[], bool]) -> AbstractContextManager[None]:
        """While the script runs. is_inside: whether what is drawn belongs to a step, whose graph has it."""
        module: Any = getattr(jax, "random", None)
        return instead([(module, name, self._noting(name, getattr(module, name), is_inside)) for name in DRAWING
                        if callable(getattr(module, name, None))])

    def _noting(self, name: str, real: Callable[..., Any], is_inside: Callable[[], bool]) -> Callable[..., Any]:
        @functools.wraps(real)
        def draw(*args: Any, **options: Any) -> Any:
            key = args[0] if args else options.get("key")
            if not is_inside() and isinstance(key, jax.Array) and not isinstance(key, jax.core.Tracer) and (
                    sites := users_sites()):
                is_typed = jax.dtypes.issubdtype(key.dtype, jax.dtypes.prng_key)
                numbers = jax.random.key_data(key) if is_typed else key
                self._now.add(Draw(name, np.asarray(numbers).tobytes(), _repeated(sites), sites[0]))
            with jax.disable_jit(False):
                return real(*args, **options)
        return draw

    def since(self, call: Call) -> Sequence[Round]:
        """The last steps of the function, this one included, which begins a new round."""
        given = [leaf for i, each in enumerate(call.args) if i not in call.numbers for leaf in jax.tree.leaves(each)]
        rounds = self._rounds.setdefault(getattr(call.function, "__code__", None), deque(maxlen=_KEPT))
        rounds.append(Round(frozenset(self._now), given + held_by(call.function)))
        self._now = set()
        return rounds


def drawn_alike(turns: Sequence[Turn], rounds: Sequence[Round]) -> list[Finding]:
    """Data that each step draws anew by the same key."""
    last = list(rounds)[-len(turns):]
    if len(last) <= TURNS:
        return []
    always = frozenset.intersection(*(each.draws for each in last[1:]))
    fed = [[v for t, v in turn.step.feeds.items() if np.ndim(v) and t not in turn.keys] for turn in turns]
    if not always or not fed[0] or any(len(each) != len(fed[0]) or not all(map(
            np.array_equal, each, fed[0])) for each in fed[1:]):
        return []
    taken = [[x for x in each.given if any(np.shape(x) == v.shape and np.array_equal(x, v) for v in fed[0])]
             for each in last]
    if not all(any(x is not y for x, y in zip(a, b)) for a, b in zip(taken, taken[1:])):
        return []
    draw = min(always, key=lambda each: each.site.line)
    lost, remedy = draw.site, "split the key in each step, key, sub = jax.random.split(key), and draw with sub"
    if (split := unkept_on(draw.inner) if draw.inner is not None else 0) and draw.inner is not None:
        lost, remedy = Site(draw.inner.file, split, draw.inner.function), "keep the new key: " + "".join(
            kept_key(draw.inner.file, split).values()).strip()
        remedy += "return it with what is drawn, and draw with it the next time" * remedy.endswith(": ")
    return [Finding(58, "same random key", "", "", "", f"each of {len(last)} steps is given the very same batch, "
                    f"drawn anew by the same key at {draw.site}: a key gives the same each time, so the model learns "
                    "these examples by heart" + "; the new key that split makes is not kept" * (lost is not draw.site),
                    remedy, "doctor", as_place(lost))]


def unkept_on(site: Site) -> int:
    """The line of a function that splits the key it draws with on another, and keeps no new one; 0 if none does."""
    scope, names = function_of(site), {each.id for each in keys_on(site.file, site.line)}
    handed_on = {node.id for each in returned_by(scope) for node in ast.walk(each) if isinstance(node, ast.Name)}
    for line in range(site.line, scope.lineno if scope is not None and not loops_around(*site[:2]) else site.line, -1):
        made, read = set(assigned_on(site.file, line)), next(calls_on(site.file, line, "split"), None)
        if names & made and read is not None and read.args:
            key = ast.unparse(read.args[0])
            is_kept = key in _targets(site.file, line) and not key.isidentifier()
            return 0 if is_kept or (made - names) & handed_on else line
    return 0


def _targets(file: str, line: int) -> list[str]:
    given = [target for node in nodes_on(file, line) if isinstance(node, ast.Assign) for target in node.targets]
    return [ast.unparse(part) for target in given for part in getattr(target, "elts", [target])]


def kept_key(file: str, line: int) -> NewLines:
    """`self.key, sub = split(self.key)` for a split of what an object has, and is to have the new one of."""
    statement, targets = on_lines(file).get(line), _targets(file, line)
    call = statement.value if isinstance(statement, ast.Assign) else None
    key = ast.unparse(call.args[0]) if isinstance(call, ast.Call) and len(call.args) == 1 else ""
    if not isinstance(statement, ast.Assign) or not isinstance(call, ast.Call) or last_name(call.func) != "split" or (
            not isinstance(call.args[0] if key else None, (ast.Attribute, ast.Subscript)) or key in targets):
        return {}
    scope = function_of(Site(file, line, ""))
    read = {node.id for node in ast.walk(scope) if isinstance(node, ast.Name) and isinstance(
        node.ctx, ast.Load)} if scope is not None else {*targets}
    free = [name for name in targets if name not in read]
    named = ", ".join(key if name in free[:1] else name for name in targets)
    return replaced(file, statement, f"{named} = {ast.unparse(call)}" if free else
                    f"{key}, {named} = {ast.unparse(call.func)}({key}, {len(targets) + 1})")


def _repeated(sites: Sequence[Site]) -> Site:
    """Of a draw's lines, innermost first, that which a loop repeats: its own, or JAX's by a function of the script."""
    return next((site for site in sites if loops_around(site.file, site.line) or carried(site)), sites[-1])


def carried(site: Site) -> set[str]:
    """What the function that a line is in hands on to its next round, where a loop of JAX's is given it."""
    scope = function_of(site)
    loops = [node for node in nodes_in(site.file) if isinstance(node, ast.Call) and last_name(node.func) in _LOOPS
             ] if scope is not None else []
    is_body = any(getattr(each, "id", "") == getattr(scope, "name", None) for loop in loops for each in loop.args)
    given_back = [node for each in returned_by(scope) for node in ast.walk(each)]
    return {node.id for node in given_back if isinstance(node, ast.Name)} if is_body else set()


def keys_on(file: str, line: int) -> list[ast.Name]:
    """What draws on a line are given as keys, by their names."""
    given = [next(iter([word.value for word in call.keywords if word.arg == "key"] + call.args[:1]), None)
             for call in calls_on(file, line, *DRAWING)]
    return [each for each in given if isinstance(each, ast.Name)]


def key_names(file: str, line: int) -> list[ast.Name]:
    """What a line reads that is given a random key elsewhere."""
    return [node for node in nodes_on(file, line) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
            and is_key(file, node.id)]


def is_key(file: str, name: str) -> bool:
    """Whether a name is given a random key."""
    made = [statement.value for line, statement in on_lines(file).items() if isinstance(statement, ast.Assign)
            and name in assigned_on(file, line)]
    return any(isinstance(node, ast.Call) and last_name(node.func) in (
        "PRNGKey", "key", "split", "fold_in") for node in made)


def split_again(file: str, line: int) -> NewLines:
    """Around a line, `a, b = jax.random.split(key)` of a key that stays, as what makes the next key too."""
    scope, lines = function_of(Site(file, line, "")), loop_around(file, line)
    handed_on = {node.id for each in returned_by(scope) for node in ast.walk(each) if isinstance(node, ast.Name)}
    around = lines or (range(scope.lineno, (scope.end_lineno or 0) + 1) if scope is not None else ())
    for statement in filter(None, map(on_lines(file).get, around)):
        call = statement.value if isinstance(statement, ast.Assign) else None
        made = assigned_on(file, statement.lineno)
        key = call.args[0] if isinstance(call, ast.Call) and call.args else None
        if isinstance(call, ast.Call) and isinstance(key, ast.Name) and len(made) > 1 and key.id not in made and (
                ast.unparse(call.func).endswith("split") and (lines or key.id in handed_on)):
            return replaced(file, statement, f"{key.id}, {', '.join(made)} = {ast.unparse(call.func)}({key.id}, "
                            f"{len(made) + 1})")
    return {}


def relaxed(file: str, call: ast.Call) -> NewLines:
    """A draw of 0 or 1 by a share as one that has a gradient by it, as Maddison and others (2016) have it."""
    given = {**dict(zip(("key", "p", "shape"), call.args)), **{str(word.arg): word.value for word in call.keywords}}
    if not {"key", "p"} <= given.keys():
        return {}
    (numpy, nn), said = (spelled(file, name) for name in ("jax.numpy", "jax.nn")), {
        name: ast.unparse(node) for name, node in given.items()}
    share, owner = f"{numpy}.clip({said['p']}, 1e-6, 1 - 1e-6)", ast.unparse(call.func).removesuffix("bernoulli")
    noise = f"{owner}logistic({said['key']}, {said.get('shape', f'{numpy}.shape({share})')})"
    return replaced(file, call, f"{nn}.sigmoid(({numpy}.log({share}) - {numpy}.log1p(-{share}) + {noise}) / 0.3)")
