"""Checkpoints: what is saved comes back, the old ones go, and what does not fit is refused; sessions with hooks."""

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.saved_graphs.scoped import copy_scoped_meta_graph
from autodiff.api.variables.saved_parts import SaveableObject, SaveSpec
from autodiff.runtime.eager import eager_mode

pytestmark = pytest.mark.usefixtures("own_graph")


def model(*shape: int, value: float = 1.0) -> tuple[Any, Any]:
    """Two variables: `a`, and `layer/b` of whole numbers."""
    a = tf.get_variable("a", initializer=np.full(shape or (2, 3), value, np.float32))
    with tf.variable_scope("layer"):
        b = tf.get_variable("b", initializer=np.arange(4, dtype=np.int64))
    return a, b


def started() -> tf.Session:
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def saved(folder: Path, **options: Any) -> str:
    """A checkpoint of `model`, made in a graph of its own."""
    with tf.Graph().as_default():
        model(**options)
        return tf.train.Saver().save(started(), str(folder / "model.ckpt"), global_step=100)


# ---- there and back ---------------------------------------------------------------------

def test_what_is_saved_comes_back_without_initializing(tmp_path: Path) -> None:
    a, b = model()
    saver, session = tf.train.Saver(), started()
    session.run(a.assign(a * 3))
    path = saver.save(session, str(tmp_path / "model.ckpt"), global_step=7)
    assert path == str(tmp_path / "model.ckpt-7")
    other = tf.Session()
    saver.restore(other, path)
    np.testing.assert_array_equal(other.run(a), np.full((2, 3), 3, np.float32))
    assert other.run(b).tolist() == [0, 1, 2, 3]
    assert other.run(tf.report_uninitialized_variables()).size == 0


def test_training_goes_on_as_if_it_had_not_been_left(tmp_path: Path) -> None:
    x = tf.get_variable("x", initializer=np.float32(2.0))
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(0.1).minimize(tf.square(x), step)
    saver, session = tf.train.Saver(), started()
    for _ in range(3):
        session.run(train)
    path = saver.save(session, str(tmp_path / "m"), step)
    assert path.endswith("m-3")
    session.run(train)
    other = tf.Session()
    saver.restore(other, path)
    other.run(train)
    assert other.run([x, step]) == session.run([x, step])


def test_files_have_tensorflows_names(tmp_path: Path) -> None:
    saved(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "model.ckpt-100.data-00000-of-00001", "model.ckpt-100.index",
                                            "model.ckpt-100.meta"]
    assert (tmp_path / "checkpoint").read_text().startswith(f'model_checkpoint_path: "{tmp_path}/model.ckpt-100"\n')


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("value", [np.float64(1.5), np.array([True, False]), np.array([1 + 2j], np.complex64),
                                   np.array([b"one", b"\xff\0"], object), np.zeros((0, 3), np.float16)])
def test_any_dtype_comes_back(tmp_path: Path, value: Any, use_resource: bool) -> None:
    v = tf.get_variable("v", initializer=tf.constant(value), use_resource=use_resource)
    saver, session = tf.train.Saver([v]), started()
    before = session.run(v)
    path = saver.save(session, str(tmp_path / "m"))
    other = tf.Session()
    saver.restore(other, path)
    np.testing.assert_array_equal(other.run(v), before)


def test_a_dict_gives_other_names(tmp_path: Path) -> None:
    path = saved(tmp_path, value=5)
    c = tf.get_variable("c", [2, 3])
    session = tf.Session()
    tf.train.Saver({"a": c}).restore(session, path)
    assert session.run(c).tolist() == [[5.0] * 3] * 2


def test_moving_averages_are_restored_into_their_variables(tmp_path: Path) -> None:
    x = tf.get_variable("x", initializer=np.float32(4.0))
    average = tf.train.ExponentialMovingAverage(0.5)
    update = average.apply([x])
    session = started()
    session.run(x.assign(0.0))
    session.run(update)
    path = tf.train.Saver().save(session, str(tmp_path / "m"))
    tf.train.Saver(average.variables_to_restore()).restore(session, path)
    assert session.run(x) == 2.0


