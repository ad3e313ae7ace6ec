"""Looking at gradients: GradientsDebugger for scripts, Debugger for the terminal.

A graph and records come in; the terminal is not known here. Start with debugger.py.
"""

from ..api.common.unsupported import refusing
from . import tfdbg
from .debugger import Debugger
from .derivatives.gradients_debugger import GradientsDebugger, clear_gradient_debuggers
from .testing import assert_gradients_close
from .tfdbg import *

__all__ = ["Debugger", "GradientsDebugger", "assert_gradients_close", "clear_gradient_debuggers", *tfdbg.__all__]


__getattr__ = refusing("tf.debug", __name__)
