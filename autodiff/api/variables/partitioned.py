"""Partitioned variables: one value in several variables, cut along an axis."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import DType
from ...core.errors import ArgumentError, KindError
from ...core.graph import Graph, Tensor, get_default_graph
from ...core.op import build
from ...core.shapes import TensorShape
from .saved_parts import SaveSliceInfo
from .tensor_operators import TensorOperators
from .variable import Variable


class PartitionedVariable(TensorOperators):
    """Variables that together are one. In an expression it is their values, joined along the axis of the cut."""

    def __init__(self, name: str, shape: Any, dtype: DType, variable_list: Sequence[Variable],
                 partitions: Sequence[int]) -> None:
        if not isinstance(variable_list, (list, tuple)):
            raise KindError(f"variable_list is not a list or tuple: {variable_list}")
        if not isinstance(partitions, (list, tuple)):
            raise KindError(f"partitions is not a list or tuple: {partitions}")
        if not all(p >= 1 for p in partitions):
            raise ArgumentError(f"partition values must be positive: {partitions}")
        if not variable_list:
            raise ArgumentError("variable_list may not be empty")
        infos = [variable._save_slice_info for variable in variable_list]
        if None in infos:
            raise ArgumentError("All variables must have a save_slice_info available", found=variable_list)
        if any(list(info.full_shape) != TensorShape(shape).as_list() for info in infos):
            raise ArgumentError("All variables' full shapes must match shape", expected=shape,
                                found=[info.full_shape for info in infos])
        self.name, self.shape, self.dtype = name, TensorShape(shape), dtype
        self._variables = sorted(variable_list, key=lambda v: v._save_slice_info.var_offset)
        self._partitions, self._joined = list(partitions), {}  # type: ignore[var-annotated]

    def get_shape(self) -> TensorShape:
        return self.shape

    @property
    def graph(self) -> Graph:
        return self._variables[0].graph

    def __len__(self) -> int:
        return len(self._variables)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._variables)

    def _get_variable_list(self) -> list[Variable]:
        return self._variables

    def _get_partitions(self) -> list[int]:
        return self._partitions

    def _partition_axes(self) -> list[int]:
        return [i for i, parts in enumerate(self._partitions) if parts > 1] or [0]

    def as_tensor(self) -> Tensor:
        """The whole value; of a graph, made once."""
        graph = get_default_graph()
        if graph not in self._joined:
            with graph.control_dependencies(None):
                self._joined[graph] = self._concat()
        return self._joined[graph]

    def _concat(self) -> Tensor:
        parts = [variable.as_tensor() for variable in self._variables]
        with get_default_graph().name_scope(f"{self.name}/ConcatPartitions/"):
            whole = build.ConcatV2(self._partition_axes()[0], *parts) if len(parts) > 1 else parts[0]
        with get_default_graph().name_scope(None):
            return build.Identity(whole, name=self.name)

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> list:
        """Give each part its part of a value; gives what the parts' own assign does."""
        return self._each("assign", value, name, read_value)

    def assign_add(self, value: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> list:
        """Add to each part its part of a value."""
        return self._each("assign_add", value, name, read_value)

    def assign_sub(self, value: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> list:
        """Subtract from each part its part of a value."""
        return self._each("assign_sub", value, name, read_value)

    def _each(self, change: str, value: Any, name: str | None, read_value: bool) -> list:
        if isinstance(value, (list, PartitionedVariable)) and len(list(value)) == len(self._variables):
            values = list(value)  # one for each part
        else:
            value, infos = convert_to_tensor(value, self.dtype), [v._save_slice_info for v in self._variables]
            values = [_cut(value, info.var_offset, info.var_shape) for info in infos]
        return [getattr(v, change)(part, name=name, read_value=read_value) for v, part in zip(self._variables, values)]


class PartitionInfo:
    """What an initializer is told of a part: the sizes of the whole, and where the part begins.

    Raises KindError (TypeError) for what are no lists of numbers, ArgumentError (ValueError) for others than offsets.
    """

    def __init__(self, full_shape: Any, var_offset: Any) -> None:
        for name, value in ("full_shape", full_shape), ("var_offset", var_offset):
            if not isinstance(value, Sequence) or isinstance(value, str):
                raise KindError(f"`{name}` must be a sequence (like tuple or list) instead of {type(value).__name__}")
        if len(var_offset) != len(full_shape):
            raise ArgumentError(f"Expected equal length, but `var_offset` is of length {len(var_offset)} while "
                                f"full_shape is of length {len(full_shape)}.")
        if any(offset < 0 or offset >= size for offset, size in zip(var_offset, full_shape)):
            raise ArgumentError(f"Expected 0 <= offset < size, but found offset={var_offset}, size={full_shape}")
        self.full_shape, self.var_offset = list(full_shape), list(var_offset)

    def single_offset(self, shape: Any) -> int:
        """Where a part of this shape begins along the axis of the cut. Raises ArgumentError for cuts along several."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]

    def single_slice_dim(self, shape: Any) -> int | None:
        """The axis of the cut; None for a whole."""
        if not isinstance(shape, Sequence) or isinstance(shape, str):
            raise KindError(f"`shape` must be a sequence (like tuple or list) instead of {type(shape).__name__}")
        if any(offset + part > whole for offset, part, whole in zip(self.var_offset, shape, self.full_shape)):
            raise ArgumentError(f"With self.var_offset={self.var_offset}, a partition of shape={shape} would exceed "
                                f"self.full_shape={self.full_shape}.")
        if len(shape) != len(self.full_shape):
            raise ArgumentError(expected=f"{len(self.full_shape)} sizes", found=shape)
        cut = [i for i, (part, whole) in enumerate(zip(shape, self.full_shape)) if part < whole]
        if len(cut) > 1:
            raise ArgumentError(f"Cannot use single_slice_dim() with shape {shape} and full shape {self.full_shape}: "
                                "cut along several axes")
        return cut[0] if cut else None


def _cut(value: Tensor, offset: Sequence[int], sizes: Sequence[int]) -> Tensor:
    return build.Slice(value, list(offset), list(sizes))


def checked_partitions(partitions: Any, sizes: Sequence[int]) -> int:
    """The axis along which a variable of these sizes is cut. Raises ArgumentError (ValueError) for another cut."""
    if not isinstance(partitions, (list, tuple)):
        raise ArgumentError(f"Partitioner must return a sequence, but saw: {partitions}")
    if len(partitions) != len(sizes):
        raise ArgumentError(f"Partitioner returned a partition list that does not match the Variable's rank: "
                            f"{partitions} vs. {list(sizes)}")
    if any(p < 1 for p in partitions) or any(p > size for p, size in zip(partitions, sizes)):
        raise ArgumentError(f"Partitioner returned zero partitions, or more than there are rows: {partitions} for "
                            f"{list(sizes)}")
    cut = [i for i, p in enumerate(partitions) if p > 1]
    if len(cut) > 1:
        raise ArgumentError(f"Can only slice a variable along one dimension: shape: {list(sizes)}, partitioning: "
                            f"{partitions}")
    return cut[0] if cut else 0


def parted(name: str, sizes: Sequence[int], dtype: DType, initializer: Any, partitions: Any,
           make: Callable[..., Variable]) -> PartitionedVariable:
    """The variable of parts `name/part_0`, …, each of which `make(name, shape, initializer)` gives."""
    axis = checked_partitions(partitions, sizes)
    if initializer is not None and not callable(initializer):
        initializer = convert_to_tensor(initializer)
        dtype = initializer.dtype.base_dtype
        if not initializer.shape.is_compatible_with(list(sizes)):
            raise ArgumentError("the initial value is of another shape", expected=list(sizes), found=initializer.shape)
    if inspect.isclass(initializer):
        initializer = initializer()
    rows, more = divmod(sizes[axis], partitions[axis])
    variables, start = [], 0
    for i in range(partitions[axis]):
        count = rows + (i < more)
        offset = [start if at == axis else 0 for at in range(len(sizes))]
        shape = [count if at == axis else size for at, size in enumerate(sizes)]
        own: Any = initializer
        if isinstance(initializer, Tensor):
            with get_default_graph().name_scope(f"{name}/part_{i}/PartitionedInitializer/"):
                own = _cut(initializer, offset, shape)
        elif initializer is not None and "partition_info" in inspect.signature(initializer).parameters:
            own = _told(initializer, PartitionInfo(list(sizes), offset))
        variable = make(f"{name}/part_{i}", None if isinstance(own, Tensor) else shape, own)
        variable._set_save_slice_info(SaveSliceInfo(name, list(sizes), offset, shape))
        variables.append(variable)
        start += count
    return PartitionedVariable(name, list(sizes), dtype, variables, partitions)


def _told(initializer: Any, info: PartitionInfo) -> Any:
    return lambda shape, dtype=None: initializer(shape, dtype=dtype, partition_info=info)
