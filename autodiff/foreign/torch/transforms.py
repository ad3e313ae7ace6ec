"""Functions of torch's that take functions. Branches and loops are compiled where they run, and torch.func works on
tensors of its own: a mode that records, and a door that waits for losses, see nothing of that."""
from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import io
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.utils._pytree as pytree

from ...core.traversal import reached
from ...ops.common.instead import instead
from ..leaf_names import dotted, is_of_all_rows, parameter_names
from .record import tensors_in


def uncompiled(choose: Callable[..., Any]) -> AbstractContextManager[None]:
    """torch.cond gives choose(pred, branch, other branch), of functions without arguments; loops run step by step."""
    def cond(pred: Any, true_fn: Any, false_fn: Any, operands: Any = ()) -> Any:
        if not isinstance(pred, torch.Tensor):
            return (true_fn if pred else false_fn)(*operands)
        return choose(pred, lambda: true_fn(*operands), lambda: false_fn(*operands))

    return instead([(torch, "cond", cond), *_LOOPS])


def taken(pred: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
    """What the branch gives that a value chooses."""
    return yes() if pred else no()


def _plain_loops() -> Iterator[tuple[Any, str, Any]]:
    """Of scan, map and while_loop, where this torch has them: what is compiled, and what runs the same as it is."""
    for loop, name, plain in (("scan", "scan_op", "generic_scan"), ("map", "map_impl", "map_dense"),
                              ("while_loop", "while_loop_op", "while_loop_dense"),
                              ("associative_scan", "associative_scan_op", "generic_associative_scan"),
                              ("utils", "_hop_compile_and_call", None)):
        with contextlib.suppress(ImportError, AttributeError):
            module = importlib.import_module(f"torch._higher_order_ops.{loop}")
            yield module, name, getattr(module, plain) if plain else lambda function, args: function(*args)


_LOOPS = [row for row in _plain_loops() if hasattr(*row[:2])]


@dataclass(frozen=True)
class Asked:
    """A call of what torch.func.grad, or grad_and_value where has_value, made of a function. argnums: of the arguments
    that it differentiates by. words: what it is called."""

    function: Callable[..., Any]
    argnums: int | tuple[int, ...]
    has_aux: bool
    has_value: bool
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    words: str = "torch.func.grad()"

    @property
    def numbers(self) -> list[int]:
        """Which arguments are differentiated, counted from 0; NotImplementedError where they are not given."""
        asked = (self.argnums,) if isinstance(self.argnums, int) else self.argnums
        if not all(-len(self.args) <= n < len(self.args) for n in asked):
            raise NotImplementedError
        return [n % len(self.args) for n in asked]

    def answered(self, step: Callable[[Any, dict[str, Any], str], Sequence[Any]],
                 unseen: AbstractContextManager[None]) -> Any:
        """What torch.func gives, by autograd. step: gives the gradients of a loss at leaves, which it has by name, and
        is told what this is called.

        The leaves are made within `unseen` and stand in the place of the arguments. NotImplementedError where autograd
        does not take them, or where torch.func would have refused.
        """
        titles, args = parameter_names(self.function, self.args), [*self.args]
        leaves: dict[str, Any] = {}
        with unseen:
            for number in self.numbers:
                found, tree = pytree.tree_flatten_with_path(args[number])
                if not all(isinstance(t, torch.Tensor) and t.is_floating_point() for _, t in found):
                    raise NotImplementedError
                made = {_name(path, titles[number], leaves): t.detach().clone().requires_grad_() for path, t in found}
                leaves |= made
                args[number] = pytree.tree_unflatten([*made.values()], tree)
        with torch.enable_grad():
            result = self.function(*args, **self.kwargs)
        value, aux = result if self.has_aux and isinstance(result, tuple) and len(result) == 2 else (result, None)
        if not isinstance(value, torch.Tensor) or value.dim() or not all(
                isinstance(t, torch.Tensor) for t in pytree.tree_leaves(aux) if t is not None):
            raise NotImplementedError
        pairs = zip(step(value, leaves, self.words), leaves.values())
        slopes = iter(torch.zeros_like(t) if g is None else g for g, t in pairs)
        trees = [pytree.tree_map(lambda _: next(slopes), args[n]) for n in self.numbers]
        gradients = trees[0] if isinstance(self.argnums, int) else (*trees,)
        value, aux = pytree.tree_map(lambda t: t.detach() if isinstance(t, torch.Tensor) else t, (value, aux))
        if self.has_value:
            return gradients, (value, aux) if self.has_aux else value
        return (gradients, aux) if self.has_aux else gradients


def _name(path: Any, title: str, taken: Mapping[str, Any]) -> str:
    """The keys that lead to a leaf; after the argument's name, where they alone are no name."""
    short = dotted(path)
    return short if short and not short[0].isdigit() and short not in taken else dotted(path, title)


def leads_elsewhere(value: Any, leaves: Sequence[Any]) -> bool:
    """Whether autograd leads from a value to other leaves too."""
    own = set(map(id, leaves))
    nodes = reached([value.grad_fn], lambda node: [each for each, _ in getattr(node, "next_functions", ())])
    return any(hasattr(node, "variable") and id(node.variable) not in own for node in nodes)


def _of_all_rows(asked: Asked, in_dims: Any) -> Asked | None:
    """A call of each row as one of all of them: of the mean of their values, or, where each row has arguments of its
    own that are differentiated, of the sum; None where it is neither."""
    is_shared = is_of_all_rows(asked.args, asked.numbers, in_dims, lambda tree: isinstance(tree, torch.Tensor))
    if is_shared is None:
        return None
    rows = torch.func.vmap.__wrapped__(asked.function, in_dims, randomness="different")

    @functools.wraps(asked.function)
    def together(*args: Any, **kwargs: Any) -> Any:
        found = rows(*args, **kwargs)
        found = found[0] if asked.has_aux else found
        return found.mean() if is_shared else found.sum()

    return replace(asked, function=together, has_aux=False, words="torch.vmap(torch.func.grad())")


def differentiating(answer: Callable[[Asked, Callable[[], Any]], Any]) -> AbstractContextManager[None]:
    """torch.func.grad and grad_and_value give what answer(asked, plain) does, where no other transform is around them
    and nothing that is differentiated leads to their arguments. plain: asks torch.func. Of vmap of these it is asked
    too, for all rows together, once torch.func has said what they are."""
    calls: weakref.WeakKeyDictionary[Callable[..., Any], Callable[..., Asked]] = weakref.WeakKeyDictionary()

    def is_apart(*given: Any) -> bool:
        return torch._C._functorch.peek_interpreter_stack() is not None or torch.is_grad_enabled() and any(
            t.requires_grad for t in tensors_in(pytree.tree_leaves(given)))

    def made(name: str) -> Callable[..., Any]:
        real = getattr(torch.func, name)

        @functools.wraps(real)
        def transform(func: Any, argnums: Any = 0, has_aux: bool = False) -> Any:
            found = real(func, argnums, has_aux)

            def asked(args: Any, kwargs: Any) -> Asked:
                return Asked(func, argnums, has_aux, name == "grad_and_value", args, kwargs)

            @functools.wraps(found)
            def call(*args: Any, **kwargs: Any) -> Any:
                plain = functools.partial(found, *args, **kwargs)
                return plain() if is_apart(args, kwargs) else answer(asked(args, kwargs), plain)

            calls[call] = asked
            return call

        return transform

    real_vmap = torch.func.vmap

    @functools.wraps(real_vmap)
    def vmap(func: Any, in_dims: Any = 0, out_dims: Any = 0, **options: Any) -> Any:
        found = real_vmap(func, in_dims, out_dims, **options)
        asked = calls.get(func) if inspect.isfunction(func) else None  # and of nothing that only looks like it
        if asked is None:
            return found

        @functools.wraps(found)
        def call(*args: Any, **kwargs: Any) -> Any:
            state = torch.get_rng_state()
            result = found(*args, **kwargs)
            whole = None if is_apart(args, kwargs) else _of_all_rows(asked(args, kwargs), in_dims)
            if whole is not None:  # once more, with the same draws, and unheard
                with torch.random.fork_rng(devices=[]), contextlib.redirect_stdout(io.StringIO()):
                    torch.set_rng_state(state)
                    answer(whole, lambda: None)
            return result

        return call

    return instead([*((torch.func, name, made(name)) for name in ("grad", "grad_and_value")),
                    (torch.func, "vmap", vmap), (torch, "vmap", vmap)])
