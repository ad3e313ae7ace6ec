"""Sessions that are made ready, made anew after a lost worker, and ended with their threads."""

from pathlib import Path
from typing import Any

import pytest

import autodiff as tf
from autodiff.api.train import checkpoints, moving_averages
from autodiff.api.train.sessions import wrapped
from autodiff.runtime.config import DebugTensorWatch

pytestmark = pytest.mark.usefixtures("own_graph")


def counter() -> tuple[Any, Any]:
    """The global step, and what adds 1 to it."""
    step = tf.train.get_or_create_global_step()
    return step, tf.assign_add(step, 1)


class Fails(tf.train.SessionRunHook):
    """Raises errors one by one before runs."""

    def __init__(self, *errors: Exception) -> None:
        self.errors, self.begun = list(errors), 0

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.begun += 1

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self.errors:
            raise self.errors.pop(0)


def test_a_session_manager_makes_sessions_ready(tmp_path: Path) -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    local = tf.Variable(v * 2, collections=["local_variables"], name="local")
    missing, ready_for_local = tf.report_uninitialized_variables(), tf.report_uninitialized_variables([v])
    manager = tf.train.SessionManager(local.initializer, missing, ready_for_local)
    saver = tf.train.Saver([v])
    with pytest.raises(RuntimeError, match="(?s)did not make model ready for local_init.*\\bv$"):
        manager.prepare_session()
    session = manager.prepare_session(init_op=v.initializer)
    assert session.run(local).tolist() == [2.0, 4.0]
    path = saver.save(session, str(tmp_path / "model"))
    for place in ({"checkpoint_dir": str(tmp_path)}, {"checkpoint_filename_with_path": path}):
        session, is_ready = manager.recover_session(saver=saver, **place)
        assert is_ready and session.run(local).tolist() == [2.0, 4.0]
    assert saver.last_checkpoints == [path]
    assert not manager.recover_session(saver=saver, checkpoint_dir=str(tmp_path / "none"))[1]
    with pytest.raises(ValueError, match="Can not provide both"):
        manager.recover_session(saver=saver, checkpoint_dir=str(tmp_path), checkpoint_filename_with_path=path)
    with pytest.raises(tf.errors.DeadlineExceededError, match="Session was not ready after waiting 0"):
        manager.wait_for_session(max_wait_secs=0)
    with pytest.raises(RuntimeError, match="no init_op or init_fn or local_init_op was given"):
        tf.train.SessionManager(ready_op=missing).prepare_session()
    with pytest.raises(RuntimeError, match="did not make model ready.  .*Variables not initialized: v"):
        tf.train.SessionManager(ready_op=missing).prepare_session(init_fn=lambda session: None)
    with pytest.raises(ValueError, match="you must also pass a local_init_op"):
        tf.train.SessionManager(ready_for_local_init_op=missing)


def test_a_session_is_made_anew_when_a_worker_is_lost() -> None:
    step, more = counter()
    hook = Fails(tf.errors.AbortedError(None, None, "gone"), tf.errors.UnavailableError(None, None, "gone"))
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert session.run(more) == 1  # each time from the beginning
        assert session.run_step_fn(lambda step_context: step_context.run_with_hooks(more)) == 2
    assert hook.begun == 3
    with pytest.raises(tf.errors.AbortedError), tf.train.SingularMonitoredSession(
            [Fails(tf.errors.AbortedError(None, None, "gone"))]) as session:
        session.run(step)


def test_an_error_of_a_thread_ends_the_session_once() -> None:
    counter()
    session = tf.train.MonitoredSession()
    session._coordinated_creator.coord.request_stop(tf.errors.UnknownError(None, None, "of a thread"))
    assert session.should_stop()
    with pytest.raises(tf.errors.UnknownError, match="of a thread"):
        session.close()
    with pytest.raises(RuntimeError, match="Session is already closed."):
        session.close()
    with pytest.raises(RuntimeError, match="Run called even after the session is closed."):
        session.run([])
    with pytest.raises(RuntimeError, match="of a thread"), tf.train.MonitoredSession() as session:
        session._coordinated_creator.coord.request_stop(RuntimeError("of a thread"))
        session.run(tf.train.get_global_step().initializer)  # the session goes on: closing it raises


