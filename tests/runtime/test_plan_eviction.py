"""Plans that were not used for long are let go, and made again when they are wanted."""
import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger
from autodiff.runtime import session as session_module

pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.fixture
def chain(monkeypatch):
    """A session that keeps few plans, and tensors of a chain."""
    monkeypatch.setattr(session_module, "MOST_STEPS", 100)
    x = tf.Variable(1.0, name="x")
    ys = [tf.assign_add(x, 0.5) * 2.0]
    for _ in range(30):
        ys.append(tf.sin(ys[-1]) + 1.0)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session, ys


def kept(session):
    return sum(len(p.plan.steps) for of in session._programs.values() for p in of.values())


def test_plans_are_bounded_and_the_ones_in_use_stay(chain):
    session, ys = chain
    session.run(ys[1])
    first = session._program(session._wanted(ys[1]), ())
    for y in ys[2:]:
        session.run([y, y])
        session.run(ys[1])
        assert kept(session) < 200
    assert session._program(session._wanted(ys[1]), ()) is first
    assert len(session._fetches) < 8 and len(session._lists) < 8
    prepared = session.prepared(session._wanted(ys[5]))
    for y in ys:
        session.run(y)
    session.run(prepared)
    assert session._programs[prepared.tensors, prepared.targets] is prepared.programs


def test_a_past_step_whose_plan_was_let_go_is_made_again(chain):
    session, ys = chain
    debugger = Debugger(tf.get_default_graph(), session)
    given = [debugger.on_run(session, [y], {})[0][0] for y in ys]
    for step, (y, value) in enumerate(zip(ys, given), 1):
        moment = debugger.state.moment(step)
        assert np.equal(debugger.state.replayer.values(moment, [y])[0], value)
