"""tensorflow.python.framework.versions: of the TensorFlow and the graphs whose names and semantics these are."""
from ...api.test.assertions import DEFAULT_CONSUMER, DEFAULT_PRODUCER
from ..alias import VERSION

__all__ = ["VERSION"]
__version__ = VERSION
GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER = DEFAULT_PRODUCER, DEFAULT_CONSUMER
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
GIT_VERSION = COMPILER_VERSION = "unknown"
