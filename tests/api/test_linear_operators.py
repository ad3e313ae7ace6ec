"""tf.linalg's linear operators: each against the dense matrices that it stands for."""

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.linalg.operators import addition

rng = np.random.RandomState(3)


def normal(*shape, dtype=np.float64):
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def definite(*batch, n=3, dtype=np.float64):
    x = normal(*batch, n, n, dtype=dtype)
    return x @ np.conj(np.swapaxes(x, -1, -2)) + 2 * np.eye(n)


def block_diagonal(a, b):
    out = np.zeros((len(a) + len(b),) * 2)
    out[:len(a), :len(a)], out[len(a):, len(a):] = a, b
    return out


def circulant(spectrum, axes):
    """The matrix that multiplies in the space of frequencies."""
    n = int(np.prod(spectrum.shape))
    columns = [np.fft.ifftn(spectrum * np.fft.fftn(np.eye(n)[i].reshape(spectrum.shape), axes=axes), axes=axes).ravel()
               for i in range(n)]
    return np.stack(columns, -1)


DIAGONAL, COMPLEX, TRIL, ANY = normal(2, 3), normal(3, dtype=np.complex128), np.tril(normal(2, 3, 3)), normal(3, 3)
DEFINITE, NARROW, AXIS, SPECTRUM = definite(2), normal(3, 2), normal(3), normal(2, 3, dtype=np.complex128)
L = tf.linalg
CASES = {  # name -> (the operator of tensors made by `t`, its matrices)
    "diag": (lambda t: L.LinearOperatorDiag(t(DIAGONAL)), DIAGONAL[..., None] * np.eye(3)),
    "complex diag": (lambda t: L.LinearOperatorDiag(t(COMPLEX)), np.diag(COMPLEX)),
    "positive diag": (lambda t: L.LinearOperatorDiag(t(DIAGONAL ** 2), is_positive_definite=True),
                      DIAGONAL[..., None] ** 2 * np.eye(3)),
    "identity": (lambda t: L.LinearOperatorIdentity(t(np.int32(3)), [2], tf.float64), np.eye(3) * np.ones((2, 1, 1))),
    "scaled": (lambda t: L.LinearOperatorScaledIdentity(3, t(np.array([2.0, 5.0]))),
               np.eye(3) * np.array([[[2.0]], [[5.0]]])),
    "triangular": (lambda t: L.LinearOperatorLowerTriangular(t(TRIL + np.triu(ANY, 1))), TRIL),
    "full": (lambda t: L.LinearOperatorFullMatrix(t(ANY)), ANY),
    "definite": (lambda t: L.LinearOperatorFullMatrix(t(DEFINITE), is_self_adjoint=True, is_positive_definite=True),
                 DEFINITE),
    "householder": (lambda t: L.LinearOperatorHouseholder(t(AXIS)),
                    np.eye(3) - 2 * np.outer(AXIS, AXIS) / (AXIS @ AXIS)),
    "composition": (lambda t: L.LinearOperatorComposition(
        [L.LinearOperatorFullMatrix(t(ANY)), L.LinearOperatorDiag(t(DIAGONAL))]), ANY * DIAGONAL[:, None]),
    "inversion": (lambda t: L.LinearOperatorInversion(L.LinearOperatorFullMatrix(t(ANY))), np.linalg.inv(ANY)),
    "adjoint": (lambda t: L.LinearOperatorAdjoint(L.LinearOperatorDiag(t(COMPLEX))), np.diag(np.conj(COMPLEX))),
    "update": (lambda t: L.LinearOperatorLowRankUpdate(
        L.LinearOperatorDiag(t(DIAGONAL ** 2 + 1), is_positive_definite=True), t(NARROW), t(np.array([2.0, 3.0])),
        is_diag_update_positive=True),
        (DIAGONAL ** 2 + 1)[..., None] * np.eye(3) + NARROW * [2.0, 3.0] @ NARROW.T),
    "uneven update": (lambda t: L.LinearOperatorLowRankUpdate(
        L.LinearOperatorFullMatrix(t(ANY)), t(NARROW), v=t(NARROW[::-1].copy())), ANY + NARROW @ NARROW[::-1].T),
    "blocks": (lambda t: L.LinearOperatorBlockDiag(
        [L.LinearOperatorFullMatrix(t(ANY), is_square=True), L.LinearOperatorDiag(t(AXIS))]),
        block_diagonal(ANY, np.diag(AXIS))),
    "kronecker": (lambda t: L.LinearOperatorKronecker(
        [L.LinearOperatorFullMatrix(t(ANY)), L.LinearOperatorFullMatrix(t(np.array([[2.0, 1], [0, 3]]))),
         L.LinearOperatorDiag(t(AXIS[:2]))]),
        np.kron(np.kron(ANY, [[2.0, 1], [0, 3]]), np.diag(AXIS[:2]))),
    "circulant": (lambda t: L.LinearOperatorCirculant(t(SPECTRUM), tf.complex128),
                  np.stack([circulant(row, (0,)) for row in SPECTRUM])),
    "circulant 2D": (lambda t: L.LinearOperatorCirculant2D(t(SPECTRUM), tf.complex128), circulant(SPECTRUM, (0, 1))),
    "toeplitz": (lambda t: L.LinearOperatorToeplitz(t(np.array([1.0, 2, 3])), t(np.array([1.0, 5, 6]))),
                 np.array([[1.0, 5, 6], [2, 1, 5], [3, 2, 1]])),
}


