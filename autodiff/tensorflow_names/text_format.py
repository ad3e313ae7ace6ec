"""google.protobuf's text_format and message, for scripts where protocol buffers' own package is not installed."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.errors import DataLossError
from ..files.protobuf_message import Message
from ..files.protobuf_text import format_message, parse_message

__all__ = ["DecodeError", "Error", "Merge", "MergeLines", "Message", "MessageToString", "Parse", "ParseError",
           "ParseLines", "PrintMessage"]

DecodeError = EncodeError = ParseError = Error = DataLossError


def Merge(text: str | bytes, message: Any, **without_effect: Any) -> Any:  # noqa: N802
    """Add what a text says to a message, and give it. Raises ParseError, which names the line."""
    return parse_message(text.decode() if isinstance(text, bytes) else text, message)


Parse = Merge


def MergeLines(lines: Iterable[str], message: Any, **without_effect: Any) -> Any:  # noqa: N802
    """As Merge, of lines."""
    return Merge("".join(line if line.endswith("\n") else line + "\n" for line in lines), message)


ParseLines = MergeLines


def MessageToString(message: Any, **without_effect: Any) -> str:  # noqa: N802
    """The text of a message."""
    return format_message(message)


def PrintMessage(message: Any, out: Any, **without_effect: Any) -> None:  # noqa: N802
    """Write the text of a message to an open file."""
    out.write(format_message(message))