def test_options_of_hooks_and_caller_are_joined() -> None:
    step, _ = counter()
    seen: list[Any] = []

    class Asks(tf.train.SessionRunHook):
        def before_run(self, run_context: Any) -> Any:
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=60)
            options.debug_options.debug_tensor_watch_opts.extend([DebugTensorWatch(node_name="w", output_slot=1)])
            return tf.train.SessionRunArgs(None, None, options)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            seen.append(run_values)

    session = wrapped._HookedSession(tf.Session(), [Asks()])
    session._sess.run(step.initializer)
    assert session.run(step, options=tf.RunOptions(timeout_in_ms=90)) == 0
    options = seen[0].options
    assert (options.trace_level, options.timeout_in_ms) == (3, 90)
    assert [watch.node_name for watch in options.debug_options.debug_tensor_watch_opts] == ["w"]


def test_a_step_function_has_one_argument() -> None:
    counter()
    with tf.train.MonitoredSession() as session, pytest.raises(ValueError, match="`step_fn` may either have one"):
        session.run_step_fn(lambda step_context, more: None)


def test_a_scaffold_is_made_of_the_graph_or_of_another() -> None:
    counter()
    local = tf.Variable(1, collections=["local_variables"], name="local")
    base = tf.train.Scaffold(init_fn=lambda scaffold, session: session.run(scaffold.init_op)).finalize()
    other = tf.train.Scaffold(local_init_op=local.initializer, copy_from_scaffold=base)
    assert other.saver is base.saver and other.ready_op is base.ready_op and other.local_init_op is local.initializer
    with tf.Session() as session:
        assert session.run(base.ready_for_local_init_op).tolist() == [b"global_step"]
        other.init_fn(session)
        assert session.run(base.ready_op).tolist() == [b"local"]
    with pytest.raises(TypeError, match="copy_from_scaffold is not a Scaffold instance"):
        tf.train.Scaffold(copy_from_scaffold=1)
    with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
        tf.constant(1)


def test_hooks_see_the_step_before_a_run_counts_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    step, more = counter()
    summary = tf.summary.scalar("x", tf.to_float(step))
    hooks = [tf.train.CheckpointSaverHook(str(tmp_path), save_steps=2, saver=tf.train.Saver()),
             tf.train.SummarySaverHook(2, output_dir=str(tmp_path), summary_op=summary),
             tf.train.StepCounterHook(2, output_dir=str(tmp_path)), tf.train.StopAtStepHook(last_step=5)]
    with tf.train.SingularMonitoredSession(hooks) as session:
        while not session.should_stop():
            session.run(more)
    assert [Path(path).name for path in tf.train.get_checkpoint_state(str(tmp_path)).all_model_checkpoint_paths] == [
        "model.ckpt-0", "model.ckpt-2", "model.ckpt-4", "model.ckpt-5"]
    tf.summary.FileWriterCache.clear()
    events = list(tf.train.summary_iterator(str(next(tmp_path.glob("events*")))))
    steps = {tag: [e.step for e in events if e.HasField("summary") and e.summary.value[0].tag == tag]
             for tag in ("x", "global_step/sec")}
    assert steps == {"x": [1, 3, 5], "global_step/sec": [3, 5]}
    kinds = [kind for kind in ("graph_def", "meta_graph_def") if any(event.HasField(kind) for event in events)]
    assert kinds == ["graph_def", "meta_graph_def"] and (tmp_path / "graph.pbtxt").exists()
    assert [e.session_log.status for e in events if e.HasField("session_log")].count(3) == 4


def test_a_step_that_stays_and_operations_out_of_data_are_mentioned(caplog: pytest.LogCaptureFixture) -> None:
    step, _ = counter()
    hook = tf.train.StepCounterHook(1)
    hook.begin()
    session = wrapped._HookedSession(tf.Session(), [hook])
    session._sess.run(step.initializer)
    for _ in range(3):
        session.run([])
    assert "global step (tf.train.get_global_step) has not been increased" in caplog.text
    element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(1)).get_next()
    session._sess.run(element)
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        tf.train.FinalOpsHook(element).end(session._sess)
    assert "dependency back to some input source" in caplog.text


