"""What a kernel or NumPy says of values that do not fit, in TensorFlow's words, which scripts match."""
from __future__ import annotations

import dis
import re
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ...core.convert import constant_in
from ...core.dtypes import as_dtype
from ...core.errors import AutodiffError
from ...core.graph import Graph, Operation, Tensor
from ...core.op import build
from ...core.site import PACKAGE

_BROADCAST = re.compile(r"could not be broadcast together with (?:remapped )?shapes \(([\d,]*)\) \(([\d,]*)\)")
_MEMORY = re.compile(r"with shape \(([\d, ]*)\) and data type (\w+)")
_SIZES = re.compile(r"cannot reshape array of size (\d+) into shape \(([\d,]*)\)")
_RAISE = dis.opmap["RAISE_VARARGS"]
_SMALL = 1024  # elements: of indices, sizes and axes, which shapes are made of


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
    if op.type == "Reshape" and (found := _SIZES.search(text)):
        wanted = prod(map(int, filter(None, found[2].split(","))))
        return f"Input to reshape is a tensor with {found[1]} values, but the requested shape has {wanted}"
    return _refusal_of_a_build(op, args) or f"{op.type} cannot take values like these"


def said_in_here(error: Exception) -> bool:
    """Whether a line of this package raised it, and not NumPy or Python while it ran."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not trace.tb_frame.f_code.co_filename.startswith(PACKAGE):
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == _RAISE


def _refusal_of_a_build(op: Operation, args: Sequence[Any]) -> str:
    """What inference says of tensors that have the shapes and small values of args; "" if nothing."""
    graph = Graph()
    try:
        with graph.as_default():
            op.definition.infer(*[_like(graph, value) for value in args], **op.attrs)
    except AutodiffError as refused:
        return refused.sentence
    except Exception:  # of values that no build has
        pass
    return ""


def _like(graph: Graph, value: Any) -> Tensor:
    array = np.asarray(value)
    if array.size <= _SMALL:
        return constant_in(graph, array, "Const")
    return build.Placeholder(dtype=as_dtype(array.dtype), shape=list(array.shape))
