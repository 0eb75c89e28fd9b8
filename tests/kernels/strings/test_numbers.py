"""Numbers as text and back: formats, spellings that are none, and tensors in short."""

import random
import struct
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.framework import dtypes
from everflow.kernels.strings import numbers
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


SPELLINGS = (
    "0 -0 +5 5. .5 . 1e5 1E-5 1e 1e+ 1e-400 1e400 -1e308 1.7976931348623157e308 5e-324 2.2250738585072014e-308 inf -Infinity nan "
    "0x1F 1_0 9007199254740993 9007199254740993.0 123456789012345678901234567890 0.1e1 00012 1e00005 --1 +-1 1.2.3 1e5.0 12a "
    "0.00000000000000000000000000001 8.5 1e22 1e23 9223372036854775807 9223372036854775808 -9223372036854775808 2147483647 "
    "2147483648 -2147483648 -2147483649 99999999999999999999"
).split()


def spelt(rng):
    """A number in some spelling, with some digits too many at times."""
    value = struct.unpack("<d", rng.randbytes(8))[0]
    forms = [
        lambda: repr(value),
        lambda: f"{value:.{rng.randrange(20)}e}",
        lambda: f"{rng.uniform(-1e6, 1e6):.{rng.randrange(12)}f}",
        lambda: str(rng.randrange(-(10 ** rng.randrange(1, 20)), 10 ** rng.randrange(1, 20))),
        lambda: rng.choice(SPELLINGS),
        lambda: " " + rng.choice(SPELLINGS) + "\t\n",
        lambda: f"{rng.getrandbits(64)}e{rng.randrange(-40, 40)}",
    ]
    return rng.choice(forms)().encode()


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64])
def test_compiled_parsing_gives_the_same(both_ways, dtype):
    """All that can be read at once, and each of the others by itself."""
    rng = random.Random(1)
    texts = [spelt(rng) for _ in range(4000)] + [b"", b" ", b"1\x00", b"\xff"]
    parse = numbers.number_parser(dtype)
    good = np.array([t for t in texts if parse(t) is not None], object)
    assert len(good) > 300
    with np.errstate(over="ignore"):
        both_ways(lambda: numbers.string_to_number(good, out_type=dtype))
        for text in {t for t in texts if parse(t) is None} | {s.encode() for s in SPELLINGS}:
            both_ways(lambda t=text: numbers.string_to_number(np.array([b"1", t], object), out_type=dtype))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_compiled_texts_of_floats_are_the_same(both_ways, dtype):
    rng = random.Random(2)
    values = [
        rng.choice([0.0, -0.0, 0.5, 1.5, 2.5, 1e-7, 5e-7, NAN, INF, 1e15, 1e18, 1e19, 1e300, 5e-324])
        for _ in range(300)
    ]
    values += [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(500)]
    values += [rng.uniform(-1000, 1000) for _ in range(1000)] + [k / 64 for k in range(-200, 200)]
    values += [rng.uniform(-1, 1) * 10.0 ** rng.randrange(-12, 12) for _ in range(1000)]
    with np.errstate(over="ignore"):
        given = torch.tensor(values, dtype=torch.float64).to(dtype)
    for precision in (-1, 0, 1, 2, 5, 9, 12):
        both_ways(lambda p=precision: as_string(given, precision=p))


def as_string(values, precision=-1):
    node = SimpleNamespace(input_dtypes=[dtypes.as_dtype(str(values.dtype).removeprefix("torch."))])
    options = {"scientific": False, "shortest": False, "width": -1, "fill": "", "node": node}
    return numbers.as_string(values, precision=precision, **options)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.int64])
def test_compiled_texts_of_whole_numbers_are_the_same(both_ways, dtype):
    limits = torch.iinfo(dtype)
    values = [limits.min, limits.max, 0, 1, 9, 10, 99, 100, limits.max // 3, limits.min // 3]
    both_ways(lambda: as_string(torch.tensor(values, dtype=dtype).reshape(2, 5)))


def test_signs_without_a_width(sess):
    assert sess.run(tf.as_string([5, -3], fill="+")).tolist() == [b"+5", b"-3"]
    assert sess.run(tf.as_string([5, -3], fill=" ")).tolist() == [b" 5", b"-3"]
    assert sess.run(tf.as_string([5.0], fill="+", precision=2)).tolist() == [b"+5.00"]


def test_omissions_between_matrices_stand_apart(sess):
    numbers_of_cube = tf.reshape(tf.range(27), [3, 3, 3])
    shown = sess.run(tf.strings.format("{}", numbers_of_cube, summarize=1))
    assert shown == b"[[[0 ... 2]\n  ...\n  [6 ... 8]]\n\n ...\n\n [[18 ... 20]\n  ...\n  [24 ... 26]]]"
    assert sess.run(tf.strings.format("{}", numbers_of_cube, summarize=0)) == b"[\n\n ...]"
