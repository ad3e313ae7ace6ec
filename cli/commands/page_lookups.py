"""`/PATTERN` and `@I,J`: they look at what was shown last."""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from ..language.argument_kinds import RawKind, pattern
from ..language.command import command
from ..model.results import Array, Result, Text, first_in
from ..model.shell import Shell
from ..model.usage_error import UsageError
from ..view.plain import WIDTH, lines_of

Pattern = Annotated[str, RawKind("PATTERN")]
Index = Annotated[str, RawKind("I,J,…")]
MOST = 50  # lines that are shown of those found


@command("/", group="Look")
def search(shell: Shell, text: Pattern) -> Result:
    """Show the lines of the last output that match a regex, each with its number.

    Letters of any case match, unless the pattern has a capital. In the full screen it goes to the next line found.

    Example:  /hidden1
    """
    found = next(_shown(shell), Text())
    flags = 0 if any(c.isupper() for c in text) else re.IGNORECASE
    try:
        wanted = pattern(text, flags)
    except re.error:
        wanted = pattern(re.escape(text), flags)
    matches = [f"{number:>5}  {line.rstrip()}" for number, line in enumerate(lines_of(found, WIDTH), 1)
               if wanted.search(line)]
    if not matches:
        return Text(f"/{text}: not found in the last output", "warning")
    head = f"/{text}: {len(matches)} lines" if len(matches) > 1 else f"/{text}: 1 line"
    more = [f"… {len(matches) - MOST} more"] if len(matches) > MOST else []
    return Text("\n".join([head, *matches[:MOST], *more]))


@command("@", group="Look")
def element(shell: Shell, index: Index) -> Result:
    """Show one element of the array that was shown last. In the full screen it scrolls there.

    Example:  @3
    """
    array = next((found for result in _shown(shell) if (found := first_in(result, Array)) is not None), None)
    if array is None:
        raise UsageError("no array was shown yet", "print loss", code="wrong_moment")
    words = re.findall(r"[^\s,]+", index.removeprefix("[").removesuffix("]"))
    shape = array.value.shape
    try:
        at = tuple(int(word) for word in words)
        value = array.value[at]
    except (ValueError, IndexError):
        raise UsageError(expected=f"an index of {array.name}, of shape {list(shape)}", found=repr(index),
                         hint=f"@{','.join(['0'] * len(shape))}", code="bad_value") from None
    return Array(f"{array.name}[{','.join(words)}]", np.asarray(value))


def _shown(shell: Shell) -> Iterator[Result]:
    """What was shown, the last first, without what was looked up in it."""
    return (result for said, result in reversed(shell.log) if not said.startswith(("/", "@")))
