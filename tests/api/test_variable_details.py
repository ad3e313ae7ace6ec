"""Details of variables that code written for TensorFlow asks for: places, containers, pickles, parts, protos."""
import pickle
import threading

import numpy as np
import pytest

import autodiff as ad
from autodiff.core.errors import InvalidArgumentError
from autodiff.core.op import build
from autodiff.runtime.eager import EagerContext


def test_initializers_and_assignments_stand_with_their_variable_and_cached_reads_do_not() -> None:
    with ad.device("/job:ps/task:1"):
        made = [ad.Variable(lambda: ad.constant(1.0), name=f"v{r}", use_resource=bool(r)) for r in (0, 1)]
        cached = ad.Variable(2.0, use_resource=True, caching_device="/job:worker")
    for v in made:
        assert v.initializer.inputs[1].op.colocation_groups() == [f"loc:@{v.op.name}".encode()]
    assert made[0].assign(1.0).op.get_attr("_class") == [b"loc:@v0"]
    assert cached.value().device == "/job:worker" and cached._cached_value is cached.value()
    with pytest.raises(ValueError):
        cached.value().op.get_attr("_class")


def test_a_container_is_kept_as_an_attribute() -> None:
    with ad.container("a"):
        inside = [ad.Variable(1.0, use_resource=r) for r in (False, True)]
    assert [v.op.get_attr("container") for v in (*inside, ad.Variable(1.0))] == [b"a", b"a", b""]


def test_handles_say_which_dtype_they_want() -> None:
    handle = build.VarHandleOp(dtype=ad.int32, shape=[1])
    with pytest.raises(ValueError, match="Trying to assign variable with wrong dtype. Expected int32 got float."):
        build.AssignVariableOp(handle, ad.constant([1.0]))
    with pytest.raises(ValueError, match="Trying to read variable with wrong dtype. Expected half got int32."):
        build.ReadVariableOp(handle, dtype=ad.float16)
    assigned = build.AssignVariableOp(ad.identity(handle), [3])
    with ad.Session() as session:
        session.run(assigned)
        assert session.run(build.ReadVariableOp(handle)).tolist() == [3]


def test_an_initial_value_of_a_loop_is_refused() -> None:
    with pytest.raises(ValueError, match="Initializer for variable .* is from inside a control-flow construct"):
        ad.while_loop(lambda i: i < 3, lambda i: ad.Variable(ad.zeros([])) + i, [0.0])


def test_eager_variables_are_pickled_and_assigned_in_parts() -> None:
    with EagerContext().as_default():
        v = ad.Variable([1.0, 2.0], name="v", trainable=False)
        again = pickle.loads(pickle.dumps(v))
        assert (again.name, again.trainable, again.numpy().tolist()) == ("v:0", False, [1, 2])
        v[1:].assign([5.0])
        assert v.numpy().tolist() == [1, 5] and again.numpy().tolist() == [1, 2]
        with pytest.raises(InvalidArgumentError):
            v[0].assign([1.0, 2.0])
    with pytest.raises(NotImplementedError):
        pickle.dumps(ad.Variable(1.0, use_resource=True))


def test_a_proto_without_initial_value_is_written_without_one() -> None:
    definition = ad.Variable(1.0, use_resource=True, aggregation=ad.VariableAggregation.MEAN).to_proto()
    definition.ClearField("initial_value_name")
    again = ad.Variable(variable_def=definition, use_resource=True)
    assert again.to_proto() == definition and again.aggregation == ad.VariableAggregation.MEAN
    with pytest.raises(ValueError, match="names no initial value"):
        again.initialized_value()


def test_a_partitioned_variable_takes_a_value_for_each_part() -> None:
    whole = ad.get_variable("whole", [4], partitioner=ad.fixed_size_partitioner(2), initializer=ad.zeros_initializer())
    change = whole.assign([[1.0, 2.0], [3.0, 4.0]])
    with ad.Session() as session:
        session.run(ad.global_variables_initializer())
        assert np.concatenate(session.run(change)).tolist() == [1, 2, 3, 4]


def test_a_handle_made_by_hand_shares_the_variable_of_its_name() -> None:
    with ad.Graph().as_default(), ad.Session() as session:
        v = ad.Variable(3.0, name="v", use_resource=True)
        same, other = (ad.raw_ops.VarHandleOp(dtype=ad.float32, shape=[], shared_name=name) for name in ("v", "none"))
        read = ad.raw_ops.ReadVariableOp(resource=same, dtype=ad.float32)
        with pytest.raises(ad.errors.FailedPreconditionError, match="Error while reading resource variable v"):
            session.run(v)
        session.run(v.initializer)
        assert session.run(read) == 3.0
        with pytest.raises(ad.errors.FailedPreconditionError, match="Resource localhost/none/.* does not exist"):
            session.run(ad.raw_ops.ReadVariableOp(resource=other, dtype=ad.float32))
        assert ad.group(v.assign_add(1.0)).control_inputs[0].type == "AssignAddVariableOp"


def test_batches_of_rows_are_updated_each_at_its_places() -> None:
    with ad.Graph().as_default(), ad.Session() as session:
        v = ad.Variable(np.zeros((2, 3)))
        session.run(v.initializer)
        assert session.run(ad.batch_scatter_update(v, [[0, 2], [1, 0]], [[1.0, 2], [3, 4]])).tolist() == [
            [1, 0, 2], [4, 3, 0]]
        with pytest.raises(ValueError, match="unknown shape"):
            ad.batch_scatter_update(v, ad.placeholder(ad.int32), 1.0)


@pytest.mark.parametrize("use_resource", [False, True])
def test_no_step_of_several_threads_is_lost(use_resource: bool) -> None:
    with ad.Graph().as_default(), ad.Session() as session:
        v = ad.Variable(np.zeros((256, 256)), use_resource=use_resource)  # long enough for NumPy to let others run
        steps = [v.assign_add(np.ones((256, 256))).op for _ in range(4)] + [v.assign_sub(np.ones((256, 256))).op]
        session.run(v.initializer)
        threads = [threading.Thread(target=lambda op=op: [session.run(op) for _ in range(20)]) for op in steps]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert (session.run(v) == 60).all()
