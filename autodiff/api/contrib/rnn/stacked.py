"""Bidirectional networks on top of each other: each reads what the one below says in both directions."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....core.errors import ArgumentError
from ...arrays.shaping import concat
from ...nn.rnn_dynamic import bidirectional_dynamic_rnn
from ...nn.rnn_static import static_bidirectional_rnn
from ...variables.variable_scope import variable_scope

__all__ = ["stack_bidirectional_dynamic_rnn", "stack_bidirectional_rnn"]


def stack_bidirectional_rnn(cells_fw: Any, cells_bw: Any, inputs: Any, initial_states_fw: Any = None,
                            initial_states_bw: Any = None, dtype: Any = None, sequence_length: Any = None,
                            scope: Any = None) -> tuple[list[Any], Any, Any]:
    """(outputs, tuple of final states forwards, tuple of those backwards) of lists of cells, as static_rnn."""
    def layer(series: Any, cells: Any, states: Any, opened: Any) -> tuple[Any, Any, Any]:
        return static_bidirectional_rnn(cells[0], cells[1], series, states[0], states[1], dtype, sequence_length,
                                        opened)

    return _stacked(cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope, layer)


def stack_bidirectional_dynamic_rnn(cells_fw: Any, cells_bw: Any, inputs: Any, initial_states_fw: Any = None,
                                    initial_states_bw: Any = None, dtype: Any = None, sequence_length: Any = None,
                                    parallel_iterations: int | None = None, time_major: bool = False,
                                    scope: Any = None, swap_memory: bool = False) -> tuple[Any, Any, Any]:
    """(outputs, tuple of final states forwards, tuple of those backwards) of lists of cells, as dynamic_rnn."""
    def layer(series: Any, cells: Any, states: Any, _: Any) -> tuple[Any, Any, Any]:
        outputs, last = bidirectional_dynamic_rnn(
            cells[0], cells[1], series, sequence_length, states[0], states[1], dtype, parallel_iterations, swap_memory,
            time_major)
        return (concat(outputs, 2), *last)

    return _stacked(cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope, layer)


def _stacked(cells_fw: Any, cells_bw: Any, series: Any, states_fw: Any, states_bw: Any, scope: Any,
             layer: Callable[..., tuple[Any, Any, Any]]) -> tuple[Any, Any, Any]:
    for what, cells in (("fw", cells_fw), ("bw", cells_bw)):
        if not cells:
            raise ArgumentError(f"Must specify at least one {what} cell for BidirectionalRNN.")
        if not isinstance(cells, list):
            raise ArgumentError(f"cells_{what} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ArgumentError("Forward and Backward cells must have the same depth.")
    for what, states in (("fw", states_fw), ("bw", states_bw)):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ArgumentError(f"initial_states_{what} must be a list of state tensors (one per layer).")
    last = []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, cells in enumerate(zip(cells_fw, cells_bw)):
            with variable_scope(f"cell_{i}") as opened:
                first = [states and states[i] for states in (states_fw, states_bw)]
                series, *both = layer(series, cells, first, opened)
            last.append(both)
    forwards, backwards = zip(*last)
    return series, tuple(forwards), tuple(backwards)
