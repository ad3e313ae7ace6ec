"""What the text of a PyTorch or JAX script tells of the ops that it needs: functions that have a row of their own name.

What a layer, a method or a composed function is made of only its framework knows, so that only a run says the rest.
"""
from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module
from typing import Any, NamedTuple

# framework -> the places whose functions are ops, and how these are called in its table
_PLACES = {"torch": {"torch": "{}", "torch.nn.functional": "{}", "torch.linalg": "linalg_{}", "torch.fft": "fft_{}",
                     "torch.special": "special_{}", "torch.ops.aten": "{}"},
           "jax": dict.fromkeys(("jax.lax", "jax.lax.linalg", "jax.scipy.linalg", "jax.scipy.special"), "{}")}
_NO_OPS = re.compile(r"b?float\d*|u?int\d*|complex\d*|bool|long|half|double|short|(no|enable|set)_grad.*|manual_seed|"
                     r"inference_mode|set_.*|get_.*|is_.*|save|load|compile|device|tensor|as_tensor|from_numpy|nn|fft|"
                     r"linalg|special|optim|utils|func|autograd|amp|cuda|backends|distributions|jit|vmap|cond|ops|"
                     r"rand.*|normal|bernoulli|multinomial|scan|while_loop|fori_loop|switch|map|[A-Z].*|_.*")


class Judged(NamedTuple):
    """there: functions with a row of their name. unsaid: others, with their lines; a run says what they are made of."""

    framework: str
    there: tuple[str, ...]
    unsaid: tuple[tuple[str, tuple[int, ...]], ...]


def judged(framework: str, used: Iterable[tuple[str, int]]) -> Judged:
    """The functions among the dotted names that a script uses, with their lines. framework: torch or jax."""
    there, unsaid = dict[str, None](), dict[str, list[int]]()
    for name, line in used:
        place, _, function = name.rpartition(".")
        if place not in _PLACES[framework] or _NO_OPS.fullmatch(function):
            continue
        if _has(framework, _PLACES[framework][place].format(function)):
            there[name] = None
        else:
            unsaid.setdefault(name, []).append(line)
    return Judged(framework, tuple(there), tuple((name, tuple(sorted(set(lines)))) for name, lines in unsaid.items()))


def _has(framework: str, function: str) -> bool:
    table: Any = import_module(f"{__package__}.jax.primitives.whole").JAX if framework == "jax" else import_module(
        f"{__package__}.torch.aten").aten
    names = (function, f"_{function}", f"{function}_p")
    return any(op.partition(".")[0] in names for op in table.ops)
