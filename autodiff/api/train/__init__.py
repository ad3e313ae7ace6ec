"""tf.train: optimizers, schedules, moving averages, the global step; checkpoints; monitored sessions and hooks.

The namespace of training: graph is built here, files are written by autodiff/files. Start with optimizer.py.
"""

from ..common.unsupported import refusing
from ..file_writer import summary_iterator
from ..messages import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SaverDef,
    SequenceExample,
)
from .adadelta import AdadeltaOptimizer
from .adagrad import AdagradOptimizer
from .adagrad_da import AdagradDAOptimizer
from .adam import AdamOptimizer
from .checkpoint_state import (
    CheckpointState,
    generate_checkpoint_state_proto,
    get_checkpoint_state,
    latest_checkpoint,
    update_checkpoint_state,
)
from .checkpoint_waits import checkpoints_iterator
from .checkpoints import (
    NewCheckpointReader,
    checkpoint_exists,
    list_variables,
    load_checkpoint,
    load_variable,
    remove_checkpoint,
)
from .cluster import ClusterSpec, Server, replica_device_setter
from .coordinator import Coordinator, LooperThread, QueueRunner, add_queue_runner, start_queue_runners
from .ftrl import FtrlOptimizer
from .global_step import assert_global_step, create_global_step, get_global_step, get_or_create_global_step, global_step
from .gradient_descent import GradientDescentOptimizer
from .hooks import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StepCounterHook,
    StopAtStepHook,
    SummarySaverHook,
)
from .inputs import (
    batch,
    batch_join,
    input_producer,
    limit_epochs,
    match_filenames_once,
    maybe_batch,
    maybe_batch_join,
    maybe_shuffle_batch,
    maybe_shuffle_batch_join,
    range_input_producer,
    shuffle_batch,
    shuffle_batch_join,
    slice_input_producer,
    string_input_producer,
)
from .momentum import MomentumOptimizer
from .moving_averages import ExponentialMovingAverage
from .optimizer import Optimizer
from .proximal import ProximalAdagradOptimizer, ProximalGradientDescentOptimizer
from .rmsprop import RMSPropOptimizer
from .saver import Saver, export_meta_graph, import_meta_graph, write_graph
from .schedules import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    noisy_linear_cosine_decay,
    piecewise_constant,
    piecewise_constant_decay,
    polynomial_decay,
)
from .sessions import (
    ChiefSessionCreator,
    MonitoredSession,
    MonitoredTrainingSession,
    Scaffold,
    SessionManager,
    SingularMonitoredSession,
    WorkerSessionCreator,
)
from .warm_start import init_from_checkpoint, warm_start

__all__ = ["AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradOptimizer", "AdamOptimizer", "BytesList",
           "CheckpointSaverHook", "CheckpointSaverListener", "CheckpointState", "ChiefSessionCreator", "ClusterSpec",
           "Coordinator", "Example", "ExponentialMovingAverage", "Feature", "FeatureList", "FeatureLists", "Features",
           "FeedFnHook", "FinalOpsHook", "FloatList", "FtrlOptimizer", "GlobalStepWaiterHook",
           "GradientDescentOptimizer", "Int64List", "LoggingTensorHook", "LooperThread", "MomentumOptimizer",
           "MonitoredSession", "MonitoredTrainingSession", "NanLossDuringTrainingError", "NanTensorHook",
           "NewCheckpointReader", "Optimizer", "ProximalAdagradOptimizer", "ProximalGradientDescentOptimizer",
           "QueueRunner", "RMSPropOptimizer", "Saver", "SaverDef", "Scaffold", "Server", "SecondOrStepTimer",
           "SequenceExample", "SessionManager", "SessionRunArgs", "SessionRunContext", "SessionRunHook",
           "SessionRunValues", "SingularMonitoredSession", "StepCounterHook", "StopAtStepHook", "SummarySaverHook",
           "WorkerSessionCreator", "add_queue_runner", "assert_global_step", "batch", "batch_join", "checkpoint_exists",
           "checkpoints_iterator", "cosine_decay", "cosine_decay_restarts", "create_global_step", "exponential_decay",
           "export_meta_graph", "generate_checkpoint_state_proto", "get_checkpoint_state", "get_global_step",
           "get_or_create_global_step", "global_step", "import_meta_graph", "init_from_checkpoint", "input_producer",
           "inverse_time_decay", "latest_checkpoint", "limit_epochs", "linear_cosine_decay", "list_variables",
           "load_checkpoint", "load_variable", "match_filenames_once", "maybe_batch", "maybe_batch_join",
           "maybe_shuffle_batch", "maybe_shuffle_batch_join", "natural_exp_decay", "noisy_linear_cosine_decay",
           "piecewise_constant", "piecewise_constant_decay", "polynomial_decay", "range_input_producer",
           "remove_checkpoint", "replica_device_setter", "shuffle_batch", "shuffle_batch_join", "slice_input_producer",
           "start_queue_runners", "string_input_producer", "summary_iterator", "update_checkpoint_state", "warm_start",
           "write_graph"]

__getattr__ = refusing("tf.train", __name__)
