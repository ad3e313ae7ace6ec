"""tf.FIFOQueue and its kin: ops that give elements to a queue and take them from it."""
from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.constant_value import static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import DType, as_dtype, int32, int64
from ...core.errors import ArgumentError, InvalidArgumentError, KindError, ShapeError
from ...core.function_graph import taking_anew
from ...core.graph import Operation, Tensor, get_default_graph
from ...core.op import OPS
from ...core.shapes import TensorShape, as_dims, compatible, show
from ..control.custom import py_func
from .host import HostQueue, PaddedQueue, ShuffledQueue, SortedQueue, stacked


class QueueBase:
    """A queue of elements, each of some parts. dtypes, shapes: of the parts; names: of them, if elements are dicts.

    What it holds belongs to the graph: all sessions of it share it. Taking waits for elements, giving for places.
    """

    def __init__(self, host: HostQueue, dtypes: Any, shapes: Any, names: Any, name: str,
                 shared_name: str | None = None) -> None:
        self._dtypes = [as_dtype(d) for d in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes])]
        many = isinstance(shapes, (list, tuple)) and (not shapes or not isinstance(shapes[0], (int, type(None))))
        given = None if shapes is None else [TensorShape(s) for s in (shapes if many else [shapes])]
        if given is not None and len(given) == 0 and len(self._dtypes) == 1:
            given = [TensorShape([])]
        if given is not None and len(given) != len(self._dtypes):
            raise ArgumentError("Queue shapes must have the same length as dtypes", expected=len(self._dtypes),
                                found=len(given))
        self._shapes = given if given is not None else [TensorShape(None) for _ in self._dtypes]
        self._names = None if names is None else list(names) if isinstance(names, (list, tuple)) else [names]
        if self._names is not None and len(self._names) != len(self._dtypes):
            raise ArgumentError("Queue names must have the same length as the datatypes.",
                                expected=len(self._dtypes), found=len(self._names))
        host.name = self._name = name
        capacity = host.capacity if host.capacity < float("inf") else -1
        self.queue_ref = OPS[f"{host.kind}V2"](
            component_types=tuple(self._dtypes[host.added_parts:]), capacity=capacity, shared_name=shared_name or "",
            shapes=() if given is None else tuple(self._shapes[host.added_parts:]), name=f"{name}/", **host.attributes)
        self._hold(host, shared_name)

    def _hold(self, host: HostQueue, shared_name: str | None) -> None:
        self._host = self._shared(host, shared_name) if shared_name else host
        get_default_graph().outermost.extras.setdefault("queues", {})[self.queue_ref.op] = self
        if isinstance(self._host, _NoQueue):
            problems = get_default_graph().outermost.extras.setdefault("queue_problems", {})
            problems[self.queue_ref.op] = self._host.problem

    @staticmethod
    def of_node(handle: Tensor) -> "QueueBase":
        """The queue that a tensor is the handle of; one whose node was read from a stored graph begins empty."""
        op = handle.op
        while op.inputs:
            op = op.inputs[0].op
        known = op.graph.outermost.extras.setdefault("queues", {})
        if op not in known:
            attrs, made = op.attrs, object.__new__(QueueBase)
            host = _HOSTS[op.type](attrs["capacity"], op.name, attrs)
            made._name, made._names, made.queue_ref = op.name, None, op.outputs[0]
            added = host.added_parts
            made._dtypes = [int64] * added + [as_dtype(dtype) for dtype in attrs["component_types"]]
            shapes = attrs["shapes"] or [None] * (len(made._dtypes) - added)
            made._shapes = [TensorShape([])] * added + [TensorShape(shape) for shape in shapes]
            made._hold(host, attrs["shared_name"])
        return known[op]

    def _shared(self, host: HostQueue, shared_name: str) -> HostQueue:
        """The host of the graph's first queue of this name; runs of one of another kind raise InvalidArgumentError."""
        made = get_default_graph().outermost.extras.setdefault("shared_queues", {})
        own = host.kind, host.capacity, [d.name for d in self._dtypes], [
            str(shape) for shape in self._shapes], *host.attributes.values()
        first, found = made.setdefault(shared_name, (own, host))
        for what, there, asked in zip(("kind", "capacity", "component types", "component shapes",
                                      *host.attributes), first, own):
            if there != asked:
                return _NoQueue(host, f"Shared queue '{shared_name}' has {what} {there} but requested {what} was "
                                      f"{asked}")
        return found

    @staticmethod
    def from_list(index: Any, queues: Sequence["QueueBase"]) -> "QueueBase":
        """The queue of that number, which must be known while the graph is built; its shapes fit all of them.

        Runs of its operations raise InvalidArgumentError where there is none of that number.
        """
        if not queues or not all(isinstance(queue, QueueBase) for queue in queues):
            raise KindError("A list of queues expected")
        kinds = [queue.dtypes for queue in queues]
        if any(kind != kinds[0] for kind in kinds):
            raise KindError("Queues do not have matching component dtypes.")
        known = static_value(convert_to_tensor(index))
        if known is None:
            raise ArgumentError(expected="an index that is known while the graph is built", found=index)
        at = int(known)
        chosen = copy.copy(queues[at if 0 <= at < len(queues) else 0])
        if not 0 <= at < len(queues):
            chosen._host = _NoQueue(chosen._host, f"index {at} is not in [0, {len(queues)})")
        chosen._shapes = [functools.reduce(TensorShape.most_specific_compatible_shape, each)
                          for each in zip(*(queue.shapes for queue in queues))]
        return chosen

    name = property(lambda self: self._name)
    dtypes = property(lambda self: self._dtypes)
    shapes = property(lambda self: self._shapes)
    names = property(lambda self: self._names or [])

    def _parts(self, vals: Any, *, many: bool) -> list[Tensor]:
        if isinstance(vals, dict):
            if self._names is None:
                raise ArgumentError("Queue must have names to enqueue a dictionary")
            if sorted(self._names) != sorted(vals):
                raise ArgumentError(f"Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                                    f"({sorted(vals)}), Queue: ({sorted(self._names)})")
            vals = [vals[name] for name in self._names]
        elif self._names is not None:
            raise ArgumentError("You must enqueue a dictionary in a Queue with names")
        elif not isinstance(vals, (list, tuple)) or len(self._dtypes) == 1 and len(vals) != 1:
            vals = [vals]
        if len(vals) != len(self._dtypes):
            raise ArgumentError("the parts of an element", expected=len(self._dtypes), found=len(vals))
        parts = [convert_to_tensor(value, dtype=dtype, name=f"component_{i}")
                 for i, (value, dtype) in enumerate(zip(vals, self._dtypes))]
        for part, shape in zip(parts, self._shapes):
            if many and part.dims == ():
                raise ShapeError("Shape must be at least rank 1 but is rank 0", found=part.describe())
            own = part.dims if not many or part.dims is None else part.dims[1:]
            if not compatible(own, shape.dims_tuple):
                raise ShapeError(f"Shapes {TensorShape(own)} and {shape} are incompatible", found=part.describe(),
                                 expected=f"parts of shape {show(shape.dims_tuple)}")
        rows = {part.dims[0] for part in parts if many and part.dims and part.dims[0] is not None}
        if len(rows) > 1:
            raise ShapeError("Dimensions must be equal, of the rows of all parts", expected="as many of each",
                             found=[part.describe() for part in parts])
        return parts

    def enqueue(self, vals: Any, name: str | None = None) -> Operation:
        """The operation that adds one element, once there is place."""
        with get_default_graph().name_scope(name or f"{self._name}_enqueue") as full:
            parts = self._parts(vals, many=False)
            return self._effect("QueueEnqueueV2", lambda *arrays: self._host.enqueue([self._fitting(arrays)]), parts,
                                full)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Operation:
        """The operation that adds the rows of each part, as places come free."""
        with get_default_graph().name_scope(name or f"{self._name}_EnqueueMany") as full:
            parts = self._parts(vals, many=True)

            def add(*arrays: Any) -> None:
                if len({len(array) for array in arrays}) > 1:
                    raise ValueError(f"rows of all parts expected to be as many, found {[len(a) for a in arrays]}")
                self._fitting(arrays, (len(arrays[0]),))
                self._host.enqueue(list(zip(*arrays)))

            return self._effect("QueueEnqueueManyV2", add, parts, full)

    def _fitting(self, arrays: Sequence[Any], lead: tuple[int, ...] = ()) -> tuple[Any, ...]:
        for i, (array, shape) in enumerate(zip(arrays, self._shapes)):
            dims = None if shape.ndims is None else (*lead, *shape.as_list())
            if not compatible(np.shape(array), dims):
                raise ValueError(f"Shape mismatch in tuple component {i}. Expected {show(dims)}, "
                                 f"got {show(np.shape(array))}")
        return tuple(arrays)

    def dequeue(self, name: str | None = None) -> Any:
        """One element: a tensor, a list of its parts, or a dict of them by name."""
        with get_default_graph().name_scope(name or f"{self._name}_Dequeue") as full:
            return self._taken("QueueDequeueV2", lambda: list(self._host.dequeue(1)[0]), (), (), full)

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """n elements, each part stacked. Waits for all; fails where a closed queue has fewer."""
        return self._several(n, name or f"{self._name}_DequeueMany", at_most=False)

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """n elements, or what a closed queue still has; each part stacked."""
        return self._several(n, name or f"{self._name}_DequeueUpTo", at_most=True)

    def _several(self, n: Any, name: str, *, at_most: bool) -> Any:
        with get_default_graph().name_scope(name) as full:
            count = convert_to_tensor(n, dtype=int32, name="n")
            rows = int(n) if isinstance(n, (int, np.integer)) and not at_most else None

            def take(number: Any) -> Any:
                if any(shape.ndims is None for shape in self._shapes):
                    raise InvalidArgumentError(f"{type(self).__name__}'s DequeueMany and DequeueUpTo require the "
                                               "components to have specified shapes.")
                elements = self._host.dequeue(int(number), at_most=at_most)
                if elements:
                    return stacked(elements)
                return [np.zeros((0, *(d or 0 for d in s.as_list())), t.as_numpy_dtype)
                        for s, t in zip(self._shapes, self._dtypes)]

            return self._taken(f"QueueDequeue{'UpTo' if at_most else 'Many'}V2", take, (count,), (rows,), full)

    def _called(self, kind: str, function: Callable[..., Any], inputs: Sequence[Tensor], types: Any, name: str) -> Any:
        """The node, under its very name; a stored graph has TensorFlow's op of that kind in its place."""
        types_of = {"component_types": self._dtypes} if "Dequeue" in kind else {}
        function.__dict__["stands_for"] = kind, self.queue_ref, types_of
        return py_func(function, list(inputs), types, name=name)

    def _taken(self, kind: str, take: Callable[..., Any], inputs: Sequence[Tensor], lead: tuple[Any, ...],
               name: str) -> Any:
        tensors = self._called(kind, taking_anew(take), inputs, list(self._dtypes), name)
        tensors = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
        for tensor, shape in zip(tensors, self._shapes):
            if shape.ndims is not None:
                tensor.set_shape([*lead, *shape.as_list()])
        if self._names is not None:
            return dict(zip(self._names, tensors))
        return tensors[0] if len(tensors) == 1 else tensors

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """The operation that closes the queue: what it holds can be taken, nothing be added."""
        with get_default_graph().name_scope(name or f"{self._name}_Close") as full:
            made = self._effect("QueueCloseV2", lambda: self._host.close(cancel_pending_enqueues), (), full)
            made.attrs["function"].stands_for[-1]["cancel_pending_enqueues"] = cancel_pending_enqueues
            return made

    def size(self, name: str | None = None) -> Tensor:
        """How many elements wait: int32[]."""
        with get_default_graph().name_scope(name or f"{self._name}_Size") as full:
            found = self._called("QueueSizeV2", lambda: self._host.size(), (), int32, full)
            found.set_shape([])
            return found

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether it was closed: bool[]."""
        with get_default_graph().name_scope(name or f"{self._name}_Is_Closed") as full:
            found = self._called("QueueIsClosedV2", lambda: np.bool_(self._host.closed), (), "bool", full)
            found.set_shape([])
            return found

    def _effect(self, kind: str, function: Callable[..., Any], inputs: Sequence[Tensor], name: str) -> Operation:
        return self._called(kind, lambda *arrays: function(*arrays) or np.bool_(True), inputs, "bool", name).op


class _NoQueue(HostQueue):
    """In place of a queue that is not there: all that is asked of it raises InvalidArgumentError."""

    def __init__(self, like: HostQueue, problem: str) -> None:
        super().__init__(0, like.name)
        self.kind, self.capacity, self.attributes, self.added_parts = (
            like.kind, like.capacity, like.attributes, like.added_parts)
        self.problem = problem

    def _raise(self, *args: Any, **options: Any) -> Any:
        raise InvalidArgumentError(self.problem)

    enqueue = dequeue = close = size = _raise


_HOSTS: dict[str, Callable[[int, str, dict[str, Any]], HostQueue]] = {  # type of a node -> its queue
    "FIFOQueueV2": lambda capacity, name, attrs: HostQueue(capacity, name),
    "PaddingFIFOQueueV2": lambda capacity, name, attrs: PaddedQueue(capacity, name),
    "PriorityQueueV2": lambda capacity, name, attrs: SortedQueue(capacity, name),
    "RandomShuffleQueueV2": lambda capacity, name, attrs: ShuffledQueue(
        capacity, name, attrs["min_after_dequeue"], attrs["seed2"] or attrs["seed"] or None)}

# TensorFlow's op on a queue -> what adds it, of the queue, its name, its other inputs and its attributes
NODES: dict[str, Callable[..., Any]] = {
    "QueueEnqueue": lambda queue, name, *parts, **_: queue.enqueue(parts, name),
    "QueueEnqueueMany": lambda queue, name, *parts, **_: queue.enqueue_many(parts, name),
    "QueueDequeue": lambda queue, name, **_: queue.dequeue(name),
    "QueueDequeueMany": lambda queue, name, n, **_: queue.dequeue_many(n, name),
    "QueueDequeueUpTo": lambda queue, name, n, **_: queue.dequeue_up_to(n, name),
    "QueueClose": lambda queue, name, cancel_pending_enqueues=False, **_: queue.close(cancel_pending_enqueues, name),
    "QueueSize": lambda queue, name, **_: queue.size(name),
    "QueueIsClosed": lambda queue, name, **_: queue.is_closed(name)}


def _unique(name: str) -> str:
    return get_default_graph().unique_name(name)


class FIFOQueue(QueueBase):
    """First in, first out."""

    def __init__(self, capacity: int, dtypes: Any, shapes: Any = None, names: Any = None,
                 shared_name: str | None = None, name: str = "fifo_queue") -> None:
        super().__init__(HostQueue(capacity, name), dtypes, shapes, names, _unique(name), shared_name)


class RandomShuffleQueue(QueueBase):
    """Gives any of its elements, while more than min_after_dequeue stay behind or once it is closed."""

    def __init__(self, capacity: int, min_after_dequeue: int, dtypes: Any, shapes: Any = None, names: Any = None,
                 seed: int | None = None, shared_name: str | None = None, name: str = "random_shuffle_queue") -> None:
        seed = get_default_graph().seed if seed is None else seed
        if seed is not None and not isinstance(seed, (int, np.integer)):
            raise KindError(expected="a seed, an int", found=repr(seed))
        super().__init__(ShuffledQueue(capacity, name, min_after_dequeue, seed), dtypes, shapes, names, _unique(name),
                         shared_name)


class PaddingFIFOQueue(QueueBase):
    """First in, first out; several elements are filled up with zeros to one shape. shapes: None for sizes that vary."""

    def __init__(self, capacity: int, dtypes: Any, shapes: Any, names: Any = None, shared_name: str | None = None,
                 name: str = "padding_fifo_queue") -> None:
        if shapes is None:
            raise ArgumentError("When providing partial shapes, a list of shapes must be provided.")
        if any(as_dims(shape) is None for shape in shapes):
            raise ArgumentError(f"All shapes must have a defined rank: {shapes}")
        super().__init__(PaddedQueue(capacity, name), dtypes, shapes, names, _unique(name), shared_name)


class PriorityQueue(QueueBase):
    """Elements of an int64 and other parts: the lowest number first."""

    def __init__(self, capacity: int, types: Any, shapes: Any = None, names: Any = None,
                 shared_name: str | None = None, name: str = "priority_queue") -> None:
        kinds: list[DType] = [int64, *(as_dtype(t) for t in (types if isinstance(types, (list, tuple)) else [types]))]
        many = isinstance(shapes, (list, tuple)) and bool(shapes) and not isinstance(shapes[0], int)
        given = None if shapes is None else [(), *(shapes if many else [shapes] * (len(kinds) - 1))]
        super().__init__(SortedQueue(capacity, name), kinds, given, names, _unique(name), shared_name)
