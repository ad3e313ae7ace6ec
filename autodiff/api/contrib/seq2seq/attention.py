"""Attention: cells that look at a memory, weighed by how well its entries fit a query."""
from __future__ import annotations

import math
from typing import Any, NamedTuple

from ....core import nest
from ....core.convert import convert_to_tensor
from ....core.dtypes import as_dtype, float32, int32
from ....core.errors import ArgumentError, KindError, ShapeError
from ....core.graph import Tensor, get_default_graph
from ....core.op import build
from ....core.shapes import TensorShape, merge
from ...arrays.creation import one_hot, zeros
from ...arrays.rearrange import sequence_mask
from ...arrays.shaping import concat
from ...control.tensor_array import TensorArray
from ...layers.core import Dense
from ...math import tanh, where
from ...math.reductions import argmax, reduce_sum
from ...math.softmax import softmax
from ...nn.rnn_cell.base import RNNCell, batch_of, check_cell, zeros_of
from ...variables.initializers import Constant, Ones, Zeros
from ...variables.variable_scope import get_variable, variable_scope

__all__ = ["AttentionMechanism", "AttentionWrapper", "AttentionWrapperState", "BahdanauAttention", "LuongAttention",
           "hardmax"]


class AttentionMechanism:
    """A memory with keys. Called with (query, state) it gives (alignments float[n, t], next state).

    memory: float[n, t, k]. memory_sequence_length: int[n]; what lies beyond is 0 and gets score_mask_value, by default
    -inf. probability_fn: scores -> alignments, by default softmax.
    """

    def __init__(self, memory: Any, num_units: int, memory_sequence_length: Any, probability_fn: Any,
                 score_mask_value: float | None, dtype: Any) -> None:
        self.dtype = float32 if dtype is None else as_dtype(dtype)
        self._lengths = None if memory_sequence_length is None else convert_to_tensor(
            memory_sequence_length, name="memory_sequence_length")
        self._masked = -math.inf if score_mask_value is None else score_mask_value
        self._probability = probability_fn or softmax
        self.memory_layer = Dense(num_units, name="memory_layer", use_bias=False, dtype=self.dtype)
        self.values = self._prepared(convert_to_tensor(memory, name="memory"))
        self.keys = self.memory_layer(self.values)

    def _prepared(self, memory: Tensor) -> Tensor:
        if memory.dims is None or len(memory.dims) < 3 or None in memory.dims[2:]:
            raise ShapeError(expected="a memory [batch, time, depth] of known depth", found=memory.describe())
        if self._lengths is None:
            return memory
        mask = build.Cast(sequence_mask(self._lengths, build.Shape(memory)[1]), dtype=memory.dtype.base_dtype)
        return memory * build.ExpandDims(mask, -1)

    @property
    def batch_size(self) -> Any:
        return batch_of(self.keys, 0)

    @property
    def alignments_size(self) -> Any:
        return batch_of(self.keys, 1)

    state_size = alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Tensor:
        """No attention yet: zeros."""
        return zeros([batch_size, self.alignments_size], as_dtype(dtype))

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        return self.initial_alignments(batch_size, dtype)

    def _aligned(self, score: Tensor) -> tuple[Tensor, Tensor]:
        if self._lengths is not None:
            mask = sequence_mask(self._lengths, build.Shape(score)[1])
            score = where(mask, score, build.OnesLike(score) * self._masked)
        alignments = self._probability(score)
        return alignments, alignments

    def __call__(self, query: Tensor, state: Any) -> tuple[Tensor, Any]:
        raise NotImplementedError(f"{type(self).__name__} does not say how to score")


class LuongAttention(AttentionMechanism):
    """score = query · keys, times a learned number if `scale`. Source: Luong, Pham and Manning (2015), section 3."""

    def __init__(self, num_units: int, memory: Any, memory_sequence_length: Any = None, scale: bool = False,
                 probability_fn: Any = None, score_mask_value: float | None = None, dtype: Any = None,
                 name: str = "LuongAttention") -> None:
        super().__init__(memory, num_units, memory_sequence_length, probability_fn, score_mask_value, dtype)
        self._scale, self._num_units = scale, num_units

    def __call__(self, query: Tensor, state: Any) -> tuple[Tensor, Any]:
        with variable_scope(None, "luong_attention", [query]):
            if query.dims is not None and query.dims[-1] != self._num_units:
                raise ShapeError(expected=f"a query as deep as the keys, {self._num_units}", found=query.describe())
            score = build.Squeeze(build.BatchMatMulV2(build.ExpandDims(query, 1), self.keys, adj_y=True),
                                  squeeze_dims=[1])
            if self._scale:
                score = get_variable("attention_g", (), query.dtype.base_dtype, Ones()) * score
            return self._aligned(score)


