"""The full screen: pages of output one can go through like in a browser, links, search, a command line.

The one room that knows prompt_toolkit. Start with app.py.
"""

from .app import FullScreen

__all__ = ["FullScreen"]
