"""compile, fit, evaluate and predict of Keras' models: each a loop over batches of one function of arrays."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np

from ...core import nest
from ...core.dtypes import as_dtype
from ...core.errors import ArgumentError, StateError
from ...core.graph import Tensor, get_default_graph
from ...core.site import capture, made_at
from ...gradients.tape import GradientTape
from ...ops.common.instead import instead
from ...ops.common.op_counts import count_more, counted_as
from .. import logging, math
from ..arrays.creation import placeholder
from ..arrays.shaping import reshape
from ..control.dependencies import group
from ..variables.layer_calls import mask_of
from . import backend, losses, metrics, optimizers
from .batches import Batch, batch_of, batches_of, endless_source, in_batches, in_order, is_sequence, size_of, weighted
from .callbacks import History
from .calls import inside
from .optimizer_base import step_of
from .rounds import Fit, FromGenerators, Numbers, is_due, note_what_is_given, parted
from .wanted_metrics import chosen_metrics, measured_by, metric_of, operations_of


class Trained(FromGenerators):
    """What a model can do with data, once it is told an optimizer, a loss and metrics."""

    inputs: Any
    outputs: Any
    optimizer: Any = None
    loss: Any = None
    stop_training = False
    _numbers: Numbers | None = None  # of the batches since metrics began anew
    _source: Any = None
    _mapped: tuple[Any, ...] = ()
    changed: list[Any]
    _counted = False  # the operations of losses and metrics
    compiled_anew = 0  # times, at one line, after it was trained as it had been compiled there
    _functions: dict[str, Any]
    to_train: list[Any] | None
    _losses_of: list[Any]
    _metrics_of: list[list[tuple[str, Any]]]

    def compile(self, optimizer: Any = "rmsprop", loss: Any = None, metrics: Any = None, loss_weights: Any = None,
                sample_weight_mode: Any = None, weighted_metrics: Any = None, **options: Any) -> None:
        """Say how to train. loss: a name or function, or one for each output in a list or dict. metrics: as names."""
        self.optimizer, self.loss = optimizers.get(optimizer), loss
        self._given_metrics, self._loss_weights = nest.map_structure(metric_of, metrics or []), loss_weights
        self._given_weighted = nest.map_structure(metric_of, weighted_metrics or [])
        self._told_at_compile = {"metrics": metrics, "loss_weights": loss_weights, "weighted_metrics": weighted_metrics}
        frames = capture()
        self.compiled_anew += bool(vars(self).get("_functions")) and frames == vars(self).get("_frames_of_loss")
        self.to_train = list(self.trainable_weights) if self.inputs else None  # type: ignore[attr-defined]
        self._frozen = [(each, "frozen_at", each.frozen_at) for each in inside(self)]
        self.history, self.changed, self._functions, self._frames_of_loss = History(), [], {}, frames
        self._counted = bool(self.inputs) and not get_default_graph().executing_eagerly
        if self._counted:
            self._choose([])
            count_more(operations_of(self.outputs, self._losses_of, [[f for _, f in m] for m in self._metrics_of]))
        self.compiled = self.used = time.perf_counter()
        get_default_graph().extras.setdefault("compiled", {})[id(self)] = self

    def _as_compiled(self) -> None:
        """Tell of weights that were frozen, or set free, since compile: training goes by what it was told there."""
        self.used = time.perf_counter()
        other = set(self.to_train or ()) ^ set(self.trainable_weights)  # type: ignore[attr-defined]
        self.changed = [v for v in self.weights if v in other] if self.to_train else []  # type: ignore[attr-defined]
        if self.changed:
            logging.log_first_n(logging.WARN, "Discrepancy between trainable weights and collected trainable weights, "
                                "did you set `model.trainable` without calling `model.compile` after ?", 1)

    def _told(self) -> None:
        if self.optimizer is None:
            raise StateError("You must compile your model before training/testing. "
                             "Use `model.compile(optimizer, loss)`.")

    @property
    def metrics_names(self) -> list[str]:
        """What evaluate gives, in its order."""
        several = [f"{name}_loss" for name in self.output_names] if len(self.outputs) > 1 else []  # type: ignore[attr-defined]
        return ["loss", *several, *(name for each in self._metrics_of for name, _ in each)]

    def _for_outputs(self, given: Any, single: bool) -> list[Any]:
        """One for each output, of a dict by names, a list, or one for all."""
        names = self.output_names  # type: ignore[attr-defined]
        if isinstance(given, dict):
            return [given.get(name) for name in names]
        if isinstance(given, (list, tuple)) and (single or len(names) > 1 and len(given) == len(names)):
            return list(given)
        return [given] * len(names)

    def _choose(self, targets: list[Any]) -> None:
        self._losses_of = [None if each is None else losses.get(each) for each in self._for_outputs(self.loss, True)]
        names = self.output_names  # type: ignore[attr-defined]
        for loss, target, output in zip(self._losses_of, targets, self.outputs):
            losses.check_target(loss, target, output)
        self._metrics_of = []
        plain, by_weight = (self._for_outputs(each, False) for each in (self._given_metrics, self._given_weighted))
        for i in range(len(names)):
            rank = len(targets[i].shape) if i < len(targets) else None
            chosen = chosen_metrics(plain[i], by_weight[i], self._losses_of[i], rank, self.outputs[i])
            self._metrics_of.append([(f"{names[i]}_{label}" if len(names) > 1 else label, function)
                                     for label, function in chosen])

    def _values(self, targets: list[Any], weights: list[Any], predicted: list[Any]) -> list[Any]:
        """The loss, those of several outputs, and the metrics, as tensors; of each metric how many values it is of."""
        parts = []
        for i, loss in enumerate(self._losses_of):
            if loss is not None:
                weight, mask = weights[i] if i < len(weights) else None, mask_of(predicted[i])
                if mask is not None:
                    counted = math.cast(mask, predicted[i].dtype)
                    weight = counted if weight is None else counted * reshape(math.cast(weight, counted.dtype), [-1, 1])
                own = loss(targets[i], predicted[i]) if isinstance(loss, losses.Loss) and weight is None else \
                    loss(targets[i], predicted[i], weight) if isinstance(loss, losses.Loss) else \
                    losses.reduced(loss(targets[i], predicted[i]), weight)
                parts.append(own)
        scales = self._for_outputs(self._loss_weights, True)
        scaled = [part if scale is None else scale * part for part, scale in zip(parts, scales)]
        total: Any = scaled[0] if scaled else 0.0
        for each in (*scaled[1:], *self._added()):  # type: ignore[attr-defined]
            total = total + each
        measured = [measured_by(function, targets[i], predicted[i], weights[i] if i < len(weights) else None)
                    for i, several in enumerate(self._metrics_of) for _, function in several]
        return [total, *(parts if len(self.outputs) > 1 else ()), *(each[0] for each in measured),
                *(count for each in measured for count in each[1:])]

    def _function(self, mode: str, batch: Batch) -> Callable[[Batch], list[Any]]:
        """What a batch goes through: arrays -> numbers for 'train' and 'test', predictions for 'predict'."""
        if get_default_graph().executing_eagerly:
            return lambda batch: self._eagerly(mode, batch)
        key = f"{mode} {len(batch[2])}"
        if key not in self._functions:
            self._functions[key] = self._in_a_graph(mode, batch)
        found: Callable[[Batch], list[Any]] = self._functions[key]
        return found

    @staticmethod
    def _fed(array: Any, name: str | None = None, dtype: Any = None) -> Tensor:
        dtype = as_dtype(dtype or array.dtype)
        return placeholder(backend.floatx() if dtype.is_floating else dtype, [None, *array.shape[1:]], name)

    def _fed_all(self, arrays: list[Any], ending: str) -> list[Tensor]:
        """A placeholder for each output, by TensorFlow's names for them, and of the output's type."""
        if len(arrays) != len(self.outputs):
            return [self._fed(each) for each in arrays]
        named = zip(arrays, self.output_names, self.outputs)  # type: ignore[attr-defined]
        return [self._fed(each, f"{name}_{ending}", output.dtype) for each, name, output in named]

    def _in_a_graph(self, mode: str, batch: Batch) -> Callable[[Batch], list[Any]]:
        if not self.inputs:
            self._begin([self._fed(x) for x in batch[0]])  # type: ignore[attr-defined]
        inputs, predicted, phase = self.inputs, self.outputs, backend.learning_phase()
        with counted_as(0 if self._counted else None):
            targets, weights = self._fed_all(batch[1], "target"), self._fed_all(batch[2], "sample_weights")
        if mode == "train":
            note_what_is_given(inputs, targets, self._source, self._mapped)
        fetches: Any = predicted
        if mode != "predict":
            with made_at(get_default_graph(), self._frames_of_loss), counted_as(0 if self._counted else None):
                self._choose(targets)
                fetches = self._values(targets, weights, predicted)
        ending: Any = [update for layer in _stateful(self) for update in layer.updates]
        if mode == "train":
            chosen = self.trainable_weights if self.to_train is None else self.to_train  # type: ignore[attr-defined]
            with made_at(get_default_graph(), getattr(self.optimizer, "_frames", self._frames_of_loss)):
                step = step_of(self.optimizer, fetches[0], chosen)
            with instead(self._frozen):  # as it was compiled
                ending = [step, *self.get_updates_for(None), *self.get_updates_for(inputs)]  # type: ignore[attr-defined]
        with get_default_graph().name_scope("training") if mode == "train" else nullcontext():
            fetches = [*fetches, group(*ending)]

        def run(batch: Batch) -> list[Any]:
            feeds = dict(zip([*inputs, *targets, *weights], [*batch[0], *batch[1], *batch[2]]))
            if isinstance(phase, Tensor):
                feeds[phase] = mode == "train"
            return list(backend.get_session().run(fetches, feeds))[:-1]
        return run

    def _eagerly(self, mode: str, batch: Batch) -> list[Any]:
        inputs = [np.asarray(x, backend.floatx()) if x.dtype.kind == "f" else x for x in batch[0]]
        with instead([(backend._Eager, "phase", mode == "train")]):
            with GradientTape() as tape:
                made = self(inputs[0] if len(inputs) == 1 else inputs)  # type: ignore[operator]
                if not self.inputs:
                    self._inputs, self._outputs = inputs, made
                predicted = nest.flatten(made)
                if mode == "predict":
                    return [each.numpy() for each in predicted]
                self._choose(batch[1])
                values = self._values(batch[1], batch[2], predicted)
            if mode == "train":
                variables = self.to_train or self.trainable_weights  # type: ignore[attr-defined]
                self.optimizer.apply_gradients(zip(tape.gradient(values[0], variables), variables))
        return [value.numpy() for value in values]

    def fit(self, x: Any = None, y: Any = None, batch_size: int | None = None, epochs: int = 1, verbose: int = 1,
            callbacks: Any = None, validation_split: float = 0.0, validation_data: Any = None, shuffle: bool = True,
            class_weight: Any = None, sample_weight: Any = None, initial_epoch: int = 0,
            steps_per_epoch: int | None = None, validation_steps: int | None = None, validation_freq: Any = 1,
            **options: Any) -> History:
        """Train on arrays, a Dataset or a generator of (inputs, targets). -> History, whose `history` has the numbers.

        validation_split: how much of the end of the arrays is kept to validate with. sample_weight: float[n].
        """
        self._told()
        epochs, (x, y), batch_size = options.get("nb_epoch", epochs), in_order(self, x, y), size_of(self, batch_size)
        held: Any = list(validation_data) if isinstance(validation_data, (tuple, list)) else [validation_data]
        held, last = None if validation_data is None else held, tuple[Any, ...]()
        if validation_split and held is None:
            (x, y, sample_weight), last = parted(batch_of(x, y, sample_weight), validation_split)
            held, y, sample_weight = [*map(_only, last)], y or None, sample_weight or None
        self.fitted = Fit(x, y, last, batch_size, shuffle, capture())
        history = self.history = History()
        watchers = [*(callbacks if isinstance(callbacks, list) else [] if callbacks is None else [callbacks]), history]
        for each in watchers:
            each.set_model(self)
            each.set_params({"epochs": epochs, "batch_size": batch_size, "verbose": verbose, "steps": steps_per_epoch})
        self.stop_training = False
        self._as_compiled()
        self._tell(watchers, "on_train_begin", {})
        steps_per_epoch = len(x) if steps_per_epoch is None and is_sequence(x) else steps_per_epoch
        self._mapped = getattr(x, "graphs", ())
        class_weight = class_weight if get_default_graph().executing_eagerly or not hasattr(x, "output_types") else None
        endless = self._source = endless_source(x, steps_per_epoch, shuffle)
        for epoch in range(initial_epoch, epochs):
            began = time.monotonic()
            self._tell(watchers, "on_epoch_begin", epoch, {})
            if verbose:
                print(f"Epoch {epoch + 1}/{epochs}")
            batches = batches_of(endless if endless is not None else x, y, sample_weight, batch_size,
                                 shuffle=shuffle, steps=steps_per_epoch, class_weight=class_weight,
                                 counted_by="steps_per_epoch")
            logs = self._epoch("train", batches, False, watchers)
            if held is not None and not self.stop_training and is_due(epoch, validation_freq):
                inputs, targets, weights = (held + [None, None])[:3]
                batches = batches_of(inputs, targets, weights, batch_size, steps=validation_steps,
                                     shuffle=hasattr(x, "output_types") or endless is None,  # in an order of their own
                                     counted_by="validation_steps")
                found = self._epoch("test", batches, in_batches(inputs))
                logs.update((f"val_{name}", value) for name, value in found.items())
            if verbose:
                told = " - ".join(f"{name}: {value:.4f}" for name, value in logs.items())
                print(f"{time.monotonic() - began:.0f}s - {told}")
            self._tell(watchers, "on_epoch_end", epoch, logs)
            if self.stop_training:
                break
        self._tell(watchers, "on_train_end", {})
        return history

    @staticmethod
    def _tell(watchers: list[Any], moment: str, *args: Any) -> None:
        for each in watchers:
            getattr(each, moment)(*args)

    def reset_states(self) -> None:
        """Let layers that keep states begin anew."""
        self.begun_anew = vars(self).get("begun_anew", 0) + 1
        for layer in _stateful(self):
            layer.reset_states()

    def _epoch(self, mode: str, batches: Iterator[Batch], by_steps: bool, watchers: Any = ()) -> dict[str, float]:
        """The numbers over all batches. by_steps: of the loss each batch counts once, not each example."""
        self.reset_metrics()
        for i, batch in enumerate(batches):
            size = len(batch[0][0])
            self._tell(watchers, "on_train_batch_begin", i, {"batch": i, "size": size})
            named = self._with_batch(mode, batch, 1 if by_steps else size)
            self._tell(watchers, "on_train_batch_end", i, {"batch": i, "size": size, **named})
            if self.stop_training and mode == "train":
                break
        if self._numbers is None:
            raise ArgumentError("there is no batch to take", hint="is the generator or dataset at its end?")
        return self._numbers.whole()

    def _with_batch(self, mode: str, batch: Batch, size: int) -> dict[str, float]:
        """The numbers of all batches since metrics began anew, with this one."""
        values = self._function(mode, batch)(batch)
        if self._numbers is None:
            self._numbers = Numbers(self.metrics_names, [m for each in self._metrics_of for _, m in each])
        return self._numbers.with_batch(values, size)

    def reset_metrics(self) -> None:
        """Let metrics that are kept from batch to batch begin anew."""
        self._numbers = None
        measured = [function for several in getattr(self, "_metrics_of", ()) for _, function in several]
        for each in dict.fromkeys([*nest.flatten(self._given_metrics), *measured]):
            if isinstance(each, metrics.Metric):
                each.reset_states()

    def evaluate(self, x: Any = None, y: Any = None, batch_size: int | None = None, verbose: int = 1,
                 sample_weight: Any = None, steps: int | None = None, **options: Any) -> Any:
        """The loss over all examples; with metrics, a list of it and them."""
        self._told()
        (x, y), size = in_order(self, x, y), size_of(self, batch_size)
        given = batches_of(endless_source(x, steps) or x, y, sample_weight, size, steps=steps)
        return _only(list(self._epoch("test", given, in_batches(x)).values()))

    def predict(self, x: Any, batch_size: int | None = None, verbose: int = 0, steps: int | None = None,
                **options: Any) -> Any:
        """The outputs for all examples: an array, or a list of them."""
        vars(self).setdefault("_functions", {})
        (x, _), size = in_order(self, x, None), size_of(self, batch_size)
        rows = [self._function("predict", (batch[0], [], []))((batch[0], [], []))
                for batch in batches_of(endless_source(x, steps) or x, None, None, size, steps=steps)]
        return _only([np.concatenate(column) for column in zip(*rows)])

    def predict_on_batch(self, x: Any) -> Any:
        """predict, of all these examples in one batch."""
        return self.predict(x, len(nest.flatten(x)[0]))

    def train_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None,
                       reset_metrics: bool = True) -> Any:
        """One step. -> the loss; with metrics, a list of it and them, which then begin anew."""
        return self._once("train", reset_metrics, class_weight, x, y, sample_weight)

    def test_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, reset_metrics: bool = True) -> Any:
        """The loss and metrics of one batch, and of those before it since they began anew."""
        return self._once("test", reset_metrics, None, x, y, sample_weight)

    def _once(self, mode: str, begins_anew: bool, class_weight: Any, *given: Any) -> Any:
        self._told()
        if mode == "train":
            self._as_compiled()
        arrays = nest.map_structure(lambda x: backend.get_value(x) if isinstance(x, Tensor) else x, given)
        batch = weighted(batch_of(*arrays), class_weight)
        found = self._with_batch(mode, batch, len(batch[0][0]))
        if begins_anew:
            self.reset_metrics()
        return _only([*map(np.float32, found.values())])


def _stateful(layer: Any) -> list[Any]:
    """The layers in a model that keep states from batch to batch."""
    return [each for each in inside(layer) if getattr(each, "stateful", False) and hasattr(each, "states")]


def _only(items: Any) -> Any:
    return items[0] if len(items) == 1 else items or None
