"""Hashes whose values are recorded in models: the same as TensorFlow's."""

import pytest

from everflow.kernels.hashing import fingerprint64, murmur64, siphash

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


@pytest.mark.parametrize(("text", "bucket"), [(b"", 142163811899), (b"a", 825286642172), (b"hello world", 923794420719)])
def test_murmur(text, bucket):
    assert murmur64(text) % BUCKETS == bucket


@pytest.mark.parametrize(("text", "bucket"), [(b"", 231421486971), (b"a", 201166748918), (b"hello world", 1023323399814)])
def test_siphash(text, bucket):
    assert siphash(text, (1, 2)) % BUCKETS == bucket


def test_siphash_reference_vector():
    key = int.from_bytes(bytes(range(8)), "little"), int.from_bytes(bytes(range(8, 16)), "little")
    assert siphash(bytes(range(15)), key) == 0xA129CA6149BE45E5
