"""Caches: full only after a whole pass, in memory or in files; every type comes back."""

import contextlib
import gc

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.kernels.data.cache import cache_dataset
from everflow.kernels.data.datasets import Blocks, Dataset, End, Iteration, from_iterable, rows_in_order
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


def test_many_at_a_time():
    """The first pass keeps blocks; later ones cut them as they are asked for, also one by one."""
    seen = []

    def start(iteration):
        take = rows_in_order((torch.arange(7),), 7).start_columns(iteration)

        def noted(n):
            block = take(n)
            seen.append(len(block[0]))
            return block

        return noted

    source = Dataset(lambda iteration: None, 7, blocks=lambda: Blocks(start))
    cached = cache_dataset(source, np.array(b"", object), output_types=[])

    def a_pass(size):
        take, found = cached.blocks.start_columns(Iteration()), []
        while True:
            try:
                found.append(take(size)[0].tolist())
            except End:
                return found

    assert a_pass(3) == [[0, 1, 2], [3, 4, 5], [6]]
    assert a_pass(4) == [[0, 1, 2, 3], [4, 5, 6]] and seen == [3, 3, 1]
    following = cached.start(Iteration())
    assert [int(following()[0]) for _ in range(7)] == list(range(7))


def test_blocks_of_what_was_kept_one_by_one():
    source = from_iterable(
        lambda: ((torch.tensor(i),) for i in range(3)), 3, lambda: rows_in_order((torch.arange(3),), 3)
    )
    cached = cache_dataset(source, np.array(b"", object), output_types=[])
    following = cached.start(Iteration())
    for _ in range(3):
        following()
    with pytest.raises(End):
        following()
    assert cached.blocks.start_columns(Iteration())(5)[0].tolist() == [0, 1, 2]


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


def test_one_iteration_at_a_time_writes_a_cache(tmp_path, own_graph):
    dataset = tf.data.Dataset.range(3).cache(str(tmp_path / "c"))
    first, second = (tf.compat.v1.data.make_initializable_iterator(dataset) for _ in range(2))
    taken = [first.get_next(), second.get_next()]
    with tf.Session() as sess:
        sess.run([first.initializer, second.initializer])
        assert sess.run(taken[0]) == 0 and [p.name for p in tmp_path.iterdir()] == ["c_0.lockfile"]
        with pytest.raises(tf.errors.AlreadyExistsError, match="another iteration"):
            sess.run(taken[1])
        assert [sess.run(taken[0]) for _ in range(2)] == [1, 2]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(taken[0])
        assert sorted(p.name for p in tmp_path.iterdir()) == ["c.data-00000-of-00001", "c.index"]
        assert [sess.run(taken[1]) for _ in range(3)] == [0, 1, 2]  # which reads what the other wrote


def test_an_abandoned_iteration_leaves_no_lock_behind(tmp_path, own_graph):
    dataset = tf.data.Dataset.range(3).cache(str(tmp_path / "c"))
    iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
    following = iterator.get_next()
    with tf.Session() as sess:
        for _ in range(2):
            sess.run(iterator.initializer)
            assert sess.run(following) == 0
    with tf.Session() as other:  # the first one's iterator may still be there
        other.run(iterator.initializer)
        assert other.run(following) == 0
    del sess, other
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_who_takes_a_part_lets_go_of_the_rest(tmp_path, own_graph):
    dataset = tf.data.Dataset.range(3).cache(str(tmp_path / "c")).take(2)
    following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as sess:
        assert [sess.run(following) for _ in range(2)] == [0, 1] and list(tmp_path.iterdir())
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(following)
        gc.collect()
        assert list(tmp_path.iterdir()) == []
