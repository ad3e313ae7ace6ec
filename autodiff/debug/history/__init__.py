"""Past steps: kept in a ring, spilled to disk, recorded to a folder, computed again.

Start with ring.py and replay.py.
"""
