"""What stands in the place of other things for a while."""
from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any


@contextlib.contextmanager
def instead(parts: Iterable[tuple[Any, str, Any]]) -> Iterator[None]:
    """Inside, owners have something else by these names: (owner, name, what)."""
    with contextlib.ExitStack() as undone:
        for owner, name, made in parts:
            undone.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, made)
        yield
