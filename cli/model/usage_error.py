"""UsageError: an expected failure of the terminal, with the next thing to type."""
from __future__ import annotations

from autodiff.core.errors import AutodiffError


class UsageError(AutodiffError):
    """What the user typed cannot be done. code: one word for programs. span: columns of the line that are wrong."""

    def __init__(self, what: str = "", hint: str = "", *, expected: str = "", found: str = "", code: str = "usage",
                 span: tuple[int, int] | None = None) -> None:
        super().__init__(what, expected=expected, found=found, hint=hint)
        self.code, self.span = code, span
