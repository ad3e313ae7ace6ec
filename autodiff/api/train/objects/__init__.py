"""Object-based checkpoints: tf.train.Checkpoint saves what objects hold, by their places in each other.

Start with object_graph.py; ../../variables/trackable.py says what is followed.
"""

from .checkpoint import Checkpoint, CheckpointManager

__all__ = ["Checkpoint", "CheckpointManager"]
