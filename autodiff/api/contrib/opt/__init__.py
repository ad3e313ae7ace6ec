"""tf.contrib.opt: kinds of Adam, averages that are saved for variables, SciPy's minimizers. Start with kinds.py."""

from ...common.unsupported import refusing
from . import averaging, external, kinds
from .averaging import *
from .external import *
from .kinds import *

__all__ = [*averaging.__all__, *external.__all__, *kinds.__all__]

__getattr__ = refusing("tf.contrib.opt", __name__)
