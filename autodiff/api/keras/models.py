"""tf.keras.models: layers put together, one after another, by tensors, or in a class of one's own."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core import nest
from ...core.errors import ArgumentError, KindError, UnsupportedError
from ...core.graph import Tensor, get_default_graph
from ...core.site import made_at
from ..arrays.creation import placeholder, zeros
from ..common.unsupported import refusing
from ..train.objects.checkpoint import Restoration
from ..train.objects.object_graph import write_objects
from ..train.saved_variables import bare_session
from ..variables.layer_base import Layer, add_once
from ..variables.layer_calls import HISTORY, Call, takes
from ..variables.trackable import TrackableReference
from . import backend
from .plain import Weights
from .summaries import BEGINS, summary_lines
from .training import Trained

__all__ = ["Input", "InputLayer", "Model", "Sequential", "clone_model"]


def Input(shape: Any = None, batch_size: int | None = None, name: str | None = None, dtype: Any = None,  # noqa: N802
          sparse: bool = False, tensor: Any = None, batch_shape: Any = None, **options: Any) -> Any:
    """A tensor to begin a model with: a placeholder. shape: without the batch, whose size may be given.

    While executing eagerly it holds zeros, a batch of one.
    """
    if tensor is None:
        dims = list(batch_shape) if batch_shape is not None else [batch_size, *np.atleast_1d(shape if shape is not None
                                                                                             else ())]
        dims, dtype = [None if dim is None else int(dim) for dim in dims], dtype or backend.floatx()
        if get_default_graph().executing_eagerly:
            tensor = zeros([dim or 1 for dim in dims], dtype)
        else:
            tensor = placeholder(dtype, dims, name=name or "input_1")
    setattr(tensor, HISTORY, None)
    if name is None:
        kept = backend._kept()
        kept["inputs"] = kept.get("inputs", 0) + 1
        name = f"input_{kept['inputs']}"
    layer = InputLayer(batch_input_shape=tuple(tensor.dims or ()), name=name)
    layer.inbound_nodes.append(Call(layer, [], (), {}, [tensor]))
    setattr(tensor, BEGINS, layer)
    return tensor


class InputLayer(Weights, Layer):
    """Where a model begins. input_shape: without the batch."""

    def __init__(self, input_shape: Any = None, batch_size: int | None = None, **options: Any) -> None:
        options.setdefault("batch_input_shape", None if input_shape is None else (batch_size, *input_shape))
        super().__init__(**options)
        self.built = True

    def call(self, inputs: Any) -> Any:
        return inputs


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
            begins = [vars(tensor)[BEGINS] for tensor in nest.flatten(inputs) if BEGINS in vars(tensor)]
            self._found = [*begins, *_layers_to(nest.flatten(outputs))]
            self.built = True

    _untracked = Layer._untracked | {"_found", "_stack", "to_train", "changed"}

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

    @property
    def input(self) -> Any:
        return self._inputs

    @property
    def output(self) -> Any:
        return self._outputs

    input_shape = property(lambda self: backend.int_shape(self._inputs))
    output_shape = property(lambda self: backend.int_shape(self._outputs))

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
        return _replayed(self._inputs, self._outputs, inputs, training)

    def summary(self, line_length: int | None = None, positions: Any = None, print_fn: Any = None) -> None:
        """Print its layers, the shapes of their outputs, and how many numbers they hold."""
        calls = list(_histories(self.outputs))
        in_a_row = isinstance(self, Sequential) or len(self.inputs) < 2 and all(
            len(nest.flatten(history.inputs)) == 1 for _, history in calls)
        outputs = {id(history.layer): tensor for tensor, history in calls}
        for line in summary_lines(self, outputs, in_a_row, line_length, positions):
            (print_fn or print)(line)

    def save_weights(self, filepath: Any, overwrite: bool = True, save_format: str | None = None) -> None:
        """Write a checkpoint of its variables, by their places in the layers."""
        _check_path(filepath)
        write_objects(self, str(filepath), bare_session(backend.get_session()))

    def load_weights(self, filepath: Any, by_name: bool = False) -> None:
        """Read a checkpoint that save_weights or a Saver wrote. Variables that are made later get their values then."""
        _check_path(filepath)
        Restoration(self, str(filepath)).run_restore_ops(backend.get_session())


def _check_path(path: Any) -> None:
    if str(path).endswith((".h5", ".keras", ".hdf5")):
        raise UnsupportedError("weights are not written to HDF5 files, and not read from them",
                               hint=f"a path without that ending, as {str(path).rpartition('.')[0]!r}, is a checkpoint")


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
        if isinstance(layer, Tensor) and HISTORY in vars(layer):
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


def _histories(tensors: Any) -> Iterator[tuple[Tensor, Any]]:
    """Each tensor that a layer made on the way to some, with the call that made it: nearest to the inputs first."""
    seen: set[int] = set()
    waiting: list[tuple[Tensor, bool]] = [(tensor, False) for tensor in reversed(list(tensors))]
    while waiting:
        tensor, done = waiting.pop()
        history = vars(tensor).get(HISTORY)
        if done:
            yield tensor, history
        elif id(tensor) not in seen:
            seen.add(id(tensor))
            waiting += [(tensor, True)] if history is not None else []
            made_of = nest.flatten(history.inputs) if history is not None else () if HISTORY in vars(tensor) or \
                get_default_graph().executing_eagerly else tensor.op.inputs
            waiting += [(each, False) for each in reversed(list(made_of)) if isinstance(each, Tensor)]


def _layers_to(tensors: Any) -> Iterator[Layer]:
    for _, history in _histories(tensors):
        yield history.layer


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
    return Model(given, _replayed(model.input, model.output, given, None, clones), name=model.name)


def _another(layer: Layer) -> Any:
    if isinstance(layer, Model):
        return clone_model(layer)
    config = {key: _another(value) if isinstance(value, Layer) else value for key, value in layer.get_config().items()}
    return type(layer).from_config(config)


def _replayed(inputs: Any, outputs: Any, given: Any, training: Any, clones: Any = None) -> Any:
    """The outputs, were the inputs others: each layer, or its clone, is called again."""
    known = {id(old): new for old, new in zip(nest.flatten(inputs), nest.flatten(given), strict=True)}
    if all(old is new for old, new in zip(nest.flatten(inputs), nest.flatten(given))):
        return outputs
    for tensor, history in _histories(nest.flatten(outputs)):
        if id(tensor) in known:
            continue
        if any(isinstance(x, Tensor) and id(x) not in known for x in nest.flatten(history.inputs)):
            raise UnsupportedError(f"layer {history.layer.name!r} is given what no layer made, so that the model "
                                   "cannot be called on other inputs", hint="put the ops before it into a Lambda layer")
        options = dict(history.options)
        if training is not None and takes(history.layer, "training"):
            options["training"] = training
        given = nest.map_structure(lambda x: known.get(id(x), x), history.inputs)
        layer = history.layer if clones is None else clones[id(history.layer)]
        made = layer(given, *history.args, **options)
        known.update((id(old), new) for old, new in zip(history.outputs, nest.flatten(made)))
    unknown = [tensor for tensor in nest.flatten(outputs) if id(tensor) not in known]
    if unknown:
        raise UnsupportedError(f"{unknown[0].name} is no output of a layer, so that the model cannot be called "
                               "on other inputs", hint="put the ops behind the last layer into a Lambda layer")
    return nest.map_structure(lambda x: known[id(x)], outputs)


__getattr__ = refusing("tf.keras.models", __name__)
