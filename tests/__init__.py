"""The tests, a folder for each room; `stories` are whole sessions. Begin at tests/ops/case.py and tests/ops/test_ops.py."""
