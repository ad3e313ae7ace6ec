"""Updates of rows: in place where only the session holds the array; whoever has the old value keeps it."""
import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger
from autodiff.debug.history import ring
from autodiff.ops.state.scatter import row_by_row

pytestmark = pytest.mark.usefixtures("own_graph")
STEPS = {"descent": lambda: tf.train.GradientDescentOptimizer(0.1),
         "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9), "adagrad": lambda: tf.train.AdagradOptimizer(0.1)}


def trained(optimizer):
    """A session, the table, the train op and the ids that it is fed."""
    table = tf.Variable(np.arange(40, dtype=np.float32).reshape(5, 8), name="table")
    ids = tf.placeholder(tf.int32, [None])
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids)))
    train = STEPS[optimizer]().minimize(loss)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session, table, train, ids


@pytest.mark.parametrize("optimizer", STEPS)
def test_rows_are_written_in_place(optimizer):
    session, table, train, ids = trained(optimizer)
    for runs in (2, 20):  # interpreted, compiled
        for _ in range(runs):
            session.run(train, {ids: [1, 1, 3]})
        places, before = [id(v) for v in session.variables.values()], session.run(table)
        session.run(train, {ids: [1, 1, 3]})
        assert [id(v) for v in session.variables.values()] == places
    assert (before[[0, 2, 4]] == session.run(table)[[0, 2, 4]]).all() and (before[1] != session.run(table)[1]).all()
    assert not session.variables["table"].flags.writeable


def test_who_holds_an_array_keeps_it():
    session, table, train, ids = trained("descent")
    kept = []
    keep = tf.py_func(lambda x: kept.append(x) or np.float32(0), [tf.reshape(table, [8, 5])], tf.float32)
    for _ in range(20):
        kept.append(session.run(table))
        session.run(keep)
        kept.append(session.variables["table"][1:])
        copies = [np.array(x) for x in kept]
        session.run(train, {ids: [1, 1, 3]})
        assert all((x == copy).all() for x, copy in zip(kept, copies))
        del kept[:]


def test_what_was_read_before_an_update_stays_as_it_was_read():
    table = tf.Variable(np.zeros((3, 8), np.float32))
    read = table + 0.0
    with tf.control_dependencies([read]):
        update = tf.scatter_add(table, [1], np.ones((1, 8)))
    with tf.control_dependencies([update]):
        later = tf.identity(read)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for i in range(20):
            assert session.run(later)[1, 0] == i and session.run(table)[1, 0] == i + 1


@pytest.mark.parametrize("ms", [0.0, 1e9], ids=["made again", "kept"])
def test_past_steps_have_their_rows_under_the_debugger(ms, monkeypatch):
    monkeypatch.setattr(ring, "_AGAIN", 40.0 - ms)
    session, table, train, ids = trained("adagrad")
    debugger = Debugger(tf.get_default_graph(), session)
    tables = []
    for i in range(24):
        tables.append(session.run(table))
        if i == 9:
            session.run(tf.assign(table, tables[-1] + 1.0))
            tables[-1] += 1.0
        place = id(session.variables["table"])
        debugger.on_run(session, train, {ids: [i % 5, 1]})
        assert i in (0, 9, 10) or place == id(session.variables["table"]), "only rows are kept of it"
    for moment, known in zip(debugger.state.moments, tables):
        assert (moment.variables["table"] == known).all()
    assert debugger.state.moments.spent < 24 * 2 * tables[0].nbytes // (1 if ms else 2)


@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply, np.minimum], ids=lambda u: u.__name__)
def test_rounds_of_rows_have_the_bits_of_ufunc_at(ufunc):
    rng = np.random.default_rng(0)
    for rows, count in ((50, 20), (8, 12), (2, 30), (5, 0)):
        value, updates = rng.standard_normal((rows, 9)), rng.standard_normal((count, 9))
        indices, expected = rng.integers(0, rows, count), value.copy()
        ufunc.at(expected, indices, updates)
        row_by_row(ufunc, indices, updates, value)
        assert value.tobytes() == expected.tobytes()
