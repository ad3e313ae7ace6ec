"""Taking things along: export, save."""
from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import numpy as np

from autodiff.debug.facts.answers import WatchRow
from autodiff.files.disk.arrays import write_arrays
from autodiff.files.event_file import scalar_events

from ..language.argument_kinds import ChoiceKind, FileName
from ..language.command import command
from ..model.results import Result, Table, Text, first_in
from ..model.shell import Shell
from ..model.told_files import write_file
from ..model.usage_error import UsageError
from ..view.debugger_rows import of_steps
from ..view.json_text import jsonable, to_json
from ..view.text import clean
from .change import setting_in_words

COLORS = {"variable": "lightblue", "placeholder": "khaki", "constant": "gray90", "gradient": "mistyrose",
          "training": "palegreen"}


Kind = Annotated[str, ChoiceKind("dot", "events", "html", "json", "npz", "screen", "svg", "tsv")]


@command("export", group="Shell")
def export(shell: Shell, kind: Kind, file: FileName) -> Result:
    """Write the session, the graph or its numbers for other programs.

    html and svg: what was typed and shown. screen: the full screen as it stands, as SVG. json: what was typed and shown
    as data, an object for each command. dot: the graph, for Graphviz. tsv: the table that was shown last. npz:
    variables and $1, $2, …. events: loss and norms of what is watched over steps, for TensorBoard; FILE may be its log
    directory.

    Example:  export dot graph.dot
    API:      dbg.ops(), dbg.variables(), dbg.records
    """
    writers: dict[str, Callable[[Shell, str], str]] = {
        "dot": _dot, "events": _events, "html": partial(_picture, kind="html"), "json": _json, "npz": _npz,
        "screen": _screen, "svg": partial(_picture, kind="svg"), "tsv": _tsv}
    return Text(f"wrote {writers[kind](shell, file)}")


def _picture(shell: Shell, path: str, kind: str) -> str:
    from ..view.drawn.console import exported

    write_file(path, exported(_log(shell), f"gradbg {shell.where()}".strip(), kind))
    return f"{len(shell.log)} commands to {path}"


def _screen(shell: Shell, path: str) -> str:
    if shell.picture is None:
        raise UsageError("the full screen is not open", f"export svg {path}", code="wrong_moment")
    write_file(path, shell.picture())
    return f"the screen to {path}"


def _json(shell: Shell, path: str) -> str:
    write_file(path, "[" + ",\n".join(to_json(line, result) for line, result in _log(shell)) + "]\n")
    return f"{len(shell.log)} commands to {path}"


def _log(shell: Shell) -> list[tuple[str, Result]]:
    if not shell.log:
        raise UsageError("nothing was typed yet", "grads", code="wrong_moment")
    return list(shell.log)


def _dot(shell: Shell, path: str) -> str:
    ops = shell.dbg.ops()
    if not ops:
        raise UsageError("the graph has no operations", "load FILE", code="wrong_moment")
    lines = ["digraph model {", '  rankdir=BT; node [shape=box, style=filled, fillcolor=white, fontsize=10];']
    for op in ops:
        label = f"{op.name}\n{op.type}"
        lines.append(f"  {_quoted(op.name)} [label={_quoted(label)}, fillcolor={COLORS.get(op.role, 'white')}];")
    for op in ops:
        lines += [f"  {_quoted(name.partition(':')[0])} -> {_quoted(op.name)};" for name in op.inputs]
    write_file(path, "\n".join([*lines, "}", ""]))
    return f"{len(ops)} operations to {path}"


def _quoted(text: str) -> str:
    return json.dumps(clean(text), ensure_ascii=False)


def _tsv(shell: Shell, path: str) -> str:
    tables = (first_in(result, Table, from_the_end=True) for _, result in reversed(shell.log))
    table = next((table for table in tables if table is not None), None)
    if table is None:
        raise UsageError("no table was shown yet", "grads", code="wrong_moment")
    rows = [[column.name for column in table.columns], *([_cell(value) for value in row] for row in table.rows)]
    write_file(path, "".join("\t".join(row) + "\n" for row in rows))
    return f"{len(table.rows)} rows to {path}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (tuple, list)):
        return " ".join(map(_cell, value))
    return clean(str(jsonable(value)), keep="")


def _npz(shell: Shell, path: str) -> str:
    found = {name: np.asarray(value) for name, value in shell.dbg.session.variables.items()}
    found.update({f"${value.number}": np.asarray(value.array) for value in shell.dbg.values.kept()
                  if not isinstance(value.array, (tuple, list))})
    found = {name: array for name, array in found.items() if array.dtype != object}
    if not found:
        raise UsageError("no variable has a value, and none was printed", "next runs a step", code="wrong_moment")
    write_file(path, lambda file: write_arrays(file, found))
    return f"{len(found)} arrays to {path}"


def _events(shell: Shell, path: str) -> str:
    scalars = []
    for step, record in of_steps(shell.dbg):
        if record.loss is not None:
            scalars.append((record.loss_name.removesuffix(":0"), step, record.loss))
        for sample in record.samples:
            if sample.stats is not None and sample.stats.norm is not None:
                kind = "gradient_norm" if sample.is_gradient else "norm"
                scalars.append((f"{kind}/{sample.name.removesuffix(':0')}", step, sample.stats.norm))
    if not scalars:
        raise UsageError("nothing was run yet that has a loss or is watched", "next 20", code="wrong_moment")
    now = time.time()
    if path.endswith(os.sep) or os.path.isdir(path):
        with contextlib.suppress(OSError):  # the file in it then says why
            os.makedirs(path, exist_ok=True)
        path = os.path.join(path, f"events.out.tfevents.{int(now):010d}.{os.getpid()}.gradbg")
    write_file(path, scalar_events(scalars, now))
    return f"{len(scalars)} scalars to {path}"


@command("save", group="Shell")
def save(shell: Shell, file: FileName) -> Result:
    """Write watches, breakpoints, displays, aliases, definitions and settings as a command file, for source or -x.

    Example:  save my.gradbg
    """
    lines = [f"set {name} {setting_in_words(value)}" for name, value in shell.settings.items()]
    lines += [f"alias {name} = {words}" for name, words in shell.aliases.items()]
    for name, body in shell.defined.items():
        lines += [f"define {name}", *(f"  {line}" for line in body), "end"]
    for row in shell.dbg.stops():
        lines += _made(row)
    lines += [f"display {expression}" for expression in shell.displays]
    write_file(file, "".join(f"{line}\n" for line in lines))
    return Text(f"wrote {len(lines)} lines to {file}; source {file} reads them")


def _made(row: WatchRow) -> list[str]:
    """The command that makes a watch or breakpoint again; a disabled one is a comment."""
    step = row.condition.removeprefix("step == ") if row.kind == "break" else ""
    step = "" if step == row.condition else step
    words = [row.kind, *row.targets] if not step else ["break", "step", step]
    if row.condition and not step:
        words += ["if", row.condition]
    words += ["--exclude", row.exclude] if row.exclude else []
    words += ["--every", str(row.every)] if row.every > 1 else []
    words += ["--inside"] if row.inside else []
    words += ["--level", row.level] if row.level != "stats" else []
    return [("" if row.enabled else "# disabled: ") + " ".join(words)]
