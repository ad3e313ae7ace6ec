"""The door of JAX: while a script runs, each call of what jax.grad, jax.value_and_grad or jax.vjp made is a run.

What the script jits runs in Python meanwhile, so that all values are concrete. JAX's own gradient is found first and
is what the script gets; then the function's program, with the values of its arguments, is run as a graph under the
debugger.
"""
from __future__ import annotations

import atexit
import contextlib
import functools
import inspect
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import jax

from ...core.errors import AutodiffError
from ...ops.common.instead import instead
from ..doors import View
from ..flags import Flags
from ..leaf_names import parameter_names
from ..script_lines import first_name
from ..steps import ForeignSteps
from .averages import Averages
from .calls import Call, of_all_rows
from .compiled import Gradients
from .habits import Habits
from .jitted import Jitted, Once, Region, refused
from .optimizers import Optimizers, users_sites
from .program import array_of
from .raised import remark_on
from .rows import Rows, held_by, rows_of
from .steps import Builder, Reading, changing, read_once
from .words import WORDS
from .written import Known, slower, written

_SAID = ("jax.jit is off while this script runs here, so that every value is at hand: it is slower, and sums "
         "may differ in their last bits")
_NO_STEP = ("gradbg: nothing here was a step: a call of what jax.grad, jax.value_and_grad or jax.vjp made is one, and "
            "jax.vmap of one, but not within another function of JAX's own\n")
_LOOKS, _PIECES = 32, 20_000  # steps after which the process' pieces of memory are counted; so many are too many


