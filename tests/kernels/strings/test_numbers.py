"""Numbers as text and back: formats, spellings that are none, and tensors in short."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import dtypes
from everflow.kernels.strings.numbers import escaped, number_text, parse_float
from tests.kernels.feeding import fed

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("value", "options", "wanted"),
    [
        (-7, {"width": 5}, b"   -7"),
        (7, {"fill": "+", "width": 3}, b" +7"),
        (7, {"fill": " ", "width": 3}, b"  7"),
        (1.5, {"precision": 0}, b"2"),
        (2.5, {"precision": 0}, b"2"),
        (NAN, {"width": 6, "fill": "0"}, b"   nan"),
        (-INF, {"width": 6, "fill": "0"}, b"  -inf"),
        (1e-7, {"shortest": True}, b"1e-07"),
        (123.456, {"scientific": True, "precision": 1}, b"1.2e+02"),
        (np.complex128(1 - 2j), {"precision": 2}, b"(1.00,-2.00)"),
        (np.int8(-128), {}, b"-128"),
        (True, {}, b"true"),
    ],
)
def test_formats(sess, value, options, wanted):
    assert sess.run(tf.as_string(fed(value), **options)) == wanted


@pytest.mark.parametrize(
    ("value", "options"),
    [
        (1, {"precision": 2}),
        (1, {"scientific": True}),
        (1.0, {"scientific": True, "shortest": True}),
        (1, {"width": 3, "fill": "x"}),
        (1, {"width": 3, "fill": "00"}),
    ],
)
def test_formats_that_can_not_be(sess, value, options):
    text = tf.as_string(fed(value), **options)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(text)


@pytest.mark.parametrize("text", [b"1_000", b"infinity", b"", b" ", b"1.5x", b"0x", b"1e", b"--1", b"1,5"])
def test_spellings_that_are_none(sess, text):
    assert parse_float(text) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert string"):
        sess.run(tf.string_to_number(fed(text)))


@pytest.mark.parametrize(
    ("text", "dtype", "number"),
    [
        ("2147483647", tf.int32, 2**31 - 1),
        ("-2147483648", tf.int32, -(2**31)),
        ("9223372036854775807", tf.int64, 2**63 - 1),
        ("0010", tf.int32, 10),
        ("\t-3\r\n", tf.int64, -3),
        ("1e400", tf.float64, INF),
        ("1e-400", tf.float64, 0.0),
        (".5", tf.float32, 0.5),
        ("5.", tf.float64, 5.0),
        ("+2", tf.float32, 2.0),
        ("-Inf", tf.float32, -INF),
        ("0X1f", tf.float64, 31.0),
    ],
)
def test_spellings(sess, text, dtype, number):
    assert sess.run(tf.string_to_number(fed(text), dtype)) == number


@pytest.mark.parametrize("text", ["2147483648", "-2147483649", "1.0", "0x10", "+1", "1 2"])
def test_spellings_that_are_no_small_whole_number(sess, text):
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.string_to_number(fed(text), tf.int32))


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (0.1, dtypes.float32, "0.1"),
        (np.float32(1) / 3, dtypes.float32, "0.333333343"),
        (1 / 3, dtypes.float64, "0.33333333333333331"),
        (0.1, dtypes.float64, "0.1"),
        (1e20, dtypes.float32, "1e+20"),
        (NAN, dtypes.float32, "nan"),
        (-INF, dtypes.float64, "-inf"),
        (5, dtypes.int32, "5"),
        (True, dtypes.bool, "1"),
        (1j, dtypes.complex64, "?"),
    ],
)
def test_numbers_in_messages(value, dtype, text):
    assert number_text(float(value) if dtype.is_floating else value, dtype) == text


def test_escapes():
    assert escaped(b"a\n\t\"'\\\x00\xff") == "a\\n\\t\\\"\\'\\\\\\000\\377"


@pytest.mark.parametrize(
    ("value", "summarize", "text"),
    [
        ([[1, 2, 3]] * 3, 1, "[[1 ... 3]\n ...\n [1 ... 3]]"),
        ([[[1], [2]], [[3], [4]]], -1, "[[[1]\n  [2]]\n\n [[3]\n  [4]]]"),
        (["a", 'b"'], 3, '["a" "b\\""]'),
        (np.zeros([0]), 3, "[]"),
        (2.5, 3, "2.5"),
    ],
)
def test_tensors_in_short(sess, value, summarize, text):
    assert sess.run(tf.strings.format("{}!", fed(value), summarize=summarize)).decode() == text + "!"
