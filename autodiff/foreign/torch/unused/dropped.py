"""Results that nothing takes: of a statement such as `x.clamp(0, 1)`, or by a name that nothing reads."""
from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import torch

from ....core.site import Site, resolve, span
from ....debug.analysis.findings import Finding
from ....debug.facts.roles import as_place
from ...new_lines import last_name
from ...script_lines import block_of, holding, on_lines, parsed, read_by
from ..graph import array_of, packet_of
from ..record import Entry, RawFrames, storage_of

_TURNS = 4  # steps that are looked at
_READ = ("_local_scalar_dense", "equal", "is_nonzero")  # ops by which the script gets numbers


class _Dropped(NamedTuple):
    """One statement. whole: the expression whose result is dropped; name: that it is given, "" for none."""

    site: Site
    whole: ast.expr
    name: str


class _Seen(NamedTuple):
    """A result of it. others, size: how many of its elements are others than what it was made of has, and of how many;
    -1 where these have other shapes. own: it was made of a parameter, or of a gradient. number: it, if it is one."""

    others: int
    size: int
    own: bool
    number: float | None


class Dropped:
    """Statements of the first steps whose results nothing takes."""

    def __init__(self) -> None:
        self._turns = 0
        self._own: dict[int, bool] = {}  # the memory of parameters, and of gradients: True
        self._losses = list[Any]()  # the last one
        self._known: dict[tuple[int, int], tuple[RawFrames, _Dropped | None]] = {}  # with what keeps the ids their own
        self._seen: dict[_Dropped, list[_Seen]] = {}

    def note(self, loss: Any, entries: Sequence[Entry], parameters: Iterable[Any]) -> None:
        """A step. entries: since the last one; parameters: of the loss."""
        self._turns += 1
        if self._turns > _TURNS:
            self._losses, self._own = [], {}
            return
        losses, self._losses = [*self._losses, loss][-2:], [loss]
        own, self._own = self._own, {storage_of(t): t is not p for p in parameters for t in (p, p.grad)
                                    if t is not None}
        uses, found = Counter(id(t) for e in entries for t in e.given), dict[_Dropped, _Seen]()
        for where, group in groupby(entries, lambda e: self._of(e.frames[:1]) if e.frames else None):
            made = [*group] if where is not None else []
            if where is not None and (not any(t is each for each in losses for e in made for t in e.given)
                                      if where.name else _gives(where, made[-1])) and (
                    seen := _unused(made, uses, own, bool(where.name))) is not None:
                found[where] = max(seen, found.get(where, seen), key=lambda each: each.others)
        for where, seen in found.items():
            self._seen.setdefault(where, []).append(seen)

    def _of(self, frames: RawFrames) -> _Dropped | None:
        key = id(frames[0][0]), frames[0][1]
        if key not in self._known:
            self._known[key] = frames, _dropped(frames)
        return self._known[key][1]

    def findings(self) -> list[Finding]:
        """Those of more than one step, that would have changed something."""
        return [_told(where, seen[-1], len(seen)) for where, seen in self._seen.items()
                if len(seen) > 1 and any(each.others for each in seen)][:2]


def _gives(where: _Dropped, last: Entry) -> bool:
    """Whether an op is what a call gives, all of it, and the call is one that gives a tensor: not a part of it, nor
    what a call does that prints or keeps."""
    at, whole = span(last.frames), where.whole
    if not isinstance(whole, ast.Call) or at is None or (at.line, at.column, at.end_line, at.end_column) != (
            whole.lineno, whole.col_offset, whole.end_lineno, whole.end_col_offset):
        return False
    name = last_name(whole.func)
    return type(last.module).__module__.startswith("torch.") or name != "backward" and (
        _is_method(where.site.file, whole) or hasattr(torch, name) or hasattr(torch.nn.functional, name))


def _dropped(frames: RawFrames) -> _Dropped | None:
    """The statement of which an op is, if its result is dropped, or has a name that nothing reads."""
    site = resolve(frames[:1])[0]
    statement = on_lines(site.file).get(site.line) if "-packages" not in site.file else None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return _Dropped(Site(site.file, statement.lineno, site.function), statement.value, "")
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if isinstance(statement, ast.Assign) and isinstance(target, ast.Name) and not target.id.startswith("_") and (
            _is_unread(site, target.id) or _is_replaced(site, statement, target.id)):
        return _Dropped(site, statement.value, target.id)
    return None


