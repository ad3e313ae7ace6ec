"""signal.signal for a script that does not run in the main thread: accepted, without effect, with a note."""
from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def quiet_signals(is_script: Callable[[], bool]) -> Iterator[None]:
    """Inside, `signal.signal` called from the script remembers the handler and installs nothing.

    Python allows it in the main thread alone, which is the prompt's; Ctrl-C is the debugger's anyway.
    """
    real = signal.signal
    handlers: dict[Any, Any] = {}

    def remember(number: Any, handler: Any) -> Any:
        if not is_script():
            return real(number, handler)
        if not handlers:
            sys.stderr.write("gradbg: the script's signal handlers are not installed under the debugger\n")
        old = handlers.get(number, signal.getsignal(number))
        handlers[number] = handler
        return old

    signal.signal = remember  # type: ignore[assignment]
    try:
        yield
    finally:
        signal.signal = real


def heed_ctrl_c() -> None:
    """Let Ctrl-C be KeyboardInterrupt again where a shell that started the program in the background had it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
