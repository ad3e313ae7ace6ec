"""tf.io: files and their contents, under TensorFlow's latest names."""
from __future__ import annotations

from . import gfile  # noqa: F401  tf.io.gfile
from .common.unsupported import refusing
from .csv_lines import decode_csv
from .image.pictures import decode_image, decode_png, encode_png
from .parsing import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    decode_raw,
    matching_files,
    parse_example,
    parse_single_example,
    parse_single_sequence_example,
    parse_tensor,
    read_file,
    serialize_tensor,
    write_file,
)
from .python_io import TFRecordCompressionType, TFRecordOptions, TFRecordWriter, tf_record_iterator
from .strings import decode_base64, encode_base64
from .train.saver import write_graph

__all__ = ["FixedLenFeature", "FixedLenSequenceFeature", "SparseFeature", "TFRecordCompressionType", "TFRecordOptions",
           "TFRecordWriter", "VarLenFeature", "decode_base64", "decode_csv", "decode_image", "decode_png", "decode_raw",
           "encode_base64", "encode_png", "matching_files", "parse_example", "parse_single_example",
           "parse_single_sequence_example", "parse_tensor", "read_file", "serialize_tensor", "tf_record_iterator",
           "write_file", "write_graph"]

__getattr__ = refusing("tf.io", __name__)