def test_a_worker_waits_for_the_step_that_another_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    step, more = counter()
    hook = tf.train.GlobalStepWaiterHook(2)
    hook.begin()
    with tf.Session() as session:
        session.run(step.initializer)
        monkeypatch.setattr("time.sleep", lambda seconds: session.run(more))
        hook.before_run(tf.train.SessionRunContext(tf.train.SessionRunArgs(None), session))
        assert session.run(step) == 2


def test_new_checkpoints_are_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saver, paths = tf.train.Saver([tf.Variable(1.0)]), []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        clock = [1e9]

        def save(seconds: float) -> None:
            clock[0] += seconds
            if len(paths) < 2:
                paths.append(saver.save(session, str(tmp_path / "model"), global_step=len(paths)))

        monkeypatch.setattr("time.sleep", save)
        monkeypatch.setattr("time.time", lambda: clock[0])
        asked: list[int] = []
        found = list(tf.train.checkpoints_iterator(str(tmp_path), timeout=5,
                                                   timeout_fn=lambda: asked.append(1) or True))
    assert found == paths and len(paths) == 2 and asked == [1]
    assert checkpoints.wait_for_new_checkpoint(str(tmp_path), paths[-1], timeout=0) is None


def test_averages_have_variables_of_their_own_each_time() -> None:
    with tf.variable_scope("a") as scope:
        v = tf.Variable(1.0, name="v")
        for _ in range(2):
            moving_averages.assign_moving_average(v, 0.0, 0.99)
    names = {"a/v:0", *(f"a/a/v/{name}{end}:0" for name in ("biased", "local_step") for end in ("", "_1"))}
    assert {each.name for each in scope.global_variables()} == names
    value, weight = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    average = moving_averages.weighted_moving_average(value, 0.5, weight)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(average, {value: 3.0, weight: 4.0}) == 3.0
        assert session.run(average, {value: 11.0, weight: 22.0}) == pytest.approx((3 * 4 * .25 + 11 * 11) / (1 + 11))


def test_a_supervisor_restores_trains_and_saves(tmp_path):
    for begins in (0, 3):
        with tf.Graph().as_default():
            step = tf.train.create_global_step()
            weight = tf.get_variable("w", [], initializer=tf.ones_initializer())
            tf.summary.scalar("w", weight)
            train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.square(weight), step)
            supervisor = tf.train.Supervisor(logdir=str(tmp_path), save_summaries_secs=1e-9, save_model_secs=1e-9)
            with supervisor.managed_session() as session:
                assert session.run(step) == begins
                while not supervisor.should_stop():
                    session.run(train)
                    if session.run(step) >= begins + 3:
                        supervisor.saver.save(session, supervisor.save_path, supervisor.global_step)
                        supervisor.request_stop()
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-6")
    with pytest.raises(RuntimeError, match="requires a summary writer"), tf.Graph().as_default():
        tf.train.Supervisor(init_op=tf.no_op()).summary_computed(None, b"")
    with pytest.raises(KeyError), tf.Graph().as_default(), tf.train.Supervisor().managed_session():
        raise KeyError("the caller's")


def test_a_profiler_hook_writes_the_times_of_a_run_each_so_many_steps(tmp_path):
    step = tf.train.get_or_create_global_step()
    train = step.assign_add(1)
    with pytest.raises(ValueError):
        tf.train.ProfilerHook(save_steps=1, save_secs=1)
    hook = tf.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path))
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        for _ in range(4):
            session.run(train)
    found = sorted(path.name for path in tmp_path.glob("timeline-*"))
    assert found == ["timeline-2.json", "timeline-4.json"]
    assert "traceEvents" in (tmp_path / found[0]).read_text()


def test_the_basic_loop_starts_again_after_an_aborted_error():
    calls = []

    def step(session, supervisor):
        calls.append(session)
        if len(calls) == 2:
            raise tf.errors.AbortedError(None, None, "once")
        if len(calls) == 4:
            supervisor.request_stop()

    supervisor = tf.train.Supervisor()
    tf.train.basic_train_loop(supervisor, step, (supervisor,))
    assert len(calls) == 4
