"""The commands, one file per family; importing this package declares them all.

A command asks the debugger and returns a Result. Start with gradients.py.
"""

from . import (
           change,
           diagnose,
           frames,
           gradients,
           info,
           info_graph,
           layout,
           motion,
           own,
           page_lookups,
           pictures,
           python,
           recordings,
           registered,
           script,
           sharing,
           source,
           stops,
           tools,
           values,
)

__all__ = ["change", "diagnose", "frames", "gradients", "info", "info_graph", "layout", "motion", "own",
           "page_lookups", "pictures", "python", "recordings", "registered", "script", "sharing", "source", "stops",
           "tools", "values"]
