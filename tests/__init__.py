"""The tests, a folder for each room; `stories` are whole sessions. Begin at ops/case.py and ops/test_ops.py."""
