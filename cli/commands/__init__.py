"""The commands, one file per family; importing this package declares them all."""

from . import (
           change,
           diagnose,
           gradients,
           layout,
           look,
           motion,
           own,
           page_lookups,
           pictures,
           recordings,
           script,
           sharing,
           stops,
           tools,
           travel,
)

__all__ = ["change", "diagnose", "gradients", "layout", "look", "motion", "own", "page_lookups", "pictures",
           "recordings", "script", "sharing", "stops", "tools", "travel"]
