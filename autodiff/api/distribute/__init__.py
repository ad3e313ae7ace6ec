"""tf.distribute: strategies, for scripts that may run on several devices. Start with strategies.py."""

from ..common.unsupported import refusing
from .strategies import (
    MirroredStrategy,
    OneDeviceStrategy,
    ReduceOp,
    Strategy,
    experimental,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)

__all__ = ["MirroredStrategy", "OneDeviceStrategy", "ReduceOp", "Strategy", "experimental", "get_replica_context",
           "get_strategy", "has_strategy", "in_cross_replica_context"]

__getattr__ = refusing("tf.distribute", __name__)
