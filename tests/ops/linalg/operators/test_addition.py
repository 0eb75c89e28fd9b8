"""Sums of linear operators as operators."""

import pytest

import everflow as tf
from everflow.ops.linalg.operators import addition
from everflow.ops.linalg.operators.addition import add_operators


def _operators():
    linalg = tf.linalg
    return [
        linalg.LinearOperatorIdentity(2),
        linalg.LinearOperatorScaledIdentity(2, 2.0),
        linalg.LinearOperatorDiag([1.0, 2.0]),
        linalg.LinearOperatorLowerTriangular([[1.0, 0.0], [2.0, 3.0]]),
        linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]]),
    ]


KINDS = ["Identity", "ScaledIdentity", "Diag", "LowerTriangular", "FullMatrix"]


@pytest.mark.parametrize("one", range(5))
@pytest.mark.parametrize("other", range(5))
def test_a_sum_is_of_the_simplest_kind_that_holds_it(one, other):
    with tf.Graph().as_default(), tf.Session() as sess:
        operators = _operators()
        (total,) = add_operators([operators[one], operators[other]])
        assert type(total).__name__ == "LinearOperator" + KINDS[max(one, other, 1)]
        expected, found = sess.run([operators[one].to_dense() + operators[other].to_dense(), total.to_dense()])
        assert (expected == found).all()


def test_names_and_tiers():
    with tf.Graph().as_default():
        operators = _operators()
        assert [op.name for op in add_operators(operators[:2])] == [
            "Add/LinearOperatorIdentity__LinearOperatorScaledIdentity/"
        ]
        assert [op.name for op in add_operators(operators[:2], operator_name="mine")] == ["mine"]
        assert add_operators(operators, addition_tiers=[]) == operators[::-1]
        diagonal, *others = add_operators(operators, addition_tiers=[[addition._AddAndReturnDiag()]])
        assert isinstance(diagonal, tf.linalg.LinearOperatorDiag) and others == operators[3:]
        assert add_operators(operators[:1]) == operators[:1]


def test_what_is_known_of_a_sum():
    with tf.Graph().as_default():
        definite = tf.linalg.LinearOperatorDiag([1.0, 2.0], is_positive_definite=True)
        total = addition._AddAndReturnMatrix().add(definite, definite, "total")
        assert total.is_positive_definite and total.is_non_singular and total.is_self_adjoint
        hints = addition._Hints(is_self_adjoint=False)
        assert addition._AddAndReturnMatrix().add(definite, definite, "total", hints).is_self_adjoint is False
        plain = addition._AddAndReturnDiag().add(definite, _operators()[2], "total")
        assert plain.is_positive_definite is None and plain.is_non_singular is None


def test_what_cannot_be_added():
    with tf.Graph().as_default():
        operators = _operators()
        with pytest.raises(ValueError, match="at least one"):
            add_operators([])
        with pytest.raises(TypeError, match="str"):
            add_operators("ab")
        with pytest.raises(TypeError, match="linear operators"):
            add_operators([operators[0], 1.0])
        with pytest.raises(ValueError, match=r"range_dimension.*\[2, 3\]"):
            add_operators([operators[0], tf.linalg.LinearOperatorIdentity(3)])
        with pytest.raises(ValueError, match="broadcast"):
            add_operators([tf.linalg.LinearOperatorDiag([[1.0]] * n) for n in (2, 3)])
        with pytest.raises(TypeError, match="LinearOperatorZeros"):
            add_operators([operators[0], tf.linalg.LinearOperatorZeros(2)])
