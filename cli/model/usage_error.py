"""UsageError: an expected failure of the terminal, with the next thing to type."""
from __future__ import annotations


class UsageError(Exception):
    """What the user typed cannot be done. code: one word for programs. hint: the next thing to type."""

    def __init__(self, message: str, hint: str = "", *, code: str = "usage") -> None:
        super().__init__(message)
        self.message, self.hint, self.code = message, hint, code
