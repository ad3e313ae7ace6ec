"""The names of TensorFlow's own debugger: its sessions and hooks, which scripts keep, and its dump directories.

Under gradbg the prompt is gradbg's: LocalCLIDebugWrapperSession and LocalCLIDebugHook hand everything on.
DumpingDebugWrapperSession and DumpingDebugHook write dumps that TensorFlow's tools and DebugDumpDir read. Start with
wrappers.py.
"""

from . import wrappers
from .dump_dir import DebugDumpDir, DebugTensorDatum, has_inf_or_nan, load_tensor_from_event_file
from .wrappers import *

__all__ = ["DebugDumpDir", "DebugTensorDatum", "has_inf_or_nan", "load_tensor_from_event_file", *wrappers.__all__]
