"""A script's text becomes code: a file or a module, or a UsageError that shows the mistake."""
from __future__ import annotations

import importlib.util
import json
import linecache
import os
import re
import sys
from types import CodeType

from autodiff.files.disk.reading import read_bytes

from .usage_error import UsageError

_MOST = 1 << 24  # bytes of a script


def compiled(path: str) -> CodeType:
    """The code of a Python file or a notebook. Raises UsageError if there is none, or it is not Python."""
    try:
        return compile(script_text(path), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise UsageError(_syntax(path, error), f"mend it, then load {path}", code="script_syntax") from None


def script_text(path: str) -> str | bytes:
    """What a Python file says; of a notebook the code cells, one after the other. Raises UsageError without one.

    A notebook's text is what source listings show of it: each cell begins with a line `# cell N`.
    """
    try:
        text = read_bytes(path, _MOST)
        if not path.endswith(".ipynb"):
            return text
        cells = notebook_text(text)
        linecache.cache[path] = (len(cells), None, cells.splitlines(keepends=True), path)
        return cells
    except FileNotFoundError:
        near = [n for n in sorted(os.listdir(os.path.dirname(path) or ".")) if n.endswith(".py")][:5] \
            if os.path.isdir(os.path.dirname(path) or ".") else []
        raise UsageError(f"no script {path!r}", f"scripts there: {', '.join(near)}" if near else
                         f"it was looked for from {os.getcwd()}", code="no_script") from None
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read the script {path!r}: {why}", "expected a Python file",
                         code="no_script") from None


def notebook_text(data: bytes) -> str:
    """The code cells of a notebook as one program; lines for IPython alone (`%`, `!`) become comments.

    Raises UsageError for what is no notebook.
    """
    try:
        notebook = json.loads(data)
        cells = notebook["cells"] if "cells" in notebook else [c for w in notebook["worksheets"] for c in w["cells"]]
        codes = [c.get("source", c.get("input", "")) for c in cells if c["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"this is no notebook: {error!r}", "expected Jupyter's JSON with cells",
                         code="no_script") from None
    lines = []
    for number, code in enumerate(codes, 1):
        text = "".join(code)
        lines.append(f"# cell {number}")
        lines += ["#" + text.replace("\n", "\n#")] if text.startswith("%%") else \
            [re.sub(r"^(\s*)([%!](?=[A-Za-z./]).*)$", r"\1pass  # \2", line) for line in text.split("\n")]
    return "\n".join(lines) + "\n"


def compiled_module(name: str) -> CodeType:
    """The code of the module that `python -m NAME` would run. Raises UsageError, as `compiled`."""
    sys.path.insert(0, os.getcwd())
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(name + ".__main__")
        code = spec.loader.get_code(spec.name) if spec and spec.loader else None  # type: ignore[attr-defined]
    except SyntaxError as error:
        raise UsageError(_syntax(name, error), "mend it, then load it again", code="script_syntax") from None
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"no module {name!r} to run: {error}", "give its dotted name", code="no_script") from None
    finally:
        sys.path.remove(os.getcwd())
    if code is None:
        raise UsageError(f"no module {name!r} to run", f"it was looked for from {os.getcwd()}", code="no_script")
    return code


def _syntax(path: str, error: Exception) -> str:
    if not isinstance(error, SyntaxError):
        return f"{path} is not Python: {error}"
    line = (error.text or "").rstrip()
    lead = len(line) - len(line.lstrip())
    shown = f"\n{line.strip()}\n{' ' * max((error.offset or 1) - 1 - lead, 0)}^" if line else ""
    return f"syntax error in {path}, line {error.lineno}: {error.msg}{shown}"
