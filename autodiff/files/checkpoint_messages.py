"""Messages of checkpoints: the index of a bundle of tensors, its slices, the graph of tracked objects.

Source: the numbers, names and kinds of TensorFlow 1.15's descriptors.
"""
from .graph_messages import GRAPH_MESSAGES
from .protobuf_schema import messages

CHECKPOINT_MESSAGES = messages("""
message TensorSliceProto
    1 TensorSliceProto.Extent* extent
message TensorSliceProto.Extent
    1 int64 start; 2 int64 length | has_length
message BundleHeaderProto
    1 int32 num_shards; 2 BundleHeaderProto.Endianness endianness; 3 VersionDef version
enum BundleHeaderProto.Endianness LITTLE=0 BIG=1
message BundleEntryProto
    1 DataType dtype; 2 TensorShapeProto shape; 3 int32 shard_id; 4 int64 offset; 5 int64 size; 6 fixed32 crc32c;
    7 TensorSliceProto* slices
message TrackableObjectGraph
    1 TrackableObjectGraph.TrackableObject* nodes
message TrackableObjectGraph.TrackableObject
    1 TrackableObjectGraph.TrackableObject.ObjectReference* children;
    2 TrackableObjectGraph.TrackableObject.SerializedTensor* attributes;
    3 TrackableObjectGraph.TrackableObject.SlotVariableReference* slot_variables
message TrackableObjectGraph.TrackableObject.ObjectReference
    1 int32 node_id; 2 string local_name
message TrackableObjectGraph.TrackableObject.SerializedTensor
    1 string name; 2 string full_name; 3 string checkpoint_key; 4 bool optional_restore
message TrackableObjectGraph.TrackableObject.SlotVariableReference
    1 int32 original_variable_node_id; 2 string slot_name; 3 int32 slot_variable_node_id
""", {**GRAPH_MESSAGES})
