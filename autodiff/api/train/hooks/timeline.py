"""tensorflow.python.client.timeline: the times of a run as a page of Chrome's (chrome://tracing) draws them.

Source: the Trace Event Format: "X" is an event with a duration, "M" names a row, "s" and "t" begin and end an arrow.
"""
from __future__ import annotations

import json
from typing import Any

__all__ = ["Timeline"]


class Timeline:
    """The times of a run. step_stats: of a RunMetadata that a run with RunOptions.FULL_TRACE has filled."""

    def __init__(self, step_stats: Any, graph: Any = None) -> None:
        self._step_stats = step_stats

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False,
                                     op_time: str = "schedule") -> str:
        """The JSON that Chrome reads. show_dataflow: with arrows from each operation to those that read it.

        show_memory, op_time: without effect.
        """
        events: list[dict[str, Any]] = []
        ended: dict[str, dict[str, Any]] = {}  # operation -> where arrows from it begin
        for row, device in enumerate(self._step_stats.dev_stats):
            events.append({"name": "process_name", "ph": "M", "pid": row, "args": {"name": f"{device.device} Compute"}})
            for node in device.node_stats:
                name, _, call = node.timeline_label.partition(" = ")
                kind, _, inputs = call.rstrip(")").partition("(")
                read = [part for part in inputs.split(", ") if part]
                start, place = node.all_start_micros, {"pid": row, "tid": node.thread_id}
                events.append({"name": kind or node.node_name, "cat": "Op", "ph": "X", "ts": start, **place,
                               "dur": node.op_end_rel_micros, "args": {"name": name, "op": kind, **{
                                   f"input{i}": part for i, part in enumerate(read)}}})
                for part in read if show_dataflow else ():
                    if (origin := ended.get(part.partition(":")[0])) is not None:
                        arrow = {"name": part, "cat": "DataFlow", "id": len(events)}
                        events += [{**arrow, "ph": "s", **origin}, {**arrow, "ph": "t", "ts": start, **place}]
                ended[node.node_name] = {"ts": start + node.op_end_rel_micros, **place}
        return json.dumps({"traceEvents": events}, indent=4)
