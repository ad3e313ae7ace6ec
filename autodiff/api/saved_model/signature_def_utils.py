"""Signatures: which tensors of a model a server feeds and fetches, by names of its own."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import string
from ...core.errors import ArgumentError, NotFoundError
from ...files.tensor_values import dtype_number
from ..common.made import named
from ..messages import SignatureDef
from . import signature_constants as names
from .utils import build_tensor_info, build_tensor_info_from_op, get_element_from_tensor_info

__all__ = ["build_signature_def", "classification_signature_def", "is_valid_signature", "predict_signature_def",
           "regression_signature_def"]


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
    return build_signature_def(_infos(inputs), _infos(outputs), names.PREDICT_METHOD_NAME)


def _infos(tensors: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: build_tensor_info(tensor) for name, tensor in (tensors or {}).items()}


def _supervised(kind: str, method: str, words: str) -> Any:
    def signature(inputs: Mapping[str, Any], loss: Mapping[str, Any], predictions: Mapping[str, Any] | None = None,
                  metrics: Mapping[str, Any] | None = None) -> Any:
        if not inputs:
            raise ArgumentError(f"{method} inputs cannot be None or empty.")
        return build_signature_def(_infos(inputs), {**_infos(loss), **_infos(predictions), **_infos(metrics)}, method)

    return named(signature, f"supervised_{kind}_signature_def",
                 f"A signature of {words}. Raises ArgumentError (ValueError) without inputs.")


supervised_train_signature_def = _supervised("train", names.SUPERVISED_TRAIN_METHOD_NAME, "a training step")
supervised_eval_signature_def = _supervised("eval", names.SUPERVISED_EVAL_METHOD_NAME, "an evaluation")


def op_signature_def(op: Any, key: str) -> Any:
    """A signature whose one output, under `key`, is an operation."""
    return build_signature_def(outputs={key: build_tensor_info_from_op(op)})


def load_op_from_signature_def(signature_def: Any, key: str, import_scope: str | None = None) -> Any:
    """The operation of such a signature. Raises NotFoundError if the graph has none of that name."""
    try:
        return get_element_from_tensor_info(signature_def.outputs[key], import_scope=import_scope)
    except KeyError:
        raise NotFoundError(None, None, f'The key "{key}" could not be found in the graph. Please make sure the '
                                        "SavedModel was created by the internal _SavedModelBuilder.") from None


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
    """Whether a server knows the signature's method, and it has the inputs and outputs of it."""
    inputs, outputs = signature_def.inputs, signature_def.outputs
    if signature_def.method_name == names.PREDICT_METHOD_NAME:
        return bool(inputs) and bool(outputs)
    kinds = _OUTPUTS.get(signature_def.method_name, {})
    return (list(inputs) == [names.PREDICT_INPUTS] and inputs[names.PREDICT_INPUTS].dtype == dtype_number("string")
            and bool(outputs) and all(name in kinds and info.dtype == dtype_number(kinds[name])
                                      for name, info in outputs.items()))


_OUTPUTS = {  # method -> the outputs there may be, and of what kind
    names.CLASSIFY_METHOD_NAME: {names.CLASSIFY_OUTPUT_CLASSES: "string", names.CLASSIFY_OUTPUT_SCORES: "float32"},
    names.REGRESS_METHOD_NAME: {names.REGRESS_OUTPUTS: "float32"}}
