"""tf.io: files and their contents, under TensorFlow's latest names."""
from . import gfile, parsing  # noqa: F401  tf.io.gfile
from .common.unsupported import refusing
from .csv_lines import decode_csv
from .image.pictures import decode_image, decode_png, encode_png
from .parsing import *
from .python_io import TFRecordCompressionType, TFRecordOptions, TFRecordWriter, tf_record_iterator
from .strings import decode_base64, encode_base64
from .train.saver import write_graph

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "decode_base64", "decode_csv",
           "decode_image", "decode_png", "encode_base64", "encode_png", "tf_record_iterator", "write_graph",
           *parsing.__all__]

__getattr__ = refusing("tf.io", __name__)
