"""Images: the namespace tf.image.

Functions of one image or a batch of them, as ops of autodiff/ops/images. sides.py, where to start, is what cutting,
bordering and resizing share; this module gathers the others.
"""
from ..common.unsupported import refusing
from .boxes import *
from .colors import *
from .cropping import *
from .mirroring import *
from .pictures import *
from .quality import *
from .resizing import *

__getattr__ = refusing("tf.image", __name__)
