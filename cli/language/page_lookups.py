"""`/PATTERN` and `@I,J` where there is no page to turn: they look at what was shown last."""
from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ..model.results import Array, Result, Text
from ..model.shell import Shell
from ..model.usage_error import UsageError
from ..view.layout import layout
from .lazy_lines import array_in

SIGNS = ("/", "@")
MOST = 50  # lines that are shown of those found


def look_up(line: str, shell: Shell) -> Result:
    """The lines of the last output that match, each with its number; or one element of the last array shown.

    Raises UsageError if there is nothing to look at, or no such element.
    """
    if line.startswith("@"):
        return _element(line[1:], shell)
    if len(line) == 1:
        raise UsageError("expected a pattern after /", "/loss")
    found = next(_shown(shell), Text())
    flags = 0 if any(c.isupper() for c in line) else re.IGNORECASE
    try:
        pattern = re.compile(line[1:], flags)
    except re.error:
        pattern = re.compile(re.escape(line[1:]), flags)
    texts = ("".join(text for _, text in pieces) for pieces in layout(found))
    matches = [f"{number:>5}  {text.rstrip()}" for number, text in enumerate(texts, 1) if pattern.search(text)]
    if not matches:
        return Text(f"{line}: not found in the last output", "warning")
    head = f"{line}: {len(matches)} lines" if len(matches) > 1 else f"{line}: 1 line"
    more = [f"… {len(matches) - MOST} more"] if len(matches) > MOST else []
    return Text("\n".join([head, *matches[:MOST], *more]))


def _shown(shell: Shell) -> Iterator[Result]:
    """What was shown, the last first, without what was looked up in it."""
    return (result for said, result in reversed(shell.log) if not said.startswith(SIGNS))


def _element(given: str, shell: Shell) -> Result:
    array = next((found for result in _shown(shell) if (found := array_in(result)) is not None), None)
    if array is None:
        raise UsageError("no array was shown yet", "print loss")
    words = re.findall(r"[^\s,]+", given.strip().removeprefix("[").removesuffix("]"))
    shape = array.value.shape
    try:
        index = tuple(int(word) for word in words)
        value = array.value[index]
    except (ValueError, IndexError):
        raise UsageError(f"expected an index of {array.name}, of shape {list(shape)}, found {given.strip()!r}",
                         f"@{','.join(['0'] * len(shape))}") from None
    return Array(f"{array.name}[{','.join(words)}]", np.asarray(value))
