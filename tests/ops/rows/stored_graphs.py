"""Rows of ops that are only in stored graphs; tests/api/test_saved_graphs.py has graphs that TensorFlow stored."""

import numpy as np

from autodiff.core.errors import InvalidArgumentError, UnimplementedError
from autodiff.core.op import build

from ..case import Case, array


def pushed(x):
    return build.StackPushV2(build.StackV2(3), x)


def pushed_and_popped(x):
    stack = build.StackV2(3)
    push = build.StackPushV2(stack, x)
    with push.graph.control_dependencies([push]):
        return build.StackPopV2(stack, elem_type=x.dtype)


def popped(x):
    return build.StackPopV2(build.StackV2(3), elem_type=x.dtype)


ROWS: list[Case] = [
    Case("BroadcastGradientArgs", (np.int32([2, 3]), np.int32([3]))),
    Case("BroadcastGradientArgs", (np.int32([2, 1]), np.int32([1, 3])), id="both"),
    Case("BroadcastGradientArgs", (np.int32([2]), np.int32([3])), fails=InvalidArgumentError, at_run=True, id="sizes"),
    Case("ConcatOffset", (np.int32(1), np.int32([2, 3]), np.int32([2, 4]))),
    Case("StackV2", (array(2),), through=pushed_and_popped, batch=()),
    Case("StackPushV2", (array(2),), through=pushed, batch=()),
    Case("StackPopV2", (array(2),), through=pushed_and_popped, batch=()),
    Case("StackPopV2", (array(2),), through=popped, fails=InvalidArgumentError, at_run=True, id="empty"),
    Case("NotServed", (array(2),), {"type": "DecodeWav", "dtypes": ("float32",), "given": {}}, fails=UnimplementedError,
         at_run=True, id="runs"),
]
