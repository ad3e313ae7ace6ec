"""tf.contrib.eager: names of eager execution that became tf's own."""
from __future__ import annotations

from ...gradients.tape import GradientTape
from ...runtime.eager import enable_eager_execution, executing_eagerly
from ..common.unsupported import refusing
from ..control.custom import custom_gradient, py_function
from ..control.function import function
from ..variables.variable import Variable

__all__ = ["GradientTape", "Variable", "custom_gradient", "defun", "enable_eager_execution", "executing_eagerly",
           "function", "in_eager_mode", "py_func"]
defun, py_func, in_eager_mode = function, py_function, executing_eagerly

__getattr__ = refusing("tf.contrib.eager", __name__)
