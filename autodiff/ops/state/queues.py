"""The nodes of queues: what they hold waits beside the graph, and the ops that give and take know it."""

from ...core.declare import op
from ...core.dtypes import string
from ...core.errors import InvalidArgumentError
from ...core.infer import fixed


def _named(node):
    """The name of a queue. Raises InvalidArgumentError for one that the queue of its shared name does not fit."""
    problem = node.graph.outermost.extras.get("queue_problems", {}).get(node)
    if problem:
        raise InvalidArgumentError(problem)
    return node.name.encode()


_node = {"infer": fixed(string), "stateful": True, "no_grad": "a queue has no inputs"}


@op("FIFOQueueV2", **_node)
def fifo_queue(*, component_types, shapes=(), capacity=-1, container="", shared_name="", run):
    """A queue: first in, first out. -> its name, string[]."""
    return _named(run.op)


@op("PaddingFIFOQueueV2", **_node)
def padding_fifo_queue(*, component_types, shapes=(), capacity=-1, container="", shared_name="", run):
    """A queue whose elements are filled up to one shape. -> its name, string[]."""
    return _named(run.op)


@op("RandomShuffleQueueV2", **_node)
def random_shuffle_queue(*, component_types, shapes=(), capacity=-1, min_after_dequeue=0, seed=0, seed2=0,
                         container="", shared_name="", run):
    """A queue that gives any of its elements. -> its name, string[]."""
    return _named(run.op)


@op("PriorityQueueV2", **_node)
def priority_queue(*, component_types=(), shapes, capacity=-1, container="", shared_name="", run):
    """A queue that gives the lowest number first. -> its name, string[]."""
    return _named(run.op)