def test_relative_paths_hold_from_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkdir("logs")
    model()
    tf.train.Saver().save(started(), "logs/m", 1)
    tf.train.Saver().save(started(), "here")
    assert tf.train.latest_checkpoint("logs") == "logs/m-1"
    assert tf.train.latest_checkpoint(".") == "./here"
    os.rename("logs", "moved")
    assert tf.train.latest_checkpoint("moved") == "moved/m-1"


# ---- which checkpoints there are --------------------------------------------------------

def test_the_oldest_checkpoints_are_deleted(tmp_path: Path) -> None:
    model()
    saver, session = tf.train.Saver(max_to_keep=2, sharded=True), started()
    assert saver.saver_def.sharded and saver.saver_def.max_to_keep == 2
    paths = [saver.save(session, str(tmp_path / "m"), i) for i in range(4)]
    assert saver.last_checkpoints == paths[2:]
    assert [tf.train.checkpoint_exists(path) for path in paths] == [False, False, True, True]
    assert sorted(p.name for p in tmp_path.iterdir() if ".data" in p.name) == [
        "m-2.data-00000-of-00001", "m-3.data-00000-of-00001"]
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert (state.model_checkpoint_path, state.all_model_checkpoint_paths) == (paths[3], paths[2:])


@pytest.mark.parametrize("keep", [0, None])
def test_all_checkpoints_can_be_kept(tmp_path: Path, keep: int | None) -> None:
    model()
    saver, session = tf.train.Saver(max_to_keep=keep), started()
    paths = [saver.save(session, str(tmp_path / "m"), i) for i in range(7)]
    assert all(map(tf.train.checkpoint_exists, paths))


def test_an_empty_directory_has_no_checkpoint(tmp_path: Path) -> None:
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    assert tf.train.get_checkpoint_state(str(tmp_path)) is None
    assert tf.train.latest_checkpoint(str(tmp_path / "none")) is None
    assert not tf.train.checkpoint_exists(str(tmp_path / "m"))


def test_readers_list_and_load(tmp_path: Path) -> None:
    path = saved(tmp_path)
    assert tf.train.list_variables(str(tmp_path)) == [("a", [2, 3]), ("layer/b", [4])]
    assert tf.train.load_variable(path, "layer/b").tolist() == [0, 1, 2, 3]
    reader = tf.train.NewCheckpointReader(path)
    assert reader.get_variable_to_shape_map() == {"a": [2, 3], "layer/b": [4]}
    assert reader.get_variable_to_dtype_map() == {"a": tf.float32, "layer/b": tf.int64}
    assert reader.has_tensor("a")
    with pytest.raises(tf.errors.NotFoundError, match="Key c not found"):
        reader.get_tensor("c")


