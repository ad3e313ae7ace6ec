"""Bytes to plain records and back: the files that TensorFlow 1 writes, each format in a module of its own.

The room knows numpy and the errors only. Protocol buffers: `protobuf_fields` (what a field is), `protobuf_wire`
(binary), `protobuf_text` (text), `protobuf_message` (messages made of tables of fields); `*_messages` are the tables.
`checkpoints` opens a checkpoint of any format, `checkpoint` writes one over `sstable` and `crc32c`; `record_file` is
TFRecord, `event_file` what TensorBoard reads, `debug_dump` what tfdbg leaves; `op_table` knows TensorFlow's ops.
Every reader raises DataLossError, which names the format and the offset, for damaged bytes, and never takes memory
out of proportion to the file. Start with checkpoints.py.
"""
