"""The shorter forms of kernels give what the general ones do."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.mark.parametrize(
    ("build", "argument"),
    [
        *[(lambda x, a, f=f, k=k: f(x, a, keep_dims=k), axes)
          for f in (raw.Sum, raw.Mean) for k in (False, True) for axes in ([0], [-1, 1], [0, 1, 2], [], [1, 1])],
        *[(lambda x, a: raw.Reshape(tensor=x, shape=a), shape) for shape in ([6, 4], [-1], [4, -1, 2], [2, 3, 4])],
        *[(lambda x, a: raw.Transpose(x=x, perm=a), order) for order in ([2, 0, 1], [0, 1, 2])],
        *[(lambda x, a: raw.ExpandDims(input=x, dim=a), axis) for axis in (0, 3, -1, -4)],
        *[(lambda x, a: raw.ConcatV2(values=[x, x], axis=a), axis) for axis in (0, 2, -1)],
        *[(lambda x, a, m=m, k=k: tf.strided_slice(x, a, [2, 3, 4], begin_mask=m, shrink_axis_mask=k), begin)
          for m in (0, 2) for k in (0, 1, 4) for begin in ([0, 1, 2], [-1, 0, -2])],
        *[(lambda x, a: tf.slice(x, a, [1, 2, 2]), begin) for begin in ([0, 1, 2], [1, 0, 0])],
        *[(lambda x, a: tf.concat(tf.split(x, 3, axis=a)[::-1], 0), axis) for axis in (1, -2)],
        (lambda x, a: tf.pad(x, a), [[1, 0], [0, 2], [3, 1]]),
        *[(lambda x, a: tf.tile(x, a), times) for times in ([1, 2, 3], [1, 1, 1])],
        *[(lambda x, a: tf.gather(x, [[0, 1]], axis=a), axis) for axis in (0, 2, -1)],
        (lambda x, a: raw.Fill(dims=a, value=raw.Sum(x, tf.constant([0, 1, 2]))), [2, 3]),
    ],
)  # fmt: skip
def test_same_as_with_an_argument_known_only_when_run(build, argument):
    x = tf.placeholder(tf.float32, [None, 3, None])
    constant = tf.constant(np.asarray(argument, np.int32))
    late = tf.placeholder(tf.int32, constant.shape)
    with tf.Session() as sess:
        np.testing.assert_array_equal(
            sess.run(build(x, constant), {x: X}), sess.run(build(x, late), {x: X, late: argument})
        )


def deeper(value):
    return tf.placeholder_with_default(tf.constant(value), None)


@pytest.mark.parametrize(
    "build",
    [
        lambda x: raw.Sum(x, tf.constant([7])),
        lambda x: raw.Reshape(tensor=x, shape=tf.constant([5, 5])),
        lambda x: raw.Transpose(x=x, perm=tf.constant([0, 1])),
        lambda x: raw.ConcatV2(values=[x, x], axis=tf.constant(9)),
        lambda x: x[5],
        lambda x: tf.slice(x, [0, 0, 3], [2, 3, 2]),
        lambda x: tf.split(x, 3, axis=2)[0],
        lambda x: tf.gather(x, [7], axis=1),
        # Arguments with an axis too many, which isn't known when drawing.
        lambda x: raw.ConcatV2(values=[x, x], axis=deeper([1])),
        lambda x: raw.GatherV2(params=x, indices=[1], axis=deeper([1])),
        lambda x: tf.pad(x, deeper([[[1, 0], [0, 2], [3, 1]]])),
        lambda x: tf.tile(x, deeper([[1, 2, 3]])),
        lambda x: tf.transpose(x, deeper([[2, 0, 1]])),
        lambda x: raw.Split(split_dim=deeper([1]), value=x, num_split=3)[0],
        lambda x: tf.slice(x, deeper([[0, 0, 0]]), [1, 1, 1]),
        lambda x: raw.ReverseV2(tensor=x, axis=deeper([[1]])),
        lambda x: raw.MatrixBandPart(input=x, num_lower=deeper([1]), num_upper=0),
        lambda x: raw.OneHot(indices=[1], depth=3, on_value=deeper([1]), off_value=0),
        lambda x: raw.ShardedFilename(basename=deeper(["f"]), shard=0, num_shards=1),
        lambda x: raw.HistogramSummary(tag=deeper(["t"]), values=x),
    ],
)
def test_what_does_not_fit_still_raises(build):
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(build(x), {x: X})
