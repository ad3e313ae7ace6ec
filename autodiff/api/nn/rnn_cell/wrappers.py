"""Cells around cells: stacked, with dropout, with a shortcut, on a device."""
from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable
from typing import Any

from ....core import nest
from ....core.constant_value import static_value
from ....core.convert import convert_to_tensor
from ....core.errors import ArgumentError, KindError, ShapeError
from ....core.graph import Tensor, get_default_graph
from ....core.op import build
from ....core.shapes import compatible, show
from ....ops.common.op_counts import count_more
from ...arrays.shaping import concat
from ...arrays.shaping import slice as slice_of
from ...control.dependencies import device as on_device
from ...control.tensor_array import TensorArray
from ...random import random_uniform
from ...variables.trackable import TrackableReference
from ...variables.variable_scope import variable_scope
from ..normalization import dropout
from .base import LSTMStateTuple, RNNCell, check_cell, size_dims


class MultiRNNCell(RNNCell):
    """Cells on top of each other: the output of each is the input of the next. The state is a tuple of their states,
    or their states side by side if not state_is_tuple."""

    def __init__(self, cells: Any, state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise ArgumentError(expected="at least one cell in a MultiRNNCell", found="none")
        if not nest.is_sequence(cells):
            raise KindError(expected="a list or tuple of cells", found=repr(cells))
        if not state_is_tuple and any(nest.is_sequence(cell.state_size) for cell in cells):
            raise ArgumentError("cells whose states are tuples need state_is_tuple=True, found state sizes "
                                f"{[cell.state_size for cell in cells]}")
        self._cells, self._state_is_tuple = cells, state_is_tuple

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        held = [each for each in super()._checkpoint_dependencies if each.name != "_cells"]
        return [*(TrackableReference(f"cell-{i}", cell) for i, cell in enumerate(self._cells)), *held]

    @property
    def state_size(self) -> Any:
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        if not self._state_is_tuple:
            return super().zero_state(batch_size, dtype)
        with get_default_graph().name_scope(f"{type(self).__name__}ZeroState"):
            return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)

    def call(self, inputs: Any, state: Any) -> Any:
        if self._state_is_tuple and not nest.is_sequence(state):
            raise ArgumentError(f"Expected state to be a tuple of length {len(self._cells)}", found=repr(state))
        new_states, start = [], 0
        for i, cell in enumerate(self._cells):
            with variable_scope(f"cell_{i}"):
                if self._state_is_tuple:
                    own = state[i]
                else:
                    own = slice_of(state, [0, start], [-1, cell.state_size])
                    start += cell.state_size
                inputs, new_state = cell(inputs, own)
                new_states.append(new_state)
        return inputs, tuple(new_states) if self._state_is_tuple else concat(new_states, 1)


class RNNCellWrapper(RNNCell):
    """A cell with something around it; it has the variables and the sizes of the inner cell."""

    def __init__(self, cell: Any, dtype: Any = None, **options: Any) -> None:
        super().__init__(dtype=dtype, **options)
        check_cell("cell", cell)
        self.cell = cell

    @property
    def wrapped_cell(self) -> Any:
        return self.cell

    @property
    def state_size(self) -> Any:
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        return self.cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with get_default_graph().name_scope(f"{type(self).__name__}ZeroState"):
            return self.cell.zero_state(batch_size, dtype)


def _everything(_: Any) -> bool:
    return True


def _keep_h_of_lstm(state: Any) -> Any:
    """Which parts of a state dropout touches by default: not the memory c of an LSTM, no TensorArray."""
    return LSTMStateTuple(c=False, h=True) if isinstance(state, LSTMStateTuple) else not isinstance(state, TensorArray)


