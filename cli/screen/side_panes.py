"""The panes beside the page: which are open at this size, and what each shows."""
from __future__ import annotations

from collections.abc import Callable, Mapping

from ..model.results import Card, Group, Source
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
        self._empty: frozenset[str] = frozenset()

    @property
    def room(self) -> tuple[str, ...]:
        """The names of those that may be shown at this size."""
        columns, lines = self._size()
        if columns < SMALLEST[0] or lines < SMALLEST[1]:
            return ()
        layout = self._layout()
        return SPLITS["split" if layout == "auto" else layout]

    @property
    def open(self) -> tuple[str, ...]:
        """The names of those that are shown now; of several, those that have something to show."""
        room = self.room
        return tuple(name for name in room if name not in self._empty) if len(room) > 1 else room

    def show(self, cards: Mapping[str, Card]) -> None:
        """Take what there is to see now; the source moves to the line that matters."""
        self._empty = frozenset(NAMES) - cards.keys()
        for name, page in self.pages.items():
            card = cards.get(name, Card((), name))
            page.command, page.result = card.title, Group(card.parts)
            for part in card.parts:
                if isinstance(part, Source):
                    page.keep_in_view(max((part.cause or part.current) - part.first, 0))
