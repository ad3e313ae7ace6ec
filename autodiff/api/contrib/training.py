"""tf.contrib.training: settings of a model by name."""
from __future__ import annotations

import json
import re
from typing import Any

from ...core.errors import ArgumentError
from ..common.unsupported import refusing

__all__ = ["HParams"]


class HParams:
    """Settings as attributes."""

    def __init__(self, **settings: Any) -> None:
        for name, value in settings.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """A new setting. Raises ArgumentError (ValueError) for a name that is taken."""
        if hasattr(self, name):
            raise ArgumentError(f"Hyperparameter name is reserved: {name}")
        setattr(self, name, list(value) if isinstance(value, tuple) else value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Change a setting, in the type that it has."""
        old = getattr(self, name)
        setattr(self, name, value if old is None or isinstance(old, list) else type(old)(value))

    def parse(self, values: str) -> HParams:
        """Change settings as `rate=0.1,name=x,sizes=[1,2]` says. Raises ArgumentError (ValueError) for others."""
        for item in re.findall(r"\s*([^,=]+=(?:\[[^]]*\]|[^,]*)|[^,]+)", values):
            name, equals, text = item.partition("=")
            if not equals or name.strip() not in vars(self):
                raise ArgumentError(f"Unknown hyperparameter type for {name.strip()}", expected=", ".join(vars(self)))
            old = getattr(self, name.strip())
            self.set_hparam(name.strip(), text.lower() in ("true", "1") if isinstance(old, bool) else
                            json.loads(text) if isinstance(old, list) else text)
        return self

    def values(self) -> dict[str, Any]:
        """The settings by name."""
        return dict(vars(self))

    def __contains__(self, key: str) -> bool:
        return key in vars(self)


__getattr__ = refusing("tf.contrib.training", __name__)
