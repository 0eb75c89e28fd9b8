"""Elements of several datasets in turn, one by one and in blocks."""

import threading
import time

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.data import interleaves
from everflow.kernels.data.datasets import Dataset, End, from_iterable
from tests.kernels.data.takes import taken

D = tf.data.Dataset

pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.mark.parametrize("cycle", [1, 2, 3, 7])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_interleaved_blocks_are_what_comes_one_by_one(cycle, length, sess):
    def build(**options):
        dataset = D.range(6).interleave(lambda x: D.range(x * 10, x * 10 + x), cycle, length).map(lambda x: x + 1)
        made = tf.data.Options()
        made.experimental_optimization.apply_default_optimizations = options.get("blocks", True)
        return dataset.batch(4).with_options(made).make_one_shot_iterator().get_next()

    many, one = build(), build(blocks=False)
    while True:
        try:
            expected = sess.run(one)
        except tf.errors.OutOfRangeError:
            break
        np.testing.assert_array_equal(sess.run(many), expected)
    with pytest.raises(tf.errors.OutOfRangeError):
        sess.run(many)


def test_interleaved_blocks_keep_errors_and_shapes_where_they_are():
    def failing(at):
        def start(iteration):
            given = iter([10 * at, ValueError() if at == 1 else 10 * at + 1, 10 * at + 2])

            def following():
                value = next(given, None)
                if value is None:
                    raise End
                if isinstance(value, ValueError):
                    raise value
                return (torch.tensor(value),)

            return following

        return Dataset(start)

    def parts(iteration):
        waiting = iter([failing(0), failing(1), failing(2)])

        def next_part(place):
            found = next(waiting, None)
            if found is None:
                raise End
            return found

        return next_part

    assert taken(interleaves.in_blocks(parts, 2, 1), 3, 3, 9, 9) == [[0, 10, 1], ValueError, [12, 2, 20, 21, 22], End]

    def of_shapes(iteration):
        waiting = iter([from_iterable(lambda: [(torch.zeros(1),)] * 4), from_iterable(lambda: [(torch.zeros(3),)])])

        def next_part(place):
            found = next(waiting, None)
            if found is None:
                raise End
            return found

        return next_part

    found = taken(interleaves.in_blocks(of_shapes, 1, 1), 9, 9, 9)
    assert found == [[[0.0]] * 4, [[0.0] * 3], End]


def test_interleaved_files_are_read_in_blocks(tmp_path):
    for f in range(3):
        (tmp_path / f"{f}").write_text("".join(f"{f}{i}\n" for i in range(4)))
    names = D.from_tensor_slices([str(tmp_path / f"{f}") for f in range(3)])
    dataset = names.interleave(tf.data.TextLineDataset, 3, 2).map(lambda line: tf.strings.to_number(line)).batch(5)
    following = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        found = [session.run(following).tolist() for _ in range(3)]
    assert found == [[0, 1, 10, 11, 20], [21, 2, 3, 12, 13], [22, 23]]


@pytest.mark.parametrize("given", [{"buffer_output_elements": 0}, {"prefetch_input_elements": -1}])
def test_counts_of_elements_made_ahead(given, own_graph):
    apart = tf.data.experimental.parallel_interleave(tf.data.Dataset.from_tensors, cycle_length=2, **given)
    following = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(3).apply(apart)).get_next()
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="must be at least"):
        sess.run(following)


# --- elements that are late ---------------------------------------------------------------------


class Late:
    """A function of one number that comes to an end for one of them only when others were seen."""

    def __init__(self, number):
        self.number, self.others_were_seen = number, threading.Event()

    def __call__(self, x):
        def wait(x):
            if x == self.number:
                assert self.others_were_seen.wait(30)
            return np.int64(x)

        return tf.reshape(tf.numpy_function(wait, [x], tf.int64), [])


def seen(dataset, late, before, sess):
    """All elements; the late one is let go after so many others."""
    following, found = dataset.make_one_shot_iterator().get_next(), []
    with pytest.raises(tf.errors.OutOfRangeError):
        while True:
            found.append(sess.run(following).tolist())
            if len(found) == before:
                late.others_were_seen.set()
    return found


