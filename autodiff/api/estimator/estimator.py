"""Estimator: a model function, trained, evaluated and asked, each time in a graph and a session of its own."""
from __future__ import annotations

import inspect
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core.collections import GraphKeys
from ...core.errors import ArgumentError, NotFoundError
from ...core.graph import Graph, get_default_graph
from ...runtime.session import Session
from .. import logging
from ..control.dependencies import group
from ..data.dataset import Dataset
from ..file_writer import FileWriter
from ..messages import Summary
from ..metrics.means import mean
from ..saved_model.builder import Builder
from ..saved_model.tag_constants import SERVING
from ..summary import scalar
from ..train.checkpoint_state import latest_checkpoint
from ..train.checkpoints import list_variables, load_variable
from ..train.global_step import create_global_step, get_global_step, get_or_create_global_step
from ..train.hooks import (
    CheckpointSaverHook,
    FinalOpsHook,
    LoggingTensorHook,
    NanTensorHook,
    SessionRunHook,
    StopAtStepHook,
)
from ..train.saver import Saver
from ..train.sessions import ChiefSessionCreator, MonitoredSession, MonitoredTrainingSession, Scaffold
from ..train.warm_start import warm_start
from .export import signatures
from .specs import EstimatorSpec, ModeKeys, RunConfig, WarmStartSettings


class _StopAfter(SessionRunHook):
    """Asks to stop after so many runs."""

    def __init__(self, runs: int) -> None:
        self._left = runs

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._left -= 1
        if self._left <= 0:
            run_context.request_stop()


