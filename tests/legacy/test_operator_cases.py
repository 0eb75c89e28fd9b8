"""The test cases of linear operators under the paths of TensorFlow's tree, on operators of ours."""

import unittest

import pytest

import everflow as tf
from everflow.legacy.inner.ops.linalg import algebra
from everflow.legacy.inner.ops.testing import operator_cases


def _case(make, base=operator_cases.SquareLinearOperatorDerivedClassTest, **members):
    case = type("Case", (base,), {"operator_and_matrix": make, **members})
    operator_cases.add_tests(case)
    return case


def _diagonal(self, shapes_info, dtype, use_placeholder, ensure_self_adjoint_and_pd=False):
    diagonal = operator_cases.random_sign_uniform(list(shapes_info.shape)[:-1], 1.0, 2.0, dtype=dtype)
    hints = {}
    if ensure_self_adjoint_and_pd:
        diagonal = tf.cast(tf.abs(diagonal), dtype)
        hints = {"is_self_adjoint": True, "is_positive_definite": True}
    given = tf.placeholder_with_default(diagonal, shape=None) if use_placeholder else diagonal
    return tf.linalg.LinearOperatorDiag(given, **hints), tf.linalg.diag(diagonal)


def _full(self, shapes_info, dtype, use_placeholder, ensure_self_adjoint_and_pd=False):
    matrix = operator_cases.random_normal(shapes_info.shape, dtype=dtype)
    given = tf.placeholder_with_default(matrix, shape=None) if use_placeholder else matrix
    return tf.linalg.LinearOperatorFullMatrix(given), matrix


def _names(case):
    return [name for name in sorted(dir(case)) if name.startswith("test_") and name != "test_session"]


def _failures(case, names):
    result = unittest.TestResult()
    for name in names:
        case(name).run(result)
    return [text for _, text in result.errors + result.failures]


def test_a_case_has_a_test_for_each_way_to_try_an_operator():
    square, other = _case(_diagonal), _case(_full, operator_cases.NonSquareLinearOperatorDerivedClassTest)
    assert len(_names(square)) == 960
    assert (
        "test_solve__shape=(1, 1),dtype=<dtype: 'float32'>,use_placeholder=False,adjoint=True,adjoint_arg=False"
        in _names(square)
    )
    assert len(_names(other)) == 480
    assert not [name for name in _names(other) if "solve" in name or "det" in name]
    with pytest.raises(RuntimeError, match="more than once"):
        operator_cases.add_tests(square)


def test_cases_pass_for_operators_that_are_right():
    square, other = _case(_diagonal), _case(_full, operator_cases.NonSquareLinearOperatorDerivedClassTest)
    assert not _failures(square, [n for n in _names(square) if "shape=(3, 4, 4),dtype=<dtype: 'complex128'>" in n][::3])
    assert not _failures(other, [n for n in _names(other) if "shape=(1, 3, 2),dtype=<dtype: 'float64'>" in n][::3])


def test_cases_fail_for_operators_that_are_wrong():
    def doubled(self, *args, **kwargs):
        operator, matrix = _diagonal(self, *args, **kwargs)
        return operator, 2 * matrix

    case = _case(doubled)
    assert (
        len(_failures(case, [n for n in _names(case) if "to_dense__shape=(1, 1),dtype=<dtype: 'float32'>" in n])) == 2
    )


def test_gradients_must_reach_variables():
    case = _case(_diagonal)(_names(_case(_diagonal))[0])
    case.check_tape_safe(tf.linalg.LinearOperatorDiag(tf.Variable([1.0, 2.0], use_resource=True)))
    with pytest.raises(AssertionError, match="no variables"):
        case.check_tape_safe(tf.linalg.LinearOperatorDiag([1.0, 2.0]))


def test_random_matrices_can_be_well_conditioned():
    matrices = operator_cases.random_tril_matrix([5, 3, 3], tf.float64, force_well_conditioned=True)
    definite = operator_cases.random_positive_definite_matrix([4, 2, 2], tf.complex64)
    columns = operator_cases.random_normal_correlated_columns([2, 3, 5], seed=1)
    with tf.Session() as sess:
        diagonal = sess.run(tf.abs(tf.linalg.diag_part(matrices)))
        assert diagonal.min() >= 1 and diagonal.max() <= 2**0.5
        assert sess.run(tf.linalg.eigvalsh(definite)).min() > 0
        assert sess.run(columns).shape == (2, 3, 5)
    with pytest.raises(ValueError):
        operator_cases.random_positive_definite_matrix([1, 2], tf.float32)
    with pytest.raises(ValueError, match="two dimensions"):
        operator_cases.random_normal_correlated_columns([3])


def test_functions_are_registered_by_classes():
    class Kind(tf.linalg.LinearOperatorDiag):
        pass

    with pytest.raises(TypeError, match="must be callable"):
        algebra.RegisterAdjoint(Kind)("no function")
    function = algebra.RegisterMatmul(Kind, Kind)(lambda a, b: "a product")
    with pytest.raises(ValueError, match="has already been registered"):
        algebra.RegisterMatmul(Kind, Kind)(function)
    kind = Kind([1.0, 2.0])
    assert kind.matmul(kind) == algebra.matmul(kind, kind, name="product") == "a product"
    assert algebra._registered_matmul(Kind, Kind) is function
    assert algebra._registered_inverse(int) is None
    with pytest.raises(ValueError, match="No cholesky registered"):
        algebra.cholesky(3)
    del algebra._MATMUL[Kind, Kind]


@pytest.mark.parametrize("batch_shape", [[], (), tf.TensorShape([])])
def test_operators_without_a_batch_can_say_so(batch_shape):
    assert tf.linalg.LinearOperatorIdentity(2, batch_shape=batch_shape).shape == [2, 2]
    assert tf.linalg.LinearOperatorZeros(2, batch_shape=batch_shape).shape == [2, 2]


def test_spectra_of_unknown_shapes():
    spectrum = tf.placeholder_with_default(tf.constant([1.0, 2.0], tf.complex64), shape=None)
    x = tf.placeholder_with_default(tf.constant([[1.0], [0.0]], tf.complex64), shape=None)
    with tf.Session() as sess:
        assert sess.run(tf.linalg.LinearOperatorCirculant(spectrum).matmul(x)).tolist() == [[1.5], [-0.5]]


def test_a_kind_of_operator_must_say_what_it_does():
    with pytest.raises(TypeError, match="abstract"):
        tf.linalg.LinearOperator(tf.float32)
