"""Branches and loops as Switch, Merge, Enter, NextIteration and Exit: those that are given a variable by reference.

What an iteration or a branch assigns is TensorFlow's variable then; its functions take values alone.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.function_graph import Function
from ...core.graph import Operation, Tensor
from .attributes import plain_node
from .differences import kept_by
from .functions import Growing, Library, Reference, plain_reference, replace_inputs

_ONE_AT_A_TIME = 1  # iterations: or what one reads of a variable may be what the next has assigned


def switched(op: Operation, library: Library, reference: Reference) -> list[Any]:
    """The nodes of an If or While; the last has its name, and gives what it gives."""
    nodes: list[Any] = []
    results = (_add_loop if op.type == "While" else _add_branch)(nodes, op, library, reference)
    types = [t.dtype.base_dtype for t in op.outputs if t in results]
    return [*nodes, plain_node(op.name, "IdentityN", results.values(), T=("list(type)", types))]


def _add_branch(nodes: list[Any], op: Operation, library: Library, reference: Reference) -> dict[Tensor, str]:
    name, (predicate, *captures), functions = op.name, op.inputs, (op.attrs["then_branch"], op.attrs["else_branch"])
    chosen, waits = reference(predicate), [f"^{c.name}" for c in op.control_inputs]
    nodes.append(_node(f"{name}/Switch", "Switch", [chosen, chosen, *waits], predicate))
    sides = []
    for side, function in enumerate(functions):
        slot, pivot, given = ("", ":1")[side == 0], f"{name}/switch_{'tf'[side]}", {}
        nodes.append(_node(pivot, "Identity", [f"{name}/Switch{slot}"], predicate))
        for i, (inner, outer) in enumerate(zip(function.inputs, captures[side * len(functions[0].inputs):])):
            nodes.append(_node(f"{name}/Switch_{side}_{i}", "Switch", [reference(outer), chosen, *waits], outer))
            given[inner] = f"{name}/Switch_{side}_{i}{slot}"
        lists = [(t.dtype, "", t if each is function else None) for each in functions for t in each.kept]
        sides.append(_add_body(nodes, function, given, library, pivot, f"{name}/{side}", lists))
    for i, (t, holds, fails) in enumerate(zip(op.outputs, *sides)):
        nodes.append(_node(f"{name}/Merge_{i}", "Merge", [fails, holds], t, N=("int", 2)))
    return {t: f"{name}/Merge_{i}" for i, t in enumerate(op.outputs)}


def _add_loop(nodes: list[Any], op: Operation, library: Library, reference: Reference) -> dict[Tensor, str]:
    name, cond, body, count = op.name, op.attrs["cond"], op.attrs["body"], len(op.attrs["shapes"])
    kept, waits, begins = kept_by(op), [f"^{c.name}" for c in op.control_inputs], [*map(reference, op.inputs[:count])]
    for i, inner in enumerate(kept.values()):
        more, begin = library.list_of(op.graph, f"{name}/list_{i}", reference, (inner.dtype, "", None))
        nodes += more
        begins.append(begin)

    def enter(place: str, source: str, tensor: Tensor, *, constant: bool) -> Any:
        return _node(f"{name}/{place}", "Enter", [source, *waits], tensor, frame_name=("string", name),
                     is_constant=("bool", constant), parallel_iterations=("int", _ONE_AT_A_TIME))

    given = {}
    for i, (inner, t) in enumerate(zip((*cond.inputs[count:], *body.inputs[count:]), op.inputs[count:])):
        given[inner] = f"{name}/Capture_{i}"
        nodes.append(enter(f"Capture_{i}", reference(t), t, constant=True))
    merges = given | {t: f"{name}/Merge_{i}" for i, t in enumerate(cond.arguments)}
    nodes.append(plain_node(f"{name}/LoopCond", "LoopCond",
                            _add_body(nodes, cond, merges, library, f"{name}/Merge_0", f"{name}/cond")))
    values = given | {t: f"{name}/Identity_{i}" for i, t in enumerate(body.arguments)}
    lists = [(t.dtype, f"{name}/Identity_{count + i}", t) for i, t in enumerate(kept.values())]
    ends = _add_body(nodes, body, values, library, f"{name}/Identity_0", f"{name}/body", lists)
    results = [*op.outputs[:count], *kept]
    for i, (t, begin, end) in enumerate(zip(results, begins, ends)):
        nodes.append(enter(f"Enter_{i}", begin, t, constant=False))
        for place, inputs in (("Merge", [f"Enter_{i}", f"NextIteration_{i}"]), ("Switch", [f"Merge_{i}", "LoopCond"]),
                              ("Identity", [f"Switch_{i}:1"]), ("Exit", [f"Switch_{i}"])):
            attributes = {"N": ("int", 2)} if place == "Merge" else {}
            nodes.append(_node(f"{name}/{place}_{i}", place, [f"{name}/{text}" for text in inputs], t, **attributes))
        nodes.append(_node(f"{name}/NextIteration_{i}", "NextIteration", [end], t))
    return {t: f"{name}/Exit_{i}" for i, t in enumerate(results)}


def _add_body(nodes: list[Any], function: Function, given: dict[Tensor, str], library: Library, pivot: str, scope: str,
              lists: Sequence[Growing] = ()) -> list[str]:
    """Add the nodes of a function; gives how its results are named, then the lists.

    pivot: what a node waits for that nothing else holds inside. scope: of the names of one that is written once more.
    """
    def inside(tensor: Tensor, name: str = "") -> str:
        return given.get(tensor) or plain_reference(tensor, name)

    added, results = library.nodes_in(function, given, inside), [inside(t) for t in function.outputs]
    for i, wanted in enumerate(lists):
        more, found = library.list_of(function.graph, f"{scope}/list_{i}", inside, wanted)
        added += more
        results.append(found)
    own = {node.name for node in added} if function.graph in library.inlined else ()
    library.inlined.add(function.graph)

    def moved(text: str) -> str:
        name = text.removeprefix("^")
        return text.replace(name, f"{scope}/{name}") if name.partition(":")[0] in own else text

    for node in added:
        node.name = moved(node.name)
        replace_inputs(node, [moved(text) for text in node.input] or [f"^{pivot}"])
    nodes += added
    return [moved(text) for text in results]


def _node(name: str, op: str, inputs: list[str], like: Tensor, **attributes: Any) -> Any:
    """A node of the element type of a tensor, and for references if that is one."""
    refers = like.dtype.is_ref and op in ("Switch", "Enter")
    return plain_node(name, f"Ref{op}" if refers else op, inputs, T=("type", like.dtype.base_dtype), **attributes)
