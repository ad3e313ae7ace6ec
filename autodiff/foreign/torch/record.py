"""What a PyTorch program did: its ATen ops in order, with the user's lines and the tensors themselves.

A `Recorder` is a dispatch mode: it sees every op below autograd, also inside of autograd.Functions and torch.func. It
keeps references; what a write would overwrite is copied first. Nothing the program computes is changed.
"""
from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, NamedTuple

import torch
import torch.utils._python_dispatch as modes
import torch.utils._pytree as pytree

from ...core.site import PACKAGE, RawFrames, resolve
from ...debug.facts.records import Place
from ...debug.facts.roles import as_place

DEPTH = 8  # user frames kept for each op
BYTES = 64 << 20  # that ops may hold that were made without autograd
ENTRIES = 40_000  # that are kept at most
LIBRARIES = (os.path.dirname(torch.__file__) + os.sep, PACKAGE, "<frozen")
OWN = frozenset(("aten", "prim", "prims", "profiler", "quantized", "c10d"))  # namespaces of torch's own ops
STANDARD = os.path.dirname(os.__file__) + os.sep  # Python's own library; installed packages stand in folders below it
_GENERATED = "GeneratedBackwardFor_"  # begins the names of the Functions that torch.library makes
_CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)


class Traits(NamedTuple):
    """What an op's schema says. writes: places of the arguments that it overwrites. in_place: it gives these back.
    is_random: it draws numbers. gives: it gives a tensor other memory, as a worker's batch has, made by no op. views:
    what it gives is memory that it was given."""

    writes: tuple[tuple[int, str], ...]
    in_place: bool
    is_random: bool
    gives: bool
    views: bool


@functools.cache
def traits_of(op: Any) -> Traits:
    """What the schema of an OpOverload says."""
    schema = op._schema
    writes = tuple((i, a.name) for i, a in enumerate(schema.arguments) if a.alias_info and a.alias_info.is_write)
    is_random = torch.Tag.nondeterministic_seeded in op.tags and "attention" not in op.name()
    in_place = any(r.alias_info and r.alias_info.is_write for r in schema.returns)
    views = any(r.alias_info for r in schema.returns)
    return Traits(writes, in_place, is_random, op.overloadpacket is torch.ops.aten.set_, views)


@functools.cache
def is_library(file: str) -> bool:
    """Whether code of this file is torch's or ours, not the user's."""
    return file.startswith(LIBRARIES) or file.startswith(STANDARD) and "-packages" not in file


def user_frames() -> RawFrames:
    """The user's frames, innermost first, up to the top level of the script; no frame of torch or of ours."""
    frame = sys._getframe(1)
    kept: list[tuple[CodeType, int]] = []
    while frame is not None and len(kept) < DEPTH:
        code = frame.f_code
        if not is_library(code.co_filename):
            kept.append((code, frame.f_lasti))
            if code.co_name == "<module>":
                break
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(kept)


def place_of_frames(frames: RawFrames) -> Place | None:
    """The innermost of the user's lines."""
    sites = resolve(frames[:1])
    return as_place(sites[0]) if sites else None


def tensors_in(tree: Any) -> list[Any]:
    """The tensors of nested lists, tuples and dicts."""
    if isinstance(tree, torch.Tensor):
        return [tree]
    found: list[Any] = []
    for part in tree if isinstance(tree, (list, tuple)) else tree.values() if isinstance(tree, dict) else ():
        if isinstance(part, torch.Tensor):
            found.append(part)
        elif isinstance(part, (list, tuple, dict)):
            found += tensors_in(part)
    return found


def is_leaf(tensor: Any) -> bool:
    """Whether nothing that torch differentiates made a tensor: so of a view whose history a write has ended too."""
    try:
        return tensor.is_leaf
    except RuntimeError:  # made under no_grad, and its memory changed since
        return True


def is_source(tensor: Any) -> bool:
    """Whether autograd ends at a tensor; not at a part of one that requires a gradient, made under no_grad, which torch
    calls a leaf that does too."""
    whole = getattr(tensor, "_base", None)
    return tensor.requires_grad and is_leaf(tensor) and not (whole is not None and whole.requires_grad)


