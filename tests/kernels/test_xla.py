"""XLA's own operations, with the values that TensorFlow 1.15.5 gives."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.legacy.inner import tf2xla
from everflow.protos.xla_data_pb2 import ConvolutionDimensionNumbers, DotDimensionNumbers

NUMBERS = np.arange(12, dtype=np.int32).reshape(3, 4)


def run(build):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


def listed(build):
    return np.asarray(run(build)).tolist()


def test_sorting():
    assert listed(lambda: raw.XlaSort(input=[[3.0, 1.0], [2.0, 9.0]])) == [[1.0, 3.0], [2.0, 9.0]]
    keys, values = run(lambda: raw.XlaKeyValueSort(keys=[3, 1, 2, 1], values=[1.0, 2.0, 3.0, 4.0]))
    assert (keys.tolist(), values.tolist()) == ([1, 1, 2, 3], [2.0, 4.0, 3.0, 1.0])


def test_parts_are_moved_to_where_they_fit():
    assert listed(lambda: tf2xla.dynamic_slice(NUMBERS, [1, 3], [2, 2])) == [[6, 7], [10, 11]]
    assert listed(lambda: tf2xla.dynamic_slice(NUMBERS, [-1, 0], [2, 2])) == [[0, 1], [4, 5]]
    updated = listed(lambda: tf2xla.dynamic_update_slice(NUMBERS, [[100, 101]], [2, 3]))
    assert updated[2] == [8, 9, 100, 101]
    with pytest.raises(tf.errors.InvalidArgumentError):
        listed(lambda: tf2xla.dynamic_slice(NUMBERS, [0, 0], [4, 2]))


def test_padding_inside_and_around():
    def pad(low, high, interior):
        return raw.XlaPad(
            input=[1, 2], padding_value=7, padding_low=[low], padding_high=[high], padding_interior=[interior]
        )

    assert listed(lambda: pad(1, 2, 1)) == [7, 1, 7, 2, 7, 7]
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(lambda: pad(-1, 0, 0))


def test_products():
    left, right = np.random.rand(2, 3, 4).astype("f"), np.random.rand(2, 4, 5).astype("f")
    numbers = DotDimensionNumbers(
        lhs_contracting_dimensions=[2],
        rhs_contracting_dimensions=[1],
        lhs_batch_dimensions=[0],
        rhs_batch_dimensions=[0],
    ).SerializeToString()
    dot = run(lambda: raw.XlaDot(lhs=left, rhs=right, dimension_numbers=numbers, precision_config=""))
    np.testing.assert_allclose(dot, left @ right, rtol=1e-5)
    einsum = run(lambda: raw.XlaEinsum(a=left[0], b=right[0], equation="ab,bc->ca"))
    np.testing.assert_allclose(einsum, (left[0] @ right[0]).T, rtol=1e-5)
    with pytest.raises(tf.errors.UnimplementedError):
        run(lambda: raw.XlaDot(lhs=NUMBERS, rhs=NUMBERS.T, dimension_numbers=numbers[:0], precision_config=""))


def test_ranks_are_made_equal():
    shapes = [
        t.shape for t in run(lambda: raw.XlaBroadcastHelper(lhs=np.ones([2, 3, 4]), rhs=np.ones(3), broadcast_dims=[1]))
    ]
    assert shapes == [(2, 3, 4), (1, 3, 1)]
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(lambda: raw.XlaBroadcastHelper(lhs=np.ones([2, 3]), rhs=np.ones(3), broadcast_dims=np.zeros(0, np.int32)))


@tf.function
def _add(x, y):
    return x + y


@tf.function
def _greater(x, y):
    return x >= y


def _of_scalars(function):
    scalar = tf.TensorSpec([], tf.float32)
    made = function.get_concrete_function(scalar, scalar)
    made.add_to_graph(tf.get_default_graph())
    return made


def test_reductions_by_a_function():
    values = np.arange(16, dtype=np.float32).reshape(4, 4)
    reduced = listed(
        lambda: raw.XlaReduce(input=values, init_value=10.0, dimensions_to_reduce=[1], reducer=_of_scalars(_add))
    )
    assert reduced == [16.0, 32.0, 48.0, 64.0]
    windows = listed(
        lambda: raw.XlaReduceWindow(
            input=values,
            init_value=0.0,
            window_dimensions=[2, 2],
            window_strides=[2, 2],
            base_dilations=[1, 1],
            window_dilations=[1, 1],
            padding=[[0, 0], [0, 0]],
            computation=_of_scalars(_add),
        )
    )
    assert windows == [[10.0, 18.0], [42.0, 50.0]]
    scattered = run(
        lambda: raw.XlaSelectAndScatter(
            operand=values,
            window_dimensions=[2, 2],
            window_strides=[2, 2],
            padding=[[0, 0], [0, 0]],
            source=[[1.0, 2.0], [3.0, 4.0]],
            init_value=0.0,
            select=_of_scalars(_greater),
            scatter=_of_scalars(_add),
        )
    )
    assert scattered[1::2, 1::2].tolist() == [[1.0, 2.0], [3.0, 4.0]] and scattered.sum() == 10


def test_convolution():
    images, filters = np.random.rand(1, 5, 5, 2).astype("f"), np.random.rand(3, 3, 2, 4).astype("f")
    numbers = ConvolutionDimensionNumbers(
        input_feature_dimension=3,
        input_spatial_dimensions=[1, 2],
        kernel_input_feature_dimension=2,
        kernel_output_feature_dimension=3,
        kernel_spatial_dimensions=[0, 1],
        output_feature_dimension=3,
        output_spatial_dimensions=[1, 2],
    ).SerializeToString()
    ours, plain = run(
        lambda: [
            raw.XlaConv(
                lhs=images,
                rhs=filters,
                window_strides=[2, 1],
                padding=[[1, 1], [1, 1]],
                lhs_dilation=[1, 1],
                rhs_dilation=[1, 1],
                feature_group_count=1,
                dimension_numbers=numbers,
                precision_config="",
            ),
            tf.nn.conv2d(images, filters, [1, 2, 1, 1], [[0, 0], [1, 1], [1, 1], [0, 0]]),
        ]
    )
    np.testing.assert_allclose(ours, plain, rtol=1e-5)


def test_decompositions():
    a = np.random.rand(3, 3).astype("f")
    symmetric = a + a.T
    values, vectors = run(lambda: raw.XlaSelfAdjointEig(a=symmetric, lower=True, max_iter=100, epsilon=1e-6))
    np.testing.assert_allclose(symmetric @ vectors, vectors * values, atol=1e-5)
    s, u, v = run(lambda: raw.XlaSvd(a=a, max_iter=100, epsilon=1e-6, precision_config=""))
    np.testing.assert_allclose(u * s @ v.T, a, atol=1e-5)


def test_branches_and_loops():
    def build():
        branch = _of_scalars(_add)
        return raw.XlaIf(cond=True, inputs=[1.0, 2.0], then_branch=branch, else_branch=branch, Tout=[tf.float32])

    assert run(build) == [3.0]
    assert run(tf2xla.replica_id) == 0
