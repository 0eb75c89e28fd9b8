"""Caches: full only after a whole pass, in memory or in files; every type comes back."""

import contextlib

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from tests.data.draining import drain

D = tf.data.Dataset

pytestmark = pytest.mark.usefixtures("own_graph")


def counted(calls, count=3):
    return D.from_generator(lambda: calls.append(1) or iter(range(count)), tf.int64)


def test_a_pass_that_stopped_early_keeps_nothing():
    calls = []
    iterator = counted(calls).cache().make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session() as sess:
        for _ in range(3):
            sess.run(iterator.initializer)
            assert int(sess.run(following)) == 0
    assert len(calls) == 3


def test_a_whole_pass_is_enough_for_all_that_follow():
    calls = []
    assert [int(v) for v in drain(counted(calls).cache().repeat(4))] == [0, 1, 2] * 4
    assert len(calls) == 1


@pytest.mark.parametrize(
    "value",
    [
        np.float32([[1, 2], [3, 4]]),
        np.array([b"a", b"\xff\x00", b""], object),
        np.array([True, False]),
        np.complex64([1 + 2j]),
        np.zeros([0, 2], np.int8),
    ],
)
def test_files_keep_every_type(tmp_path, value):
    name = str(tmp_path / "kept")
    for _ in range(2):
        (found,) = drain(D.from_tensors(value).cache(name))
        np.testing.assert_array_equal(found, value)
    assert (tmp_path / "kept.index").exists()


def test_files_keep_structures_and_their_order(tmp_path):
    dataset = D.zip((D.range(12), D.range(100, 112).map(tf.as_string))).cache(str(tmp_path / "kept"))
    first, again = drain(dataset), drain(dataset)
    assert (
        [(int(a), b) for a, b in again]
        == [(int(a), b) for a, b in first]
        == [(i, b"%d" % (100 + i)) for i in range(12)]
    )


def test_datasets_share_a_cache():
    kinds = {"output_types": [tf.int64], "output_shapes": [[]]}
    with eager_mode():
        cache = tf.raw_ops.AnonymousMemoryCache()

        def elements(count):
            numbers = tf.data.Dataset.range(count)._variant_tensor
            kept = tf.raw_ops.CacheDatasetV2(input_dataset=numbers, filename="", cache=cache.handle, **kinds)
            handle, _ = tf.raw_ops.AnonymousIteratorV2(**kinds)
            tf.raw_ops.MakeIterator(dataset=kept, iterator=handle)
            found = []
            with contextlib.suppress(tf.errors.OutOfRangeError):
                while True:
                    found.append(int(tf.raw_ops.IteratorGetNextSync(iterator=handle, **kinds)[0]))
            return found

        assert elements(3) == [0, 1, 2]
        assert elements(5) == [0, 1, 2]  # what the first one kept
        tf.raw_ops.DeleteMemoryCache(handle=cache.handle, deleter=cache.deleter)
        assert elements(2) == [0, 1]
