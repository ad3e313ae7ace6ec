"""The status line: script and place, step, loss, watches, what is armed."""
from __future__ import annotations

from ..model.shell import Shell
from .debugger_rows import loss_of
from .text import clean


def status(shell: Shell) -> str:
    """`digits.py:41  |  step 20  |  loss 0.43  |  2 watches, 1 stops  |  1 break`."""
    parts = [clean(shell.where() or "no script", keep="")]
    if shell.script is None:
        return parts[0]
    if shell.script.state in ("ended", "raised"):
        parts[0] += f" {shell.script.state}"
    return "  |  ".join([*parts, progress(shell), *armed(shell)])


def progress(shell: Shell) -> str:
    """`step 20  |  loss 0.43`; `past: step 18 of 20  |  loss 0.51`."""
    records = list(shell.dbg.records)
    if not records:
        return "step 0"
    at = shell.dbg.history.position
    step = str(at.at)
    if not at.is_present:
        records = [record for record in records if record.run <= at.at.run]
        step = f"past: {step} of {at.last.step if at.at.is_step else at.last.run}"
    loss = next((loss_of(record, shell.dbg) for record in reversed(records[-20:]) if record.loss is not None), "")
    return step + (f"  |  {clean(loss, keep='')}" if loss else "")


def armed(shell: Shell) -> list[str]:
    """Watches, those of them that can stop, and breakpoints, as far as they are enabled."""
    stops = [row for row in shell.dbg.stops() if row.enabled]
    watches = [row for row in stops if row.kind == "watch"]
    breaks = [row for row in stops if row.kind == "break"]
    stopping = [row.condition for row in watches if row.condition]
    parts = []
    if watches:
        stop = f", stop if {clean(' or '.join(dict.fromkeys(stopping)), keep='')}" if stopping else ""
        parts.append(f"{len(watches)} watch{'es' * (len(watches) > 1)}{stop}")
    if breaks:
        named = [row.condition or " ".join(row.targets) for row in breaks]
        parts.append(f"{len(breaks)} break{'s' * (len(breaks) > 1)}: {clean(', '.join(named), keep='')}")
    return parts + ([f"{len(shell.displays)} shown at stops"] if shell.displays else [])
