"""The generator: known answers, and that any way of cutting a stream gives the same words."""

import numpy as np
import pytest

from everflow.kernels.random import philox
from everflow.kernels.random.philox import Philox, Stream


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [  # the known answers that Random123 publishes for philox4x32-10
        (0, 0, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ((1 << 128) - 1, (1 << 64) - 1, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    ],
)
def test_known_answers(counter, key, words):
    assert Philox(key, counter).words(1)[0].tolist() == words
    assert Philox(key, counter).words_at(np.zeros(9, np.uint64))[8].tolist() == words


def test_pieces_of_a_stream_agree_with_the_whole():
    place = Philox.from_seeds(7, 5)
    whole = place.words(1000)
    np.testing.assert_array_equal(whole[3:5], place.words(2, 3))
    np.testing.assert_array_equal(whole[10:200], place.skipped(10).words(190))
    np.testing.assert_array_equal(whole[[0, 999, 17]], place.words_at(np.array([0, 999, 17], np.uint64)))


def test_counter_carries_into_the_upper_half():
    start = (1 << 64) - 3
    words = Philox(1, start).words(8)
    single = [Philox(1, start + i).words(1)[0] for i in range(8)]
    np.testing.assert_array_equal(words, single)
    np.testing.assert_array_equal(words[5], Philox(1, start).words_at(np.array([5], np.uint64))[0])


def test_chunks_and_threads_do_not_show(monkeypatch):
    whole = Philox.from_seeds(1, 2).words(5000)
    monkeypatch.setattr(philox, "CHUNK", 64)
    np.testing.assert_array_equal(whole, Philox.from_seeds(1, 2).words(5000))


def test_a_stream_goes_on_where_it_stopped():
    stream = Stream(3, 4)
    first, second = stream.reserve(10), stream.reserve(1)
    np.testing.assert_array_equal(second.words(1), first.words(1, 10))


def test_no_seeds_give_different_streams():
    assert Stream(0, 0).reserve(1).key != Stream(0, 0).reserve(1).key


def test_what_is_made_ahead_is_what_would_have_been_made():
    plain, ready = Stream(3, 4), Stream(3, 4)
    for stretch, used in [(1000, 30)] * 40 + [(500, 7)] * 3 + [(1000, 30)] * 20 + [(9000, 4000)] * 3:
        np.testing.assert_array_equal(ready.reserve(stretch, used).words(used), plain.reserve(stretch).words(used))
    more = ready.reserve(1000, 30).words(50)
    np.testing.assert_array_equal(more, plain.reserve(1000).words(50))