def _is_unread(site: Site, name: str) -> bool:
    """Whether nothing in the function of a line, or in all of the file, reads a name."""
    tree = parsed(site.file)
    inside = [node for node in holding(site.file, site.line) if isinstance(node, (ast.FunctionDef, ast.Lambda))]
    names = [node for node in ast.walk(inside[0] if inside else tree or ast.Module([], []))
             if isinstance(node, (ast.Name, ast.Global, ast.Nonlocal))]
    return not any(name in node.names if not isinstance(node, ast.Name) else node.id == "locals" or node.id == name
                   and isinstance(node.ctx, ast.Load) for node in names)


def _is_replaced(site: Site, statement: ast.stmt, name: str) -> bool:
    """Whether the next statement of the block that has a name gives it something else."""
    block = block_of(site.file, site.line)
    after = block[block.index(statement) + 1:] if statement in block else []
    later = next((each for each in after if any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(
        each))), None)
    return isinstance(later, ast.Assign) and ast.unparse(later.targets[0]) == name and name not in read_by(later)


def _unused(made: Sequence[Entry], uses: Counter[int], own: Mapping[int, bool], is_named: bool) -> _Seen | None:
    """What ops of one statement gave, if nothing took it, and they changed nothing and told the script nothing."""
    if any(packet_of(e) in ("", *_READ) for e in made) or not made[-1].made:
        return None
    inside, fresh = Counter(id(t) for e in made for t in e.given), set[int]()
    for e in made:
        if not fresh.issuperset(storage_of(t) for t in e.written):
            return None  # it changes what was there before
        fresh |= {storage_of(t) for t in e.made} - {storage_of(t) for t in e.given}
    results, result = [t for e in made for t in e.made], made[-1].made[0]
    if any(uses[id(t)] > inside[id(t)] for t in results):
        return None
    given = [t for e in made for t in e.given if not any(t is r for r in results)]
    is_own = any(storage_of(t) in own for t in given)
    if is_named and not (result.requires_grad or any(own.get(storage_of(t)) for t in given)):
        return None
    alike = [t for t in given if t.shape == result.shape and t.dtype == result.dtype]
    if not alike or is_named or result.requires_grad != alike[0].requires_grad:
        return _Seen(-1, result.numel(), is_own, float(result.detach()) if result.dim() == 0 else None)
    return _Seen(int((array_of(alike[0]) != array_of(result)).sum()), result.numel(), is_own, None)


def _told(where: _Dropped, seen: _Seen, count: int) -> Finding:
    text, target = ast.unparse(where.whole), _target(where)
    if where.name:
        value = "" if seen.number is None else f" {seen.number:.3g} in the last,"
        return Finding(58, "result not used", where.name, "", "", f"{where.name} is computed in each of {count} steps, "
                       f"of what is trained or of its gradients,{value} and nothing takes it: neither the loss nor an "
                       "update depends on it", f"use {where.name} where it is meant to count, or leave it out",
                       "doctor", as_place(where.site))
    changed = f"; {seen.others} of its {seen.size} elements would be others" if seen.others > 0 else ""
    stays = f": {target} stays as it was" if target else ""
    method = text.partition("(")[0] if seen.own else ""
    method = method if hasattr(torch.Tensor, f"{method.rpartition('.')[2]}_") else ""
    return Finding(80, "result not used", target, method, "", f"what {text} gives is a new tensor, which nothing "
                   f"takes, in each of {count} steps{stays}{changed}", f"change it in place: {method}_(…)" if method
                   else "take what it gives" + f": {target} = …" * bool(target), "doctor", as_place(where.site))


def _target(where: _Dropped) -> str:
    """What a call was to change, in the script's words: the tensor of a method, or the first argument of a function."""
    call = where.whole
    if not isinstance(call, ast.Call):
        return ""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    given = owner if owner is not None and _is_method(where.site.file, call) else next(iter(call.args), None)
    return ast.unparse(given) if isinstance(given, (ast.Name, ast.Attribute, ast.Subscript)) else ""


def _is_method(file: str, call: ast.Call) -> bool:
    """Whether a call is of a tensor's method, not of a function of a module that the file imports."""
    base: Any = call.func
    while isinstance(base, (ast.Attribute, ast.Subscript, ast.Call)):
        base = base.func if isinstance(base, ast.Call) else base.value
    imported = {(each.asname or each.name).partition(".")[0] for node in ast.walk(parsed(file) or ast.Module([], []))
                if isinstance(node, (ast.Import, ast.ImportFrom)) for each in node.names}
    return hasattr(torch.Tensor, last_name(call.func)) and getattr(base, "id", "") not in imported
