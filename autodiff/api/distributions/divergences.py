"""KL divergences: those of each class, and those that scripts register for a pair of classes."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.errors import ArgumentError, KindError, UnsupportedError
from ...core.graph import get_default_graph
from ...core.op import build
from ..control.dependencies import control_dependencies
from ..debugging import Assert
from ..math.reductions import reduce_any

_DIVERGENCES: dict[tuple[type, type], Callable[..., Any]] = {}


def RegisterKL(dist_cls_a: type, dist_cls_b: type) -> Callable[[Any], Any]:  # noqa: N802
    """Decorator: the function of (a, b, name=None) is the divergence of these two classes, and of classes made of them.

    Raises KindError (TypeError) for what is not callable, ArgumentError (ValueError) for a pair that has one.
    """
    def register(kl_fn: Any) -> Any:
        if not callable(kl_fn):
            raise KindError("kl_fn must be callable", found=repr(kl_fn))
        if (dist_cls_a, dist_cls_b) in _DIVERGENCES:
            raise ArgumentError(f"KL({dist_cls_a.__name__} || {dist_cls_b.__name__}) has already been registered "
                                f"to: {_DIVERGENCES[dist_cls_a, dist_cls_b]}")
        _DIVERGENCES[dist_cls_a, dist_cls_b] = kl_fn
        return kl_fn

    return register


def _registered_kl(kind_a: type, kind_b: type) -> Callable[..., Any] | None:
    """The divergence of the nearest bases of both classes that have one, or None."""
    pairs = [(i + j, i, (a, b)) for i, a in enumerate(kind_a.__mro__) for j, b in enumerate(kind_b.__mro__)]
    for *_, pair in sorted(pairs, key=lambda found: found[:2]):
        if pair in _DIVERGENCES:
            return _DIVERGENCES[pair]
        own = pair[0].__dict__.get("_divergence")
        if own is not None and issubclass(pair[1], pair[0]):
            return lambda a, b, name=None: own(a, b)
    return None


def kl_divergence(distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True,
                  name: str | None = None) -> Any:
    """KL(a || b), in nats. allow_nan_stats: False for a run to fail where it is NaN.

    Raises UnsupportedError for classes with none.
    """
    kinds = type(distribution_a), type(distribution_b)
    function = _registered_kl(*kinds)
    if function is None:
        raise UnsupportedError(f"no KL divergence of {kinds[0].__name__} and {kinds[1].__name__} is known: "
                               "compute it from samples and log_prob, or register one with tf.distributions.RegisterKL")
    with get_default_graph().name_scope("KullbackLeibler"):
        found = function(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return found
        words = f"KL calculation between {kinds[0].__name__} and {kinds[1].__name__} returned NaN values"
        with control_dependencies([Assert(build.LogicalNot(reduce_any(build.IsNan(found))), [words])]):
            return build.Identity(found, name="checked_kl")


def cross_entropy(ref: Any, other: Any, allow_nan_stats: bool = True, name: str | None = None) -> Any:
    """The expected -log_prob under `other` of draws of `ref`, in nats."""
    return ref.entropy() + kl_divergence(ref, other, allow_nan_stats)
