"""tf.nn.rnn_cell: single steps of recurrent networks."""

from .base import LSTMStateTuple, RNNCell
from .cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell
from .wrappers import DeviceWrapper, DropoutWrapper, MultiRNNCell, ResidualWrapper

__all__ = ["BasicLSTMCell", "BasicRNNCell", "DeviceWrapper", "DropoutWrapper", "GRUCell", "LSTMCell", "LSTMStateTuple",
           "MultiRNNCell", "RNNCell", "ResidualWrapper"]
