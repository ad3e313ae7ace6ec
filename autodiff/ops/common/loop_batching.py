"""The last resort of batching rules: an op's kernel for one slice after another."""

import numpy as np

from ...core.declare import op
from ...core.dimensions import merge_sizes
from ...core.graph import Operation, Tensor
from ...core.op import OPS, Own, Spec, build


def _stacked(*inputs, kind, attrs, batched, specs):
    size = None
    for tensor, varies in zip(inputs, batched):
        if varies and tensor.dims is not None:
            size = merge_sizes(size, tensor.dims[0])
    made = tuple(Spec(dtype, None if dims is None else (size, *dims)) for dtype, dims in specs)
    return made if len(made) > 1 else made[0]


@op("EachSlice", infer=_stacked, no_rule="it is made by vectorizing, after differentiation")
def each_slice(*inputs: Own, kind, attrs, batched, specs):
    """The op `kind` for each slice of its batched inputs, results stacked. inputs: any[...]... -> any[slices, ...]."""
    kernel = OPS[kind].kernel
    count = next(len(x) for x, varies in zip(inputs, batched) if varies)
    results = [kernel(*(x[i] if varies else x for x, varies in zip(inputs, batched)), **attrs) for i in range(count)]
    return np.stack(results) if len(specs) == 1 else tuple(np.stack(parts) for parts in zip(*results))


each_slice.batched(lambda node, args, batched: slice_by_slice(node, args, batched))


def slice_by_slice(node: Operation, args: list[Tensor], batched: list[bool]) -> Tensor | list[Tensor]:
    """A batching rule that loops when it is run: for what no single call can do."""
    return build.EachSlice(*args, kind=node.type, attrs=node.attrs, batched=tuple(batched),
                           specs=tuple(Spec(t.dtype, t.dims) for t in node.outputs))
