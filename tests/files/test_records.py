"""TFRecord files and event files: TensorFlow's are read, ours are what TensorFlow reads; damage is refused."""

import io
from pathlib import Path

import numpy as np
import pytest

from autodiff.core.errors import AutodiffError, DataLossError, InvalidArgumentError
from autodiff.files.event_file import Event, EventWriter, read_events
from autodiff.files.example_messages import EXAMPLE_MESSAGES
from autodiff.files.record_file import RecordWriter, pack_record, read_records

FIXTURES = Path(__file__).parent / "fixtures"
NAMES = {"": "plain", "GZIP": "gzip", "ZLIB": "zlib"}


@pytest.mark.parametrize("compression", NAMES)
def test_examples_that_tensorflow_wrote_are_read(compression: str) -> None:
    with open(FIXTURES / f"{NAMES[compression]}.tfrecord", "rb") as file:
        found = [EXAMPLE_MESSAGES["Example"].FromString(data) for data in read_records(file, "file", compression)]
    assert [example.features.feature["label"].int64_list.value for example in found] == [[0], [1], [2]]
    assert [example.features.feature["image"].bytes_list.value[0] for example in found] == [
        b"\0\1\2", b"\1\1\2", b"\2\1\2"]
    assert found[2].features.feature["weights"].float_list.value == [0.5, 0.5]


def test_a_plain_file_is_written_byte_for_byte_as_tensorflow_does() -> None:
    data = (FIXTURES / "plain.tfrecord").read_bytes()
    assert b"".join(map(pack_record, read_records(io.BytesIO(data), "file"))) == data


@pytest.mark.parametrize("compression", NAMES)
def test_what_is_written_comes_back(compression: str, tmp_path: Path) -> None:
    records = [b"", b"x", np.random.RandomState(0).bytes(3_000_000), b"end"]
    writer = RecordWriter(open(tmp_path / "f", "wb"), compression)
    for record in records:
        writer.write(record)
    writer.close()
    with open(tmp_path / "f", "rb") as file:
        assert list(read_records(file, "f", compression)) == records


def test_what_stands_before_the_damage_is_given() -> None:
    data = pack_record(b"one") + pack_record(b"two")
    found = read_records(io.BytesIO(data[:-5] + b"X" + data[-4:]), "f")
    assert next(found) == b"one"
    with pytest.raises(DataLossError, match="corrupted record at 19"):
        next(found)
    with pytest.raises(DataLossError, match="truncated record at 19"):
        list(read_records(io.BytesIO(data[:-2]), "f"))
    with pytest.raises(DataLossError, match="corrupted record at 0"):
        list(read_records(io.BytesIO(b"not a record file"), "f"))


@pytest.mark.parametrize("compression", NAMES)
def test_no_bytes_do_more_than_be_refused(compression: str) -> None:
    good = (FIXTURES / f"{NAMES[compression]}.tfrecord").read_bytes()
    random = np.random.RandomState(0)
    refused = 0
    for _ in range(60):
        damaged = bytearray(good)
        damaged[random.randint(len(good))] ^= 1 << random.randint(8)
        try:
            list(read_records(io.BytesIO(bytes(damaged)), "f", compression))
        except AutodiffError:
            refused += 1
    assert refused > 40


def test_an_unknown_compression_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="Unsupported compression_type:LZ4"):
        RecordWriter(io.BytesIO(), "LZ4")


def test_events_that_tensorflow_wrote_are_read() -> None:
    found = list(read_events(str(FIXTURES / "events" / "events.out.tfevents.1")))
    assert [event.WhichOneof("what") for event in found] == [
        "file_version", "graph_def", "meta_graph_def", "summary", "session_log"]
    loss, weights, picture, note = found[3].summary.value
    assert (loss.tag, loss.simple_value, found[3].step) == ("loss", 0.5, 7)
    assert (weights.histo.num, weights.histo.sum, picture.image.width) == (3, 5.5, 2)
    assert note.metadata.plugin_data.plugin_name == "text" and note.tensor.string_val == [b"hello"]
    assert found[4].session_log.status == 1


def test_events_are_written_and_come_back(tmp_path: Path) -> None:
    writer = EventWriter(str(tmp_path / "logs"), ".end")
    writer.write(Event(step=3, summary={"value": [{"tag": "a", "simple_value": 0.25}]}))
    writer.close()
    assert Path(writer.path).name.startswith("events.out.tfevents.") and writer.path.endswith(".end")
    version, summary = read_events(writer.path)
    assert version.file_version == "brain.Event:2" and version.wall_time > 1e9
    assert (summary.step, summary.summary.value[0].simple_value) == (3, 0.25)
