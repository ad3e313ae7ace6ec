"""tensorflow.python.ops.custom_gradient: a module of that name, with the decorator of that name in it."""
from __future__ import annotations

from ...api.control.custom import custom_gradient
from ...api.control.recompute import grad_pass_through, recompute_grad

__all__ = ["custom_gradient", "grad_pass_through", "recompute_grad"]
