"""Command files that the user trusts: only those run by themselves, and only as they were when trusted."""
from __future__ import annotations

import hashlib
import os

TRUSTED = os.path.join("~", ".config", "gradbg", "trusted")
LOCAL = ".gradbgrc"


def is_trusted(path: str) -> bool:
    """Whether this file, with this content, was trusted."""
    try:
        with open(os.path.expanduser(TRUSTED), encoding="utf-8") as file:
            return _line(path) in file.read().splitlines()
    except OSError:
        return False


def trust(path: str) -> None:
    """Trust a file as it is now. Raises OSError."""
    line = _line(path)
    listed = os.path.expanduser(TRUSTED)
    os.makedirs(os.path.dirname(listed), exist_ok=True)
    if not is_trusted(path):
        with open(listed, "a", encoding="utf-8") as file:
            file.write(line + "\n")


def _line(path: str) -> str:
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    return f"{digest}  {os.path.realpath(path)}"
