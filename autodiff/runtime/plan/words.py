"""What a kernel or NumPy says of values that do not fit, in TensorFlow's words, which scripts match."""
from __future__ import annotations

import dis
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import AutodiffError
from ...core.graph import Operation, Tensor
from ...core.site import PACKAGE
from .run_sentences import as_in_a_run

_BROADCAST = re.compile(r"could not be broadcast together with (?:remapped )?shapes \(([\d,]*)\) \(([\d,]*)\)")
_MEMORY = re.compile(r"with shape \(([\d, ]*)\) and data type (\w+)")
_RAISE = dis.opmap["RAISE_VARARGS"]


def in_tensorflows_words(error: Exception, op: Operation, args: Sequence[Any]) -> str:
    """The sentence for what op's kernel raised of args: its own, what a build says of their shapes, or TensorFlow's."""
    text = str(error) or type(error).__name__
    if said_in_here(error):
        return text
    if isinstance(error, MemoryError) and (found := _MEMORY.search(text)):
        return f"OOM when allocating tensor with shape[{found[1].rstrip(',').replace(' ', '')}] and type {found[2]}"
    if isinstance(error, np.linalg.LinAlgError) and "converge" in text:
        return f"{op.type} did not converge"
    if found := _BROADCAST.search(text):
        one, other = (f"[{sizes.rstrip(',')}]" for sizes in found.groups())
        return f"Incompatible shapes: {one} vs. {other}"
    return refusal_of_a_build(op, args) or f"{op.type} cannot take values like these"


def said_in_here(error: Exception) -> bool:
    """Whether a line of this package raised it, and not NumPy or Python while it ran."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not trace.tb_frame.f_code.co_filename.startswith(PACKAGE):
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == _RAISE


def refusal_of_a_build(op: Operation, args: Sequence[Any]) -> str:
    """What inference says of tensors that have args as their values, as TensorFlow's kernel says it; "" if nothing."""
    try:
        inputs = [_Valued(tensor, value) for tensor, value in zip(op.inputs, args)]
        try:
            op.definition.infer(*inputs, **op.attrs)
        except AutodiffError as refused:
            return as_in_a_run(refused.sentence, op.definition, inputs, op.name, **op.attrs)
    except Exception:  # of values that no build has
        pass
    return ""


class _Valued(Tensor):
    """A tensor whose value is known, and so its shape, as inference asks for them."""

    __slots__ = ("array", "_tensor")

    def __init__(self, tensor: Tensor, value: Any) -> None:
        self.op, self._takers, self._more, self._tensor = tensor.op, None, None, tensor
        self.dtype, self.dims, self.array = tensor.dtype, value.shape, value

    @property
    def value_index(self) -> int:
        return self._tensor.value_index
