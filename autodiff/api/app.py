"""tf.app: running a script's main function."""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from . import flags
from .common.unsupported import refusing

__all__ = ["flags", "run"]


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> NoReturn:
    """Read the flags, call main(the rest of argv), and exit with its result.

    main: by default the `main` of the script. argv: sys.argv by default. Unknown flags are left alone.
    """
    left = flags.FLAGS(sys.argv if argv is None else list(argv), known_only=True)
    sys.exit((main or vars(sys.modules["__main__"])["main"])(left))


__getattr__ = refusing("tf.app", __name__)
