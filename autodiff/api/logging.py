"""tf.logging: lines on stderr, by the standard library's logger `tensorflow`."""
from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Callable
from logging import DEBUG, ERROR, FATAL, INFO, WARN
from typing import Any

from .common.made import named
from .common.unsupported import refusing

__all__ = ["DEBUG", "ERROR", "FATAL", "INFO", "TaskLevelStatusMessage", "WARN", "debug", "error", "fatal", "flush",
           "get_logger", "get_verbosity", "info", "log", "log_every_n", "log_first_n", "log_if", "set_verbosity",
           "vlog", "warn", "warning"]

_COUNTS: dict[str, int] = {}  # message -> how often it came, for log_every_n


class _Stderr(logging.StreamHandler):
    """Writes to the sys.stderr of now, which tests and prompts replace."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)
        self.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))

    @property
    def stream(self) -> Any:
        return sys.stderr


@functools.cache
def get_logger() -> logging.Logger:
    """The logger; from warnings on, unless set_verbosity says else."""
    logger = logging.getLogger("tensorflow")
    logger.setLevel(WARN)
    if not logger.handlers and not logging.getLogger().handlers:
        logger.addHandler(_Stderr())
    return logger


def _at(level: str) -> Callable[..., None]:
    def logged(msg: str, *args: Any, **kwargs: Any) -> None:
        getattr(get_logger(), level)(msg, *args, **kwargs)

    return named(logged, level, f"Log at the level {level.upper()}; args go into the %s of the message.")


debug, info, warning, error, fatal = map(_at, ("debug", "info", "warning", "error", "fatal"))  # the script goes on
warn = warning


def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Log at a level."""
    get_logger().log(level, msg, *args, **kwargs)


vlog = log
TaskLevelStatusMessage = error


def log_every_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Log each n-th time that this message comes, the first included."""
    _COUNTS[msg] = _COUNTS.get(msg, -1) + 1
    log_if(level, msg, _COUNTS[msg] % n == 0, *args)


def log_first_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Log the first n times that this message comes."""
    _COUNTS[msg] = _COUNTS.get(msg, -1) + 1
    log_if(level, msg, _COUNTS[msg] < n, *args)


def log_if(level: int, msg: str, condition: Any, *args: Any) -> None:
    """Log if a condition holds."""
    if condition:
        log(level, msg, *args)


def set_verbosity(v: Any) -> None:
    """The least level that is shown: a number, or its name."""
    get_logger().setLevel(v)


def get_verbosity() -> int:
    """The least level that is shown."""
    return get_logger().getEffectiveLevel()


def flush() -> None:
    """Write out what waits."""
    sys.stderr.flush()


__getattr__ = refusing("tf.logging", __name__)
