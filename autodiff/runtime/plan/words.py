"""What NumPy says of arrays that do not fit, in TensorFlow's words, which scripts match."""
from __future__ import annotations

import re

_BROADCAST = re.compile(r"could not be broadcast together with (?:remapped )?shapes \(([\d,]*)\) \(([\d,]*)\)")


def in_tensorflows_words(error: BaseException) -> str:
    """The text of an error that NumPy raised in a kernel; TensorFlow's sentence stands before it where there is one."""
    text = str(error) or type(error).__name__
    found = _BROADCAST.search(text)
    if not found:
        return text
    one, other = (f"[{sizes.rstrip(',')}]" for sizes in found.groups())
    return f"Incompatible shapes: {one} vs. {other}"
