"""The table of TensorFlow's ops: every line is read, and says what TensorFlow 1.15's registry says."""

from pathlib import Path

from autodiff.files import op_table
from autodiff.files.op_table import op_schema
from autodiff.files.tensor_values import DTYPE_NUMBERS

from ..expect import expect_none

LINES = (Path(op_table.__file__).with_name("tensorflow_ops.txt")).read_text().splitlines()


def test_every_line_is_an_op_whose_types_are_known() -> None:
    wrong = []
    for line in LINES:
        schema = op_schema(line.partition("(")[0])
        if schema is None:
            wrong.append(line)
            continue
        for argument in (*schema.inputs, *schema.outputs):
            named = [name for name in (argument.type_attr, argument.number_attr, argument.list_attr) if name]
            if not set(named) <= set(schema.attributes) or argument.dtype and argument.dtype not in DTYPE_NUMBERS:
                wrong.append(f"{schema.name}: {argument}")
    expect_none(wrong)


def test_what_a_line_says() -> None:
    conv = op_schema("Conv2D")
    assert conv is not None
    assert conv.attributes["dilations"] == ("list(int)", (1, 1, 1, 1))
    assert conv.attributes["data_format"] == ("string", "NHWC")
    assert conv.attributes["strides"] == ("list(int)", None)
    assert conv.derived == {"T"}
    stitch, parse = op_schema("DynamicStitch"), op_schema("ParseExample")
    assert stitch is not None and stitch.input_counts(6, {}) == [3, 3]
    assert parse is not None
    assert parse.input_counts(7, {"Nsparse": 1, "Ndense": 2, "Tdense": (1, 2)}) == [1, 1, 1, 2, 2]
    assert op_schema("NoSuchOp") is None
