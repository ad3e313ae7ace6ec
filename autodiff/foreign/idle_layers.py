"""Layers that a module makes and never uses: the lines that were to use them, as where a head was copied."""
from __future__ import annotations

import ast
from os.path import commonprefix
from typing import NamedTuple

from ..core.site import RawFrames, resolve
from ..debug.analysis.advice import Remark
from ..debug.facts.records import Place
from ..debug.facts.roles import at_line, place_on
from .new_lines import is_alone, replaced
from .script_lines import nodes_in


class _Class(NamedTuple):
    """One of a file. layers: what is given to attributes of self, by their names; uses: where a file reads these."""

    file: str
    layers: dict[str, ast.Assign]
    uses: dict[str, list[ast.Attribute]]

    def place(self, node: ast.AST) -> Place:
        """Of a part of it."""
        return place_on(self.file, getattr(node, "lineno", 0))


def idle(made: RawFrames) -> Remark | None:
    """What is to be said of a parameter that nothing uses, by where it was made; None where its layer is used."""
    return next((told for site in resolve(made) if (told := idle_on(site.file, site.line)) is not None), None)


def idle_on(file: str, line: int) -> Remark | None:
    """The same of the layer that is made on a line."""
    for node in nodes_in(file):
        if isinstance(node, ast.ClassDef):
            own = _Class(file, _layers(node), _uses(file))
            name = next((each for each, made in own.layers.items()
                         if made.lineno <= line <= (made.end_lineno or 0)), "")
            if name and name not in own.uses:
                return _told(own, name)
    return None


def _layers(node: ast.ClassDef) -> dict[str, ast.Assign]:
    return {each.targets[0].attr: each for each in ast.walk(node) if isinstance(each, ast.Assign) and isinstance(
        each.targets[0], ast.Attribute) and ast.unparse(each.targets[0].value) == "self" and isinstance(
            each.value, ast.Call)}


def _uses(file: str) -> dict[str, list[ast.Attribute]]:
    """In order; a name that stands in a text, as for getattr, may be used anywhere."""
    found: dict[str, list[ast.Attribute]] = {}
    for node in nodes_in(file):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            found.setdefault(node.attr, []).append(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.setdefault(node.value, [])
    return {name: sorted(nodes, key=lambda node: (node.lineno, node.col_offset)) for name, nodes in found.items()}


def _told(own: _Class, name: str) -> Remark:
    unused = [each for each in own.layers if each not in own.uses]
    other = _again(own, name)
    chosen = [(each, use) for each in unused if (use := other if each == name else _again(own, each)) is not None]
    lines = {at: text for each, use in chosen for at, text in replaced(own.file, use, f"self.{each}").items()}
    made = at_line(own.place(own.layers[name]))
    if other is not None and len(lines) == len(chosen):
        news, olds = (" and ".join(dict.fromkeys(names)) for names in (
            (each for each, _ in chosen), (use.attr for _, use in chosen)))
        is_one, place = len(chosen) == 1, own.place(other)
        return Remark(f"nothing uses {news}, made{made}; {olds} {'is' if is_one else 'are'} used twice, again"
                      f"{at_line(place)}", place, "use there " + ", ".join(
                          f"self.{each}(…){at_line(own.place(use)) * (not is_one)}" for each, use in chosen), lines)
    statement = own.layers[name]
    where = {(own.file, at): "" for at in range(statement.lineno, (statement.end_lineno or 0) + 1)}
    return Remark(f"nothing uses {name}, made{made}", own.place(statement), f"use {name} in forward(), or leave it out "
                  "where it is made", where if is_alone(own.file, statement) and len(unused) == 1 else {})


def _again(own: _Class, name: str) -> ast.Attribute | None:
    """The last use of a layer that is made alike and used more than once, the one with the most alike name; None where
    two are as near."""
    like = ast.unparse(own.layers[name].value)
    near: dict[str, int] = {}
    for other, made in own.layers.items():
        if other != name and ast.unparse(made.value) == like and len(own.uses.get(other, ())) > 1 and all(
                ast.unparse(use.value) == "self" for use in own.uses[other]):
            near[other] = max(len(commonprefix(pair)) for pair in ((name, other), (name[::-1], other[::-1])))
    best = [other for other in near if near[other] == max(near.values())]
    return own.uses[best[0]][-1] if len(best) == 1 else None
