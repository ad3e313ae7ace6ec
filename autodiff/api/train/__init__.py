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
from . import checkpoint_state, checkpoints, coordinator, experimental, hooks, inputs, schedules, sessions
from .adaptive import (
    AdadeltaOptimizer,
    AdagradDAOptimizer,
    AdagradOptimizer,
    AdamOptimizer,
    FtrlOptimizer,
    ProximalAdagradOptimizer,
    RMSPropOptimizer,
)
from .checkpoint_state import *
from .checkpoints import *
from .checkpoints import checkpoints_iterator
from .cluster import ClusterSpec, Server, replica_device_setter
from .coordinator import Coordinator, LooperThread, QueueRunner, add_queue_runner, start_queue_runners
from .global_step import assert_global_step, create_global_step, get_global_step, get_or_create_global_step, global_step
from .gradient_descent import GradientDescentOptimizer, MomentumOptimizer, ProximalGradientDescentOptimizer
from .hooks import *
from .inputs import *
from .moving_averages import ExponentialMovingAverage
from .objects import Checkpoint, CheckpointManager
from .optimizer import Optimizer
from .saver import Saver, export_meta_graph, import_meta_graph, write_graph
from .schedules import *
from .sessions import *
from .warm_start import VocabInfo, init_from_checkpoint, warm_start

__all__ = ["AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradOptimizer", "AdamOptimizer", "BytesList", "Checkpoint",
           "CheckpointManager", "ClusterSpec", "Coordinator", "Example", "ExponentialMovingAverage", "Feature",
           "FeatureList", "FeatureLists", "Features", "FloatList", "FtrlOptimizer", "GradientDescentOptimizer",
           "Int64List", "LooperThread", "MomentumOptimizer", "Optimizer", "ProximalAdagradOptimizer",
           "ProximalGradientDescentOptimizer", "QueueRunner", "RMSPropOptimizer", "Saver", "SaverDef", "Server",
           "SequenceExample", "VocabInfo", "add_queue_runner", "assert_global_step", "checkpoints_iterator",
           "create_global_step", "export_meta_graph", "get_global_step", "get_or_create_global_step", "global_step",
           "import_meta_graph", "init_from_checkpoint", "replica_device_setter", "start_queue_runners",
           "summary_iterator", "warm_start", "write_graph", *checkpoint_state.__all__, *checkpoints.__all__,
           *hooks.__all__, *inputs.__all__, *schedules.__all__, *sessions.__all__]

queue_runner = coordinator  # tf.train.queue_runner.QueueRunner

__getattr__ = refusing("tf.train", __name__)
