"""Dimensions and sizes translated between data formats."""

import pytest

import everflow as tf
from tests.kernels.feeding import fed

FORMATS = {"src_format": "NHWC", "dst_format": "NCHW"}


def test_data_formats(sess):
    dims, sizes, pairs = sess.run(
        [
            tf.raw_ops.DataFormatDimMap(x=fed([0, 1, -1, 3]), **FORMATS),
            tf.raw_ops.DataFormatVecPermute(x=fed([1, 2, 3, 4]), **FORMATS),
            tf.raw_ops.DataFormatVecPermute(x=fed([[1, 2], [3, 4], [5, 6], [7, 8]]), **FORMATS),
        ]
    )
    assert dims.tolist() == [0, 2, 1, 1]
    assert sizes.tolist() == [1, 4, 2, 3]
    assert pairs.tolist() == [[1, 2], [7, 8], [3, 4], [5, 6]]


def test_a_permutation_and_its_inverse_give_the_vector_back(sess):
    there = tf.raw_ops.DataFormatVecPermute(x=fed([7, 8, 9, 10]), src_format="NHWC", dst_format="HWNC")
    back = tf.raw_ops.DataFormatVecPermute(x=there, src_format="HWNC", dst_format="NHWC")
    assert sess.run([there, back])[0].tolist() == [8, 9, 7, 10]
    assert sess.run(back).tolist() == [7, 8, 9, 10]


@pytest.mark.parametrize("shape", [[3], [4, 3], [4, 2, 1]])
def test_sizes_are_a_vector_or_pairs(sess, shape):
    permuted = tf.raw_ops.DataFormatVecPermute(x=tf.ones(fed(shape), tf.int32), **FORMATS)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(permuted)


@pytest.mark.parametrize(("src", "dst"), [("123", "321"), ("12", "21"), ("1234", "3321"), ("1234", "124")])
def test_formats_are_permutations_of_four_or_five_letters(sess, src, dst):
    for op in (tf.raw_ops.DataFormatDimMap, tf.raw_ops.DataFormatVecPermute):
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(op(x=fed(list(range(len(src)))), src_format=src, dst_format=dst))