def parts(late):
    return lambda i: D.range(i * 10, i * 10 + 3).map(late)


def undetermined(dataset):
    options = tf.data.Options()
    options.experimental_deterministic = False
    return dataset.with_options(options)


@pytest.mark.parametrize(
    "interleaved",
    [
        lambda f: D.range(3).apply(tf.data.experimental.parallel_interleave(f, 3, sloppy=True)),
        lambda f: undetermined(D.range(3).interleave(f, 3, num_parallel_calls=3)),
        lambda f: undetermined(D.range(3).apply(tf.data.experimental.parallel_interleave(f, 3))),
    ],
)
@pytest.mark.parametrize("number", [0, 11])
def test_where_order_is_open_nobody_waits_for_a_dataset_that_is_late(interleaved, number, sess):
    late = Late(number)
    found = seen(interleaved(parts(late)), late, 6, sess)
    place = found.index(number)
    assert place >= 6 and sorted(found) == [0, 1, 2, 10, 11, 12, 20, 21, 22]
    for first in (0, 10, 20):  # each dataset's own come in order
        assert [x for x in found if first <= x < first + 10] == [first, first + 1, first + 2]


def test_a_function_that_is_late_is_passed_where_order_is_open(sess):
    late = Late(1)
    found = seen(undetermined(D.range(6).map(late, num_parallel_calls=2)), late, 5, sess)
    assert found[5] == 1 and sorted(found) == [0, 1, 2, 3, 4, 5]


def test_order_stays_where_nobody_gives_it_up(sess):
    late = Late(11)
    late.others_were_seen.set()
    dataset = D.range(3).apply(tf.data.experimental.parallel_interleave(parts(late), 3))
    assert seen(dataset, late, 0, sess) == [0, 10, 20, 1, 11, 21, 2, 12, 22]


def test_datasets_of_a_cycle_are_read_at_the_same_time(sess):
    """Each waits for the others: one after the other they would wait for ever."""
    together = threading.Barrier(3)

    def meet(x):
        if x % 10 >= 2:  # those before show that elements take long, so that threads are worth it
            together.wait(30)
        time.sleep(1e-3)
        return np.int64(x)

    def part(i):
        return D.range(i * 10, i * 10 + 4).map(lambda x: tf.reshape(tf.numpy_function(meet, [x], tf.int64), []))

    dataset = D.range(3).apply(tf.data.experimental.parallel_interleave(part, 3))
    following = dataset.make_one_shot_iterator().get_next()
    assert [sess.run(following) for _ in range(12)] == [i * 10 + k for k in range(4) for i in range(3)]


def test_an_error_of_a_late_dataset_comes_and_the_rest_follows(sess):
    def check(x):
        if x == 11:
            raise ValueError("no eleven")
        return np.int64(x)

    def part(i):
        return D.range(i * 10, i * 10 + 3).map(lambda x: tf.reshape(tf.numpy_function(check, [x], tf.int64), []))

    dataset = D.range(3).apply(tf.data.experimental.parallel_interleave(part, 3, sloppy=True))
    following, found, errors = dataset.make_one_shot_iterator().get_next(), [], 0
    while True:
        try:
            found.append(sess.run(following).tolist())
        except tf.errors.OutOfRangeError:
            break
        except tf.errors.InvalidArgumentError:
            errors += 1
    assert errors == 1 and sorted(found) == [0, 1, 2, 10, 12, 20, 21, 22]


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize(("cycle", "expected"), [(3, [1, 5, 3, 3, 5, 5, 3, 5, 5]), (2, [1, 5, 5, 3, 3, 5, 5, 3, 5])])
def test_a_dataset_that_nothing_follows_leaves_its_turn(cycle, expected, blocks, sess):
    repeated = tf.data.experimental.parallel_interleave(lambda x: D.from_tensors(x).repeat(x), cycle, block_length=2)
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = blocks
    numbers = D.from_tensor_slices(np.int64([1, 5, 3])).apply(repeated).batch(9).with_options(options)
    assert sess.run(numbers.make_one_shot_iterator().get_next()).tolist() == expected
