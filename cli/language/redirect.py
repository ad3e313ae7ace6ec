"""`> FILE`, `>> FILE` and `| PROGRAM`: where the output of a command goes instead of the terminal."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys

from ..model.results import Group, Result, Text
from ..model.told_files import append_to_file, write_file
from ..model.usage_error import UsageError
from ..view.render import plain, to_json
from .parsed import Output


def sent(result: Result, output: Output, line: str) -> Result:
    """Write or pipe what a command has shown; an error is shown, not sent."""
    if result.exit_code == 1:
        return result
    return _piped(result, output.to) if output.kind == "|" else _written(result, output, line)


def _piped(result: Result, command: str) -> Result:
    program = command.split()[0]
    if shutil.which(program) is None:
        raise UsageError(f"no program {program!r} to pipe into", "for instance | less", code="no_program")
    done = subprocess.run(command, shell=True, input=plain(result), text=True, encoding="utf-8",
                          errors="replace", check=False, stdout=None if sys.stdout.isatty() else subprocess.PIPE)
    return Text((done.stdout or "").rstrip("\n"))


def _written(result: Result, output: Output, line: str) -> Result:
    path = os.path.expanduser(output.to)
    text = to_json(line, result) + "\n" if path.endswith(".json") else plain(result)
    (append_to_file if output.kind == ">>" else write_file)(path, text)
    wrote = Text(f"wrote {text.count(chr(10))} lines to {path}")
    return Group((result, wrote)) if result.exit_code else wrote
