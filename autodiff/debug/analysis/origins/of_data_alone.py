"""A loss that nothing of the model reaches: what makes it nan is the data's, but that is not what is wrong first."""
from __future__ import annotations

from dataclasses import replace

from ....core.graph import Graph, Tensor
from ....core.traversal import ancestors
from ...facts.graph_lists import trainable_tensors
from ...facts.roles import at_line, place_of
from ..advice import advice_of
from ..findings import WhyNonfinite


def is_of_data_alone(loss: Tensor | None, graph: Graph) -> bool:
    """Whether there are trainable variables, and the loss is computed without any of them."""
    trained = [variable.op for variable in trainable_tensors(graph)]
    return loss is not None and bool(trained) and ancestors([loss]).isdisjoint(trained)


def told_first(found: WhyNonfinite, loss: Tensor | None, graph: Graph) -> WhyNonfinite:
    """The finding, below what is wrong with such a loss; as it is for any other one."""
    if loss is None or not found.origins or not is_of_data_alone(loss, graph):
        return found
    said = f"the loss is computed of data alone: no trainable variable reaches it{at_line(place_of(loss.op))}"
    remarks = advice_of(graph).remarks
    ends = next((f"; {remark.text}{at_line(remark.place)}" for v in trainable_tensors(graph)
                 if (remark := remarks.get(v.op.name)) is not None), "")
    first = replace(found.origins[0], remedy="compute the loss of what the model gives, in place of one of the labels")
    return replace(found, origins=(first, *found.origins[1:]), text=f"{said}{ends}\n{found.text}")
