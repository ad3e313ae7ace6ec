"""The forms in which graphs and operations are written; the room that knows a form is loaded when needed."""
from __future__ import annotations

from importlib import import_module
from typing import Any

# "GraphDef", "NodeDef" -> the path, in this package, of the function that makes one; told by autodiff itself
FORMS: dict[str, str] = {}


def written_as(form: str, *given: Any) -> Any:
    """A graph, or an operation, in a form of FORMS."""
    module, _, name = FORMS[form].rpartition(".")
    return getattr(import_module(f"..{module}", __package__), name)(*given)
