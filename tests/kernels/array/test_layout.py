"""Elements repeated, padded and reordered along axes: every type, nothing at all, and what doesn't fit."""

import numpy as np
import pytest

import everflow as tf
from tests.kernels.feeding import fed

X = np.arange(24).reshape(2, 3, 4)
TYPES = "float16 float32 int8 int32 uint16 bool complex64 string".split()


def values(dtype):
    if dtype == "string":
        return np.array([b"%d" % v for v in X.ravel()], object).reshape(X.shape)
    return (X % 2 if dtype == "bool" else X).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_is_reordered(sess, dtype):
    x = values(dtype)
    t = fed(x, dtype)
    got = sess.run(
        [
            tf.transpose(t, fed([2, 0, 1])),
            tf.tile(t, fed([1, 2, 0])),
            tf.tile(t[:, :1], fed([1, 3, 1])),
            tf.reverse(t, fed([-1, 0])),
            tf.roll(t, fed([1, 1]), fed([1, 1])),
            tf.pad(t, fed([[0, 0], [1, 0], [0, 2]]), mode="SYMMETRIC"),
            tf.reverse_sequence(t, fed([3, 1]), seq_axis=1, batch_axis=0),
        ]
    )
    turned = x.copy()
    turned[0] = x[0, ::-1]
    wanted = [
        x.transpose(2, 0, 1),
        np.tile(x, [1, 2, 0]),
        np.tile(x[:, :1], [1, 3, 1]),
        x[::-1, :, ::-1],
        np.roll(x, 2, 1),
        np.concatenate([x[:, :1], x], 1)[:, :, [0, 1, 2, 3, 3, 2]],
        turned,
    ]
    for found, want in zip(got, wanted):
        assert found.shape == want.shape
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "complex64"])
def test_padding_with_a_value(sess, dtype):
    padded = sess.run(tf.pad(fed(X.astype(dtype)), fed([[0, 0], [1, 1], [2, 0]]), constant_values=fed(7, dtype)))
    np.testing.assert_array_equal(
        padded, np.pad(X, [(0, 0), (1, 1), (2, 0)], "constant", constant_values=7).astype(dtype)
    )


@pytest.mark.parametrize("mode", ["REFLECT", "SYMMETRIC"])
def test_the_gradient_of_a_mirror_adds_up_what_was_mirrored(sess, mode):
    pads = [[1, 2], [2, 1]]
    mirrored = np.pad(np.arange(12).reshape(3, 4), pads, mode.lower())
    grad = np.random.RandomState(0).rand(*mirrored.shape)
    wanted = np.zeros(12)
    np.add.at(wanted, mirrored.ravel(), grad.ravel())
    x = fed(np.zeros([3, 4]))
    found = tf.gradients(tf.pad(x, fed(pads), mode=mode), x, grad_ys=fed(grad))[0]
    np.testing.assert_allclose(sess.run(found), wanted.reshape(3, 4))


def test_what_was_tiled_is_added_up(sess):
    x = fed(np.ones([2, 3]))
    found = sess.run(tf.gradients(tf.tile(x, fed([2, 2])), x, grad_ys=fed(np.arange(24.0).reshape(4, 6)))[0])
    blocks = np.arange(24.0).reshape(2, 2, 2, 3)
    np.testing.assert_array_equal(found, blocks.sum((0, 2)))


@pytest.mark.parametrize(
    ("source", "target", "shape"),
    [("float32", "int32", [2]), ("float32", "uint8", [2, 4]), ("uint8", "uint16", [2]), ("int64", "float64", [2]),
     ("complex64", "float32", [2, 2])],
)  # fmt: skip
def test_bits_are_kept(sess, source, target, shape):
    count = 4 if target == "uint16" else 2
    x = np.arange(1, count + 1).astype(source)
    x = x.reshape(2, 2) if count == 4 else x
    found = sess.run(tf.bitcast(fed(x), target))
    assert list(found.shape) == shape and found.tobytes() == x.tobytes()


def test_permutations_and_their_inverse(sess):
    assert sess.run(tf.invert_permutation(fed([2, 0, 3, 1]))).tolist() == [1, 3, 0, 2]
    z = fed(np.array([[1 + 2j, 3j]]))
    assert sess.run(tf.transpose(z, conjugate=True)).tolist() == [[1 - 2j], [-3j]]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.broadcast_to(fed(X), fed([2, 3])), None),
        (lambda: tf.broadcast_to(fed(X), fed([2, 3, 5])), None),
        (lambda: tf.tile(fed(X), fed([1, 2])), "Expected multiples argument to be a vector of length 3"),
        (lambda: tf.tile(fed(X), fed([1, -2, 1])), r"Expected multiples\[1\] >= 0, but got -2"),
        (lambda: tf.pad(fed(X), fed([[0, 0], [1, 1]])), "The first dimension of paddings must be the rank of inputs"),
        (lambda: tf.pad(fed(X), fed([[0, 0], [1, -1], [0, 0]])), "Paddings must be non-negative"),
        (lambda: tf.pad(fed(X), fed([[2, 0], [0, 0], [0, 0]]), mode="REFLECT"), "must be less than the dimension size"),
        (
            lambda: tf.pad(fed(X), fed([[3, 0], [0, 0], [0, 0]]), mode="SYMMETRIC"),
            "must be no greater than the dimension",
        ),
        (lambda: tf.transpose(fed(X), fed([0, 1])), "transpose expects a vector of size 3"),
        (lambda: tf.transpose(fed(X), fed([0, 1, 3])), "3 is out of range"),
        (lambda: tf.transpose(fed(X), fed([0, 1, 1])), "2 is missing from"),
        (lambda: tf.invert_permutation(fed([0, 2])), "2 is not between 0 and 2"),
        (lambda: tf.invert_permutation(fed([0, 0])), "0 is duplicated in the input"),
        (lambda: tf.reverse(fed(X), fed([3])), "out of valid range"),
        (lambda: tf.reverse(fed(X), fed([0, -3])), "specified more than once"),
        (lambda: tf.reverse_sequence(fed(X), fed([1, 9]), 1, 0), r"seq_lens\(1\) > input.dims\(1\)"),
        (lambda: tf.reverse_sequence(fed(X), fed([1, -1]), 1, 0), r"seq_lens\(1\) < 0"),
        (lambda: tf.reverse_sequence(fed(X), fed([1]), 1, 0), "seq_len"),
        (lambda: tf.roll(fed(1), fed([1]), fed([0])), "input must be 1-D or higher"),
        (lambda: tf.roll(fed(X), fed([1, 2]), fed([0])), "shift and axis must have the same size"),
        (lambda: tf.bitcast(fed(np.float32([1, 2, 3])), tf.float64), "Cannot bitcast"),
    ],
)
def test_what_does_not_fit(sess, build, message):
    found = build()
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(found)


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_sequences_of_unsigned_numbers_are_turned_round(sess, dtype):
    numbers = np.array([[1, 2, 3], [4, 5, 6]], dtype)
    assert sess.run(tf.reverse_sequence(numbers, [2, 3], 1)).tolist() == [[2, 1, 3], [6, 5, 4]]


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_unsigned_numbers_are_mirrored(sess, dtype):
    found = sess.run(tf.pad(fed(np.array([1, 2, 3], dtype)), [[1, 2]], "REFLECT"))
    assert found.tolist() == [2, 1, 2, 3, 2, 1] and found.dtype == dtype


def test_a_scalar_turned_around_is_itself(sess):
    assert sess.run(tf.reverse(tf.placeholder_with_default(3, None), tf.placeholder_with_default([0], None))) == 3
