"""Shuffles: every element once in a pass, whatever the buffer; passes never mix; random numbers are a stream's own."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.data.datasets import Iteration, from_iterable
from everflow.kernels.data.shuffle import Words, shuffle_dataset
from everflow.kernels.random.philox import Philox
from tests.data.draining import drain

D = tf.data.Dataset

pytestmark = pytest.mark.usefixtures("own_graph")


def numbers(dataset):
    return [int(v) for v in drain(dataset)]


@pytest.mark.parametrize("buffer_size", [1, 2, 7, 20, 1000])
@pytest.mark.parametrize("passes", [1, 3])
def test_every_element_once_in_a_pass(buffer_size, passes):
    got = numbers(D.range(20).shuffle(buffer_size, seed=3).repeat(passes))
    assert [sorted(got[i * 20 : (i + 1) * 20]) for i in range(passes)] == [list(range(20))] * passes
    assert (got == list(range(20)) * passes) == (buffer_size == 1)


def test_no_element_comes_before_the_buffer_could_hold_it():
    got = numbers(D.range(50).shuffle(5, seed=1))
    assert all(element < place + 5 for place, element in enumerate(got))


def test_a_buffer_that_grows():
    """Large buffers begin small: what is in them stays, and keeps its place."""
    source = from_iterable(lambda: ((i,) for i in range(70000)), 70000)
    shuffled = shuffle_dataset(
        source, torch.tensor(10**9), torch.tensor(2), torch.tensor(3), reshuffle_each_iteration=True
    )
    following = shuffled.start(Iteration())
    got = [following()[0] for _ in range(70000)]
    assert got != sorted(got) and sorted(got) == list(range(70000))


def test_seeds_decide_and_none_are_chance():
    first, again, other = (numbers(D.range(30).shuffle(30, seed=s)) for s in (1, 1, 2))
    assert first == again != other
    assert numbers(D.range(30).shuffle(30)) != numbers(D.range(30).shuffle(30))


def test_reshuffling():
    once, twice = (
        numbers(D.range(20).shuffle(20, seed=4, reshuffle_each_iteration=again).repeat(2)) for again in (False, True)
    )
    assert once[:20] == once[20:] and twice[:20] != twice[20:]


def test_nothing_is_shuffled():
    assert numbers(D.range(0).shuffle(5).repeat()) == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="buffer_size must be greater than zero"):
        numbers(D.range(3).shuffle(tf.constant(0, tf.int64)))


def test_words_are_those_of_the_stream():
    words = Words(3, 4)
    assert [words() for _ in range(300)] == Philox.from_seeds(3, 4).words(75).reshape(-1).tolist()


def test_random_numbers_begin_with_their_seed():
    first, again = (numbers(tf.data.experimental.RandomDataset(seed=7).take(5)) for _ in range(2))
    assert first == again and len(set(first)) == 5 and all(0 <= n < 2**32 for n in first)


def test_orders_from_a_generator_of_seeds():
    """Expected orders are TensorFlow's."""
    kinds = {"output_types": [tf.int64], "output_shapes": [[]]}
    with tf.Graph().as_default(), tf.Session() as session:
        seeds = tf.raw_ops.AnonymousRandomSeedGenerator(seed=np.int64(1), seed2=np.int64(2))
        numbers = tf.data.Dataset.range(6)._variant_tensor
        mixed = tf.raw_ops.ShuffleDatasetV2(
            input_dataset=numbers, buffer_size=np.int64(4), seed_generator=seeds.handle, **kinds
        )
        twice = tf.raw_ops.RepeatDataset(input_dataset=mixed, count=np.int64(2), **kinds)
        handle = tf.raw_ops.IteratorV2(shared_name="", container="", **kinds)
        session.run(tf.raw_ops.MakeIterator(dataset=twice, iterator=handle))
        (element,) = tf.raw_ops.IteratorGetNext(iterator=handle, **kinds)
        assert [session.run(element) for _ in range(12)] == [0, 2, 1, 4, 5, 3, 3, 0, 2, 1, 4, 5]
