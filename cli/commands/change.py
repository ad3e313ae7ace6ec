"""Changing: set, freeze, fix, undo."""
from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import Annotated

from autodiff.core.errors import AutodiffError
from autodiff.debug.analysis.advice import Remark
from autodiff.debug.debugger import Debugger
from autodiff.debug.engine.questions.patches import Patch as FilePatch
from autodiff.debug.engine.questions.patches import patch_of_lines
from autodiff.debug.engine.questions.patches import write as write_patch

from ..language.argument_kinds import Count, IntKind
from ..language.command import command
from ..language.target_kinds import Assigned, Setting, SettingValue, Target
from ..model.results import Column, Group, Patch, Result, Table, Text
from ..model.script import ModelScript
from ..model.shell import CHOICES, OPTIONS, Shell
from ..model.usage_error import UsageError
from ..view.debugger_rows import bytes_in_words, shape
from ..view.text import number
from . import diagnose, standing


@command("set", group="Change", shorthands={"m mouse": "set mouse"})
def set_(shell: Shell, target: Setting | None, option_value: SettingValue | None, value: Assigned | None) -> Result:
    """Change a variable now, or a tensor's value in the runs to come; or a setting.

    `set NAME = EXPR` takes a NumPy expression; of the variable's shape, or one that spreads to it. `set NAME = off`
    takes an overriding value back. `set OPTION VALUE` changes a setting; set alone lists them. `set ring.disk 1GB`:
    past steps that memory has no room for go to a temporary folder; it is removed at the end, or by `set ring.disk 0`.

    Example:  set hidden1/biases = hidden1/biases * 0
    API:      dbg.set("hidden1/biases", 0.0), dbg.set("logits", 0.0), dbg.edits.unset("logits")
    """
    if target in ("var", "variable") and option_value is not None and value is not None:
        target, option_value = option_value, None  # as gdb has it
    if target is None:
        return Text("\n".join(f"{name} {setting_in_words(value)}  ({OPTIONS[name]})"
                              for name, value in shell.settings.items()))
    if value is None:
        return _setting(shell, target, option_value)
    if option_value is not None:
        raise UsageError(f"expected one name before =, found {target!r} and {option_value!r}")
    if value.strip() == "off":
        shell.dbg.edits.unset(target)
        return Text(f"{target} has its own value again")
    made = shell.dbg.set(target, value)
    before = f" (norm {number(made.before.norm)})" if made.before is not None and made.before.norm is not None else ""
    when = "" if made.kind == "variable" else ", from the next run on; set NAME = off takes it back"
    return Text(f"{made.kind} {made.name}{before} now has norm {number(made.after.norm)}{when}")


@command("init", group="Change")
def init(dbg: Debugger, *targets: Target) -> Result:
    """Give all variables, or those named, the values of their own initializers; random ones are drawn anew.

    A script that only builds a graph needs no init: its variables get their values at the first question.

    Example:  init hidden1/weights
    API:      dbg.edits.initialize("hidden1/weights")
    """
    made = dbg.edits.initialize(*targets)
    if not made:
        return Text("there is no variable in the graph", "quiet")
    rows = tuple((row.name, shape(row.after.shape), row.before.norm if row.before else None, row.after.norm)
                 for row in made)
    columns = (Column("variable", "name"), Column("shape"), Column("norm before", "number"), Column("norm", "number"))
    return Table(columns, rows, f"{len(rows)} variable{'s' * (len(rows) != 1)} initialized", ("undo takes it back",))


@command("freeze", group="Change")
def freeze(dbg: Debugger, target: Target | None) -> Result:
    """Hold a variable or tensor at its present value in the runs to come; without one it lists what is held.

    set NAME = off, or undo, lets it go.

    Example:  freeze hidden1/weights
    API:      dbg.freeze("hidden1/weights"), dbg.edits.held()
    """
    if target is None:
        return Text(f"held: {', '.join(dbg.edits.held())}" if dbg.edits.held() else "nothing is held", "quiet")
    made = dbg.freeze(target)
    return Text(f"{made.kind} {made.name} is held at norm {number(made.after.norm)}; set {target} = off lets it go")


@command("fix", group="Change")
def fix(shell: Shell, n: Annotated[int, IntKind(1)] = 1, *, write: bool = False, yes: bool = False,
        no: bool = False) -> Result:
    """Have the runs to come compute with remedy N of those that `why nan` tried; the script's graph stays as it is.

    What is to blame and the gradients are then computed beside it. Each step says that it was made so; undo takes the
    remedy back. Where variables are not finite, all get back what they had before the step that failed;
    with other updates, what they had before the first step that was tried.
    write: shows the remedy as a change of the script's file instead, and writes it when that is confirmed; what was
    there is kept as FILE~. yes: confirms it, as in batch, where nobody is asked; no: does not. A library's file is
    never written, nor a line whose expression is not surely found.

    Of a PyTorch, JAX or eager script, the script is run from its beginning, with its line changed as the remedy has it.

    Example:  fix 1 --write
    API:      dbg.edits.fix(1), dbg.edits.patch(1)
    """
    if no:
        return Text("nothing was written: the file is as it was", "quiet")
    if not shell.dbg.trials.tried and shell.dbg.records and _of_error(shell) is None:
        _ask(shell)
    if write or yes:
        return _written(shell, n, confirmed=yes)
    if shell.script is not None and (
            _of_error(shell) or shell.dbg.model.is_foreign or shell.dbg.trials.numbered(n)[0].lines):
        return _anew(shell, shell.script, n)
    made, failed = shell.dbg.edits.fix(n)
    again = f"\nvariables are what they were before {failed}" if failed else ""
    return Text(f"{made.words}: runs compute with that from here on; undo takes it back{again}")


