"""image."""

from .served import refusing

__all__: list[str] = []

__getattr__ = refusing("tf.image", __name__)
