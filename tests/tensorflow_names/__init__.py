"""`import tensorflow`, answered by the library."""
