"""Signatures: which tensors of a model a server feeds and fetches, by names of its own."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import string
from ...core.errors import ArgumentError
from ..messages import SignatureDef
from . import signature_constants as names
from .utils import build_tensor_info


def build_signature_def(inputs: Mapping[str, Any] | None = None, outputs: Mapping[str, Any] | None = None,
                        method_name: str | None = None) -> Any:
    """A SignatureDef. inputs, outputs: name -> TensorInfo."""
    made = SignatureDef(method_name=method_name or "")
    made.inputs.update(inputs or {})
    made.outputs.update(outputs or {})
    return made


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Any:
    """A signature for any tensors. Raises ArgumentError (ValueError) if there are none."""
    if not inputs or not outputs:
        raise ArgumentError(f"Prediction {'outputs' if inputs else 'inputs'} cannot be None or empty.")
    return build_signature_def({name: build_tensor_info(convert_to_tensor(t)) for name, t in inputs.items()},
                               {name: build_tensor_info(convert_to_tensor(t)) for name, t in outputs.items()},
                               names.PREDICT_METHOD_NAME)


def _examples(examples: Any, what: str) -> dict[str, Any]:
    if examples is None or convert_to_tensor(examples).dtype.base_dtype is not string:
        raise ArgumentError(f"{what} input tensors must be of type string.", found=repr(examples))
    return {"inputs": build_tensor_info(convert_to_tensor(examples))}


def regression_signature_def(examples: Any, predictions: Any) -> Any:
    """A signature from serialized examples to numbers."""
    outputs = {names.REGRESS_OUTPUTS: build_tensor_info(convert_to_tensor(predictions))}
    return build_signature_def(_examples(examples, "Regression"), outputs, names.REGRESS_METHOD_NAME)


def classification_signature_def(examples: Any, classes: Any, scores: Any) -> Any:
    """A signature from serialized examples to classes, scores, or both."""
    if classes is None and scores is None:
        raise ArgumentError("Classification classes and scores cannot both be None.")
    outputs = {name: build_tensor_info(convert_to_tensor(tensor)) for name, tensor in (
        (names.CLASSIFY_OUTPUT_CLASSES, classes), (names.CLASSIFY_OUTPUT_SCORES, scores)) if tensor is not None}
    return build_signature_def(_examples(examples, "Classification"), outputs, names.CLASSIFY_METHOD_NAME)


def is_valid_signature(signature_def: Any) -> bool:
    """Whether a server knows the signature's method, and it has inputs and outputs."""
    known = (names.CLASSIFY_METHOD_NAME, names.PREDICT_METHOD_NAME, names.REGRESS_METHOD_NAME)
    return signature_def.method_name in known and bool(signature_def.inputs) and bool(signature_def.outputs)
