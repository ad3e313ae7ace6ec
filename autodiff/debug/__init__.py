"""Looking at gradients: GradientsDebugger for scripts, Debugger for the terminal."""

from .debugger import Debugger
from .gradients_debugger import GradientsDebugger, clear_gradient_debuggers

__all__ = ["Debugger", "GradientsDebugger", "clear_gradient_debuggers"]
