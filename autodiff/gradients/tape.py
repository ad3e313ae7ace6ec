"""GradientTape: differentiate what was executed, in graph mode and eagerly."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ..core import nest
from ..core.convert import convert_to_tensor
from ..core.defaults import STACKS
from ..core.errors import ArgumentError, KindError, StateError, shown_as
from ..core.graph import Tensor, get_default_graph, graph_of
from ..core.indexed_slices import dense
from ..core.op import build
from ..core.shapes import compatible, num_elements, show
from .backprop import UnconnectedGradients, seed, unconnected
from .batching import vectorize
from .between import carries_gradient, counted_back, inputs_of
from .sweep import Sweep, zeros_for


class GradientTape:
    """Records the ops executed inside its context that depend on something watched.

    persistent: gradient() may be called more than once. watch_accessed_variables: trainable
    resource variables are watched when they are read.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent, self._watch_accessed = persistent, watch_accessed_variables
        self._recording = False
        self._record: _Record | None = None
        self._ever_entered = False

    def __enter__(self) -> "GradientTape":
        if self._recording:
            raise ArgumentError("Tape is already recording.", hint="leave its context before entering it again")
        if self._record is None:
            self._record = _Record()
        self._start()
        return self

    def __exit__(self, *exc: Any) -> None:
        if self._recording:
            self._stop()

    def _start(self) -> None:
        self._ever_entered = self._recording = True
        STACKS.tapes.append(self)

    def _stop(self) -> None:
        self._recording = False
        STACKS.tapes.remove(self)

    def wants(self, op: Any) -> bool:
        """Whether an operation depends on something watched."""
        assert self._record is not None
        watched = self._record.watched
        return any(tensor in watched for tensor in inputs_of(op))

    def record(self, op: Any) -> None:
        """Keep an executed operation; its outputs are watched from here on."""
        assert self._record is not None
        self._record.operations[op] = None
        self._record.watched.update(t for t in op.outputs if carries_gradient(t))

    def variable_accessed(self, variable: Any) -> None:
        """A variable is read while this tape records."""
        if self._watch_accessed and variable.trainable:
            self._watch_variable(variable)

    def _watch_variable(self, variable: Any) -> None:
        assert self._record is not None
        self._record.watched.add(variable.handle_tensor)
        self._record.variables[variable.handle_tensor] = variable

    def watch(self, tensor: Any) -> None:
        """Record what depends on these tensors or variables (a nested structure) from here on.

        Raises StateError (RuntimeError) before the first `with`, ArgumentError (ValueError) for
        anything but tensors and variables.
        """
        if self._record is None:
            raise StateError("watch was called while the tape was not recording: call it inside of `with tape:`")
        for item in nest.flatten(tensor):
            if hasattr(item, "handle_tensor"):
                self._watch_variable(item)
            elif isinstance(item, Tensor):
                self._record.watched.add(item)
            else:
                raise ArgumentError(expected="tensors or variables to watch", found=repr(item))

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Record nothing inside this block."""
        if self._record is None:
            raise StateError("Trying to stop recording a tape which is not recording.",
                             hint="use stop_recording inside of `with tape:`")
        if not self._recording:
            raise ArgumentError("Tape is not recording.", hint="use stop_recording inside of `with tape:`, and once")
        self._stop()
        try:
            yield
        finally:
            self._start()

    def reset(self) -> None:
        """Forget what was recorded and watched. Raises ArgumentError (ValueError) outside of the context."""
        if not self._recording:
            raise ArgumentError("Tape is not recording.", hint="call reset inside of `with tape:`")
        self._record = _Record()

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables watched so far, in the order they were made."""
        if self._record is None:
            raise SpentTapeError("this tape has given its gradient and forgotten its variables: use persistent=True")
        return tuple(sorted(self._record.variables.values(), key=lambda v: v.created))

    def gradient(self, target: Any, sources: Any, output_gradients: Any = None,
                 unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """Derivatives of sum(target) by each source, in the structure of `sources`.

        target, sources: tensors or variables, nested. output_gradients: what each target receives,
        ones by default. An entry is a Tensor, an IndexedSlices, or None where nothing recorded
        connects them. Raises StateError (RuntimeError) when called again on a tape that is not
        persistent, ArgumentError (ValueError) for an unknown unconnected_gradients.
        """
        zeros = unconnected(unconnected_gradients) is UnconnectedGradients.ZERO
        record = self._reading("gradient")
        with contextlib.nullcontext() if self._recording else self:  # a read variable is recorded
            targets = [convert_to_tensor(t) for t in nest.flatten(target)]
        given = [build.Fill(build.Shape(y), convert_to_tensor(1, y.dtype)) if g is None and y.dtype.is_complex else g
                 for y, g in zip(targets, _for_each(targets, output_gradients))]
        xs = [source_of(s) for s in nest.flatten(sources)]
        graph = graph_of([*targets, *xs])
        with graph.as_default() if not graph.executing_eagerly else contextlib.nullcontext():
            with graph.name_scope("gradients"):
                sweep = record.sweep(graph, targets)
                sweep.run(targets, [seed(graph, y, g, i) for i, (y, g) in enumerate(zip(targets, given))])
                found = [sweep.gradient_of(x) if x in record.watched else None for x in xs]
                if zeros:
                    found = [zeros_for(x) if g is None else g for x, g in zip(xs, found)]
        if not self._persistent:
            self._record = None
        return nest.pack_sequence_as(sources, found)

    def _reading(self, method: str) -> "_Record":
        if self._record is None:
            if not self._ever_entered:
                raise StateError(f"{method} was called before the tape recorded: use it after `with tape:`")
            raise StateError("GradientTape.gradient can only be called once on non-persistent tapes.",
                             hint=f"{method} was called on this one before: use tf.GradientTape(persistent=True)")
        if self._recording and not self._persistent:
            self._stop()
        return self._record

    def jacobian(self, target: Any, sources: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
                 parallel_iterations: int | None = None, experimental_use_pfor: bool = True) -> Any:
        """d target / d source for each source: target.shape + source.shape, or None if unconnected.

        In graph mode one backward pass is vectorized over the unit directions; eagerly it is
        repeated. parallel_iterations is accepted without effect.
        """
        zeros = unconnected(unconnected_gradients) is UnconnectedGradients.ZERO
        target = convert_to_tensor(target)
        xs = [source_of(s) for s in nest.flatten(sources)]
        self._check_pfor(target, experimental_use_pfor)
        record = self._reading("jacobian")
        rows = record.rows(target, xs, _unit_directions(target))
        found = []
        for x, row in zip(xs, rows):
            if row is None:
                found.append(zeros_for(x) if zeros else None)
                continue
            shape = build.ConcatV2(0, build.Shape(target), _without_first(build.Shape(row)))
            found.append(_known(build.Reshape(row, shape), target.dims, None if row.dims is None else row.dims[1:]))
        if not self._persistent:
            self._record = None
        return nest.pack_sequence_as(sources, found)

    def batch_jacobian(self, target: Any, source: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
                       parallel_iterations: int | None = None, experimental_use_pfor: bool = True) -> Any:
        """Row by row: d target[b] / d source[b], of shape [b] + target.shape[1:] + source.shape[1:].

        target: [b, ...], source: [b, ...]; row b of the target must depend on row b of the source
        alone. Zeros where nothing recorded connects them, whatever unconnected_gradients says, as in
        TF. Raises ArgumentError (ValueError) for a rank below 2 or unequal first dimensions.
        """
        target, source = convert_to_tensor(target), source_of(source)
        for what, dims in (("target", target.dims), ("source", source.dims)):
            if dims is not None and len(dims) < 2:
                raise ArgumentError(f"{what} has shape {show(dims)}, expected rank >= 2")
        if target.dims and source.dims and not compatible(target.dims[:1], source.dims[:1]):
            raise ArgumentError(f"first dimensions differ: target {show(target.dims)} and source {show(source.dims)}")
        unconnected(unconnected_gradients)
        self._check_pfor(target, experimental_use_pfor)
        record = self._reading("batch_jacobian")
        directions = _row_directions(target)
        row = record.rows(target, [source], directions)[0]
        if not self._persistent:
            self._record = None
        shape = build.ConcatV2(0, build.Shape(target), _without_first(build.Shape(source)))
        if row is None:
            return build.Fill(shape, convert_to_tensor(0, target.dtype))
        moved = build.Transpose(row, build.ConcatV2(0, [1, 0], build.Range(2, build.Rank(row), 1)))
        return _known(build.Reshape(moved, shape), target.dims, source.dims[1:] if source.dims else None)

    def _check_pfor(self, target: Tensor, use_pfor: bool) -> None:
        if not use_pfor and target.graph.executing_eagerly and not self._persistent:
            raise StateError("GradientTape must be created with persistent=True to compute the jacobian with eager "
                             "execution enabled and with  experimental_use_pfor set to False.",
                             hint="without pfor a Jacobian is one gradient for each element")


@shown_as("AttributeError")
class NotASourceError(KindError, AttributeError):
    """Something that no tape could have recorded is to be differentiated by."""


@shown_as("AttributeError")
class SpentTapeError(StateError, AttributeError):
    """A tape that is not persistent was asked again."""


class _Record:
    """The record of a tape: the operations, the watched tensors, and their variables."""

    def __init__(self) -> None:
        self.operations: dict[Any, None] = {}
        self.watched: set[Tensor] = set()
        self.variables: dict[Tensor, Any] = {}

    def sweep(self, graph: Any, ys: list[Tensor]) -> Sweep:
        """A backward pass over the recorded operations that `ys` depend on; a source ends nothing."""
        return Sweep(graph, ys, counted_back(ys, self.operations), set())

    def rows(self, target: Tensor, xs: list[Tensor], directions: Tensor) -> list[Tensor | None]:
        """The gradient of each x for every direction, stacked on axis 0; None for an unconnected x."""
        graph = get_default_graph() if target.graph.executing_eagerly else target.graph
        if graph.executing_eagerly:
            several = [self._pull(graph, target, xs, direction) for direction in directions]
            return [None if g[0] is None else build.Pack(*g, axis=0) for g in zip(*several)]
        with graph.as_default(), graph.name_scope("jacobian"):
            direction = build.Identity(build.ZerosLike(target), name="direction")
            found = self._pull(graph, target, xs, direction)
            kept = [g for g in found if g is not None]
            size = num_elements(directions.dims[:1]) if directions.dims else None
            stacked = iter(vectorize(kept, {direction: directions},
                                     build.Shape(directions)[0] if size is None else size))
            return [None if g is None else next(stacked) for g in found]

    def _pull(self, graph: Any, target: Tensor, xs: list[Tensor], direction: Tensor) -> list[Tensor | None]:
        sweep = self.sweep(graph, [target])
        sweep.run([target], [direction])
        found = [sweep.gradient_of(x) if x in self.watched else None for x in xs]
        return [None if g is None else dense(g) for g in found]


def source_of(source: Any) -> Tensor:
    """The tensor that a source stands for: a resource variable's handle, else the tensor itself."""
    handle = getattr(source, "handle_tensor", None)
    if handle is None:
        if not isinstance(source, Tensor):
            raise NotASourceError(expected="a tensor or variable to differentiate by", found=repr(source))
        return source
    if handle.dtype.is_ref:
        raise SpentTapeError(f"{source.name!r} is not a resource variable: only resource variables notify a tape",
                             hint="use tf.get_variable(..., use_resource=True), or watch the tensor that was read")
    return handle


def _for_each(targets: list[Tensor], output_gradients: Any) -> list[Any]:
    """The gradient that starts at each target. A list with an entry for each target may hold lists of numbers."""
    if output_gradients is None:
        return [None] * len(targets)
    listed = isinstance(output_gradients, (list, tuple)) and len(output_gradients) == len(targets)
    given = list(output_gradients) if listed else nest.flatten(output_gradients)
    if len(given) != len(targets):
        raise ArgumentError(f"expected one output gradient for each target: {len(targets)} and {len(given)}")
    return given


def _unit_directions(target: Tensor) -> Tensor:
    """[n, *target.shape]: a one at each of the n elements in turn."""
    size: Any = num_elements(target.dims)
    length = [size] if size is not None else build.Pack(build.Size(target), axis=0)
    eye = build.Diag(build.Fill(length, convert_to_tensor(1, target.dtype.base_dtype)))
    return _known(build.Reshape(eye, build.ConcatV2(0, [-1], build.Shape(target))), (size,), target.dims)


def _row_directions(target: Tensor) -> Tensor:
    """[m, b, *row.shape] for rows of m elements: the same one in each row at once."""
    row_dims = None if target.dims is None else target.dims[1:]
    size: Any = num_elements(row_dims)
    row_shape = _without_first(build.Shape(target))
    length = [size] if size is not None else build.Reshape(build.Prod(row_shape, [0]), [1])
    eye = build.Diag(build.Fill(length, convert_to_tensor(1, target.dtype.base_dtype)))
    units = build.Reshape(eye, build.ConcatV2(0, [-1, 1], row_shape))
    rows = build.BroadcastTo(units, build.ConcatV2(0, build.Shape(units)[:1], build.Shape(target)))
    return _known(rows, (size,), target.dims)


def _without_first(sizes: Tensor) -> Tensor:
    """Sizes but for that of axis 0."""
    return build.StridedSlice(sizes, [1], [0], [1], end_mask=1)


def _known(tensor: Tensor, front: Any, back: Any) -> Tensor:
    if front is not None and back is not None:
        tensor.set_shape((*front, *back))
    return tensor
