"""Many elements at a time: the same elements as one by one, errors at the element they belong to."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.data import blocks
from everflow.kernels.data.datasets import Blocks, Dataset, End, Iteration, Lists, from_iterable
from tests.kernels.data import random_pipelines
from tests.kernels.data.takes import taken

D = tf.data.Dataset

pytestmark = pytest.mark.usefixtures("own_graph")


def numbers(count):
    """A dataset of single numbers that has no blocks."""
    return from_iterable(lambda: ((torch.tensor(i),) for i in range(count)), count)


def rows(count):
    return blocks.of(Dataset(lambda iteration: numbers(count).start(iteration)))


def test_single_elements_are_put_together():
    assert taken(rows(5), 2, 2, 2, 2) == [[0, 1], [2, 3], [4], End]


def test_an_error_comes_where_its_element_is():
    def start(iteration):
        given = iter([0, 1, ValueError(), 3])

        def following():
            value = next(given, None)
            if value is None:
                raise End
            if isinstance(value, ValueError):
                raise value
            return (torch.tensor(value),)

        return following

    assert taken(blocks.of(Dataset(start)), 3, 3, 3, 3) == [[0, 1], ValueError, [3], End]


def test_elements_of_other_shapes_come_in_blocks_of_their_own():
    source = from_iterable(lambda: ((torch.zeros(n),) for n in (2, 2, 3)))
    take = blocks.of(source).start_columns(Iteration())
    assert take(3)[0].shape == (2, 2) and take(3)[0].shape == (1, 3)


def test_choices():
    assert taken(blocks.taken(rows(9), 4), 3, 3, 3) == [[0, 1, 2], [3], End]
    assert taken(blocks.skipped(rows(5), 3), 3, 3) == [[3, 4], End]
    assert taken(blocks.sharded(rows(9), 3, 1), 2, 2, 2) == [[1, 4], [7], End]
    assert taken(blocks.repeated(numbers_in_blocks(2), 2), 5, 5, 5) == [[0, 1], [0, 1], End]
    assert taken(blocks.concatenated([numbers_in_blocks(2), numbers(1)]), 5, 5, 5) == [[0, 1], [0], End]


def numbers_in_blocks(count):
    made = numbers(count)
    return Dataset(made.start, count, blocks=lambda: rows(count))


def test_pairs_stay_pairs_where_blocks_have_other_sizes():
    longer = numbers_in_blocks(5)
    pieces = Dataset(longer.start, blocks=lambda: blocks.concatenated([numbers_in_blocks(2), numbers_in_blocks(2)]))
    take = blocks.zipped([longer, pieces]).start_columns(Iteration())
    assert [[c.tolist() for c in take(4)] for _ in range(2)] == [[[0, 1], [0, 1]], [[2, 3], [0, 1]]]
    with pytest.raises(End):
        take(4)


def test_an_empty_dataset_is_not_repeated_for_ever():
    assert taken(blocks.repeated(numbers_in_blocks(0), -1), 3) == [End]


def test_a_function_for_many_that_fails_is_called_for_each():
    def many(column, step):
        if (column == 2).any():
            raise ValueError("one of them")
        return [column * 10]

    def one(value):
        if value == 2:
            raise ValueError("this one")
        return (value * 10,)

    made = blocks.mapped(numbers(6), blocks.Many(many, [False]), lambda iteration: one)
    assert taken(made, 4, 4, 4, 4, 4, 4) == [[0], [10], ValueError, [30], [40, 50], End]


def test_a_function_for_many_that_never_works_is_given_up():
    asked = []

    def many(column, step):
        asked.append(len(column))
        raise ValueError("results of different shapes")

    made = blocks.mapped(numbers(6), blocks.Many(many, [False]), lambda iteration: lambda value: (value,))
    assert taken(made, *[3] * 7) == [[0], [1], [2], [3], [4], [5], End]
    assert asked == [3]


def test_filters_keep_what_a_predicate_says():
    def many(column, step):
        return [column % 3 == 0]

    made = blocks.filtered(numbers(8), blocks.Many(many, [False]), lambda iteration: lambda value: (value % 3 == 0,))
    assert taken(made, 4, 4, 4) == [[0, 3], [6], End]


def test_lists_of_different_lengths_come_one_by_one():
    def many(column, step):
        return [torch.arange(int(column.sum())), column]

    source = Dataset(numbers(4).start, blocks=lambda: Blocks(rows(4).start, quiet=True))
    made = blocks.mapped(source, blocks.Many(many, [True], quiet=True), lambda iteration: None)
    assert made.lists and made.quiet
    following = blocks.one_by_one(made, Iteration())
    assert [following()[0].tolist() for _ in range(4)] == [[], [0], [1, 2], [3, 4, 5]]
    words = Lists(np.array([b"a", b"b", b"c"], object), torch.tensor([1, 0, 2]))
    assert [r.tolist() for r in words.rows()] == [[b"a"], [], [b"b", b"c"]] and len(words) == 3


def test_what_is_read_ahead_is_quiet():
    """A generator runs no further than it is asked to; files and arrays show nothing."""
    seen = []

    def rows():
        for i in range(100):
            seen.append(i)
            yield b"a b"

    read = D.from_generator(rows, tf.string, []).map(lambda x: tf.string_split([x]).values)
    following = tf.compat.v1.data.make_one_shot_iterator(read).get_next()
    with tf.Session() as sess:
        assert sess.run(following).tolist() == [b"a", b"b"] and seen == [0]


def test_rows_of_arrays_are_looked_up_once():
    made = Blocks(lambda iteration: lambda n: np.array([3, 1, 2])[:n], [torch.tensor([0, 10, 20, 30])])
    assert taken(made, 3, 1) == [[30, 10, 20], [30]]
    assert taken(blocks.taken(made, 2), 3) == [[30, 10]]


def test_what_is_switched_off_is_not_done(monkeypatch):
    def unwanted(*_):
        raise AssertionError("a block was asked for")

    monkeypatch.setattr(Blocks, "start_columns", unwanted)
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    following = tf.compat.v1.data.make_one_shot_iterator(D.range(4).batch(2).with_options(options)).get_next()
    with tf.Session() as sess:
        assert sess.run(following).tolist() == [0, 1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = str(tmp_path_factory.mktemp("files"))
    random_pipelines.make_files(tf, made)
    return made


@pytest.mark.parametrize("seed", range(36))
def test_random_pipelines(seed, folder):
    assert random_pipelines.shown(tf, seed, folder) == random_pipelines.plain(tf, seed, folder)
