"""The script's world while the screen is open: its output goes to the page, its questions to the command line."""
from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from prompt_toolkit.application import Application
from prompt_toolkit.application.run_in_terminal import in_terminal

from autodiff.ops.common.instead import instead

from .asking import Asking, breakpoints
from .captured import Printed, captured


@contextlib.contextmanager
def taken_over(put: Callable[[str], Any], tell: Callable[[str], Any], asking: Asking, app: Application[None],
               terminal: TextIO | None) -> Iterator[Callable[[], None]]:
    """Inside, output is given to `put` and questions to `asking`; gives what waits until all output is given.

    terminal: where the screen is drawn; None where standard output is no terminal, which then stays as it is.
    """
    with contextlib.ExitStack() as stack:
        capture = None
        if terminal is not None:
            capture = stack.enter_context(captured(put))
            stack.enter_context(breakpoints(lambda: lent(app), terminal))
        printed = Printed(put if capture is None else capture.write, tell)
        stack.enter_context(contextlib.redirect_stdout(printed))
        stack.enter_context(contextlib.redirect_stderr(printed))
        stack.enter_context(instead([(sys, "stdin", asking)]))
        yield capture.settle if capture is not None else lambda: None


@contextlib.contextmanager
def lent(app: Application[None]) -> Iterator[None]:
    """Inside, in whatever thread, the terminal is as it was before the screen opened."""
    taken, given = threading.Event(), threading.Event()

    async def lend() -> None:
        async with in_terminal():
            taken.set()
            await asyncio.get_running_loop().run_in_executor(None, given.wait)

    if app.loop is None:
        yield
        return
    lending = asyncio.run_coroutine_threadsafe(_within(app, lend), app.loop)
    taken.wait()
    try:
        yield
    finally:
        given.set()
        lending.result()


async def _within(app: Application[None], run: Callable[[], Any]) -> None:
    """Run a coroutine where prompt_toolkit knows which application is meant."""
    if app.context is None:
        await run()
    else:
        await app.context.run(lambda: asyncio.ensure_future(run()))
