"""A script's text becomes code: a file or a module, or a UsageError that shows the mistake."""
from __future__ import annotations

import json
import linecache
import os
import re
import sys
from collections.abc import Collection, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import decode_source, spec_from_file_location
from types import CodeType

from autodiff.files.disk.reading import read_bytes
from autodiff.tensorflow_names.old_names import code_of

from .script_frames import LIBRARIES, OWN
from .usage_error import UsageError

_MOST = 1 << 24  # bytes of a script


def compiled(path: str, put_back: list[str] | None = None, text: bytes = b"") -> CodeType:
    """The code of a Python file or a notebook. Raises UsageError if there is none, or it is not Python.

    put_back: takes the names that Python and NumPy have removed, and that are there for the script. text: what it says
    in place of what the file does, as where it is fixed.
    """
    try:
        if text:
            linecache.cache[path] = (len(text), None, decode_source(text).splitlines(keepends=True), path)
        return code_of(text or script_text(path), path, [] if put_back is None else put_back)
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


def compiled_module(name: str) -> tuple[CodeType, ModuleSpec]:
    """The code of the module that `python -m NAME` would run, and what it is. Raises UsageError, as `compiled`.

    Nothing is imported, the packages around it neither: that is the script's own doing.
    """
    spec = _spec_of(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = _spec_of(f"{name}.__main__")
        if spec is None:
            raise UsageError(f"no module '{name}.__main__' to run: {name!r} is a package without one",
                             "give one of its modules", code="no_script")
    try:
        code = spec.loader.get_code(spec.name) if spec and spec.loader else None  # type: ignore[attr-defined]
    except SyntaxError as error:
        raise UsageError(_syntax(name, error), "mend it, then load it again", code="script_syntax") from None
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"no module {name!r} to run: {error}", "give its dotted name", code="no_script") from None
    if code is None or spec is None:
        dotted = name.removesuffix(".py").replace("/", ".")
        raise UsageError(f"no module {name!r} to run", f"-m {dotted}, or {name} without -m" if name.endswith(".py") else
                         f"it was looked for from {os.getcwd()}", code="no_script")
    return code, spec


def _spec_of(name: str) -> ModuleSpec | None:
    """Where a module is, seen from the working directory; None if it is nowhere."""
    places: Sequence[str] | None = [os.getcwd(), *sys.path]
    found = None
    for part in name.split("."):
        found = PathFinder.find_spec(part, places) if part and places is not None else None
        if found is None:
            return None
        places = found.submodule_search_locations
    if found is None or not found.has_location:
        return found
    return spec_from_file_location(name, found.origin, submodule_search_locations=found.submodule_search_locations)


def drop_modules(folder: str, kept: Collection[str]) -> None:
    """Forget the modules of a script's own folder, but for those kept, so that it imports them anew when run again."""
    folder = os.path.join(os.path.abspath(folder), "")
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if name not in kept and file.startswith(folder) and file.endswith(".py") and not file.startswith(
                (*OWN, *LIBRARIES)):
            del sys.modules[name]


def _syntax(path: str, error: Exception) -> str:
    if not isinstance(error, SyntaxError):
        return f"{path} is not Python: {error}"
    line = (error.text or "").rstrip()
    lead = len(line) - len(line.lstrip())
    shown = f"\n{line.strip()}\n{' ' * max((error.offset or 1) - 1 - lead, 0)}^" if line else ""
    return f"syntax error in {path}, line {error.lineno}: {error.msg}{shown}"
