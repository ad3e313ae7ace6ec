"""tensorflow.python.ops.linalg.linear_operator_algebra and linear_operator_addition, under TensorFlow's names."""
from ....api.linalg.operators.addition import AddAndReturnDiag as _AddAndReturnDiag
from ....api.linalg.operators.addition import AddAndReturnMatrix as _AddAndReturnMatrix
from ....api.linalg.operators.addition import AddAndReturnScaledIdentity as _AddAndReturnScaledIdentity
from ....api.linalg.operators.addition import AddAndReturnTriL as _AddAndReturnTriL
from ....api.linalg.operators.addition import Adder as _Adder
from ....api.linalg.operators.addition import Promises as _Hints
from ....api.linalg.operators.addition import add_operators
from ....api.linalg.operators.algebra import adjoint, cholesky, inverse, matmul, solve

__all__ = ["RegisterAdjoint", "RegisterCholesky", "RegisterInverse", "RegisterMatmul", "RegisterSolve",
           "_AddAndReturnDiag", "_AddAndReturnMatrix", "_AddAndReturnScaledIdentity", "_AddAndReturnTriL", "_Adder",
           "_Hints", "add_operators", "adjoint", "cholesky", "inverse", "matmul", "solve"]

RegisterAdjoint, _registered_adjoint, _ADJOINTS = adjoint.rule, adjoint.find, adjoint.rules
RegisterCholesky, _registered_cholesky, _CHOLESKY_DECOMPS = cholesky.rule, cholesky.find, cholesky.rules
RegisterInverse, _registered_inverse, _INVERSES = inverse.rule, inverse.find, inverse.rules
RegisterMatmul, _registered_matmul, _MATMUL = matmul.rule, matmul.find, matmul.rules
RegisterSolve, _registered_solve, _SOLVE = solve.rule, solve.find, solve.rules
