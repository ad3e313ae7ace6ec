"""Functions of numbers: the namespace tf.math, which this module gathers, and many names at the top of tf.

A module is a subject; each function builds ops of autodiff/ops and computes nothing. Start with elementwise.py.
"""
from ..arrays.gathering import invert_permutation  # tf.math.invert_permutation
from ..arrays.sorting import in_top_k, top_k  # tf.math.top_k
from ..common.unsupported import refusing
from .casts import *
from .elementwise import *
from .histograms import confusion_matrix
from .norms import l2_normalize
from .reductions import *
from .selection import *
from .softmax import log_softmax, softmax, softplus, softsign, zero_fraction
from .special import *

__getattr__ = refusing("tf.math", __name__)
