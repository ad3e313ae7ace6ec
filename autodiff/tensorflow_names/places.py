"""Which module paths TensorFlow has, and which rooms of autodiff answer for the names of each."""
from __future__ import annotations

from . import six_moves

# Package -> "module room room …; module room …" as in ROOMS; the room `autodiff` is "".
_ROWS = {
    "tensorflow": "python autodiff",
    "tensorflow.python": "autograph python.autograph; client autodiff; data data autodiff; debug debug; "
        "eager python.context python.function autodiff; feature_column feature_column; "
        "framework python.framework_ops autodiff; keras keras; layers layers; lib; ops autodiff math nn linalg; "
        "platform; pywrap_tensorflow train python.tensor_util; saved_model saved_model; summary summary; "
        "tf2 python.tf2; tools; tpu contrib.tpu python.tpu; distribute distribute autodiff; "
        "training train train.moving_averages autodiff; util python.util.decorating",
    "tensorflow.python.client": "session python.client_session autodiff; timeline api.train.hooks.timeline",
    "tensorflow.python.compat": "compat python.compat", "tensorflow.python.data.util": "nest api.common.nest_shallow",
    "tensorflow.python.compiler.xla": "xla python.framework.rewriting",
    "tensorflow.python.grappler": "tf_optimizer python.framework.rewriting",
    "tensorflow.python.eager":
        "test test; backprop python.context python.function api.contrib.eager autodiff",
    "tensorflow.python.framework": "common_shapes python.common_shapes; composite_tensor api.type_specs; "
        "constant_op python.framework.constant_op autodiff; device python.framework.device; "
        "device_spec python.framework.device; dtypes python.framework.dtypes dtypes autodiff; "
        "error_interpolation python.framework.error_interpolation; errors errors; "
        "errors_impl python.framework.errors_impl errors; function python.function; graph_io train; "
        "graph_util graph_util; graph_util_impl graph_util; meta_graph api.saved_graphs.scoped "
        "api.saved_graphs.op_defs train; "
        "tensor_shape python.tensor_shape autodiff; tensor_spec api.type_specs; type_spec api.type_specs; "
        "versions python.versions; random_seed python.random_seed autodiff; registry python.framework.registry; "
        "subscribe python.framework.subscribe; traceable_stack core.site; smart_cond api.control.known_choice; "
        "tensor_util python.tensor_util autodiff; test_util api.test.modes test",
    "tensorflow.python.keras": "engine keras.layers api.variables.layer_base keras; activations keras.activations; "
        "backend keras.backend; callbacks keras.callbacks; initializers keras.initializers; layers keras.layers; "
        "losses keras.losses; metrics keras.metrics; models keras.models; regularizers keras.regularizers; "
        "optimizers keras.optimizers; optimizer_v2 keras.optimizers; testing_utils python.framework.testing_utils; "
        "constraints keras.constraints; datasets keras.datasets; "
        "utils keras.utils keras",
    "tensorflow.python.keras.utils": "tf_utils python.framework_ops", "tensorflow.python.keras.preprocessing":
        "image keras.preprocessing.image; sequence keras.preprocessing.sequence; text keras.preprocessing.text",
    "tensorflow.python.layers": "normalization layers api.layers.normalization; "
        "utils api.control.known_choice python.layer_sizes api.variables.layer_weights",
    "tensorflow.python.lib": "io gfile",
    "tensorflow.python.lib.io": "file_io python.util.file_io; python_io python_io; tf_record python_io",
    "tensorflow.python.ops": "resource_variable_ops python.variables autodiff; "
        "array_ops autodiff math nn linalg core.indexing python.framework.inplace; ctc_ops api.nn.ctc autodiff; "
        "custom_gradient python.custom_gradient autodiff; "
        "distributions distributions api.distributions.transformed; "
        "batch_ops api.control.function api.queues.batches; gen_batch_ops api.control.functional api.queues.batches; "
        "control_flow_ops autodiff api.control.switching api.control.frames api.control.contexts; "
        "cond_v2 python.framework.control_flow_util; control_flow_util python.framework.control_flow_util autodiff; "
        "functional_ops autodiff api.control.functional; gen_functional_ops api.control.functional; "
        "inplace_ops python.framework.inplace; gradient_checker test; gradient_checker_v2 python.gradient_checker_v2; "
        "gradients autodiff; image_ops python.image_ops image autodiff; "
        "image_ops_impl python.image_ops image api.image.quality autodiff; "
        "nn_impl autodiff math nn linalg api.nn.sampled_losses; nn_ops autodiff math nn linalg api.arrays.sorting; "
        "init_ops initializers api.variables.convolution_initializers autodiff; "
        "init_ops_v2 python.version_2 initializers; initializers_ns initializers; linalg linalg autodiff; "
        "linalg_ops linalg autodiff; lookup_ops api.contrib.lookup autodiff; state_ops autodiff python.variables; "
        "losses losses; map_fn autodiff; math_ops python.version_2 autodiff math nn linalg; "
        "metrics metrics; metrics_impl metrics api.metrics.at_k; "
        "weights_broadcast_ops api.common.ranks; confusion_matrix math api.common.ranks; "
        "parsing_ops api.parsing autodiff; parallel_for python.parallel_for; sparse_ops autodiff api.sparse.rearrange; "
        "random_ops random autodiff; rnn nn; rnn_cell nn.rnn_cell; rnn_cell_impl nn.rnn_cell; signal signal; "
        "string_ops api.strings autodiff; resources python.variables; "
        "template api.variables.template autodiff; "
        "variable_scope autodiff python.variables api.variables.eager_store; variables python.variables autodiff",
    "tensorflow.python.ops.distributions": "bijector distributions.bijectors; bijector_impl distributions.bijectors; "
        "identity_bijector distributions.bijectors; kullback_leibler api.distributions.divergences; "
        "special_math api.distributions.special_math; util python.distribution_util",
    "tensorflow.python.ops.linalg": "linear_operator_addition python.framework.linear_operators; "
        "linear_operator_algebra python.framework.linear_operators; "
        "linear_operator_circulant api.linalg.operators.circulant linalg; "
        "linear_operator_toeplitz api.linalg.operators.circulant linalg; "
        "linear_operator_util api.linalg.operators.support",
    "tensorflow.python.platform": "app app; flags flags; gfile gfile; googletest python.googletest test; test test; "
        "benchmark test; tf_logging logging",
    "tensorflow.python.saved_model": "builder saved_model.builder api.saved_model.builder; "
        "constants saved_model.constants; main_op api.saved_model.main_op; loader saved_model api.saved_model.loader; "
        "loader_impl saved_model api.saved_model.loader; "
        "signature_def_utils saved_model api.saved_model.signature_def_utils; "
        "signature_def_utils_impl saved_model api.saved_model.signature_def_utils; "
        "utils saved_model api.saved_model.utils; utils_impl saved_model api.saved_model.utils; "
        "signature_constants saved_model.signature_constants; tag_constants saved_model.tag_constants",
    "tensorflow.python.summary": "summary_iterator train",
    "tensorflow.python.tools": "inspect_checkpoint api.train.inspect_checkpoint",
    "tensorflow.contrib.tpu": "python contrib.tpu python.tpu",
    "tensorflow.python.training": "gen_training_ops python.raw_ops; training_ops python.raw_ops; "
        "training_util api.train.global_step train autodiff; "
        "tracking python.variables train api.variables.trackable api.train.objects.object_graph autodiff; "
        "checkpoint_management train api.train.checkpoints; "
        "checkpoint_utils train api.train.checkpoints; "
        "monitored_session api.train.sessions.monitored api.train.sessions.wrapped train autodiff; "
        "saver train api.train.saver api.train.saved_variables api.train.checkpoints; "
        "checkpoint_ops api.train.warm_start; input train api.train.inputs; warm_starting_util api.train.warm_start",
    "tensorflow.python.util": "tf_contextlib python.util.decorators; tf_decorator python.util.decorators; "
        "tf_inspect python.util.signatures; deprecation python.util.deprecation; compat compat python.util.compat; "
        "dispatch python.util.dispatch; nest api.common.nest_shallow"}
