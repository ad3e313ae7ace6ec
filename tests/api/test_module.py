"""tf.Module, and structures walked as deep as another goes: against TensorFlow 1.15.5."""

import collections
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.common import nest_shallow as nest

Pair = collections.namedtuple("Pair", "first second")


class InnerLayer(tf.Module):
    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        with self.name_scope:
            self.w = tf.Variable(1.0, name="w")
            self.fixed = tf.Variable(2.0, trainable=False, name="fixed")


class Net(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.parts = [InnerLayer(), {"b": InnerLayer("second")}]
        self.again = self.parts[0]
        self.bias = tf.Variable(0.0, name="bias")

    @tf.Module.with_name_scope
    def made(self) -> tf.Tensor:
        return tf.constant(1.0, name="made")


def test_a_module_finds_what_it_holds() -> None:
    tf.reset_default_graph()
    net = Net()
    assert (net.name, net.made().name, net.again.w.name) == ("net", "net/made:0", "inner_layer/w:0")
    assert [v.name for v in net.variables] == ["bias:0", "inner_layer/fixed:0", "inner_layer/w:0", "second/fixed:0",
                                               "second/w:0"]
    assert [v.name for v in net.trainable_variables] == ["bias:0", "inner_layer/w:0", "second/w:0"]
    assert [m.name for m in net.submodules] == ["inner_layer", "second"]
    with pytest.raises(ValueError, match="is not a valid module name"):
        InnerLayer("a b")


def test_structures_up_to_another() -> None:
    shallow, deep = [1, {"a": 2}], [[3, 4], {"a": (5, 6)}]
    assert nest.flatten_up_to(shallow, deep) == [[3, 4], (5, 6)]
    assert nest.map_structure_up_to(shallow, lambda a, b: (a, b), deep, shallow) == [([3, 4], 1), {"a": ((5, 6), 2)}]
    assert nest.flatten_with_joined_string_paths(deep)[2] == ("1/a/0", 5)
    assert nest.map_structure_with_paths(lambda path, x: path + str(x), {"b": [1]}) == {"b": ["b/01"]}
    assert nest.flatten_dict_items({(4, 5): (6, 7), 8: [9]}) == {4: 6, 5: 7, 8: [9]}
    for wrong, words in (([1], "sequence length"), ((1, 2), "sequence type"), (3, "input must also be a sequence")):
        with pytest.raises((TypeError, ValueError), match=words):
            nest.flatten_up_to([1, 2], wrong)
    with pytest.raises(ValueError, match="keys are not a subset"):
        nest.assert_shallow_structure({"a": 1}, {"b": 1})
    assert nest.flatten_up_to({"a": 1}, {"a": [2], "b": 3}, check_subtrees_length=False) == [[2]]
    assert nest.get_traverse_shallow_structure(lambda s: not isinstance(s, tuple), [3, (1,)]) == [True, False]
    with pytest.raises(TypeError, match="returned a non-bool scalar: 1"):
        nest.get_traverse_shallow_structure(lambda s: 1, [3])


def test_structures_with_views_and_composites() -> None:
    views = {"a": 1, "b": 2}
    assert nest.pack_sequence_as(views.items(), nest.flatten(views.items())) == [("a", 1), ("b", 2)]
    counted = collections.defaultdict(list, a=[1])
    assert nest.map_structure(lambda x: x + 1, counted)["new"] == []
    sparse = tf.SparseTensor([[0]], [1.0], [3])
    rows = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    assert nest.flatten([sparse, rows]) == [sparse, rows] and len(nest.flatten([sparse, rows], True)) == 5
    paths = list(nest.yield_flat_paths({"s": sparse}, expand_composites=True))
    assert paths == [("s", "SparseTensor", i) for i in range(3)]
    again = nest.map_structure(tf.identity, [sparse], expand_composites=True)[0]
    assert isinstance(again, tf.SparseTensor)
    nest.assert_same_structure(sparse, tf.SparseTensorSpec([3]), expand_composites=True)
    for other, kind in ((rows, TypeError), (tf.SparseTensorSpec([3], tf.int32), ValueError), ([1], TypeError)):
        with pytest.raises(kind):
            nest.assert_same_structure(sparse, other, expand_composites=True)


@pytest.mark.parametrize(("a", "b", "text"), [
    (((1, 2), 3), ("spam", 4), r'"type=tuple str=\(1, 2\)" is a sequence, while substructure "type=str str=spam" is not'
     r"(.|\n)*\(\(\., \.\), \.\)\nEntire second structure:\n\(\., \.\)"),
    ({"a": 1}, {"b": 1}, "don't have the same set of keys"), ([1], [1, 2], "the same number of elements"),
    ([1], (1,), "have the same sequence type"), (Pair(1, 2), (1, 2), "sequence type")])
def test_where_structures_differ_is_said(a: Any, b: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError), match=text):
        nest.assert_same_structure(a, b)


def test_structures_refuse_what_they_cannot_hold() -> None:
    for call, text in (
            (lambda: nest.pack_sequence_as("a", [1, 2]), "Structure is a scalar but len"),
            (lambda: nest.pack_sequence_as([1], [1, 2]), "Structure had 1 elements, but flat_sequence had 2 elements"),
            (lambda: nest.pack_sequence_as([1], "a"), "flat_sequence must be a sequence"),
            (lambda: nest.map_structure("no", [1]), "func must be callable"),
            (lambda: nest.map_structure(str), "at least one structure"),
            (lambda: nest.map_structure(len, ["a"], foo=1), "Only valid keyword argument.*foo"),
            (lambda: nest.flatten_dict_items({(1, 2): (3, (4, 5))}),
             "Key had 2 elements, but value had 3")):
        with pytest.raises((TypeError, ValueError), match=text):
            call()


def test_keras_parts() -> None:
    keras = tf.keras
    assert keras.utils.to_categorical([1, 0, 2]).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert keras.utils.normalize([[3.0, 4.0]]).tolist() == [[0.6, 0.8]]
    penalty = keras.regularizers.l1_l2(0.1, 0.01)(tf.constant([1.0, -2.0]))
    assert tf.Session().run(penalty) == pytest.approx(0.35)
    assert keras.regularizers.L1L2()(1.0) == 0 and keras.regularizers.get("l2").get_config() == {"l1": 0.0, "l2": 0.01}
    assert keras.activations.get("tanh")(0.0).op.type == "Tanh"
    assert keras.initializers.get("zeros")([2], tf.float32).shape == [2]
    for get in (keras.regularizers.get, keras.activations.get, keras.initializers.get):
        with pytest.raises(ValueError):
            get("nothing")
    assert tf.bfloat16 != tf.float32 and tf.bfloat16.size == 2
    for make in (lambda: tf.constant(1.0, tf.bfloat16), lambda: np.zeros(2, tf.bfloat16.as_numpy_dtype)):
        with pytest.raises(TypeError, match="bfloat16"):
            make()
    assert np.float32 != tf.bfloat16.as_numpy_dtype


def test_creators_stand_before_variables() -> None:
    tf.reset_default_graph()
    asked: list[str] = []

    def creator(make, **options):
        asked.append(options["name"] or "")
        return make(**options)

    def inner(make, **options):
        asked.append("inner")
        return make(**{**options, "trainable": False})

    with tf.variable_creator_scope(creator):
        tf.Variable(1.0, name="a")
        with tf.variable_creator_scope(inner):
            b = tf.get_variable("b", [2])
    tf.Variable(2.0)
    assert asked == ["a", "inner", "b"] and not b.trainable
