"""Decoders: a cell and a helper, run step by step until every row is finished."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ....core import nest
from ....core.convert import convert_to_tensor
from ....core.dtypes import int32
from ....core.errors import KindError, ShapeError
from ....core.graph import Tensor, get_default_graph
from ....core.op import build
from ....core.shapes import TensorShape, as_dims
from ...control.tensor_array import TensorArray
from ...control.while_loop import while_loop
from ...math import where
from ...math.reductions import reduce_all
from ...nn.rnn_cell.base import check_cell, size_dims, zeros_of
from ...nn.rnn_dynamic import swapped
from ...variables.layer_base import Layer
from ...variables.variable_scope import variable_scope
from .helper import Helper


class Decoder:
    """A decoder for dynamic_decode. Subclasses define batch_size, output_size, output_dtype, initialize and step."""

    batch_size: Any
    output_size: Any
    output_dtype: Any
    tracks_own_finished = False

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """(finished bool[n], first inputs, first state)."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to begin")

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """(outputs, next state, next inputs, finished bool[n])."""
        raise NotImplementedError(f"{type(self).__name__} does not say what a step is")

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """Outputs (float[t, n, ...]) and state as dynamic_decode gives them."""
        return outputs, final_state


class BasicDecoderOutput(NamedTuple):
    """rnn_output: float[n, t, k]. sample_id: what the helper chose, int32[n, t]."""

    rnn_output: Any
    sample_id: Any


class BasicDecoder(Decoder):
    """Each step: the cell, then output_layer if there is one, then the helper chooses and gives the next inputs."""

    def __init__(self, cell: Any, helper: Any, initial_state: Any, output_layer: Any = None) -> None:
        check_cell("cell", cell)
        if not isinstance(helper, Helper):
            raise KindError(expected="a Helper", found=repr(helper))
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise KindError(expected="a Layer as output_layer", found=repr(output_layer))
        self._cell, self._helper, self._layer, self._state = cell, helper, output_layer, initial_state

    @property
    def batch_size(self) -> Any:
        return self._helper.batch_size

    @property
    def output_size(self) -> Any:
        size, layer = self._cell.output_size, self._layer
        if layer is not None:
            size = nest.map_structure(lambda s: layer.compute_output_shape((None, *size_dims(s)))[1:], size)
        return BasicDecoderOutput(size, self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> Any:
        dtype = nest.flatten(self._state)[0].dtype.base_dtype
        return BasicDecoderOutput(nest.map_structure(lambda _: dtype, self._cell.output_size),
                                  self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        return (*self._helper.initialize(), self._state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        with get_default_graph().name_scope(name or "BasicDecoderStep"):
            outputs, state = self._cell(inputs, state)
            outputs = outputs if self._layer is None else self._layer(outputs)
            chosen = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, inputs, state = self._helper.next_inputs(time=time, outputs=outputs, state=state,
                                                               sample_ids=chosen)
            return BasicDecoderOutput(outputs, chosen), state, inputs, finished


def dynamic_decode(decoder: Decoder, output_time_major: bool = False, impute_finished: bool = False,
                   maximum_iterations: Any = None, parallel_iterations: int = 32, swap_memory: bool = False,
                   scope: Any = None) -> tuple[Any, Any, Tensor]:
    """(outputs [n, t, ...], final state, lengths int32[n]) of a decoder run until every row is finished.

    output_time_major: outputs are [t, n, ...]. impute_finished: a finished row gives zeros and keeps its state.
    maximum_iterations: int32[], the most steps.
    """
    if not isinstance(decoder, Decoder):
        raise KindError(expected="a Decoder", found=repr(decoder))
    with variable_scope(scope, "decoder"):
        finished, inputs, state = decoder.initialize()
        if maximum_iterations is not None:
            maximum_iterations = convert_to_tensor(maximum_iterations, dtype=int32, name="maximum_iterations")
            if maximum_iterations.dims not in ((), None):
                raise ShapeError(expected="maximum_iterations to be a scalar", found=maximum_iterations.describe())
            finished = build.LogicalOr(finished, build.LessEqual(maximum_iterations, 0))
        sizes, dtypes = decoder.output_size, decoder.output_dtype
        zeros = nest.map_structure(lambda size, dtype: zeros_of(decoder.batch_size, size, dtype), sizes, dtypes)
        arrays = nest.map_structure(
            lambda size, dtype: TensorArray(dtype, size=0, dynamic_size=True,
                                            element_shape=_element(decoder.batch_size, size)), sizes, dtypes)
        start = (convert_to_tensor(0), arrays, nest.map_structure(_plain, state), nest.map_structure(_plain, inputs),
                 finished, build.Cast(build.ZerosLike(finished), dtype=int32))
        _, arrays, state, _, _, lengths = while_loop(
            lambda time, arrays, state, inputs, finished, lengths: build.LogicalNot(reduce_all(finished)),
            _step(decoder, zeros if impute_finished else None), start, maximum_iterations=maximum_iterations)
        outputs, state = decoder.finalize(nest.map_structure(lambda array: array.stack(), arrays), state, lengths)
        outputs = outputs if output_time_major else nest.map_structure(swapped, outputs)
        return outputs, state, lengths


def _plain(value: Any) -> Any:
    return value if isinstance(value, TensorArray) else convert_to_tensor(value)


def _element(batch: Any, size: Any) -> Any:
    """The shape of one step's output; None where the size says nothing of it."""
    if isinstance(size, TensorShape) and as_dims(size) == ():
        return None
    return (batch if isinstance(batch, int) else None, *size_dims(size))


def _step(decoder: Decoder, zeros: Any) -> Callable[..., Any]:
    """The body of the loop. zeros: the outputs of finished rows; None leaves them as computed."""
    def step(time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any) -> Any:
        outputs, next_state, next_inputs, now_finished = decoder.step(time, inputs, state)
        if not decoder.tracks_own_finished:
            now_finished = build.LogicalOr(now_finished, finished)
        lengths = where(finished, lengths, build.Fill(build.Shape(lengths), time + 1))
        for before, after in ((arrays, outputs), (state, next_state), (inputs, next_inputs)):
            nest.assert_same_structure(before, after)

        def held(old: Any, new: Any) -> Any:
            if isinstance(old, TensorArray):
                return new
            new.set_shape(old.dims)
            return new if new.dims == () else where(finished, old, new)

        if zeros is not None:
            outputs = nest.map_structure(lambda zero, out: where(finished, zero, out), zeros, outputs)
            next_state = nest.map_structure(held, state, next_state)
        arrays = nest.map_structure(lambda array, out: array.write(time, out), arrays, outputs)
        return time + 1, arrays, next_state, next_inputs, now_finished, lengths

    return step