@pytest.mark.parametrize("is_static", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_operator_does_what_its_matrices_do(case, is_static):
    make, dense = CASES[case]
    as_tensor = tf.constant if is_static else lambda x: tf.placeholder_with_default(x, None)
    operator, adjoint = make(as_tensor), np.conj(np.swapaxes(dense, -1, -2))
    n = dense.shape[-1]
    x = normal(*dense.shape[:-2], n, 2, dtype=dense.dtype)
    y = np.conj(np.swapaxes(x, -1, -2)).copy()
    batch = np.broadcast_to(dense, (*dense.shape[:-2], n, n))
    expected = {
        "dense": (operator.to_dense(), dense), "shape": (operator.shape_tensor(), dense.shape),
        "matmul": (operator.matmul(x), dense @ x), "without batch": (operator.matmul(x[(0,) * (x.ndim - 2)]),
                                                                     dense @ x[(0,) * (x.ndim - 2)]),
        "adjoint": (operator.matmul(x, adjoint=True), adjoint @ x), "of adjoint": (operator.matmul(y, adjoint_arg=True),
                                                                                   dense @ x),
        "matvec": (operator.matvec(x[..., 0]), (dense @ x)[..., 0]), "H": (operator.H.to_dense(), adjoint),
        "solve": (operator.solve(x), np.linalg.solve(batch, x)),
        "solve adjoint": (operator.solve(y, adjoint=True, adjoint_arg=True), np.linalg.solve(
            np.broadcast_to(adjoint, batch.shape), x)),
        "solvevec": (operator.solvevec(x[..., 0]), np.linalg.solve(batch, x)[..., 0]),
        "inverse": (operator.inverse().to_dense(), np.linalg.inv(dense)),
        "determinant": (operator.determinant(), np.linalg.det(dense)),
        "log determinant": (operator.log_abs_determinant(), np.linalg.slogdet(dense)[1]),
        "diagonal": (operator.diag_part(), np.diagonal(dense, axis1=-2, axis2=-1)),
        "trace": (operator.trace(), np.trace(dense, axis1=-2, axis2=-1)),
        "sum": (operator.add_to_tensor(batch.copy()), dense + dense)}
    if operator.is_self_adjoint and operator.is_positive_definite:
        expected["cholesky"] = operator.cholesky().to_dense(), np.linalg.cholesky(dense)
    with tf.Session() as session:
        found = session.run({name: tensor for name, (tensor, _) in expected.items()})
    for name, (tensor, values) in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-9, err_msg=f"{case}: {name}")
        assert tensor.shape.is_compatible_with(np.shape(values)), name
    if is_static:
        assert operator.shape == dense.shape


