"""The panes beside the page: which are open at this size, and what each shows."""
from __future__ import annotations

from collections.abc import Callable, Mapping

from ..model.results import Result, Source
from ..view.drawn.palette import Palette
from ..view.panes import NAMES
from .pages import Page

SMALLEST = (100, 28)  # columns and lines from which on panes open by themselves
SPLITS = {"page": (), "source": ("source",), "gradients": ("gradients",), "watches": ("watches",), "split": NAMES}


class SidePanes:
    """pages: a page for each pane. layout: what was asked for: "auto" or one of SPLITS. size: of the screen."""

    def __init__(self, palette: Palette, layout: Callable[[], str], size: Callable[[], tuple[int, int]]) -> None:
        self.pages = {name: Page(name, None, palette) for name in NAMES}
        self._layout, self._size = layout, size

    @property
    def open(self) -> tuple[str, ...]:
        """The names of those that are shown now."""
        columns, lines = self._size()
        if columns < SMALLEST[0] or lines < SMALLEST[1]:
            return ()
        layout = self._layout()
        return SPLITS["split" if layout == "auto" else layout]

    def show(self, results: Mapping[str, Result]) -> None:
        """Take what there is to see now; the source moves to the line that matters."""
        for name, result in results.items():
            page = self.pages[name]
            page.result = result
            if isinstance(result, Source):
                page.keep_in_view(max((result.cause or result.current) - result.first, 0))
