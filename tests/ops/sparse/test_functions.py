"""Sparse tensors: values against dense arithmetic, orders and shapes; and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(*fetches, feed=None):
    with tf.Session() as session:
        values = session.run(list(fetches), feed)
    return values[0] if len(values) == 1 else values


def sparse(dense):
    """A SparseTensor of the non-zero elements of an array."""
    dense = np.asarray(dense)
    indices = np.argwhere(dense)
    return tf.SparseTensor(indices, dense[tuple(indices.T)], dense.shape)


def dense(value):
    out = np.zeros(value.dense_shape, value.values.dtype)
    for index, item in zip(value.indices, value.values):
        out[tuple(index)] += item
    return out


M = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [5, 0, -3, 0]])


N = np.array([[1, -2, 0, 0], [0, 0, 4, 0], [0, 0, 3, 0]])


# function of SparseTensors of M (and N), the same of arrays
DENSE_RULES = {
    "to_dense": (tf.sparse_tensor_to_dense, lambda m: m),
    "transpose": (lambda m: tf.sparse_transpose(m), lambda m: m.T),
    "reshape": (lambda m: tf.sparse_reshape(m, [2, -1]), lambda m: m.reshape(2, -1)),
    "slice": (lambda m: tf.sparse_slice(m, [1, 0], [5, 3]), lambda m: m[1:, :3]),
    "split": (lambda m: tf.sparse_split(sp_input=m, num_split=3, axis=1)[0], lambda m: m[:, :2]),
    "expand_dims": (lambda m: tf.sparse.expand_dims(m, 1), lambda m: m[:, None]),
    "retain": (
        lambda m: tf.sparse_retain(m, [True, False, True, False]),
        lambda m: m * [[0, 1, 0, 0], [0] * 4, [1, 0, 0, 0]],
    ),
    "reduce_sum": (lambda m: tf.sparse_reduce_sum(m, 1), lambda m: m.sum(1)),
    "reduce_sum kept": (lambda m: tf.sparse_reduce_sum(m, [0], keepdims=True), lambda m: m.sum(0, keepdims=True)),
    "reduce_sum all": (lambda m: tf.sparse_reduce_sum(m), lambda m: m.sum()),
    "reduce_sum_sparse": (lambda m: tf.sparse_reduce_sum_sparse(m, 0), lambda m: m.sum(0)),
    "times": (lambda m: m * tf.constant([[1], [2], [3]], tf.int64), lambda m: m * [[1], [2], [3]]),
    "matmul": (
        lambda m: tf.sparse_tensor_dense_matmul(m, np.arange(8).reshape(4, 2)),
        lambda m: m @ np.arange(8).reshape(4, 2),
    ),
    "adjoint matmul": (
        lambda m: tf.sparse_tensor_dense_matmul(m, np.arange(6).reshape(2, 3), adjoint_a=True, adjoint_b=True),
        lambda m: m.T @ np.arange(6).reshape(2, 3).T,
    ),
    "dense sum": (lambda m: tf.sparse_add(m, np.ones_like(M)), lambda m: m + 1),
    "reset_shape": (lambda m: tf.sparse_reset_shape(m, [4, 5]), lambda m: np.pad(m, [[0, 1], [0, 1]])),
}


PAIRS = {
    "add": (tf.sparse_add, lambda m, n: m + n),
    "maximum": (tf.sparse_maximum, np.maximum),
    "minimum": (tf.sparse_minimum, np.minimum),
    "concat": (lambda m, n: tf.sparse_concat(1, [m, n]), lambda m, n: np.concatenate([m, n], 1)),
    "concat rows": (lambda m, n: tf.sparse_concat(-2, [m, n]), lambda m, n: np.concatenate([m, n], 0)),
}


def _same(value, wanted):
    value = dense(value) if isinstance(value, tf.SparseTensorValue) else value
    assert value.shape == np.shape(wanted) and (value == wanted).all()


@pytest.mark.parametrize("name", DENSE_RULES)
def test_as_for_dense_tensors(name):
    function, expected = DENSE_RULES[name]
    _same(run(function(sparse(M))), expected(M))


@pytest.mark.parametrize("name", PAIRS)
def test_two_at_a_time(name):
    function, expected = PAIRS[name]
    _same(run(function(sparse(M), sparse(N))), expected(M, N))


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=2, max_size=2),
    st.sampled_from(sorted(PAIRS)),
)
def test_any_two_matrices(rows, name):
    m, n = np.array(rows), np.array(rows[::-1])
    function, expected = PAIRS[name]
    with tf.Graph().as_default():
        _same(run(function(sparse(m), sparse(n))), expected(m, n))


def test_sums_below_the_threshold_are_dropped():
    a, b = sparse(np.array([1.0, 2.0])), sparse(np.array([-1.0, 3.0]))
    assert run(tf.sparse_add(a, b)).values.tolist() == [0.0, 5.0]
    assert run(tf.sparse_add(a, b, threshold=0.5)).indices.tolist() == [[1]]


def test_repeated_and_unordered_indices():
    a = tf.SparseTensor([[0], [0]], [1, 2], [2])
    assert run(tf.sparse_add(a, tf.SparseTensor([[0], [1]], [10, 20], [2]))).values.tolist() == [11, 2, 20]
    assert run(
        tf.sparse_reorder(tf.SparseTensor([[1, 0], [0, 2], [0, 1]], ["a", "b", "c"], [2, 3]))
    ).values.tolist() == [b"c", b"b", b"a"]
    assert run(tf.sparse_to_dense([2, 1, 1], [3], [1, 2, 4], validate_indices=False)).tolist() == [0, 4, 1]


def test_empty_rows_are_filled():
    filled, empty = run(*tf.sparse_fill_empty_rows(tf.SparseTensor([[2, 1], [0, 0]], ["x", "y"], [4, 2]), "-"))
    assert filled.values.tolist() == [b"y", b"-", b"x", b"-"] and empty.tolist() == [False, True, False, True]


def test_softmax_counts_only_what_is_there():
    values = run(tf.sparse_softmax(tf.SparseTensor([[0, 0], [0, 1], [1, 1]], [1.0, 2.0, 3.0], [2, 2]))).values
    np.testing.assert_allclose(values, [0.26894143, 0.7310586, 1.0], rtol=1e-6)


def test_largest_of_what_is_there():
    s = tf.SparseTensor([[0, 1]], [-2.0], [3, 2])
    assert run(tf.sparse_reduce_max(s, 1)).tolist() == [-2.0, 0.0, 0.0]
    assert run(tf.sparse_reduce_max_sparse(s, 1)).indices.tolist() == [[0]]


def test_ids_merge_with_values():
    ids = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant([3, 0, 1], tf.int64), [2, 2])
    values = tf.SparseTensor(ids.indices, [7.0, 8.0, 9.0], [2, 2])
    assert dense(run(tf.sparse_merge(ids, values, 4))).tolist() == [[0, 0, 0, 7], [8, 9, 0, 0]]
    assert run(tf.sparse_to_indicator(ids, 4)).tolist() == [[False, False, False, True], [True, True, False, False]]


def test_crosses():
    a = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2])
    b = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["d", "e", "f"], [2, 2])
    joined, hashed = run(tf.sparse.cross([a, b]), tf.sparse.cross_hashed([a, b], num_buckets=100, hash_key=5))
    assert joined.values.tolist() == [b"a_X_d", b"b_X_e", b"b_X_f", b"c_X_e", b"c_X_f"]
    assert hashed.values.tolist() == [4, 54, 46, 45, 3] and hashed.dense_shape.tolist() == [2, 4]


def test_maps_of_sparse_tensors_hand_out_what_they_took():
    s = tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])
    handles = tf.raw_ops.AddManySparseToTensorsMap(
        sparse_indices=s.indices, sparse_values=s.values, sparse_shape=s.dense_shape, shared_name="m"
    )
    taken = tf.raw_ops.TakeManySparseFromTensorsMap(sparse_handles=handles, dtype=tf.int32, shared_name="m")
    value = run(tf.SparseTensor(*taken))
    assert dense(value).tolist() == [[0, 5], [0, 0], [6, 0]]


def test_fed_and_fetched():
    p = tf.sparse_placeholder(tf.float32, [2, 3])
    assert run(tf.sparse_tensor_to_dense(p), feed={p: ([[0, 1]], [4.0], [2, 3])}).tolist() == [[0, 4, 0], [0, 0, 0]]


RUN_TIME_ERRORS = {
    r"indices\[0\] = \[5\] is out of bounds: need 0 <= index < \[3\]": lambda: tf.sparse_to_dense([5], [3], 1),
    r"indices\[1\] = \[1\] is repeated": lambda: tf.sparse_to_dense([1, 1], [3], [1, 2]),
    r"indices\[1\] = \[1\] is out of order": lambda: tf.sparse_to_dense([2, 1], [3], [1, 2]),
    r"k \(5\) from index\[0,1\] out of bounds": lambda: tf.sparse_tensor_dense_matmul(
        tf.SparseTensor([[0, 5]], [1.0], [2, 2]), tf.ones([2, 2])
    ),
    "num_split should be between 1 and": lambda: tf.sparse_split(sp_input=sparse(M), num_split=7, axis=1)[0],
    r"indices\(0, 0\) is invalid: 7 >= 2": lambda: tf.sparse_fill_empty_rows(tf.SparseTensor([[7, 0]], [1], [2, 2]), 0)[
        0
    ],
    "no broadcasting is supported": lambda: tf.sparse_add(sparse(M), np.ones([3, 5], np.int64)),
    "broadcasts dense to sparse only": lambda: sparse(M) * np.ones([5, 4], np.int64),
    "Input shapes must match": lambda: tf.sparse_concat(0, [sparse(M), sparse(M[:, :2])]),
    "rank >= 2": lambda: tf.sparse_softmax(tf.SparseTensor([[0]], [1.0], [2])),
    "Invalid reduction dimension 2": lambda: tf.sparse_reduce_sum(sparse(M), 2),
    "Requested SparseTensor of type int32": lambda: tf.io.deserialize_many_sparse(
        tf.io.serialize_many_sparse(sparse(M)), tf.int32
    ),
    "Could not parse": lambda: tf.io.deserialize_many_sparse([["a", "b", "c"]], tf.int32),
}


@pytest.mark.parametrize("message", RUN_TIME_ERRORS)
def test_what_does_not_fit_raises_when_it_runs(message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(RUN_TIME_ERRORS[message]())


def test_what_can_never_fit_raises_while_building():
    s = sparse(M)
    for wrong in (
        lambda: tf.sparse_reshape(s, [5]),
        lambda: tf.sparse_reshape(s, [-1, -1]),
        lambda: tf.sparse_reset_shape(s, [2, 6]),
    ):
        with pytest.raises(ValueError):
            wrong()
    for wrong in (
        lambda: tf.sparse_add(M, M),
        lambda: tf.sparse_transpose(M),
        lambda: tf.sparse.cross([1]),
        lambda: tf.sparse_concat(0, [M]),
    ):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="axis is required"):
        tf.sparse_split(sp_input=s, num_split=2)


def test_crosses_as_they_were_first_hashed():
    def cross(*columns):
        sparse_columns = [tf.SparseTensor([[0, 0]], c, [1, 1]) for c in columns]
        made = tf.raw_ops.SparseFeatureCross(
            indices=[c.indices for c in sparse_columns],
            values=[c.values for c in sparse_columns],
            shapes=[c.dense_shape for c in sparse_columns],
            dense=[],
            hashed_output=True,
            num_buckets=0,
            out_type=tf.int64,
            internal_type=tf.int64,
        )
        return run(made.output_values).tolist()

    assert cross(np.array([5])) == [2178321846385415419] and cross(["a"], ["b"]) == [1612230766947939355]
    assert cross(["a"], np.array([7])) == [8479621863018342117]


def test_a_dense_row_of_one_element_is_its_own():
    """It mustn't take the default value's memory: elements of a dataset that wait to be shuffled would all become the
    last.
    """
    with tf.Graph().as_default(), tf.Session() as sess:

        def row(i):
            return tf.sparse_tensor_to_dense(tf.SparseTensor([[0]], tf.reshape(i, [1]), [1]))

        rows = tf.data.Dataset.range(6).map(row).shuffle(6, seed=1).batch(6).make_one_shot_iterator().get_next()
        assert sorted(sess.run(rows).ravel().tolist()) == [0, 1, 2, 3, 4, 5]


def test_a_shape_that_can_not_be_counted_is_refused():
    sizes = [tf.placeholder_with_default(np.array(dims, np.int64), [2]) for dims in ([2**40, 2**40], [2**41, 2**39])]
    reshaped = tf.raw_ops.SparseReshape(input_indices=[[0, 1]], input_shape=sizes[0], new_shape=sizes[1])
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match="more elements than int64 can count"),
    ):
        sess.run(reshaped)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_a_dimension_more(axis):
    made = tf.sparse.expand_dims(sparse(M), axis)
    np.testing.assert_array_equal(dense(run(made)), np.expand_dims(M, axis))


@pytest.mark.parametrize("shape", [(3, None), (2, 4), (3, 1)])
def test_identity_matrices(shape):
    rows, columns = shape
    made = tf.sparse.eye(rows, columns, dtype=tf.int32)
    np.testing.assert_array_equal(dense(run(made)), np.eye(rows, columns or rows))
