"""Whole tensors made, reshaped, joined and split: numbers, strings and unsigned types, and what can't be."""

import numpy as np
import pytest

import everflow as tf
from tests.kernels.feeding import fed

X = np.arange(6).reshape(2, 3)
TYPES = "float16 float32 int8 uint8 int64 uint16 uint32 uint64 bool complex64 string".split()


def values(dtype):
    return X.astype(str).astype(object) if dtype == "string" else (X % 2 if dtype == "bool" else X).astype(dtype)


def same(found, wanted, dtype):
    if dtype == "string":
        wanted = np.array([str(v).encode() for v in wanted.ravel()], object).reshape(wanted.shape)
    else:
        assert found.dtype == dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_is_moved(sess, dtype):
    x = values(dtype)
    t = fed(x, dtype)
    got = sess.run(
        [
            tf.reshape(t, [3, -1]),
            tf.expand_dims(t, 1),
            tf.concat([t, t], -1),
            tf.stack([t, t], 1),
            tf.unstack(t, num=3, axis=1)[2],
            tf.split(t, 3, 1)[1],
            tf.split(t, [2, -1], 1, num=2)[1],
            tf.squeeze(t[:1]),
            tf.identity(t),
        ]
    )
    wanted = [
        x.reshape(3, 2),
        x[:, None],
        np.concatenate([x, x], 1),
        np.stack([x, x], 1),
        x[:, 2],
        x[:, 1:2],
        x[:, 2:],
        x[0],
        x,
    ]
    for found, want in zip(got, wanted):
        same(found, want, dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_fills(sess, dtype):
    x = values(dtype)
    filled, nothing = sess.run([tf.fill(fed([2, 1]), fed(x[0, 1], dtype)), tf.fill(fed([2, 0]), fed(x[0, 1], dtype))])
    same(filled, np.array([[x[0, 1]]] * 2, object if dtype == "string" else dtype), dtype)
    assert nothing.shape == (2, 0)


@pytest.mark.parametrize("dtype", "float16 float32 int8 uint8 int64 uint16 bool complex64".split())
def test_zeros_and_ones_like_another(sess, dtype):
    zeros, ones = sess.run([op(x=fed(values(dtype))) for op in (tf.raw_ops.ZerosLike, tf.raw_ops.OnesLike)])
    assert zeros.dtype == ones.dtype == dtype and zeros.shape == ones.shape == (2, 3)
    assert not zeros.any() and (ones == 1).all()
    assert sess.run(tf.zeros_like(fed(["a"]))).tolist() == [b""]


def test_shapes_as_tensors(sess):
    words = fed(["a", "b"])
    shape, rank, size, both = sess.run(
        [
            tf.shape(words, out_type=tf.int64),
            tf.rank(words),
            tf.size(fed(np.zeros([2, 0]))),
            tf.shape_n([fed([1.0, 2.0]), fed(1.0)]),
        ]
    )
    assert shape.dtype == np.int64 and shape.tolist() == [2] and rank == 1 and size == 0
    assert [s.tolist() for s in both] == [[2], []]


@pytest.mark.parametrize(
    ("first", "second", "shape", "axes"),
    [
        ([2, 3], [3], [2, 3], ([], [0])),
        ([2, 1], [1, 3], [2, 3], ([1], [0])),
        ([], [2], [2], ([0], [])),
        ([1, 2], [1, 2], [1, 2], ([], [])),
        ([1, 2], [1, 1], [1, 2], ([0], [0, 1])),
    ],
)
def test_how_shapes_broadcast(sess, first, second, shape, axes):
    a, b = (fed(np.array(s, np.int32)) for s in (first, second))
    found, sums = sess.run([tf.raw_ops.BroadcastArgs(s0=a, s1=b), tf.raw_ops.BroadcastGradientArgs(s0=a, s1=b)])
    assert found.tolist() == shape and tuple(s.tolist() for s in sums) == axes


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.reshape(fed(X), fed([-1, -1])), "Only one input size may be -1, not both 0 and 1"),
        (lambda: tf.reshape(fed(X), fed([-2, 3])), "must be non-negative, not -2"),
        (lambda: tf.reshape(fed(X), fed([4, -1])), "requires a multiple of 4"),
        (lambda: tf.reshape(fed(X), fed([7])), "with 6 values, but the requested shape has 7"),
        (lambda: tf.expand_dims(fed(X), fed(3)), "Tried to expand dim index 3 for tensor with 2 dimensions"),
        (lambda: tf.squeeze(fed(X), [0]), "Can not squeeze dim.0., expected a dimension of 1, got 2"),
        (lambda: tf.squeeze(fed(X), [2]), "Tried to squeeze dim index 2"),
        (lambda: tf.ensure_shape(fed(X), [3, None]), "is not compatible with expected shape"),
        (lambda: tf.fill(fed([-1]), 0), "must be >= 0"),
        (lambda: tf.concat([fed(X), fed(X)], fed(2)), "Expected concatenating dimensions in the range"),
        (lambda: tf.concat([fed(X), fed(X[:, :2])], 0), "Dimensions of inputs should match"),
        (lambda: tf.concat([fed(X), fed(X[0])], 0), "Ranks of all input tensors should match"),
        (lambda: tf.stack([fed(X), fed(X.T)]), "Shapes of all inputs must match"),
        (lambda: tf.stack([fed(X), fed(X)], 4), "not in"),
        (lambda: tf.unstack(fed(X), num=3), "must equal 3"),
        (lambda: tf.split(fed(X), 2, 1), "should evenly divide the split dimension"),
        (lambda: tf.split(fed(X), 2, fed(2)), "split_dim"),
        (lambda: tf.split(fed(X), fed([2, 2]), 1, num=2), "Determined shape must either match"),
        (lambda: tf.split(fed(X), fed([-1, -1]), 1, num=2), "There can only be one -1 in the input"),
        (lambda: tf.raw_ops.BroadcastArgs(s0=fed([2]), s1=fed([3])), "Incompatible shapes|incompatible dims"),
        (
            lambda: tf.raw_ops.ConcatOffset(concat_dim=0, shape=[fed([2, 3]), fed([2, 4])]),
            "All dimensions except 0 must match",
        ),
        (
            lambda: tf.raw_ops.ConcatOffset(concat_dim=fed(2), shape=[fed([2, 3]), fed([2, 3])]),
            "Concat dim is out of range",
        ),
    ],
)
def test_what_can_not_be(sess, build, message):
    found = build()
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(found)


