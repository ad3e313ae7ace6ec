"""Where operations stand: devices by their parts, colocation, clusters; operations by type; variables in protos."""

import threading

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.control import contexts
from autodiff.core.devices import merge_device
from autodiff.tensorflow_names.python import framework_ops


@pytest.fixture(autouse=True)
def _fresh() -> None:
    tf.reset_default_graph()


def test_a_device_is_its_parts() -> None:
    spec = tf.DeviceSpec.from_string("/replica:1/task:0/cpu:0")
    assert (spec.replica, spec.task, spec.device_type, spec.device_index) == (1, 0, "CPU", 0)
    spec.merge_from(tf.DeviceSpec.from_string("/job:ps/device:GPU:2"))
    assert spec.to_string() == "/job:ps/replica:1/task:0/device:GPU:2"
    assert spec.replace(device_type=None, task=None).to_string() == "/job:ps/replica:1"
    for name, words in (("/cpu:0/gpu:1", "Cannot specify multiple device types"), ("/bar:1", "Unknown attribute: .bar"),
                        ("/task:x", "invalid literal for int")):
        with pytest.raises(ValueError, match=words):
            tf.DeviceSpec.from_string(name)
    with tf.device(merge_device("/gpu:0")), tf.device(merge_device("/job:worker")):
        assert tf.no_op().device == "/job:worker/device:GPU:0"


@pytest.mark.parametrize(("outer", "inner", "device"), [  # of TensorFlow 1.15.5
    ("/gpu:7", "/gpu:*", "/device:GPU:7"), ("/gpu:7", "/cpu", "/device:CPU:7"), ("/cpu:*", "/cpu:5", "/device:CPU:5"),
    ("/job:a/task:1/gpu:7", "/cpu:0", "/job:a/task:1/device:CPU:0"), ("/job:a", "/gpu:*", "/job:a/device:GPU:*"),
    ("/gpu:*", "/cpu:*", "/device:CPU:*"), ("/gpu:1", "", "/device:GPU:1"), ("/gpu:1", None, "")])
def test_what_a_device_leaves_open_is_the_outer_ones(outer: str, inner: str | None, device: str) -> None:
    with tf.device(outer), tf.device(inner):
        assert tf.no_op().device == device


def test_blocks_of_devices_end_in_their_order() -> None:
    outer = tf.device("/gpu:8")
    outer.__enter__()
    with tf.device("/gpu:9"), pytest.raises(RuntimeError, match="without proper scope nesting"):
        outer.__exit__(None, None, None)


def test_colocated_operations_are_in_one_group() -> None:
    with tf.device("/gpu:0"):
        a = tf.constant(1.0, name="a")
    with tf.colocate_with(a):
        b = tf.constant(2.0)
        with tf.colocate_with(None, ignore_existing=True):
            c = tf.constant(3.0, name="c")
    assert b.op.colocation_groups() == b.op.get_attr("_class") == [b"loc:@a"]
    assert (b.device, c.op.colocation_groups()) == ("/device:GPU:0", [b"loc:@c"])
    with pytest.raises(ValueError, match="_class"):
        c.op.get_attr("_class")


def test_variables_take_turns_on_the_servers_of_a_cluster() -> None:
    cluster = tf.train.ClusterSpec({"ps": ["a:1", "b:1"], "worker": {3: "c:1"}})
    message = cluster.as_cluster_def()
    again = tf.train.ClusterSpec(type(message).FromString(message.SerializeToString()))
    assert str(again) == str(cluster) == "ClusterSpec({'ps': ['a:1', 'b:1'], 'worker': {3: 'c:1'}})"
    assert cluster.job_tasks("worker") == [None, None, None, "c:1"]
    with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        v, w = tf.Variable(1.0), tf.Variable(2.0)
        total = v + w
    assert (v.device, w.initializer.device, total.device) == ("/job:ps/task:0", "/job:ps/task:1", "/job:worker")
    with pytest.raises(ValueError, match="No such job in cluster: 'moon'"):
        cluster.num_tasks("moon")
    with tf.Session(tf.train.Server.create_local_server().target) as session:
        assert session.run(tf.constant(3)) == 3


