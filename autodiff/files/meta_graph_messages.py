"""Messages of models: MetaGraphDef, SavedModel, what a Saver, a variable, a loop and a queue runner are.

Source: the numbers, names and kinds of TensorFlow 1.15's descriptors.
"""
from __future__ import annotations

from typing import Any

from .graph_messages import GRAPH_MESSAGES
from .protobuf_schema import messages

META_GRAPH_MESSAGES = messages("""
enum VariableSynchronization VARIABLE_SYNCHRONIZATION_AUTO=0 VARIABLE_SYNCHRONIZATION_NONE=1
    VARIABLE_SYNCHRONIZATION_ON_WRITE=2 VARIABLE_SYNCHRONIZATION_ON_READ=3
enum VariableAggregation VARIABLE_AGGREGATION_NONE=0 VARIABLE_AGGREGATION_SUM=1 VARIABLE_AGGREGATION_MEAN=2
    VARIABLE_AGGREGATION_ONLY_FIRST_REPLICA=3
message VariableDef
    1 string variable_name; 2 string initializer_name; 3 string snapshot_name; 4 SaveSliceInfoDef save_slice_info_def;
    5 bool is_resource; 6 string initial_value_name; 7 bool trainable; 8 VariableSynchronization synchronization;
    9 VariableAggregation aggregation
message SaveSliceInfoDef
    1 string full_name; 2 int64* full_shape; 3 int64* var_offset; 4 int64* var_shape
message SaverDef
    1 string filename_tensor_name; 2 string save_tensor_name; 3 string restore_op_name; 4 int32 max_to_keep;
    5 bool sharded; 6 float keep_checkpoint_every_n_hours; 7 SaverDef.CheckpointFormatVersion version
enum SaverDef.CheckpointFormatVersion LEGACY=0 V1=1 V2=2
message JobDef
    1 string name; 2 int32 -> string tasks
message ClusterDef
    1 JobDef* job
message ServerDef
    1 ClusterDef cluster; 2 string job_name; 3 int32 task_index; 4 bytes default_session_config; 5 string protocol
message QueueRunnerDef
    1 string queue_name; 2 string* enqueue_op_name; 3 string close_op_name; 4 string cancel_op_name;
    5 int32* queue_closed_exception_types
message ValuesDef
    1 string* values; 2 string -> string external_values
message ControlFlowContextDef
    1 CondContextDef cond_ctxt | ctxt; 2 WhileContextDef while_ctxt | ctxt
message CondContextDef
    1 string context_name; 2 string pred_name; 3 string pivot_name; 4 int32 branch; 5 ValuesDef values_def;
    6 ControlFlowContextDef* nested_contexts
message WhileContextDef
    1 string context_name; 2 int32 parallel_iterations; 3 bool back_prop; 4 bool swap_memory; 5 string pivot_name;
    6 string pivot_for_pred_name; 7 string pivot_for_body_name; 8 string* loop_exit_names; 9 ValuesDef values_def;
    10 string* loop_enter_names; 11 string maximum_iterations_name; 12 ControlFlowContextDef* nested_contexts
message MetaGraphDef
    1 MetaGraphDef.MetaInfoDef meta_info_def; 2 GraphDef graph_def; 3 SaverDef saver_def;
    4 string -> CollectionDef collection_def; 5 string -> SignatureDef signature_def; 6 AssetFileDef* asset_file_def
message MetaGraphDef.MetaInfoDef
    1 string meta_graph_version; 2 OpList stripped_op_list; 3 Any any_info; 4 string* tags;
    5 string tensorflow_version; 6 string tensorflow_git_version; 7 bool stripped_default_attrs
message CollectionDef
    1 CollectionDef.NodeList node_list | kind; 2 CollectionDef.BytesList bytes_list | kind;
    3 CollectionDef.Int64List int64_list | kind; 4 CollectionDef.FloatList float_list | kind;
    5 CollectionDef.AnyList any_list | kind
message CollectionDef.NodeList
    1 string* value
message CollectionDef.BytesList
    1 bytes* value
message CollectionDef.Int64List
    1 int64* value
message CollectionDef.FloatList
    1 float* value
message CollectionDef.AnyList
    1 Any* value
message TensorInfo
    1 string name | encoding; 2 DataType dtype; 3 TensorShapeProto tensor_shape;
    4 TensorInfo.CooSparse coo_sparse | encoding; 5 TensorInfo.CompositeTensor composite_tensor | encoding
message TensorInfo.CooSparse
    1 string values_tensor_name; 2 string indices_tensor_name; 3 string dense_shape_tensor_name
message TensorInfo.CompositeTensor
    2 TensorInfo* components
message SignatureDef
    1 string -> TensorInfo inputs; 2 string -> TensorInfo outputs; 3 string method_name
message AssetFileDef
    1 TensorInfo tensor_info; 2 string filename
message SavedModel
    1 int64 saved_model_schema_version; 2 MetaGraphDef* meta_graphs
message CheckpointState
    1 string model_checkpoint_path; 2 string* all_model_checkpoint_paths; 3 double* all_model_checkpoint_timestamps;
    4 double last_preserved_timestamp
message Any
    1 string type_url; 2 bytes value
""", {**GRAPH_MESSAGES})


def _pack(self: Any, message: Any) -> None:
    """Hold a message, whatever its kind."""
    self.type_url, self.value = f"type.googleapis.com/tensorflow.{type(message).__name__}", message.SerializeToString()


def _unpack(self: Any, message: Any) -> bool:
    """Give a message what is held; False if that is of another kind."""
    is_same = self.type_url.rpartition(".")[2] == type(message).__name__
    if is_same:
        message.ParseFromString(self.value)
    return is_same


META_GRAPH_MESSAGES["Any"].Pack, META_GRAPH_MESSAGES["Any"].Unpack = _pack, _unpack
