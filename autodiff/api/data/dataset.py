"""Dataset: elements one after another, as Python iterators behind one op."""
from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Callable, Iterable
from collections.abc import Iterator as PythonIterator
from typing import Any

import numpy as np

from ...core import nest
from ...core.constant_value import static_value
from ...core.convert import as_array, convert_to_tensor
from ...core.dtypes import as_dtype, bool_, int64
from ...core.errors import ArgumentError, InvalidArgumentError, KindError, UnsupportedError
from ...core.graph import Graph, Tensor, get_default_graph
from ...core.shapes import Dims
from ...core.site import capture, resolve
from ...runtime.session import Session
from ..arrays.creation import placeholder
from ..control.while_loop import flatten_shapes
from ..random import get_seed
from .elements import (
    Element,
    Shuffled,
    Structured,
    batched,
    checked_array,
    elements_of,
    leaves_of,
    lists_as_arrays,
    positive_count,
    stacked_with_padding,
)
from .iterator import Iterator
from .nonfinite import look_into
from .shuffling import Begun, Buffer

Elements = Callable[[list[np.ndarray]], PythonIterator[Any]]  # arrays of the source tensors -> nested arrays


class Dataset(Structured):
    """Elements, one after another; each is a nested structure of arrays like `structure`, which holds Specs.

    sources: tensors whose values an iterator reads when it is initialized. graphs: of the functions of `map`. made: the
    line of its last step; begun: of its first, which has the data.
    """

    def __init__(self, elements: Elements, structure: Any, sources: tuple[Tensor, ...] = (),
                 graphs: tuple[Graph, ...] = ()) -> None:
        self._elements, self._structure, self._sources, self.graphs = elements, structure, sources, graphs
        self.mixed: tuple[Buffer, Dataset] | None = None
        self.made = self.begun = next(iter(resolve(capture()[:1])), None)
        self.shuffled: tuple[Shuffled, ...] = ()

    @staticmethod
    def from_tensor_slices(tensors: Any) -> "Dataset":
        """Slices along axis 0 of nested arrays or tensors of one length."""
        return _from(tensors, slices=True)

    @staticmethod
    def from_tensors(tensors: Any) -> "Dataset":
        """One element: the nested arrays or tensors themselves."""
        return _from(tensors, slices=False)

    @staticmethod
    def from_generator(generator: Callable[..., Iterable[Any]], output_types: Any, output_shapes: Any = None,
                       args: Any = ()) -> "Dataset":
        """The items of `generator(*args)`. output_types: nested dtypes; output_shapes: nested shapes, if known."""
        if not callable(generator):
            raise KindError(expected="a callable generator", found=repr(generator))
        types = nest.flatten(output_types)
        shapes = [None] * len(types) if output_shapes is None else flatten_shapes(output_shapes, output_types)
        structure = nest.pack_sequence_as(output_types, [Element(as_dtype(t), s) for t, s in zip(types, shapes)])

        def elements(_: list[np.ndarray]) -> PythonIterator[Any]:
            for item in generator(*args):
                leaves = zip(leaves_of(item, structure), nest.flatten(structure), strict=True)
                yield nest.pack_sequence_as(structure, [checked_array(value, spec) for value, spec in leaves])
        return Dataset(elements, structure)

    @staticmethod
    def list_files(file_pattern: Any, shuffle: bool | None = None, seed: int | None = None) -> "Dataset":
        """The paths that patterns fit, mixed unless shuffle=False. Raises InvalidArgumentError if there are none."""
        patterns = [os.fsdecode(each) for each in np.ravel(as_array(file_pattern))]
        found = sorted(path for pattern in patterns for path in glob.glob(pattern))
        if not found:
            raise InvalidArgumentError(None, None, f"No files matched pattern: {', '.join(patterns)}")
        paths = Dataset.from_tensor_slices(np.array([os.fsencode(path) for path in found], object))
        return paths if shuffle is False else paths.shuffle(len(found), seed)

    @staticmethod
    def range(*args: int) -> "Dataset":
        """Integers as Python's range gives them. -> int64[]."""
        return Dataset(lambda _: map(np.int64, range(*args)), Element(int64, ()))

    @staticmethod
    def zip(datasets: Any) -> "Dataset":
        """Elements of several datasets side by side, in the structure of `datasets`, up to the shortest."""
        parts = nest.flatten(datasets)
        if not all(isinstance(d, Dataset) for d in parts):
            raise KindError(expected="a nested structure of datasets", found=repr(datasets))
        structure = _join(datasets, [d._structure for d in parts])
        counts = list(itertools.accumulate((len(d._sources) for d in parts), initial=0))

        def elements(values: list[np.ndarray]) -> PythonIterator[Any]:
            columns = [d._elements(values[a:b]) for d, a, b in zip(parts, counts, counts[1:])]
            return (_join(datasets, list(row)) for row in zip(*columns))
        sources, graphs = (tuple(itertools.chain(*each)) for each in zip(*((d._sources, d.graphs) for d in parts)))
        made, shuffled = Dataset(elements, structure, sources, graphs), [d.shuffled for d in parts if d.shuffled]
        if len({tuple(each.order for each in several) for several in shuffled}) > 1:
            apart = made.made, tuple(itertools.chain(*shuffled))
            get_default_graph().extras.setdefault("shuffled apart", []).append(apart)
        return made

    def _with(self, change: Callable[[PythonIterator[Any]], Iterable[Any]], structure: Any = None) -> "Dataset":
        return self._of(lambda values: iter(change(self._elements(values))), structure)

    def _of(self, elements: Elements, structure: Any = None) -> "Dataset":
        made = Dataset(elements, self._structure if structure is None else structure, self._sources, self.graphs)
        made.begun, made.shuffled = self.begun, self.shuffled
        return made

    def map(self, map_func: Callable[..., Any], num_parallel_calls: int | None = None) -> "Dataset":
        """`map_func` of each element; it builds graph out of tensors, as in TensorFlow."""
        function = ElementFunction(map_func, self._structure)
        mapped = self._with(lambda items: map(function, items), function.structure)
        mapped.graphs = (*self.graphs, function.graph)
        return mapped

    def filter(self, predicate: Callable[..., Any]) -> "Dataset":
        """The elements for which `predicate` gives true. predicate: graph of a bool[] from an element."""
        function = ElementFunction(predicate, self._structure)
        if not isinstance(function.structure, Element) or function.structure.dtype is not bool_:
            raise ArgumentError("predicate must give one bool")
        return self._with(lambda items: (item for item in items if function(item)))

    def batch(self, batch_size: int, drop_remainder: bool = False) -> "Dataset":
        """Consecutive elements stacked on a new axis 0; the last batch may be smaller."""
        size, dropped = positive_count(batch_size), bool(drop_remainder)

        def batches(items: PythonIterator[Any]) -> PythonIterator[Any]:
            while rows := list(itertools.islice(items, size)):
                if len(rows) == size or not dropped:
                    yield nest.map_structure(lambda *parts: np.stack(parts), *rows)
        return self._with(batches, batched(self._structure, size if dropped else None))

    def padded_batch(self, batch_size: int, padded_shapes: Any, padding_values: Any = None,
                     drop_remainder: bool = False) -> "Dataset":
        """Batches of elements padded to `padded_shapes`; a None there is the longest of the batch."""
        wanted = flatten_shapes(padded_shapes, self._structure)
        fills = [0] * len(wanted) if padding_values is None else nest.flatten(padding_values)
        size = positive_count(batch_size)

        def batches(items: PythonIterator[Any]) -> PythonIterator[Any]:
            while rows := list(itertools.islice(items, size)):
                if len(rows) == size or not drop_remainder:
                    columns = zip(*(nest.flatten(row) for row in rows))
                    padded = [stacked_with_padding(list(c), w, f) for c, w, f in zip(columns, wanted, fills)]
                    yield nest.pack_sequence_as(self._structure, padded)
        specs = [Element(s.dtype, w) for s, w in zip(nest.flatten(self._structure), wanted)]
        return self._with(batches, batched(nest.pack_sequence_as(self._structure, specs),
                                           size if drop_remainder else None))

    def shuffle(self, buffer_size: int, seed: int | None = None,
                reshuffle_each_iteration: bool | None = None) -> "Dataset":
        """Each element drawn at random from a buffer of the next `buffer_size`."""
        graph = get_default_graph()
        count = graph.extras["shuffles"] = graph.extras.get("shuffles", -1) + 1  # each without a seed has its own
        is_counted = seed is None and graph.seed is not None and not graph.executing_eagerly
        seeds = get_seed(count if is_counted else seed)
        buffer = Buffer(positive_count(buffer_size), seeds, reshuffle_each_iteration is False)
        made = self._of(lambda values: buffer.mixed(iter([self._elements(values)]), values, True))
        made.mixed = None if buffer.is_same else (buffer, self)
        order = object() if None in seeds else seeds
        made.shuffled = (*self.shuffled, Shuffled(made.made, buffer_size, (buffer_size, order)))
        return made

    def repeat(self, count: int | None = None) -> "Dataset":
        """The elements again and again, `count` times in all; for ever if None or -1."""
        def passes() -> Iterable[int]:
            return itertools.count() if count is None or count < 0 else range(count)

        if self.mixed is not None:  # together, as TensorFlow has it
            buffer, items = self.mixed
            return self._of(lambda values: buffer.mixed((items._elements(values) for _ in passes()), values, False))

        def elements(values: list[np.ndarray]) -> PythonIterator[Any]:
            for _ in passes():
                empty = True
                for item in self._elements(values):
                    empty = False
                    yield item
                if empty:
                    return
        return self._of(elements)

    def take(self, count: int) -> "Dataset":
        """The first `count` elements; all if -1."""
        return self._with(lambda items: itertools.islice(items, None if count < 0 else count))

    def skip(self, count: int) -> "Dataset":
        """All but the first `count` elements; none if -1."""
        return self._with(lambda items: iter(()) if count < 0 else itertools.islice(items, count, None))

    def concatenate(self, dataset: "Dataset") -> "Dataset":
        """These elements, then the elements of another dataset of the same structure."""
        nest.assert_same_structure(self._structure, dataset._structure)
        if nest.flatten(self.output_types) != nest.flatten(dataset.output_types):
            raise KindError(expected=f"elements of {self.output_types}", found=dataset.output_types)
        split = len(self._sources)

        def elements(values: list[np.ndarray]) -> PythonIterator[Any]:
            return itertools.chain(self._elements(values[:split]), dataset._elements(values[split:]))
        return Dataset(elements, self._structure, self._sources + dataset._sources, self.graphs + dataset.graphs)

    def enumerate(self, start: int = 0) -> "Dataset":
        """(number, element) pairs."""
        return self._with(lambda items: ((np.int64(i), item) for i, item in enumerate(items, start)),
                          (Element(int64, ()), self._structure))

    def flat_map(self, map_func: Callable[..., "Dataset"]) -> "Dataset":
        """The elements of `map_func(element)`, a dataset, for one element after the other."""
        return self.interleave(map_func, cycle_length=1)

    def interleave(self, map_func: Callable[..., "Dataset"], cycle_length: int = 1, block_length: int = 1,
                   num_parallel_calls: int | None = None) -> "Dataset":
        """The elements of the datasets of so many elements in turn, block_length of each; then of the next ones."""
        function = ElementFunction(map_func, self._structure)
        if function.inner is None:
            raise KindError("`map_func` must return a `Dataset` object.", found=f"elements of {function.structure}")

        def elements(items: PythonIterator[Any]) -> PythonIterator[Any]:
            waiting = map(function.elements_of, items)
            turns = list(itertools.islice(waiting, positive_count(cycle_length)))
            while turns:
                following: list[Any] = []
                for turn in turns:
                    block = list(itertools.islice(turn, block_length))
                    yield from block
                    following += [turn] if len(block) == block_length else itertools.islice(waiting, 1)
                turns = following
        return self._with(elements, function.structure)

    def shard(self, num_shards: int, index: int) -> "Dataset":
        """Each num_shards-th element, from that at an index on."""
        return self._with(lambda items: itertools.islice(items, index, None, num_shards))

    def prefetch(self, buffer_size: int) -> "Dataset":
        """The same; there is nothing to run ahead."""
        return self

    cache = prefetch

    def apply(self, transformation_func: Callable[["Dataset"], "Dataset"]) -> "Dataset":
        return transformation_func(self)

    def __repr__(self) -> str:
        return f"<Dataset shapes: {self.output_shapes}, types: {self.output_types}>"

    def make_one_shot_iterator(self) -> "Iterator":
        """An iterator that needs no initialization. Raises ArgumentError (ValueError) for sources that must be run."""
        values = [static_value(t) for t in self._sources]
        if any(v is None for v in values):
            raise ArgumentError("a dataset of tensors that must be run needs make_initializable_iterator")
        iterator = Iterator(self._structure)
        iterator._begin(self, values)  # type: ignore[arg-type]
        return iterator

    def make_initializable_iterator(self, shared_name: str | None = None) -> "Iterator":
        """An iterator that starts over whenever its `initializer` runs."""
        iterator = Iterator(self._structure)
        iterator.initializer = iterator.make_initializer(self)
        fed = ", ".join(f"{t.op.name}: …" for t in self._sources if t.op.type == "Placeholder")
        iterator.begun_by = f"sess.run(iterator.initializer{f', {{{fed}}}' * bool(fed)})"
        return iterator

    def __iter__(self) -> PythonIterator[Any]:
        if not get_default_graph().executing_eagerly:
            raise UnsupportedError("a dataset is iterable only when eager execution is enabled: use "
                                 "make_one_shot_iterator().get_next()")
        for item in self._elements(Begun(np.asarray(t) for t in self._sources)):
            yield nest.map_structure(convert_to_tensor, item)


