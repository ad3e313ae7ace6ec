"""Moving: run, continue, next, step and detach; back through what was: back, rs, rc, goto."""
from __future__ import annotations

import math
import re

from autodiff.debug.debugger import Debugger
from autodiff.debug.facts.answers import Position

from ..language.argument_kinds import Count, Regex
from ..language.command import command
from ..language.target_kinds import Condition, OpName
from ..model.results import Group, Result, Stop
from ..model.shell import Shell
from ..model.usage_error import UsageError
from . import advance, standing

EVERYWHERE = "has_inf_or_nan"  # tfdbg's filter, which it asks of every tensor
FOREVER = 10_000  # runs of the prompt's own train op that `run` and `continue` do at most


@command("run", group="Run", aliases=("r",),
         shorts={"-t": "--times", "-f": "--till", "-fenn": "--exclude", "-n": "--no-debug",
                 "-p": "?list plan shows the steps of a run; time of each: python with cProfile",
                 "--till_filter_pass": "--till", "--filter_exclude_node_names": "--exclude", "--no_debug": "--no-debug",
                 "--node_name_filter": "--names", "--op_type_filter": "--types", "--tensor_dtype_filter": "--dtypes"})
def run(shell: Shell, *, times: Count | None = None, till: Condition = "", exclude: Regex = "", names: Regex = "",
        types: Regex = "", dtypes: Regex = "", no_debug: bool = False) -> Result:
    """Run to the next stop: a watch or breakpoint whose condition holds, an error, or the script's end.

    times: at most so many runs. till: stop as soon as this predicate holds (nan, loss<0.1, norm(grad(W))<1e-6);
    has_inf_or_nan asks every tensor of the runs, as `break if nan` does. exclude: none whose name begins with this
    regex; names, types, dtypes: only those whose name, type of op or dtype does. no-debug: one run without stopping. A
    train op of the prompt's own runs for 10000 steps at most; without one, feeds that change, or with till an op that
    draws numbers, one run is all. A script at its end that made runs itself is started anew; not in batch.

    Example:  run -f nan
    API:      dbg.run(20, until="nan")
    """
    left_out = _left_out(shell, exclude, names, types, dtypes)
    if left_out and not till:
        raise UsageError("exclude, names, types and dtypes say which tensors a predicate is asked of",
                         f"run -f nan -fenn {exclude or 'REGEX'}")
    _to_present(shell)
    if shell.is_over:
        started = shell.load_again()
        if not shell.drives_script:
            return standing.arrived(shell, started)
        shell.dbg.model.note(f"{shell.script.name} was started anew")  # type: ignore[union-attr]
    most = 1 if no_debug else times or _all(shell, till)
    if not left_out and till != EVERYWHERE:
        return advance.go_on(shell, most, until=till)
    row = shell.dbg.break_at(condition=till, exclude=left_out, temporary=True)
    try:
        return advance.go_on(shell, most)
    finally:
        if any(other.number == row.number for other in shell.dbg.stops()):
            shell.dbg.delete(row.number)


def _left_out(shell: Shell, exclude: str, names: str, types: str, dtypes: str) -> str:
    """A regex of the tensors that a predicate is not asked of; "" for none."""
    parts = [f"^(?:{exclude})"] * bool(exclude) + [f"^(?!{names})"] * bool(names)
    if types or dtypes:
        others = [re.escape(row.name) for row in shell.dbg.tensors()
                  if not re.match(types, row.op_type) or not re.match(dtypes, row.dtype)]
        parts.append(f"^(?:{'|'.join(others)})$")
    return "|".join(parts)


@command("continue", group="Run", aliases=("c",), repeats=True)
def go_on(shell: Shell, times: Count = 1) -> Result:
    """Go on to the next stop, or N stops further.

    Example:  continue
    API:      dbg.run(20)
    """
    _to_present(shell)
    for _ in range(times - 1):
        result = advance.go_on(shell, _all(shell))
        if not (isinstance(result, Stop) and result.hit):
            return result
    return advance.go_on(shell, _all(shell))


def _all(shell: Shell, till: str = "") -> float:
    if shell.drives_script:
        return math.inf
    if till and not shell.dbg.runs.may_differ:
        shell.dbg.model.note("nothing changes from run to run: one run says it")
        return 1
    return FOREVER if till or shell.dbg.runs.goes_on else 1


@command("next", group="Run", aliases=("n",), repeats=True)
def next_step(shell: Shell, steps: Count | None) -> Result:
    """Go on by N steps: Session.runs that train, the script's own where it has a loop, else those of the train op.

    A run trains if it updates a trainable variable, not by its initializer; where nothing trains, any run is a step.
    Runs between two steps are made on the way; before the first step, next without N stops at each.
    Shows the loss and what the watches saw in the last run. A run that was opened by step is finished first.

    Example:  next 20
    API:      dbg.run(20), dbg.history.forth(), dbg.history.present()
    """
    if not shell.dbg.history.position.is_present:
        return stands(shell.dbg.history.forth(steps))
    _to_present(shell)
    return advance.go_on(shell, steps or 1, advance.steps if steps else advance.stations)


