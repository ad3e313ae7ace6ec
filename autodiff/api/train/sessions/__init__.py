"""Sessions that begin with values in their variables, call hooks around each run, and go on after a lost worker.

Start with monitored.py.
"""

from .monitored import (
    ChiefSessionCreator,
    MonitoredSession,
    MonitoredTrainingSession,
    SingularMonitoredSession,
    WorkerSessionCreator,
)
from .scaffold import Scaffold
from .session_manager import SessionManager

__all__ = ["ChiefSessionCreator", "MonitoredSession", "MonitoredTrainingSession", "Scaffold", "SessionManager",
           "SingularMonitoredSession", "WorkerSessionCreator"]
