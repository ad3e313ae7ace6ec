"""matplotlib's backend for a script where there is no display: figures are drawn, and `plt.show()` says so and goes on.

matplotlib imports this module by the name that MPLBACKEND has; nothing of ours does.
"""
from __future__ import annotations

import sys
from typing import Any

from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureManagerBase as FigureManager
from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas

__all__ = ["FigureCanvas", "FigureManager", "show"]


def show(*_: Any, **__: Any) -> None:
    """Say, once of each figure, that it cannot be seen, and go on."""
    for number, manager in Gcf.figs.items():
        if not hasattr(manager, "is_told"):
            manager.is_told = True
            sys.stderr.write(f"gradbg: figure {number} is not shown, as there is no display; "
                             "plt.savefig('figure.png') keeps it\n")
