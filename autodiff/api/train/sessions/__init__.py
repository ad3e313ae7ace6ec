"""Sessions that begin with values in their variables, call hooks around each run, and go on after a lost worker.

Start with monitored.py.
"""

from . import monitored
from .monitored import *
from .scaffold import Scaffold
from .session_manager import SessionManager
from .supervisor import Supervisor, basic_train_loop

__all__ = ["Scaffold", "SessionManager", "Supervisor", "basic_train_loop", *monitored.__all__]
