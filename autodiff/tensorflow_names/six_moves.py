"""six.moves: what Python 3 has under other names than Python 2, for where six is not installed."""
import importlib
import io
import os
import shlex
import sys
from collections import UserDict, UserList, UserString
from functools import reduce
from itertools import filterfalse, zip_longest

__all__ = ["StringIO", "UserDict", "UserList", "UserString", "cStringIO", "filter", "filterfalse", "getcwd", "input",
           "intern", "map", "range", "reduce", "reload_module", "shlex_quote", "xrange", "zip", "zip_longest"]

MODULES = {"builtins": "builtins", "cPickle": "pickle", "configparser": "configparser", "copyreg": "copyreg",
           "html_parser": "html.parser", "http_client": "http.client", "queue": "queue", "reprlib": "reprlib",
           "socketserver": "socketserver", "tkinter": "tkinter", "urllib": "urllib", "urllib.error": "urllib.error",
           "urllib.parse": "urllib.parse", "urllib.request": "urllib.request"}  # below six.moves -> in Python 3

filter, input, map, range, xrange, zip = filter, input, map, range, range, zip  # noqa: A001
StringIO, cStringIO, getcwd, intern = io.StringIO, io.StringIO, os.getcwd, sys.intern
reload_module, shlex_quote = importlib.reload, shlex.quote
