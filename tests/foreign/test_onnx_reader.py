"""What from_onnx makes of a file: names, lines, variables, types, functions; and of a model that it cannot read."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.errors import DataLossError
from autodiff.core.site import Site
from autodiff.foreign import MissingOpError, from_onnx, survey
from autodiff.foreign.onnx.messages import MESSAGES, array_of

from .onnx_made import attribute, graph, model, node, tensor, value

TRACE = ('File "models/net.py", line 41, in forward\n    h = self.conv(x)\n'
         '  File "site-packages/torch/nn/modules/conv.py", line 565, in forward\n    return self._conv(x)')
OLD_TRACE = "site-packages/torch/nn/functional.py(12): relu\nmodels/net.py(7): forward\nmodels/main.py(3): <module>\n"


def linear(**options: Any) -> bytes:
    """y = relu(x w + b), where the batch is not known."""
    nodes = [node("MatMul", ["x", "fc.weight"], ["h"], name="fc", trace=TRACE), node("Add", ["h", "fc.bias"], ["s"]),
             node("Relu", ["s"], ["y"])]
    nodes[1].doc_string = OLD_TRACE
    return model(graph(nodes, [value("x", np.float32, ("batch", 2))], [value("y", np.float32, ("batch", 3))],
                       {"fc.weight": np.arange(6, dtype=np.float32).reshape(2, 3), "fc.bias": np.ones(3, np.float32)}),
                 **options)


def test_parameters_are_variables_by_name_and_a_batch_stays_unknown() -> None:
    made = from_onnx(linear())
    assert list(made.variables) == ["fc.weight", "fc.bias"]
    assert list(made.inputs) == ["x"]
    assert made.inputs["x"].shape.as_list() == [None, 2]
    assert made.outputs[0].shape.as_list() == [None, 3]
    assert made.outputs[0].name == "y:0"
    with made.graph.as_default(), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for batch in (1, 4):
            x = np.ones((batch, 2), np.float32)
            np.testing.assert_allclose(session.run(made.outputs[0], {made.inputs["x"]: x}), [[4, 6, 8]] * batch)
        gradient = session.run(tf.gradients(made.outputs[0], made.variables["fc.weight"])[0], {made.inputs["x"]: x})
        np.testing.assert_allclose(gradient, np.full((2, 3), 4.0))


def test_an_op_has_the_line_that_an_exporter_left_and_that_of_its_node() -> None:
    made = from_onnx(linear())
    assert made.values["h"].op.name == "fc/MatMul"
    assert made.values["h"].op.traceback == (Site("models/net.py", 41, "forward"), Site("made.onnx", 1, "fc"))
    assert made.values["s"].op.traceback[:2] == (Site("models/net.py", 7, "forward"),
                                                 Site("models/main.py", 3, "<module>"))
    assert made.values["y"].op.site == Site("made.onnx", 3, "Relu")
    assert made.variables["fc.bias"].op.site == Site("made.onnx", 6, "<module>")


def test_a_node_is_a_line_of_a_listing() -> None:
    body = graph([node("Sin", ["s"], ["t"], name="deep")], [value("i"), value("c"), value("s")],
                 [value("c"), value("t")])
    nodes = [node("Constant", [], ["n"], value=np.array(2, np.int64)), node("Loop", ["n", "", "x"], ["z"], body=body),
             node("Pad", ["z", "p", "", "a"], ["y"], mode="edge")]
    made = from_onnx(model(graph(nodes, [value("x", np.float64, (2,))], [value("y")],
                                 {"p": np.array([1, 1], np.int64), "a": np.array([0], np.int64)})))
    loop = next(op for op in made.graph.get_operations() if op.type == "While")
    inner = loop.attrs["body"].graph.operations.values()
    places = {op.site.line: op.site for op in [*made.graph.get_operations(), *inner]}
    assert {line: place.text for line, place in places.items()} == {
        1: "n = Constant(value=2)", 2: "z = Loop(n, None, x)", 3: "t = Sin(s)",
        4: "y = Pad(z, p, None, a, mode=edge)", 5: "input x float64[2]",
        6: "initializer p int64[2]", 7: "initializer a int64[1]"}


def test_statistics_of_batch_norm_are_not_trained() -> None:
    names = ["scale", "shift", "mean", "variance"]
    made = from_onnx(model(graph([node("BatchNormalization", ["x", *names], ["y"])], [value("x", np.float32, (2, 3))],
                                 [value("y")], {name: np.ones(3, np.float32) for name in names})))
    assert [v.op.name for v in made.variables.values() if v.trainable] == ["scale", "shift"]


def test_a_shape_that_is_computed_from_shapes_is_known() -> None:
    nodes = [node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "zero"], ["batch"]),
             node("Unsqueeze", ["batch", "axes"], ["batch1"]), node("Concat", ["batch1", "rest"], ["to"], axis=0),
             node("Reshape", ["x", "to"], ["y"])]
    known = {"zero": np.array(0, np.int64), "axes": np.array([0], np.int64), "rest": np.array([3, 4], np.int64)}
    made = from_onnx(model(graph(nodes, [value("x", np.float32, ("n", 12))], [value("y")], known)))
    assert made.outputs[0].shape.as_list() == [None, 3, 4]


def test_a_resize_of_a_batch_that_is_not_known_runs_no_python() -> None:
    nodes = [node("Shape", ["x"], ["s"], end=2), node("Concat", ["s", "hw"], ["to"], axis=0),
             node("Resize", ["x", "", "", "to"], ["y"], mode="linear")]
    made = from_onnx(model(graph(nodes, [value("x", np.float32, ("n", 3, 4, 5))], [value("y")],
                                 {"hw": np.array([8, 7], np.int64)})))
    assert made.outputs[0].shape.as_list() == [None, 3, 8, 7]
    assert "PyFunc" not in {op.type for op in made.graph.get_operations()}


def test_a_function_of_the_model_stands_in_place_of_its_call() -> None:
    inner = node("LeakyRelu", ["a"], ["b"])
    reference = attribute("alpha", 0.0)
    reference.ref_attr_name = "slope"
    inner.attribute.append(reference)
    function = MESSAGES["FunctionProto"](name="Bent", domain="mine", input=["a"], output=["b"], node=[inner],
                                         opset_import=[{"version": 20}], attribute_proto=[attribute("slope", 0.5)])
    calls = [node("Bent", ["x"], ["y"], domain="mine", slope=0.25), node("Bent", ["x"], ["z"], domain="mine")]
    made = from_onnx(model(graph(calls, [value("x", np.float64, (2,))], [value("y"), value("z")]), functions=[function],
                           domains=["mine"]))
    with tf.Session(graph=made.graph) as session:
        y, z = session.run(list(made.outputs), {made.inputs["x"]: np.array([-2.0, 2.0])})
    assert (y.tolist(), z.tolist()) == ([-0.5, 2], [-1, 2])


def test_what_is_missing_is_counted_and_named_with_its_line() -> None:
    body = graph([node("TfIdfVectorizer", ["x"], ["v"], trace=TRACE)], [], [value("v")])
    nodes = [node("StringNormalizer", ["x"], ["a"]), node("If", ["c"], ["b"], then_branch=body, else_branch=body)]
    data = model(graph(nodes, [value("x", np.float32, (2,)), value("c", np.bool_, ())], [value("b")]))
    assert [(row.op, row.uses, str(row.site)) for row in survey(data)] == [
        ("TfIdfVectorizer", 2, "net.py:41 in forward"), ("StringNormalizer", 1, "made.onnx:1 in StringNormalizer")]
    with pytest.raises(MissingOpError) as caught:
        from_onnx(data)
    assert str(caught.value).splitlines()[:2] == [
        "ONNX op 'TfIdfVectorizer' is not there: the model has 2 of it; missing too: StringNormalizer",
        "written at net.py:41 in forward"]


def test_an_attribute_or_a_shape_that_does_not_fit_names_the_node() -> None:
    info, out = [value("x", np.float32, (2, 3))], [value("y")]
    with pytest.raises(ValueError, match=r"Relu .*alpha(.|\n)*in node 'r' \(Relu\)"):
        from_onnx(model(graph([node("Relu", ["x"], ["y"], name="r", alpha=1.0)], info, out)))
    with pytest.raises(ValueError, match=r"in node 'm' \(MatMul\)(.|\n)*written at net.py:41 in forward"):
        from_onnx(model(graph([node("MatMul", ["x", "x"], ["y"], name="m", trace=TRACE)], info, out)))


@pytest.mark.parametrize("data", [b"", b"\x08\x07", b"\xff" * 40])
def test_what_is_no_model_is_said(data: bytes) -> None:
    with pytest.raises(DataLossError):
        from_onnx(data)


def test_a_model_may_be_a_path_or_an_object_and_examples_lie_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(linear())
    np.savez(tmp_path / "net.npz", **{"feeds:x": np.ones((4, 2), np.float32), "outputs:y": np.zeros(3)})
    made = from_onnx(path)
    assert {tensor.name: array.shape for tensor, array in made.feeds.items()} == {"x:0": (4, 2)}
    proto = MESSAGES["ModelProto"].FromString(linear())
    assert not from_onnx(proto).feeds
    with pytest.raises(TypeError, match="expected the path"):
        from_onnx(3)


def test_large_tensors_may_lie_in_a_file_beside_the_model_but_nowhere_else(tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float32)
    (tmp_path / "data.bin").write_bytes(b"1234" + array.tobytes())
    held = MESSAGES["TensorProto"](name="w", dims=[6], data_type=1, data_location=1)
    held.external_data.extend([{"key": "location", "value": "data.bin"}, {"key": "offset", "value": "4"},
                               {"key": "length", "value": "24"}])
    np.testing.assert_array_equal(array_of(held, str(tmp_path)), array)
    held.external_data[0].value = "../data.bin"
    with pytest.raises(ValueError, match="a file beside the model"):
        array_of(held, str(tmp_path / "inner"))


@pytest.mark.parametrize(("code", "field", "listed", "expected"), [
    (1, "float_data", [0.5, 2], np.array([0.5, 2], np.float32)), (11, "double_data", [0.5], np.array([0.5])),
    (7, "int64_data", [-3], np.array([-3])), (6, "int32_data", [-3], np.array([-3], np.int32)),
    (9, "int32_data", [1, 0], np.array([True, False])), (3, "int32_data", [-3], np.array([-3], np.int8)),
    (10, "int32_data", [0x3C00], np.array([1], np.float16)), (16, "int32_data", [0x3FC0], np.array([1.5], np.float32)),
    (13, "uint64_data", [1 << 63], np.array([1 << 63], np.uint64)), (12, "uint64_data", [7], np.array([7], np.uint32)),
    (14, "float_data", [1, -2], np.array([1 - 2j], np.complex64)), (8, "string_data", [b"a"], np.array([b"a"], object)),
])
def test_values_may_be_listed_field_by_field(code: int, field: str, listed: list[Any], expected: np.ndarray) -> None:
    found = array_of(MESSAGES["TensorProto"](dims=list(expected.shape), data_type=code, **{field: listed}))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_bfloat16_is_read_as_float32() -> None:
    raw = np.array([0x3FC0, 0xC000], "<u2").tobytes()
    found = array_of(MESSAGES["TensorProto"](dims=[2], data_type=16, raw_data=raw))
    assert found.tolist() == [1.5, -2]


def test_a_type_that_numpy_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match="number 17"):
        array_of(MESSAGES["TensorProto"](dims=[1], data_type=17, raw_data=b"\0"))


@pytest.mark.parametrize("fields", [{"raw_data": b"1234567"}, {"raw_data": b"12345678"}, {"float_data": [1.0, 2.0]},
                                    {"string_data": [b"a"], "data_type": 8}, {"dims": [-3]}])
def test_a_tensor_without_its_elements_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(DataLossError):
        array_of(MESSAGES["TensorProto"](**{"name": "t", "dims": [3], "data_type": 1, **fields}))


def test_a_value_that_nothing_gives_is_named() -> None:
    with pytest.raises(ValueError, match=r"nothing gives 'z'(.|\n)*in node 'a' \(Add\)"):
        from_onnx(model(graph([node("Add", ["x", "z"], ["y"], name="a")], [value("x", np.float32, (2,))],
                              [value("y")])))


def test_an_integer_parameter_is_a_constant() -> None:
    made = from_onnx(model(graph([node("Gather", ["x", "rows"], ["y"])], [value("x", np.float32, (4, 2))], [value("y")],
                                 {"rows": np.array([3, 1], np.int64)})))
    assert not made.variables
    assert made.values["rows"].op.type == "Const"


def test_an_input_with_a_default_is_a_parameter() -> None:
    made = from_onnx(model(graph([node("Add", ["x", "w"], ["y"])], [value("x", np.float32, (2,)),
                                                                    value("w", np.float32, (2,))], [value("y")],
                                 {"w": np.ones(2, np.float32)})))
    assert (list(made.inputs), list(made.variables)) == (["x"], ["w"])


def test_tensors_are_written_as_they_are_read() -> None:
    for array in (np.float32([[1, 2]]), np.array([True]), np.array(3, np.int64)):
        np.testing.assert_array_equal(array_of(tensor("t", array)), array)


@pytest.mark.parametrize("pads_are_known", [True, False])
def test_negative_pads_cut(pads_are_known: bool) -> None:
    pads = np.array([-1, 2, 0, -2], np.int64)
    inputs = [value("x", np.float64, (3, 4))] + ([] if pads_are_known else [value("p", np.int64, (4,))])
    made = from_onnx(model(graph([node("Pad", ["x", "p"], ["y"])], inputs, [value("y")],
                                 {"p": pads} if pads_are_known else {})))
    x = np.arange(12.0).reshape(3, 4)
    feeds = {tensor: {"x": x, "p": pads}[name] for name, tensor in made.inputs.items()}
    with tf.Session(graph=made.graph) as session:
        found = session.run(made.outputs[0], feeds)
    np.testing.assert_array_equal(found, np.pad(x[1:, :2], [(0, 0), (2, 0)]))


def test_updates_may_be_larger_than_the_indices_that_use_them() -> None:
    scatter = node("ScatterElements", ["x", "i", "u"], ["y"], axis=1, reduction="add")
    made = from_onnx(model(graph([scatter], [value("x", np.float64, (2, 3)), value("u", np.float64, (2, 3))],
                                 [value("y")], {"i": np.array([[2], [0]], np.int64)})))
    with tf.Session(graph=made.graph) as session:
        u = np.arange(6.0).reshape(2, 3)
        found = session.run(made.outputs[0], {made.inputs["x"]: np.zeros((2, 3)), made.inputs["u"]: u})
    np.testing.assert_array_equal(found, [[0, 0, 0], [3, 0, 0]])
