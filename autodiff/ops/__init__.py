"""The op table: importing this package declares every op, one file per family, by the kind of what it works on.

An op is one decorated kernel with its shape rule, gradient and batching rule beside it. A rule builds graph out of ops
and never runs it. Start with math/elementwise.py; common/ is what families share.
"""

from ..core.gc_pause import collector_paused, promote_objects

with collector_paused():  # the objects of the table live on: a collection would find nothing
    from . import arrays, control, files, images, linalg, math, networks, random, sparse, state  # noqa: F401

    promote_objects()
