"""The op table: every op that there is, one file per family, by the kind of what it works on.

An op is one decorated kernel with its shape rule, gradient and batching rule beside it. A rule builds graph out of ops
and never runs it. Start with math/elementwise.py; common/ is what families share. A file is loaded when the first of
its ops is asked for; places.py says which file that is.
"""

import pkgutil
from importlib import import_module

from ..core.graph_parts import promote_objects
from ..core.op import OPS
from .common.gc_pause import collector_paused
from .places import PLACES


def load_all() -> None:
    """Load every file of ops."""
    OPS.load_all = lambda: None
    with collector_paused():  # the objects of the table live on: a collection would find nothing
        for module in pkgutil.walk_packages(__path__, f"{__name__}."):
            import_module(module.name)
        promote_objects()


OPS.places = {op: f"{__name__}.{place}" for place, ops in PLACES.items() for op in ops.split()}
OPS.load_all = load_all
