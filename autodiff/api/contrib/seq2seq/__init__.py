"""tf.contrib.seq2seq: decoding step by step, attention, losses of sequences.

Decoders and helpers are classes that a loop of tf.while_loop calls. Start with decoder.py.
"""

from ...common.unsupported import refusing
from . import attention, beam_search, helper
from .attention import *
from .beam_search import *
from .decoder import BasicDecoder, BasicDecoderOutput, Decoder, dynamic_decode
from .helper import *
from .loss import sequence_loss

__all__ = ["BasicDecoder", "BasicDecoderOutput", "Decoder", "dynamic_decode", "sequence_loss", *attention.__all__,
           *beam_search.__all__, *helper.__all__]


__getattr__ = refusing("tf.contrib.seq2seq", __name__)
