"""Traveling: back, goto, rs, rc."""
from __future__ import annotations

from autodiff.debug.debugger import Debugger

from ..language.argument_kinds import Count
from ..language.command import command
from ..language.target_kinds import OpName
from ..model.results import Group, Result
from ..model.shell import Shell
from ..model.usage_error import UsageError
from . import advance
from .motion import stands


@command("back", group="Run", aliases=("rn",), repeats=True)
def back(dbg: Debugger, steps: Count = 1) -> Result:
    """Look N whole steps back: values, gradients and answers are then as of that step, computed again exactly.

    Nothing has to have been watched. next looks further on, run and continue return to the present.

    Example:  back 2
    API:      dbg.history.back(2)
    """
    return stands(dbg.history.back(steps))


@command("rs", group="Run", repeats=True)
def reverse_step(shell: Shell, ops: Count = 1) -> Result:
    """Take back N ops of the open run; without one, go through the last run (or the one looked at) from its end.

    Example:  rs 3
    API:      dbg.stepper.back(3)
    """
    return Group(advance.between_ops(shell, shell.dbg.stepper.back(ops)))


@command("rc", group="Run", repeats=True)
def reverse_continue(dbg: Debugger) -> Result:
    """Look at the last step before this one at which a watch or breakpoint stopped.

    Example:  rc
    API:      dbg.history.back_to_stop()
    """
    return stands(dbg.history.back_to_stop())


@command("goto", group="Run")
def goto(shell: Shell, op: OpName, step: Count | None) -> Result:
    """Travel to a step (`goto step 12`), or to where an op of the open run has just run, forward or back.

    A step that is kept is looked at; one to come is run to. Without an open run, an op is gone to in the last one.

    Example:  goto step 12
    API:      dbg.history.goto(12), dbg.stepper.replay(), dbg.stepper.goto("hidden1/MatMul")
    """
    dbg = shell.dbg
    if op != "step":
        if step is not None:
            raise UsageError(f"expected `goto OP` or `goto step N`, found {op!r} {step}", "goto step 12")
        return Group(advance.between_ops(shell, dbg.stepper.goto(op)))
    if step is None:
        raise UsageError("goto step needs the number of the step", "goto step 12")
    if step <= dbg.step:
        return stands(dbg.history.goto(step))
    dbg.history.present()
    return advance.run_steps(shell, step - dbg.step)
