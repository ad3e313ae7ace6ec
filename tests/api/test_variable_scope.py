"""variable_scope, get_variable, templates, name scopes, initializers. Expected values are TensorFlow 1.15.5's."""

import importlib
import sys

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.variables.template import make_template_internal
from autodiff.runtime.eager import eager_mode

pytestmark = pytest.mark.usefixtures("own_graph")


def run(*fetches):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return [session.run(fetch) for fetch in fetches]


# ---- names ------------------------------------------------------------------------------

def test_get_variable_ignores_name_scopes():
    with tf.name_scope("a"):
        made = tf.Variable(1.0, name="v")
        with tf.variable_scope("b"):
            got, inner, op = tf.get_variable("w", [2]), tf.Variable(2.0, name="u"), tf.constant(1.0, name="c")
    assert [x.name for x in (made, got, inner, op)] == ["a/v:0", "b/w:0", "a/b/u:0", "a/b/c:0"]


def test_opening_a_scope_again_keeps_variables_and_renames_ops():
    with tf.variable_scope("s") as first:
        a, x = tf.get_variable("a", [1]), tf.constant(1, name="x")
    with tf.variable_scope(first, reuse=True) as second:
        b, y = tf.get_variable("a", [1]), tf.constant(1, name="x")
        with tf.name_scope(second.original_name_scope):
            z = tf.constant(1, name="x")
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        c, d = tf.get_variable("a"), tf.get_variable("d", [2])
    assert a is b is c and d.name == "s/d:0"
    assert [t.name for t in (x, y, z)] == ["s/x:0", "s_1/x:0", "s/x_1:0"]
    assert first.original_name_scope == second.original_name_scope == "s/"


def names_in_default_scope(name):
    with tf.variable_scope(None, name) as scope:
        return scope.name, tf.Variable(1.0, name="x").name


def test_default_names_are_made_unique_among_variable_scopes():
    assert names_in_default_scope("d") == ("d", "d/x:0")
    assert names_in_default_scope("d") == ("d_1", "d_1/x:0")
    with tf.variable_scope("o"):
        assert names_in_default_scope("d") == ("o/d", "o/d/x:0")
        assert names_in_default_scope("d") == ("o/d_1", "o/d_1/x:0")
    with tf.variable_scope("o"):
        assert names_in_default_scope("d") == ("o/d", "o_1/d/x:0")
    with tf.variable_scope("") as top:
        assert (top.name, top.original_name_scope) == ("", "")


def test_a_scope_object_is_opened_where_it_was():
    with tf.variable_scope("a"), tf.variable_scope("b") as b:
        pass
    with tf.variable_scope("c"):
        with tf.variable_scope(b) as again:
            v, k = tf.get_variable("v", [1]), tf.constant(1, name="k")
        with tf.variable_scope(b, auxiliary_name_scope=False):
            plain = tf.constant(1, name="k")
    assert (again.name, v.name, k.name, plain.name) == ("a/b", "a/b/v:0", "c/b/k:0", "c/k:0")


def test_name_scopes():
    with tf.name_scope("n") as n:
        with tf.name_scope(None) as top, tf.name_scope("n/") as again:
            b = tf.constant(1, name="b")
        with tf.name_scope(None, "default", [b]) as default:
            pass
    assert (n, top, again, default, b.name) == ("n/", "", "n/", "n/default/", "n/b:0")
    with pytest.raises(ValueError):
        tf.name_scope(None, None, [b])
    with pytest.raises(TypeError):
        tf.name_scope(3)


def test_groups_and_tuples():
    a, b = tf.constant(1.0), tf.constant(2.0)
    both = tf.tuple([a, None, b])
    assert both[1] is None
    assert [both[0].name, both[2].name] == ["tuple/control_dependency:0", "tuple/control_dependency_1:0"]
    group = tf.group(a, [b])
    assert (group.name, group.type, group.control_inputs) == ("group_deps", "NoOp", [a.op, b.op])
    with pytest.raises(ValueError):
        tf.tuple([None])
    with pytest.raises(TypeError):
        tf.group(3)


# ---- sharing ----------------------------------------------------------------------------

