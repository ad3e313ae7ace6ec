"""Every call that a help page gives for a command (`API:`) is executed, and gives something."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger
from cli.language.command import COMMANDS

LINES = {name: described.api for name, described in COMMANDS.items() if described.api}
STEPS = 13


def classifier() -> tuple[tf.Graph, dict[str, Any]]:
    """The graph that the help pages speak of: images through two hidden layers to logits and a loss."""
    graph, rng = tf.Graph(), np.random.default_rng(0)
    with graph.as_default():
        images = tf.placeholder(tf.float32, [None, 64], name="images")
        labels = tf.placeholder(tf.int64, [None], name="labels")
        h = images
        for scope, n, m in (("hidden1", 64, 8), ("hidden2", 8, 5)):
            with tf.name_scope(scope):
                weights = tf.Variable(rng.standard_normal((n, m)).astype("f") * 0.1, name="weights")
                biases = tf.Variable(tf.zeros([m]), name="biases")
                h = tf.nn.relu(tf.matmul(h, weights) + biases)
        logits = tf.identity(h, name="logits")
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="losses")
        loss = tf.reduce_mean(losses, name="loss")
        tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return graph, {"images": images, "labels": labels, "logits": logits, "losses": losses, "loss": loss}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A session that has been debugged for a while: runs, a stop, two watches, a change, a file to compare with."""
    monkeypatch.chdir(tmp_path)
    graph, handles = classifier()
    session = tf.Session(graph=graph)
    dbg = Debugger(graph, session, handles=handles)
    rng = np.random.default_rng(1)

    def feeds() -> dict[Any, Any]:
        return {handles["images"]: rng.random((4, 64)), handles["labels"]: rng.integers(0, 5, 4)}

    dbg.feed_from(feeds)
    dbg.watch("loss")
    dbg.watch("/hidden.*/")
    dbg.break_at(step=5)
    dbg.run(5)
    dbg.run(STEPS - 5)
    dbg.set("hidden2/biases", 0.5)
    np.savez("reference.npz", **{"hidden1/weights:0": session.variables["hidden1/weights"]})
    return {**handles, "dbg": dbg, "graph": graph, "session": session, "Debugger": Debugger, "feeds": feeds, "np": np,
            "ThreadPoolExecutor": ThreadPoolExecutor}


def spoiled() -> dict[str, Any]:
    """A session whose last step gave inf, of which `why nan` has tried remedies."""
    with tf.Graph().as_default() as graph:
        tf.reduce_sum(tf.sqrt(tf.Variable([1.0, 0.0])), name="loss")
    dbg = Debugger(graph)
    dbg.train("loss")
    dbg.run(1)
    dbg.trials.of(dbg.why(kind="nan"))
    return {"dbg": dbg}


@pytest.mark.parametrize("name", LINES)
def test_the_calls_of_a_help_page_work(name: str, world: dict[str, Any]) -> None:
    assert len(eval(f"[{LINES[name]}]", spoiled() if name == "fix" else world)) >= 1


def test_a_call_that_is_not_there_is_noticed(world: dict[str, Any]) -> None:
    with pytest.raises(AttributeError):
        eval("[dbg.back_to_the_future(3)]", world)
