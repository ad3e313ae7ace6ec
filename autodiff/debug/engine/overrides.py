"""Overrides: values that the user puts in place of what the script feeds, computes or trains."""
from __future__ import annotations

from typing import Any

from ...core.graph import Tensor
from .overlay import Overlay


class Overrides:
    """fed: placeholders by hand. values: tensors that are not computed. frozen: variables, by name, that runs may not
    change. overlay: the remedies in force, or None. lent: what was ever put in place of what is computed. is_edited:
    whether anything was changed since the last run, so that what is asked is as of now.
    """

    def __init__(self) -> None:
        self.fed: dict[Tensor, Any] = {}
        self.values: dict[Tensor, Any] = {}
        self.frozen: dict[str, Any] = {}
        self.overlay: Overlay | None = None
        self.lent: set[Tensor] = set()
        self.is_edited = False

    def present(self) -> dict[Tensor, Any]:
        """All that the next run is given by hand."""
        return {**self.fed, **self.values}

    def feed(self, tensor: Tensor, value: Any) -> None:
        """Feed a value from now on."""
        self.fed[tensor] = value

    def clear_fed(self) -> None:
        """Feed nothing by hand any more."""
        self.fed.clear()

    def put(self, tensor: Tensor, value: Any) -> None:
        """Use a value in place of what is computed."""
        self.values[tensor] = value
        self.lent.add(tensor)

    def lay(self, overlay: Overlay | None) -> None:
        """Have runs compute with these remedies, and with no others."""
        self.overlay = overlay
        self.lent.update(overlay.pairs if overlay is not None else ())

    def drop(self, tensor: Tensor) -> Any:
        """Compute a tensor again; gives the value it was overridden by, None if by none."""
        return self.values.pop(tensor, None)

    def freeze(self, variable: str, value: Any) -> None:
        """Hold a variable at a value."""
        self.frozen[variable] = value

    def thaw(self, variable: str) -> Any:
        """Let runs change a variable again; gives the value it was held at, None if it was not held."""
        return self.frozen.pop(variable, None)

    def mark_edited(self, is_edited: bool = True, /) -> None:
        """Say whether what is there differs from what the last run left."""
        self.is_edited = is_edited