def test_reuse_is_inherited_and_cannot_be_undone():
    with tf.variable_scope("a", reuse=True):
        found = []
        for reuse in (None, False, tf.AUTO_REUSE):
            with tf.variable_scope("b", reuse=reuse) as scope:
                found.append(scope.reuse)
    assert found == [True, True, tf.AUTO_REUSE]


def test_sharing_is_refused_unless_asked_for_and_alike():
    a = tf.get_variable("a", [2])
    with pytest.raises(ValueError, match="already exists"):
        tf.get_variable("a", [2])
    tf.get_variable_scope().reuse_variables()
    assert tf.get_variable("a") is a
    for options in ({"name": "a", "shape": [3]}, {"name": "a", "dtype": tf.int32}, {"name": "b", "shape": [2]}):
        with pytest.raises(ValueError):
            tf.get_variable(**options)


def test_custom_getters_nest():
    def untrained(getter, name, *args, **options):
        return getter(name + "_x", *args, **{**options, "trainable": False})

    def prefixed(getter, name, *args, **options):
        return getter("pre/" + name, *args, **options)

    with tf.variable_scope("s", custom_getter=untrained):
        with tf.variable_scope("t", custom_getter=prefixed):
            v = tf.get_variable("v", [2])
        w = tf.get_variable("w", [2], custom_getter=prefixed)
    assert (v.name, w.name) == ("pre/s/t/v_x:0", "pre/s/w:0")
    assert tf.trainable_variables() == [w]


def test_templates_share_variables_between_calls():
    def scaled(x, k=1.0):
        return x * k * tf.get_variable("w", [2], initializer=tf.ones_initializer())

    first, second = tf.make_template("t", scaled), tf.make_template("t", scaled, k=3.0)
    results = run(first(tf.constant([1.0, 2.0])), first(tf.constant([3.0, 4.0])), second(tf.constant([1.0, 2.0])))
    np.testing.assert_array_equal(results, [[1, 2], [3, 4], [3, 6]])
    assert [v.name for v in tf.global_variables()] == ["t/w:0", "t_1/w:0"]
    assert first.variables == first.trainable_variables == [tf.global_variables()[0]]
    assert first.variable_scope_name == "t/"
    nameless, called = tf.make_template("", scaled), make_template_internal("c", scaled, create_graph_function_=True)
    with tf.variable_scope("outer"):
        nameless(1.0)
    assert nameless.variable_scope_name == "outer/" and nameless.variables == [tf.global_variables()[2]]
    assert run(called(2.0) + called(3.0))[0].tolist() == [5, 5] and len(called.variables) == 1


def test_a_template_refuses_new_variables_at_a_later_call():
    template = tf.make_template("t", lambda: tf.get_variable(f"v{len(tf.global_variables())}", [1]))
    template()
    with pytest.raises(ValueError, match="does not exist"):
        template()


# ---- settings and initializers ----------------------------------------------------------

def test_a_scope_gives_what_get_variable_is_not_told():
    with tf.variable_scope("s", initializer=tf.constant_initializer(2.0), regularizer=tf.reduce_sum, dtype=tf.float64,
                           use_resource=True):
        v = tf.get_variable("v", [2])
        w = tf.get_variable("w", [1], dtype=tf.float32, regularizer=tf.no_regularizer, use_resource=False)
    assert (v.dtype, w.dtype.base_dtype, v.op.type, w.op.type) == (tf.float64, tf.float32, "VarHandleOp", "VariableV2")
    assert [t.name for t in tf.get_collection("regularization_losses")] == ["s/v/Regularizer/Sum:0"]
    np.testing.assert_array_equal(run(v)[0], [2.0, 2.0])


def test_kinds_of_initializers():
    kinds = {"number": 3.0, "array": np.array([1.0, 2.0]), "tensor": tf.constant([[1, 2]]),
             "function": lambda: tf.constant([1.0, 2.0])}
    made = [tf.get_variable(name, initializer=kind) for name, kind in kinds.items()]
    made.append(tf.get_variable("class", 3, initializer=tf.ones_initializer))
    made.append(tf.get_variable("shape", [2], initializer=lambda shape, dtype, partition_info: tf.fill(shape, 7.0)))
    for value, wanted in zip(run(*made), [3.0, [1, 2], [[1, 2]], [1, 2], [1, 1, 1], [7, 7]], strict=True):
        np.testing.assert_array_equal(value, wanted)
    assert [v.dtype.base_dtype.name for v in made] == ["float32", "float64", "int32", "float32", "float32", "float32"]


