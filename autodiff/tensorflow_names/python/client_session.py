"""tensorflow.python.client.session: classes of one's own that sessions learn to feed and fetch."""
from ...runtime.config import Device
from ...runtime.fetch import register_session_run_conversion_functions
from ...runtime.session import InteractiveSession, Session

__all__ = ["BaseSession", "InteractiveSession", "Session", "register_session_run_conversion_functions"]
BaseSession, _DeviceAttributes = Session, Device
