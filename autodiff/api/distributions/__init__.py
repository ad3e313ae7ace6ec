"""Probability distributions: the namespace tf.distributions.

A distribution is a class of tensors and of ops on them; what all share is in distribution.py, where to start.
"""
from __future__ import annotations

from ..common.unsupported import refusing
from .continuous import MultivariateNormalDiag, Normal, Uniform
from .discrete import Bernoulli, Categorical
from .distribution import Distribution, kl_divergence

__all__ = ["Bernoulli", "Categorical", "Distribution", "MultivariateNormalDiag", "Normal", "Uniform", "kl_divergence"]

__getattr__ = refusing("tf.distributions", __name__)