def test_default_initializers():
    v, i, s = tf.get_variable("v", [50, 50]), tf.get_variable("i", [2], tf.int32), tf.get_variable("s", [2], tf.string)
    values = run(v, i, s)
    assert np.abs(values[0]).max() <= np.sqrt(6 / 100) and values[1].tolist() == [0, 0]
    assert values[2].tolist() == [b"", b""]
    assert "v/Initializer/random_uniform" in tf.get_default_graph().operations


ERRORS = [
    (ValueError, lambda: tf.get_variable("x")),
    (ValueError, lambda: tf.get_variable("x", [None])),
    (ValueError, lambda: tf.get_variable("x", [2], initializer=tf.constant([1.0, 2.0]))),
    (ValueError, lambda: tf.get_variable("x", dtype=tf.int32, initializer=tf.constant(1.0))),
    (ValueError, lambda: tf.get_variable("x", [2], partitioner=lambda **_: [3])),
    (ValueError, lambda: tf.get_variable("")),
    (TypeError, lambda: tf.variable_scope(None)),
    (TypeError, lambda: tf.variable_scope(3)),
    (ValueError, lambda: tf.variable_scope("s", reuse=5)),
    (ValueError, lambda: tf.variable_scope(None, "s", reuse=True)),
    (ValueError, lambda: tf.initializers.variance_scaling(-1.0)),
    (ValueError, lambda: tf.initializers.variance_scaling(1.0, "x")),
    (ValueError, lambda: tf.initializers.variance_scaling(1.0, "fan_in", "x")),
    (ValueError, lambda: tf.initializers.orthogonal()([2])),
    (ValueError, lambda: tf.initializers.identity()([2])),
    (ValueError, lambda: tf.initializers.random_normal(dtype=tf.int32)),
]


@pytest.mark.parametrize(("error", "make"), ERRORS)
def test_errors(error, make):
    with pytest.raises(error):
        make()


def test_local_variables():
    v = tf.get_local_variable("v", [2], initializer=tf.ones_initializer())
    assert tf.local_variables() == [v] and tf.global_variables() == tf.trainable_variables() == []


SPREADS = [  # initializer, standard deviation for a matrix of 200 rows and 100 columns
    (tf.initializers.random_uniform(-1.0, 1.0), 2 / np.sqrt(12)),
    (tf.initializers.random_normal(stddev=2.0), 2.0),
    (tf.initializers.truncated_normal(), 0.8796),
    (tf.initializers.glorot_uniform(), np.sqrt(2 / 300)),
    (tf.initializers.glorot_normal(), np.sqrt(2 / 300)),
    (tf.initializers.he_normal(), np.sqrt(2 / 200)),
    (tf.initializers.he_uniform(), np.sqrt(2 / 200)),
    (tf.initializers.lecun_normal(), np.sqrt(1 / 200)),
    (tf.initializers.lecun_uniform(), np.sqrt(1 / 200)),
    (tf.initializers.uniform_unit_scaling(), np.sqrt(1 / 200)),
    (tf.initializers.variance_scaling(3.0, "fan_out", "untruncated_normal"), np.sqrt(3 / 100)),
]


@pytest.mark.parametrize(("initializer", "spread"), SPREADS)
def test_spread_of_random_initializers(initializer, spread):
    tf.set_random_seed(1)
    values = run(initializer([200, 100]))[0]
    assert abs(values.mean()) < 0.03 * spread and values.std() == pytest.approx(spread, rel=0.03)
    assert type(initializer).from_config(initializer.get_config()).get_config() == initializer.get_config()


def test_orthogonal_identity_and_constant():
    tall, wide = run(tf.initializers.orthogonal(2.0)([4, 3]), tf.initializers.orthogonal()([2, 2, 5]))
    np.testing.assert_allclose(tall.T @ tall, 4 * np.eye(3), atol=1e-5)
    np.testing.assert_allclose(wide.reshape(4, 5) @ wide.reshape(4, 5).T, np.eye(4), atol=1e-5)
    identity, constant = run(tf.initializers.identity(3.0)([2, 3]), tf.constant_initializer([1, 2, 3])([2, 2]))
    np.testing.assert_array_equal(identity, 3 * np.eye(2, 3))
    np.testing.assert_array_equal(constant, [[1, 2], [3, 3]])


