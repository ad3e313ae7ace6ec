"""Event files: what a FileWriter writes and TensorBoard reads, records of Event messages."""
from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable, Iterator
from typing import Any

from .disk.reading import open_file
from .event_messages import EVENT_MESSAGES
from .record_file import RecordWriter, pack_record, read_records

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
