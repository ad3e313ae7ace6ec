"""Types of elements and conversions between them: tf.dtypes."""
from ..core.dtypes import *
from ..core.dtypes import bool_
from .common.unsupported import refusing
from .math import cast, complex, saturate_cast  # noqa: F401

vars()["bool"] = bool_  # tf.dtypes.bool, without hiding Python's from readers of this file
__getattr__ = refusing("tf.dtypes", __name__)
