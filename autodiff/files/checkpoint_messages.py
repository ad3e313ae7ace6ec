"""What checkpoints hold: messages of a bundle's index, its slices and objects; names and slices as bytes that sort.

Source: the numbers, names and kinds of TensorFlow 1.15's descriptors; of the bytes, its strings/ordered_code, with its
table of headers, found by what TensorFlow 1.15 writes.
"""
from __future__ import annotations

from collections.abc import Sequence

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


WHOLE = -1  # the length of an extent that spans its whole dimension


def slice_key(name: str, extents: Sequence[tuple[int, int]]) -> bytes:
    """The key of a part of a variable. extents: start and length in each dimension; (0, WHOLE) for all of it."""
    return b"".join([_unsigned(0), _text(name.encode()), _unsigned(len(extents)),
                     *(_signed(number) for extent in extents for number in extent)])


def _text(data: bytes) -> bytes:
    """A zero byte would look like the end, so it gets a mark; the other special byte, 255, is not in UTF-8."""
    return data.replace(b"\0", b"\0\xff") + b"\0\1"


def _unsigned(number: int) -> bytes:
    """How many bytes, then the bytes, highest first."""
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return bytes([len(data)]) + data


def _signed(number: int) -> bytes:
    """The length stands in the leading ones of the first byte, turned around for negative numbers."""
    magnitude = ~number if number < 0 else number
    length = 1
    while magnitude >> 7 * length - 1:
        length += 1
    bits = 8 * length
    header = ((1 << length) - 1) << (bits - length)
    return ((number & (1 << bits) - 1) ^ header).to_bytes(length, "big")
