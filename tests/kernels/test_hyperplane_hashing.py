"""Cells to look into around a point."""

import pytest

import everflow as tf
import tests.served  # noqa: F401


def _evaluate(*tensors):
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return session.run(tensors)


def test_cells_near_a_point():
    from tensorflow.contrib.nearest_neighbor import hyperplane_lsh_probes

    products = tf.constant([[1.0, -2.0, 3.0, -0.5], [0.1, 0.2, -0.3, 4.0]])
    (probes, tables), (most, _) = _evaluate(
        hyperplane_lsh_probes(products, 2, 2, 4), hyperplane_lsh_probes(products, 1, 4, 16)
    )
    assert probes.tolist() == [[2, 2, 3, 0], [3, 1, 1, 2]] and tables.tolist() == [[0, 1, 1, 0], [0, 1, 0, 0]]
    assert [sorted(row) for row in most.tolist()] == [list(range(16))] * 2
    with pytest.raises(tf.errors.InternalError, match="cells"):
        _evaluate(hyperplane_lsh_probes(products, 1, 4, 17))
    with pytest.raises(tf.errors.InvalidArgumentError, match="need products"):
        _evaluate(hyperplane_lsh_probes(products, 3, 2, 1))
