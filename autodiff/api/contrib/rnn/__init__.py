"""tf.contrib.rnn: the cells and drivers of tf.nn, and more cells. Start with cells.py."""

from ...common.unsupported import refusing
from ...nn.rnn_cell import *
from ...nn.rnn_cell import __all__ as _cells
from ...nn.rnn_cell.base import LayerRNNCell
from ...nn.rnn_static import *
from ...nn.rnn_static import __all__ as _drivers
from . import attending, cells, convolutional, gated, projections, stacked
from .attending import *
from .cells import *
from .convolutional import *
from .gated import *
from .projections import *
from .stacked import *

__all__ = ["LayerRNNCell", *_cells, *_drivers, *attending.__all__, *cells.__all__, *convolutional.__all__,
           *gated.__all__, *projections.__all__, *stacked.__all__]

__getattr__ = refusing("tf.contrib.rnn", __name__)
