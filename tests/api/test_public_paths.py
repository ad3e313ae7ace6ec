"""Public names: each that the library and TensorFlow 1.15.5 both had before the library's files moved into rooms.

The list was taken then, by dir() of each namespace of the library; kept is what TensorFlow has by the same path.
"""

import importlib
import sys
from types import ModuleType

import pytest

import autodiff as tf

# What `import autodiff.<path>` finds.
IMPORTABLE = """
app compat contrib contrib.framework contrib.layers contrib.layers.summaries contrib.legacy_seq2seq contrib.rnn
contrib.seq2seq contrib.slim data distributions dtypes errors flags gfile image initializers keras layers linalg
logging losses math metrics nest nn random signal sparse spectral summary test train
""".split()

# Namespace -> its names; "tf" is the top.
NAMES = {
    "tf": """
AUTO_REUSE AggregationMethod Assert ConfigProto DType Dimension GPUOptions GradientTape Graph GraphDef GraphKeys
GraphOptions HistogramProto IndexedSlices InteractiveSession NoGradient NodeDef NotDifferentiable OpError Operation
OptimizerOptions Print RegisterGradient RunMetadata RunOptions Session SparseTensor SparseTensorValue Summary Tensor
TensorArray TensorShape UnconnectedGradients Variable VariableAggregation VariableScope VariableSynchronization abs
accumulate_n acos acosh add add_check_numerics_ops add_n add_to_collection add_to_collections all_variables angle app
arg_max arg_min argmax argmin argsort as_dtype asin asinh assert_equal assert_greater assert_greater_equal
assert_integer assert_less assert_less_equal assert_near assert_negative assert_non_negative assert_non_positive
assert_none_equal assert_positive assert_proper_iterable assert_rank assert_rank_at_least assert_rank_in
assert_same_float_dtype assert_scalar assert_type assert_variables_initialized assign assign_add assign_sub atan atan2
atanh batch_gather batch_to_space batch_to_space_nd betainc bincount bool boolean_mask broadcast_dynamic_shape
broadcast_static_shape broadcast_to case cast ceil check_numerics cholesky cholesky_solve clip_by_average_norm
clip_by_global_norm clip_by_norm clip_by_value colocate_with compat complex complex128 complex64 concat cond
confusion_matrix conj constant constant_initializer container contrib control_dependencies convert_to_tensor
convert_to_tensor_or_sparse_tensor cos cosh count_nonzero count_up_to cross cumprod cumsum custom_gradient data
debugging depth_to_space device diag diag_part digamma disable_eager_execution disable_resource_variables
disable_v2_behavior distributions div div_no_nan divide double dtypes dynamic_partition dynamic_stitch einsum
enable_eager_execution enable_resource_variables ensure_shape equal erf erfc errors executing_eagerly exp expand_dims
expm1 extract_image_patches eye fft fft2d fft3d fill flags float16 float32 float64 floor floor_div floordiv floormod
foldl foldr gather gather_nd get_collection get_collection_ref get_default_graph get_default_session
get_local_variable get_seed get_variable get_variable_scope gfile global_norm global_variables
global_variables_initializer glorot_normal_initializer glorot_uniform_initializer gradients greater greater_equal
group guarantee_const half hessians histogram_fixed_width histogram_fixed_width_bins identity identity_n ifft ifft2d
ifft3d igamma igammac imag image import_graph_def init_scope initialize_all_tables initialize_all_variables
initialize_local_variables initialize_variables initializers int16 int32 int64 int8 invert_permutation is_finite
is_inf is_nan is_non_decreasing is_numeric_tensor is_strictly_increasing is_tensor is_variable_initialized keras
layers lbeta less less_equal lgamma lin_space linalg linspace local_variables local_variables_initializer log log1p
log_sigmoid logging logical_and logical_not logical_or logical_xor losses make_template map_fn math matmul
matrix_band_part matrix_determinant matrix_diag matrix_diag_part matrix_inverse matrix_set_diag matrix_solve
matrix_solve_ls matrix_square_root matrix_transpose matrix_triangular_solve maximum meshgrid metrics minimum mod
model_variables moving_average_variables multinomial multiply name_scope negative nest newaxis nn no_op no_regularizer
norm not_equal numpy_function one_hot ones ones_initializer ones_like op_scope orthogonal_initializer pad placeholder
placeholder_with_default polygamma pow print py_func py_function qr random random_crop random_gamma random_normal
random_normal_initializer random_poisson random_shuffle random_uniform random_uniform_initializer range rank real
realdiv reciprocal reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum
repeat report_uninitialized_variables required_space_to_batch_paddings reset_default_graph reshape resource
resource_variables_enabled reverse reverse_sequence reverse_v2 rint roll round rsqrt saturate_cast scalar_mul scan
scatter_add scatter_div scatter_max scatter_min scatter_mul scatter_nd scatter_nd_add scatter_nd_sub scatter_nd_update
scatter_sub scatter_update searchsorted segment_max segment_mean segment_min segment_prod segment_sum self_adjoint_eig
self_adjoint_eigvals sequence_mask set_random_seed setdiff1d shape shape_n sigmoid sign signal sin sinh size slice
sort space_to_batch space_to_batch_nd space_to_depth sparse sparse_add sparse_concat sparse_fill_empty_rows
sparse_mask sparse_maximum sparse_merge sparse_minimum sparse_placeholder sparse_reduce_max sparse_reduce_max_sparse
sparse_reduce_sum sparse_reduce_sum_sparse sparse_reorder sparse_reset_shape sparse_reshape sparse_retain
sparse_segment_mean sparse_segment_sqrt_n sparse_segment_sum sparse_slice sparse_softmax sparse_split
sparse_tensor_dense_matmul sparse_tensor_to_dense sparse_to_dense sparse_to_indicator sparse_transpose spectral split
sqrt square squared_difference squeeze stack stop_gradient strided_slice string subtract summary svd switch_case
tables_initializer tan tanh tensor_scatter_add tensor_scatter_nd_add tensor_scatter_nd_sub tensor_scatter_nd_update
tensor_scatter_sub tensor_scatter_update tensordot test tile to_complex128 to_complex64 to_double to_float to_int32
to_int64 trace train trainable_variables transpose truediv truncated_normal truncated_normal_initializer truncatediv
truncatemod tuple uint16 uint32 uint64 uint8 uniform_unit_scaling_initializer unique unique_with_counts unravel_index
unsorted_segment_max unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n
unsorted_segment_sum unstack variable_op_scope variable_scope variables_initializer variance_scaling_initializer
variant verify_tensor_all_finite where where_v2 while_loop zeros zeros_initializer zeros_like zeta
""",
    "app": """
flags run
""",
    "app.flags": """
DEFINE_alias DEFINE_bool DEFINE_boolean DEFINE_enum DEFINE_float DEFINE_integer DEFINE_list DEFINE_multi_float
DEFINE_multi_integer DEFINE_multi_string DEFINE_string DuplicateFlagError Error FLAGS Flag FlagValues
IllegalFlagValueError UnparsedFlagAccessError mark_flag_as_required mark_flags_as_required
""",
    "compat": """
as_bytes as_str as_str_any as_text bytes_or_text_types complex_types dimension_at_index dimension_value integral_types
path_to_str real_types v1
""",
    "contrib": """
distributions framework layers legacy_seq2seq losses metrics rnn seq2seq slim
""",
    "contrib.distributions": """
Bernoulli Categorical Distribution MultivariateNormalDiag Normal Uniform kl_divergence
""",
    "contrib.framework": """
add_arg_scope add_model_variable arg_scope arg_scoped_arguments assert_global_step assert_or_get_global_step
assert_scalar assign_from_values assign_from_values_fn create_global_step current_arg_scope filter_variables
get_global_step get_local_variables get_model_variables get_or_create_global_step get_trainable_variables
get_unique_variable get_variable_full_name get_variables get_variables_by_name get_variables_by_suffix
get_variables_to_restore global_variable has_arg_scope is_tensor local_variable model_variable nest variable
""",
    "contrib.framework.nest": """
assert_same_structure flatten is_nested is_sequence map_structure pack_sequence_as
""",
    "contrib.layers": """
OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES apply_regularization avg_pool2d avg_pool3d batch_norm bias_add conv1d conv2d
conv2d_transpose conv3d conv3d_transpose convolution convolution1d convolution2d convolution2d_transpose convolution3d
convolution3d_transpose dropout elu embed_sequence flatten fully_connected instance_norm l1_l2_regularizer
l1_regularizer l2_regularizer layer_norm linear max_pool2d max_pool3d one_hot_encoding optimize_loss relu relu6 repeat
separable_conv2d separable_convolution2d softmax stack sum_regularizer summaries summarize_activation
summarize_activations summarize_collection summarize_tensor summarize_tensors unit_norm variance_scaling_initializer
xavier_initializer xavier_initializer_conv2d
""",
    "contrib.layers.summaries": """
summarize_activation summarize_activations summarize_collection summarize_tensor summarize_tensors summary
""",
    "contrib.layers.summaries.summary": """
Event FileWriter FileWriterCache SessionLog Summary SummaryDescription TaggedRunMetadata audio get_summary_description
histogram image initialize merge merge_all scalar tensor_summary text
""",
    "contrib.legacy_seq2seq": """
rnn_decoder sequence_loss sequence_loss_by_example
""",
    "contrib.losses": """
absolute_difference add_loss compute_weighted_loss cosine_distance get_losses get_regularization_losses get_total_loss
hinge_loss log_loss mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy softmax_cross_entropy
sparse_softmax_cross_entropy
""",
    "contrib.metrics": """
accuracy
""",
    "contrib.rnn": """
BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUBlockCell GRUBlockCellV2 GRUCell InputProjectionWrapper
LSTMBlockCell LSTMCell LSTMStateTuple LayerNormBasicLSTMCell LayerRNNCell MultiRNNCell NASCell OutputProjectionWrapper
RNNCell ResidualWrapper static_bidirectional_rnn static_rnn static_state_saving_rnn
""",
    "contrib.seq2seq": """
AttentionMechanism AttentionWrapper AttentionWrapperState BahdanauAttention BasicDecoder BasicDecoderOutput
CustomHelper Decoder GreedyEmbeddingHelper Helper LuongAttention SampleEmbeddingHelper TrainingHelper dynamic_decode
hardmax sequence_loss
""",
    "contrib.slim": """
OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES add_arg_scope add_model_variable apply_regularization arg_scope
arg_scoped_arguments assert_global_step assert_or_get_global_step assign_from_values assign_from_values_fn avg_pool2d
avg_pool3d batch_norm bias_add conv1d conv2d conv2d_transpose conv3d conv3d_transpose convolution convolution1d
convolution2d convolution2d_transpose convolution3d convolution3d_transpose create_global_step current_arg_scope
dropout elu embed_sequence filter_variables flatten fully_connected get_global_step get_local_variables
get_model_variables get_or_create_global_step get_trainable_variables get_unique_variable get_variable_full_name
get_variables get_variables_by_name get_variables_by_suffix get_variables_to_restore global_variable has_arg_scope
instance_norm l1_l2_regularizer l1_regularizer l2_regularizer layer_norm linear local_variable losses max_pool2d
max_pool3d model_analyzer model_variable one_hot_encoding optimize_loss relu relu6 repeat separable_conv2d
separable_convolution2d softmax stack sum_regularizer summarize_activation summarize_activations summarize_collection
summarize_tensor summarize_tensors unit_norm utils variable variance_scaling_initializer xavier_initializer
xavier_initializer_conv2d
""",
    "contrib.slim.losses": """
absolute_difference add_loss compute_weighted_loss cosine_distance get_losses get_regularization_losses get_total_loss
hinge_loss log_loss mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy softmax_cross_entropy
sparse_softmax_cross_entropy
""",
    "contrib.slim.utils": """
OrderedDict collect_named_outputs constant_value convert_collection_to_dict smart_cond
""",
    "data": """
Dataset Iterator
""",
    "debugging": """
Assert assert_equal assert_greater assert_greater_equal assert_integer assert_less assert_less_equal assert_near
assert_negative assert_non_negative assert_non_positive assert_none_equal assert_positive assert_proper_iterable
assert_rank assert_rank_at_least assert_rank_in assert_same_float_dtype assert_scalar assert_type check_numerics
is_non_decreasing is_numeric_tensor is_strictly_increasing
""",
    "distributions": """
Bernoulli Categorical Distribution Normal Uniform kl_divergence
""",
    "dtypes": """
DType as_dtype complex128 complex64 double float16 float32 float64 half int16 int32 int64 int8 resource string uint16
uint32 uint64 uint8 variant
""",
    "errors": """
ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED CancelledError DATA_LOSS DEADLINE_EXCEEDED
DataLossError DeadlineExceededError FAILED_PRECONDITION FailedPreconditionError INTERNAL INVALID_ARGUMENT
InternalError InvalidArgumentError NOT_FOUND NotFoundError OK OUT_OF_RANGE OpError OutOfRangeError PERMISSION_DENIED
PermissionDeniedError RESOURCE_EXHAUSTED ResourceExhaustedError UNAUTHENTICATED UNAVAILABLE UNIMPLEMENTED UNKNOWN
UnauthenticatedError UnavailableError UnimplementedError UnknownError error_code_from_exception_type
exception_type_from_error_code
""",
    "flags": """
DEFINE_alias DEFINE_bool DEFINE_boolean DEFINE_enum DEFINE_float DEFINE_integer DEFINE_list DEFINE_multi_float
DEFINE_multi_integer DEFINE_multi_string DEFINE_string DuplicateFlagError Error FLAGS Flag FlagValues
IllegalFlagValueError UnparsedFlagAccessError mark_flag_as_required mark_flags_as_required
""",
    "gfile": """
Copy DeleteRecursively Exists FastGFile GFile Glob IsDirectory ListDirectory MakeDirs MkDir Open Remove Rename Stat
Walk
""",
    "image": """
ResizeMethod adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation central_crop
convert_image_dtype crop_and_resize crop_to_bounding_box extract_image_patches extract_patches flip_left_right
flip_up_down grayscale_to_rgb hsv_to_rgb image_gradients pad_to_bounding_box per_image_standardization psnr
random_brightness random_contrast random_flip_left_right random_flip_up_down random_hue random_saturation resize
resize_area resize_bicubic resize_bilinear resize_image_with_crop_or_pad resize_image_with_pad resize_images
resize_nearest_neighbor resize_with_crop_or_pad rgb_to_grayscale rgb_to_hsv rgb_to_yiq rgb_to_yuv rot90 sobel_edges
ssim ssim_multiscale total_variation transpose transpose_image yiq_to_rgb yuv_to_rgb
""",
    "initializers": """
constant global_variables glorot_normal glorot_uniform he_normal he_uniform identity lecun_normal lecun_uniform
local_variables ones orthogonal random_normal random_uniform truncated_normal uniform_unit_scaling variables
variance_scaling zeros
""",
    "keras": """
datasets preprocessing
""",
    "layers": """
AveragePooling1D AveragePooling2D AveragePooling3D BatchNormalization Conv1D Conv2D Conv2DTranspose Conv3D
Conv3DTranspose Dense Dropout Flatten InputSpec Layer MaxPooling1D MaxPooling2D MaxPooling3D SeparableConv1D
SeparableConv2D average_pooling1d average_pooling2d average_pooling3d batch_normalization conv1d conv2d
conv2d_transpose conv3d conv3d_transpose dense dropout flatten max_pooling1d max_pooling2d max_pooling3d
separable_conv1d separable_conv2d
""",
    "linalg": """
adjoint band_part cholesky cholesky_solve cross det diag diag_part eigh eigvalsh einsum expm eye global_norm inv
l2_normalize logdet lstsq lu matmul matrix_rank matrix_transpose matvec norm normalize pinv qr set_diag slogdet solve
sqrtm svd tensor_diag tensor_diag_part tensordot trace transpose triangular_solve
""",
    "logging": """
DEBUG ERROR FATAL INFO TaskLevelStatusMessage WARN debug error fatal flush get_verbosity info log log_every_n
log_first_n log_if set_verbosity vlog warn warning
""",
    "losses": """
Reduction absolute_difference add_loss compute_weighted_loss cosine_distance get_losses get_regularization_loss
get_regularization_losses get_total_loss hinge_loss huber_loss log_loss mean_pairwise_squared_error mean_squared_error
sigmoid_cross_entropy softmax_cross_entropy sparse_softmax_cross_entropy
""",
    "math": """
abs accumulate_n acos acosh add add_n angle argmax argmin asin asinh atan atan2 atanh bessel_i0 bessel_i0e bessel_i1
bessel_i1e betainc bincount ceil confusion_matrix conj cos cosh count_nonzero cumprod cumsum cumulative_logsumexp
digamma divide divide_no_nan equal erf erfc exp expm1 floor floordiv floormod greater greater_equal igamma igammac
imag in_top_k invert_permutation is_finite is_inf is_nan is_non_decreasing is_strictly_increasing l2_normalize lbeta
less less_equal lgamma log log1p log_sigmoid log_softmax logical_and logical_not logical_or logical_xor maximum
minimum mod multiply multiply_no_nan negative not_equal polygamma polyval pow real reciprocal reciprocal_no_nan
reduce_all reduce_any reduce_euclidean_norm reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_std
reduce_sum reduce_variance rint round rsqrt scalar_mul segment_max segment_mean segment_min segment_prod segment_sum
sigmoid sign sin sinh softmax softplus softsign sqrt square squared_difference subtract tan tanh top_k truediv
unsorted_segment_max unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n
unsorted_segment_sum xdivy xlogy zero_fraction zeta
""",
    "metrics": """
accuracy auc false_negatives false_positives mean mean_absolute_error mean_squared_error precision recall
root_mean_squared_error true_negatives true_positives
""",
    "nest": """
assert_same_structure flatten is_nested map_structure pack_sequence_as
""",
    "nn": """
atrous_conv2d atrous_conv2d_transpose avg_pool avg_pool1d avg_pool2d avg_pool3d avg_pool_v2
batch_norm_with_global_normalization batch_normalization bias_add bidirectional_dynamic_rnn conv1d conv1d_transpose
conv2d conv2d_backprop_filter conv2d_backprop_input conv2d_transpose conv3d conv3d_backprop_filter conv3d_transpose
convolution crelu ctc_greedy_decoder ctc_loss ctc_loss_v2 depth_to_space depthwise_conv2d depthwise_conv2d_native
dropout dynamic_rnn elu embedding_lookup embedding_lookup_sparse fused_batch_norm in_top_k l2_loss l2_normalize
leaky_relu local_response_normalization log_poisson_loss log_softmax log_uniform_candidate_sampler lrn max_pool
max_pool1d max_pool2d max_pool3d max_pool_v2 max_pool_with_argmax moments nce_loss normalize_moments pool raw_rnn relu
relu6 relu_layer rnn_cell safe_embedding_lookup_sparse sampled_softmax_loss selu separable_conv2d sigmoid
sigmoid_cross_entropy_with_logits softmax softmax_cross_entropy_with_logits softmax_cross_entropy_with_logits_v2
softplus softsign space_to_batch space_to_depth sparse_softmax_cross_entropy_with_logits static_bidirectional_rnn
static_rnn static_state_saving_rnn sufficient_statistics swish tanh top_k uniform_candidate_sampler
weighted_cross_entropy_with_logits weighted_moments xw_plus_b zero_fraction
""",
    "nn.rnn_cell": """
BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUCell LSTMCell LSTMStateTuple MultiRNNCell RNNCell
ResidualWrapper
""",
    "random": """
categorical gamma get_seed multinomial normal poisson set_random_seed shuffle stateless_categorical stateless_normal
stateless_truncated_normal stateless_uniform truncated_normal uniform
""",
    "signal": """
fft fft2d fft3d fftshift ifft ifft2d ifft3d ifftshift irfft irfft2d irfft3d rfft rfft2d rfft3d
""",
    "sparse": """
SparseTensor add concat expand_dims eye fill_empty_rows from_dense mask matmul maximum merge minimum placeholder
reduce_max reduce_max_sparse reduce_sum reduce_sum_sparse reorder reset_shape reshape retain segment_mean
segment_sqrt_n segment_sum slice softmax sparse_dense_matmul split to_dense to_indicator transpose
""",
    "spectral": """
fft fft2d fft3d ifft ifft2d ifft3d irfft irfft2d irfft3d rfft rfft2d rfft3d
""",
    "summary": """
Event FileWriter FileWriterCache SessionLog Summary SummaryDescription TaggedRunMetadata audio get_summary_description
histogram image initialize merge merge_all scalar tensor_summary text
""",
    "test": """
TestCase compute_gradient compute_gradient_error get_temp_dir gpu_device_name is_built_with_cuda is_gpu_available main
""",
    "train": """
AdadeltaOptimizer AdagradDAOptimizer AdagradOptimizer AdamOptimizer CheckpointSaverHook CheckpointSaverListener
ChiefSessionCreator Coordinator ExponentialMovingAverage FeedFnHook FinalOpsHook FtrlOptimizer
GradientDescentOptimizer LoggingTensorHook LooperThread MomentumOptimizer MonitoredSession MonitoredTrainingSession
NanLossDuringTrainingError NanTensorHook NewCheckpointReader Optimizer ProximalAdagradOptimizer
ProximalGradientDescentOptimizer QueueRunner RMSPropOptimizer Saver Scaffold SecondOrStepTimer SessionRunArgs
SessionRunContext SessionRunHook SessionRunValues SingularMonitoredSession StepCounterHook StopAtStepHook
SummarySaverHook add_queue_runner assert_global_step checkpoint_exists cosine_decay cosine_decay_restarts
create_global_step exponential_decay generate_checkpoint_state_proto get_checkpoint_state get_global_step
get_or_create_global_step global_step inverse_time_decay latest_checkpoint linear_cosine_decay list_variables
load_checkpoint load_variable natural_exp_decay noisy_linear_cosine_decay piecewise_constant piecewise_constant_decay
polynomial_decay remove_checkpoint start_queue_runners update_checkpoint_state write_graph
""",
}


