"""A run whose times are noted: what RunOptions.FULL_TRACE asks for, as TensorFlow's StepStats."""
from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..core.devices import LOCAL_CPU
from .cursor import Execution


def traced(execution: Execution, step_stats: Any) -> Any:
    """Run what is left of an execution, and note when each operation ran, and what it gave; gives the fetched values.

    step_stats: the StepStats message that is filled.
    """
    device = step_stats.dev_stats.add(device=f"{LOCAL_CPU}:0")
    while not execution.is_done:
        begin, start = time.time_ns() // 1000, time.perf_counter_ns()
        op = execution.step()
        nanos = time.perf_counter_ns() - start
        micros = max((nanos + 999) // 1000, 1)  # what took no time is not drawn
        node = device.node_stats.add(
            node_name=op.name, all_start_micros=begin, scheduled_micros=begin, op_end_rel_micros=micros,
            all_end_rel_micros=micros, op_end_rel_nanos=nanos, all_end_rel_nanos=nanos,
            timeline_label=f"{op.name} = {op.type}({', '.join(t.name.removesuffix(':0') for t in op.inputs)})")
        for slot, tensor in enumerate(op.outputs):
            value = execution.value(tensor) if execution.has_value(tensor) else None
            if isinstance(value, (np.ndarray, np.generic)):
                about = node.output.add(slot=slot).tensor_description
                about.dtype = tensor.dtype.as_datatype_enum
                for size in np.shape(value):
                    about.shape.dim.add(size=size)
                about.allocation_description.requested_bytes = value.nbytes
                about.allocation_description.allocated_bytes = value.nbytes
    return execution.finish()
