"""The lines that were typed, in a file that several prompts share: what one adds, the others do not lose."""
from __future__ import annotations

import contextlib
import datetime
import os
import re
from collections.abc import Iterable

from prompt_toolkit.history import History

from autodiff.files.disk.reading import read_end
from autodiff.files.disk.replacing import append

FILE = os.path.join("~", ".local", "state", "gradbg", "history")
_MOST = 1 << 20  # bytes that are read of it


class LineHistory(History):
    """The history file, as prompt_toolkit's own; GRADBG_HISTORY names another one.

    Where it cannot be read or written, the lines of this session are there all the same.
    """

    def __init__(self) -> None:
        super().__init__()
        self._path = os.path.expanduser(os.environ.get("GRADBG_HISTORY", FILE))

    def load_history_strings(self) -> Iterable[str]:
        """Newest first."""
        try:
            text = read_end(self._path, _MOST).decode("utf-8", "replace")
        except (OSError, ValueError):
            return []
        return ["\n".join(line[1:] for line in entry.rstrip("\n").split("\n"))
                for entry in reversed(re.findall(r"(?:^\+.*\n?)+", text, re.MULTILINE))]

    def store_string(self, string: str) -> None:
        """Add an entry, whole or not at all."""
        entry = "".join(f"+{line}\n" for line in string.split("\n"))
        with contextlib.suppress(OSError, ValueError):
            os.makedirs(os.path.dirname(self._path) or ".", exist_ok=True)
            append(self._path, f"\n# {datetime.datetime.now()}\n{entry}".encode("utf-8", "replace"))
