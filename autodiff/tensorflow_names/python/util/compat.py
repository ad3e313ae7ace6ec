"""tensorflow.python.util.compat: texts and bytes, and Python's abstract collections."""
import collections.abc

collections_abc = collections.abc
