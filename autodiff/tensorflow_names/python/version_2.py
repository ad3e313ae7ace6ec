"""tensorflow.python.ops.*: what TensorFlow's own modules call otherwise than its public names, and its `_v2` forms."""
from __future__ import annotations

import ast
import functools
import inspect
import operator
import sys
from collections.abc import Callable
from typing import Any

from ...core.dtypes import int32, int64

_TF = sys.modules[__name__.partition(".")[0]]
_CHECK = "x y message summarize name"
_RANK = "x rank message name"
_LIKE = "input:tensor dtype=None name=None"
_DTYPES = {"int32": int32, "int64": int64}
# Name -> public name below `tf.`, the parameters in the order of this form (PARAMETER[:ITS NAME THERE][=DEFAULT]), what
# it fixes.
_FORMS: dict[str, tuple[str, str, dict[str, Any]]] = {
    **{f"assert_{name}_v2": (f"assert_{name}", _CHECK, {}) for name in (
        "equal", "none_equal", "less", "less_equal", "greater", "greater_equal")},
    **{f"assert_{name}_v2": (f"assert_{name}", "x message summarize name", {}) for name in (
        "negative", "positive", "non_negative", "non_positive")},
    **{f"{name}_v2": (name, "input_tensor axis=None keepdims=False name=None", {}) for name in (
        "reduce_all", "reduce_any", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum",
        "reduce_logsumexp")},
    **{f"{name}_v2": (name, "input axis=None output_type=int64 name=None", {}) for name in ("argmax", "argmin")},
    **{f"{name}_v2": (name, "input out_type=int32 name=None", {}) for name in ("shape", "size")},
    "ones_like_v2": ("ones_like", _LIKE, {}), "zeros_like_v2": ("zeros_like", _LIKE, {}),
    "expand_dims_v2": ("expand_dims", "input axis name=None", {}),
    "squeeze_v2": ("squeeze", "input axis=None name=None", {}),
    "norm_v2": ("norm", "tensor ord='euclidean' axis=None keepdims=None name=None", {}),
    "pad_v2": ("pad", "tensor paddings mode='CONSTANT' constant_values=0 name=None", {}),
    "gather_v2": ("gather", "params indices validate_indices=None axis=None batch_dims=0 name=None", {}),
    "assert_near_v2": ("assert_near", "x y rtol atol message summarize name", {}),
    "assert_rank_v2": ("assert_rank", _RANK, {}), "assert_rank_at_least_v2": ("assert_rank_at_least", _RANK, {}),
    "assert_rank_in_v2": ("assert_rank_in", "x ranks message name", {}),
    "assert_integer_v2": ("assert_integer", "x message name", {}),
    "assert_scalar_v2": ("assert_scalar", "tensor message name", {}),
    "assert_type_v2": ("assert_type", "tensor tf_type message name", {}),
    "softmax_v2": ("nn.softmax", "logits axis name", {}), "log_softmax_v2": ("nn.log_softmax", "logits axis name", {}),
    "l2_normalize_v2": ("nn.l2_normalize", "x axis epsilon name", {}),
    "moments_v2": ("nn.moments", "x axes shift keepdims name", {}),
    "dropout_v2": ("nn.dropout", "x rate noise_shape seed name", {}),
    "nce_loss_v2": ("nn.nce_loss", "weights biases labels inputs num_sampled num_classes num_true sampled_values "
                    "remove_accidental_hits name", {"partition_strategy": "div"}),
    "sampled_softmax_loss_v2": (
        "nn.sampled_softmax_loss", "weights biases labels inputs num_sampled num_classes num_true sampled_values "
        "remove_accidental_hits seed name", {"partition_strategy": "div"}),
    "safe_embedding_lookup_sparse_v2": (
        "nn.safe_embedding_lookup_sparse", "embedding_weights sparse_ids sparse_weights combiner default_id max_norm "
        "name", {"partition_strategy": "div"}),
    "conv2d_transpose_v2": ("nn.conv2d_transpose", "input filters output_shape strides padding data_format dilations "
                            "name", {}),
    "conv3d_transpose_v2": ("nn.conv3d_transpose", "input filters output_shape strides padding data_format dilations "
                            "name", {}),
    "while_loop_v2": ("while_loop", "cond body loop_vars shape_invariants parallel_iterations back_prop swap_memory "
                      "maximum_iterations name", {"return_same_structure": True})}
_RENAMED = {  # name -> public name below `tf.`, of the same parameters
    "add_v2": "add", "mul": "multiply", "neg": "negative", "sub": "subtract", "floor_mod": "floormod",
    "truncate_mod": "truncatemod", "inv": "math.reciprocal", "complex_abs": "abs", "mul_no_nan": "multiply_no_nan",
    "rank_internal": "rank", "size_internal": "size", "shape_internal": "shape", "variable": "Variable",
    "print_v2": "print", "_bucketize": "raw_ops.Bucketize",
    "_batch_norm_with_global_normalization": "nn.batch_norm_with_global_normalization",
    "parallel_dynamic_stitch": "dynamic_stitch", "batch_gather_nd": "gather_nd", "decode_raw_v1": "decode_raw",
    "conv3d_backprop_filter_v2": "nn.conv3d_backprop_filter"}


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        return operator.attrgetter(_RENAMED[name])(_TF)
    if name not in _FORMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _form(name)


@functools.cache
def _form(name: str) -> Callable[..., Any]:
    public, parameters, fixed = _FORMS[name]
    return _called_so(operator.attrgetter(public)(_TF), name, parameters, fixed)


def _called_so(function: Callable[..., Any], name: str, parameters: str, fixed: dict[str, Any]) -> Callable[..., Any]:
    """The public function, with the parameters of this form in their order."""
    said = [each.partition("=") for each in parameters.split()]
    theirs = {mine: its or mine for mine, _, its in (each[0].partition(":") for each in said)}
    signature = inspect.Signature([inspect.Parameter(mine, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=_default(
        text)) for mine, (_, _, text) in zip(theirs, said)])

    @functools.wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        given = signature.bind_partial(*args, **options).arguments
        return function(**{theirs[mine]: value for mine, value in given.items()}, **fixed)

    called.__name__, called.__signature__ = name, signature  # type: ignore[attr-defined]
    return called


def _default(text: str) -> Any:
    return _DTYPES.get(text) or (ast.literal_eval(text) if text else inspect.Parameter.empty)
