"""Gradients of array and sparse ops against differences, one table for all; and the forms in which they come."""

import numpy as np
import pytest

import everflow as tf

S = tf.SparseTensor


def _sparse(values, shape=(3, 4)):
    return S([[0, 1], [1, 0], [2, 3]], values, shape)


# name: (function of float64 tensors, their shapes)
TABLE = {
    "reshape": (lambda x: tf.reshape(x, [3, 2]), [2, 3]),
    "expand and squeeze": (lambda x: tf.squeeze(tf.expand_dims(x, 1), 1), [2, 3]),
    "stack": (lambda x, y: tf.stack([x, y], 1), [2, 3], [2, 3]),
    "unstack": (lambda x: tf.unstack(x, axis=1)[1], [2, 3]),
    "concat": (lambda x, y: tf.concat([x, y], -1), [2, 1], [2, 3]),
    "concat of many": (lambda *xs: tf.concat(xs, 0), *[[1, 2]] * 17),
    "split": (lambda x: tf.split(x, [1, 2], 1)[1], [2, 3]),
    "slice": (lambda x: tf.slice(x, [0, 1], [-1, 2]), [2, 4]),
    "strided_slice": (lambda x: x[::-1, None, 1::2], [2, 4]),
    "gather": (lambda x: tf.convert_to_tensor(tf.gather(x, [1, 1, 0])), [2, 3]),
    "gather on an axis": (lambda x: tf.gather(x, [[2, 0]], axis=1), [2, 3]),
    "gather in batches": (lambda x: tf.gather(x, [[2, 0], [1, 1]], batch_dims=1), [2, 3, 2]),
    "batch_gather": (lambda x: tf.batch_gather(x, [[2, 0], [1, 1]]), [2, 3, 2]),
    "gather_nd": (lambda x: tf.gather_nd(x, [[1, 0], [1, 0]]), [2, 3]),
    "gather_nd of rows": (lambda x: tf.gather_nd(x, [[1], [1]]), [2, 3]),
    "scatter_nd": (lambda x: tf.scatter_nd([[0], [2], [0]], x, [4, 2]), [3, 2]),
    "tensor_scatter_update": (lambda x, u: tf.tensor_scatter_update(x, [[1], [0]], u), [3], [2]),
    "tensor_scatter_add": (lambda x, u: tf.tensor_scatter_add(x, [[1], [1]], u), [3], [2]),
    "tensor_scatter_sub": (lambda x, u: tf.tensor_scatter_sub(x, [[1], [1]], u), [3], [2]),
    "pad": (lambda x: tf.pad(x, [[1, 0], [0, 2]]), [2, 3]),
    "reflect": (lambda x: tf.pad(x, [[1, 0], [2, 1]], "REFLECT"), [2, 3]),
    "symmetric": (lambda x: tf.pad(x, [[1, 2], [3, 0]], "SYMMETRIC"), [2, 3]),
    "tile": (lambda x: tf.tile(x, [2, 3]), [2, 3]),
    "broadcast_to": (lambda x: tf.broadcast_to(x, [2, 2, 3]), [2, 1]),
    "transpose": (lambda x: tf.transpose(x, [2, 0, 1]), [2, 3, 2]),
    "reverse": (lambda x: tf.reverse(x, [1]), [2, 3]),
    "reverse_sequence": (lambda x: tf.reverse_sequence(x, [2, 3], seq_axis=1), [2, 3]),
    "roll": (lambda x: tf.roll(x, [1, 2], [0, 1]), [2, 3]),
    "where": (lambda x, y: tf.where([True, False], x, y), [2, 3], [2, 3]),
    "where_v2": (lambda x, y: tf.where_v2([[True], [False]], x, y), [3], [2, 1]),
    "boolean_mask": (lambda x: tf.boolean_mask(x, [True, False, True]), [3, 2]),
    "dynamic_partition": (lambda x: tf.concat(tf.dynamic_partition(x, [1, 0, 1], 2)[::-1], 0), [3, 2]),
    "dynamic_stitch": (lambda x, y: tf.dynamic_stitch([[2, 0], [1]], [x, y]), [2, 2], [1, 2]),
    "space_to_batch": (lambda x: tf.space_to_batch_nd(x, [2, 2], [[0, 1], [1, 0]]), [1, 3, 3, 1]),
    "batch_to_space": (lambda x: tf.batch_to_space_nd(x, [2, 2], [[0, 1], [1, 0]]), [4, 2, 2, 1]),
    "space_to_depth": (lambda x: tf.space_to_depth(x, 2), [1, 2, 4, 1]),
    "depth_to_space": (lambda x: tf.depth_to_space(x, 2), [1, 1, 2, 4]),
    "image patches": (lambda x: tf.extract_image_patches(x, [1, 2, 2, 1], [1, 1, 2, 1], [1, 1, 1, 1], "SAME"), [1, 3, 3, 2]),
    "volume patches": (lambda x: tf.extract_volume_patches(x, [1, 2, 2, 1, 1], [1, 1, 1, 1, 1], "VALID"), [1, 2, 3, 2, 1]),
    "fill": (lambda x: tf.fill([2, 2], x), []),
    "diag": (tf.diag, [3]),
    "diag_part": (tf.diag_part, [3, 3]),
    "matrix_diag": (tf.matrix_diag, [2, 3]),
    "matrix_diag_part": (tf.matrix_diag_part, [2, 3]),
    "matrix_set_diag": (tf.matrix_set_diag, [2, 3], [2]),
    "upper diagonals": (lambda x: tf.matrix_diag_part(x, k=(0, 1)), [3, 3]),
    "set upper diagonal": (lambda x, d: tf.matrix_set_diag(x, d, k=1), [3, 3], [2]),
    "matrix_band_part": (lambda x: tf.matrix_band_part(x, 1, 0), [3, 3]),
    "identity_n": (lambda x, y: tf.concat(tf.identity_n([x, y]), 0), [2], [3]),
    "sort": (lambda x: tf.sort(x, axis=0), [3, 2]),
    "repeat": (lambda x: tf.repeat(x, [2, 0, 1], axis=0), [3, 2]),
    "sparse to dense": (lambda v, d: tf.sparse_tensor_to_dense(_sparse(v), d), [3], []),
    "sparse reorder": (lambda v: tf.sparse_reorder(S([[1, 0], [0, 1], [0, 0]], v, [2, 2])).values, [3]),
    "sparse add": (lambda v, w: tf.sparse_add(_sparse(v), S([[0, 1], [2, 0]], w, [3, 4])).values, [3], [2]),
    "sparse and dense sum": (lambda v, d: tf.sparse_add(_sparse(v), d), [3], [3, 4]),
    "sparse reduce_sum": (lambda v: tf.sparse_reduce_sum(_sparse(v), 1), [3]),
    "sparse slice": (lambda v: tf.sparse_slice(_sparse(v), [1, 0], [2, 4]).values, [3]),
    "sparse matmul": (lambda v, b: tf.sparse_tensor_dense_matmul(_sparse(v), b), [3], [4, 2]),
    "sparse matmul of adjoints": (lambda v, b: tf.sparse_tensor_dense_matmul(_sparse(v), b, True, True), [3], [2, 3]),
    "sparse times dense": (lambda v, d: (_sparse(v) * d).values, [3], [3, 1]),
    "sparse over dense": (lambda v, d: (_sparse(v) / d).values, [3], [3, 4]),
    "sparse softmax": (lambda v: tf.sparse_softmax(S([[0, 1], [0, 0], [1, 2]], v, [2, 3])).values, [3]),
    "sparse fill_empty_rows": (lambda v, d: tf.sparse_fill_empty_rows(_sparse(v, (5, 4)), d)[0].values, [3], []),
    "embedding of parts": (lambda a, b: tf.nn.embedding_lookup([a, b], [3, 0, 3, 1]), [2, 2], [2, 2]),
    "ragged to dense": (lambda x, d: tf.RaggedTensor.from_row_lengths(x, [2, 0, 1]).to_tensor(d), [3, 2], []),
    "ragged rows": (lambda x: tf.gather(tf.RaggedTensor.from_row_lengths(x, [2, 0, 1]), [2, 0, 0]).values, [3]),
    "ragged sums": (lambda x: tf.reduce_sum(tf.RaggedTensor.from_row_lengths(x, [2, 0, 1]) * 2.0, axis=1), [3]),
    "ragged to sparse": (lambda x: tf.RaggedTensor.from_row_lengths(x, [2, 0, 1]).to_sparse().values, [3]),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_gradient_is_the_slope(name):
    function, *shapes = TABLE[name]
    random = np.random.RandomState(7)
    points = [random.uniform(0.5, 2.0, shape) for shape in shapes]
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.placeholder(tf.float64, shape) for shape in shapes]
        output = function(*inputs)
        feed = dict(zip(inputs, points))
        weights = random.uniform(-1, 1, session.run(output, feed).shape)
        loss = tf.reduce_sum(tf.square(output) * weights)
        gradients = session.run([tf.convert_to_tensor(g) for g in tf.gradients(loss, inputs)], feed)
        for i, (point, gradient) in enumerate(zip(points, gradients)):
            assert gradient.shape == point.shape
            # The slope along one random direction says whether all of it is right.
            step = random.uniform(-1, 1, point.shape) * 1e-6
            ends = [session.run(loss, {**feed, inputs[i]: point + sign * step}) for sign in (1, -1)]
            np.testing.assert_allclose((ends[0] - ends[1]) / 2, np.sum(gradient * step), rtol=1e-5, atol=1e-12)


