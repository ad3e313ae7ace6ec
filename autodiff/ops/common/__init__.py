"""Tools of several families: the leading axis of batching, sliding windows, correlation, coordinates of entries.

Plain functions on arrays and operations; no op is declared here. Start with batch_axis.py.
"""
