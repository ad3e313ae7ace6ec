"""The file `checkpoint` of a directory: which checkpoints there are, and which is the latest."""
from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import ArgumentError
from ...files.checkpoints import checkpoint_exists
from ...files.disk.replacing import replace_file

__all__ = ["CheckpointState", "generate_checkpoint_state_proto", "get_checkpoint_state", "latest_checkpoint",
           "update_checkpoint_state"]


@dataclass
class CheckpointState:
    """model_checkpoint_path: the latest. all_model_checkpoint_paths: oldest first, the latest among them.

    all_model_checkpoint_timestamps: of each of them, in seconds since 1970; last_preserved_timestamp: of the latest
    that is kept for ever. None and 0 where nobody says it.
    """

    model_checkpoint_path: str = ""
    all_model_checkpoint_paths: list[str] = field(default_factory=list)
    all_model_checkpoint_timestamps: list[float] = field(default_factory=list)
    last_preserved_timestamp: float = 0.0

    def __str__(self) -> str:
        """The text that the file holds."""
        lines = [f"model_checkpoint_path: {json.dumps(self.model_checkpoint_path)}",
                 *(f"all_model_checkpoint_paths: {json.dumps(path)}" for path in self.all_model_checkpoint_paths),
                 *(f"all_model_checkpoint_timestamps: {time!r}" for time in self.all_model_checkpoint_timestamps),
                 *([f"last_preserved_timestamp: {self.last_preserved_timestamp!r}"]
                   if self.last_preserved_timestamp else [])]
        return "\n".join([*lines, ""])


def get_checkpoint_state(checkpoint_dir: Any, latest_filename: str | None = None) -> CheckpointState | None:
    """The content of a directory's file `checkpoint`, with paths that hold from here; None if there is none.

    Raises ArgumentError (ValueError) for a file that names no checkpoint.
    """
    folder = os.fspath(checkpoint_dir)
    try:
        with open(os.path.join(folder, latest_filename or "checkpoint"), encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return None
    found: dict[str, list[Any]] = {}
    for name, value in re.findall(r'^\s*(\w+):\s*("(?:[^"\\]|\\.)*"|[\d.e+]+)\s*$', text, re.MULTILINE):
        told = json.loads(value)
        found.setdefault(name, []).append(os.path.join(folder, told) if isinstance(told, str) else told)
    latest = found.get("model_checkpoint_path")
    if not latest:
        raise ArgumentError(f"Invalid checkpoint state loaded from {folder}")
    return CheckpointState(latest[-1], found.get("all_model_checkpoint_paths", []),
                           found.get("all_model_checkpoint_timestamps", []),
                           found.get("last_preserved_timestamp", [0.0])[-1])


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The latest checkpoint of a directory; None if there is none, or its files are gone."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    return None if state is None or not checkpoint_exists(state.model_checkpoint_path) else state.model_checkpoint_path


def generate_checkpoint_state_proto(save_dir: str, model_checkpoint_path: str,
                                    all_model_checkpoint_paths: Sequence[str] | None = None,
                                    **times: Any) -> CheckpointState:
    """The state of a directory. A relative directory has its checkpoints relative to itself."""
    paths = list(all_model_checkpoint_paths or [])
    if model_checkpoint_path not in paths:
        paths.append(model_checkpoint_path)
    if not os.path.isabs(save_dir):
        model_checkpoint_path, *paths = [p if os.path.isabs(p) else os.path.relpath(p, save_dir)
                                         for p in (model_checkpoint_path, *paths)]
    return CheckpointState(model_checkpoint_path, paths, **times)


def update_checkpoint_state(save_dir: str, model_checkpoint_path: str,
                            all_model_checkpoint_paths: Sequence[str] | None = None,
                            latest_filename: str | None = None, save_relative_paths: bool = False,
                            **times: Any) -> None:
    """Write the file `checkpoint` of a directory, in one step. save_relative_paths: so that it can be moved.

    times: all_model_checkpoint_timestamps, last_preserved_timestamp.
    """
    path = os.path.join(save_dir, latest_filename or "checkpoint")
    state = generate_checkpoint_state_proto(save_dir, model_checkpoint_path, all_model_checkpoint_paths, **times)
    if save_relative_paths:
        paths = [os.path.relpath(os.path.join(save_dir, p), save_dir)
                 for p in (state.model_checkpoint_path, *state.all_model_checkpoint_paths)]
        state = CheckpointState(paths[0], paths[1:], **times)
    text = str(state)
    replace_file(path, lambda file: file.write(text.encode()))