def test_ops_without_a_gradient():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [3])
        assert tf.gradients(tf.stop_gradient(x), x) == [None]
        assert tf.gradients(tf.zeros_like(x, optimize=False), x) == [None]
        for lacking in (tf.bitcast(x, tf.int32), tf.unique(x)[0], tf.guarantee_const(x)):
            with pytest.raises(LookupError):
                tf.gradients(lacking, x)
        from everflow.ops.array import prevent_gradient

        with pytest.raises(LookupError, match="for a reason"):
            tf.gradients(prevent_gradient(x, message="for a reason"), x)


def test_nodes_of_a_concat_gradient_are_tensorflows():
    with tf.Graph().as_default() as graph:
        x, y = tf.placeholder(tf.float32, [2, 1], "x"), tf.placeholder(tf.float32, [2, 2], "y")
        tf.gradients(tf.concat([x, y], 1), [x, y])
        made = [
            (op.name.rpartition("/")[2], op.type)
            for op in graph.get_operations()
            if op.name.startswith("gradients/concat_grad")
        ]
    assert made == [
        ("Rank", "Const"),
        ("mod", "FloorMod"),
        ("Shape", "Const"),
        ("Shape_1", "Const"),
        ("ConcatOffset", "ConcatOffset"),
        ("Slice", "Slice"),
        ("Slice_1", "Slice"),
    ]
