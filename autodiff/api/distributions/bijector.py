"""Bijector: an invertible function, and by how much it changes volumes."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ...core.constant_value import static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, int32
from ...core.errors import ArgumentError, DTypeError, KindError
from ...core.graph import Tensor, get_default_graph
from ...core.op import build
from ...core.shapes import TensorShape
from ...runtime.eager import executing_eagerly
from ..arrays.creation import ones
from ..control.dependencies import control_dependencies
from ..debugging import assert_greater_equal, assert_rank
from ..math.reductions import reduce_sum
from ..variables.layer_base import snake_case


def _missing(what: str) -> Callable[..., Any]:
    def refuse(self: "Bijector", value: Any) -> Any:
        raise NotImplementedError(f"{what} not implemented. {type(self).__name__} has no _{what}")
    return refuse


@dataclass
class _Pair:
    """x, the y that belongs to it, and log |dx/dy| by the rank of an event, as far as they are built."""

    x: Any = None
    y: Any = None
    log_det: dict[Any, Tensor] = field(default_factory=dict)


class Bijector:
    """y = g(x) and back. A subclass writes `_forward`, `_inverse` and one of the two `_..._log_det_jacobian`.

    What was built for a tensor of the graph is taken again: `inverse(forward(x))` is x.
    forward_min_event_ndims, inverse_min_event_ndims: the last axes of x and y that g needs as one.
    """

    _forward, _inverse = _missing("forward"), _missing("inverse")
    _forward_log_det_jacobian = _missing("forward_log_det_jacobian")
    _inverse_log_det_jacobian = _missing("inverse_log_det_jacobian")

    def __init__(self, graph_parents: Any = None, is_constant_jacobian: bool = False, validate_args: bool = False,
                 dtype: Any = None, forward_min_event_ndims: int | None = None,
                 inverse_min_event_ndims: int | None = None, name: str | None = None) -> None:
        if type(self) is Bijector:
            raise KindError("Can't instantiate abstract class Bijector with abstract methods __init__")
        given = [n for n in (forward_min_event_ndims, inverse_min_event_ndims) if n is not None]
        if not given:
            raise ArgumentError("Must specify at least one of `forward_min_event_ndims` and `inverse_min_event_ndims`.")
        if min(given) < 0:
            raise ArgumentError("forward_min_event_ndims must be a non-negative integer.", found=str(given))
        self.forward_min_event_ndims, self.inverse_min_event_ndims = given[0], given[-1]
        self.graph_parents, self.is_constant_jacobian = list(graph_parents or ()), is_constant_jacobian
        self.validate_args, self.dtype = validate_args, None if dtype is None else as_dtype(dtype)
        self.name = name or snake_case(type(self).__name__.lstrip("_"))
        self._pairs: dict[tuple[str, Tensor], _Pair] = {}

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        """The shape of one event of y, from that of x; inverse_event_shape: the other way."""
        return TensorShape(input_shape)

    def forward_event_shape_tensor(self, input_shape: Any, name: str = "forward_event_shape_tensor") -> Tensor:
        """forward_event_shape as a tensor. -> int32[rank]."""
        return convert_to_tensor(input_shape, int32)

    inverse_event_shape, inverse_event_shape_tensor = forward_event_shape, forward_event_shape_tensor

    def forward(self, x: Any, name: str = "forward") -> Tensor:
        """y = g(x). Raises NotImplementedError where the class has no `_forward`."""
        with self._known("x", x, name) as pair:
            if pair.y is None:
                pair.y = self._forward(pair.x)
            return pair.y

    def inverse(self, y: Any, name: str = "inverse") -> Tensor:
        """The x of which y is g(x). Raises NotImplementedError where the class has no `_inverse`."""
        with self._known("y", y, name) as pair:
            if pair.x is None:
                pair.x = self._inverse(pair.y)
            return pair.x

    def forward_log_det_jacobian(self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian") -> Tensor:
        """log |det dy/dx| of each event of x, the last `event_ndims` axes. Raises ValueError where g needs more."""
        with self._known("x", x, name) as pair:
            return -self._log_det(pair, event_ndims, self.forward_min_event_ndims, "xy")

    def inverse_log_det_jacobian(self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian") -> Tensor:
        """log |det dx/dy| of each event of y, the last `event_ndims` axes. Raises ValueError where g needs more."""
        with self._known("y", y, name) as pair:
            return self._log_det(pair, event_ndims, self.inverse_min_event_ndims, "yx")

    @contextmanager
    def _known(self, side: str, value: Any, name: str) -> Iterator[_Pair]:
        """The pair of which `value` is the x or the y; what is built meanwhile becomes part of it."""
        with get_default_graph().name_scope(f"{self.name}/{name}"):
            tensor = convert_to_tensor(value, name=side)
            if self.dtype is not None and tensor.dtype.base_dtype != self.dtype:
                raise DTypeError(f"Input had dtype {self.dtype} but expected {tensor.dtype}.")
            pair = self._pairs.get((side, tensor)) or _Pair()
            setattr(pair, side, tensor)
            yield pair
            if not executing_eagerly():  # where values stay for as long as something knows them
                self._pairs.update({(s, getattr(pair, s)): pair for s in "xy" if getattr(pair, s) is not None})

    def _log_det(self, pair: _Pair, event_ndims: Any, least: int, sides: str) -> Tensor:
        """log |dx/dy| by the formula at the first side, or at the second where the class has not the first."""
        known = _checked(event_ndims, least, self.validate_args)
        if known not in pair.log_det:
            try:
                pair.log_det[known] = self._by(sides[0], pair, known)
            except NotImplementedError as reason:
                try:
                    pair.log_det[known] = self._by(sides[1], pair, known)
                except NotImplementedError:
                    raise reason from None
        return pair.log_det[known]

    def _by(self, side: str, pair: _Pair, event_ndims: Any) -> Tensor:
        if side == "x":
            pair.x = self._inverse(pair.y) if pair.x is None else pair.x
            return _summed(pair.x, -self._forward_log_det_jacobian(pair.x), self.forward_min_event_ndims, event_ndims)
        pair.y = self._forward(pair.x) if pair.y is None else pair.y
        return _summed(pair.y, self._inverse_log_det_jacobian(pair.y), self.inverse_min_event_ndims, event_ndims)


def _checked(event_ndims: Any, least: int, validated: bool) -> Any:
    """The rank of an event, as an int where it is known while the graph is built."""
    rank = convert_to_tensor(event_ndims, name="event_ndims")
    known = static_value(rank)
    if not rank.dtype.is_integer:
        raise ArgumentError(f"Expected integer dtype, got dtype {rank.dtype!r}")
    if rank.shape.ndims:
        raise ArgumentError(f"Expected scalar event_ndims, got shape {rank.shape}")
    if known is None:
        checks = assert_rank(rank, 0, message="Expected scalar."), assert_greater_equal(rank, least)
        with control_dependencies(checks if validated else ()):
            return build.Identity(rank)
    if known < least:
        raise ArgumentError(f"event_ndims ({known}) must be larger than min_event_ndims ({least})")
    return int(known)


def _summed(value: Tensor, log_det: Tensor, least: int, event_ndims: Any) -> Tensor:
    """log_det of each event of `event_ndims` axes, from that of each of `least` axes."""
    sizes = build.Shape(value)[build.Rank(value) - event_ndims:build.Rank(value) - least]
    return reduce_sum(log_det * ones(sizes, log_det.dtype), build.Range(least - event_ndims, 0, 1))
