"""Names: each that TensorFlow 1 scripts use is supported, or refused with advice, and always in one way."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from autodiff.errors import UnsupportedError

import autodiff as tf
from autodiff.api.common.unsupported import ADVICE, advice
from autodiff.tensorflow_names.alias import standing_in

from ..expect import expect_none

# Names below `tf.`, by a count over public scripts: the first list unblocks two thirds of them, both nine tenths.
TIER_1 = """
AUTO_REUSE ConfigProto DType Dimension GPUOptions Graph GraphKeys InteractiveSession Operation Session Tensor
TensorShape Variable VariableScope __version__ abs accumulate_n add add_n add_to_collection all_variables arg_max
arg_min argmax argmin assign assign_add assign_sub bool boolean_mask cast ceil clip_by_average_norm
clip_by_global_norm clip_by_norm clip_by_value concat cond constant constant_initializer control_dependencies
convert_to_tensor cos cumsum device diag disable_eager_execution disable_v2_behavior div divide dynamic_stitch equal
exp expand_dims eye fill float16 float32 float64 floor floor_div floordiv gather gather_nd get_collection
get_default_graph get_default_session get_seed get_variable get_variable_scope global_norm global_variables
global_variables_initializer glorot_normal_initializer glorot_uniform_initializer gradients greater greater_equal
group identity initialize_all_variables initialize_local_variables initialize_variables int16 int32 int64 int8
invert_permutation is_inf is_nan less less_equal lin_space linspace local_variables local_variables_initializer log
log1p logical_and logical_not logical_or map_fn matmul maximum minimum mod multinomial multiply name_scope negative
no_op norm not_equal one_hot ones ones_initializer ones_like orthogonal_initializer pad placeholder
placeholder_with_default pow random_normal random_normal_initializer random_shuffle random_uniform
random_uniform_initializer range rank reciprocal reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean
reduce_min reduce_prod reduce_sum report_uninitialized_variables reset_default_graph reshape reverse round rsqrt scan
set_random_seed shape sigmoid sign sin size slice split sqrt square squared_difference squeeze stack stop_gradient
strided_slice string subtract tan tanh tensordot tile to_double to_float to_int32 to_int64 trainable_variables
transpose truediv truncated_normal truncated_normal_initializer tuple uint8 uniform_unit_scaling_initializer unstack
variable_scope variables_initializer variance_scaling_initializer where while_loop zeros zeros_initializer zeros_like
app.flags.DEFINE_bool app.flags.DEFINE_boolean app.flags.DEFINE_float app.flags.DEFINE_integer app.flags.DEFINE_string
app.flags.FLAGS app.run errors.FailedPreconditionError errors.InvalidArgumentError errors.NotFoundError
errors.OutOfRangeError flags.DEFINE_bool flags.DEFINE_boolean flags.DEFINE_float flags.DEFINE_integer
flags.DEFINE_string flags.FLAGS gfile.Exists gfile.GFile gfile.MakeDirs logging.ERROR logging.INFO logging.WARN
logging.info logging.set_verbosity logging.warning
contrib.layers.apply_regularization contrib.layers.batch_norm contrib.layers.conv2d contrib.layers.convolution2d
contrib.layers.dropout contrib.layers.flatten contrib.layers.fully_connected contrib.layers.l2_regularizer
contrib.layers.layer_norm contrib.layers.variance_scaling_initializer contrib.layers.xavier_initializer
contrib.rnn.BasicLSTMCell contrib.rnn.BasicRNNCell contrib.rnn.DropoutWrapper contrib.rnn.GRUCell contrib.rnn.LSTMCell
contrib.rnn.LSTMStateTuple contrib.rnn.MultiRNNCell contrib.rnn.RNNCell contrib.rnn.static_bidirectional_rnn
contrib.rnn.static_rnn
initializers.global_variables initializers.variables
layers.average_pooling2d layers.batch_normalization layers.conv1d layers.conv2d layers.conv2d_transpose layers.dense
layers.dropout layers.flatten layers.max_pooling2d
losses.absolute_difference losses.add_loss losses.get_regularization_loss losses.get_total_loss losses.huber_loss
losses.mean_squared_error losses.sigmoid_cross_entropy losses.softmax_cross_entropy
losses.sparse_softmax_cross_entropy
nn.avg_pool nn.batch_normalization nn.bias_add nn.bidirectional_dynamic_rnn nn.conv1d nn.conv2d nn.conv2d_transpose
nn.dropout nn.dynamic_rnn nn.elu nn.embedding_lookup nn.in_top_k nn.l2_loss nn.l2_normalize nn.leaky_relu
nn.local_response_normalization nn.log_softmax nn.lrn nn.max_pool nn.moments nn.nce_loss nn.relu nn.relu6
nn.sampled_softmax_loss nn.selu nn.sigmoid nn.sigmoid_cross_entropy_with_logits nn.softmax
nn.softmax_cross_entropy_with_logits nn.softmax_cross_entropy_with_logits_v2 nn.softplus nn.softsign
nn.sparse_softmax_cross_entropy_with_logits nn.static_bidirectional_rnn nn.static_rnn nn.tanh nn.top_k
nn.weighted_cross_entropy_with_logits nn.xw_plus_b nn.zero_fraction
nn.rnn_cell.BasicLSTMCell nn.rnn_cell.BasicRNNCell nn.rnn_cell.DropoutWrapper nn.rnn_cell.GRUCell nn.rnn_cell.LSTMCell
nn.rnn_cell.LSTMStateTuple nn.rnn_cell.MultiRNNCell nn.rnn_cell.RNNCell
random.normal random.set_random_seed random.shuffle random.truncated_normal random.uniform
summary.FileWriter summary.histogram summary.image summary.merge summary.merge_all summary.scalar
python.framework.ops.reset_default_graph
train.AdadeltaOptimizer train.AdagradOptimizer train.AdamOptimizer train.Coordinator train.ExponentialMovingAverage
train.FtrlOptimizer train.GradientDescentOptimizer train.MomentumOptimizer train.Optimizer train.RMSPropOptimizer
train.Saver train.checkpoint_exists train.create_global_step train.exponential_decay train.get_checkpoint_state
train.get_global_step train.get_or_create_global_step train.global_step train.latest_checkpoint
train.piecewise_constant train.polynomial_decay
""".split()

TIER_2 = """
Assert GraphDef Print RegisterGradient RunMetadata RunOptions SparseTensor SparseTensorValue Summary TensorArray acos
as_dtype asin assert_less_equal atan atan2 batch_to_space bincount case check_numerics cholesky confusion_matrix cosh
cumprod custom_gradient depth_to_space diag_part digamma einsum erf foldl foldr hessians histogram_fixed_width
import_graph_def lbeta lgamma logical_xor matrix_band_part matrix_determinant matrix_diag matrix_diag_part
matrix_inverse matrix_solve matrix_transpose meshgrid polygamma py_func random_crop rint scatter_add
scatter_sub scatter_update segment_sum self_adjoint_eig sequence_mask sinh space_to_batch space_to_depth
sparse_placeholder sparse_reorder sparse_retain sparse_softmax sparse_tensor_dense_matmul sparse_tensor_to_dense
sparse_to_dense svd tables_initializer trace unique unsorted_segment_sum where_v2
compat.as_bytes compat.as_str compat.as_text errors.CancelledError flags.mark_flag_as_required gfile.DeleteRecursively
gfile.FastGFile gfile.Glob gfile.ListDirectory logging.debug logging.error logging.fatal logging.warn test.TestCase
test.main
contrib.distributions.Categorical contrib.distributions.MultivariateNormalDiag contrib.distributions.Normal
contrib.framework.add_arg_scope contrib.framework.arg_scope contrib.framework.get_global_step
contrib.layers.avg_pool2d contrib.layers.conv2d_transpose contrib.layers.embed_sequence contrib.layers.instance_norm
contrib.layers.l1_l2_regularizer contrib.layers.l1_regularizer contrib.layers.linear contrib.layers.max_pool2d
contrib.layers.one_hot_encoding contrib.layers.optimize_loss contrib.layers.repeat contrib.layers.summarize_activation
contrib.legacy_seq2seq.rnn_decoder contrib.legacy_seq2seq.sequence_loss
contrib.legacy_seq2seq.sequence_loss_by_example
contrib.rnn.LSTMBlockCell contrib.rnn.LayerNormBasicLSTMCell contrib.rnn.NASCell contrib.rnn.OutputProjectionWrapper
contrib.seq2seq.AttentionWrapper contrib.seq2seq.BahdanauAttention contrib.seq2seq.BasicDecoder
contrib.seq2seq.GreedyEmbeddingHelper contrib.seq2seq.LuongAttention contrib.seq2seq.TrainingHelper
contrib.seq2seq.dynamic_decode contrib.seq2seq.sequence_loss
contrib.slim.get_variables contrib.slim.l2_regularizer contrib.slim.model_analyzer.analyze_vars
contrib.tensorboard.plugins.projector.ProjectorConfig contrib.tensorboard.plugins.projector.visualize_embeddings
data.Dataset data.Iterator
distributions.Bernoulli distributions.Categorical distributions.Normal distributions.kl_divergence
image.ResizeMethod image.crop_to_bounding_box image.flip_left_right image.per_image_standardization
image.random_brightness image.random_contrast image.random_flip_left_right image.random_hue image.random_saturation
image.resize_bilinear image.resize_image_with_crop_or_pad image.resize_images image.resize_nearest_neighbor
image.rgb_to_grayscale
keras.datasets.mnist.load_data keras.preprocessing.sequence.pad_sequences
layers.Conv2D layers.Dense layers.conv3d layers.max_pooling1d layers.max_pooling3d layers.separable_conv2d
metrics.accuracy metrics.mean
nn.atrous_conv2d nn.batch_norm_with_global_normalization nn.conv3d nn.crelu nn.ctc_loss nn.depth_to_space
nn.depthwise_conv2d nn.embedding_lookup_sparse nn.fused_batch_norm nn.max_pool_with_argmax nn.raw_rnn
nn.separable_conv2d nn.space_to_depth
summary.FileWriterCache summary.text
python.layers.core.Dense
train.MonitoredTrainingSession train.ProximalGradientDescentOptimizer train.Scaffold train.SessionRunHook
train.SingularMonitoredSession train.StopAtStepHook train.cosine_decay train.import_meta_graph
train.inverse_time_decay train.natural_exp_decay train.write_graph
""".split()


def found(name: str) -> Any:
    """What a name below `tf.` stands for. Raises UnsupportedError."""
    if name.startswith("python."):
        with standing_in(shadow=True):
            module, _, last = name.rpartition(".")
            return getattr(import_module(f"tensorflow.{module}"), last)
    value: Any = tf
    for part in name.split("."):
        value = getattr(value, part)
    return value


def is_supported(name: str) -> bool:
    try:
        found(name)
    except AttributeError:
        return False
    return True


def test_every_name_of_the_first_tier_is_supported() -> None:
    missing = [name for name in TIER_1 if not is_supported(name)]
    print(f"\nserved: {len(TIER_1) - len(missing)} of {len(TIER_1)} names of tier 1")
    expect_none(missing)


def test_names_of_the_second_tier_are_supported_or_refused_with_advice() -> None:
    missing = [name for name in TIER_2 if not is_supported(name)]
    print(f"\nserved: {len(TIER_2) - len(missing)} of {len(TIER_2)} names of tier 2; refused: {' '.join(missing)}")
    expect_none([name for name in missing if not advice(name)])


def test_advice_is_not_given_for_names_that_are_supported() -> None:
    expect_none([name for name in ADVICE if is_supported(name) and not isinstance(found(name), ModuleType)])


BELOW = {"errors", "nest"}  # rooms that refusals themselves are made of, or that TensorFlow does not have at that place


@pytest.mark.parametrize("room", sorted(set(tf.NAMESPACES) - BELOW))
def test_every_room_refuses_what_it_does_not_have(room: str) -> None:
    with pytest.raises(UnsupportedError, match="no_such_name"):
        found(f"{room}.no_such_name")


@pytest.mark.parametrize(("name", "text"), [
    ("reduce_maen", "gradbg does not support the TensorFlow name 'tf.reduce_maen'\ndid you mean 'reduce_mean'"),
    ("nn.sofmax", "gradbg does not support the TensorFlow name 'tf.nn.sofmax'\ndid you mean 'softmax'"),
    ("compat.v2", "tf.compat.v1, which is tf itself"),
    ("math.nonsense", "gradbg does not support the TensorFlow name 'tf.math.nonsense'"),
])
def test_a_missing_name_says_so_and_what_is_near(name: str, text: str) -> None:
    with pytest.raises(AttributeError) as caught:
        found(name)
    assert text in str(caught.value)
    assert caught.type is UnsupportedError


def test_the_longest_advice_counts() -> None:
    assert advice("contrib.opt.ScipyOptimizerInterface") == ADVICE["contrib.opt"]
    assert advice("parse_single_example") == ADVICE["parse"]
    assert advice("apply") == ""


def test_getattr_with_a_default_and_hasattr_work() -> None:
    assert getattr(tf, "no_such_name", None) is None
    assert not hasattr(tf.nn, "no_such_name")
    assert not hasattr(tf, "__wrapped__")


def test_dir_has_rooms_and_no_modules_of_the_house() -> None:
    names = dir(tf)
    assert {"nn", "train", "reduce_mean", "GraphDef"} <= set(names)
    assert not {"op", "graph", "backprop", "typing", "unsupported", "wrong_arguments", "api", "core"} & set(names)


def test_importing_loads_neither_ops_nor_rooms_that_scripts_enter_later() -> None:
    code = "import autodiff, sys; print(*sorted(m for m in sys.modules if m.startswith('autodiff.')))"
    read = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True,
                          check=True, timeout=60).stdout.split()
    kept_for_later = ("autodiff.api", "autodiff.debug", "autodiff.files", "autodiff.runtime",
                      "autodiff.tensorflow_names")
    loaded = {"autodiff.api", "autodiff.api.common", "autodiff.api.common.public_paths",
              "autodiff.api.common.unsupported", "autodiff.api.common.wrong_arguments"}
    assert {name for name in read if name.startswith(kept_for_later)} == loaded
    families = {name.split(".")[2] for name in read if name.startswith("autodiff.ops.")}
    assert families == {"common", "control", "places"}, "branches and loops have rules in autodiff/gradients"


def test_default_names_of_what_functions_give() -> None:
    with tf.Graph().as_default():
        x, m = tf.constant([1.0, 2.0]), tf.constant([[1.0, 2.0], [3.0, 4.0]])
        given = [tf.nn.in_top_k(m, [0, 1], 1), tf.nn.zero_fraction(x), tf.multinomial(m, 2),
                 tf.random.categorical(m, 2),
                 tf.nn.softmax_cross_entropy_with_logits_v2(labels=m, logits=m), tf.eye(2), tf.eye(2, 3),
                 tf.clip_by_global_norm([x], 1.0)[0][0], tf.math.divide_no_nan(x, x), tf.math.reciprocal_no_nan(x)]
        assert [t.name for t in given] == [
            "in_top_k/InTopKV2:0", "zero_fraction/fraction:0", "multinomial/Multinomial:0", "categorical/Multinomial:0",
            "softmax_cross_entropy_with_logits/Reshape_2:0", "eye/diag:0", "eye_1/set_diag:0",
            "clip_by_global_norm/clip_by_global_norm/_0:0", "div_no_nan:0", "reciprocal_no_nan:0"]
        assert tf.segment_sum(x, [0, 1]).shape.as_list() == [None]
        assert (tf.divide(7, 2), tf.divide(x, 2).name, tf.divide(7, 2, name="d").name) == (3.5, "truediv:0", "d:0")
        shape = tf.TensorShape([None, 3, 4])
        assert shape.most_specific_compatible_shape([2, 3, 5]).as_list() == [None, 3, None]
        assert shape.most_specific_compatible_shape([3]).ndims is None
        assert tf.is_tensor(x) and tf.is_tensor(tf.Variable(1.0)) and not tf.is_tensor(3.0)


def test_arguments_have_tensorflows_names() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.math.softplus(features=[1.0])
        assert tf.math.softsign(features=x).dtype == tf.float32
        assert tf.zeta(x=2.0, q=3.0).shape.ndims == 0
        assert tf.convert_to_tensor(1, dtype_hint=tf.float32).dtype == tf.as_dtype(type_value="float32")
        assert tf.random.poisson([1.0, 2.0], [3]).shape.as_list() == [3, 2]
        assert graph.as_graph_element(obj=x) is x and graph.is_fetchable(tensor_or_op=x)


def test_flipped_cross_entropies_take_logits_first():
    logits, labels = [[1.0, 2.0]], [[0.0, 1.0]]
    nn = tf.contrib.nn
    pairs = [(nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels),
              tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)),
             (nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, labels),
              tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)),
             (nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, [1]),
              tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=logits))]
    with tf.Session() as session:
        for flipped, known in session.run(pairs):
            assert (flipped == known).all()
