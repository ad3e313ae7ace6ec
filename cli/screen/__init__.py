"""The full screen: pages of output one can go through like in a browser, links, search, a command line."""

from .app import FullScreen

__all__ = ["FullScreen"]
