"""Functions of torch's that take functions. Branches and loops are compiled where they run, and torch.func works on
tensors of its own: a mode that records, and a door that waits for losses, see nothing of that."""
from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._pytree as pytree

from ...ops.common.instead import instead
from ..leaf_names import dotted, parameter_names
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
    that it differentiates by."""

    function: Callable[..., Any]
    argnums: int | tuple[int, ...]
    has_aux: bool
    has_value: bool
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def answered(self, step: Callable[[Any, dict[str, Any]], Sequence[Any]],
                 unseen: AbstractContextManager[None]) -> Any:
        """What torch.func gives, by autograd. step: gives the gradients of a loss at leaves, which it has by name.

        The leaves are made within `unseen` and stand in the place of the arguments. NotImplementedError where autograd
        does not take them, or where torch.func would have refused.
        """
        asked = (self.argnums,) if isinstance(self.argnums, int) else self.argnums
        if not all(-len(self.args) <= n < len(self.args) for n in asked):
            raise NotImplementedError
        numbers = [n % len(self.args) for n in asked]
        titles, args = parameter_names(self.function, self.args), [*self.args]
        leaves: dict[str, Any] = {}
        for number in numbers:
            found, tree = pytree.tree_flatten_with_path(args[number])
            if not all(isinstance(t, torch.Tensor) and t.is_floating_point() for _, t in found):
                raise NotImplementedError
            with unseen:
                made = {_name(path, titles[number], leaves): t.detach().requires_grad_() for path, t in found}
            leaves |= made
            args[number] = pytree.tree_unflatten([*made.values()], tree)
        with torch.enable_grad():
            result = self.function(*args, **self.kwargs)
        value, aux = result if self.has_aux and isinstance(result, tuple) and len(result) == 2 else (result, None)
        if not isinstance(value, torch.Tensor) or value.dim() or not all(
                isinstance(t, torch.Tensor) for t in pytree.tree_leaves(aux) if t is not None):
            raise NotImplementedError
        slopes = iter(torch.zeros_like(t) if g is None else g for g, t in zip(step(value, leaves), leaves.values()))
        trees = [pytree.tree_map(lambda _: next(slopes), args[n]) for n in numbers]
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
    waiting, seen, own = [value.grad_fn], set[Any](), set(map(id, leaves))
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if id(getattr(node, "variable", leaves[0])) not in own:
            return True
        waiting += [before for before, _ in node.next_functions]
    return False


def differentiating(answer: Callable[[Asked, Callable[[], Any]], Any]) -> AbstractContextManager[None]:
    """torch.func.grad and grad_and_value give what answer(asked, plain) does, where no other transform is around them
    and nothing that is differentiated leads to their arguments. plain: asks torch.func."""
    def made(name: str) -> Callable[..., Any]:
        real = getattr(torch.func, name)

        @functools.wraps(real)
        def transform(func: Any, argnums: Any = 0, has_aux: bool = False) -> Any:
            found = real(func, argnums, has_aux)

            @functools.wraps(found)
            def call(*args: Any, **kwargs: Any) -> Any:
                plain = functools.partial(found, *args, **kwargs)
                if torch._C._functorch.peek_interpreter_stack() is not None or torch.is_grad_enabled() and any(
                        t.requires_grad for t in tensors_in(pytree.tree_leaves((args, kwargs)))):
                    return plain()
                return answer(Asked(func, argnums, has_aux, name == "grad_and_value", args, kwargs), plain)

            return call

        return transform

    return instead([(torch.func, name, made(name)) for name in ("grad", "grad_and_value")])