# What `keras` has of its own, and modules that it was divided into.
_KERAS = {"keras.engine": "layers topology training input_layer", "keras.layers": "advanced_activations convolutional "
          "convolutional_recurrent core cudnn_recurrent embeddings local merge noise normalization pooling recurrent "
          "wrappers", "keras.utils": "np_utils generic_utils data_utils"}
# Path -> rooms that are searched for its names, in this order. "": autodiff itself; "api.x" and "python.x" are modules
# of autodiff and of this folder, "stdlib.x" of Python. A path stands for all that is below it, but below `tensorflow`
# and `tensorflow.contrib` a name is found by itself.
ROOMS: dict[str, tuple[str, ...]] = {
    "keras": ("tensorflow_names.keras", "tensorflow_names.keras.models", "keras"),
    "keras.engine": ("tensorflow_names.keras.models", "tensorflow_names.keras.layers", "keras.layers", "keras"),
    "keras.objectives": ("keras.losses",),
    **{f"keras.{room}": (f"tensorflow_names.keras.{room}", f"keras.{room}") for room in (
        "constraints", "layers", "models", "optimizers")},
    "absl": (), "absl.app": ("app",), "absl.flags": ("flags",), "absl.logging": ("logging",),
    "google": (), "google.protobuf": (), "google.protobuf.any_pb2": ("api.messages",),
    "google.protobuf.json_format": ("tensorflow_names.json_format",),
    "google.protobuf.message": ("tensorflow_names.text_format",),
    "google.protobuf.text_format": ("tensorflow_names.text_format",), "six": ("tensorflow_names.six",),
    "six.moves": ("tensorflow_names.six_moves",),
    **{f"six.moves.{name}": (f"stdlib.{module}",) for name, module in six_moves.MODULES.items()},
    "tensorflow": ("",), "tensorflow.compat": ("compat",), "tensorflow.compat.v1": ("",),
    "tensorflow.compat.v2": ("python.compat_v2", ""), "tensorflow.core": (),
    **{f"tensorflow.core.{room}": ("api.messages", "") for room in ("example", "framework", "lib", "protobuf", "util")},
    "tensorflow.core.protobuf.rewriter_config_pb2": ("runtime.config",),
    "tensorflow.core.lib.core.error_codes_pb2": ("python.framework.errors_impl",),
    "tensorflow.core.protobuf.config_pb2": ("",),
    "tensorflow.core.protobuf.debug_pb2": ("runtime.config",), "tensorflow.examples": (),
    "tensorflow.examples.tutorials": (), "tensorflow.examples.tutorials.mnist": ("mnist",),
    "tensorflow.examples.tutorials.mnist.input_data": ("mnist",), "tensorflow.contrib.eager.python": ("contrib.eager",),
    "tensorflow.contrib.framework.python": ("contrib.framework", ""),
    "tensorflow.contrib.layers.python": ("contrib.layers",),
    "tensorflow.contrib.losses.python.metric_learning": ("contrib.losses.metric_learning",),
    "tensorflow.contrib.learn.python.learn.datasets": ("mnist",),
    "tensorflow.contrib.rnn.python": ("contrib.rnn", "nn.rnn_cell"),
    **{f"tensorflow.contrib.{room}.python": (f"contrib.{room}",) for room in (
        "legacy_seq2seq", "losses", "opt", "seq2seq")},
    **{f"{package}.{name}": tuple("" if room == "autodiff" else room for room in rooms)
       for package, rows in _ROWS.items() for name, *rooms in map(str.split, rows.split(";"))}}
