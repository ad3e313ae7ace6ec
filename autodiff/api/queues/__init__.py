"""tf.queue: queues of elements between threads of one program. Start with queues.py."""
from ..common.unsupported import refusing
from .queues import FIFOQueue, PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue

__all__ = ["FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue"]

__getattr__ = refusing("tf.queue", __name__)