class BahdanauAttention(AttentionMechanism):
    """score = v · tanh(keys + query_layer(query)); normalized, v gets a learned length and a bias is added inside.

    Source: Bahdanau, Cho and Bengio (2015), section A.1.2; Salimans and Kingma (2016) for `normalize`.
    """

    def __init__(self, num_units: int, memory: Any, memory_sequence_length: Any = None, normalize: bool = False,
                 probability_fn: Any = None, score_mask_value: float | None = None, dtype: Any = None,
                 name: str = "BahdanauAttention") -> None:
        super().__init__(memory, num_units, memory_sequence_length, probability_fn, score_mask_value, dtype)
        self.query_layer = Dense(num_units, name="query_layer", use_bias=False, dtype=self.dtype)
        self._num_units, self._normalize = num_units, normalize

    def __call__(self, query: Tensor, state: Any) -> tuple[Tensor, Any]:
        with variable_scope(None, "bahdanau_attention", [query]):
            dtype, units = query.dtype.base_dtype, self._num_units
            inner = self.keys + build.ExpandDims(self.query_layer(query), 1)
            v: Any = get_variable("attention_v", [units], dtype)
            if self._normalize:
                g = get_variable("attention_g", (), dtype, Constant(math.sqrt(1.0 / units)))
                inner = inner + get_variable("attention_b", [units], dtype, Zeros())
                v = g * v * build.Rsqrt(reduce_sum(build.Square(v)))
            return self._aligned(reduce_sum(v * tanh(inner), [2]))


def hardmax(logits: Any, name: str | None = None) -> Tensor:
    """1 at the largest of each row and 0 else; it has no gradient."""
    with get_default_graph().name_scope(name or "Hardmax"):
        logits = convert_to_tensor(logits, name="logits")
        known = logits.dims[-1] if logits.dims else None
        return one_hot(argmax(logits, -1), build.Shape(logits)[-1] if known is None else known,
                       dtype=logits.dtype.base_dtype)


class AttentionWrapperState(NamedTuple):
    """The state of an AttentionWrapper: for several mechanisms, the last three are tuples."""

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **changed: Any) -> "AttentionWrapperState":
        """The same with some entries replaced. Raises ShapeError (ValueError) for another static shape."""
        replaced = self._replace(**changed)
        for old, new in zip(nest.flatten(self), nest.flatten(replaced)):
            if isinstance(old, Tensor) and isinstance(new, Tensor):
                merge(old.dims, new.dims)
        return replaced


