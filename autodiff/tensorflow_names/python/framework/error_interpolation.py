"""tensorflow.python.framework.error_interpolation: errors that say where the operations they name were made."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ....core.graph import Graph, Operation
from ....core.site import PACKAGE, TraceableObject

_BAD_FILE_SUBSTRINGS = [PACKAGE]  # in the names of files whose lines nobody wants to know
_TAG = re.compile(r"{{([A-Za-z0-9_.][\w.\-/]*) ([A-Za-z0-9_.][\w.\-/]*)}}")


def interpolate(error_message: str, graph: Graph) -> str:
    """A message in which `{{node NAME}}` says the line that made it, and `{{colocation_node NAME}}` its placement too.

    What is asked for of an operation's surroundings follows at the end; names that the graph does not have stay.
    """
    sources: list[str] = []
    places: list[str] = []

    def told(tag: re.Match[str]) -> str:
        kind, name = tag.groups()
        op = graph.operations.get(name)
        if op is None or kind not in ("node", "colocation_node"):
            return "" if kind == "function_node" else tag[0]
        if kind == "colocation_node":
            devices = _compute_device_summary_from_list(name, op._device_assignments)
            places.extend((_compute_colocation_summary_from_dict(name, op._colocation_dict), devices))
            return f"node {name}{_defined_at(op)} placed on device {devices} "
        needed = dict.fromkeys(other for other in (*(t.op for t in op.inputs), *op.waits_for) if other.site != op.site)
        if needed:
            lines = [f" {other.name}{_defined_at(other)}" for other in needed]
            sources.append("\n".join((f"\nInput Source operations connected to node {name}:", *lines)))
        return f"node {name}{_defined_at(op)} "

    message = _TAG.sub(told, error_message)
    if sources:
        message += "\n".join(("\n\nErrors may have originated from an input operation.", *sources))
    return message + "\n".join(("\nAdditional information about colocations:", *places)) if places else message


def _defined_at(op: Operation) -> str:
    for place in op.traceback:
        if not any(part in place.file for part in _BAD_FILE_SUBSTRINGS):
            return f" (defined at {place.file}:{place.line})"
    return ""


def _compute_device_summary_from_list(name: str, found: Iterable[TraceableObject], prefix: str = "") -> str:
    return _listed("device assignments", "tf.device", name, [(at.obj, at) for at in found], prefix)


def _compute_colocation_summary_from_dict(name: str, found: Mapping[str, TraceableObject], prefix: str = "") -> str:
    return _listed("node-device colocations", "tf.colocate_with", name, list(found.items()), prefix)


def _listed(what: str, block: str, name: str, found: list[tuple[Any, TraceableObject]], prefix: str) -> str:
    if not found:
        return f"{prefix}No {what} were active during op '{name}' creation."
    lines = [f"{prefix}  with {block}({thing}): <{at.filename}:{at.lineno}>" for thing, at in found]
    return "\n".join((f"{prefix}{what[0].upper()}{what[1:]} active during op '{name}' creation:", *lines))