class DropoutWrapper(RNNCellWrapper):
    """Dropout of a cell's input, output and new state, each kept with its own probability.

    variational_recurrent: the same choice at every step of one run; needs dtype, and input_size where inputs are
    dropped. dropout_state_filter_visitor: part of a state -> whether (or which parts of it) to drop.
    Source: Gal and Ghahramani (2016) for the variational form.
    """

    def __init__(self, cell: Any, input_keep_prob: Any = 1.0, output_keep_prob: Any = 1.0, state_keep_prob: Any = 1.0,
                 variational_recurrent: bool = False, input_size: Any = None, dtype: Any = None,
                 seed: int | None = None, dropout_state_filter_visitor: Any = None, **options: Any) -> None:
        super().__init__(cell, dtype=dtype, **options)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise KindError(expected="a function as dropout_state_filter_visitor",
                            found=repr(dropout_state_filter_visitor))
        self._dropout_state_filter = dropout_state_filter_visitor or _keep_h_of_lstm
        self._seed, self._variational = seed, variational_recurrent
        self._input_keep_prob = _probability("input_keep_prob", input_keep_prob)
        self._state_keep_prob = _probability("state_keep_prob", state_keep_prob)
        self._output_keep_prob = _probability("output_keep_prob", output_keep_prob)
        kept = (input_keep_prob, state_keep_prob, output_keep_prob)
        count_more(sum(not isinstance(each, Tensor) for each in kept))  # their constants
        self._noise: dict[str, list[Tensor]] = {}
        if variational_recurrent:
            self._draw(cell, input_size, dtype)

    def _draw(self, cell: Any, input_size: Any, dtype: Any) -> None:
        if dtype is None:
            raise ArgumentError("variational_recurrent needs a dtype")
        drops_input = not _is_one(self._input_keep_prob)
        if drops_input and input_size is None:
            raise ArgumentError("variational_recurrent with an input_keep_prob below 1 needs an input_size")
        sizes = {"state": cell.state_size, "output": cell.output_size, **({"input": input_size} if drops_input else {})}
        for what, structure in sizes.items():
            self._noise[what] = [random_uniform([1, *size_dims(size)], seed=self._seed_of(what, i), dtype=dtype)
                                 for i, size in enumerate(nest.flatten(structure))]

    def _seed_of(self, what: str, index: int) -> int | None:
        """A seed of its own for each tensor: the same that TensorFlow makes of these."""
        if self._seed is None:
            return None
        digest = hashlib.md5(f"{self._seed}{what}_{index}".encode()).hexdigest()
        return int(digest[:8], 16) & 0x7FFFFFFF

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        if not _is_one(self._input_keep_prob):
            inputs = self._dropped(inputs, "input", self._input_keep_prob, _everything)
        output, state = self.cell(inputs, state, scope=scope)
        if not _is_one(self._state_keep_prob):
            state = self._dropped(state, "state", self._state_keep_prob, self._dropout_state_filter)
        if not _is_one(self._output_keep_prob):
            output = self._dropped(output, "output", self._output_keep_prob, _everything)
        return output, state

    def _dropped(self, values: Any, what: str, keep: Any, selected: Callable[[Any], Any]) -> Any:
        places = itertools.count()

        def visit(value: Any, chosen: Any) -> Any:
            if nest.is_sequence(value):
                inner = nest.children(chosen) if nest.is_sequence(chosen) else [
                    chosen and selected(child) for child in nest.children(value)]
                flat = [leaf for child, c in zip(nest.children(value), inner) for leaf in nest.flatten(visit(child, c))]
                return nest.pack_sequence_as(value, flat)
            index = next(places)
            return self._one(value, what, index, keep) if chosen else value

        return visit(values, selected(values))

    def _one(self, value: Tensor, what: str, index: int, keep: Any) -> Tensor:
        if not self._variational:
            return dropout(value, rate=1.0 - keep, seed=self._seed_of(what, index))
        kept = build.Floor(keep + self._noise[what][index])
        result = value / keep * kept
        result.set_shape(value.dims)
        return result


def _probability(name: str, value: Any) -> Any:
    """A float, or a tensor where the value is not known. Raises ArgumentError (ValueError) outside of [0, 1]."""
    known = static_value(value) if isinstance(value, Tensor) else value
    if known is None or hasattr(value, "as_tensor"):
        return convert_to_tensor(value)
    if not 0 <= float(known) <= 1:
        raise ArgumentError(expected=f"{name} between 0 and 1", found=f"{float(known):g}")
    return float(known)


def _is_one(probability: Any) -> bool:
    return isinstance(probability, float) and probability == 1


class ResidualWrapper(RNNCellWrapper):
    """A cell whose inputs are added to its outputs. residual_fn: of (inputs, outputs), in place of the sum."""

    def __init__(self, cell: Any, residual_fn: Any = None, **options: Any) -> None:
        super().__init__(cell, **options)
        self._residual_fn = residual_fn or (lambda inputs, outputs: nest.map_structure(_sum, inputs, outputs))

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        outputs, state = self.cell(inputs, state, scope=scope)
        return self._residual_fn(inputs, outputs), state


def _sum(x: Tensor, y: Tensor) -> Tensor:
    if not compatible(x.dims, y.dims):
        raise ShapeError(f"a residual cell needs inputs and outputs of one shape, found {show(x.dims)} and "
                         f"{show(y.dims)}")
    return x + y


class DeviceWrapper(RNNCellWrapper):
    """A cell whose operations are labeled with a device."""

    def __init__(self, cell: Any, device: Any, **options: Any) -> None:
        super().__init__(cell, **options)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with on_device(self._device):
            return super().zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        with on_device(self._device):
            return self.cell(inputs, state, scope=scope)
