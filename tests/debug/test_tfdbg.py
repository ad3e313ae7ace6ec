"""tfdbg's names: what TensorFlow 1.15.5 dumped is read and opened, ours are like it; wrappers hand everything on."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import autodiff as tf
from autodiff import debug
from autodiff.debug import Debugger
from cli.language.interpreter import execute
from cli.model.shell import Shell

pytestmark = pytest.mark.usefixtures("own_graph")
DUMP = Path(__file__).parents[1] / "files" / "fixtures" / "dump"
NAMES = ["scope/w:0", "scope/w/read:0", "Const:0", "_arg_x_0_0:0", "mul:0", "y:0", "z:0"]


def run_of(root: Path) -> debug.DebugDumpDir:
    return debug.DebugDumpDir(next(root.iterdir()))


def test_a_dump_of_tensorflows_is_read() -> None:
    dump = run_of(DUMP)
    assert sorted(datum.tensor_name for datum in dump.dumped_tensor_data) == sorted(NAMES)
    assert dump.devices() == ["/job:localhost/replica:0/task:0/device:CPU:0"]
    assert (dump.core_metadata["output_names"], dump.run_feed_keys_info) == (["z:0"], ["x:0"])
    assert [datum.tensor_name for datum in dump.find(debug.has_inf_or_nan)] == ["y:0", "z:0"]
    assert [datum.node_name for datum in dump.find(debug.has_inf_or_nan, first_n=1)] == ["y"]
    assert dump.find(debug.has_inf_or_nan, exclude_node_names="y|z") == []
    assert dump.get_tensors("mul", 0, "DebugIdentity")[0].tolist() == [1, 0]
    assert (dump.node_op_type("y"), dump.node_inputs("y"), dump.node_recipients("mul")) == ("Log", ["mul"], ["y"])
    assert dump.debug_watch_keys("z") == ["z:0:DebugIdentity"]
    path = dump.get_tensor_file_paths("scope/w", 0, "DebugIdentity")[0]
    assert debug.load_tensor_from_event_file(path).tolist() == [1, 0]
    with pytest.raises(ValueError, match="Node 'none' does not exist"):
        dump.node_inputs("none")
    with pytest.raises(KeyError, match="does not exist in the debug dump"):
        dump.get_tensors("none", 0)


def session_with_an_infinity() -> tuple[tf.Session, tf.Tensor, dict]:
    x = tf.placeholder(tf.float32, [2], name="x")
    w = tf.get_variable("scope/w", initializer=np.float32([1, 0]))
    z = tf.reduce_sum(tf.log(x * w, name="y"), name="z")
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session, z, {x: [1, 2]}


def test_a_dumping_session_leaves_what_it_computed(tmp_path: Path) -> None:
    session, z, feeds = session_with_an_infinity()
    assert debug.DumpingDebugWrapperSession(session, tmp_path / "runs").run(z, feeds) == -np.inf
    dump = run_of(tmp_path / "runs")
    assert [datum.tensor_name for datum in dump.find(debug.has_inf_or_nan)] == ["y:0", "z:0"]
    assert dump.get_tensors("scope/w/read", 0)[0].tolist() == [1, 0]
    with pytest.raises(ValueError, match="non-empty directory"):
        debug.DumpingDebugWrapperSession(session, tmp_path / "runs")


def test_a_dumping_hook_leaves_one_for_each_run(tmp_path: Path) -> None:
    x = tf.get_variable("v", initializer=np.float32(2.0))
    train = tf.train.GradientDescentOptimizer(0.25).minimize(x * x, tf.train.get_or_create_global_step())
    hooks = [debug.DumpingDebugHook(tmp_path / "runs"), debug.LocalCLIDebugHook()]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        for _ in range(2):
            session.run(train)
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_the_prompts_of_tfdbg_hand_everything_on(tmp_path: Path) -> None:
    session, z, feeds = session_with_an_infinity()
    with debug.LocalCLIDebugWrapperSession(session, ui_type="readline") as wrapped:
        wrapped.add_tensor_filter("has_inf_or_nan", debug.has_inf_or_nan)
        assert wrapped.run(z, feeds) == -np.inf
        assert wrapped.graph is tf.get_default_graph()
        assert z.eval(feeds) == -np.inf
        tf.train.Saver().save(wrapped, str(tmp_path / "m"))
    assert tf.train.load_variable(str(tmp_path / "m"), "scope/w").tolist() == [1, 0]


@pytest.mark.parametrize("own", [False, True])
def test_a_dump_is_opened_at_the_prompt(own: bool, tmp_path: Path) -> None:
    root = DUMP
    if own:
        root = tmp_path / "runs"
        session, z, feeds = session_with_an_infinity()
        debug.DumpingDebugWrapperSession(session, root).run(z, feeds)
    shell = Shell(Debugger())
    execute(f"load '{root}'", shell)
    execute("run", shell)
    assert shell.dbg.value("y").array.tolist() == [0, -np.inf]
    assert shell.dbg.value("x").array.tolist() == [1, 2]


def test_a_damaged_dump_is_told(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="is no dump of a debugged run"):
        debug.DebugDumpDir(tmp_path)
    device = tmp_path / "run_1" / "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"
    device.mkdir(parents=True)
    (device / "y_0_DebugIdentity_123").write_bytes(b"\xff\xff\xff")
    with pytest.raises(tf.errors.DataLossError, match="expected an Event"):
        run_of(tmp_path).dumped_tensor_data[0].get_tensor()
