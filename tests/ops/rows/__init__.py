"""Rows of the op table, a file per family: each op with inputs, and inputs that it must refuse."""
