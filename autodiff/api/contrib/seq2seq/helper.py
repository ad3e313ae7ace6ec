"""Helpers of a decoder: what it reads next, and when a row is finished."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....core import nest
from ....core.convert import convert_to_tensor
from ....core.dtypes import as_dtype, int32
from ....core.errors import KindError, ShapeError
from ....core.graph import Tensor
from ....core.op import build
from ....core.shapes import TensorShape
from ...arrays.shaping import concat
from ...control.control_flow import cond
from ...control.tensor_array import TensorArray
from ...math import where
from ...math.reductions import argmax, reduce_all, reduce_any
from ...nn.embedding import embedding_lookup
from ...nn.rnn_cell.base import batch_of
from ...nn.rnn_dynamic import swapped
from ...random import multinomial, random_uniform

__all__ = ["CustomHelper", "GreedyEmbeddingHelper", "Helper", "InferenceHelper", "SampleEmbeddingHelper",
           "ScheduledEmbeddingTrainingHelper", "ScheduledOutputTrainingHelper", "TrainingHelper"]


class Helper:
    """The interface of a helper: batch_size, initialize, sample and next_inputs. Samples are int32[n] by default."""

    batch_size: Any = None
    sample_ids_shape = TensorShape([])
    sample_ids_dtype: Any = int32

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """(finished bool[n], first inputs)."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to begin")

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """The samples chosen by the outputs."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to choose")

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        """(finished bool[n], next inputs, next state)."""
        raise NotImplementedError(f"{type(self).__name__} does not say what to read next")


class CustomHelper(Helper):
    """A helper out of three functions, called with the names of Helper's arguments."""

    def __init__(self, initialize_fn: Callable[[], Any], sample_fn: Callable[..., Any],
                 next_inputs_fn: Callable[..., Any], sample_ids_shape: Any = None,
                 sample_ids_dtype: Any = None) -> None:
        self._initialize, self._sample, self._next_inputs = initialize_fn, sample_fn, next_inputs_fn
        self.sample_ids_shape = TensorShape(sample_ids_shape or [])
        self.sample_ids_dtype = as_dtype(sample_ids_dtype or int32)

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        finished, inputs = self._initialize()
        if self.batch_size is None:
            self.batch_size = batch_of(finished, 0)
        return finished, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        return self._sample(time=time, outputs=outputs, state=state)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        return self._next_inputs(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class TrainingHelper(Helper):
    """Reads given inputs, whatever was chosen: teacher forcing.

    inputs: float[n, t, ...], or float[t, n, ...] if time_major, or a structure of such. sequence_length: int[n].
    """

    def __init__(self, inputs: Any, sequence_length: Any, time_major: bool = False, name: str | None = None) -> None:
        self.inputs = nest.map_structure(convert_to_tensor, inputs)
        series = self.inputs if time_major else nest.map_structure(swapped, self.inputs)
        self.sequence_length = build.Cast(convert_to_tensor(sequence_length, name="sequence_length"), dtype=int32)
        if self.sequence_length.dims is None or len(self.sequence_length.dims) != 1:
            raise ShapeError(expected="sequence_length to be a vector", found=self.sequence_length.describe())
        self._arrays = nest.map_structure(
            lambda x: TensorArray(x.dtype.base_dtype, batch_of(x, 0), element_shape=x.dims[1:]).unstack(x), series)
        self._zeros = nest.map_structure(lambda x: build.ZerosLike(x[0]), series)
        self.batch_size = batch_of(self.sequence_length, 0)

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        return self._read(convert_to_tensor(0))

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        return build.Cast(argmax(outputs, axis=-1), dtype=int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any = None, name: str | None = None) -> Any:
        return (*self._read(time + 1), state)

    def _read(self, time: Tensor) -> tuple[Tensor, Any]:
        finished = build.LessEqual(self.sequence_length, time)
        inputs = cond(reduce_all(finished), lambda: self._zeros,
                      lambda: nest.map_structure(lambda array: array.read(time), self._arrays), strict=True)
        return finished, inputs


class GreedyEmbeddingHelper(Helper):
    """Reads the embedding of the most likely symbol of the step before, until that is the end token.

    embedding: a table, or a function int[n] -> float[n, k]. start_tokens: int[n]; end_token: int[].
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        self._embedding = embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)
        self._start = convert_to_tensor(start_tokens, dtype=int32, name="start_tokens")
        self._end = convert_to_tensor(end_token, dtype=int32, name="end_token")
        if self._start.dims is None or len(self._start.dims) != 1 or self._end.dims != ():
            raise ShapeError(expected="start_tokens to be a vector and end_token a scalar",
                             found=f"{self._start.describe()} and {self._end.describe()}")
        self.batch_size = batch_of(self._start, 0)
        self._first = self._embedding(self._start)

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        return build.Fill([self.batch_size], False), self._first

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        if not isinstance(outputs, Tensor):
            raise KindError(expected="one tensor of outputs", found=repr(outputs))
        return self._choose(outputs)

    def _choose(self, logits: Tensor) -> Tensor:
        return argmax(logits, axis=-1, output_type=int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        finished = build.Equal(sample_ids, self._end)
        inputs = cond(reduce_all(finished), lambda: self._first, lambda: self._embedding(sample_ids), strict=True)
        return finished, inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """GreedyEmbeddingHelper that draws symbols by their probabilities. softmax_temperature: divides the logits."""

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any, softmax_temperature: Any = None,
                 seed: int | None = None) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._temperature, self._seed = softmax_temperature, seed

    def _choose(self, logits: Tensor) -> Tensor:
        logits = logits if self._temperature is None else logits / self._temperature
        return _drawn(logits, self._seed)


def _drawn(logits: Tensor, seed: int | None) -> Tensor:
    """A symbol of each row, by its probabilities. float[n, k] -> int32[n]."""
    return build.Cast(build.Squeeze(multinomial(logits, 1, seed=seed), squeeze_dims=[1]), dtype=int32)


class _Scheduled(TrainingHelper):
    """Now and then reads what comes of the step before in place of the given inputs.

    sampling_probability: float[] how often. Source: Bengio et al. (2015), Scheduled sampling, section 2.4.
    """

    def __init__(self, inputs: Any, sequence_length: Any, sampling_probability: Any, time_major: bool,
                 seed: int | None) -> None:
        self._probability = convert_to_tensor(sampling_probability, name="sampling_probability")
        if self._probability.dims is None or len(self._probability.dims) > 1:
            raise ShapeError("sampling_probability must be either a scalar or a vector. saw shape: "
                             f"{self._probability.shape}")
        self._scheduling_seed = seed
        super().__init__(inputs, sequence_length, time_major)

    def _is_sampled(self) -> Tensor:
        shape = build.ConcatV2(0, build.Reshape(self.batch_size, [1]), build.Shape(self._probability))
        return build.Less(random_uniform(shape, seed=self._scheduling_seed, dtype=self._probability.dtype),
                          self._probability)


def _mixed(chosen: Tensor, made: Callable[[Tensor], Any], given: Tensor) -> Tensor:
    """Rows that are made where they are chosen, else given ones; only those rows have gradients.

    made: int32[m, 1], the numbers of rows -> float[m, ...].
    """
    taken, kept = (build.Cast(build.Where(each), dtype=int32) for each in (chosen, build.LogicalNot(chosen)))
    shape = build.Shape(given)
    return build.ScatterNd(taken, made(taken), shape) + build.ScatterNd(kept, build.GatherNd(given, kept), shape)


class ScheduledEmbeddingTrainingHelper(_Scheduled):
    """TrainingHelper that now and then reads the embedding of a symbol drawn by the outputs' probabilities.

    embedding: a table, or a function int[m] -> float[m, k]. Samples are int32[n], -1 where none was drawn. seed: of
    the symbols, scheduling_seed: of where they are drawn.
    """

    def __init__(self, inputs: Any, sequence_length: Any, embedding: Any, sampling_probability: Any,
                 time_major: bool = False, seed: int | None = None, scheduling_seed: int | None = None,
                 name: str | None = None) -> None:
        super().__init__(inputs, sequence_length, sampling_probability, time_major, scheduling_seed)
        self._embedding = embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)
        self._seed = seed

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        is_sampled = self._is_sampled()
        return where(is_sampled, _drawn(outputs, self._seed), build.Fill([self.batch_size], -1))

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any = None, name: str | None = None) -> Any:
        finished, given, state = super().next_inputs(time, outputs, state, sample_ids)
        inputs = cond(reduce_all(finished), lambda: given, lambda: _mixed(
            build.Greater(sample_ids, -1), lambda rows: self._embedding(build.GatherNd(sample_ids, rows)), given))
        return finished, inputs, state


class ScheduledOutputTrainingHelper(_Scheduled):
    """TrainingHelper that now and then reads the outputs of the step before, or next_inputs_fn of them.

    auxiliary_inputs: float[n, t, ...], stand beside the inputs, and beside what is read in their place. Samples are
    int32[n], 1 where outputs are read.
    """

    def __init__(self, inputs: Any, sequence_length: Any, sampling_probability: Any, time_major: bool = False,
                 seed: int | None = None, next_inputs_fn: Any = None, auxiliary_inputs: Any = None,
                 name: str | None = None) -> None:
        self._following, self._beside = next_inputs_fn, None
        if auxiliary_inputs is not None:
            inputs, beside = (convert_to_tensor(x) for x in (inputs, auxiliary_inputs))
            inputs = concat([inputs, beside], -1)
            series = beside if time_major else swapped(beside)
            self._beside = TensorArray(series.dtype.base_dtype, batch_of(series, 0),
                                       element_shape=series.dims[1:]).unstack(series)  # type: ignore[index]
        super().__init__(inputs, sequence_length, sampling_probability, time_major, seed)

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        return build.Cast(self._is_sampled(), dtype=int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any = None, name: str | None = None) -> Any:
        finished, given, state = super().next_inputs(time, outputs, state, sample_ids)
        chosen = build.Cast(sample_ids, dtype="bool")

        def read(rows: Tensor | None) -> Tensor:
            found = outputs if rows is None else self._following(build.GatherNd(outputs, rows))
            if self._beside is None:
                return found
            beside = self._beside.read(time + 1)
            return concat([found, beside if rows is None else build.GatherNd(beside, rows)], -1)

        inputs = cond(build.LogicalOr(reduce_all(finished), build.LogicalNot(reduce_any(chosen))), lambda: given,
                      lambda: where(chosen, read(None), given) if self._following is None else
                      _mixed(chosen, read, given))
        return finished, inputs, state


class InferenceHelper(Helper):
    """Reads what sample_fn chose of the outputs, or next_inputs_fn of that. end_fn: samples -> bool[n], finished."""

    def __init__(self, sample_fn: Callable[[Any], Any], sample_shape: Any, sample_dtype: Any, start_inputs: Any,
                 end_fn: Callable[[Any], Any], next_inputs_fn: Any = None) -> None:
        self._sample, self._ends, self._following = sample_fn, end_fn, next_inputs_fn
        self.sample_ids_shape, self.sample_ids_dtype = TensorShape(sample_shape), sample_dtype
        self._first = convert_to_tensor(start_inputs, name="start_inputs")
        self.batch_size = batch_of(self._first, 0)

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        return build.Fill([self.batch_size], False), self._first

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        return self._sample(outputs)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        following = sample_ids if self._following is None else self._following(sample_ids)
        return self._ends(sample_ids), following, state