@pytest.mark.parametrize("name, shape", [("delta_orthogonal", [3, 4, 2, 3]), ("orthogonal_1d", [3, 2, 3]),
                                         ("orthogonal_2d", [2, 2, 2, 3]), ("orthogonal_3d", [2, 2, 2, 2, 3])])
def test_an_orthogonal_convolution_keeps_the_norm_of_periodic_inputs(name, shape):
    initializer = getattr(tf.contrib.framework, f"convolutional_{name}")(gain=2.0, seed=1, dtype=tf.float64)
    kernel, = run(initializer(shape))
    for frequency in np.ndindex(*shape[:-2]):  # at each, the kernel's transform has orthogonal rows of length `gain`
        phase = np.exp(sum(1j * (at + 0.3) * k for at, k in zip(frequency, np.indices(shape[:-2]))))
        matrix = np.tensordot(phase, kernel, axes=len(shape) - 2)
        np.testing.assert_allclose(matrix @ matrix.conj().T, 4 * np.eye(2), atol=1e-12)
    with pytest.raises(ValueError, match="In_filters cannot be greater than out_filters"):
        initializer([*shape[:-2], 3, 2])
    with pytest.raises(ValueError, match="The tensor to initialize must be"):
        initializer([2, 2])


def test_a_scope_opened_again_gives_its_default_names_again():
    names = []
    for _ in range(2):
        with tf.variable_scope("net"):
            with tf.variable_scope(None, default_name="cell") as cell:
                names.append(cell.name)
            with tf.variable_scope(cell):
                pass
    assert names == ["net/cell", "net/cell"]


def test_devices_are_written_out_and_merged():
    with tf.device("/gpu:0"):
        assert tf.constant(1.0).device == "/device:GPU:0"
    with tf.device("/job:ps/task:1"):
        with tf.device("cpu:1"):
            assert tf.constant(1.0).op.device == "/job:ps/task:1/device:CPU:1"
        with tf.device(None):
            assert tf.constant(1.0).device == ""
        assert tf.Variable(1.0).device == "/job:ps/task:1"
    for wrong in ("zzz", "/gpu:x", "/device:GPU:x", "/task:a"):
        with pytest.raises(ValueError), tf.device(wrong):
            pass


def test_names_that_are_none_are_refused():
    for make in (lambda name: tf.constant(1.0, name=name), lambda name: tf.square(tf.ones([2]), name=name)):
        for name in ("a b", "_a", "a:0", "", "/a", "a>"):
            with pytest.raises(ValueError):
                make(name)
    for mapping in ({1: "Square"}, {"Square": 1}):
        with pytest.raises(TypeError), tf.get_default_graph().gradient_override_map(mapping):
            pass


def test_an_operation_knows_the_type_of_its_inputs():
    assert tf.add(1.0, 2.0).op.get_attr("T") == tf.float32
    with pytest.raises(ValueError):
        tf.no_op().get_attr("T")


def test_init_scope_keeps_the_name_scope():
    with tf.name_scope("q"), tf.control_dependencies([tf.constant(1.0)]), tf.init_scope():
        inside = tf.constant(1.0)
    assert (inside.name, inside.op.control_inputs) == ("q/Const_1:0", [])


