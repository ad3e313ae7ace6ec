"""tf.nn.rnn_cell: single steps of recurrent networks, as layers with a state.

A cell maps an input and a state to an output and a state; the loops over time are beside this folder. Start with
base.py.
"""

from .base import LSTMStateTuple, RNNCell
from .cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell
from .wrappers import DeviceWrapper, DropoutWrapper, MultiRNNCell, ResidualWrapper

_WEIGHTS_VARIABLE_NAME, _BIAS_VARIABLE_NAME = "kernel", "bias"  # as code written for TensorFlow's module asks

__all__ = ["BasicLSTMCell", "BasicRNNCell", "DeviceWrapper", "DropoutWrapper", "GRUCell", "LSTMCell", "LSTMStateTuple",
           "MultiRNNCell", "RNNCell", "ResidualWrapper"]
