"""Blocks shared out among threads: in order, errors at their elements, the same whatever is asked for at a time."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.data import shares
from everflow.kernels.data.datasets import Blocks, End, Iteration
from everflow.kernels.data.shares import Form, SharedOut
from everflow.runtime.state import SessionState, Step
from tests.kernels.data.test_ahead import gone, impatient  # noqa: F401  A fixture is one of them.

pytestmark = pytest.mark.usefixtures("own_graph")


class Tens:
    """Ten times each number, for many at once; it refuses blocks with numbers that `refuses` has."""

    def __init__(self, refuses=(), fails=()):
        self.sizes, self.refuses, self.fails = [], refuses, fails

    def many(self, column, *numbers, step):
        self.sizes.append(len(column))
        if any(int(i) in self.refuses for i in column):
            raise ValueError("one of them")
        return (10 * column + sum(numbers),)

    def one(self, step, element):
        if element[0] in self.fails:
            raise ValueError(str(int(element[0])))
        return (10 * element[0] + sum(element[1:]),)


def started(tens, count, pieces=7, draw=None):
    """Over numbers that come up to so many at a time."""

    left = torch.arange(count)

    def take(n):
        nonlocal left
        if not len(left):
            raise End
        found, left = left[: min(n, pieces)], left[min(n, pieces) :]
        return (found,)

    iteration = Iteration(Step(SessionState()))
    iteration.threads = 3
    return SharedOut(take, lambda size: Form(size, tens.many, tens.one, draw), 2, iteration)


def taken(take, n):
    """All that comes, errors by their text."""
    found = []
    while True:
        try:
            found += take(n)[0].tolist()
        except End:
            return found
        except ValueError as e:
            found.append(str(e))


@pytest.mark.parametrize("n", [1, 5, 32, 50, 100])
def test_results_come_in_order(n):
    tens = Tens()
    assert taken(started(tens, 75), n) == [10 * i for i in range(75)]
    assert gone() and (max(tens.sizes, default=1) == {1: 1, 5: 5, 32: 32, 50: 25, 100: 25}[n])


def test_elements_that_fail_together_are_asked_one_by_one():
    tens = Tens(refuses=[20], fails=[20])
    found = taken(started(tens, 75), 8)
    assert found == [10 * i if i != 20 else "20" for i in range(75)]
    assert len(tens.sizes) == 9  # it is asked again for those that follow; the last three come alone


def test_a_form_that_fails_for_good_elements_is_given_up():
    tens = Tens(refuses=range(100))
    assert taken(started(tens, 19), 2) == [10 * i for i in range(19)]
    assert len(tens.sizes) <= 3  # those that were under way


def test_numbers_are_drawn_in_the_order_of_the_elements(monkeypatch):
    monkeypatch.setattr(shares, "DRAWN", 10)
    drawn = [0]

    def draw(times, step):
        begin, drawn[0] = drawn[0], drawn[0] + int(times)
        return [torch.arange(begin, drawn[0])]

    assert taken(started(Tens(), 19, draw=draw), 4) == [11 * i for i in range(19)]
    assert drawn[0] < 40


def test_large_elements_come_in_smaller_blocks(monkeypatch):
    monkeypatch.setattr(shares, "LARGEST", 1000)
    sizes = []

    def many(column, step):
        sizes.append(len(column))
        return (column,)

    left = [np.array([b"x" * 300] * 8, object)] * 3
    iteration = Iteration(Step(SessionState()))
    source = Blocks(lambda iteration: lambda n: (left.pop() if left else _end(),), quiet=True)
    form_for = lambda iteration, size: Form(size, many, lambda step, element: element, None)  # noqa: E731
    take = shares.shared_out(source, form_for, 2).start(iteration)
    found = []
    with pytest.raises(End):
        while True:
            found += list(take(8)[0])
    assert len(found) == 24 and set(sizes) == {3}


def _end():
    raise End


def augmented(calls, files, **options):
    """Batches of images that a function with random numbers made."""

    def read(data):
        image = tf.image.decode_jpeg(data, channels=3)
        image = tf.random_crop(image, [16, 16, 3], seed=3)
        image = tf.image.random_flip_left_right(tf.cast(image, tf.float32), seed=4)
        return tf.image.random_brightness(image, 60.0, seed=5)

    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = tf.data.Dataset.from_tensor_slices(files).map(read, num_parallel_calls=calls).batch(8)
        following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
        found = []
        while True:
            try:
                found.append(sess.run(following))
            except tf.errors.OutOfRangeError:
                return np.concatenate(found)


def test_images_of_different_sizes_are_cropped_together_with_the_numbers_of_their_seeds(monkeypatch):
    random = np.random.RandomState(0)
    with tf.Graph().as_default(), tf.Session() as sess:
        picture = tf.placeholder(tf.uint8, [None, None, 3])
        encoded = tf.image.encode_jpeg(picture)
        sizes = [(20 + i % 5, 30 - i % 7, 3) for i in range(19)]
        files = [sess.run(encoded, {picture: random.randint(0, 256, size).astype(np.uint8)}) for size in sizes]
    calls = []
    results = Form.results
    monkeypatch.setattr(Form, "results", lambda self, job: calls.append(self._works) or results(self, job))
    np.testing.assert_array_equal(augmented(2, files), augmented(None, files))
    assert len(calls) == 3 and all(calls)