class ElementFunction:
    """A function of tensors as one of arrays: its graph, built once, and a session of its own."""

    def __init__(self, function: Callable[..., Any], structure: Any) -> None:
        self.graph = Graph()
        self.graph.seed = get_default_graph().seed
        with self.graph.as_default():
            self._inputs = [placeholder(spec.dtype, spec.dims) for spec in nest.flatten(structure)]
            element = nest.pack_sequence_as(structure, self._inputs)
            spread = isinstance(element, tuple) and not hasattr(element, "_fields")
            result: Any = function(*element) if spread else function(element)
            result = tuple(result) if isinstance(result, list) else result
            self.inner: Any = result if isinstance(result, Dataset) else None
            self._outputs = nest.map_structure(convert_to_tensor, result if self.inner is None else result._sources)
            self._session = Session()
        self.structure = elements_of(self._outputs) if self.inner is None else result._structure

    def __call__(self, item: Any) -> Any:
        given = dict(zip(self._inputs, nest.flatten(item)))
        made = self._session.run(self._outputs, given)
        look_into(self.graph, given, nest.flatten(self._outputs), nest.flatten(made))
        return made

    def elements_of(self, item: Any) -> PythonIterator[Any]:
        """The elements of the dataset that the function gives for an element."""
        return self.inner._elements([np.asarray(value) for value in self(item)])


