"""What a name stands for, in a few words: the note beside a completion."""
from __future__ import annotations

from typing import Any

from autodiff.core.errors import AutodiffError
from autodiff.debug.facts.roles import place_of
from autodiff.debug.language.handle_paths import offers

from ..model.shell import OPTIONS, Shell
from .debugger_rows import place, shape


def described(name: str, shell: Shell) -> str:
    """`float32[64,32]  digits.py:26  MatMul` for a tensor or a handle of one; what a setting means; else empty."""
    tensor = _tensor(name, shell)
    if tensor is None:
        return OPTIONS.get(name, "")
    try:
        return "  ".join(filter(None, (f"{tensor.dtype.base_dtype.name}{shape(tensor.dims)}",
                                       place(place_of(tensor.op)), tensor.op.type)))
    except (AttributeError, AutodiffError):
        return ""


def _tensor(name: str, shell: Shell) -> Any:
    """The tensor of a name, or None; nothing is looked for that takes long."""
    found = shell.dbg.handles.get(name)
    if found is None:
        op, _, index = name.partition(":")
        found = getattr(shell.dbg.graph, "operations", {}).get(op)
        outputs = getattr(found, "outputs", ())
        return outputs[int(index or 0)] if (index or "0").isdigit() and int(index or 0) < len(outputs) else None
    if offers(found, "_as_graph_element"):
        found = found._as_graph_element()
    return found.outputs[0] if getattr(found, "outputs", ()) else found