def test_a_failing_save_leaves_the_old_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, _ = model()
    saver, session = tf.train.Saver(), started()
    path = saver.save(session, str(tmp_path / "m"))

    def full(*args: Any, **arrays: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("autodiff.files.checkpoint.write_table", full)
    session.run(a.assign(a * 9))
    with pytest.raises(OSError, match="no space"):
        saver.save(session, str(tmp_path / "m"))
    assert not [name for name in os.listdir(tmp_path) if "temporary" in name]
    saver.restore(session, path)
    assert session.run(a)[0, 0] == 1.0


# ---- what does not fit ------------------------------------------------------------------

def test_a_missing_key_is_not_found(tmp_path: Path) -> None:
    path = saved(tmp_path)
    model()
    tf.get_variable("new", [3])
    session = started()
    with pytest.raises(tf.errors.NotFoundError, match="Key new not found") as caught:
        tf.train.Saver().restore(session, path)
    assert caught.value.op.name == "new"


def test_another_shape_or_dtype_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    path = saved(tmp_path, value=8)
    a, _ = model(3, 2)
    session = started()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'a' has shape \[3,2\], the checkpoint has \[2,3\]"):
        tf.train.Saver().restore(session, path)
    assert session.run(a).max() == 1.0
    tf.train.Saver({"a": a}, reshape=True).restore(session, path)
    assert session.run(a).shape == (3, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32 does not equal original dtype float32"):
        tf.train.Saver({"a": tf.get_variable("i", [2, 3], tf.int32)}).restore(session, path)


@pytest.mark.parametrize(("act", "error", "text"), [
    (lambda s: tf.train.Saver().restore(s, None), ValueError, "save_path when it is None"),
    (lambda s: tf.train.Saver().restore(s, "no/such"), ValueError, "not a valid checkpoint: no/such"),
    (lambda s: tf.train.Saver().save(s, "no/such/dir"), ValueError, "Parent directory of no/such/dir doesn't exist"),
    (lambda s: tf.train.Saver().save(s, "m", latest_filename="a/b"), ValueError, "latest_filename"),
    (lambda s: tf.train.Saver().save(tf.Session(), "m"), tf.errors.FailedPreconditionError, "uninitialized value a"),
    (lambda s: tf.train.Saver([]), ValueError, "No variables to save"),
    (lambda s: tf.train.Saver([tf.constant(1)]), TypeError, "expected variables to save"),
    (lambda s: tf.train.Saver(5), TypeError, "expected a list or dict"),
    (lambda s: tf.train.Saver(defer_build=True).save(s, "m"), RuntimeError, "build"),
    (lambda s: tf.train.Saver().save("session", "m"), TypeError, "expected a tf.Session"),
    (lambda s: tf.train.import_meta_graph("m.meta"), OSError, "File m.meta does not exist"),
])
def test_mistakes_are_told(act: Any, error: type[Exception], text: str) -> None:
    model()
    with pytest.raises(error, match=text):
        act(started())


def test_two_variables_of_one_name_are_refused() -> None:
    a, _ = model()
    with tf.Graph().as_default(), pytest.raises(ValueError, match="At least two variables have the same name: a"):
        tf.train.Saver([a, model()[0]])


def test_a_file_of_another_format_is_told(tmp_path: Path) -> None:
    for end in (".index", ".data-00000-of-00001"):
        (tmp_path / f"m{end}").write_bytes(b"\0\1\2 not ours")
    with pytest.raises(tf.errors.DataLossError, match="expected a table .sstable."):
        tf.train.NewCheckpointReader(str(tmp_path / "m"))


# ---- coordinators, hooks, monitored sessions --------------------------------------------

def test_a_coordinator_raises_what_a_thread_raised() -> None:
    coord = tf.train.Coordinator()

    def work() -> None:
        with coord.stop_on_exception():
            raise ZeroDivisionError("in the thread")

    thread = threading.Thread(target=work)
    thread.start()
    with pytest.raises(ZeroDivisionError, match="in the thread"):
        coord.join([thread])
    assert coord.should_stop()


def test_the_end_of_the_data_ends_threads_without_error() -> None:
    coord = tf.train.Coordinator()
    coord.request_stop(tf.errors.OutOfRangeError(None, None, "end"))
    coord.join(tf.train.start_queue_runners(tf.Session(), coord))


def counted() -> Any:
    """A graph whose train op adds 1 to the global step and to x."""
    step = tf.train.get_or_create_global_step()
    x = tf.get_variable("x", initializer=np.float32(0.0))
    with tf.control_dependencies([tf.assign_add(step, 1)]):
        return tf.assign_add(x, 1.0)


def test_a_monitored_session_stops_saves_and_continues(tmp_path: Path) -> None:
    for last in (3, 5):
        with tf.Graph().as_default():
            train = counted()
            hooks = [tf.train.StopAtStepHook(last_step=last)]
            with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), hooks=hooks,
                                                   save_checkpoint_steps=1) as session:
                while not session.should_stop():
                    value = session.run(train)
            assert value == last
        assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / f"model.ckpt-{last}")


def test_a_run_after_the_stop_is_refused() -> None:
    train = counted()
    with tf.train.SingularMonitoredSession(hooks=[tf.train.StopAtStepHook(num_steps=1)]) as session:
        session.run(train)
        with pytest.raises(RuntimeError, match="even after should_stop"):
            session.run(train)