def _from(tensors: Any, *, slices: bool) -> Dataset:
    whole = lists_as_arrays(tensors)
    leaves = [v if isinstance(v, Tensor) else convert_to_tensor(v) if hasattr(v, "as_tensor") else as_array(v)
              for v in nest.flatten(whole)]
    sources = tuple(v for v in leaves if isinstance(v, Tensor))
    shapes: list[Dims | None] = [v.dims if isinstance(v, Tensor) else v.shape for v in leaves]
    dtypes = [v.dtype.base_dtype if isinstance(v, Tensor) else as_dtype(v.dtype) for v in leaves]
    if slices:
        if any(dims == () for dims in shapes):
            raise ArgumentError(expected="arrays of rank >= 1 to slice", found="a scalar")
        if len({dims[0] for dims in shapes if dims is not None and dims[0] is not None}) > 1:
            raise ArgumentError(expected="arrays of one length", found=f"shapes {shapes}")
        shapes = [None if dims is None else dims[1:] for dims in shapes]
    structure = nest.pack_sequence_as(whole, [Element(t, s) for t, s in zip(dtypes, shapes)])

    def elements(values: list[np.ndarray]) -> PythonIterator[Any]:
        given = iter(values)
        arrays = [next(given) if isinstance(v, Tensor) else v for v in leaves]
        rows = zip(*arrays) if slices else iter([arrays])
        return (nest.pack_sequence_as(structure, list(row)) for row in rows)
    return Dataset(elements, structure, sources)


def _join(structure: Any, parts: list[Any]) -> Any:
    """`structure` with each leaf replaced by a part, which may be nested."""
    given = iter(parts)

    def build_part(node: Any) -> Any:
        if isinstance(node, Dataset):
            return next(given)
        if isinstance(node, dict):
            found = {key: build_part(node[key]) for key in sorted(node)}
            return {key: found[key] for key in node}
        return tuple(build_part(child) for child in node)
    return build_part(structure)
