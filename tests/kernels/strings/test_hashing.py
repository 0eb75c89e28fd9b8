"""Hashes whose values are recorded in models: the same as TensorFlow's."""

import pytest

import everflow as tf
from everflow.formats.murmur import murmur64
from everflow.kernels.strings.hashing import fingerprint64, fingerprint128, siphash, siphashes

BUCKETS = 1 << 40


@pytest.mark.parametrize(
    ("text", "bucket"),
    [
        (b"", 254201053263),
        (b"a", 436859794915),
        (b"hello world", 307288780827),
        (b"x" * 20, 135542558148),
        (b"y" * 50, 584854999059),
        (b"z" * 100, 189983308409),
    ],
)
def test_fingerprint(text, bucket):
    assert fingerprint64(text) % BUCKETS == bucket


@pytest.mark.parametrize(
    ("text", "bucket"), [(b"", 142163811899), (b"a", 825286642172), (b"hello world", 923794420719)]
)
def test_murmur(text, bucket):
    assert murmur64(text) % BUCKETS == bucket


@pytest.mark.parametrize(
    ("text", "bucket"), [(b"", 231421486971), (b"a", 201166748918), (b"hello world", 1023323399814)]
)
def test_siphash(text, bucket):
    assert siphash(text, (1, 2)) % BUCKETS == bucket


def test_siphash_reference_vector():
    key = int.from_bytes(bytes(range(8)), "little"), int.from_bytes(bytes(range(8, 16)), "little")
    assert siphash(bytes(range(15)), key) == 0xA129CA6149BE45E5


def test_siphash_of_a_batch_is_that_of_each():
    key = (0x0706050403020100, -1)
    several = [bytes(range(n)) * repeats for repeats in (1, 2, 3) for n in range(40) for _ in range(3)]
    rare = [b"\xff" * 1000, bytes(256) * 5]
    strings = several + rare
    assert siphashes(strings, key).tolist() == [siphash(s, key) for s in strings]
    assert siphashes([], key).shape == (0,)


def test_strong_buckets_keep_the_shape_of_their_strings():
    words = [[b"word %d" % (row * 10 + i) for i in range(10)] for row in range(3)]
    with tf.Session():
        buckets = tf.string_to_hash_bucket_strong(words, BUCKETS, key=[1, 2]).eval()
        scalar = tf.string_to_hash_bucket_strong(b"a", BUCKETS, key=[1, 2]).eval()
    assert buckets.tolist() == [[siphash(s, (1, 2)) % BUCKETS for s in row] for row in words]
    assert scalar.shape == () and scalar == 201166748918


@pytest.mark.parametrize(
    "length, low, high",
    [
        (1, -3031513573221019310, -4975547386205173904),
        (15, 185489846221326583, -7427985263623917396),
        (17, -297878190495770457, 497097386691029322),
        (33, -8750119541055416195, -1545235590043606842),
        (143, 1133767180607000595, -7802771042198866512),
        (145, -3543376309231284959, 3795034514761370062),
        (500, -2280232492942941885, -2334909729702456999),
    ],
)
def test_long_fingerprints(length, low, high):
    text = bytes((i * 7 + length) % 256 for i in range(length))
    assert fingerprint128(text) == (low % (1 << 64), high % (1 << 64))
