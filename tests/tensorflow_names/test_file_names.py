"""Import names of what reads and writes files: protocol buffers, checkpoints, graphs, models, records."""

from pathlib import Path

import pytest

from autodiff.tensorflow_names import alias
from autodiff.tensorflow_names.alias import standing_in

FIXTURES = Path(__file__).parents[1] / "files" / "fixtures"

SCRIPT = '''
import tensorflow as tf
from tensorflow.core.example import example_pb2, feature_pb2
from tensorflow.core.framework import graph_pb2, node_def_pb2, summary_pb2, types_pb2
from tensorflow.core.protobuf import config_pb2, meta_graph_pb2, saver_pb2
from tensorflow.core.util.event_pb2 import SessionLog
from tensorflow.python import debug as tf_debug, pywrap_tensorflow
from tensorflow.python.framework import graph_io, graph_util
from tensorflow.python.framework.graph_util import convert_variables_to_constants
from tensorflow.python.lib.io import tf_record
from tensorflow.python.saved_model import builder, loader, signature_constants, tag_constants
from tensorflow.python.summary.summary_iterator import summary_iterator
from tensorflow.python.tools import inspect_checkpoint
from tensorflow.python.tools.inspect_checkpoint import print_tensors_in_checkpoint_file
from tensorflow.python.training import saver

found = {
    "float": types_pb2.DT_FLOAT, "start": SessionLog.START, "v2": saver_pb2.SaverDef.V2,
    "example": example_pb2.Example is tf.train.Example, "graph": graph_pb2.GraphDef is tf.GraphDef,
    "frozen": graph_util.convert_variables_to_constants is convert_variables_to_constants,
    "write": graph_io.write_graph is tf.train.write_graph, "records": tf_record.tf_record_iterator is not None,
    "serve": tag_constants.SERVING, "key": signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    "builder": builder.SavedModelBuilder is tf.saved_model.Builder, "load": loader.load is tf.saved_model.load,
    "step": pywrap_tensorflow.NewCheckpointReader(PATH).get_tensor("global_step"),
    "saver": saver.Saver is tf.train.Saver,
    "wrapper": tf_debug.LocalCLIDebugWrapperSession is tf.debug.LocalCLIDebugWrapperSession,
    "config": config_pb2.ConfigProto is tf.ConfigProto, "meta": meta_graph_pb2.MetaGraphDef is tf.MetaGraphDef,
}
inspect_checkpoint.print_tensors_in_checkpoint_file(PATH, "half", all_tensors=False)
print_tensors_in_checkpoint_file(PATH, tensor_name="", all_tensors=False, all_tensor_names=True)
'''


def test_modules_that_scripts_import_answer(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict = {"PATH": str(FIXTURES / "checkpoint" / "model-1")}
    with standing_in(shadow=True):
        exec(SCRIPT, names)
    values = {"float": 1, "start": 1, "v2": 2, "serve": "serve", "key": "serving_default", "step": 1}
    assert names["found"] == {**dict.fromkeys(names["found"], True), **values}
    assert "tensor_name:  half\n[ 1.5 -2. ]\ntensor_name:  beta1_power\n" in capsys.readouterr().out


def test_text_format_is_answered_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alias, "has_protobuf", lambda: False)
    script = '''
import tensorflow as tf
from google.protobuf import text_format
from google.protobuf.message import DecodeError
graph = tf.GraphDef()
text_format.Merge('node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }', graph)
again = text_format.Parse(text_format.MessageToString(graph), tf.GraphDef())
try:
    text_format.Parse("nothing: 3", graph)
except text_format.ParseError as error:
    refusal = str(error)
'''
    names: dict = {}
    with standing_in(shadow=True):
        exec(script, names)
    assert names["again"] == names["graph"] and names["graph"].node[0].attr["dtype"].type == 1
    assert "1:1 : expected a field of GraphDef" in names["refusal"]
