"""What a script calls the modules and functions of JAX, by what it imports."""
from __future__ import annotations

import functools
import re

from ..core.site import source_lines
from ..debug.analysis.scripts.parsed import Parsed


def spelled(file: str, name: str) -> str:
    """'np.mean' for 'jax.numpy.mean' after `import jax.numpy as np`; jnp where the file does not import it at all."""
    for full, ours in _imported(file):
        if name == full or name.startswith(f"{full}."):
            return ours + name[len(full):]
    has_it = re.search(r"^\s*import jax\b", "".join(source_lines(file)), re.MULTILINE)
    return name if has_it else name.replace("jax.numpy", "jnp")


@functools.lru_cache(16)
def _imported(file: str) -> list[tuple[str, str]]:
    """Full names and the file's own, the innermost module first."""
    return sorted(Parsed.of_file(file).imported().items(), reverse=True)