def namespace(path: str) -> ModuleType:
    """A namespace, by the way that scripts take: attribute by attribute."""
    found = tf
    for name in path.split(".") if path != "tf" else ():
        found = getattr(found, name)
    return found


@pytest.mark.parametrize("path", NAMES)
def test_a_namespace_has_its_names(path: str) -> None:
    found = namespace(path)
    assert [name for name in NAMES[path].split() if not hasattr(found, name)] == []


def test_import_finds_the_module_that_the_attribute_is() -> None:
    different = [path for path in IMPORTABLE if importlib.import_module(f"autodiff.{path}") is not namespace(path)]
    assert different == []
    assert [path for path in IMPORTABLE if sys.modules[f"autodiff.{path}"] is not namespace(path)] == []


def test_names_are_imported_from_their_namespace() -> None:
    from autodiff.contrib.rnn import LSTMStateTuple
    from autodiff.train import AdamOptimizer
    assert AdamOptimizer is tf.train.AdamOptimizer
    assert LSTMStateTuple is tf.contrib.rnn.LSTMStateTuple


def test_compat_v1_is_the_library_itself() -> None:
    assert tf.compat.v1 is tf


def test_weights_of_unknown_shape_lose_the_axis_that_labels_lose() -> None:
    labels, weights = tf.placeholder(tf.int64), tf.placeholder(tf.float32)
    logits = tf.constant([[0.0, 0.0], [0.0, 0.0], [3.0, 0.0]])
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits, weights)
    with tf.Session() as session:
        found = session.run(loss, {labels: [[0], [1], [0]], weights: [[1.0], [1.0], [0.0]]})
    assert found == pytest.approx(0.6931472)
