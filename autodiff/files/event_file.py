"""Event files: what a FileWriter writes and TensorBoard reads, records of Event messages.

Source: the numbers, names and kinds of TensorFlow 1.15's descriptors.
"""
from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable, Iterator
from typing import Any

from .disk.reading import open_file
from .graph_messages import GRAPH_MESSAGES
from .protobuf_schema import messages
from .record_file import RecordWriter, pack_record, read_records

EVENT_MESSAGES = messages("""
message SummaryDescription
    1 string type_hint
message HistogramProto
    1 double min; 2 double max; 3 double num; 4 double sum; 5 double sum_squares; 6 double* bucket_limit;
    7 double* bucket
message SummaryMetadata
    1 SummaryMetadata.PluginData plugin_data; 2 string display_name; 3 string summary_description
message SummaryMetadata.PluginData
    1 string plugin_name; 2 bytes content
message Summary
    1 Summary.Value* value
message Summary.Image
    1 int32 height; 2 int32 width; 3 int32 colorspace; 4 bytes encoded_image_string
message Summary.Audio
    1 float sample_rate; 2 int64 num_channels; 3 int64 length_frames; 4 bytes encoded_audio_string;
    5 string content_type
message Summary.Value
    1 string tag; 2 float simple_value | value; 3 bytes obsolete_old_style_histogram | value;
    4 Summary.Image image | value; 5 HistogramProto histo | value; 6 Summary.Audio audio | value; 7 string node_name;
    8 TensorProto tensor | value; 9 SummaryMetadata metadata
message Event
    1 double wall_time; 2 int64 step; 3 string file_version | what; 4 bytes graph_def | what; 5 Summary summary | what;
    6 LogMessage log_message | what; 7 SessionLog session_log | what; 8 TaggedRunMetadata tagged_run_metadata | what;
    9 bytes meta_graph_def | what
message LogMessage
    1 LogMessage.Level level; 2 string message
enum LogMessage.Level UNKNOWN=0 DEBUGGING=10 INFO=20 WARN=30 ERROR=40 FATAL=50
message SessionLog
    1 SessionLog.SessionStatus status; 2 string checkpoint_path; 3 string msg
enum SessionLog.SessionStatus STATUS_UNSPECIFIED=0 START=1 STOP=2 CHECKPOINT=3
message TaggedRunMetadata
    1 string tag; 2 bytes run_metadata
message AllocationRecord
    1 int64 alloc_micros; 2 int64 alloc_bytes
message AllocatorMemoryUsed
    1 string allocator_name; 2 int64 total_bytes; 3 int64 peak_bytes; 4 int64 live_bytes;
    5 int64 allocator_bytes_in_use; 6 AllocationRecord* allocation_records
message AllocationDescription
    1 int64 requested_bytes; 2 int64 allocated_bytes; 3 string allocator_name; 4 int64 allocation_id;
    5 bool has_single_reference; 6 uint64 ptr
message TensorDescription
    1 DataType dtype; 2 TensorShapeProto shape; 4 AllocationDescription allocation_description
message NodeOutput
    1 int32 slot; 3 TensorDescription tensor_description
message MemoryStats
    1 int64 temp_memory_size; 2 int64 device_temp_memory_size; 3 int64 persistent_memory_size;
    4 int64 device_persistent_memory_size; 5 int64* persistent_tensor_alloc_ids;
    6 int64* device_persistent_tensor_alloc_ids
message NodeExecStats
    1 string node_name; 2 int64 all_start_micros; 3 int64 op_start_rel_micros; 4 int64 op_end_rel_micros;
    5 int64 all_end_rel_micros; 6 AllocatorMemoryUsed* memory; 7 NodeOutput* output; 8 string timeline_label;
    9 int64 scheduled_micros; 10 uint32 thread_id; 11 AllocationDescription* referenced_tensor;
    12 MemoryStats memory_stats; 13 int64 all_start_nanos; 14 int64 op_start_rel_nanos; 15 int64 op_end_rel_nanos;
    16 int64 all_end_rel_nanos; 17 int64 scheduled_nanos
message DeviceStepStats
    1 string device; 2 NodeExecStats* node_stats; 3 uint32 -> string thread_names
message StepStats
    1 DeviceStepStats* dev_stats
message CostGraphDef
    1 CostGraphDef.Node* node
message CostGraphDef.Node
    1 string name; 2 string device; 3 int32 id; 4 CostGraphDef.Node.InputInfo* input_info;
    5 CostGraphDef.Node.OutputInfo* output_info; 6 int64 temporary_memory_size; 7 bool is_final;
    8 int32* control_input; 9 int64 compute_cost; 10 int64 host_temp_memory_size; 11 int64 device_temp_memory_size;
    12 int64 persistent_memory_size; 14 int64 compute_time; 15 int64 memory_time;
    16 int64 device_persistent_memory_size; 17 bool inaccurate
message CostGraphDef.Node.InputInfo
    1 int32 preceding_node; 2 int32 preceding_port
message CostGraphDef.Node.OutputInfo
    1 int64 size; 2 int64 alias_input_port; 3 TensorShapeProto shape; 4 DataType dtype
message RunMetadata
    1 StepStats step_stats; 2 CostGraphDef cost_graph; 3 GraphDef* partition_graphs;
    4 RunMetadata.FunctionGraphs* function_graphs
message RunMetadata.FunctionGraphs
    1 GraphDef* partition_graphs; 2 GraphDef pre_optimization_graph; 3 GraphDef post_optimization_graph
""", {**GRAPH_MESSAGES})


Event = EVENT_MESSAGES["Event"]

_VERSION = "brain.Event:2"


class EventWriter:
    """Writes events to a new file in a directory, which is made if it is not there.

    suffix: what the file's name ends with. The name has the second and the machine, as TensorBoard expects.
    """

    def __init__(self, folder: str, suffix: str = "") -> None:
        os.makedirs(folder, exist_ok=True)
        began = time.time()
        self.path = os.path.join(folder, f"events.out.tfevents.{int(began):010d}.{socket.gethostname()}{suffix}")
        self._records = RecordWriter(open(self.path, "ab"))
        self.write(Event(wall_time=began, file_version=_VERSION))
        self.flush()

    def write(self, event: Any) -> None:
        """Add an event."""
        self._records.write(event.SerializeToString())

    def flush(self) -> None:
        """Let readers see all that was written."""
        self._records.flush()

    def close(self) -> None:
        """Flush and close the file."""
        self._records.close()


def scalar_events(scalars: Iterable[tuple[str, int, float]], wall_time: float) -> bytes:
    """A whole file. scalars: tag, step and value. wall_time: seconds since 1970, of all of them."""
    events = [Event(wall_time=wall_time, file_version=_VERSION)]
    for tag, step, value in scalars:
        shown = {"tag": tag.encode("utf-8", "backslashreplace"), "simple_value": value}
        events.append(Event(wall_time=wall_time, step=step, summary={"value": [shown]}))
    return b"".join(pack_record(event.SerializeToString()) for event in events)


def read_events(path: str) -> Iterator[Any]:
    """The events of a file. Raises DataLossError for damaged ones, after those before them were given."""
    with open_file(path) as file:
        for record in read_records(file, f"event file {path}"):
            yield Event.FromString(record)
