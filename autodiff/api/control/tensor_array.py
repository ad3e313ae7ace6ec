"""TensorArray: a list of tensors written and read by index, inside of loops as well."""
from __future__ import annotations

from typing import Any

from ...core.constant_value import static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype
from ...core.errors import ArgumentError, UnsupportedError
from ...core.graph import Tensor, get_default_graph
from ...core.op import build
from ...core.shapes import Dims, TensorShape, as_dims, compatible, is_known, merge, show
from ...ops.common.op_counts import count_more, counted_as


class TensorArray:
    """`size` tensors of one dtype. Each write gives a new TensorArray; `flow` is the list it stands for.

    dynamic_size: writing past the end makes it longer. element_shape: what every element's shape must
    be; with infer_shape the first write sets it. Elements that are not written are then zeros.
    An element is written once, and in a run read once if clear_after_read. colocate_with_first_write_call and
    tensor_array_name are accepted without effect.
    """

    def __init__(self, dtype: Any, size: Any = None, dynamic_size: bool | None = None, clear_after_read: bool = True,
                 tensor_array_name: str | None = None, handle: Any = None, flow: Tensor | None = None,
                 infer_shape: bool = True, element_shape: Any = None, colocate_with_first_write_call: bool = True,
                 name: str | None = None) -> None:
        if flow is None and size is None:
            raise ArgumentError("a TensorArray needs a size")
        self.dtype = as_dtype(dtype).base_dtype
        self.dynamic_size, self.infer_shape, self._once = bool(dynamic_size), infer_shape, bool(clear_after_read)
        self._dims: Dims | None = as_dims(element_shape)
        self._may_lack = infer_shape or is_known(self._dims)
        self.flow: Tensor = flow if flow is not None else build.ListReserve(
            size, dtype=self.dtype, name=name or "TensorArray")
        self._known_in: set[Any] = {get_default_graph()}

    @property
    def handle(self) -> Tensor:
        return self.flow

    @property
    def graph(self) -> Any:
        return self.flow.graph

    @property
    def element_shape(self) -> TensorShape:
        return TensorShape(self._dims)

    def with_flow(self, flow: Tensor, dims: Dims | None = None) -> "TensorArray":
        """The same array with another list."""
        array = TensorArray.__new__(TensorArray)
        array.dtype, array.dynamic_size, array.infer_shape = self.dtype, self.dynamic_size, self.infer_shape
        array._may_lack, array._once = self._may_lack, self._once
        array._dims = self._dims if dims is None else dims
        array.flow, array._known_in = flow, self._known_in
        return array

    def _used(self) -> None:
        """Count what TensorFlow makes of the array itself, which goes beside the list, in the body of a loop."""
        graph = get_default_graph()
        while graph not in self._known_in:
            self._known_in.add(graph)
            count_more(1)
            graph = getattr(graph, "outer", graph)

    def identity(self) -> "TensorArray":
        return self.with_flow(build.Identity(self.flow))

    def size(self, name: str | None = None) -> Tensor:
        """How many elements. -> int32[]."""
        return build.ListLength(self.flow, name=name or "TensorArraySizeV3")

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The element at `index`."""
        self._used()
        return build.ListItem(self.flow, index, dtype=self.dtype, shape=self._dims, written=not self._may_lack,
                              once=self._once, name=name or "TensorArrayReadV3")

    def write(self, index: Any, value: Any, name: str | None = None) -> "TensorArray":
        """The array with `value` at `index`. Raises ArgumentError (ValueError) for another static shape."""
        value = convert_to_tensor(value, self.dtype if not hasattr(value, "dtype") else None)
        if value.dtype.base_dtype is not self.dtype:
            raise ArgumentError(f"TensorArray of {self.dtype.name} cannot hold {value.describe()}")
        self._used()
        return self.with_flow(build.ListSet(self.flow, index, value, grow=self.dynamic_size,
                                            name=name or "TensorArrayWriteV3"),
                              self._element_dims(value.dims))

    def _element_dims(self, dims: Dims | None) -> Dims | None:
        if not compatible(self._dims, dims):
            raise ArgumentError(f"inconsistent shapes: the array holds {show(self._dims)}, found {show(dims)}")
        return merge(self._dims, dims) if self.infer_shape else self._dims

    def stack(self, name: str | None = None) -> Tensor:
        """All elements on a new axis 0."""
        with counted_as(5):  # of as many indices as there are elements
            return build.ListStack(self.flow, self.flow, dtype=self.dtype, shape=self._dims,
                                   written=not self._may_lack, once=self._once, name=name or "TensorArrayStack")

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """Some elements on a new axis 0."""
        return build.ListGather(self.flow, indices, dtype=self.dtype, shape=self._dims, name=name)

    def unstack(self, value: Any, name: str | None = None) -> "TensorArray":
        """The array with the slices of `value` along axis 0 as its elements."""
        value = convert_to_tensor(value, self.dtype if not hasattr(value, "dtype") else None)
        dims = None if value.dims is None else self._element_dims(value.dims[1:])
        made, rows = self.flow.op, None if value.dims is None else value.dims[0]
        if made is not None and made.type == "ListReserve" and not self.dynamic_size:
            size = static_value(made.inputs[0])
            if size is None or rows is None or size == rows:
                with counted_as(9):
                    return self.with_flow(build.ListUnstack(value, name=name), dims)
        numbers = build.Range(0, build.Shape(value)[0], 1)
        return self.with_flow(self._put(numbers, value, name), dims)

    def _put(self, indices: Any, value: Tensor, name: str | None) -> Tensor:
        return build.ListScatter(self.flow, indices, value, add=False, grow=self.dynamic_size, name=name)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> "TensorArray":
        """The array with the slices of `value` at `indices`."""
        value = convert_to_tensor(value, self.dtype if not hasattr(value, "dtype") else None)
        dims = None if value.dims is None else self._element_dims(value.dims[1:])
        return self.with_flow(self._put(indices, value, name), dims)

    def concat(self, name: str | None = None) -> Tensor:
        """The elements joined along their axis 0."""
        dims = None if self._dims is None else (None, *self._dims[1:])
        return build.ListConcat(self.flow, self.flow, dtype=self.dtype, shape=dims, once=self._once,
                                element=self._dims if self._may_lack else None, name=name or "TensorArrayConcatV3")

    def split(self, value: Any, lengths: Any, name: str | None = None) -> "TensorArray":
        """The array with consecutive pieces of `value` as its elements. lengths: int[n], of the pieces along axis 0."""
        value = convert_to_tensor(value, self.dtype if not hasattr(value, "dtype") else None)
        dims = None if value.dims is None else self._element_dims((None, *value.dims[1:]))
        return self.with_flow(build.ListSplit(value, lengths, name=name or "TensorArraySplitV3"), dims)

    def close(self, name: str | None = None) -> Any:
        return build.NoOp(name=name)

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> "TensorArray":
        raise UnsupportedError("TensorArray.grad is not supported: differentiate what was read with tf.gradients")