ROOMS.update({f"{package}.{name}": ROOMS.get(package, (package,)) for package, names in _KERAS.items()
              for name in names.split()})

# Package -> its modules: those without rooms of their own have the package's.
_MODULES = {
    "tensorflow.compat": "v1 v2", "tensorflow.python.client": "client_lib device_lib session timeline",
    "tensorflow.python.data": "ops util experimental",
    "tensorflow.python.data.ops": "dataset_ops iterator_ops optional_ops readers",
    "tensorflow.python.distribute": "distribute_lib distribution_strategy_context reduce_util values",
    "tensorflow.python.eager": "backprop context core def_function function tape test wrap_function",
    "tensorflow.python.framework": "common_shapes composite_tensor config constant_op device device_spec dtypes "
        "error_interpolation errors errors_impl func_graph function graph_io graph_util graph_util_impl importer "
        "indexed_slices meta_graph op_def_registry ops random_seed registry smart_cond sparse_tensor subscribe "
        "tensor_like tensor_shape tensor_spec tensor_util test_ops test_util traceable_stack type_spec versions",
    "tensorflow.python.keras": "activations backend engine initializers layers losses optimizers regularizers utils",
    "tensorflow.python.keras.engine": "base_layer base_layer_utils input_spec network training",
    "tensorflow.python.layers": "base convolutional core layers normalization pooling utils",
    "tensorflow.python.ops":
        "array_grad array_ops batch_ops bitwise_ops candidate_sampling_ops check_ops clip_ops cond_v2 confusion_matrix "
        "control_flow_grad control_flow_ops control_flow_util control_flow_util_v2 control_flow_v2_toggles ctc_ops "
        "custom_gradient data_flow_grad data_flow_ops distributions embedding_ops functional_ops gradient_checker "
        "gradient_checker_v2 gradients gradients_impl gradients_util histogram_ops image_grad image_ops image_ops_impl "
        "init_ops init_ops_v2 initializers_ns inplace_ops io_ops linalg linalg_grad linalg_ops linalg_ops_impl "
        "list_ops logging_ops lookup_ops losses manip_grad manip_ops map_fn math_grad math_ops metrics metrics_impl nn "
        "nn_grad nn_impl nn_ops numerics parallel_for parsing_ops partitioned_variables ragged random_grad random_ops "
        "resource_variable_ops resources rnn rnn_cell rnn_cell_impl rnn_grad script_ops session_ops sets signal "
        "sort_ops sparse_grad sparse_ops special_math_ops standard_ops state_grad state_ops stateless_random_ops "
        "string_ops summary_op_util summary_ops_v2 template tensor_array_grad tensor_array_ops "
        "unconnected_gradients variable_scope variables weights_broadcast_ops while_v2",
    "tensorflow.python.ops.distributions": "bernoulli beta bijector bijector_impl categorical dirichlet "
        "dirichlet_multinomial distribution distributions exponential gamma identity_bijector kullback_leibler laplace "
        "multinomial normal special_math student_t transformed_distribution uniform util",
    "tensorflow.python.ops.linalg": "linalg linalg_impl linear_operator linear_operator_algebra "
        "linear_operator_block_diag linear_operator_composition linear_operator_diag linear_operator_full_matrix "
        "linear_operator_identity linear_operator_kronecker linear_operator_low_rank_update "
        "linear_operator_lower_triangular linear_operator_util linear_operator_zeros",
    "tensorflow.python.ops.losses": "loss_reduction losses losses_impl util",
    "tensorflow.python.ops.parallel_for": "control_flow_ops gradients pfor",
    "tensorflow.python.ops.signal":
        "dct_ops fft_ops mel_ops mfcc_ops reconstruction_ops shape_ops signal spectral_ops util_ops window_ops",
    "tensorflow.python.platform": "app benchmark flags gfile googletest resource_loader sysconfig test tf_logging",
    "tensorflow.python.saved_model": "builder builder_impl constants loader loader_impl main_op saved_model "
        "signature_constants signature_def_utils simple_save tag_constants utils utils_impl",
    "tensorflow.python.summary": "plugin_asset summary summary_iterator writer",
    "tensorflow.python.summary.writer": "event_file_writer writer writer_cache",
    "tensorflow.python.tools": "freeze_graph inspect_checkpoint optimize_for_inference_lib",
    "tensorflow.python.tpu": "tpu tpu_config tpu_context tpu_embedding tpu_estimator tpu_function tpu_optimizer",
    "tensorflow.python.training": "adadelta adagrad adagrad_da adam basic_loops basic_session_run_hooks "
        "checkpoint_management checkpoint_ops checkpoint_utils coordinator device_setter distribution_strategy_context "
        "evaluation experimental ftrl gen_training_ops gradient_descent input learning_rate_decay momentum "
        "monitored_session moving_averages optimizer proximal_adagrad proximal_gradient_descent queue_runner "
        "queue_runner_impl rmsprop saver saving server_lib session_manager session_run_hook slot_creator summary_io "
        "supervisor sync_replicas_optimizer tracking training training_ops training_util warm_starting_util",
    "tensorflow.python.training.tracking": "base data_structures tracking util",
    "tensorflow.python.util": "all_util compat deprecation dispatch function_utils keyword_args lazy_loader lock_util "
        "nest object_identity tf_contextlib tf_decorator tf_export tf_inspect tf_should_use tf_stack"}
