"""Caches: full only after a whole pass, in memory or in files; every type comes back."""

import numpy as np
import pytest

import everflow as tf
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
