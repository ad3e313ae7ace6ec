"""What a graph keeps beside its operations, and the forms in which it is written."""
from __future__ import annotations

import re
from importlib import import_module
from typing import Any

# "GraphDef", "NodeDef", … -> the path, in this package, of the function that makes one; told by autodiff itself
FORMS: dict[str, str] = {}


def written_as(form: str, *given: Any, **options: Any) -> Any:
    """A graph, or an operation, in a form of FORMS."""
    module, _, name = FORMS[form].rpartition(".")
    return getattr(import_module(f"..{module}", __package__), name)(*given, **options)


class Collected:
    """Named lists of what belongs to a graph. collected: key -> list."""

    collected: dict[Any, list[Any]]

    @property
    def collections(self) -> list[Any]:
        """The keys, as get_all_collection_keys gives them."""
        return list(self.collected)

    def add_to_collection(self, name: Any, value: Any) -> None:
        self.collected.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        for name in [names] if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The list itself."""
        return self.collected.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of the list; `scope` is a regex that must match from the start of the item's name."""
        items = self.collected.get(name, [])
        if scope is None:
            return list(items)
        return [item for item in items if hasattr(item, "name") and re.match(scope, item.name)]

    def get_all_collection_keys(self) -> list[Any]:
        return list(self.collected)

    def clear_collection(self, name: Any) -> None:
        self.collected.pop(name, None)
