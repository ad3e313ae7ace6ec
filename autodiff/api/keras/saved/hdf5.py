"""Models of Keras in HDF5 files, as Keras lays them out; read and written by the library h5py, where it is there."""
from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any

import numpy as np

from ....core.errors import ArgumentError, AutodiffError

KIND = {"backend": np.bytes_("tensorflow"), "keras_version": np.bytes_("2.2.4-tf")}  # bytes, as h5py 2 reads them


class NoLibraryError(AutodiffError, ImportError):
    """A library that the user has not installed."""


def is_installed() -> bool:
    """Whether files can be read and written."""
    return find_spec("h5py") is not None


def opened(path: Any, mode: str, caller: str) -> Any:
    """The file, as h5py has it. caller: the function that wants it. Raises NoLibraryError (ImportError), OSError."""
    if not is_installed():
        raise NoLibraryError(f"`{caller}` requires h5py.", hint="an .h5 file is in HDF5: pip install h5py")
    import h5py
    return h5py.File(str(path), mode)


def write_model(path: Any, model: Any, description: str, training: str | None) -> None:
    """A file of what describes a model and how it is trained, both in JSON, and of its variables."""
    with opened(path, "w", "save_model") as file:
        file.attrs.update({**KIND, "model_config": np.bytes_(description)})
        write_layers(file.create_group("model_weights"), model.layers)
        if training is not None:
            file.attrs["training_config"] = np.bytes_(training)


def write_layers(group: Any, layers: list[Any]) -> None:
    """A group for each layer, of a data set for each variable, all by name and in order."""
    group.attrs.update({**KIND, "layer_names": [layer.name.encode() for layer in layers]})
    for layer in layers:
        below, variables = group.create_group(layer.name), layer.weights
        below.attrs["weight_names"] = [variable.name.encode() for variable in variables]
        for variable, value in zip(variables, layer.get_weights() if variables else ()):
            below.create_dataset(variable.name, data=np.asarray(value))


def read_layers(group: Any, layers: list[Any], by_name: bool = False) -> None:
    """Give layers the values of a group: each those of its place among all that have any; or of its name.

    Raises ArgumentError (ValueError) if there are others, or more or fewer.
    """
    group = group.get("model_weights", group) if "layer_names" not in group.attrs else group
    kept = {name: [np.asarray(group[name][key]) for key in _texts(group[name], "weight_names")]
            for name in _texts(group, "layer_names")}
    filled, values = [layer for layer in layers if layer.weights], [each for each in kept.values() if each]
    if by_name:
        filled = [layer for layer in filled if kept.get(layer.name)]
        values = [kept[layer.name] for layer in filled]
    if len(filled) != len(values):
        raise ArgumentError(f"You are trying to load a weight file containing {len(values)} layers into a model "
                            f"with {len(filled)} layers.")
    for layer, found in zip(filled, values):
        if [np.shape(each) for each in found] != [tuple(v.shape.as_list()) for v in layer.weights]:
            raise ArgumentError(f"layer {layer.name!r} has other variables than the file",
                                expected=", ".join(str(v.shape) for v in layer.weights),
                                found=", ".join(str(np.shape(each)) for each in found))
        layer.set_weights(found)


def described(file: Any, what: str) -> Any:
    """What a file tells in JSON of its model: `model_config` or `training_config`; None if it tells nothing."""
    return json.loads(file.attrs.get(what, "null"))


def _texts(group: Any, name: str) -> list[str]:
    """The texts of an attribute, which is cut in pieces where it is too long for one."""
    pieces = [group.attrs[name]] if name in group.attrs else [
        group.attrs[key] for key in (f"{name}{i}" for i in range(len(group.attrs))) if key in group.attrs]
    return [text.decode() if isinstance(text, bytes) else str(text) for piece in pieces for text in piece]
