"""What a checkpoint holds, printed: the tool of TensorFlow's that scripts call."""
from __future__ import annotations

from typing import Any

from .checkpoints import NewCheckpointReader


def print_tensors_in_checkpoint_file(file_name: Any, tensor_name: str | None, all_tensors: bool,
                                     all_tensor_names: bool = False, count_exclude_pattern: str = "") -> None:
    """Print one tensor's value; all values, or all names; or, without either, a line for each tensor."""
    reader = NewCheckpointReader(file_name)
    if all_tensors or all_tensor_names:
        for name in sorted(reader.get_variable_to_shape_map()):
            print("tensor_name: ", name)
            if all_tensors:
                print(reader.get_tensor(name))
    elif tensor_name:
        print("tensor_name: ", tensor_name)
        print(reader.get_tensor(tensor_name))
    else:
        print(reader.debug_string().decode())
