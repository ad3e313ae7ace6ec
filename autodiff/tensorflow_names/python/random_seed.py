"""tensorflow.python.framework.random_seed: the seeds of ops and the one of a graph without any."""
from ...api.random import get_seed, set_random_seed

__all__ = ["DEFAULT_GRAPH_SEED", "get_seed", "set_random_seed"]
DEFAULT_GRAPH_SEED = 87654321
set_seed = set_random_seed
