"""tf.keras: models of layers, trained, evaluated and asked by loops over tf's own graphs; what data sets need.

Start with models.py; training.py has the loops.
"""
from __future__ import annotations

from ..common.unsupported import refusing
from . import (
    activations,
    backend,
    callbacks,
    constraints,
    datasets,
    initializers,
    layers,
    losses,
    metrics,
    models,
    optimizers,
    preprocessing,
    regularizers,
    utils,
    wrappers,
)
from .models import Input, Model, Sequential

__all__ = ["Input", "Model", "Sequential", "activations", "backend", "callbacks", "constraints", "datasets",
           "initializers", "layers", "losses", "metrics", "models", "optimizers", "preprocessing", "regularizers",
           "utils", "wrappers"]
__version__ = "2.2.4-tf"
__getattr__ = refusing("tf.keras", __name__)
