"""What explains a stop, said unasked: as much as is read at a glance, the rest behind a link."""
from __future__ import annotations

from ..model.results import Card, Group, Result, Text

SAID = 2  # parts of an answer that are shown unasked


def briefly(question: str, found: Result) -> Card:
    """The first parts of the answer to `question`, in a card of its name."""
    parts = found.parts if isinstance(found, Group) else (found,)
    more = (Text(f"{question} says more", "quiet"),) if len(parts) > SAID else ()
    return Card((*parts[:SAID], *more), question)
