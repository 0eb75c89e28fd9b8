"""Casts from every type to every other, and complex numbers in parts."""

import numpy as np
import pytest

import everflow as tf

TYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("source", TYPES)
def test_small_numbers_come_through_every_cast(sess, source):
    values = np.array([0, 1, 1, 0] if source == "bool" else [0, 1, 2, 100]).astype(source)
    for target in TYPES:
        got = sess.run(tf.cast(tf.constant(values), target))
        assert got.dtype == target
        np.testing.assert_array_equal(got, values.real.astype(target))


@pytest.mark.parametrize("target", ["int8", "uint16", "int32", "uint64", "bool", "float16"])
def test_scalars_and_nothing_are_cast_too(sess, target):
    assert sess.run(tf.cast(tf.constant(1.0), target)).shape == ()
    empty = sess.run(tf.cast(tf.zeros([0, 3]), target))
    assert empty.shape == (0, 3) and empty.dtype == target


def test_the_imaginary_part_is_left_behind(sess):
    z = tf.constant([1.5 + 2j, -300.7 + 0j], tf.complex64)
    assert sess.run(tf.cast(z, tf.int32)).tolist() == [1, -300]
    real = sess.run(tf.cast(z, tf.float32))
    np.testing.assert_array_equal(real, np.float32([1.5, -300.7]))
    assert sess.run(tf.cast(tf.constant([-1.5]), tf.complex128)).tolist() == [-1.5 + 0j]


@pytest.mark.parametrize(
    ("source", "target", "kept"), [("float64", "float32", 24), ("float64", "float16", 11), ("float32", "float16", 11)]
)
def test_a_cast_that_truncates_goes_towards_zero(sess, source, target, kept):
    x = np.array([1 + 2.0**-kept + 2.0 ** -(kept + 2), -1 - 2.0**-kept - 2.0 ** -(kept + 2)], source)
    nearest, truncated = sess.run(
        [tf.raw_ops.Cast(x=tf.constant(x), DstT=target, Truncate=truncate) for truncate in (False, True)]
    )
    step = 2.0 ** (1 - kept)
    assert nearest.tolist() == [1 + step, -1 - step]
    assert truncated.tolist() == [1.0, -1.0]


def test_numbers_past_the_signed_ones_as_unsigned(sess):
    x = np.array([2.0**63, 2.0**63 + 4096, 2.0**64 - 4096, 12.7])
    expected = [2**63, 2**63 + 4096, 2**64 - 4096, 12]
    assert sess.run(tf.cast(tf.constant(x), tf.uint64)).tolist() == expected
    assert sess.run(tf.cast(tf.constant(np.array(expected[:3], np.uint64)), tf.float64)).tolist() == x[:3].tolist()


def test_parts_broadcast_into_a_complex_number(sess):
    z = sess.run(tf.raw_ops.Complex(real=[[1.0], [2.0]], imag=[3.0, 4.0]))
    np.testing.assert_array_equal(z, [[1 + 3j, 1 + 4j], [2 + 3j, 2 + 4j]])


def test_parts_of_a_result_do_not_change_with_it(sess):
    z = tf.constant([1 + 2j, 3 - 4j])
    parts = sess.run([tf.real(z), tf.imag(z), tf.raw_ops.ComplexAbs(x=z, Tout=tf.float64), tf.raw_ops.Conj(input=z)])
    for got, want in zip(parts, ([1, 3], [2, -4], [5**0.5, 5], [1 - 2j, 3 + 4j])):
        np.testing.assert_allclose(got, want)
