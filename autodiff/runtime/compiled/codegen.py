"""One straight-line Python function for a plan: a line for each step, everything else bound beforehand."""
from __future__ import annotations

import contextvars
import math
from collections.abc import Sequence
from types import FrameType, TracebackType
from typing import Any

import numpy as np

from ...core.graph import Operation
from ..plan.interpreter import Loop, fail
from ..plan.kernel_traits import direct_ufunc, views_of
from ..plan.passes import is_pure
from ..plan.plan import Plan, Step, last_uses
from ..plan.state import Run, handed_out
from ..plan.zero_padding import Padding
from .fusion_groups import Tiles
from .matmul_rewrites import Columns, Stack
from .memory import Recycled, allocate
from .scalar_fast_path import RAISES, alike_steps, function_of, operator_steps, scalar_steps
from .short_calls import Unexpected, short_call
from .tiled_execution import KEYWORD_OUT, TileProgram


class Generated:
    """A plan as a function, to be entered once at a time: it has buffers. source: its text, one line a step.

    otherwise: the interpreter, for numbers that Python's floats refuse. threads: how many a group of tiles may use.
    relaxed: float32 numbers may be kept in Python's floats. inner: what it gives stays inside of a run.
    """

    def __init__(self, plan: Plan, otherwise: Loop, threads: int = 1, *, relaxed: bool = False,
                 inner: bool = False) -> None:
        self.plan = plan
        self._otherwise = otherwise
        writer = _Writer(plan, threads, relaxed, inner)
        self.source = writer.source()
        self._names = writer.names
        self._steps = writer.steps
        self._code = compile(self.source, "<plan>", "exec")
        exec(self._code, self._names)
        self.function = self._names["program"]  # of the run, its variables, and what is fed
        self._context = _quiet() if all(map(_runs_alone, plan.steps)) else None

    def __call__(self, run: Run, fed: Sequence[Any]) -> list[Any]:
        """The values of the plan's fetches, for the caller to keep."""
        try:
            if self._context is not None:
                return self._context.run(self.function, run, run.variables, *fed)
            with np.errstate(all="ignore"):
                return self.function(run, run.variables, *fed)
        except Exception as error:
            if not self.leaves_to_interpreter(error, run):
                raise
        with np.errstate(all="ignore"):  # out of the block: what fails here has no other failure behind it
            return handed_out(self._otherwise(run, fed))

    def leaves_to_interpreter(self, error: Exception, run: Run) -> bool:
        """Whether the function stopped at a number that the interpreter takes. Else raises what the step's failure is.

        False if the error comes from no step.
        """
        trace = self._trace(error)
        is_refused = isinstance(error, RAISES) and trace is not None and self._steps[trace.tb_lineno - 2][1] is None
        if type(error) is Unexpected or is_refused:
            return True
        self._fail(error, run)
        return False

    def _fail(self, error: Exception, run: Run) -> None:
        """Raise `error` as the failure of the step whose line it comes from."""
        trace = self._trace(error)
        if trace is None:
            return
        step, operands = self._steps[trace.tb_lineno - 2]
        known = {**self._names, **trace.tb_frame.f_locals}
        run.op = step.op
        try:
            if step.reads is not None:
                run.read(step.reads)
        except Exception as unread:
            fail(unread, step.op, ())
        fail(error, step.op, [known.get(name) for name in operands or ()])

    def operation_at(self, frame: FrameType) -> Operation | None:
        """The operation that a frame of the function executes; None for another frame."""
        return self._steps[max(frame.f_lineno - 2, 0)][0].op if frame.f_code is self.function.__code__ else None

    def _trace(self, error: Exception) -> TracebackType | None:
        """Where in the function an error comes from."""
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code is not self.function.__code__:
            trace = trace.tb_next
        return trace


def _quiet() -> contextvars.Context:
    """A context in which NumPy warns of nothing: it is entered in a tenth of the time that `np.errstate` takes."""
    context = contextvars.Context()
    context.run(np.seterr, all="ignore")
    return context