def test_hooks_are_called_in_order_with_their_fetches() -> None:
    calls: list[Any] = []

    class Hook(tf.train.SessionRunHook):
        def begin(self) -> None:
            calls.append("begin")

        def after_create_session(self, session: Any, coord: Any) -> None:
            calls.append("created")

        def before_run(self, run_context: Any) -> Any:
            return tf.train.SessionRunArgs(doubled, {x: 3.0})

        def after_run(self, run_context: Any, run_values: Any) -> None:
            calls.append(float(run_values.results))

        def end(self, session: Any) -> None:
            calls.append("end")

    x = tf.placeholder(tf.float32, [])
    doubled, more = x * 2, x + 1
    with tf.train.MonitoredSession(hooks=[Hook()]) as session:
        assert session.run(more) == 4.0
        with pytest.raises(RuntimeError, match="Same tensor is fed by a SessionRunHook and user"):
            session.run(x, {x: 1.0})
        assert session.graph.finalized
    assert calls == ["begin", "created", 6.0, "end"]
    assert not more.graph.finalized and session.graph is None


def test_a_variable_is_saved_under_one_name() -> None:
    v = tf.Variable(1.0)
    for twice in ([v, v], {"a": v, "b": v}):
        with pytest.raises(ValueError):
            tf.train.Saver(twice)


def test_the_end_of_the_data_closes_a_monitored_session() -> None:
    counted()
    with tf.train.MonitoredSession() as session:
        raise tf.errors.OutOfRangeError(None, None, "end")
    assert session.should_stop()


def test_a_nan_loss_fails_or_stops() -> None:
    loss = tf.log(tf.placeholder_with_default(-1.0, []))
    with pytest.raises(tf.train.NanLossDuringTrainingError), \
            tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(loss)]) as session:
        session.run(loss)


def test_values_are_logged_each_so_many_runs(caplog: pytest.LogCaptureFixture) -> None:
    train = counted()
    tf.logging.set_verbosity(tf.logging.INFO)
    try:
        with tf.train.MonitoredSession(hooks=[tf.train.LoggingTensorHook({"x": train}, every_n_iter=2)]) as session:
            for _ in range(4):
                session.run(train)
    finally:
        tf.logging.set_verbosity(tf.logging.WARN)
    assert [line.split(" (")[0] for line in caplog.messages] == ["x = 1.0", "x = 3.0"]


def test_a_scaffold_initializes_its_own_way() -> None:
    x = tf.get_variable("x", [], initializer=tf.zeros_initializer())
    scaffold = tf.train.Scaffold(init_fn=lambda scaffold, session: x.load(7.0, session))
    with tf.train.SingularMonitoredSession(scaffold=scaffold) as session:
        assert session.run(x) == 7.0


def test_the_last_folder_is_made(tmp_path):
    tf.get_variable("v", [1])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert tf.train.latest_checkpoint(tmp_path) is None
        assert tf.train.Saver().save(session, str(tmp_path / "new" / "m")) == str(tmp_path / "new" / "m")


def test_variables_that_compute_at_once_are_saved_without_a_session(tmp_path: Path) -> None:
    with eager_mode():
        v, step = tf.Variable([1.0, 2.0], name="v"), tf.Variable(7, name="step")
        saver = tf.train.Saver([v])
        path = saver.save(None, str(tmp_path / "model"), global_step=step)
        assert path == str(tmp_path / "model-7") and not (tmp_path / "model-7.meta").exists()
        v.assign([0.0, 0.0])
        saver.restore(None, path)
        assert v.numpy().tolist() == [1.0, 2.0]
        assert tf.train.NewCheckpointReader(path).debug_string() == b"v (DT_FLOAT) [2]\n"
        with pytest.raises(tf.errors.InvalidArgumentError, match="expected dtype int32 does not equal original dtype"):
            tf.train.Saver({"v": step}).restore(None, path)


