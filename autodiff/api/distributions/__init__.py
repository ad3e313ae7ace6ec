"""Probability distributions: the namespace tf.distributions.

A distribution is a class of tensors and of ops on them; what all share is in distribution.py, where to start.
"""
from ..common.unsupported import refusing
from . import bijectors
from .continuous import MultivariateNormalDiag, Normal, Uniform
from .counts import DirichletMultinomial, Multinomial
from .discrete import Bernoulli, Categorical
from .distribution import Distribution
from .divergences import RegisterKL, kl_divergence
from .gamma_family import Beta, Dirichlet, Exponential, Gamma
from .heavy_tails import Laplace, StudentT
from .transformed import TransformedDistribution

__all__ = ["Bernoulli", "Beta", "Categorical", "Dirichlet", "DirichletMultinomial", "Distribution", "Exponential",
           "Gamma", "Laplace", "Multinomial", "MultivariateNormalDiag", "Normal", "RegisterKL", "StudentT",
           "TransformedDistribution", "Uniform", "bijectors", "kl_divergence"]

__getattr__ = refusing("tf.distributions", __name__)
