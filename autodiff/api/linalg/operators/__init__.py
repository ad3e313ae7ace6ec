"""Linear operators: matrices known by what they do, which need not be made to be applied, solved or multiplied.

base.py is what all of them are; support.py what they share; algebra.py holds the rules of what becomes of one, or of
two, which stand beside the operators and in pairs.py. Start with diagonal.py.
"""
from . import circulant, pairs  # noqa: F401 (its rules)
from .base import LinearOperator
from .circulant import *
from .dense import LinearOperatorFullMatrix, LinearOperatorHouseholder, LinearOperatorLowerTriangular
from .derived import LinearOperatorAdjoint, LinearOperatorInversion, LinearOperatorLowRankUpdate
from .diagonal import LinearOperatorDiag
from .identity import LinearOperatorIdentity, LinearOperatorScaledIdentity, LinearOperatorZeros
from .several import LinearOperatorBlockDiag, LinearOperatorComposition, LinearOperatorKronecker

__all__ = ["LinearOperator", "LinearOperatorAdjoint", "LinearOperatorBlockDiag", "LinearOperatorComposition",
           "LinearOperatorDiag", "LinearOperatorFullMatrix", "LinearOperatorHouseholder", "LinearOperatorIdentity",
           "LinearOperatorInversion", "LinearOperatorKronecker", "LinearOperatorLowRankUpdate",
           "LinearOperatorLowerTriangular", "LinearOperatorScaledIdentity", "LinearOperatorZeros", *circulant.__all__]
