"""tf.keras.callbacks: what is called around epochs and batches of fit."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ...core.site import capture, resolve
from .. import logging
from ..common.unsupported import refusing
from ..file_writer import FileWriter
from ..messages import Summary
from . import backend

_MOMENTS = ("on_train_begin", "on_train_end", "on_epoch_begin", "on_epoch_end", "on_batch_begin", "on_batch_end",
            "on_train_batch_begin", "on_train_batch_end", "on_test_begin", "on_test_end", "on_predict_begin",
            "on_predict_end")


class Callback:
    """Does nothing: a subclass says what it does at the moments it needs. model: the one that is trained."""

    model: Any = None
    params: Any = None
    validation_data: Any = None

    def set_model(self, model: Any) -> None:
        self.model = model

    def set_params(self, params: dict[str, Any]) -> None:
        self.params = params

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.on_batch_begin(batch, logs)  # type: ignore[attr-defined]

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.on_batch_end(batch, logs)  # type: ignore[attr-defined]


def _nothing(self: Callback, *args: Any, **options: Any) -> None:
    """Nothing, unless a subclass says what."""


for _moment in _MOMENTS:
    if _moment not in vars(Callback):
        setattr(Callback, _moment, _nothing)


class History(Callback):
    """What fit gives. history: name -> one number for each epoch; epoch: their numbers."""

    def __init__(self) -> None:
        self.history: dict[str, list[float]] = {}
        self.epoch: list[int] = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class LambdaCallback(Callback):
    """Functions, by the names of their moments."""

    def __init__(self, **functions: Callable[..., None]) -> None:
        for name, function in functions.items():
            setattr(self, name, function)


class _Monitor(Callback):
    """Watches one number of an epoch. mode: 'min', 'max', or 'auto': the greatest of what is called an accuracy.

    seen: what the number was, epoch by epoch. there: the names that there are, where it is none of them. is_max:
    whether more is better. frames: where this was made.
    """

    def __init__(self, monitor: str = "val_loss", mode: str = "auto", min_delta: float = 0) -> None:
        self.monitor, self.mode, self.seen, self.frames = monitor, mode, list[float](), capture()
        self.is_max, self.there = mode == "max" or mode == "auto" and "acc" in monitor, tuple[str, ...]()
        self._sign = -1 if self.is_max else 1
        self._delta, self.baseline, self.wait = abs(min_delta), None, 0  # type: float, float | None, int
        _Monitor.on_train_begin(self)

    def on_train_begin(self, logs: Any = None) -> None:
        self.wait = self.stopped_epoch = self.cooldown_counter = 0
        self.best = self._sign * np.inf if self.baseline is None else self.baseline

    def set_model(self, model: Any) -> None:
        super().set_model(model)
        vars(model).setdefault("watchers", []).append(self)

    def improved(self, logs: Any) -> bool | None:
        """Whether this is the best so far; None if there is no such number."""
        value = (logs or {}).get(self.monitor)
        if value is None:
            self.there = tuple(logs or ())
            logging.warning("Conditioned on metric `%s` which is not available. Available metrics are: %s",
                            self.monitor, ",".join(logs or ()))
            return None
        self.seen.append(float(value))
        if self._sign * (value - self.best) < -self._delta:
            self.best = value
            return True
        return False


class EarlyStopping(_Monitor):
    """Ends the training when a number has not become better for `patience` epochs."""

    def __init__(self, monitor: str = "val_loss", min_delta: float = 0, patience: int = 0, verbose: int = 0,
                 mode: str = "auto", baseline: float | None = None, restore_best_weights: bool = False) -> None:
        super().__init__(monitor, mode, min_delta)
        self.patience, self.restore_best_weights, self.baseline = patience, restore_best_weights, baseline
        self.best_weights: Any = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        better = self.improved(logs)
        if better is None:
            return
        self.wait = 0 if better else self.wait + 1
        if better and self.restore_best_weights:
            self.best_weights = self.model.get_weights()
        if not better and self.wait >= self.patience:
            self.stopped_epoch, self.model.stop_training = epoch, True
            if self.best_weights is not None:
                self.model.set_weights(self.best_weights)


class ModelCheckpoint(_Monitor):
    """Saves weights after epochs, under a path that may have {epoch:02d} and {val_loss:.2f} in it.

    save_best_only: only of epochs that are better than all before, also those of a fit before.
    """

    def __init__(self, filepath: str, monitor: str = "val_loss", verbose: int = 0, save_best_only: bool = False,
                 save_weights_only: bool = False, mode: str = "auto", save_freq: Any = "epoch", period: int = 1,
                 **options: Any) -> None:
        super().__init__(monitor, mode)
        self._path, self._best_only, self._period = filepath, save_best_only, period
        self._whole = not save_weights_only

    def on_train_begin(self, logs: Any = None) -> None:
        """The best stays."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if (epoch + 1) % self._period == 0 and (not self._best_only or self.improved(logs)):
            path = self._path.format(epoch=epoch + 1, **(logs or {}))
            self.model.save(path) if self._whole else self.model.save_weights(path)


