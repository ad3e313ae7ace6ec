"""Graph-mode automatic differentiation with TensorFlow 1.x names, on NumPy alone.

This module is the namespace `tf`: what is public at its top, and in which room each name and namespace lives. The op
table and the element types are loaded with it; the rest when a script first uses it.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from . import ops
from .api.common import unsupported, wrong_arguments
from .api.common.public_paths import PublicPaths
from .core import errors, nest
from .core.dtypes import *
from .core.dtypes import bool_
from .core.errors import OpError, UnsupportedError
from .core.graph import Graph, Operation, Tensor, get_default_graph, reset_default_graph
from .core.graph_parts import FORMS
from .core.indexed_slices import IndexedSlices, IndexedSlicesValue
from .core.shapes import Dimension, TensorShape
from .core.sparse_tensor import SparseTensor, SparseTensorValue
from .gradients.aggregate import AggregationMethod
from .gradients.backprop import UnconnectedGradients, gradients

__version__ = "0.2.0"
gradients = wrong_arguments.checked(gradients)
newaxis = None
vars()["bool"] = bool_  # tf.bool, without hiding Python's from readers of this file

# Namespace of `tf` -> the module that it is, loaded when a script first enters it.
NAMESPACES = {
    **{name: f"api.{name}" for name in (
        "app", "compat", "contrib", "data", "debugging", "distribute", "distributions", "dtypes", "estimator", "flags",
        "gfile", "graph_util", "image", "io", "keras", "layers", "linalg", "logging", "lookup", "losses", "math",
        "metrics", "mnist", "nn", "python_io", "random", "raw_ops", "saved_model", "signal", "sparse", "spectral",
        "strings", "summary", "test", "train")},
    "debug": "debug", "errors": "core.errors", "feature_column": "api.estimator.feature_columns",
    "initializers": "api.variables.initializers", "nest": "api.common.nest_shallow",
    "queue": "api.queues", "sets": "api.sparse.sets", "python": "tensorflow_names.python_module"}
# Module -> the names at the top of `tf` that it defines, loaded when a script first uses one of them.
_NAMES = {
    "api.arrays.creation": "bitcast constant fill guarantee_const identity identity_n lin_space linspace no_op one_hot "
        "ones ones_like placeholder placeholder_with_default range stop_gradient zeros zeros_like",
    "api.arrays.gathering": "batch_gather boolean_mask dynamic_partition dynamic_stitch gather gather_nd "
        "invert_permutation scatter_nd setdiff1d tensor_scatter_add tensor_scatter_nd_add tensor_scatter_nd_sub "
        "tensor_scatter_nd_update tensor_scatter_sub tensor_scatter_update unique unique_with_counts unravel_index",
    "api.arrays.rearrange": "batch_to_space batch_to_space_nd depth_to_space diag diag_part eye matrix_band_part "
        "matrix_diag matrix_diag_part matrix_set_diag matrix_transpose meshgrid pad repeat "
        "required_space_to_batch_paddings reverse reverse_sequence reverse_v2 roll sequence_mask space_to_batch "
        "space_to_batch_nd space_to_depth tile",
    "api.arrays.shaping": "broadcast_dynamic_shape broadcast_static_shape broadcast_to concat ensure_shape expand_dims "
        "parallel_stack rank reshape shape shape_n size slice split squeeze stack strided_slice transpose unstack",
    "api.arrays.sorting": "argsort searchsorted sort", "api.control.control_flow": "case cond switch_case",
    "api.control.critical_section": "CriticalSection",
    "api.control.custom":
        "custom_gradient NoGradient NotDifferentiable numpy_function py_func py_function RegisterGradient",
    "api.control.dependencies":
        "colocate_with container control_dependencies device group init_scope name_scope op_scope tuple",
    "api.control.function": "function nondifferentiable_batch_function",
    "api.control.map_and_scan": "foldl foldr map_fn scan", "api.control.tensor_array": "TensorArray",
    "api.control.recompute": "grad_pass_through recompute_grad",
    "api.control.vectorized": "vectorized_map", "api.control.while_loop": "while_loop",
    "api.debugging": "add_check_numerics_ops Assert assert_equal assert_greater assert_greater_equal assert_integer "
        "assert_less assert_less_equal assert_near assert_negative assert_non_negative assert_non_positive "
        "assert_none_equal assert_positive assert_proper_iterable assert_rank assert_rank_at_least assert_rank_in "
        "assert_same_float_dtype assert_scalar assert_type check_numerics is_non_decreasing is_numeric_tensor "
        "is_strictly_increasing is_tensor Print print verify_tensor_all_finite",
    "api.image.boxes": "extract_image_patches", "api.nn.shifted_windows": "extract_volume_patches",
    "api.session_handles": "delete_session_tensor get_session_handle get_session_tensor",
    "api.shape_checks": "assert_shapes", "api.saved_graphs.reading": "import_graph_def",
    "api.linalg": "cholesky cholesky_solve clip_by_average_norm clip_by_global_norm clip_by_norm einsum global_norm "
        "log_matrix_determinant matmul matrix_determinant matrix_inverse matrix_solve matrix_solve_ls "
        "matrix_square_root matrix_triangular_solve norm qr self_adjoint_eig self_adjoint_eigvals svd tensordot trace",
    "api.logging": "get_logger",
    "api.messages": "AttrValue Event GraphDef HistogramProto LogMessage MetaGraphDef NameAttrList NodeDef RunMetadata "
        "SessionLog Summary SummaryMetadata TensorInfo",
    "api.math": "abs accumulate_n acos acosh add add_n angle arg_max arg_min argmax argmin asin asinh atan atan2 atanh "
        "bessel_i0 bessel_i0e bessel_i1 bessel_i1e betainc bincount cast ceil clip_by_value complex conj cos cosh "
        "count_nonzero cross cumprod cumsum cumulative_logsumexp digamma div div_no_nan divide equal erf erfc exp "
        "expm1 floor floor_div floordiv floormod greater greater_equal igamma igammac imag is_finite is_inf is_nan "
        "lbeta less less_equal lgamma log log1p log_sigmoid logical_and logical_not logical_or logical_xor maximum "
        "minimum mod multiply multiply_no_nan negative not_equal polygamma polyval pow real realdiv reciprocal "
        "reduce_all reduce_any reduce_euclidean_norm reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod "
        "reduce_std reduce_sum reduce_variance rint round rsqrt saturate_cast scalar_mul segment_max segment_mean "
        "segment_min segment_prod segment_sum sigmoid sign sin sinh softplus softsign sparse_segment_mean "
        "sparse_segment_sqrt_n sparse_segment_sum sqrt square squared_difference subtract tan tanh to_complex128 "
        "to_complex64 to_double to_float to_int32 to_int64 truediv truncatediv truncatemod unsorted_segment_max "
        "unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum "
        "where where_v2 xdivy xlogy zeta",
    "api.math.histograms": "confusion_matrix histogram_fixed_width histogram_fixed_width_bins",
    "api.queues": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    "api.queues.accumulators": "ConditionalAccumulator ConditionalAccumulatorBase SparseConditionalAccumulator",
    "api.csv_lines": "decode_csv",
    "api.data.readers":
        "FixedLengthRecordReader IdentityReader ReaderBase TextLineReader TFRecordReader WholeFileReader",
    "api.parsing": "decode_json_example decode_raw FixedLenFeature FixedLenSequenceFeature matching_files "
        "parse_example parse_single_example parse_single_sequence_example parse_tensor read_file serialize_tensor "
        "SparseFeature VarLenFeature write_file",
    "api.random": "get_seed multinomial random_crop random_gamma random_normal random_poisson random_shuffle "
        "random_uniform set_random_seed truncated_normal",
    "api.signal": "fft fft2d fft3d ifft ifft2d ifft3d",
    "api.sparse.arithmetic": "convert_to_tensor_or_sparse_tensor edit_distance sparse_add sparse_maximum "
        "sparse_minimum sparse_placeholder sparse_reduce_max sparse_reduce_max_sparse sparse_reduce_sum "
        "sparse_reduce_sum_sparse sparse_softmax sparse_tensor_dense_matmul sparse_tensor_to_dense sparse_to_dense",
    "api.sparse.rearrange": "deserialize_many_sparse serialize_many_sparse serialize_sparse sparse_concat "
        "sparse_fill_empty_rows sparse_mask sparse_merge sparse_reorder sparse_reset_shape sparse_reshape "
        "sparse_retain sparse_slice sparse_split sparse_to_indicator sparse_transpose",
    "api.strings":
        "as_string decode_base64 encode_base64 reduce_join regex_replace string_join string_split string_strip "
        "string_to_hash_bucket string_to_hash_bucket_fast string_to_hash_bucket_strong string_to_number substr",
    "api.tensor_messages": "get_static_value make_ndarray make_tensor_proto",
    "api.variables.assignment":
        "all_variables assert_variables_initialized assign assign_add assign_sub count_up_to global_variables "
        "global_variables_initializer initialize_all_tables initialize_all_variables initialize_local_variables "
        "initialize_variables is_variable_initialized local_variables local_variables_initializer model_variables "
        "moving_average_variables report_uninitialized_variables scatter_add scatter_div scatter_max scatter_min "
        "batch_scatter_update scatter_mul scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub scatter_update "
        "tables_initializer trainable_variables variables_initializer",
    "api.variables.initializers": "constant_initializer glorot_normal_initializer glorot_uniform_initializer "
        "ones_initializer orthogonal_initializer random_normal_initializer random_uniform_initializer "
        "truncated_normal_initializer uniform_unit_scaling_initializer variance_scaling_initializer zeros_initializer",
    "api.type_specs": "IndexedSlicesSpec SparseTensorSpec TensorSpec TypeSpec",
    "api.variables.module": "Module",
    "api.variables.partitioners": "fixed_size_partitioner min_max_variable_partitioner variable_axis_size_partitioner",
    "api.variables.template": "make_template", "api.variables.variable": "Variable",
    "api.variables.variable_kinds": "disable_resource_variables enable_resource_variables resource_variables_enabled "
        "VariableAggregation VariableSynchronization variable_creator_scope",
    "api.variables.variable_scope": "AUTO_REUSE create_partitioned_variables get_local_variable get_variable "
        "get_variable_scope no_regularizer variable_op_scope variable_scope VariableScope",
    "core.collections": "add_to_collection add_to_collections get_collection get_collection_ref GraphKeys",
    "core.convert": "convert_to_tensor register_tensor_conversion_function",
    "core.devices": "DeviceSpec",
    "api.compat": "disable_v2_tensorshape enable_v2_tensorshape",
    "core.defaults": "get_default_session",
    "gradients.higher_order": "_hessian_vector_product hessian_vector_product hessians",
    "gradients.tape": "GradientTape",
    "runtime.config": "CallableOptions ConfigProto GPUOptions GraphOptions OptimizerOptions RunOptions",
    "runtime.eager": "disable_eager_execution disable_v2_behavior enable_eager_execution executing_eagerly",
    "tensorflow_names.python.ops": "control_flow_v2_enabled disable_control_flow_v2 enable_control_flow_v2",
    "runtime.session": "InteractiveSession Session"}
PLACES = {name: module for module, names in _NAMES.items() for name in names.split()}

FORMS.update({"GraphDef": "api.saved_graphs.writing.graph_def_of", "NodeDef": "api.saved_graphs.writing.node_def_of",
              "value of AttrValue": "api.saved_graphs.attributes.value_of",
              "OpDef": "api.saved_graphs.op_defs.op_def_of", "VersionDef": "api.saved_graphs.writing.versions_of",
              "TensorShapeProto": "files.tensor_values.proto_of_shape",
              "Operation": "api.raw_ops.created", "closed frame": "api.control.frames.close",
              "FunctionDef": "api.saved_graphs.writing.function_def_of",
              "Operation of NodeDef": "api.raw_ops.of_node_def",
              "VariableDef": "api.variables.variable_protos.variable_def_of",
              "variable of VariableDef": "api.variables.variable_protos.variable_of_def"})

# `import autodiff.nn` is `import autodiff.api.nn`: a namespace is one module, by whichever path it is imported.
sys.meta_path.insert(0, PublicPaths(__name__, NAMESPACES))


def __getattr__(name: str) -> Any:
    if name in NAMESPACES:
        return wrong_arguments.check_names(import_module(f"{__name__}.{NAMESPACES[name]}"))
    if name in PLACES:
        value = globals()[name] = wrong_arguments.checked_name(
            getattr(import_module(f"{__name__}.{PLACES[name]}"), name))
        return value
    if name.startswith("__"):  # what Python itself looks for
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise unsupported.unsupported_name("tf", name, __dir__())


def __dir__() -> list[str]:
    """What scripts may use: the namespaces that TensorFlow has too, and names that are no modules."""
    return sorted({*(n for n, v in globals().items() if not isinstance(v, ModuleType)), *NAMESPACES, *PLACES})
