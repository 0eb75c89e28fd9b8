"""Embedding lookups: one variable or parts of it, weights and combiners, ids that are missing or bad."""

import numpy as np
import pytest

import everflow as tf

TABLE = np.arange(20.0, dtype=np.float32).reshape(10, 2)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(*fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run(list(fetches))
    return values[0] if len(values) == 1 else values


def _parts(strategy, count=3):
    if strategy == "mod":
        return [tf.constant(TABLE[i::count]) for i in range(count)]
    return [tf.constant(part) for part in np.array_split(TABLE, count)]


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_parts_hold_the_rows_of_one_table(strategy):
    ids = [[7, 0], [9, 4]]
    found = tf.nn.embedding_lookup(_parts(strategy), ids, partition_strategy=strategy)
    assert str(found.shape) == "(2, 2, 2)"
    assert (run(found) == TABLE[ids]).all()


def test_partitioned_and_resource_variables():
    parted = tf.get_variable("parted", initializer=tf.constant(TABLE), partitioner=tf.fixed_size_partitioner(3))
    resource = tf.get_variable("resource", initializer=TABLE, use_resource=True)
    values = run(
        tf.nn.embedding_lookup(parted, [8, 1], partition_strategy="div"), tf.nn.embedding_lookup(resource, [8, 1])
    )
    assert (values[0] == TABLE[[8, 1]]).all() and (values[1] == TABLE[[8, 1]]).all()


def test_long_rows_are_scaled_down():
    rows = run(tf.nn.embedding_lookup(TABLE, [0, 1], max_norm=1.0))
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1.0, 1.0], rtol=1e-6)


IDS = tf.SparseTensorValue([[0, 0], [0, 1], [2, 0]], np.array([1, 3, 4]), [4, 2])
WEIGHTS = np.array([1.0, 2.0, 4.0], np.float32)


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("weighted", [False, True])
def test_combinations_of_rows(combiner, weighted):
    ids = tf.SparseTensor(*IDS)
    weights = tf.SparseTensor(ids.indices, WEIGHTS, ids.dense_shape) if weighted else None
    w = WEIGHTS if weighted else np.ones(3, np.float32)
    scale = {"sum": lambda v: 1.0, "mean": np.sum, "sqrtn": lambda v: np.sqrt(np.sum(v**2))}[combiner]
    wanted = np.zeros((3, 2))
    wanted[0] = (TABLE[1] * w[0] + TABLE[3] * w[1]) / scale(w[:2])
    wanted[2] = TABLE[4] * w[2] / scale(w[2:])
    value = run(tf.nn.embedding_lookup_sparse(TABLE, ids, weights, combiner=combiner))
    rows = [0, 2]  # row 1 has no ids, and means over nothing are left to the safe form
    np.testing.assert_allclose(value[rows], wanted[rows], rtol=1e-6)


def test_the_safe_form_drops_bad_ids_and_fills_empty_rows():
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 0]], tf.constant([2, -1, -1, 5], tf.int64), [4, 2])
    plain, default = run(
        tf.nn.safe_embedding_lookup_sparse([TABLE], ids), tf.nn.safe_embedding_lookup_sparse([TABLE], ids, default_id=9)
    )
    assert plain.tolist() == [TABLE[2].tolist(), [0, 0], [0, 0], TABLE[5].tolist()]
    assert default.tolist() == [TABLE[2].tolist(), TABLE[9].tolist(), TABLE[9].tolist(), TABLE[5].tolist()]


def test_the_safe_form_takes_ids_of_any_rank():
    ids = tf.SparseTensor([[0, 0, 0], [1, 1, 0]], tf.constant([3, 4], tf.int64), [2, 2, 1])
    found = tf.nn.safe_embedding_lookup_sparse([TABLE], ids)
    assert found.shape.as_list()[-1] == 2
    assert run(found).tolist() == [[TABLE[3].tolist(), [0, 0]], [[0, 0], TABLE[4].tolist()]]


def test_what_is_refused():
    with pytest.raises(ValueError, match="Unrecognized partition strategy"):
        tf.nn.embedding_lookup(_parts("mod"), [1], partition_strategy="rows")
    with pytest.raises(ValueError, match="combiner must be one of"):
        tf.nn.embedding_lookup_sparse(TABLE, tf.SparseTensor(*IDS), None, combiner="max")
    with pytest.raises(TypeError, match="sp_ids must be SparseTensor"):
        tf.nn.embedding_lookup_sparse(TABLE, [1], None, combiner="sum")
    with pytest.raises(ValueError, match="Missing embedding_weights"):
        tf.nn.safe_embedding_lookup_sparse([], tf.SparseTensor(*IDS))
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not in"):
        run(tf.nn.embedding_lookup(TABLE, [10]))


def test_an_empty_table_is_refused_before_a_node_is_drawn():
    with tf.Graph().as_default() as graph:
        for params in ([], (), None):
            with pytest.raises(ValueError, match="at least one param"):
                tf.nn.embedding_lookup(params, [1, 2])
        assert graph.get_operations() == []