def numbers_of(tensor: Any) -> Any:
    """The elements of a tensor; of a sparse one those that it holds."""
    return tensor.detach().coalesce().values() if tensor.is_sparse else tensor.detach()


def is_finite(tensors: Iterable[Any]) -> bool:
    """Whether there is no nan and no inf in tensors; those of no device, and None, have none."""
    return all(bool(torch.isfinite(numbers_of(t)).all()) for t in tensors if t is not None and not t.is_meta)


def storage_of(tensor: Any) -> int:
    """What tells the memory of a tensor from that of others, while it lives."""
    return tensor.untyped_storage()._cdata


@dataclass(slots=True)
class Entry:
    """One op that was done. op: an OpOverload, or a Call. result: what it gave, as it was.

    drawn: a copy of what it gave, of random ops. has_grad: whether autograd was on. module: the innermost one whose
    forward ran.
    """

    op: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any
    frames: RawFrames
    has_grad: bool
    drawn: Any = None
    module: Any = None
    _given: tuple[Any, ...] | None = None
    _made: tuple[Any, ...] | None = None
    _written: tuple[Any, ...] | None = None

    @property
    def given(self) -> tuple[Any, ...]:
        """The tensors among the arguments."""
        if self._given is None:
            self._given = (*tensors_in((self.args, self.kwargs)),)
        return self._given

    @property
    def made(self) -> tuple[Any, ...]:
        """The tensors that it gave."""
        if self._made is None:
            self._made = (*tensors_in(self.result),)
        return self._made

    @property
    def written(self) -> tuple[Any, ...]:
        """The tensors that it overwrote."""
        if self._written is None:
            traits = None if isinstance(self.op, (Call, Choice)) else traits_of(self.op)
            self._written = (*tensors_in([self.args[i] if i < len(self.args) else self.kwargs.get(n)
                                          for i, n in traits.writes]),) if traits and traits.in_place else ()
        return self._written


@dataclass(slots=True, eq=False)
class Call:
    """One use of an autograd.Function. body: what its forward did. node: its node in torch's graph. dys, slopes: what
    its backward was given and gave; entries: what that did."""

    function: Any
    body: list[Entry] = field(default_factory=list)
    node: Any = None
    dys: tuple[Any, ...] = ()
    slopes: tuple[Any, ...] = ()
    entries: list[Entry] = field(default_factory=list)

    def name(self) -> str:
        """What the user calls it; of an op of torch.library `library::op`."""
        name: str = self.function.__name__
        return "::".join(name.removeprefix(_GENERATED).rsplit("_", 1)[0].split("_", 1)) if self._info() else name

    def backward(self) -> Any:
        """The user's function that differentiates it."""
        info = self._info()
        return info._backward_fn if info else self.function.backward

    def _info(self) -> Any:
        """What torch.library keeps of an op that the user has registered; None of a Function."""
        known = self.function.__name__.startswith(_GENERATED)
        return inspect.getclosurevars(self.function.backward).nonlocals.get("info") if known else None


@dataclass(slots=True, eq=False)
class Choice:
    """One torch.cond. branches: what each branch did, and the tensors that it gave."""

    branches: tuple[tuple[list[Entry], list[Any]], ...]

    @property
    def body(self) -> list[Entry]:
        """What both branches did."""
        return [entry for entries, _ in self.branches for entry in entries]

    def name(self) -> str:
        """What the user calls it."""
        return "cond"


