"""tf.contrib.eager: names of eager execution that became tf's own."""
from ...gradients.tape import GradientTape
from ...runtime.eager import enable_eager_execution, executing_eagerly
from ..common.unsupported import refusing
from ..control.custom import custom_gradient, py_function
from ..control.function import function
from ..test.modes import run_all_in_graph_and_eager_modes, run_in_graph_and_eager_modes
from ..train.objects import Checkpoint
from ..variables.eager_store import EagerVariableStore
from ..variables.variable import Variable
from .eager_gradients import (
    gradients_function,
    implicit_gradients,
    implicit_value_and_gradients,
    value_and_gradients_function,
)

__all__ = ["Checkpoint", "EagerVariableStore", "GradientTape", "Variable", "custom_gradient", "defun",
           "enable_eager_execution", "executing_eagerly", "function", "gradients_function", "implicit_gradients",
           "implicit_value_and_gradients", "in_eager_mode", "py_func", "run_all_tests_in_graph_and_eager_modes",
           "run_test_in_graph_and_eager_modes", "value_and_gradients_function"]
defun, py_func, in_eager_mode = function, py_function, executing_eagerly
run_test_in_graph_and_eager_modes = run_in_graph_and_eager_modes
run_all_tests_in_graph_and_eager_modes = run_all_in_graph_and_eager_modes

__getattr__ = refusing("tf.contrib.eager", __name__)
