"""Enter, Exit, NextIteration, LoopCond and Merge by hand: each hands a value on; a whole loop becomes a While."""

import functools

import numpy as np

from ...core.declare import op
from ...core.dtypes import int32
from ...core.errors import InvalidArgumentError
from ...core.infer import same_shape
from ...core.op import Own, Spec, blocked
from ...core.shapes import agreeing


@op("Enter", stateful=True,
    infer=lambda data, *, is_constant=False, **_: Spec(data.dtype.base_dtype, data.dims if is_constant else None))
def enter(data: Own, *, frame_name="", is_constant=False, parallel_iterations=10, run):
    """The same value, inside of a frame. data: any[...] -> any[...]. Source: TensorFlow 1.15."""
    for reader in run.op.outputs[0].consumers():
        others = [t.op for t in reader.inputs if t.op.type == "Enter" and t.op.attrs["frame_name"] != frame_name]
        if others:
            raise InvalidArgumentError(
                None, reader, f"The node {reader.name!r} has inputs from different frames. The input {run.op.name!r} "
                f"is in frame {frame_name!r}. The input {others[0].name!r} is in frame "
                f"{others[0].attrs['frame_name']!r}.")
    return data


@op("Exit", infer=same_shape)
def exit_(data: Own):
    """The same value, outside of its frame. data: any[...] -> any[...]."""
    return data


@op("NextIteration", infer=same_shape)
def next_iteration(data: Own):
    """The same value, for the next iteration. data: any[...] -> any[...]."""
    return data


@op("LoopCond", infer=same_shape, no_grad="a condition is boolean")
def loop_cond(input: Own):
    """Whether a loop goes on. input: bool[] -> bool[]."""
    return input


def _merged(*inputs, closed=""):
    dims = functools.reduce(agreeing, [t.dims for t in inputs])
    return Spec(inputs[0].dtype.base_dtype, dims), Spec(int32, ())


@op("Merge", infer=_merged, stateful=True)
def merge(*inputs: Own, closed="", run):
    """The first of several values, all of which are there, and its number. inputs: any[...]... -> any[...], int32[].

    closed: the frame of a loop that a While takes the place of; its variables can be had at its Exits only.
    """
    if closed:
        raise InvalidArgumentError(None, run.op, f"Retval[0] does not have value: {run.op.name!r} is inside of the "
                                   f"loop {closed!r}", hint="fetch what leaves it by an Exit")
    return inputs[0], np.int32(0)


for each in (enter, exit_, next_iteration):
    each.gradient(lambda node, dy: (dy,))


@merge.gradient
def _merge_gradient(node, dy, _):
    return dy, *[blocked("the first of the inputs of a merge is there")] * (len(node.inputs) - 1)


for each in (enter, exit_, next_iteration, loop_cond):
    each.batched(lambda node, args, batched: args[0])