def test_an_operation_is_made_by_its_type() -> None:
    graph = tf.get_default_graph()
    x = tf.constant([[1.0, 2.0]])
    op = graph.create_op("MatMul", [x, x], attrs={"transpose_b": tf.AttrValue(b=True), "T": tf.float32}, name="product")
    assert (op.name, op.get_attr("transpose_b")) == ("product", True)
    with tf.Session() as session:
        assert session.run(op.outputs[0]) == [[5.0]]
    with pytest.raises(ValueError, match="Op type not registered 'Unheard'"):
        graph.create_op("Unheard", [])


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_variable_comes_back_from_its_proto(use_resource: bool) -> None:
    with tf.name_scope("outer"):
        v = tf.Variable(3.0, name="v", use_resource=use_resource, trainable=False)
    same = tf.Variable(variable_def=v.to_proto("outer"), import_scope="outer")
    assert (same.name, same.op, same.trainable) == (v.name, v.op, False)
    assert v.to_proto("elsewhere") is None
    open_shape = tf.Variable(np.zeros([1, 1]), shape=tf.TensorShape(None), use_resource=use_resource)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(same) == 3.0
        session.run(open_shape.assign(np.ones([2, 2])))
        assert session.run(open_shape.read_value()).shape == (2, 2)


def test_a_resource_variable_is_set_and_read_where_its_handle_is() -> None:
    for ps_device, at in (("/job:ps", "/job:ps/task:0"), ("/cpu:0", "/device:CPU:0")):
        with tf.device(tf.train.replica_device_setter(ps_tasks=1, ps_device=ps_device)):
            v = tf.Variable([1.0], use_resource=True)
            cached = tf.Variable([1.0], use_resource=True, caching_device="/job:worker/cpu:0")
        assert [v.device, v.initializer.device, v._snapshot.device] == [at] * 3
        assert cached._snapshot.device.startswith("/job:worker") and cached._snapshot.op.inputs[0].device == at
    assert tf.Variable([1.0], use_resource=True).initializer.device == ""


def test_an_operation_is_made_of_a_node_def_under_its_very_name() -> None:
    graph = tf.Graph()
    with graph.as_default(), tf.name_scope("within"):
        x = tf.constant([[1.0, 2.0]], name="x")
    node = framework_ops._NodeDef("MatMul", "product", device="/cpu:0", attrs={"transpose_b": tf.AttrValue(b=True)})
    op = tf.Operation(node, graph, [x, x], [tf.float32], control_inputs=[x.op], original_op=x.op)
    padding = tf.nn.max_pool(tf.zeros([1, 2, 2, 1]), [1, 1, 1, 1], [1, 1, 1, 1], "SAME").op.get_attr("padding")
    assert b"SAME" == padding == "SAME" and padding != b"VALID" and padding.decode() in {"SAME"}  # bytes in TensorFlow
    assert (op.name, op.device, op._input_types, op._output_types) == ("product", "/cpu:0", [tf.float32] * 2,
                                                                       [tf.float32])
    assert op.control_inputs == [] and op.origin is x.op and graph.get_operation_by_name("product") is op
    assert tf.Session(graph=graph).run(op.outputs[0]).tolist() == [[5.0]] and 'op: "MatMul"' in str(op)
    with graph.as_default():
        v = tf.Variable(1.0, name="v")
        assert v.assign(2.0).op.get_attr("_class") == [b"loc:@v"]
    assert "_class" not in graph.create_op("Assign", [v._ref(), v._ref()]).node_def.attr  # made as it is
    made = graph._create_op_from_tf_operation(framework_ops._create_c_op(graph, node, [x, x], []))
    assert made.name == "product_1"
    with pytest.raises(ValueError, match="'-x' is not a valid node name"):
        tf.Operation(framework_ops._NodeDef("NoOp", "-x"), graph)
    with pytest.raises(TypeError, match="node_def needs to be a NodeDef: 'NoOp'"):
        tf.Operation("NoOp", graph)


