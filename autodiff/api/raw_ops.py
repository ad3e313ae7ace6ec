"""tf.raw_ops: each op of the table under its own name, called with keywords as TensorFlow's are."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core.op import OPS
from .common.unsupported import refusing

_missing = refusing("tf.raw_ops", __name__)
# What TensorFlow calls a tensor where a kernel says otherwise is taken by place; of attributes these tell types, which
# the inputs have.
_TYPES = frozenset(("T", "Tidx", "Tshape", "Tpaddings", "N", "Tdim", "Tindices", "Index", "use_cudnn_on_gpu"))


@functools.cache
def raw_op(name: str) -> Callable[..., Any]:
    """The function that adds this op. Arguments: its tensors in order or by name, then its attributes."""
    definition = OPS[name]

    def add(*inputs: Any, name: str | None = None, **options: Any) -> Any:
        tensors = [*inputs]
        for parameter in definition.parameters[len(inputs):]:
            if parameter.name in options:
                tensors.append(options.pop(parameter.name))
        known = {**definition.attributes, **dict.fromkeys(definition.required)}
        attributes = {key: options.pop(key) for key in list(options) if key in known}
        rest = [value for key, value in options.items() if key not in _TYPES]
        tensors += rest[:max(len(definition.parameters) - len(tensors), 0)]
        if definition.parameters and definition.parameters[-1].variadic and tensors and \
                isinstance(tensors[-1], (list, tuple)):
            tensors[-1:] = tensors[-1]
        extra = len(tensors) - len(definition.parameters)
        if extra > 0 and not (definition.parameters and definition.parameters[-1].variadic):
            names = [key for key in known if key not in attributes]  # attributes given by place
            attributes.update(zip(names, tensors[-extra:]))
            del tensors[-extra:]
        return definition(*tensors, name=name, **attributes)

    add.__name__ = name
    return add


def __getattr__(name: str) -> Any:
    return raw_op(name) if name in OPS else _missing(name)