class JaxDoor:
    """What stands in the place of JAX's differentiating functions."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.steps = ForeignSteps("jax")
        self._refused: set[str] = set()  # what was told of calls that are no steps: a loop makes many alike
        self.steps.advice.words, self.steps.advice.said = WORDS, _SAID
        self._builder, self._own = Builder(self.steps), Gradients()
        self.optimizers, self.averages = Optimizers(lambda: self._jitted.region is not None), Averages()
        self._flags = Flags(jax.Array, array_of)
        view.doors["jax"] = self
        self._since = 0  # steps
        # What grad and value_and_grad made: of which function, and what makes a call of it.
        self._made: weakref.WeakKeyDictionary[Callable[..., Any], tuple[Callable[..., Any], Callable[..., Call]]] = (
            weakref.WeakKeyDictionary())
        self._is_inside, self._jitted = False, Jitted(
            self._alone, self._passes, self._rows, self.averages)
        self._habits = Habits(self.optimizers, self.averages, self._jitted.stale)

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """While the script runs."""
        _compile_once()
        real = {name: getattr(jax, name) for name in ("grad", "value_and_grad", "vjp", "vmap")}
        print(f"gradbg: {_SAID}", file=sys.stderr)  # which a full screen hides: there it stands on the first page
        self._real = real
        made = {name: functools.partial(self._gradient, name) for name in real} | {
            "vjp": functools.partial(self._vjp), "vmap": functools.partial(self._vmap)}
        draws = self._habits.draws.watched(lambda: self._is_inside)
        try:
            with instead([(jax, name, functools.update_wrapper(made[name], real[name])) for name in real]), draws, (
                    self._jitted.watched()):
                yield
            if not self.steps.session.runs and not self._view.is_left():
                sys.stderr.write(_NO_STEP)
        except Exception as error:
            with contextlib.suppress(Exception):  # what is said of an error is never another one
                error.told = remark_on(error)  # type: ignore[attr-defined]
            raise

    def _gradient(self, name: str, /, fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False,
                  **options: Any) -> Any:
        """What grad or value_and_grad makes of a function."""
        found = self._real[name](fun, argnums, has_aux, **options)

        def asked(function: Callable[..., Any], args: Any, kwargs: Any) -> Call:
            return Call(function, args, kwargs, argnums, has_aux, f"jax.{name}")

        def made(function: Callable[..., Any]) -> Callable[..., Any]:
            return self._gradient(name, function, argnums, has_aux, **options)

        @functools.wraps(found)
        def step(*args: Any, **kwargs: Any) -> Any:
            call = asked(fun, args, kwargs)
            again, region = functools.partial(found, *args, **kwargs), self._jitted.region
            with self._jitted.call(lambda: changing(call)) as once:
                if self._passes((args, held_by(fun)), kwargs):
                    with contextlib.suppress(Exception):  # what JAX finds in each row by itself is no step
                        if (rows := self._rows((args, kwargs, held_by(fun)))) is not None:
                            return rows.asked(self._vmap, made, fun, args, kwargs)
                    return again()
                reading = self._read(call, once)
                result = None if options or isinstance(reading, Exception) else self._compiled(call, reading, region)
                result = self._as_jax_has_it(again) if result is None else result
                self._step(replace(call, gradients=call.gradients_in(result)), reading, again)
                return result

        self._made[step] = fun, asked
        return step

    def _vmap(self, fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, **options: Any) -> Any:
        """What vmap makes of a function; of what grad or value_and_grad made it is a step, of all rows together."""
        found = self._real["vmap"](fun, in_axes, out_axes, **options)
        made = self._made.get(fun) if inspect.isfunction(fun) else None
        if made is None or out_axes != 0 or options:
            return found
        inner, asked = made
        rows = self._real["vmap"](inner, in_axes)

        @functools.wraps(found)
        def step(*args: Any, **kwargs: Any) -> Any:
            call, again = asked(inner, args, kwargs), functools.partial(found, *args, **kwargs)
            if self._passes((args, held_by(inner)), kwargs):
                return again()
            with self._jitted.call(lambda: None):
                result = self._as_jax_has_it(again)
                whole = of_all_rows(call, rows, in_axes, result)
                if whole is not None:
                    self._step(whole, self._read(whole, None), again)
                return result

        return step

    def _vjp(self, fun: Callable[..., Any], *primals: Any, has_aux: bool = False, **options: Any) -> Any:
        if self._passes(primals, {}):
            return self._real["vjp"](fun, *primals, has_aux=has_aux, **options)
        value, pull, *aux = self._as_jax_has_it(lambda: self._real["vjp"](fun, *primals, has_aux=has_aux, **options))

        @functools.wraps(pull)
        def step(cotangents: Any) -> Any:
            gradients = self._as_jax_has_it(lambda: pull(cotangents))
            if not self._passes((cotangents,), {}):
                call = Call(fun, primals, {}, tuple(range(len(primals))), has_aux, "jax.vjp", gradients, cotangents)
                self._step(call, self._read(call, None), lambda: None)
            return gradients

        return (value, step, *aux)

    def _passes(self, args: Any, kwargs: Any) -> bool:
        """Whether a call is none of the script's own: JAX differentiates or traces something around it."""
        return (self._is_inside or self._view.is_left()
                or any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves((args, kwargs))))

    def _rows(self, tree: Any) -> Rows | None:
        """The jax.vmap of the script's own that runs now, if these are arrays of its rows."""
        return None if self._is_inside or self._view.is_left() else rows_of(tree)

    def _alone(self, run: Callable[[], Any]) -> Any:
        """What JAX gives; calls inside of it are no steps."""
        self._is_inside = True
        try:
            return run()
        finally:
            self._is_inside = False

    def _as_jax_has_it(self, run: Callable[[], Any]) -> Any:
        """The same with jax.jit on: none of its values are asked for, and op by op it takes twice as long or more."""
        with jax.disable_jit(False):
            return self._alone(run)

    def _read(self, call: Call, once: Once | None) -> Reading | Exception:
        """What a call does, or why that cannot be told: then JAX itself is asked first, whose error it may be."""
        try:
            return self._alone(lambda: read_once(call, once))
        except Exception as error:
            return error

    def _compiled(self, call: Call, reading: Reading, region: Region | None) -> Any:
        """What the script gets, None where only JAX itself should say. region: what JAX traces once around it."""
        places = [leaf.place for leaf in reading.leaves if leaf.is_parameter]
        is_all = len(places) == sum(len(jax.tree.leaves(call.args[n])) for n in call.numbers)  # else JAX refuses some
        own = functools.partial(self._own.of, reading.traced, call.code, reading.key, region)
        found = self._alone(own) if is_all else None
        if found is None:
            return None
        value, beside, slopes = found
        gradients = call.trees_of(dict(zip(places, slopes)))
        if call.made_by == "jax.grad":
            return (gradients, beside) if call.has_aux else gradients
        return ((value, beside) if call.has_aux else value), gradients

    def _step(self, call: Call, reading: Reading | Exception, again: Callable[[], Any]) -> None:
        """One step: the graph of the call, under the debugger. again: asks JAX for it once more."""
        sites = users_sites()
        try:
            if isinstance(reading, Exception):
                raise reading
            step, checked, trees = self._alone(lambda: self._builder.built(call, reading, sites))
        except Exception as error:  # whatever the reader lacks, the script goes on
            if "Reverse-mode differentiation" in str(error):
                raise
            if not isinstance(error, AutodiffError):
                self._alone(lambda: refused(again))
            reason = str(error).partition("\n")[0]
            if reason not in self._refused:
                print(f"gradbg: this call of {call.made_by} is no step: {reason}", file=sys.stderr)
            self._refused.add(reason)
            return
        named = self.steps.names_behind(step.loss)
        if call.made_by == "jax.value_and_grad" and sites:
            named = named | dict.fromkeys(first_name(sites[0]), step.loss)
        self._view.handles.update({"loss": step.loss, **named})
        self._name(call, trees)
        advice = self.steps.advice
        self.optimizers.note("step", (call.args, None), (call.gradients, None))
        known = Known(sites, call.differentiated(sites), self.optimizers)
        turn, habits = self._habits.note(step, known, lambda: self._alone(checked), call)
        given = {**dict(zip(parameter_names(call.function, call.args), call.args)), **call.kwargs}
        code = getattr(inspect.unwrap(call.function), "__code__", None)
        advice.flags = self._flags.beside(step.loss, step.feeds, *([] if code is None else [(code, given)]))
        advice.untrained |= {self.steps.variables[name].op.name for name in step.values if self.optimizers.keeps(name)}
        advice.findings, advice.rate, advice.uphill = habits.all, habits.rate, habits.uphill
        advice.written, advice.slower = lambda finding: written(finding, known), lambda factor: slower(factor, known)
        turn.loss = float(self.steps.run(step))
        self._made_room()

    def _made_room(self) -> None:
        """Let go, now and then, what JAX has compiled: what runs outside of jax.jit is compiled anew in each step, and
        a process has no more than 65,530 pieces of memory."""
        self._since += 1
        if self._since % _LOOKS == 0 and sys.platform == "linux":
            with open("/proc/self/maps", "rb") as pieces:
                if sum(1 for _ in pieces) > _PIECES:
                    self._jitted.let_go()

    def _name(self, call: Call, trees: dict[int, Any]) -> None:
        """Let arguments be known by the names that the function and the script have for them."""
        arguments = dict(enumerate([*call.args, *call.kwargs.values()]))
        titles = dict(enumerate([*parameter_names(call.function, call.args), *call.kwargs]))
        found = {title: trees[number] for number, title in titles.items()}
        numbers = {id(argument): number for number, argument in arguments.items()}
        found |= {name: trees[numbers[id(value)]] for name, value in self._view.namespace().items()
                  if id(value) in numbers}
        self._view.handles.update(found)


def _compile_once() -> None:
    """Let JAX keep what it compiles until this process ends, unless the user has a folder for it.

    A loop of jax.lax that is not inside of jax.jit is traced anew in each step, and would be compiled anew.
    """
    if jax.config.jax_compilation_cache_dir is None:
        folder = tempfile.mkdtemp(prefix="gradbg-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        jax.config.update("jax_compilation_cache_dir", folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def open_door(view: View) -> Any:
    """A context in which the script's gradients by JAX are runs."""
    return JaxDoor(view).opened()
