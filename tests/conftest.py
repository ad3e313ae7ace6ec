"""Fixtures that several test modules ask for."""

import os
import signal
from collections.abc import Iterator

import pytest

import autodiff as tf

os.environ["COLUMNS"] = "1000"  # sentences are compared whole; test_render.py looks at how they are broken
for _ignored, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_ignored) == signal.SIG_IGN:  # as behind nohup; processes that tests start take it over
        signal.signal(_ignored, _usual)


@pytest.fixture
def own_graph() -> Iterator[None]:
    """A default graph of the test's own: names and collections begin anew."""
    with tf.Graph().as_default():
        yield
