"""Looking at gradients: GradientsDebugger for scripts, Debugger for the terminal."""

from ..api.common.unsupported import refusing
from .debugger import Debugger
from .derivatives.gradients_debugger import GradientsDebugger, clear_gradient_debuggers
from .testing import assert_gradients_close

__all__ = ["Debugger", "GradientsDebugger", "assert_gradients_close", "clear_gradient_debuggers"]


__getattr__ = refusing("tf.debug", __name__)
