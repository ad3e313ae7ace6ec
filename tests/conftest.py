"""Fixtures that several test modules ask for."""

import os
from collections.abc import Iterator

import pytest

import autodiff as tf

os.environ["COLUMNS"] = "1000"  # sentences are compared whole; test_render.py looks at how they are broken


@pytest.fixture
def own_graph() -> Iterator[None]:
    """A default graph of the test's own: names and collections begin anew."""
    with tf.Graph().as_default():
        yield