def test_init_scope_leaves_every_graph_that_is_a_functions() -> None:
    outer, inner, innermost = tf.Graph(), tf.Graph(), tf.Graph()
    inner._building_function = innermost._building_function = True
    with outer.as_default(), tf.device("CPU:0"), inner.as_default(), innermost.as_default(), tf.device("/device:GPU:0"):
        with tf.init_scope():
            lifted = tf.constant(1.0)
    assert (lifted.graph, lifted.device, outer.placement != "") == (outer, "/device:GPU:0", False)
    with innermost.as_default(), tf.init_scope():
        assert tf.get_default_graph() not in (inner, innermost)


def test_statistics_are_what_was_registered_for_a_type() -> None:
    framework_ops.RegisterStatistics("Mul", "flops")(lambda graph, node: framework_ops.OpStats("flops", len(node.name)))
    node = framework_ops._NodeDef("Mul", "four")
    found = framework_ops.get_stats_for_node_def(tf.Graph(), node, "flops")
    found += framework_ops.get_stats_for_node_def(tf.Graph(), node, "flops")
    assert found.value == 8 and framework_ops.get_stats_for_node_def(tf.Graph(), node, "weights").value is None


def test_a_context_of_control_flow_changes_nothing() -> None:
    context = contexts.XLAControlFlowContext()
    context.Enter()
    op = tf.no_op()
    context.Exit()
    assert (op.graph, op._get_control_flow_context()) == (tf.get_default_graph(), None)


def test_blocks_hold_for_their_own_thread_once_a_graph_is_switched() -> None:
    graph, made = tf.Graph(), {}
    with graph.as_default(), graph.device("/job:a"):
        beside = tf.no_op(name="beside")
        graph.switch_to_thread_local()
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with graph.device("/cpu:1"), graph.control_dependencies([beside]):
            entered.set()
            leave.wait(20)
            made["other"] = graph.create_op("NoOp", [], [], name="other")

    thread = threading.Thread(target=other)
    thread.start()
    entered.wait(20)
    with graph.device("/cpu:0"):
        mine = graph.create_op("NoOp", [], [], name="mine")
    leave.set()
    thread.join(20)
    assert (mine.device, mine.control_inputs) == ("/device:CPU:0", [])  # its block has ended
    assert (made["other"].device, made["other"].control_inputs) == ("/job:a/device:CPU:1", [beside])
    assert type(graph).__name__ == "Graph" and isinstance(graph, tf.Graph)


def test_a_group_has_an_operation_on_each_device() -> None:
    with tf.device("/task:0"):
        a, b = tf.no_op(name="a"), tf.no_op(name="b")
    with tf.device("/task:1"):
        c = tf.no_op(name="c")
    with tf.device("/task:2"):
        alone, both = tf.group(a, b, name="alone"), tf.group(c, a, b, name="both")
    assert (alone.name, alone.device, alone.control_inputs) == ("alone", "/task:0", [a, b])
    assert [(op.name, op.device, op.control_inputs) for op in both.control_inputs] == [
        ("both/NoOp", "/task:0", [a, b]), ("both/NoOp_1", "/task:1", [c])]
    assert (both.name, both.device) == ("both", "/task:2")


def test_a_sum_of_gradients_stands_with_its_first_term_on_one_device() -> None:
    for devices, beside in ((("/task:1", "/task:1"), b"loc:@MatMul_1"), (("/task:1", "/task:2"), b"loc:@w")):
        tf.reset_default_graph()
        w = tf.constant([[1.0]], name="w")
        products = []
        for place in devices:
            with tf.device(place):
                products.append(tf.matmul(w, [[2.0]]))
        slope = tf.gradients(sum(products), w, colocate_gradients_with_ops=True)[0]
        assert (slope.op.type, slope.op.colocation_groups()) == ("AddN", [beside])
