"""Values that stay between runs, by their handles."""

import numpy as np
import pytest

import autodiff as tf


def test_a_value_is_kept_for_later_runs_until_it_is_deleted() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        total = tf.constant(10) * 5
        kept = session.run(tf.get_session_handle(total))
        assert kept.eval() == 50
        holder, value = tf.get_session_tensor(kept.handle, tf.int32)
        more = tf.get_session_handle(value + 1)
        for _ in range(3):
            kept, doubled = session.run([more, value * 2], {holder: kept.handle})
        assert (kept.eval(), doubled) == (53, 104)
        assert session.run(total + 1, {total: kept}) == 54
        raw = kept.get_raw_handle()
        holder, deletion = tf.delete_session_tensor(raw)
        session.run(deletion, {holder: raw})
        with pytest.raises(TypeError, match="may have already been deleted"):
            kept.eval()


def test_what_nobody_refers_to_is_not_kept() -> None:
    from autodiff.api import session_handles
    before = len(session_handles._HELD)
    with tf.Graph().as_default(), tf.Session() as session:
        handle = session.run(tf.get_session_handle(np.ones(3)))
        assert len(session_handles._HELD) == before + 1
        del handle
        assert len(session_handles._HELD) == before
