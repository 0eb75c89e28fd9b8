"""Strings numbered by their hashes."""

import random

import numpy as np
import pytest

import everflow as tf
from everflow.kernels.strings import buckets
from tests.kernels.feeding import fed


def scalar(value):
    return np.array(value, object)


def test_fingerprints_of_rows(sess):
    numbers, words = sess.run(
        [tf.fingerprint(fed(np.arange(6).reshape(3, 2))), tf.fingerprint(fed([["a", "b"], ["a", "b"]]))]
    )
    assert numbers.shape == (3, 8) and len({row.tobytes() for row in numbers}) == 3
    assert words[0].tolist() == words[1].tolist()
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.raw_ops.Fingerprint(data=fed(["a"]), method=fed("md5")))


@pytest.mark.parametrize("keys", [(1, 2), (3, 4)])
def test_strong_buckets_depend_on_their_key(sess, keys):
    words = fed(["a", "b", "c", "d"])
    found = sess.run(tf.strings.to_hash_bucket_strong(words, 1000, keys)).tolist()
    other = sess.run(tf.strings.to_hash_bucket_strong(words, 1000, (5, 6))).tolist()
    assert all(0 <= bucket < 1000 for bucket in found) and found != other


@pytest.mark.parametrize("buckets_", [1, 10, 2**62])
def test_compiled_loops_give_the_same(both_ways, buckets_):
    rng = random.Random(0)
    text = np.array([rng.randbytes(n) for n in range(300)], object)
    both_ways(lambda: buckets.to_hash_bucket(text, num_buckets=buckets_))
    both_ways(lambda: buckets.to_hash_bucket_fast(text, num_buckets=buckets_))
    both_ways(lambda: buckets.to_hash_bucket_strong(text, num_buckets=buckets_, key=[2**63 - 1, 12345]))
    both_ways(lambda: buckets.fingerprint(text, scalar(b"farmhash64")))
