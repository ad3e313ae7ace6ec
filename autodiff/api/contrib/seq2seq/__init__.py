"""tf.contrib.seq2seq: decoding step by step, attention, losses of sequences.

Decoders and helpers are classes that a loop of tf.while_loop calls. Start with decoder.py.
"""

from ...common.unsupported import refusing
from .attention import (
           AttentionMechanism,
           AttentionWrapper,
           AttentionWrapperState,
           BahdanauAttention,
           LuongAttention,
           hardmax,
)
from .decoder import BasicDecoder, BasicDecoderOutput, Decoder, dynamic_decode
from .helper import CustomHelper, GreedyEmbeddingHelper, Helper, SampleEmbeddingHelper, TrainingHelper
from .loss import sequence_loss

__all__ = ["AttentionMechanism", "AttentionWrapper", "AttentionWrapperState", "BahdanauAttention", "BasicDecoder",
           "BasicDecoderOutput", "CustomHelper", "Decoder", "GreedyEmbeddingHelper", "Helper", "LuongAttention",
           "SampleEmbeddingHelper", "TrainingHelper", "dynamic_decode", "hardmax", "sequence_loss"]


__getattr__ = refusing("tf.contrib.seq2seq", __name__)
