"""tf.keras.models: layers put together, one after another, by tensors, or in a class of one's own."""
from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from ...core import nest
from ...core.errors import ArgumentError, KindError, UnsupportedError
from ...core.graph import Tensor, get_default_graph
from ...core.site import made_at
from .. import logging
from ..common.unsupported import refusing
from ..train.objects.checkpoint import Restoration
from ..train.objects.object_graph import write_objects
from ..train.saved_variables import bare_session
from ..variables.layer_base import Layer, add_once
from ..variables.layer_calls import HISTORY, takes
from ..variables.trackable import TrackableReference
from . import backend, optimizers
from .calls import BEGINS, Input, InputLayer, check_connected, histories, layers_between, replayed
from .kinds.plain import Weights
from .saved import hdf5
from .saved.networks import connected, connections
from .summaries import summary_lines
from .training import Trained
from .utils import deserialized
from .utils import serialized as serialize

__all__ = ["Input", "InputLayer", "Model", "Sequential", "clone_model", "load_model", "model_from_json", "save_model"]


class Model(Weights, Trained, Layer):
    """Layers and how they go together. inputs, outputs: tensors from Input on; or a subclass says call(inputs).

    Layers in its attributes, also in lists and dicts of them, are its layers.
    """

    def __init__(self, inputs: Any = None, outputs: Any = None, name: Any = None, **options: Any) -> None:
        super().__init__(name=name, **options)
        self._inputs: Any = inputs
        self._outputs: Any = outputs
        if inputs is not None:
            if outputs is None:
                raise KindError("a model of `inputs` needs `outputs` too", found="None")
            check_connected(nest.flatten(inputs), nest.flatten(outputs))
            self._found = layers_between(nest.flatten(inputs), nest.flatten(outputs))
            self.built = True

    _untracked = Layer._untracked | {"_found", "_stack", "to_train", "changed", "_frozen"}

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        in_order = {"_found", "_stack"} & vars(self).keys()
        of_tensors = [layer for layer in self.layers if layer.weights] if in_order else []
        return [*(TrackableReference(f"layer_with_weights-{i}", layer) for i, layer in enumerate(of_tensors)),
                *super()._checkpoint_dependencies]

    @property
    def layers(self) -> list[Layer]:
        """Its layers, in the order in which they were put in."""
        found: list[Layer] = []
        for layer in (*vars(self).get("_found", ()), *self._held(Layer)):
            add_once(found, layer)
        return found

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """The layer of a name or place. Raises ArgumentError (ValueError) if there is none."""
        if index is not None and index < len(self.layers):
            return self.layers[index]
        for layer in self.layers:
            if index is None and layer.name == name:
                return layer
        raise ArgumentError(f"No such layer: {name if index is None else index}",
                            expected=", ".join(layer.name for layer in self.layers))

    def _inside(self) -> list[Layer]:
        return self.layers

    @property
    def inputs(self) -> list[Any]:
        """The tensors it begins with; none before its shapes are known."""
        return nest.flatten(self._inputs) if self._inputs is not None else []

    @property
    def outputs(self) -> list[Any]:
        """The tensors it ends with; none before its shapes are known."""
        return nest.flatten(self._outputs) if self._outputs is not None else []

    input = property(lambda self: self._inputs)
    output = property(lambda self: self._outputs)
    input_shape = property(lambda self: backend.int_shape(self._inputs))
    output_shape = property(lambda self: backend.int_shape(self._outputs))

    def _added(self) -> list[Any]:
        return self.losses if get_default_graph().executing_eagerly else [
            *self.get_losses_for(None), *self.get_losses_for(self.inputs)]

    input_names = property(lambda self: [vars(tensor)[BEGINS].name for tensor in self.inputs])

    @property
    def output_names(self) -> list[str]:
        """The names of the layers that its outputs come from."""
        histories = [vars(tensor).get(HISTORY) for tensor in self.outputs]
        return [history.layer.name if history else f"output_{i}" for i, history in enumerate(histories, 1)]

    def build(self, input_shape: Any) -> None:
        """Make the variables of a model that is no tensor yet, for inputs of a shape with its batch."""
        dims = list(input_shape)
        if not self.built and not isinstance(input_shape, Tensor) and dims and not hasattr(dims[0], "dims"):
            self._begin([Input(batch_shape=[getattr(d, "value", d) for d in dims])])

    def _begin(self, inputs: list[Any]) -> None:
        """Make inputs and outputs, if there are none."""
        if self._inputs is None:
            given = inputs[0] if len(inputs) == 1 else inputs
            outputs = self(given)
            self._inputs, self._outputs = given, outputs

    def _first_call(self, inputs: Any) -> None:
        self.built = True  # its layers make their variables when they are called

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """The outputs for other inputs."""
        if self._outputs is None:
            raise NotImplementedError(f"{type(self).__name__} has no call(inputs)")
        return replayed(self._inputs, self._outputs, inputs, training)

    def summary(self, line_length: int | None = None, positions: Any = None, print_fn: Any = None) -> None:
        """Print its layers, the shapes of their outputs, and how many numbers they hold."""
        calls = list(histories(self.outputs))
        in_a_row = isinstance(self, Sequential) or len(self.inputs) < 2 and all(
            len(nest.flatten(history.inputs)) == 1 for _, history in calls)
        outputs = {id(history.layer): tensor for tensor, history in calls}
        for line in summary_lines(self, outputs, in_a_row, line_length, positions):
            (print_fn or print)(line)

    def get_config(self) -> dict[str, Any]:
        """Its name and layers; of layers put together by tensors also how, and the model that from_config copies."""
        told = {"name": self.name, "layers": [serialize(each) for each in self.layers]}
        return {**told, **(connections(self.inputs, self.outputs) if self.inputs else {}), "model": self}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """A model of such layers, with variables of its own."""
        if config.get("model") is not None:
            return clone_model(config["model"])
        if "input_layers" not in config:
            raise UnsupportedError("no model is made of a config that does not tell how its layers go together",
                                   hint="build the model, then load_weights")
        return cls(*connected(config, lambda told: deserialize(told, custom_objects)), name=config.get("name"))

    def to_json(self, **options: Any) -> str:
        """Its class and config."""
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config(),
                           "keras_version": "2.2.4-tf", "backend": "tensorflow"}, default=_plain, **options)

    def save(self, filepath: Any, overwrite: bool = True, include_optimizer: bool = True, **options: Any) -> None:
        """Write a checkpoint of its variables; load_model finds the model itself while this program runs.

        To .h5, where h5py is installed, also what tells of the model and how it is trained, without the slots.
        """
        if _is_hdf5(filepath) and hdf5.is_installed():
            training = {"optimizer_config": serialize(self.optimizer), "loss": self.loss, **self._told_at_compile,
                        "sample_weight_mode": None}
            hdf5.write_model(filepath, self, self.to_json(), json.dumps(training, default=_plain) if self.optimizer
                             is not None and include_optimizer else None)
        else:
            self.save_weights(filepath)
        get_default_graph().outermost.extras.setdefault("saved models", {})[str(filepath)] = self

    def save_weights(self, filepath: Any, overwrite: bool = True, save_format: str | None = None) -> None:
        """Write a checkpoint of its variables, by their places in the layers; to .h5 in HDF5 if h5py is installed."""
        if save_format == "h5" or _is_hdf5(filepath):
            if hdf5.is_installed():
                with hdf5.opened(filepath, "w", "save_weights") as file:
                    hdf5.write_layers(file, self.layers)
                return
            logging.log_first_n(logging.WARN, "There is no HDF5 without h5py (pip install h5py): %s is written as a "
                                "checkpoint", 1, filepath)
        write_objects(self, str(filepath), bare_session(backend.get_session()))

    def load_weights(self, filepath: Any, by_name: bool = False) -> None:
        """Read a checkpoint that save_weights or a Saver wrote, or an HDF5 file of weights or of a model.

        Variables that are made later get their values of a checkpoint then. by_name: of HDF5 layers by their names.
        """
        if _is_hdf5(filepath) and (os.path.exists(filepath) or not os.path.exists(f"{filepath}.index")):
            with hdf5.opened(filepath, "r", "load_weights") as file:
                hdf5.read_layers(file, self.layers, by_name)
            return
        Restoration(self, str(filepath)).run_restore_ops(backend.get_session())
        get_default_graph().outermost.extras.setdefault("loaded models", []).append(self)


