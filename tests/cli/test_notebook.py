"""In a notebook nothing prompts: a stop shows its page under the cell, and later cells ask."""

import os
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
MODEL = """
import numpy as np
import autodiff as tf
from cli.wrap import DebugSession, set_trace
x = tf.placeholder(tf.float32, [None, 3], name="x")
w = tf.Variable(tf.ones([3, 1]), name="w")
loss = tf.reduce_mean(tf.log(tf.matmul(x, w)), name="loss")
train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
"""
CELLS = {  # name -> a cell; they are executed in this order
    "model": MODEL, "loaded": "%load_ext cli", "graph": "tf.get_default_graph()",
    "alone": "%gradbg feed x = np.ones((4, 3))\n%gradbg grad loss w",
    "opened": "session = DebugSession(tf.Session(), ['watch w', 'next'])",
    "trained": "session.run(tf.global_variables_initializer())\nfor i in range(8):\n"
               "    session.run([loss, train], {x: np.ones((4, 3))})\nprint('trained')",
    "lines": "%%gradbg\nlist\nnext", "asked": "session('grads')", "why": "%gradbg why nan",
    "debugger": "session.dbg", "stops": "session('break if step >= 12')",
    "often": "for i in range(8):\n    train.run({x: np.ones((4, 3))}, session=session)",
    "traced": "set_trace()", "closed": "session.close()\nsession('grads')",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list]]:
    """What each cell has put out; one kernel executes all of them."""
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    client = NotebookClient(notebook, timeout=60, kernel_name="python3", allow_errors=True)
    client.execute(env={**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path_factory.mktemp("ipython"))})
    yield {name: cell.outputs for name, cell in zip(CELLS, notebook.cells)}


def texts(outputs: list) -> list[str]:
    return [out.get("text", "") or out["data"]["text/plain"] if "ename" not in out else out["evalue"]
            for out in outputs]


def test_a_stop_completes_the_run_and_shows_its_page_as_html(outputs: dict[str, list]) -> None:
    watched, page, printed = outputs["trained"][0], outputs["trained"][-2], outputs["trained"][-1]
    assert "w:0" in watched["data"]["text/plain"]
    assert [out["output_type"] for out in outputs["trained"]].count("stream") == 1
    assert printed["text"] == "trained\n"
    assert page["data"]["text/html"].startswith("<div style=")
    assert "loss nan" in page["data"]["text/plain"]
    assert "in Log at In[1]:6" in page["data"]["text/plain"]


def test_later_cells_ask(outputs: dict[str, list]) -> None:
    (table,) = outputs["asked"]
    assert table["output_type"] == "execute_result"
    assert table["data"]["text/html"].count("<div") == 1
    assert table["data"]["text/plain"].startswith("gradients of loss:0, step 8")
    (lines,) = texts(outputs["lines"])
    assert "2  for i in range(8)" in lines
    assert "the cells make the runs" in lines
    assert "log(" in texts(outputs["why"])[0]
    assert "step 16" in texts(outputs["closed"])[-1]


def test_a_graph_without_a_session_is_asked_too(outputs: dict[str, list]) -> None:
    assert outputs["loaded"] == []
    assert "∂ w:0  float32[3,1]" in texts(outputs["alone"])[-1]


def test_a_condition_that_holds_often_shows_one_page_for_a_cell(outputs: dict[str, list]) -> None:
    page, again = texts(outputs["often"])
    assert "stop: step 12: step >= 12" in page
    assert again == "and again at steps 13, 14, 15 … 16, 4 times"


def test_set_trace_shows_where_it_stands_and_goes_on(outputs: dict[str, list]) -> None:
    assert "is at its set_trace" in texts(outputs["traced"])[-1]


def test_the_debugger_and_the_graph_say_what_they_hold(outputs: dict[str, list]) -> None:
    assert texts(outputs["graph"]) == ["<Graph: operations 32, variables 1, placeholders 1>"]
    assert texts(outputs["debugger"])[0].startswith("<Debugger of ")
    assert "gradients of loss:0, step 8, loss:0 " in texts(outputs["debugger"])[0]