def _runs_alone(step: Step) -> bool:
    """Whether the step calls no code of the user, which might read the caller's context."""
    definition = step.op.definition
    return not definition.takes_run and (step.reads is not None or step.call is not None
                                         or definition.kernel.__module__.startswith(_OPS))


_OPS = __name__.partition(".")[0] + "."


class _Writer:
    """Writes the source.

    Names: s* values, f* Python floats, b* buffers and views of them, c* constants, k* kernels, a* others.
    """

    def __init__(self, plan: Plan, threads: int, relaxed: bool, inner: bool) -> None:
        self.plan, self._inner = plan, inner
        self._threads = threads
        self.names: dict[str, Any] = {}
        self.steps: list[tuple[Step, list[str] | None]] = []  # operands: None for formulas of Python floats
        self._where: dict[Any, str] = {}  # slot -> expression
        self._bound: dict[Any, str] = {}  # id of a kernel or constant -> its name
        self._spare: list[str] = []
        self._locals = 0
        self._buffers = allocate(plan)
        self._last = last_uses(plan)
        self._formulas = scalar_steps(plan, relaxed)
        self._operators = {i: text for i, text in operator_steps(plan).items() if i not in self._formulas}
        self._alike = alike_steps(plan, {*self._formulas, *self._operators})
        self._numbers = {s for i in self._operators for s in plan.steps[i].inputs}  # slots wanted as NumPy's numbers
        self._floats: dict[int, str] = {}
        self._spare_floats: list[str] = []
        taken = {s for i, step in enumerate(plan.steps) if i not in self._formulas for s in step.inputs}
        self._arrays = taken.union(plan.fetches)  # slots that are wanted as NumPy's
        self._own = {step.outputs[0] for i, step in enumerate(plan.steps)
                     if i in self._formulas or i in self._operators or self._makes_array(step)}
    def _makes_array(self, step: Step) -> bool:
        """Whether the step's one result is an array that is new in each run."""
        if len(step.outputs) != 1 or step.outputs[0] in self._buffers:
            return False
        form = self.plan.forms.get(step.outputs[0])
        return step.outputs[0] in self.plan.given or isinstance(step.call, np.ufunc) and form is not None \
            and form.shape != ()

    def source(self) -> str:
        plan = self.plan
        for slot, value in plan.constants.items():
            self._where[slot] = self._global("c", value)
        made = {slot for step in plan.steps for slot in step.outputs}
        for slot in self._buffers.keys() - made:  # a stack: its parts are written one by one
            self._where[slot] = self._global("b", self._buffers[slot])
        for slot in plan.feeds:
            self._where[slot] = self._local("s", self._spare)
        parameters = ", ".join(["run", "variables", *[self._where[s] for s in plan.feeds]])
        lines = [f"def program({parameters}):"]
        arrays = [self._where[s] for s in plan.feeds if s in self._numbers]
        self.steps += [(step, []) for step in plan.steps[:1] if arrays]
        lines += [f"    {'; '.join(f'{name} = {name}[()]' for name in arrays)}"] if arrays else []
        done = {i for group in self._alike.values() for i in group[1:]}
        for i, step in enumerate(plan.steps):
            if i in done:
                continue
            line = self._formula(i, step) if i in self._formulas else self._operator(i, step) \
                if i in self._operators else self._together(self._alike[i]) if i in self._alike else self._line(step)
            if line is not None:
                lines.append(f"    {line}{self._let_go(i, step)}")
        fetched = f"[{', '.join(self._where[s] for s in plan.fetches)}]"
        is_own = self._inner or self._own.issuperset(plan.fetches) and len(set(plan.fetches)) == len(plan.fetches)
        lines.append(f"    return {fetched if is_own else self._global('k', handed_out) + f'({fetched})'}")
        return "\n".join(lines)

    def _line(self, step: Step) -> str | None:
        if step.reads is not None:
            self.steps.append((step, []))
            number = "[()]" if step.outputs[0] in self._numbers else ""
            return f"{self._target(step)} = variables[{step.reads!r}]{number}"
        operands = [repr(i) if isinstance(i, str) else self._where[i] for i in step.inputs]
        if self._is_fixed_view(step):
            return None
        if self._is_in_place(step):
            self._where[step.outputs[0]] = self._global("b", self._buffers[step.outputs[0]])
            return None
        self.steps.append((step, operands))
        if isinstance(step.call, Tiles):
            return self._tiles(step, operands)
        buffer = self._buffers.get(step.outputs[0]) if step.outputs else None
        if buffer is not None:
            self._where[step.outputs[0]] = self._global("b", buffer)
            return self._call(step, operands, self._where[step.outputs[0]])
        if len(step.outputs) == 1 and step.outputs[0] in self.plan.given:
            target = self._target(step)
            return f"{target} = {self._taken(step.outputs[0])}; {self._call(step, operands, target)}"
        before = f"run.op = {self._global('a', step.op)}; " if step.op.definition.takes_run else ""
        is_used = any(self._last[s] >= 0 for s in step.outputs)
        call = self._call(step, operands, None)
        return f"{before}{self._target(step)} = {call}" if is_used else before + call

    def _formula(self, index: int, step: Step) -> str:
        """A line of Python floats, and of NumPy's number where one is wanted."""
        self.steps.append((step, None))
        before, operands = "", []
        for slot in step.inputs:
            if slot not in self._floats and slot not in self.plan.constants:
                self._floats[slot] = self._local("f", self._spare_floats)
                before += f"{self._floats[slot]} = float({self._where[slot]}); "
            operands.append(self._floats[slot] if slot in self._floats else self._literal(self.plan.constants[slot]))
        for slot in set(step.inputs):
            if self._last[slot] <= index and slot in self._floats:
                self._spare_floats.append(self._floats.pop(slot))
        out, formula = step.outputs[0], self._formulas[index].format(*operands)
        if self._formulas[index] == "{}":
            formula = f"{self._global('k', function_of(step))}({operands[0]})"
        name = self._floats[out] = self._local("f", self._spare_floats)
        if self._last[out] < 0:
            self._spare_floats.append(self._floats.pop(out))
        if out not in self._arrays:
            return f"{before}{name} = {formula}"
        self._where[out], number = self._local("s", self._spare), self._global("k", self.plan.forms[out].dtype.type)
        return f"{before}{name} = {formula}; {self._where[out]} = {number}({name})"

    def _operator(self, index: int, step: Step) -> str:
        """A line of NumPy's single numbers."""
        constants = self.plan.constants
        operands = [self._global("c", constants[s][()]) if s in constants else self._where[s] for s in step.inputs]
        self.steps.append((step, operands))
        formula = self._operators[index].format(*operands)
        return f"{self._target(step)} = {formula}"

    def _together(self, group: list[int]) -> str:
        """A line that takes one function of many single numbers at once."""
        steps = [self.plan.steps[i] for i in group]
        operands = [self._where[step.inputs[0]] for step in steps]
        self.steps.append((steps[0], operands))
        array, dtype = self._global("k", np.array), self._global("c", self.plan.forms[steps[0].outputs[0]].dtype)
        targets = ", ".join([self._target(step) for step in steps])
        return f"{targets} = {self._global('k', steps[0].call)}({array}(({', '.join(operands)}), {dtype}))"

    def _literal(self, value: Any) -> str:
        number = float(value)
        return repr(number) if math.isfinite(number) else self._global("c", number)

    def _call(self, step: Step, operands: list[str], out: str | None) -> str:
        op = step.op
        short = short_call(self.plan, step)
        if short is not None:
            return f"{self._global('k', short[0])}({short[1].format(*operands)}{f', {out}' if out else ''})"
        if step.call is not None:
            keyword = "out=" if step.call in KEYWORD_OUT or isinstance(step.call, Stack) else ""
            arguments = [*operands, *([keyword + out] if out else [])]
            return f"{self._global('k', step.call)}({', '.join(arguments)})"
        direct = direct_ufunc(op)
        if direct is not None:
            arguments = [self._global("c", c) if i is None else operands[i]
                         for i, c in zip(direct.inputs, direct.constants)]
            keyword = "out=" if direct.ufunc in KEYWORD_OUT else ""
            arguments += [keyword + out] if out else []
            return f"{self._global('k', direct.ufunc)}({', '.join(arguments)})"
        arguments = [*operands, *[f"{k}={self._global('a', v)}" for k, v in step.attrs.items()]]
        if out:
            arguments.append(f"out={out}")
        if op.definition.takes_run:
            arguments.append("run=run")
        return f"{self._global('k', op.definition.kernel)}({', '.join(arguments)})"

    def _tiles(self, step: Step, operands: list[str]) -> str:
        plan = self.plan
        program = TileProgram(step.call, step.inputs, step.outputs, plan.forms, plan.constants, self._threads)
        outs, targets = [], []
        for slot in step.outputs:
            if slot in self._buffers:
                self._where[slot] = self._global("b", self._buffers[slot])
                outs.append(self._where[slot])
                targets.append("_")
            else:
                self._where[slot] = self._local("s", self._spare)
                outs.append(self._taken(slot) if slot in plan.given else "None")
                targets.append(self._where[slot])
        return f"[{', '.join(targets)}] = {self._global('k', program)}([{', '.join(operands)}], [{', '.join(outs)}])"

    def _taken(self, slot: int) -> str:
        """A call that gives an array for a fetched result."""
        return f"{self._global('k', Recycled(self.plan.given[slot]).take)}()"

    def _target(self, step: Step) -> str:
        names = []
        for slot in step.outputs:
            self._where[slot] = self._local("s", self._spare)
            names.append(self._where[slot])
        return ", ".join(names)

    def _let_go(self, index: int, step: Step) -> str:
        """Drop values that nothing reads any more, and use their names again."""
        slots = {s for s in (*step.inputs, *step.outputs) if not isinstance(s, str) and self._last[s] <= index}
        names = sorted({self._where[s] for s in slots if self._where.get(s, "").startswith("s")})
        self._spare += names
        return "; " + " = ".join(names) + " = None" if names else ""

    def _local(self, prefix: str, spare: list[str]) -> str:
        """The name of a value: one that another needs no more, or a new one."""
        if spare:
            return spare.pop()
        self._locals += 1
        return f"{prefix}{self._locals - 1}"

    def _global(self, prefix: str, value: Any) -> str:
        name = self._bound.get(id(value))
        if name is None:
            name = self._bound[id(value)] = f"{prefix}{len(self._bound)}"
            self.names[name] = value
        return name

    def _is_in_place(self, step: Step) -> bool:
        """Whether the step puts rows among zeros that were written there when they were made."""
        buffers = self.plan.buffers
        return isinstance(step.call, Padding) and step.outputs[0] in buffers and step.inputs[0] in buffers \
            and buffers[step.inputs[0]].block == buffers[step.outputs[0]].block

    def _is_fixed_view(self, step: Step) -> bool:
        """Whether the step's results are views of buffers, the same in each run; they are bound here and now."""
        if not is_pure(step) or any(s in self._buffers for s in step.outputs):
            return False
        args: list[Any] = [self.names.get(self._where[i]) for i in step.inputs]
        constant = [i in self.plan.constants for i in step.inputs]
        if any(a is None for a in args) or all(constant):
            return False
        views = [step.call(args[0])] if isinstance(step.call, Columns) else views_of(step.op, args, constant)
        for slot, view in zip(step.outputs, views or ()):
            self._where[slot] = self._global("b", view)
        return views is not None