def test_zeros_have_no_inverse_and_may_be_wide():
    operator = L.LinearOperatorZeros(2, 3, [4], is_square=False, is_self_adjoint=False)
    with tf.Session() as session:
        assert session.run(operator.matmul(np.ones((3, 5), np.float32))).shape == (4, 2, 5)
        assert session.run(operator.matmul(np.ones((2, 5), np.float32), adjoint=True)).shape == (4, 3, 5)
        np.testing.assert_array_equal(session.run(operator.to_dense()), np.zeros((4, 2, 3)))
    with pytest.raises(NotImplementedError, match="be singular"):
        operator.solve(np.ones((2, 1), np.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-invertible"):
        operator.assert_non_singular()


@pytest.mark.parametrize("make, error, words", [
    (lambda: L.LinearOperatorDiag(1.0), ValueError, "must have at least 1 dimension"),
    (lambda: L.LinearOperatorFullMatrix([1.0]), ValueError, "at least 2 dimensions"),
    (lambda: L.LinearOperatorFullMatrix([[1]]), TypeError, "dtype float"),
    (lambda: L.LinearOperatorDiag([1.0], is_self_adjoint=False), ValueError, "always self adjoint"),
    (lambda: L.LinearOperatorFullMatrix([[1.0]], is_square=False).is_square, ValueError, "was square"),
    (lambda: L.LinearOperatorFullMatrix([[1.0]], is_positive_definite=True, is_non_singular=False), ValueError,
     "always non-singular"),
    (lambda: L.LinearOperatorDiag([1.0, 2.0]).matmul([[1.0]]), ValueError, "Dimensions 2 and 1 are not compatible"),
    (lambda: L.LinearOperatorDiag([1.0]).matmul(np.ones((1, 1))), TypeError, "Expected argument to have dtype"),
    (lambda: L.LinearOperatorFullMatrix(np.ones((2, 3))).determinant(), NotImplementedError, "not be square"),
    (lambda: L.LinearOperatorDiag([1.0]).cholesky(), ValueError, "Not a positive definite"),
    (lambda: L.LinearOperatorComposition([]), ValueError, "non-empty"),
    (lambda: L.LinearOperatorIdentity(2.0), TypeError, "must be integer"),
    (lambda: L.LinearOperatorIdentity([2]), ValueError, "must be a 0-D Tensor"),
    (lambda: L.LinearOperatorInversion(L.LinearOperatorDiag([1.0], is_non_singular=False)), ValueError,
     "is_non_singular"),
    (lambda: addition.add_operators([L.LinearOperatorDiag([1.0]), L.LinearOperatorDiag([1.0, 2])]), ValueError,
     "same domain dimension"),
])
def test_what_does_not_fit_is_said_when_it_is_made(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_checks_fail_in_the_run():
    make = tf.placeholder_with_default
    checks = {"Singular operator": L.LinearOperatorDiag(make([1.0, 0.0], None)).assert_non_singular(),
              "non-positive diagonal": L.LinearOperatorDiag(make([-1.0], None)).assert_positive_definite(),
              "Singular matrix": L.LinearOperatorFullMatrix(make([[1.0, 1], [1, 1]], None)).assert_non_singular(),
              "not equal to its adjoint": L.LinearOperatorFullMatrix(
                  make([[1.0, 2], [1, 1]], None)).assert_self_adjoint(),
              "Dimensions are not": L.LinearOperatorIdentity(make(np.int32(2), None), assert_proper_shapes=True).matmul(
                  make(np.ones((3, 1), np.float32), None))}
    fine = L.LinearOperatorFullMatrix(make(definite().astype(np.float32), None), is_self_adjoint=True,
                                      is_positive_definite=True)
    with tf.Session() as session:
        for words, check in checks.items():
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(check)
        session.run([fine.assert_non_singular(), fine.assert_self_adjoint(), fine.assert_positive_definite()])


def test_products_and_quotients_of_operators_stay_special():
    diag, twice, tril = (L.LinearOperatorDiag([2.0, 3.0], is_non_singular=True),
                         L.LinearOperatorScaledIdentity(2, 2.0, is_non_singular=True),
                         L.LinearOperatorLowerTriangular([[1.0, 0], [4, 5]], is_non_singular=True))
    identity, full = L.LinearOperatorIdentity(2), L.LinearOperatorFullMatrix([[0.0, 1], [2, 3]], is_non_singular=True)
    kinds = {"LinearOperatorDiag": [diag @ diag, diag @ twice, twice.solve(diag), diag.H, diag.inverse()],
             "LinearOperatorLowerTriangular": [diag @ tril, tril @ diag, diag.solve(tril)],
             "LinearOperatorComposition": [full @ diag, full.solve(diag)],
             "LinearOperatorFullMatrix": [full @ identity, identity @ full, full.H.H, full.inverse().inverse()]}
    for kind, operators in kinds.items():
        assert [type(o).__name__ for o in operators] == [kind] * len(operators)
    assert (full @ diag).is_non_singular and (diag @ diag).is_self_adjoint
    with tf.Session() as session:
        np.testing.assert_allclose(session.run((diag @ tril).to_dense()), [[2, 0], [12, 15]])
        np.testing.assert_allclose(session.run(full.solve(diag).to_dense()),
                                   np.linalg.solve([[0.0, 1], [2, 3]], np.diag([2.0, 3])), rtol=1e-5)
        np.testing.assert_allclose(session.run(tf.matmul([[1.0, 1]], diag)), [[2, 3]])  # and tf.linalg's functions
        np.testing.assert_allclose(session.run([tf.linalg.trace(diag), tf.linalg.det(diag)]), [5, 6])
    with pytest.raises(ValueError, match="have dimension"):
        diag.matmul(L.LinearOperatorIdentity(3))


def test_a_rule_of_the_users_own_is_the_nearest():
    from autodiff.tensorflow_names.python.framework.linear_operators import RegisterMatmul

    class Mine(L.LinearOperatorDiag):
        pass

    RegisterMatmul(Mine, L.LinearOperatorDiag)(lambda a, b: "mine")
    assert Mine([1.0]) @ L.LinearOperatorDiag([2.0]) == "mine"
    with pytest.raises(ValueError, match="already been registered"):
        RegisterMatmul(Mine, L.LinearOperatorDiag)(lambda a, b: "again")


def test_sums_are_of_the_narrowest_kind():
    identity, diag = L.LinearOperatorIdentity(2), L.LinearOperatorDiag([1.0, 2.0])
    tril, full = L.LinearOperatorLowerTriangular([[1.0, 9], [1, 1]]), L.LinearOperatorFullMatrix([[1.0, 1], [1, 1]])
    dense = {o: o.to_dense() for o in (identity, diag, tril, full)}
    for operators, kind in (((identity, identity), L.LinearOperatorScaledIdentity),
                            ((identity, diag, identity), L.LinearOperatorDiag),
                            ((tril, diag), L.LinearOperatorLowerTriangular),
                            ((tril, full, diag), L.LinearOperatorFullMatrix)):
        (total,) = addition.add_operators(operators)
        assert type(total) is kind
        with tf.Session() as session:
            np.testing.assert_allclose(session.run(total.to_dense()), sum(session.run([dense[o] for o in operators])))
    only = addition.add_operators([diag, tril, diag], addition_tiers=[[addition.AddAndReturnDiag()]])
    assert sorted(type(o).__name__ for o in only) == ["LinearOperatorDiag", "LinearOperatorLowerTriangular"]


def test_gradients_reach_the_variables_of_an_operator():
    v = tf.get_variable("v", initializer=[2.0, 3.0])
    operator = L.LinearOperatorDiag(v)
    assert operator.variables == (v,)
    (dv,) = tf.gradients(operator.solvevec([4.0, 6.0]), [v])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(dv), [-1, -6 / 9], rtol=1e-6)
