"""Traits of kernels, found by probing: is it one ufunc, does it hand its input on, does it only give a view?"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.graph import Operation


class Direct(NamedTuple):
    """A kernel that is nothing but `ufunc(*operands)`: operands are positions of inputs, or constants.

    inputs: for each operand the index of the input, or None; constants: the value where it is None.
    """

    ufunc: np.ufunc
    inputs: tuple[int | None, ...]
    constants: tuple[Any, ...]


class _Called:
    """The result of a probed ufunc: its arguments, and no way to compute with it."""

    __slots__ = ("ufunc", "operands")
    __array_ufunc__ = None

    def __init__(self, ufunc: np.ufunc, operands: tuple[Any, ...]) -> None:
        self.ufunc, self.operands = ufunc, operands


class _Probe:
    """Stands for an array: it records the ufunc that it is given to, and can do nothing else."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        return NotImplemented if method != "__call__" or keywords else _Called(ufunc, inputs)


class _Traits(NamedTuple):
    """What a kernel gives for probes, and the ufunc that it is nothing but, if so."""

    probed: Any
    direct: Direct | None


def _traits(op: Operation) -> _Traits:
    """Of an op without attributes they depend on its definition alone."""
    if op.attrs:
        return _found(op)
    key = op.definition, op.definition.kernel, len(op.inputs)
    known = _KNOWN.get(key)
    if known is None:
        known = _KNOWN[key] = _found(op)
    return known


_KNOWN: dict[tuple[Any, Any, int], _Traits] = {}


def _found(op: Operation) -> _Traits:
    probed = _called(op)
    if not isinstance(probed, _Called) or probed.ufunc.nout != 1:
        return _Traits(probed, None)
    operands = probed.operands
    return _Traits(probed, Direct(probed.ufunc, tuple([x.index if isinstance(x, _Probe) else None for x in operands]),
                                  tuple([None if isinstance(x, _Probe) else x for x in operands])))


def _called(op: Operation) -> Any:
    definition = op.definition
    if definition.stateful or definition.takes_run or len(op.outputs) != 1 or not op.inputs:
        return None
    probes = [_Probe(i) for i in range(len(op.inputs))]
    try:
        return definition.kernel(*probes, **op.attrs)
    except Exception:  # the kernel asked the probe for something: it is more than one ufunc
        return None


def direct_ufunc(op: Operation) -> Direct | None:
    """The ufunc that the op's kernel consists of, or None if it does anything else.

    The kernel is called with probes in place of arrays, so only a body that passes them straight to
    one ufunc gets through: such a kernel may also be called in place, and without its wrapper.
    """
    return _traits(op).direct


def passes_on(op: Operation) -> bool:
    """Whether the op's value is its only input's, as it is."""
    return len(op.inputs) == 1 and isinstance(_traits(op).probed, _Probe)


_VIEWING = frozenset((np.reshape, np.transpose, np.squeeze, np.expand_dims, np.swapaxes, np.moveaxis, np.broadcast_to,
                      np.split, np.array_split, np.shape, np.ndim))


class _Unread(np.ndarray):
    """An array whose elements may not be read: only its shape and views of it may be used."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        raise TypeError("the kernel computes")

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, keywords: Any) -> Any:
        if function not in _VIEWING:
            raise TypeError("the kernel computes")
        return super().__array_function__(function, types, args, keywords)


def views_of(op: Operation, args: Sequence[Any], constant: Sequence[bool]) -> list[np.ndarray] | None:
    """The op's results, if all the kernel does is to give views of its arguments, whatever those hold; else None.

    constant: which arguments are the same in each run. Whole numbers that are not may be sizes, so
    they are not trusted.
    """
    if any(not fixed and a.dtype.kind not in "fc" for a, fixed in zip(args, constant)):
        return None
    guarded = [a if fixed else a.view(_Unread) for a, fixed in zip(args, constant)]
    try:
        results = op.definition.kernel(*guarded, **op.attrs)
    except Exception:  # it looked
        return None
    results = [results] if len(op.outputs) == 1 else list(results)
    owners = [owner(a) for a in guarded if isinstance(a, _Unread)]
    if not all(isinstance(r, _Unread) and any(owner(r) is o for o in owners) for r in results):
        return None
    return [r.view(np.ndarray) for r in results]


def owner(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory of `array`."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
