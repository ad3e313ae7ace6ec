"""The arrangement of the full screen: layout."""
from __future__ import annotations

from typing import Annotated

from ..language.argument_kinds import ChoiceKind
from ..language.command import command
from ..model.results import Result, Text
from ..model.shell import CHOICES, Shell

Layout = Annotated[str, ChoiceKind(*CHOICES["layout"])]


@command("layout", group="Shell")
def layout(shell: Shell, name: Layout = "") -> Result:
    """Say which panes the full screen shows beside the page; they follow the script from stop to stop.

    page: none. source, gradients, watches: that one. split: all three. auto: all three where there are 100 columns and
    28 lines. F6 or Ctrl-X o goes from one to the next; without a word it says what is set.

    Example:  layout source
    """
    if name:
        shell.settings["layout"] = name
    return Text(f"layout {shell.settings['layout']}", "quiet")