@command("detach", group="Run")
def detach(shell: Shell) -> Result:
    """Let the script finish undisturbed: its runs are neither looked at nor stopped any more.

    Example:  detach
    API:      session.run(loss, {images: np.zeros((2, 64)), labels: [0, 1]})
    """
    if not shell.drives_script or shell.script is None:
        raise UsageError("no script is waiting: there is nothing to detach from", "load FILE runs one", code="at_end")
    _to_present(shell)
    if shell.dbg.stepper.cursor is not None:
        advance.close_cursor(shell)
    event = shell.script.detach()
    shell.take(event)
    return standing.arrived(shell, event, event.records)


def _to_present(shell: Shell) -> None:
    """Leave the past before going on."""
    if shell.dbg.stepper.is_replaying or not shell.dbg.history.position.is_present:
        shell.dbg.history.present()


def stands(at: Position) -> Stop:
    """Which step is looked at."""
    if at.is_present:
        last = f", after {at.last}" if at.last.is_step else f"; the last was {at.last}"
        return Stop(f"in the present{last}", {"step": at.last.step, "run": at.last.run, "present": True},
                    (f"{at.first} to {at.last} are kept" + (
                        f", {at.on_disk} of them on disk" if at.on_disk else ""),) if at.kept else ())
    return Stop(f"at {at.at} of {at.last.step if at.at.is_step else at.last.run}, in the past",
                {"step": at.at.step, "run": at.at.run, "present": False},
                ("values and answers are as of this run; next goes on, run and continue return to the present",))


@command("step", group="Run", aliases=("s",), repeats=True, shorthands={"si stepi nexti": "step"})
def step(shell: Shell, ops: Count = 1) -> Result:
    """Execute N ops inside of a run, forward and then backward, and show the last one's outputs.

    Opens the next run if none is open; next finishes it. print looks at everything computed so far.

    Example:  step 3
    API:      dbg.stepper.step(3), dbg.stepper.cursor, dbg.stepper.finish()
    """
    dbg = shell.dbg
    parts: list[Result] = []
    if not dbg.history.position.is_present and dbg.stepper.cursor is None:
        dbg.stepper.replay()
    elif dbg.stepper.cursor is None or dbg.stepper.cursor.finished:
        if shell.drives_script:
            stopped = _to_next_run(shell)
            if stopped is not None:
                return stopped
            request = shell.script.request  # type: ignore[union-attr]
            dbg.stepper.begin(request.fetches, request.feed_dict)  # type: ignore[union-attr]
        else:
            dbg.stepper.begin()
    return Group((*parts, *advance.between_ops(shell, dbg.stepper.step(ops))))


def _to_next_run(shell: Shell) -> Result | None:
    """Bring the script to the beginning of its next run; gives what happened if there is none."""
    script = shell.script
    while script is not None and (script.state != "before" or script.is_answered):
        event = script.resume(before=True)
        shell.take(event)
        if not script.is_live or event.kind == "line":
            return standing.arrived(shell, event, event.records)
    return None


@command("back", group="Run", aliases=("rn",), repeats=True, shorthands={"reverse-next": "back"})
def back(dbg: Debugger, steps: Count | None) -> Result:
    """Look N steps back: values, gradients and answers are then as of that step, computed again exactly.

    Steps are counted as next does; goto run N reaches the runs between. Nothing has to have been watched. next looks
    further on, run and continue return to the present.

    Example:  back 2
    API:      dbg.history.back(2)
    """
    return stands(dbg.history.back(steps))


@command("rs", group="Run", repeats=True, shorthands={"rsi reverse-step reverse-stepi": "rs"})
def reverse_step(shell: Shell, ops: Count = 1) -> Result:
    """Take back N ops of the open run; without one, go through the last run (or the one looked at) from its end.

    Example:  rs 3
    API:      dbg.stepper.back(3)
    """
    return Group(advance.between_ops(shell, shell.dbg.stepper.back(ops)))


@command("rc", group="Run", repeats=True, shorthands={"reverse-continue": "rc"})
def reverse_continue(dbg: Debugger) -> Result:
    """Look at the last run before this one at which a watch or breakpoint stopped.

    Example:  rc
    API:      dbg.history.back_to_stop()
    """
    return stands(dbg.history.back_to_stop())


@command("goto", group="Run")
def goto(shell: Shell, op: OpName, step: Count | None) -> Result:
    """Travel to a step (`goto step 12`), or to where an op of the open run has just run, forward or back.

    Steps are the training runs, as next counts them; `goto run 12` reaches any run that info runs lists. What is kept
    is looked at; what is to come is run to. Without an open run, an op is gone to in the last one.

    Example:  goto step 12
    API:      dbg.history.goto(12), dbg.history.goto(run=12), dbg.stepper.replay(), dbg.stepper.goto("hidden1/MatMul")
    """
    dbg = shell.dbg
    if op not in ("step", "run"):
        if step is not None:
            raise UsageError(f"expected `goto OP`, `goto step N` or `goto run N`, found {op!r} {step}", "goto step 12")
        if op.isdigit():
            raise UsageError(f"{op} of what? expected `goto OP`, `goto step N` or `goto run N`", f"goto step {op}")
        return Group(advance.between_ops(shell, dbg.stepper.goto(op)))
    if step is None:
        raise UsageError(f"goto {op} needs the number of the {op}", f"goto {op} 12")
    if op == "run" and step <= dbg.log.run:
        return stands(dbg.history.goto(run=step))
    if op == "step" and step <= dbg.step:
        return stands(dbg.history.goto(step))
    dbg.history.present()
    return advance.go_on(shell, step - dbg.log.run) if op == "run" else \
        advance.go_on(shell, step - dbg.step, advance.steps)