def test_what_fails_has_taken_its_name():
    x, i = tf.constant([1.0, 2.0]), tf.constant([1, 2])
    for fail in (lambda: x + i, lambda: tf.matmul(x, i), lambda: tf.gradients(x, x, aggregation_method=7)):
        with pytest.raises((TypeError, ValueError)):
            fail()
    m = tf.ones([2, 2])
    assert [(x + x).name, tf.matmul(m, m).name] == ["add_1:0", "MatMul_1:0"]
    assert tf.gradients(x * 2.0, x)[0].name.startswith("gradients_1/")


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_partitioned_variable_is_its_parts_and_one_value(use_resource, tmp_path):
    partitioner = tf.fixed_size_partitioner(2)
    with tf.variable_scope("outer", partitioner=partitioner, use_resource=use_resource) as scope:
        w = tf.get_variable("w", initializer=np.arange(6, dtype=np.float32).reshape(3, 2))
        b = tf.get_variable("b", [], initializer=tf.zeros_initializer())
    with tf.variable_scope(scope, reuse=True):
        same = tf.get_variable("w", [3, 2])
    assert [v.op.name for v in w] == [v.op.name for v in same] == ["outer/w/part_0", "outer/w/part_1"]
    assert ([v.shape.as_list() for v in w], w.name, b.name) == ([[2, 2], [1, 2]], "outer/w", "outer/b:0")
    assert list(w)[1]._save_slice_info.spec == "3 2 2,1:0,2"
    slices = [op.name for op in tf.get_default_graph().get_operations() if op.type == "Slice"]
    assert slices == [f"outer/w/part_{i}/PartitionedInitializer/Slice" for i in range(2)]
    rows = tf.nn.embedding_lookup(w, [2, 0], partition_strategy="div")
    gradients = tf.gradients(tf.reduce_sum(tf.matmul(w, [[1.0], [2.0]])), list(w))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(rows).tolist() == [[4.0, 5.0], [0.0, 1.0]]
        assert session.run(gradients[1]).tolist() == [[1.0, 2.0]]
        path = tf.train.Saver().save(session, str(tmp_path / "c"))
        session.run(w.assign_add(np.ones((3, 2))))
        assert session.run(w + 0.0).tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert tf.train.load_variable(path, "outer/w").tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


@pytest.mark.parametrize(("slicing", "words"), [
    ([2, 2], "Can only slice a variable along one dimension"), ([0, 1], "zero partitions"), ([2], "must have the"),
])
def test_what_cannot_be_partitioned_says_so(slicing, words):
    with pytest.raises(ValueError, match=words):
        tf.create_partitioned_variables([4, 6], slicing, tf.zeros_initializer())


def test_a_template_shares_its_variables_eagerly_too() -> None:
    def line(x, trainable=True):
        return x * tf.get_variable("w", [2], initializer=tf.ones_initializer(), trainable=trainable)

    with eager_mode():
        made = tf.make_template("line", line)
        assert made.variables == []
        made(tf.constant([1.0, 2.0]))
        made.trainable_variables[0].assign([3.0, 4.0])
        assert made(tf.constant([1.0, 2.0])).numpy().tolist() == [3.0, 8.0]
        assert [v.name for v in made.variables] == ["line/w:0"]
        with pytest.raises(ValueError, match="unique_name_ cannot be used"):
            tf.make_template("line", line, unique_name_="l")


def test_a_template_makes_its_trained_variables_at_once() -> None:
    made = tf.make_template("s", lambda: tf.Variable(1.0, name="dummy"))
    made()
    with pytest.raises(ValueError, match="Trainable variable created when calling a template after the first"):
        made()


def test_a_custom_getter_is_told_whether_the_variable_is_trained_and_may_share_without_asking():
    told = []

    def twice(getter, name, *args, **options):
        told.append(options["trainable"])
        return getter(name, *args, **{**options, "reuse": None}) + getter(name, *args, **{**options, "reuse": None})

    with tf.variable_scope("s", custom_getter=twice):
        tf.get_variable("v", [2], regularizer={})  # no regularizer, as None is
        tf.get_variable("w", [2], synchronization=tf.VariableSynchronization.ON_READ)
    assert told == [True, False] and len(tf.global_variables()) == 2


def test_a_resource_may_begin_with_a_value_of_unknown_shape():
    unknown = tf.placeholder_with_default(np.float32([1, 2]), None)
    v = tf.Variable(unknown, use_resource=True)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(v).tolist() == [1, 2]
    with pytest.raises(ValueError, match="known shape"):
        tf.Variable(unknown, use_resource=False)


def test_eager_ops_are_placed_beside_what_has_no_operation():
    with eager_mode(), tf.colocate_with(tf.constant(1.0)), tf.colocate_with(tf.Variable(2.0)):
        assert float(tf.constant(1.0) + 1.0) == 2.0


def test_eager_variables_of_a_template_or_store_are_kept():
    with eager_mode():
        inner = tf.make_template("inner", lambda: tf.get_variable("v", [2]))
        outer = tf.make_template("outer", lambda: inner() + tf.get_variable("w", [2]), create_scope_now_=True)
        assert outer().numpy().tolist() == outer().numpy().tolist()
        assert [v.name for v in outer.trainable_variables] == ["outer/w:0"]
        store = tf.contrib.eager.EagerVariableStore()
        for _ in range(2):
            with store.as_default(), tf.variable_scope("s", reuse=tf.AUTO_REUSE):
                tf.get_variable("v", [], trainable=False)
        assert [len(store.variables()), len(store.trainable_variables())] == [1, 0]


