"""metrics."""

from .served import refusing

__all__: list[str] = []

__getattr__ = refusing("tf.metrics", __name__)
