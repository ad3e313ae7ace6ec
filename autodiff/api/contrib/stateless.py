"""tf.contrib.stateless: draws that their seeds alone decide, under their first names."""
from ..common.unsupported import refusing
from ..random import stateless_multinomial, stateless_normal, stateless_truncated_normal, stateless_uniform  # noqa: F401

stateless_random_normal, stateless_random_uniform = stateless_normal, stateless_uniform
__getattr__ = refusing("tf.contrib.stateless", __name__)