def test_a_partitioned_variable_is_shared_whole():
    def halves(shape, dtype):
        return [2, 1]

    with tf.variable_scope("s", partitioner=halves) as scope:
        v = tf.get_variable("v", [3, 1])
        assert v.as_tensor().name == "s/v:0"
        with pytest.raises(ValueError, match="Partitioned variable with name s/v already exists"):
            tf.get_variable("v", [3, 1])
        scope.reuse_variables()
        assert tf.get_variable("v", [3, 1]) is v
        for words, options in (("specified partitions .3, 1. and found partitions .2, 1.",
                                {"partitioner": lambda shape, dtype: [3, 1]}),
                               ("specified shape", {"shape": [4, 1]})):
            with pytest.raises(ValueError, match=words):
                tf.get_variable("v", **{"shape": [3, 1], **options})
    with tf.variable_scope("s", reuse=True):
        assert tf.get_variable("v") is v


def test_what_an_initializer_is_told_of_a_part_is_checked():
    info = importlib.import_module("autodiff.api.variables.partitioned").PartitionInfo
    for error, arguments in (TypeError, (None, [0])), (TypeError, ([1], "0")), (ValueError, ([1, 2], [0])), (
            ValueError, ([1], [1])):
        with pytest.raises(error):
            info(*arguments)
    part = info([9, 3], [4, 0])
    assert (part.single_slice_dim([2, 3]), part.single_offset([2, 3])) == (0, 4)
    for error, shape in (TypeError, None), (ValueError, [1]), (ValueError, [6, 3]), (ValueError, [1, 1]):
        with pytest.raises(error):
            part.single_slice_dim(shape)


def test_scopes_are_left_from_the_inside():
    outer = tf.variable_scope("outer")
    outer.__enter__()
    with tf.variable_scope("inner"), pytest.raises(RuntimeError, match="Improper nesting of variable_scope"):
        outer.__exit__(None, None, None)
    outer.__exit__(None, None, None)
    assert tf.get_variable_scope().name == ""


def test_getters_and_initializers_that_cannot_be_called_are_refused():
    with pytest.raises(ValueError, match="custom_getter .* not callable"):
        tf.get_variable("v", custom_getter=3)
    with pytest.raises(ValueError, match="The initializer passed is not valid"):
        tf.get_variable("v", initializer=lambda x: [2])

    def getter(getter, *args, **options):
        assert options["synchronization"] == tf.VariableSynchronization.AUTO
        assert options["aggregation"] == tf.VariableAggregation.NONE
        return getter(*args, **options)

    with tf.variable_scope("s", custom_getter=getter):
        assert tf.get_variable("v", [1]).trainable


def test_a_scope_that_is_opened_again_names_what_is_inside_anew():
    found = []

    def names(*defaults):
        for default in defaults:
            with tf.variable_scope(None, default_name=default) as scope:
                found.append(scope.name)

    with tf.variable_scope("a/b"):
        names("c")
    with tf.variable_scope("a/b/c"):
        pass
    for _ in range(2):
        with tf.variable_scope("a"):
            names("b", "b", "c")
    with tf.variable_scope("a") as a:
        pass
    with tf.variable_scope("z"):
        for _ in range(2):
            with tf.variable_scope(a):
                names("b")
        names("b")
    names("a")
    assert found == ["a/b/c", "a/b_1", "a/b_2", "a/c", "a/b", "a/b_1", "a/c", "a/b", "a/b", "z/b", "a_1"]


def test_one_more_variable_takes_as_many_calls_in_a_large_graph_as_in_a_small_one():
    def layer():
        with tf.variable_scope(None, default_name="layer"):
            tf.get_variable("w", [2, 2])

    def calls():
        count = 0

        def note(frame, event, _):
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(note)
        try:
            layer()
        finally:
            sys.setprofile(None)
        return count

    for _ in range(10):
        layer()
    few = calls()
    for _ in range(90):
        layer()
    assert calls() < few + 200  # a name's number is looked for from the first