_PACKAGES = (  # of which a module may be imported whatever its name: what it has is asked for when it is used
    "autograph autograph.converters autograph.core autograph.impl autograph.pyct autograph.pyct.common_transformers "
    "autograph.utils client compat compiler compiler.xla data "
    "data.experimental data.experimental.ops data.kernel_tests data.ops data.util debug debug.lib distribute eager "
    "feature_column framework grappler keras keras.applications keras.engine keras.layers keras.mixed_precision "
    "keras.optimizer_v2 keras.preprocessing keras.saving keras.utils kernel_tests layers lib.io module ops "
    "ops.distributions ops.linalg "
    "ops.losses ops.parallel_for ops.ragged ops.signal platform profiler saved_model saved_model.model_utils summary "
    "summary.writer tools tpu tpu.ops training training.experimental training.saving training.tracking user_ops util")
PACKAGES = frozenset(f"tensorflow.python.{name}" for name in _PACKAGES.split())
MODULES = frozenset({*ROOMS, *_MODULES, *(f"{package}.{name}" for package, names in _MODULES.items()
                                          for name in names.split())})


def is_module(path: str) -> bool:
    """Whether TensorFlow has a module of this path: of the generated ones, `gen_nn_ops`, it has one for each family."""
    package, _, name = path.rpartition(".")
    return path in MODULES or package == "tensorflow.python.ops" and name.startswith("gen_") and name.endswith("_ops")


def may_be_imported(path: str) -> bool:
    """Whether this is a module of TensorFlow's, or has a name that one may have."""
    package, _, name = path.rpartition(".")
    return is_module(path) or path in PACKAGES or package in PACKAGES and name.islower()


def place_of(path: str) -> str:
    """The longest path with rooms that this one is, or is below of."""
    while path not in ROOMS:
        path = path.rpartition(".")[0]
    return path
