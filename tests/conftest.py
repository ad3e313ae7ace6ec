"""Fixtures that several test modules ask for."""

from collections.abc import Iterator

import pytest

import autodiff as tf


@pytest.fixture
def own_graph() -> Iterator[None]:
    """A default graph of the test's own: names and collections begin anew."""
    with tf.Graph().as_default():
        yield