class AttentionWrapper(RNNCell):
    """A cell that reads its input beside what it attended to, and then attends again with its output.

    attention_mechanism: one or a list. attention_layer_size: attention = dense([output, context]) without bias, else
    the context itself; attention_layer: a layer in its place. alignment_history: keep all alignments in a TensorArray.
    cell_input_fn: of (inputs, attention), by default side by side. output_attention: give the attention as output,
    else the cell's.
    """

    def __init__(self, cell: Any, attention_mechanism: Any, attention_layer_size: Any = None,
                 alignment_history: bool = False, cell_input_fn: Any = None, output_attention: bool = True,
                 initial_cell_state: Any = None, name: Any = None, attention_layer: Any = None,
                 attention_fn: Any = None, dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        check_cell("cell", cell)
        self._several = isinstance(attention_mechanism, (list, tuple))
        self._mechanisms = tuple(attention_mechanism) if self._several else (attention_mechanism,)
        for mechanism in self._mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                raise KindError(expected="an AttentionMechanism or a list of them", found=repr(mechanism))
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise KindError(expected="a function as cell_input_fn", found=repr(cell_input_fn))
        self._cell, self._output_attention, self._history = cell, output_attention, alignment_history
        self._cell_input = cell_input_fn or (lambda inputs, attention: concat([inputs, attention], -1))
        self._attend = attention_fn or _attended
        self._initial_cell_state = initial_cell_state
        self._layers, self._size = self._made_layers(attention_layer_size, attention_layer)

    def _made_layers(self, sizes: Any, layers: Any) -> tuple[Any, int]:
        """A layer or None for each mechanism, and the size of their outputs together."""
        if sizes is not None and layers is not None:
            raise ArgumentError(expected="attention_layer_size or attention_layer", found="both")
        given = sizes if layers is None else layers
        listed = tuple(given) if isinstance(given, (list, tuple)) else (given,)
        if given is not None and len(listed) != len(self._mechanisms):
            raise ArgumentError(expected=f"one attention layer for each of {len(self._mechanisms)} mechanisms",
                                found=len(listed))
        depths = [m.values.dims[-1] for m in self._mechanisms]
        if given is None:
            return [None] * len(self._mechanisms), sum(depths)
        if sizes is not None:
            return [Dense(size, name="attention_layer", use_bias=False, dtype=m.dtype)
                    for size, m in zip(listed, self._mechanisms)], sum(listed)
        shapes = [layer.compute_output_shape([None, self._cell.output_size + depth])
                  for layer, depth in zip(listed, depths)]
        return list(listed), sum(int(shape[-1]) for shape in shapes)

    def _form(self, items: Any) -> Any:
        items = tuple(items)
        return items if self._several else items[0]

    @property
    def output_size(self) -> Any:
        return self._size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> Any:
        sizes = [m.alignments_size for m in self._mechanisms]
        return AttentionWrapperState(
            cell_state=self._cell.state_size, attention=self._size, time=TensorShape([]), alignments=self._form(sizes),
            alignment_history=self._form(size if self._history else () for size in sizes),
            attention_state=self._form(m.state_size for m in self._mechanisms))

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with get_default_graph().name_scope(f"{type(self).__name__}ZeroState"):
            start = self._initial_cell_state
            start = self._cell.zero_state(batch_size, dtype) if start is None else start
            alignments = [m.initial_alignments(batch_size, dtype) for m in self._mechanisms]
            return AttentionWrapperState(
                cell_state=start, attention=zeros_of(batch_size, self._size, dtype), time=zeros([], int32),
                alignments=self._form(alignments),
                alignment_history=self._form(
                    TensorArray(dtype, size=0, dynamic_size=True, element_shape=a.dims) if self._history else ()
                    for a in alignments),
                attention_state=self._form(m.initial_state(batch_size, dtype) for m in self._mechanisms))

    def call(self, inputs: Any, state: Any) -> Any:
        if not isinstance(state, AttentionWrapperState):
            raise KindError(expected="an AttentionWrapperState", found=repr(state))
        output, cell_state = self._cell(self._cell_input(inputs, state.attention), state.cell_state)
        states = state.attention_state if self._several else [state.attention_state]
        histories = state.alignment_history if self._several else [state.alignment_history]
        found = [self._attend(mechanism, output, old, layer)
                 for mechanism, old, layer in zip(self._mechanisms, states, self._layers)]
        attention = concat([one[0] for one in found], 1)
        next_state = AttentionWrapperState(
            cell_state=cell_state, attention=attention, time=state.time + 1,
            alignments=self._form(one[1] for one in found),
            alignment_history=self._form(history.write(state.time, one[1]) if self._history else ()
                                         for history, one in zip(histories, found)),
            attention_state=self._form(one[2] for one in found))
        return attention if self._output_attention else output, next_state


def _attended(mechanism: AttentionMechanism, output: Tensor, state: Any, layer: Any) -> tuple[Tensor, Tensor, Any]:
    """(attention, alignments, next state): the memory's mean by alignments, through the layer if there is one."""
    alignments, state = mechanism(output, state)
    context = build.Squeeze(build.BatchMatMulV2(build.ExpandDims(alignments, 1), mechanism.values), squeeze_dims=[1])
    return (context if layer is None else layer(concat([output, context], 1))), alignments, state
