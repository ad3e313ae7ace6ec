"""The commands, one file per family; importing this package declares them all."""

from . import change, diagnose, gradients, look, motion, recordings, script, stops, tools, travel

__all__ = ["change", "diagnose", "gradients", "look", "motion", "recordings", "script", "stops", "tools", "travel"]