class ReduceLROnPlateau(_Monitor):
    """Multiplies the rate by `factor` when a number has not become better for `patience` epochs.

    cooldown: epochs that are waited after that. min_lr: the least rate.
    """

    def __init__(self, monitor: str = "val_loss", factor: float = 0.1, patience: int = 10, verbose: int = 0,
                 mode: str = "auto", min_delta: float = 1e-4, cooldown: int = 0, min_lr: float = 0,
                 **options: Any) -> None:
        if factor >= 1.0:
            raise ArgumentError("ReduceLROnPlateau does not support a factor >= 1.0.", found=str(factor))
        super().__init__(monitor, mode, min_delta)
        self.factor, self.patience, self.cooldown, self.min_lr = factor, patience, cooldown, min_lr
        self.lowered = list[int]()  # after which epochs, counted from 1

    def set_model(self, model: Any) -> None:
        super().set_model(model)
        vars(model).setdefault("setters", []).append(self)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        rate = float(backend.get_value(self.model.optimizer.lr))
        logs["lr"], better = rate, self.improved(logs)
        if self.cooldown_counter > 0:
            self.cooldown_counter, self.wait = self.cooldown_counter - 1, 0
        if better or better is None or self.cooldown_counter > 0:
            self.wait = 0 if better else self.wait
            return
        self.wait += 1
        if self.wait >= self.patience and rate > self.min_lr:
            self.lowered.append(epoch + 1)
            site = resolve(self.frames[:1])[0]
            backend.set_value(self.model.optimizer.lr, max(rate * self.factor, self.min_lr), (site.file, site.line))
            self.cooldown_counter, self.wait = self.cooldown, 0


class LearningRateScheduler(Callback):
    """Sets the rate before each epoch to schedule(epoch), or schedule(epoch, rate)."""

    def __init__(self, schedule: Callable[..., float], verbose: int = 0) -> None:
        self._schedule, self.frames = schedule, capture()

    def set_model(self, model: Any) -> None:
        super().set_model(model)
        vars(model).setdefault("setters", []).append(self)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        rate = self.model.optimizer.lr
        several = len(inspect.signature(self._schedule).parameters) > 1
        value = self._schedule(epoch, float(backend.get_value(rate))) if several else self._schedule(epoch)
        if not isinstance(value, (float, np.floating)):
            raise ArgumentError('The output of the "schedule" function should be float.', found=repr(value))
        call: Any = getattr(self._schedule, "func", self._schedule)  # of a partial
        code = getattr(call if inspect.isroutine(call) else call.__call__, "__code__", None)
        backend.set_value(rate, value, code and (code.co_filename, max(line for *_, line in code.co_lines() if line)))

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        logs["lr"] = float(backend.get_value(self.model.optimizer.lr))


class TerminateOnNaN(Callback):
    """Ends the training with a loss that is nan or infinite."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        if not np.isfinite((logs or {}).get("loss", 0.0)):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class CSVLogger(Callback):
    """Writes the numbers of each epoch as a line of a file, below their names."""

    def __init__(self, filename: str, separator: str = ",", append: bool = False) -> None:
        self._path, self._separator, self._appends = filename, separator, append
        self._names: list[str] = []

    def on_train_begin(self, logs: Any = None) -> None:
        if not self._appends:
            with open(self._path, "w"):
                self._names = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        with open(self._path, "a") as file:
            if not self._names:
                self._names = sorted(logs or ())
                if not file.tell():
                    file.write(self._separator.join(["epoch", *self._names]) + "\n")
            values = [str((logs or {}).get(name, "NA")) for name in self._names]
            file.write(self._separator.join([str(epoch), *values]) + "\n")


class ProgbarLogger(Callback):
    """Nothing: fit prints a line for each epoch."""

    def __init__(self, count_mode: str = "samples", stateful_metrics: Any = None) -> None:
        self.count_mode = count_mode


class BaseLogger(Callback):
    """Nothing: fit takes the means itself."""

    def __init__(self, stateful_metrics: Any = None) -> None:
        self.stateful_metrics = set(stateful_metrics or ())


class TensorBoard(Callback):
    """Writes the graph, and the numbers of each epoch, to event files."""

    def __init__(self, log_dir: str = "logs", histogram_freq: int = 0, write_graph: bool = True,
                 **options: Any) -> None:
        self._folder, self._write_graph = log_dir, write_graph
        self._writer: Any = None

    def on_train_begin(self, logs: Any = None) -> None:
        graph = getattr(self.model.outputs[0], "graph", None) if self.model.outputs else None
        self._writer = FileWriter(self._folder, graph if self._write_graph else None)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        values = [Summary.Value(tag=f"epoch_{name}", simple_value=float(value)) for name, value in (logs or {}).items()]
        self._writer.add_summary(Summary(value=values), epoch)

    def on_train_end(self, logs: Any = None) -> None:
        self._writer.close()


__getattr__ = refusing("tf.keras.callbacks", __name__)
