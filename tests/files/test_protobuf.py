"""Protocol buffers: messages as tables, to bytes and text and back; what TensorFlow wrote is read and written alike."""

from pathlib import Path

import numpy as np
import pytest

from autodiff.core.errors import AutodiffError, DataLossError
from autodiff.files.example_messages import EXAMPLE_MESSAGES
from autodiff.files.graph_messages import GRAPH_MESSAGES
from autodiff.files.meta_graph_messages import META_GRAPH_MESSAGES
from autodiff.files.protobuf_schema import messages
from autodiff.files.protobuf_text import parse_message
from autodiff.files.tensor_values import array_of_proto, dtype_name, proto_of_array

FIXTURES = Path(__file__).parent / "fixtures"
NodeDef, AttrValue, TensorProto = (GRAPH_MESSAGES[name] for name in ("NodeDef", "AttrValue", "TensorProto"))

KINDS = messages("""
enum Color RED=0 BLUE=2
message Inner
    1 int32 number
message All
    1 int32 a
    2 sint64 b
    3 uint64 c
    4 bool d
    5 fixed32 e
    6 float f
    7 double g
    8 string h
    9 bytes i
    10 Color j
    11 Inner k
    12 int64* l
    13 sint32* m
    14 float* n
    15 Inner* o
    16 string -> Inner p
    17 int32 -> string q
    18 int32 r | either
    19 string s | either
""")
All = KINDS["All"]

# bytes of the encoding guide's examples, and of its rules by hand
ENCODED = [
    ({"a": 150}, "08 96 01"), ({"a": -2}, "08 fe ff ff ff ff ff ff ff ff 01"), ({"b": -2}, "10 03"),
    ({"b": 1}, "10 02"),
    ({"c": 2 ** 64 - 1}, "18 ff ff ff ff ff ff ff ff ff 01"), ({"d": True}, "20 01"), ({"e": 1}, "2d 01 00 00 00"),
    ({"f": 1.5}, "35 00 00 c0 3f"), ({"g": -2.0}, "39 00 00 00 00 00 00 00 c0"),
    ({"h": "testing"}, "42 07 74657374696e67"),
    ({"i": b"\0\xff"}, "4a 02 00 ff"), ({"j": "BLUE"}, "50 02"), ({"k": {"number": 150}}, "5a 03 08 96 01"),
    ({"l": [3, 270, 86942]}, "62 06 03 8e 02 9e a7 05"), ({"l": [-1]}, "62 0a ff ff ff ff ff ff ff ff ff 01"),
    ({"m": [0, -1, 1, -2]}, "6a 04 00 01 02 03"), ({"n": [1.0, 2.0]}, "72 08 00 00 80 3f 00 00 00 40"),
    ({"o": [{}, {"number": 1}]}, "7a 00 7a 02 08 01"), ({"p": {"x": {"number": 1}}}, "82 01 07 0a 01 78 12 02 08 01"),
    ({"q": {2: "y"}}, "8a 01 05 08 02 12 01 79"), ({"r": 0}, "90 01 00"), ({"s": ""}, "9a 01 00"),
    ({"a": 0, "h": "", "f": 0.0, "l": []}, ""),
]


@pytest.mark.parametrize(("fields", "data"), ENCODED, ids=[text for _, text in ENCODED])
def test_each_kind_is_written_as_the_guide_says_and_read_back(fields: dict, data: str) -> None:
    message = All(**fields)
    assert message.SerializeToString() == bytes.fromhex(data)
    assert All.FromString(bytes.fromhex(data)) == message
    assert parse_message(str(message), All()) == message


def test_numbers_are_read_packed_or_one_by_one() -> None:
    assert All.FromString(bytes.fromhex("60 03 60 8e 02")).l == [3, 270]


def test_a_field_that_the_table_does_not_know_is_kept() -> None:
    data = bytes.fromhex("08 01 f8 07 05 fa 07 02 61 62")
    assert All.FromString(data).SerializeToString() == data


def test_reading_a_message_field_does_not_set_it_and_filling_it_does() -> None:
    message = All()
    assert message.k.number == 0 and not message.HasField("k")
    message.k.number = 3
    assert message.HasField("k") and message.WhichOneof("either") is None
    message.s = "x"
    message.r = 4
    assert message.WhichOneof("either") == "r" and message.s == ""


def test_copies_are_copies() -> None:
    inner = KINDS["Inner"](number=1)
    message = All(o=[inner])
    other = All()
    other.CopyFrom(message)
    inner.number = message.o[0].number = 2
    assert other.o[0].number == 1 and message != other


@pytest.mark.parametrize(("name", "value", "error"), [
    ("a", "x", TypeError), ("a", 2 ** 31, ValueError), ("h", 3, TypeError), ("i", "text", TypeError),
    ("c", -1, ValueError), ("f", "x", TypeError), ("unknown", 1, AttributeError), ("k", 1, AttributeError)])
def test_a_value_that_does_not_fit_is_refused(name: str, value: object, error: type) -> None:
    with pytest.raises(error):
        setattr(All(), name, value)


