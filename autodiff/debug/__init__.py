"""Looking at gradients: GradientsDebugger for scripts, Debugger for the terminal.

A graph and records come in; the terminal is not known here. Start with debugger.py.
"""

from ..api.common.unsupported import refusing
from .debugger import Debugger
from .derivatives.gradients_debugger import GradientsDebugger, clear_gradient_debuggers
from .testing import assert_gradients_close
from .tfdbg import (
    DebugDumpDir,
    DebugTensorDatum,
    DumpingDebugHook,
    DumpingDebugWrapperSession,
    GrpcDebugHook,
    LocalCLIDebugHook,
    LocalCLIDebugWrapperSession,
    TensorBoardDebugHook,
    TensorBoardDebugWrapperSession,
    WatchOptions,
    has_inf_or_nan,
    load_tensor_from_event_file,
)

__all__ = ["DebugDumpDir", "DebugTensorDatum", "Debugger", "DumpingDebugHook", "DumpingDebugWrapperSession",
           "GradientsDebugger", "GrpcDebugHook", "LocalCLIDebugHook", "LocalCLIDebugWrapperSession",
           "TensorBoardDebugHook", "TensorBoardDebugWrapperSession", "WatchOptions", "assert_gradients_close",
           "clear_gradient_debuggers", "has_inf_or_nan", "load_tensor_from_event_file"]


__getattr__ = refusing("tf.debug", __name__)
