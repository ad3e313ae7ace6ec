"""tf.train: optimizers, learning rate schedules, moving averages, the global step."""

from .adadelta import AdadeltaOptimizer
from .adagrad import AdagradOptimizer
from .adagrad_da import AdagradDAOptimizer
from .adam import AdamOptimizer
from .ftrl import FtrlOptimizer
from .global_step import assert_global_step, create_global_step, get_global_step, get_or_create_global_step, global_step
from .gradient_descent import GradientDescentOptimizer
from .momentum import MomentumOptimizer
from .moving_averages import ExponentialMovingAverage
from .optimizer import Optimizer
from .proximal import ProximalAdagradOptimizer, ProximalGradientDescentOptimizer
from .rmsprop import RMSPropOptimizer
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

__all__ = [
    "AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradOptimizer", "AdamOptimizer", "ExponentialMovingAverage",
    "FtrlOptimizer", "GradientDescentOptimizer", "MomentumOptimizer", "Optimizer", "ProximalAdagradOptimizer",
    "ProximalGradientDescentOptimizer", "RMSPropOptimizer", "assert_global_step", "cosine_decay",
    "cosine_decay_restarts", "create_global_step", "exponential_decay", "get_global_step", "get_or_create_global_step",
    "global_step", "inverse_time_decay", "linear_cosine_decay", "natural_exp_decay", "noisy_linear_cosine_decay",
    "piecewise_constant", "piecewise_constant_decay", "polynomial_decay",
]
