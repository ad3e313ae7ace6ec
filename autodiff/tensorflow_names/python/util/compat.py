"""tensorflow.python.util.compat: texts and bytes, and Python's abstract collections."""
from __future__ import annotations

import collections.abc

collections_abc = collections.abc