class Recorder(modes.TorchDispatchMode):
    """The ops since the last turn. entries: in order; older: those of the turn before. before: what storages held that
    were there before and were overwritten, as flat tensors. paused: whether ops pass unseen (as an optimizer's
    do); where no mode of the script's own is on they do so without a call of Python's. is_bounded: whether it may
    forget what a step will hardly need."""

    def __init__(self, *, is_bounded: bool = False) -> None:
        super().__init__()
        self._is_bounded = is_bounded
        self.entries: list[Entry] = []
        self.older: list[Entry] = []
        self.before: dict[int, Any] = {}
        self._is_paused = self._is_out = False
        self.modules: list[Any] = []  # whose forward runs, outermost first
        self._made: set[int] = set()
        self._given: list[Any] = []  # the last two tensors that were given memory
        self._idle = 0  # bytes that entries without autograd hold

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # scripts are not compiled here, and each op would pass through two more functions

    def __exit__(self, *error: Any) -> None:
        self._put_back()
        super().__exit__(*error)

    @property
    def paused(self) -> bool:
        """Whether ops pass unseen."""
        return self._is_paused

    @paused.setter
    def paused(self, on: bool) -> None:
        self._is_paused = on
        if not on:
            self._put_back()
        elif torch._C._len_torch_dispatch_stack() == 1 and modes._get_dispatch_stack_at(0) is self:
            modes._pop_mode()
            self._is_out = True

    def _put_back(self) -> None:
        if self._is_out:
            modes._push_mode(self)
            self._is_out = False

    def turn(self) -> None:
        """Begin a new step. What was made with autograd on may be differentiated by the next one too."""
        self.older, self.entries, self.before = [entry for entry in self.entries if entry.has_grad], [], {}
        self._made, self._given, self._idle = set(), [], 0

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.paused:
            return op(*args, **kwargs)
        traits = traits_of(op)
        if traits.gives:
            self.unmade(args[0])
            self._given = [*self._given[-1:], args[0]]
            return op(*args, **kwargs)
        if len(self._given) == 2 and list(map(id, args[:2])) == list(map(id, self._given)):  # bytes, as deepcopy does
            return op(*args, **kwargs)
        for place, name in traits.writes:
            self._keep(args[place] if place < len(args) else kwargs.get(name))
        before = len(self.entries)
        if op.namespace in OWN:
            result = op(*args, **kwargs)
        else:  # an op of the user's: what it is made of
            with self:
                result = op.redispatch(_CPU, *args, **kwargs)
            if len(self.entries) > before:
                return result
        has_grad = torch.is_grad_enabled()
        made = tensors_in(result)
        drawn = [t.detach().clone() for t in made] if traits.is_random else None
        if not traits.views:
            self._made.update(map(storage_of, made))
        if traits.writes or self._is_bounded or made:
            module = self.modules[-1] if self.modules else None
            self.entries.append(Entry(op, args, kwargs, result, user_frames(), has_grad, drawn, module))
        if self._is_bounded:
            self._count(0 if has_grad else sum(t.nbytes for t in made))
        return result

    def unmade(self, tensor: Any) -> None:
        """Forget what made a tensor, whose memory is another one now."""
        self.entries = [entry for entry in self.entries if entry.result is not tensor]

    def choose(self, pred: Any, *branches: Any) -> Any:
        """What the branch of a torch.cond gives that `pred` chooses; both are recorded, as branches change nothing."""
        outside, found = self.entries, []
        for branch in branches:
            self.entries = body = list[Entry]()
            result = branch()
            found.append((body, result))
        self.entries = outside
        self.paused = True
        chosen = pytree.tree_map(lambda a, b: torch.where(pred, a, b), *(result for _, result in found))
        self.paused = False
        choice = Choice(tuple((body, tensors_in(result)) for body, result in found))
        outside.append(Entry(choice, (pred,), {}, chosen, user_frames(), torch.is_grad_enabled()))
        return chosen

    def _count(self, idle: int) -> None:
        """Of a long stretch without a step, such as a test, keep what a step may still need. idle: bytes more."""
        self._idle += idle
        if self._idle > BYTES:
            self.entries, self._idle = [entry for entry in self.entries if entry.has_grad], 0
        if len(self.entries) > ENTRIES:
            self.entries = self.entries[-ENTRIES // 2:]

    def _keep(self, written: Any) -> None:
        """Copy what a write is about to overwrite, if it was there before this record began."""
        for tensor in tensors_in(written):
            storage = storage_of(tensor)
            if storage not in self._made and storage not in self.before:
                self.before[storage] = whole(tensor).clone()

    def value_of(self, tensor: Any) -> Any:
        """What a tensor held when this record began, if it was there before; detached, not to be written to."""
        kept = self.before.get(storage_of(tensor))
        tensor = tensor.detach()
        return tensor if kept is None else kept.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())


def whole(tensor: Any) -> Any:
    """All that the storage of a tensor holds, as a flat tensor."""
    flat = tensor.detach()
    count = flat.untyped_storage().nbytes() // max(flat.element_size(), 1)
    return flat.as_strided((count,), (1,), 0)