@pytest.mark.parametrize(
    ("shape", "asked", "given"),
    [([0, 3, 5], [0, -1], (0, 15)), ([0, 6], [0, 2, -1], (0, 2, 3)), ([0, 3], [0, 2, -1], (0, 2, 1)),
     ([0], [0, -1], (0, 1)), ([0, 3], [-1], (0,))],
)  # fmt: skip
def test_an_unknown_size_of_nothing_goes_by_the_other_sizes(sess, shape, asked, given):
    assert sess.run(tf.reshape(fed(np.zeros(shape)), fed(asked))).shape == given


@pytest.mark.parametrize("axis", [0, -1])
def test_scalars_do_not_join(sess, axis):
    joined = tf.concat([fed(1), fed(2)], fed(axis))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"in the range \[0, 0\), but got"):
        sess.run(joined)


def test_offsets_of_joined_parts(sess):
    offsets = sess.run(tf.raw_ops.ConcatOffset(concat_dim=-1, shape=[fed([2, 3]), fed([2, 0]), fed([2, 4])]))
    assert [o.tolist() for o in offsets] == [[0, 0], [0, 3], [0, 3]]


def test_a_copy_is_the_callers_own(sess):
    x = tf.placeholder(tf.float32, [2])
    given = np.float32([1, 2])
    copy = sess.run(tf.raw_ops.DeepCopy(x=x), {x: given})
    copy[0] = 9
    assert given.tolist() == [1, 2]


def test_one_of_several_variables():
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.Variable([1.0]), tf.Variable([2.0])
        session.run(tf.global_variables_initializer())
        which = tf.placeholder(tf.int32, [])
        chosen = tf.raw_ops.RefSelect(index=which, inputs=[a, b])
        assert session.run(chosen, {which: 1}).tolist() == [2.0]
        session.run(tf.assign(chosen, [7.0]), {which: 0})
        assert session.run([a, b])[0].tolist() == [7.0]
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(chosen, {which: 2})


@pytest.mark.parametrize(
    "op",
    [
        lambda one: tf.concat([[1], [2]], one([0])),
        lambda one: tf.split([1, 2], 2, one([0])),
        lambda one: tf.one_hot(1, one([2])),
        lambda one: tf.unsorted_segment_sum([1], [0], one([2])),
        lambda one: tf.raw_ops.ShardedFilename(basename="a", shard=one([4]), num_shards=5),
        lambda one: tf.raw_ops.ShardedFilespec(basename="a", num_shards=one([5])),
        lambda one: tf.reshape([1, 2], one([[2]])),
        lambda one: tf.sparse_to_dense([1], [3], 1, one([0])),
        lambda one: tf.nn.depthwise_conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), [2, 1, 1, 1], "SAME"),
    ],
)
def test_what_must_be_a_scalar_or_one(op):
    with tf.Graph().as_default(), tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(op(lambda value: tf.placeholder_with_default(value, None)))