def test_a_saver_of_nothing_saves_nothing_where_that_is_allowed(tmp_path: Path) -> None:
    saver = tf.train.Saver(allow_empty=True)
    with tf.Session() as session:
        assert saver.save(session, str(tmp_path / "none")) is None and not list(tmp_path.iterdir())
        saver.restore(session, str(tmp_path / "none"))
    with pytest.raises(ValueError, match="build cannot be deferred. Either set defer_build=False"):
        tf.train.Saver([tf.Variable(1.0)], defer_build=True)


def test_a_meta_graph_is_added_to_a_graph_that_is_named(tmp_path: Path) -> None:
    v = tf.Variable(3.0, name="v")
    with started() as session:
        path = tf.train.Saver([v]).save(session, str(tmp_path / "model"))
    graph = tf.Graph()
    saver = tf.train.import_meta_graph(f"{path}.meta", graph=graph, import_scope="new")
    with tf.Session(graph=graph) as session:
        saver.restore(session, path)
        assert session.run("new/v:0") == 3.0


def test_tables_and_states_of_scripts_are_saved_and_restored(tmp_path: Path) -> None:
    class Counter(SaveableObject):
        """Twice what a variable holds, under a name of its own."""

        def __init__(self, variable: tf.Variable) -> None:
            super().__init__(variable, [SaveSpec(lambda: variable * 2, "", "counter-twice", dtype=tf.int32)], "counter")

        def restore(self, restored_tensors: list, restored_shapes: object) -> tf.Operation:
            return self.op.assign(tf.cast(restored_tensors[0], tf.int32) // 2).op

    made = []
    for start in (0, 7):
        with tf.Graph().as_default() as graph:
            table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="t")
            counted = tf.Variable(start, name="v", collections=[])
            savers = tf.train.Saver([table, Counter(counted)]), tf.train.Saver()
            made.append((graph, table, counted, savers))
    graph, table, counted, savers = made[0]
    with tf.Session(graph=graph) as session:
        session.run([counted.initializer, table.insert(["a", "b"], [1, 2])])
        session.run(counted.assign(5))
        paths = [saver.save(session, str(tmp_path / name)) for saver, name in zip(savers, "xy")]
    graph, table, counted, savers = made[1]
    assert sorted(tf.train.NewCheckpointReader(paths[0]).get_variable_to_shape_map()) == [
        "counter-twice", "t-keys", "t-values"]
    for saver, path in zip(savers, paths):
        with tf.Session(graph=graph) as session, graph.as_default():
            session.run([counted.initializer, table.insert(["c"], [3])])
            saver.restore(session, path)
            assert session.run(table.lookup(["a", "b", "c"])).tolist() == [1, 2, -1]
            assert session.run(counted) == (5 if saver is savers[0] else 7)
    with graph.as_default(), tf.Session() as session:
        with pytest.raises(tf.errors.NotFoundError, match="Key counter-twice not found"):
            savers[0].restore(session, paths[1])
        state = Counter(counted)
        with pytest.raises(ValueError, match="restored with two names: a"):
            tf.train.Saver({"a": state, "b": state})


def test_the_state_of_a_directory_that_moves_has_relative_paths(tmp_path: Path) -> None:
    tf.Variable(1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        (tmp_path / "a").mkdir()
        tf.train.Saver(save_relative_paths=True).save(session, str(tmp_path / "a" / "m"))
    (tmp_path / "a").rename(tmp_path / "b")
    assert tf.train.latest_checkpoint(str(tmp_path / "b")) == str(tmp_path / "b" / "m")


def test_a_part_of_a_graph_is_copied_below_another_scope() -> None:
    with tf.name_scope("a"):
        v = tf.Variable(2.0, name="v")
        tf.multiply(v, 3.0, name="y")
    copied = copy_scoped_meta_graph("a", "b")
    assert list(copied) == ["v:0"] and copied["v:0"].name == "b/v:0"
    with started() as session:
        assert session.run("b/y:0") == 6
    with pytest.raises(ValueError, match="need to be different"):
        copy_scoped_meta_graph("a", "a")