def _is_hdf5(path: Any) -> bool:
    return str(path).endswith((".h5", ".keras", ".hdf5"))


def _plain(value: Any) -> Any:
    """What a setting is in JSON: a list, a number, the name of a function, or a class with its settings."""
    if hasattr(value, "get_config") and not isinstance(value, Model):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    return value.tolist() if hasattr(value, "tolist") else getattr(value, "__name__", None)


class Sequential(Model):
    """Layers one after another. The first may say its input_shape; else that of the first data is taken."""

    def __init__(self, layers: Any = None, name: Any = None) -> None:
        super().__init__(name=name)
        self._stack: list[Layer] = []
        for layer in layers or ():
            self.add(layer)

    @property
    def layers(self) -> list[Layer]:
        return list(self._stack)

    def add(self, layer: Any) -> None:
        """Put a layer at the end. Raises KindError (TypeError) for what is none."""
        if isinstance(layer, Tensor) and vars(layer).get(HISTORY, 0) is None:  # one that a model begins with
            self._inputs = self._outputs = layer
            return
        if isinstance(layer, InputLayer) and not self._stack:
            layer = Input(batch_shape=layer._batch_input_shape, name=layer.name, dtype=layer.dtype)
            self._inputs = self._outputs = layer
            return
        if not isinstance(layer, Layer):
            raise KindError(f"The added layer must be an instance of class Layer. Found: {layer}")
        shape = layer._batch_input_shape
        if shape is None and isinstance(layer, Model) and layer.inputs:
            shape = layer.input_shape
        if not self._stack and self._inputs is None and shape is not None:
            self._inputs = self._outputs = Input(batch_shape=shape, name=f"{layer.name}_input", dtype=layer.dtype)
        self._stack.append(layer)
        if self._outputs is not None:
            self._outputs = _of_its_line(layer, self._outputs)
            self.built = True

    def get_config(self) -> dict[str, Any]:
        """Its name and layers."""
        shape = self.input_shape if self._inputs is not None else None
        return {"name": self.name, "layers": [serialize(each) for each in self.layers], "build_input_shape": shape}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """A model of such layers, with variables of its own."""
        shape = config.get("build_input_shape")
        return cls([*([Input(batch_shape=shape)] if shape else []), *(
            deserialize(each, custom_objects) for each in config["layers"])], config.get("name"))

    def pop(self) -> None:
        """Take the last layer away."""
        self._stack.pop()
        if self._inputs is not None:
            self._outputs = self.call(self._inputs)

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        for layer in self._stack:
            options = {} if training is None or not takes(layer, "training") else {"training": training}
            inputs = _of_its_line(layer, inputs, **options)
        return inputs

    def predict_classes(self, x: Any, batch_size: int = 32, verbose: int = 0) -> np.ndarray:
        """The class of each example: the greatest output, or one that is above a half. int64[n] or int32[n, 1]."""
        found = self.predict(x, batch_size)
        return found.argmax(-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")

    def predict_proba(self, x: Any, batch_size: int = 32, verbose: int = 0) -> np.ndarray:
        """The same as predict."""
        return self.predict(x, batch_size)


def _of_its_line(layer: Layer, inputs: Any, **options: Any) -> Any:
    """What a layer of a list gives; its ops are of the line where the layer was made, outside of its constructor."""
    own = {vars(kind)["__init__"].__code__ for kind in type(layer).__mro__[:-1] if "__init__" in vars(kind)}
    with made_at(get_default_graph(), tuple(frame for frame in layer._frames if frame[0] not in own)):
        return layer(inputs, **options)


def clone_model(model: Model, input_tensors: Any = None, clone_function: Any = None) -> Any:
    """A model of the same layers with variables of their own. clone_function: layer -> another."""
    clones = {id(layer): (clone_function or _another)(layer) for layer in model.layers}
    if isinstance(model, Sequential):
        first = [] if input_tensors is None and model._inputs is None else \
            [Input(batch_shape=model.input_shape, dtype=model.inputs[0].dtype)]
        given = first if input_tensors is None else nest.flatten(input_tensors)
        return Sequential([*given, *clones.values()], name=model.name)
    given = input_tensors or nest.map_structure(lambda x: Input(batch_shape=backend.int_shape(x), dtype=x.dtype),
                                                model.input)
    return Model(given, replayed(model.input, model.output, given, None, clones), name=model.name)


def _another(layer: Layer) -> Any:
    if isinstance(layer, Model):
        return clone_model(layer)
    config = {key: _another(value) if isinstance(value, Layer) else value for key, value in layer.get_config().items()}
    return type(layer).from_config(config)


def deserialize(config: dict[str, Any], custom_objects: Any = None) -> Any:
    """The layer or model that `serialize` told of. custom_objects: classes of one's own by name."""
    kinds, known = [Weights], dict[str, Any]()
    while kinds:
        known.update((kind.__name__, kind) for kind in kinds)
        kinds = [each for kind in kinds for each in kind.__subclasses__()]
    settings = {key: deserialize(each, custom_objects) if key in ("cell", "layer") and isinstance(each, dict) else each
                for key, each in config.get("config", {}).items()}
    return deserialized({**config, "config": settings}, known, custom_objects, "layer")


def model_from_json(json_string: str, custom_objects: Any = None) -> Any:
    """The model that to_json told of, with variables of its own."""
    return deserialize(json.loads(json_string), custom_objects)


def load_model(filepath: Any, custom_objects: Any = None, compile: bool = True) -> Any:
    """The model of an HDF5 file, or a copy of one that this program has saved, with the values it had then.

    Its optimizer begins anew. Raises UnsupportedError, NoLibraryError (ImportError) for HDF5 without h5py.
    """
    saved = get_default_graph().outermost.extras.get("saved models", {}).get(str(filepath))
    if saved is None and _is_hdf5(filepath) and os.path.exists(filepath):
        with hdf5.opened(filepath, "r", "load_model") as file:
            if (told := hdf5.described(file, "model_config")) is None:
                raise ArgumentError("No model found in config file.", expected="a file that model.save wrote")
            model, training = deserialize(told, custom_objects), hdf5.described(file, "training_config")
            hdf5.read_layers(file, model.layers)
        if compile and training is not None:
            own = custom_objects or {}
            loss, metrics = nest.map_structure(lambda x: own.get(x, x), (training["loss"], training["metrics"]))
            model.compile(optimizers.deserialize(training["optimizer_config"], own), loss, metrics,
                          training.get("loss_weights"))
        return model
    if saved is None:
        raise UnsupportedError(f"{filepath} was not saved by this program", hint="build the model, then load_weights")
    model = clone_model(saved)
    model.load_weights(filepath)
    if saved.optimizer is not None and compile:
        model.compile(saved.optimizer.from_config(saved.optimizer.get_config()), saved.loss, **saved._told_at_compile)
    return model


save_model = Model.save
__getattr__ = refusing("tf.keras.models", __name__)
