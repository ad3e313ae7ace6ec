"""tf.estimator.export: what a served model is given, and what it answers."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ...core.dtypes import string
from ...core.errors import ArgumentError
from ..arrays.creation import placeholder
from ..common.unsupported import refusing
from ..parsing import parse_example
from ..saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from ..saved_model.signature_def_utils import (
    classification_signature_def,
    predict_signature_def,
    regression_signature_def,
)

__all__ = ["ClassificationOutput", "PredictOutput", "RegressionOutput", "ServingInputReceiver",
           "TensorServingInputReceiver", "build_parsing_serving_input_receiver_fn",
           "build_raw_serving_input_receiver_fn"]


class ServingInputReceiver:
    """What a served model is given. features: for the model function; receiver_tensors: what a caller feeds.

    receiver_tensors: a tensor, or a dict of them. receiver_tensors_alternatives: name -> other receiver tensors.
    """

    def __init__(self, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None) -> None:
        for what, given in (("features", features), ("receiver_tensors", receiver_tensors)):
            if given is None:
                raise ArgumentError(f"{what} must be defined.")
        self.features: Any = features if isinstance(features, dict) else {"feature": features}
        self.receiver_tensors = receiver_tensors if isinstance(receiver_tensors, dict) else {"input": receiver_tensors}
        self.receiver_tensors_alternatives = receiver_tensors_alternatives


class TensorServingInputReceiver(ServingInputReceiver):
    """A ServingInputReceiver of one tensor, which the model function gets as it is."""

    def __init__(self, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None) -> None:
        super().__init__(features, receiver_tensors, receiver_tensors_alternatives)
        self.features = features


def build_raw_serving_input_receiver_fn(features: Mapping[str, Any],
                                        default_batch_size: int | None = None) -> Callable[[], ServingInputReceiver]:
    """A function that gives a receiver of placeholders for batches like these tensors."""
    def receiver() -> ServingInputReceiver:
        made = {name: placeholder(tensor.dtype.base_dtype,
                                  None if tensor.dims is None else [default_batch_size, *tensor.dims[1:]], name=name)
                for name, tensor in features.items()}
        return ServingInputReceiver(made, dict(made))
    return receiver


def build_parsing_serving_input_receiver_fn(
        feature_spec: Mapping[str, Any], default_batch_size: int | None = None) -> Callable[[], ServingInputReceiver]:
    """A function that gives a receiver of serialized tf.Examples. feature_spec: as parse_example has it."""
    def receiver() -> ServingInputReceiver:
        serialized = placeholder(string, [default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(parse_example(serialized, feature_spec), {"examples": serialized})
    return receiver


class PredictOutput(NamedTuple):
    """Any tensors: a dict, or one that is called `output`."""

    outputs: Any

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        named = self.outputs if isinstance(self.outputs, dict) else {"output": self.outputs}
        return predict_signature_def(receiver_tensors, named)


class ClassificationOutput(NamedTuple):
    """scores: float[n, k]. classes: string[n, k]."""

    scores: Any = None
    classes: Any = None

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        return classification_signature_def(_only(receiver_tensors), self.classes, self.scores)


class RegressionOutput(NamedTuple):
    """value: float[n]."""

    value: Any

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        return regression_signature_def(_only(receiver_tensors), self.value)


def _only(receiver_tensors: Mapping[str, Any]) -> Any:
    found = list(receiver_tensors.values())
    if len(found) != 1 or found[0].dtype is not string:
        raise ArgumentError(f"Classification input must be a single string Tensor; got {dict(receiver_tensors)}")
    return found[0]


def signatures(spec: Any, receiver: ServingInputReceiver) -> dict[str, Any]:
    """Signature -> SignatureDef of the exports that fit the receiver: one that stands alone is also the default.

    A model without exports serves its predictions.
    """
    exports = dict(spec.export_outputs or {DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(spec.predictions)})
    if len(exports) == 1:
        exports.setdefault(DEFAULT_SERVING_SIGNATURE_DEF_KEY, next(iter(exports.values())))
    if DEFAULT_SERVING_SIGNATURE_DEF_KEY not in exports:
        raise ArgumentError("Multiple export_outputs were provided, but none of them is specified as the default.  Do "
                            f"this by naming one of them with {DEFAULT_SERVING_SIGNATURE_DEF_KEY}.")
    found: dict[str, Any] = {}
    for name, output in exports.items():
        try:
            found[name] = output.as_signature_def(receiver.receiver_tensors)
        except ArgumentError:  # a classifier whose features are fed one by one is served by its predictions alone
            if isinstance(output, PredictOutput):
                raise
    return found


__getattr__ = refusing("tf.estimator.export", __name__)
