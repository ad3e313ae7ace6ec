"""Where things come from: the script's line of an operation, what role an operation plays."""
from __future__ import annotations

import functools
import re

from ...core.graph import Operation, Tensor
from ...core.site import Site
from ...core.traversal import ancestors, reached
from .records import Place

ASSIGNS = ("Assign", "AssignVariableOp")
ADDS = ("AssignAdd", "AssignAddVariableOp")
STORES = (*ASSIGNS, *ADDS, "AssignSub", "AssignSubVariableOp")
_TRAINING = (*STORES, "ScatterAdd", "ScatterSub", "ScatterUpdate")
_OPERATORS = ("truediv", "floordiv")  # names that operators of Python give, where they are no beginning of the type
VARIABLES = ("VariableV2", "VarHandleOp")
PLACEHOLDERS = ("Placeholder", "PlaceholderWithDefault")
SCALES = ("Mul", "RealDiv")
APPLIES = ("Apply", "SparseApply", "ResourceApply", "ResourceSparseApply")  # what types of training ops begin with
ASKS = ("Shape", "Size", "Rank")
BOUNDS = ("Minimum", "Maximum")
LAYERS = ("MatMul", "BatchMatMulV2", "Einsum", "Conv2D")
READS = ("Identity", "ReadVariableOp", "Captured")
SOFTMAXES = ("Softmax", "LogSoftmax")
_LEAVE_OUT = (*SOFTMAXES, "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
_TO_SOFTMAX = ("Add", "AddV2", "Mul", "Reshape", "Transpose", "Identity", "Cast", "StopGradient", "Select", "SelectV2",
               "BroadcastTo", "ExpandDims", "Squeeze", "StridedSlice", "TensorScatterUpdate", "GatherV2")


def place_of(op: Operation) -> Place | None:
    """The script's line that an operation is there for: a gradient op's is that of its forward op, or the line of the
    script's own gradient function that made it.
    """
    forward = op.forward_op
    site = op.site if forward.override and forward is not op and _is_by_the_script(op) else forward.site
    return None if site is None else as_place(site)


def _is_by_the_script(op: Operation) -> bool:
    """Whether an op of a replaced gradient was made in the script's function, not in the call of `gradients`.

    The gradient that arrives tells, or of what does not take it the one that goes on.
    """
    depth = len(op.traceback)
    for beside in (lambda o: [t.op for t in o.inputs], lambda o: [c for t in o.outputs for c in t._consumers]):
        stack, seen = [op], {op}
        while stack:
            for other in beside(stack.pop()):
                if other.gradient_of is not None and other not in seen:
                    seen.add(other)
                    if not other.forward_op.override:
                        return depth > len(other.traceback)
                    stack.append(other)
    return False


@functools.lru_cache(1 << 14)  # the many operations of one line share its Place
def as_place(site: Site) -> Place:
    """A site with its text, free of the graph."""
    return Place(site.file, site.line, site.function, site.text)


def place_on(file: str, line: int) -> Place:
    """A line of a file, of no function's in particular."""
    return as_place(Site(file, line, ""))


def takes_elements(op: Operation) -> bool:
    """Whether an op takes the elements of a dataset."""
    return getattr(op.attrs.get("function"), "iterator", None) is not None


def of_data(op: Operation) -> Place | None:
    """The line that gave its data to the dataset whose elements an op takes; None if that is not known."""
    begun = getattr(getattr(op.attrs.get("function"), "iterator", None), "begun", None)
    return None if begun is None else as_place(begun)


def at_line(place: Place | None) -> str:
    """` at model.py:12`, to end a sentence with; "" if the place is not known."""
    return "" if place is None else f" at {place.file.rsplit('/', 1)[-1]}:{place.line}"


def traceback_of(op: Operation) -> tuple[Place, ...]:
    """The script's lines that led to an operation (a gradient op: to its forward op), innermost first."""
    return tuple(as_place(site) for site in op.forward_op.traceback)


def role_of(op: Operation) -> str:
    """"gradient", "variable", "constant", "placeholder", "training" (updates of variables) or "forward"."""
    if op.gradient_of is not None:
        return "gradient"
    if op.type in VARIABLES:
        return "variable"
    if op.type == "Const":
        return "constant"
    if op.type in PLACEHOLDERS:
        return "placeholder"
    if op.type in _TRAINING or op.type.startswith(APPLIES):
        return "training"
    return "forward"


def rescaled(gradient: Tensor) -> Tensor:
    """A gradient times a number that no gradient is behind, as of a loss that was scaled; itself without one."""
    return next((op.outputs[0] for op in gradient.consumers() if op.gradient_of is None and op.type in SCALES and any(
        t.dims == () and all(each.gradient_of is None for each in ancestors([t])) for t in op.inputs)), gradient)


def is_named_by_type(op: Operation) -> bool:
    """Whether the last part of an operation's name says only what type it is of, as where the script gave it none."""
    name = re.sub(r"_\d+$", "", op.name.rpartition("/")[2]).lower()
    return name in _OPERATORS or len(name) > 2 and op.type.lower().startswith(name)


def is_handle(tensor: Tensor) -> bool:
    """Whether a tensor stands for a variable that is passed by name; it has no value of its own."""
    return tensor.dtype.is_ref or tensor.dtype.name == "resource"


def is_variable(tensor: Tensor) -> bool:
    """Whether a tensor is a variable's own output, not a value read from it."""
    return tensor.op.type in VARIABLES


def is_mask(op: Operation | None) -> bool:
    """Whether what an op gives goes by sums and choices to a softmax, so that -inf in it leaves elements out."""
    def onward(each: Operation) -> list[Operation]:
        is_through = each is op or each.type in _TO_SOFTMAX
        return [c for t in each.outputs for c in t._consumers if is_through and c.gradient_of is None]
    return any(other.type in _LEAVE_OUT for other in reached([op], onward)) if op is not None else False
