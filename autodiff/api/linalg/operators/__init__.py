"""Linear operators: matrices known by what they do, which need not be made to be applied, solved or multiplied.

base.py is what all of them are; support.py what they share; algebra.py holds the rules of what becomes of one, or of
two, which stand beside the operators. Start with diagonal.py.
"""
from .base import LinearOperator
from .dense import LinearOperatorFullMatrix, LinearOperatorLowerTriangular
from .derived import LinearOperatorAdjoint, LinearOperatorInversion
from .diagonal import LinearOperatorDiag
from .identity import LinearOperatorIdentity, LinearOperatorScaledIdentity

__all__ = ["LinearOperator", "LinearOperatorAdjoint", "LinearOperatorDiag", "LinearOperatorFullMatrix",
           "LinearOperatorIdentity", "LinearOperatorInversion", "LinearOperatorLowerTriangular",
           "LinearOperatorScaledIdentity"]