def _ask(shell: Shell) -> None:
    """What `why` would tell now, if anything: its remedies are numbered by it."""
    with suppress(AutodiffError):
        diagnose.why(shell)


def _anew(shell: Shell, script: ModelScript, n: int) -> Result:
    """The script from its beginning, with a line as the remedy has it: what it computes itself, no graph can change."""
    patch, words = _patch(shell, n)
    if patch.why or patch.file != script.file or script.as_module:
        why = patch.why or f"{os.path.basename(patch.file)} is another file: fix {n} --write writes it"
        return Text(f"not applied, as the script computes its steps itself: {why}\nby hand: {words}", "warning")
    event = shell.load_again(patch)
    return Group((Patch(patch.file, patch.diff), Text(f"{os.path.basename(script.file)} runs from its beginning with "
                  "that; its file is as it was: load goes back to it, fix N --write writes it"),
                  standing.arrived(shell, event)))


def _of_error(shell: Shell) -> Remark | None:
    """The remedy of the error that the script ended with, if its text can have it."""
    told = getattr(shell.script.error, "told", None) if shell.script is not None else None
    return told if told is not None and told.lines else None


def _patch(shell: Shell, n: int) -> tuple[FilePatch, str]:
    """Remedy N as a change of the script's file, and in words."""
    if shell.script is not None and (told := _of_error(shell)) is not None and n == 1:
        return patch_of_lines(told.lines, shell.script.file), told.remedy
    if shell.script is not None and shell.script.fixed is not None and not shell.dbg.trials.tried:
        return shell.script.fixed, ""
    remedy = shell.dbg.trials.numbered(n)[0]
    return shell.dbg.edits.patch(n), remedy.words if "{}" in remedy.applied else remedy.what


def _written(shell: Shell, n: int, *, confirmed: bool) -> Result:
    """The remedy as a diff of the user's file, which is written if that is confirmed."""
    found, words = _patch(shell, n)
    if found.why:
        return Text(f"nothing is written: {found.why}\nby hand: {words}", "warning")
    name = os.path.basename(found.file)
    if confirmed:
        try:
            backup = write_patch(found)
        except OSError as error:
            raise UsageError(f"cannot write {found.file}: {error.strerror or error}", "fix N --write shows the change",
                             code="file") from None
        return Group((Patch(found.file, found.diff, backup),
                      Text(f"{name} is written; what it was is in {os.path.basename(backup)}", "good")))
    shell.offered = f"fix {n} --write --yes" if shell.interactive else ""
    asks = f"write {name}? yes or no" if shell.offered else f"not written: fix {n} --write --yes writes it"
    return Group((Patch(found.file, found.diff), Text(asks, "quiet")))


@command("undo", group="Change")
def undo(dbg: Debugger, times: Count = 1) -> Result:
    """Take back the last N of set, freeze and fix.

    Example:  undo
    API:      dbg.undo()
    """
    return Text("\n".join(f"taken back: {dbg.undo()}" for _ in range(times)))


def setting_in_words(value: object) -> str:
    """A setting's value as it is typed."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _disk(shell: Shell, text: str) -> Result:
    """Put past steps on disk, or no longer."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?b)?", text.lower())
    if match is None:
        raise UsageError(f"expected room on disk, found {text!r}", "set ring.disk 1GB, or 0 for none", code="bad_value")
    size = int(float(match[1]) * 1024 ** " kmgt".index(match[2] or " "))
    at = shell.dbg.history.spill(size)
    shell.settings["ring.disk"] = size
    if not size:
        return Text(f"ring.disk 0: steps are kept in memory only, {at.kept} of them")
    return Text(f"ring.disk {bytes_in_words(size)}: steps that memory has no room for go to {at.folder}, which is "
                "removed at the end")


def _setting(shell: Shell, name: str, text: str | None) -> Result:
    if name not in OPTIONS:
        raise UsageError(f"{name!r} is no setting: expected {', '.join(OPTIONS)}", f"set {name} = EXPR changes a value",
                         code="unknown_name")
    if text is None:
        return Text(f"{name} {setting_in_words(shell.settings[name])}")
    if name == "ring.disk":
        return _disk(shell, text)
    if isinstance(shell.settings[name], bool):
        if text not in ("on", "off"):
            raise UsageError(f"expected on or off for {name}, found {text!r}", f"set {name} on", code="bad_value")
        shell.settings[name] = text == "on"
    elif name in CHOICES:
        if text not in CHOICES[name]:
            raise UsageError(f"expected {' or '.join(CHOICES[name])} for {name}, found {text!r}",
                             f"set {name} {CHOICES[name][0]}", code="bad_value")
        shell.settings[name] = text
    elif text.isdigit():
        shell.settings[name] = int(text)
    else:
        raise UsageError(f"expected a whole number for {name}, found {text!r}", f"set {name} 40", code="bad_value")
    return Text(f"{name} {setting_in_words(shell.settings[name])}")