@pytest.mark.parametrize(("data", "says"), [
    ("08", "the end of the data"), ("42 05 61", "has 5 bytes, but only 1 are left"), ("0f", "wire type 7"),
    ("08 ff ff ff ff ff ff ff ff ff ff 01", "more than ten bytes"), ("00 01", "number 0"), ("42 01 ff", "not UTF-8"),
    ("72 03 00 00 00", "packed float"), ("62 01 80", "without an end"), ("5a 02 08", "but only 1 are left")])
def test_damaged_bytes_are_refused_with_the_offset(data: str, says: str) -> None:
    with pytest.raises(DataLossError, match=f"protocol buffer All: .*{says}|protocol buffer All: expected .*{says}"):
        All.FromString(bytes.fromhex(data))


def test_messages_inside_of_messages_without_end_are_refused() -> None:
    nested = TensorProto()
    for _ in range(150):
        outer = TensorProto()
        outer.variant_val.add().tensors.extend_raw([nested])
        nested = outer
    with pytest.raises(DataLossError, match="nested more than 100 deep"):
        TensorProto.FromString(nested.SerializeToString())


def test_a_graph_that_tensorflow_wrote_is_written_byte_for_byte() -> None:
    data = (FIXTURES / "checkpoint" / "model-1.meta").read_bytes()
    meta = META_GRAPH_MESSAGES["MetaGraphDef"].FromString(data)
    assert meta.meta_info_def.tensorflow_version == "1.15.5"
    assert META_GRAPH_MESSAGES["MetaGraphDef"].FromString(meta.SerializeToString()) == meta
    assert len(meta.SerializeToString()) == len(data)
    assert parse_message(str(meta), META_GRAPH_MESSAGES["MetaGraphDef"]()) == meta
    node = next(node for node in meta.graph_def.node if node.op == "VariableV2" and node.name == "w")
    assert [dim.size for dim in node.attr["shape"].shape.dim] == [3, 4]
    assert dtype_name(node.attr["dtype"].type) == "float32"


def test_text_takes_what_people_write() -> None:
    text = """# a comment
    name: 'a' op: "Const\\n\\x41\\101" "more"
    input: ["x", "y"];
    attr < key: "f" value { f: 1.5e-3f } >
    attr { key: "t", value: { type: DT_FLOAT } }
    attr { key: "b" value { b: true } } attr { key: "i" value { i: -0x10 } } attr { key: "n" value { f: -inf } }"""
    node = parse_message(text, NodeDef())
    assert (node.name, node.op, list(node.input)) == ("a", "Const\nAAmore", ["x", "y"])
    assert [node.attr[k].WhichOneof("value") for k in "ftbin"] == ["f", "type", "b", "i", "f"]
    assert node.attr["i"].i == -16 and node.attr["t"].type == 1 and node.attr["n"].f == -np.inf


@pytest.mark.parametrize(("text", "says"), [
    ('name: 3', "1:7 : expected a value .string."), ('name "x" \nwrong: 3', "2:1 : expected a field of NodeDef"),
    ('attr { key: "x" ', "expected key or value, found the end"), ("name: @", "1:7"), ('attr: "x"', "expected '{'")])
def test_wrong_text_is_refused_with_its_line(text: str, says: str) -> None:
    with pytest.raises(DataLossError, match=says):
        parse_message(text, NodeDef())


@pytest.mark.parametrize("array", [
    np.arange(6, dtype=np.float32).reshape(2, 3), np.array(3, np.int64), np.array([True, False]),
    np.array([1 + 2j], np.complex64), np.array([1.5], np.float16), np.zeros((0, 2), np.int8)], ids=str)
def test_arrays_go_into_tensor_protos_and_come_back(array: np.ndarray) -> None:
    back = array_of_proto(proto_of_array(array.dtype.name, array))
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_the_last_value_stands_for_the_rest() -> None:
    shape = {"dim": [{"size": 2}, {"size": 2}]}
    assert array_of_proto(TensorProto(dtype=1, tensor_shape=shape, float_val=[1, 2])).tolist() == [[1, 2], [2, 2]]
    assert array_of_proto(TensorProto(dtype=3, tensor_shape=shape)).tolist() == [[0, 0], [0, 0]]
    assert array_of_proto(TensorProto(dtype=19, half_val=[0x3E00])).tolist() == 1.5
    assert array_of_proto(TensorProto(dtype=14, half_val=[0x3FC0])).tolist() == 1.5


def test_a_small_message_cannot_ask_for_a_large_array() -> None:
    with pytest.raises(DataLossError, match="1 values for a tensor of shape"):
        array_of_proto(TensorProto(dtype=1, tensor_shape={"dim": [{"size": 1 << 40}]}, float_val=[1]))


def test_no_bytes_do_more_than_be_refused() -> None:
    random = np.random.RandomState(0)
    data = bytearray((FIXTURES / "checkpoint" / "model-1.meta").read_bytes()[:3000])
    kinds = [META_GRAPH_MESSAGES["MetaGraphDef"], EXAMPLE_MESSAGES["Example"], All]
    refused = 0
    for trial in range(150):
        damaged = bytearray(data if trial % 2 else random.bytes(60))
        for at in random.randint(0, len(damaged), 4):
            damaged[at] = random.randint(256)
        try:
            str(kinds[trial % 3].FromString(bytes(damaged)))
        except AutodiffError:
            refused += 1
    assert refused > 50