class Estimator:
    """A model by its function `model_fn(features, labels, mode, params, config)` -> EstimatorSpec.

    model_dir: where checkpoints are written and found; a new directory by default. params: handed to model_fn and
    input_fn. warm_start_from: WarmStartSettings, or a checkpoint. An input_fn gives a Dataset, or tensors: features, or
    (features, labels). Raises ArgumentError (ValueError) for functions with other arguments or results.
    """

    def __init__(self, model_fn: Callable[..., Any], model_dir: Any = None, config: Any = None, params: Any = None,
                 warm_start_from: Any = None) -> None:
        config = config or RunConfig()
        if model_dir and config.model_dir and os.fspath(model_dir) != os.fspath(config.model_dir):
            raise ArgumentError("`model_dir` are set both in constructor and `RunConfig`, but with different values. "
                                f"In constructor: '{model_dir}', in `RunConfig`: '{config.model_dir}' ")
        folder = model_dir or config.model_dir or tempfile.mkdtemp()
        self.config, self._params = config.replace(model_dir=os.fspath(folder)), params
        self._arguments = _arguments(model_fn)
        if "features" not in self._arguments:
            raise ArgumentError(f"model_fn ({model_fn}) must include features argument.")
        if params is not None and "params" not in self._arguments:
            raise ArgumentError(f"model_fn ({model_fn}) does not include params argument, but params ({params}) is "
                                "passed to Estimator.")
        self._model_fn = model_fn
        self._warm = warm_start_from if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings) \
            else WarmStartSettings(warm_start_from)

    @property
    def model_dir(self) -> str:
        return self.config.model_dir

    @property
    def params(self) -> Any:
        return dict(self._params) if isinstance(self._params, dict) else self._params or {}

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """The model function, of (features, labels, mode, config) alone."""
        return lambda features, labels, mode, config: self._model(features, labels, mode)

    def latest_checkpoint(self) -> str | None:
        """The path of the newest checkpoint; None before training."""
        return latest_checkpoint(self.model_dir)

    def get_variable_names(self) -> list[str]:
        """The names in the newest checkpoint. Raises ArgumentError (ValueError) before training."""
        return [name for name, _ in list_variables(self._trained())]

    def get_variable_value(self, name: str) -> np.ndarray:
        """A variable's value in the newest checkpoint. Raises ArgumentError (ValueError) before training."""
        return load_variable(self._trained(), name)

    def _trained(self) -> str:
        path = self.latest_checkpoint()
        if path is None:
            raise ArgumentError(f"Estimator has not been trained yet: no checkpoint in {self.model_dir}")
        return path

    def train(self, input_fn: Callable[..., Any], hooks: Iterable[Any] | None = None, steps: int | None = None,
              max_steps: int | None = None, saving_listeners: Iterable[Any] | None = None) -> "Estimator":
        """Train on batches of input_fn: `steps` more, or until the global step is max_steps, or to the data's end.

        Continues from the newest checkpoint, and writes one at the end. Raises ArgumentError (ValueError) for both or
        for none of positive size, NanLossDuringTrainingError for a loss that is NaN.
        """
        if steps is not None and max_steps is not None:
            raise ArgumentError("Can not provide both steps and max_steps.")
        for name, given in (("steps", steps), ("max_steps", max_steps)):
            if given is not None and given <= 0:
                raise ArgumentError(f"Must specify {name} > 0, given: {given}")
        if max_steps is not None and self._step_reached() >= max_steps:
            logging.info("Skipping training since max_steps has already saved.")
            return self
        stops = [StopAtStepHook(steps, max_steps)] if steps is not None or max_steps is not None else []
        with self._graph():
            create_global_step()
            spec = self._model(*self._inputs(input_fn, ModeKeys.TRAIN), ModeKeys.TRAIN)
            if self._warm is not None:
                warm_start(*self._warm)
            self._train(spec, [*(hooks or ()), *stops], list(saving_listeners or ()))
        return self

    def _step_reached(self) -> int:
        path = self.latest_checkpoint()
        try:
            return 0 if path is None else int(load_variable(path, GraphKeys.GLOBAL_STEP))
        except NotFoundError:
            return 0

    def _train(self, spec: EstimatorSpec, hooks: list[Any], listeners: list[Any]) -> None:
        config = self.config
        if not any(s.op.name == "loss" for s in get_default_graph().get_collection(GraphKeys.SUMMARIES)):
            scalar("loss", spec.loss)
        get_default_graph().add_to_collection(GraphKeys.LOSSES, spec.loss)
        hooks = [*hooks, NanTensorHook(spec.loss), *spec.training_hooks]
        if config.log_step_count_steps is not None:
            hooks.append(LoggingTensorHook({"loss": spec.loss, "step": get_global_step()}, config.log_step_count_steps))
        scaffold = self._scaffold(spec)
        own = [*hooks, *spec.training_chief_hooks]
        seconds, steps = config.save_checkpoints_secs, config.save_checkpoints_steps
        savers = [hook for hook in own if isinstance(hook, CheckpointSaverHook)]
        if (seconds or steps) and not savers:
            savers = [CheckpointSaverHook(self.model_dir, seconds, steps, scaffold=scaffold)]
            own += savers
        if listeners and not savers:
            raise ArgumentError("There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
                                "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs.")
        for hook in savers[:1]:
            hook._listeners += listeners
        with MonitoredTrainingSession(
                checkpoint_dir=self.model_dir, scaffold=scaffold, hooks=own, save_checkpoint_secs=0,
                save_summaries_steps=config.save_summary_steps, config=config.session_config,
                log_step_count_steps=config.log_step_count_steps) as session:
            loss = None
            while not session.should_stop():
                _, loss = session.run([spec.train_op, spec.loss])
        if loss is None:
            logging.warning("Training with estimator made no steps. Perhaps input is empty or misspecified.")

    def evaluate(self, input_fn: Callable[..., Any], steps: int | None = None, hooks: Iterable[Any] | None = None,
                 checkpoint_path: str | None = None, name: str | None = None) -> dict[str, Any]:
        """The metrics over `steps` batches, or all: those of the model, `loss` (the batches' mean) and `global_step`.

        name: of the folder in model_dir that gets the event file, `eval_name`.
        """
        if steps is not None and steps <= 0:
            raise ArgumentError(f"Must specify steps > 0, given: {steps}")
        with self._graph():
            get_or_create_global_step()
            spec = self._model(*self._inputs(input_fn, ModeKeys.EVAL), ModeKeys.EVAL)
            metrics = {**spec.eval_metric_ops, "loss": spec.eval_metric_ops.get("loss") or mean(spec.loss, name="loss")}
            final = FinalOpsHook({**{key: value for key, (value, _) in metrics.items()},
                                  GraphKeys.GLOBAL_STEP: get_global_step()})
            update = group(*(update for _, update in metrics.values()))
            stops = [] if steps is None else [_StopAfter(steps)]
            own = [*(hooks or ()), *spec.evaluation_hooks, *stops, final]
            with self._restored(spec, checkpoint_path, own) as session:
                while not session.should_stop():
                    session.run(update)
        self._write(final.final_ops_values or {}, f"eval_{name}" if name else "eval")
        return final.final_ops_values or {}

    def _write(self, found: Mapping[str, Any], folder: str) -> None:
        values = [Summary.Value(tag=key, simple_value=float(value)) for key, value in sorted(found.items())
                  if np.ndim(value) == 0 and np.asarray(value).dtype.kind in "fiub" and key != GraphKeys.GLOBAL_STEP]
        with FileWriter(os.path.join(self.model_dir, folder)) as writer:
            writer.add_summary(Summary(value=values), found[GraphKeys.GLOBAL_STEP])

    def predict(self, input_fn: Callable[..., Any], predict_keys: Any = None, hooks: Iterable[Any] | None = None,
                checkpoint_path: str | None = None, yield_single_examples: bool = True) -> Iterator[Any]:
        """The predictions for the examples of input_fn, one after another; for whole batches if not single examples.

        predict_keys: of the predictions that are wanted. Raises ArgumentError (ValueError) if there is none of them.
        """
        with self._graph():
            get_or_create_global_step()
            features, _ = self._inputs(input_fn, ModeKeys.PREDICT)
            spec = self._model(features, None, ModeKeys.PREDICT)
            wanted = _wanted(spec.predictions, predict_keys)
            opened = self._restored(spec, checkpoint_path, [*(hooks or ()), *spec.prediction_hooks])
        with opened as session:
            while not session.should_stop():
                batch = session.run(wanted)
                if not yield_single_examples:
                    yield batch
                elif isinstance(batch, dict):
                    yield from (dict(zip(batch, row)) for row in zip(*batch.values(), strict=True))
                else:
                    yield from batch

    def export_saved_model(self, export_dir_base: Any, serving_input_receiver_fn: Callable[[], Any],
                           assets_extra: Any = None, as_text: bool = False, checkpoint_path: str | None = None,
                           experimental_mode: str = ModeKeys.PREDICT, strip_default_attrs: bool = False) -> bytes:
        """Write a SavedModel into a new directory, named by the time, of a directory; -> its path.

        serving_input_receiver_fn: gives a ServingInputReceiver. Raises ArgumentError (ValueError) before training.
        """
        path = checkpoint_path or self._trained()
        base = os.fspath(export_dir_base)
        base = base.decode() if isinstance(base, bytes) else base
        stamp = int(time.time())
        while os.path.exists(os.path.join(base, str(stamp))):
            stamp += 1
        folder = os.path.join(base, str(stamp))
        with self._graph() as graph:
            get_or_create_global_step()
            receiver = serving_input_receiver_fn()
            spec = self._model(receiver.features, getattr(receiver, "labels", None), experimental_mode)
            with Session(graph=graph) as session:
                (spec.scaffold and spec.scaffold.saver or Saver()).restore(session, path)
                builder = Builder(folder)
                builder.add_meta_graph_and_variables(
                    session, [SERVING], signatures(spec, receiver), main_op=Scaffold.default_local_init_op(),
                    assets_collection=graph.get_collection(GraphKeys.ASSET_FILEPATHS))
                builder.save(as_text)
        return folder.encode()

    export_savedmodel = export_saved_model

    @contextmanager
    def _graph(self) -> Iterator[Graph]:
        with Graph().as_default() as graph:
            graph.seed = self.config.tf_random_seed
            yield graph

    def _params_of(self, mode: str) -> Any:
        return self.params

    def _inputs(self, input_fn: Callable[..., Any], mode: str) -> tuple[Any, Any]:
        """(features, labels) of one batch; an iterator is begun with the tables."""
        given = {"mode": mode, "params": self._params_of(mode), "config": self.config}
        made = input_fn(**{name: given[name] for name in _arguments(input_fn) if name in given})
        if isinstance(made, Dataset):
            iterator = made.make_initializable_iterator()
            get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
            made = iterator.get_next()
        if not isinstance(made, (list, tuple)) or hasattr(made, "_fields"):
            return made, None
        if len(made) > 2 or not made:
            raise ArgumentError("input_fn should return (features, labels) as a len 2 tuple.", found=repr(made))
        return made[0], made[1] if len(made) == 2 else None

    def _model(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        given = {"labels": labels, "mode": mode, "params": self._params_of(mode), "config": self.config}
        if labels is not None and "labels" not in self._arguments:
            raise ArgumentError("model_fn does not take labels, but input_fn returns labels.")
        logging.info("Calling model_fn.")
        spec = self._model_fn(features=features, **{key: given[key] for key in self._arguments if key in given})
        logging.info("Done calling model_fn.")
        spec = spec.as_estimator_spec() if hasattr(spec, "as_estimator_spec") else spec
        if not isinstance(spec, EstimatorSpec):
            raise ArgumentError("model_fn should return an EstimatorSpec.", found=repr(spec))
        return spec

    def _scaffold(self, spec: EstimatorSpec) -> Scaffold:
        scaffold, config = spec.scaffold or Scaffold(), self.config
        savers = get_default_graph().get_collection_ref(GraphKeys.SAVERS)
        if scaffold.saver is None and not savers:
            savers.append(Saver(max_to_keep=config.keep_checkpoint_max, defer_build=True, save_relative_paths=True,
                                keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours))
        return scaffold

    def _restored(self, spec: EstimatorSpec, path: str | None, hooks: Sequence[Any]) -> MonitoredSession:
        path = path or self.latest_checkpoint()
        if path is None:
            logging.info("Could not find trained model in model_dir: %s, running initialization.", self.model_dir)
        creator = ChiefSessionCreator(spec.scaffold, config=self.config.session_config,
                                      checkpoint_filename_with_path=path)
        return MonitoredSession(creator, hooks)


def _arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(name for name, parameter in inspect.signature(function).parameters.items()
                 if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY))


def _wanted(predictions: Any, keys: Any) -> Any:
    """Of the predictions those asked for."""
    if keys is None:
        return predictions
    if not isinstance(predictions, dict):
        raise ArgumentError("predict_keys argument is not valid in case of non-dict predictions.")
    found = {key: value for key, value in predictions.items() if key in keys}
    if not found:
        raise ArgumentError(f"Expected to run at least one output from {list(predictions)}, provided {keys}.")
    return found
