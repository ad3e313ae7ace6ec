"""An overflow of 16 bits, computed in float32: from the op to blame down to where its numbers go several ways."""
from __future__ import annotations

from ....core.dtypes import float32
from ....core.graph import Operation, Tensor, get_default_graph
from ....core.op import Spec, build
from ....core.traversal import users_of
from ...facts.roles import at_line, place_of
from .in_graph import Edit, Now, is_half

_FAR = 30  # ops further down


def in_float32(op: Operation) -> list[Edit]:
    """The edit for an op of 16 bits; [] for others."""
    if not is_half(op) or len(op.outputs) != 1 or not op.inputs:
        return []
    region, last = {op}, op
    for _ in range(_FAR):
        users = users_of(last)
        if len(users) != 1 or not is_half(users[0]) or len(users[0].outputs) != 1 or users[0].definition.takes_run:
            break
        last = users[0]
        region.add(last)
    after = users_of(last)
    top = after[0] if len(after) == 1 and after[0].type == "Cast" else last

    def made(now: Now) -> Tensor:
        found = _wide(last, region, now)
        return build.Cast(found, dtype=top.outputs[0].dtype.base_dtype) if after else found

    words = f"work in float32, with tf.cast(x, tf.float32) before {op.type}{at_line(place_of(op))} and what follows"
    return [Edit(top, words, made, is_exact=True)]


def _wide(op: Operation, region: set[Operation], now: Now) -> Tensor:
    """The op of what it is given in float32."""
    given = tuple(_wide(t.op, region, now) if t.op in region else _cast(now(t)) for t in op.inputs)
    specs = [Spec(float32, t.dims) for t in op.outputs]
    return get_default_graph().add(op.definition, given, op.attrs, specs, op.name.rpartition("/")[2]).outputs[0]


def _cast(x: Tensor) -> Tensor:
    return build.Cast(x, dtype=float32) if x.dtype.base_dtype.name in ("float16", "bfloat16") else x
