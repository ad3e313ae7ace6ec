"""Branches and loops of torch, which it compiles where it runs them: a mode that records sees nothing of that."""
from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import torch

from ...ops.common.instead import instead


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
