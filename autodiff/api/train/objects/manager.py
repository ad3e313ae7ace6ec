"""CheckpointManager: the latest checkpoints of objects are kept, older ones deleted."""
from __future__ import annotations

import os
import time
from typing import Any

from ....core.errors import ArgumentError
from ..checkpoint_state import get_checkpoint_state, update_checkpoint_state
from ..checkpoints import remove_checkpoint
from .checkpoint import Checkpoint


class CheckpointManager:
    """Saves `<directory>/<checkpoint_name>-<number>`, keeps the latest max_to_keep, None for all.

    keep_checkpoint_every_n_hours: of those that are too many one in so many hours is kept for ever. What an earlier
    manager of the directory kept is taken over. Raises ArgumentError (ValueError) for a max_to_keep below 1.
    """

    def __init__(self, checkpoint: Checkpoint, directory: Any, max_to_keep: int | None,
                 keep_checkpoint_every_n_hours: float | None = None, checkpoint_name: str = "ckpt") -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ArgumentError(f"Expected a positive integer or `None` for `max_to_max_to_keep`, got {max_to_keep}.")
        self._checkpoint, self._folder, self._name = checkpoint, os.fspath(directory), checkpoint_name
        self._max_to_keep, self._hours = max_to_keep, keep_checkpoint_every_n_hours
        state, now = get_checkpoint_state(self._folder), time.time()
        self.latest_checkpoint: str | None = state.model_checkpoint_path if state else None
        self._saved: dict[str, float] = {}
        self._preserved = now
        if state and len(state.all_model_checkpoint_timestamps) == len(state.all_model_checkpoint_paths):
            self._saved = dict(zip(state.all_model_checkpoint_paths, state.all_model_checkpoint_timestamps))
            self._preserved = state.last_preserved_timestamp or now - 1

    @property
    def checkpoints(self) -> list[str]:
        """The names of those that may still be deleted, oldest first."""
        return list(self._saved)

    def save(self, checkpoint_number: Any = None) -> str:
        """Write one of a number, by default one after the last; delete what is too many. Gives its name."""
        prefix = os.path.join(self._folder, self._name)
        if checkpoint_number is None:
            path = self._checkpoint._numbered(prefix)
        else:
            number = checkpoint_number.numpy() if hasattr(checkpoint_number, "numpy") else checkpoint_number
            path = self._checkpoint.write(f"{prefix}-{int(number)}")
        self._saved.pop(path, None)
        self._saved[path] = time.time()
        self.latest_checkpoint = path
        while self._max_to_keep is not None and len(self._saved) > self._max_to_keep:
            oldest, saved_at = next(iter(self._saved.items()))
            del self._saved[oldest]
            if self._hours is not None and saved_at - self._hours * 3600 >= self._preserved:
                self._preserved = saved_at
            else:
                remove_checkpoint(oldest)
        update_checkpoint_state(self._folder, path, self.checkpoints, save_relative_paths=True,
                                all_model_checkpoint_timestamps=list(self._saved.values()),
                                last_preserved_timestamp=self._preserved)
        return path
