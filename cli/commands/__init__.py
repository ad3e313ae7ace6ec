"""The commands, one file per family; importing this package declares them all.

A command asks the debugger and returns a Result. Start with gradients.py.
"""

from . import (  # noqa: F401, I001 - in the order in which help lists them
    gradients, script, recordings, motion, stops, values, source, info, info_graph, page_lookups, pictures, frames,
    registered, diagnose, change, tools, python, own, layout, sharing)
