"""Kernels on one string at a time: bytes that are no text, Base64 that is none."""

import random

import numpy as np
import pytest

import everflow as tf
from everflow.kernels.registry import function_of
from everflow.kernels.strings import text
from tests.kernels.feeding import fed


def test_lengths_of_bytes_that_are_no_text(sess):
    words = fed([b"\xff\xfe", b"", "\U0001f600".encode()])
    found = sess.run([tf.strings.length(words), tf.strings.length(words, unit="UTF8_CHAR")])
    assert [f.tolist() for f in found] == [[2, 0, 4], [2, 0, 1]]


@pytest.mark.parametrize("text", ["YQ=", "Y===", "a+b/", "a b c", "Y"])
def test_base64_that_is_none(sess, text):
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.decode_base64(fed(text)))


@pytest.mark.parametrize("seed", range(8))
def test_compiled_loops_give_the_same(both_ways, seed):
    rng = random.Random(seed)
    odd = [b"", b" ", b"\t A b\n", b"aBc", b"ABC", b"\xc3\x84 \xc3", "\u00c4h \u0130 SS\u1e9e".encode(), b"@[`{"]
    values = np.array([rng.choice([*odd, rng.randbytes(rng.randrange(40))]) for _ in range(60)], object).reshape(6, 10)
    for encoding in ("", "utf-8"):
        for name in ("StringLower", "StringUpper"):
            both_ways(lambda n=name, e=encoding: function_of(n)(values, encoding=e))
    both_ways(lambda: text.strip(values))
    both_ways(lambda: text.strip(values.T))
    for unit in ("BYTE", "UTF8_CHAR"):
        both_ways(lambda u=unit: text.length(values, unit=u))
    for pad in (False, True):
        digits = both_ways(lambda p=pad: text.encode_base64(values, pad=p))
        assert both_ways(lambda d=digits: text.decode_base64(d)).tolist() == values.tolist()
    for _ in range(20):
        broken = np.array([bytes(rng.choices(b"aZ0-_=+ ", k=rng.randrange(9)))], object)
        both_ways(lambda b=broken: text.decode_base64(b))
