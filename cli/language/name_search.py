"""Which names a text being typed could become: its beginnings, parts, or letters in order."""
from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest

MOST = 200  # candidates offered for one word
FEW = 40  # names that are offered themselves, rather than their scopes


def matching(text: str, names: Iterable[str]) -> list[str]:
    """Names that begin with `text`, then names with a part that does, else names with its letters in order.

    Where many begin with it, their scopes stand for them, as directories do for files. At most MOST.
    """
    names = list(names)
    first = [name for name in names if name.startswith(text)]
    inner = "/" + text
    later = [name for name in names if inner in name] if text and len(first) < MOST else []
    if len(first) > FEW:
        first = _scopes(first, len(text))
    return (first + later or fuzzy(text, names))[:MOST]


def _scopes(names: list[str], typed: int) -> list[str]:
    """Each scope that goes on after the text typed, once, and the names that are in none."""
    found: dict[str, list[str]] = {}
    for name in names:
        end = name.find("/", typed)
        found.setdefault(name[:end + 1] if end >= 0 else name, []).append(name)
    if len(found) == 1:
        only = next(iter(found))
        return _scopes(names, len(only)) if only.endswith("/") else names
    return [name for scope, inside in found.items() for name in ([scope] if len(inside) > 1 else inside)]


def fuzzy(text: str, names: Iterable[str]) -> list[str]:
    """Names that have the letters of `text` in order, those with the letters closest together first."""
    wanted = text.lower()
    found: list[tuple[int, int, str]] = []
    for name in names:
        lower, at, first = name.lower(), -1, -1
        for char in wanted:
            at = lower.find(char, at + 1)
            if at < 0:
                break
            first = at if first < 0 else first
        else:
            found.append((at - first, len(name), name))
    return [name for _, _, name in nsmallest(MOST, found)] if len(wanted) > 1 else []
