"""tf.saved_model: a model with its variables, assets and signatures in a directory, written and loaded.

It adds the directory to what saved_graphs/ knows of graphs and train/ of variables. Start with loader.py.
"""

from ..common.unsupported import refusing
from . import builder, constants, loader, main_op, signature_constants, signature_def_utils, tag_constants, utils
from .builder import Builder, simple_save
from .constants import ASSETS_DIRECTORY, SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT, VARIABLES_DIRECTORY
from .loader import contains_saved_model, load, maybe_saved_model_directory
from .main_op import main_op_with_restore
from .signature_constants import *
from .signature_def_utils import *
from .tag_constants import GPU, SERVING, TPU, TRAINING
from .utils import build_tensor_info, get_tensor_from_tensor_info

__all__ = ["ASSETS_DIRECTORY", "GPU", "SAVED_MODEL_FILENAME_PB", "SAVED_MODEL_FILENAME_PBTXT", "SERVING", "TPU",
           "TRAINING", "VARIABLES_DIRECTORY", "Builder", "build_tensor_info", "builder", "constants",
           "contains_saved_model", "get_tensor_from_tensor_info", "load", "loader", "main_op", "main_op_with_restore",
           "maybe_saved_model_directory", "signature_constants", "signature_def_utils", "simple_save", "tag_constants",
           "utils", *signature_def_utils.__all__]

__getattr__ = refusing("tf.saved_model", __name__)
