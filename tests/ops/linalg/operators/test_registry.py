"""The table of how kinds of operators combine."""

import pytest

import everflow as tf
from everflow.ops.linalg.operators import registry

pytestmark = pytest.mark.usefixtures("own_graph")


class Mine(tf.linalg.LinearOperatorDiag):
    """A kind of diagonal operator."""


def test_the_nearest_class_wins():
    diag, mine = tf.linalg.LinearOperatorDiag([1.0, 2.0]), Mine([3.0, 4.0])
    assert type(registry.apply("matmul", mine, diag)) is tf.linalg.LinearOperatorDiag
    assert type(registry.apply("adjoint", mine)) is tf.linalg.LinearOperatorDiag
    full = tf.linalg.LinearOperatorFullMatrix([[1.0, 0.0], [0.0, 1.0]])
    assert type(registry.apply("matmul", mine, full)) is tf.linalg.LinearOperatorComposition
    assert type(registry.apply("inverse", full)) is tf.linalg.LinearOperatorInversion


def test_kinds_of_a_programs_own(monkeypatch):
    monkeypatch.setitem(registry.FUNCTIONS, "matmul", dict(registry.FUNCTIONS["matmul"]))

    @registry.register("matmul", Mine, tf.linalg.LinearOperator)
    def product(mine, other):
        return "mine"

    full = tf.linalg.LinearOperatorFullMatrix([[1.0, 0.0], [0.0, 1.0]])
    assert registry.apply("matmul", Mine([1.0, 2.0]), full) == "mine"
    with pytest.raises(ValueError):
        registry.register("matmul", Mine, tf.linalg.LinearOperator)(product)


def test_every_operation_has_an_answer_for_any_operator():
    for operation, count in (("adjoint", 1), ("inverse", 1), ("cholesky", 1), ("matmul", 2), ("solve", 2)):
        assert (tf.linalg.LinearOperator,) * count in registry.FUNCTIONS[operation]


def test_nodes_lie_in_a_scope_of_the_operation():
    assert registry.apply("inverse", tf.linalg.LinearOperatorDiag([2.0])).diag.op.name.startswith("Inverse/")
