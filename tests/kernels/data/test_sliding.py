"""Windows: gaps between them, steps within them, and what is left at the end."""

import numpy as np
import pytest

import everflow as tf
from tests.data.draining import drain

D = tf.data.Dataset

pytestmark = pytest.mark.usefixtures("own_graph")


def windows(count, size, shift, stride, drop):
    found = []
    for start in range(0, count, shift):
        window = list(range(start, min(start + (size - 1) * stride + 1, count), stride))
        if len(window) == size or (window and not drop):
            found.append(window)
    return found


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize(
    ("size", "shift", "stride"), [(3, 1, 1), (2, 2, 1), (2, 3, 1), (3, 2, 2), (1, 4, 1), (9, 1, 1)]
)
def test_windows_as_datasets(size, shift, stride, drop):
    dataset = D.range(7).window(size, shift, stride, drop).flat_map(lambda window: window.batch(10))
    assert [w.tolist() for w in drain(dataset)] == windows(7, size, shift, stride, drop)


@pytest.mark.parametrize(
    ("size", "shift", "stride"), [(3, 1, 1), (2, 2, 1), (2, 3, 1), (3, 2, 2), (1, 4, 1), (9, 1, 1)]
)
def test_windows_as_batches(size, shift, stride):
    dataset = D.range(7).apply(tf.contrib.data.sliding_window_batch(size, window_shift=shift, window_stride=stride))
    assert [w.tolist() for w in drain(dataset)] == windows(7, size, shift, stride, True)


def test_structures_become_datasets_in_each_component():
    dataset = D.zip((D.range(3), D.range(3).map(tf.as_string))).window(2)
    batches = dataset.flat_map(lambda a, b: D.zip((a.batch(2), b.batch(2))))
    assert [(a.tolist(), b.tolist()) for a, b in drain(batches)] == [([0, 1], [b"0", b"1"]), ([2], [b"2"])]


@pytest.mark.parametrize("wrong", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_sizes_are_positive(wrong):
    size, shift, stride = (tf.constant(n, tf.int64) for n in wrong)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be greater than zero"):
        drain(D.range(3).window(size, shift, stride).flat_map(lambda w: w))


@pytest.mark.parametrize(
    "size, shift, stride, wanted",
    [
        (2, 1, 1, [[1, 0.5], None, None, [0.25, 0.2], None, None, [0.125]]),
        (2, 2, 1, [[1, 0.5], None, None, [0.125]]),
        (2, 3, 1, [[1, 0.5], [0.25, 0.2], [0.125]]),  # what no window holds may fail
        (2, 1, 2, [None, [0.5, 0.25], None, None, [0.2, 0.125], None, [0.125]]),
    ],
)
def test_an_error_stands_for_its_element_in_all_windows(sess, size, shift, stride, wanted):
    inverse = lambda x: tf.check_numerics(1 / x, "zero")  # noqa: E731
    dataset = tf.data.Dataset.from_tensor_slices(np.float32([1, 2, 0, 4, 5, 0, 8])).map(inverse)
    dataset = dataset.window(size, shift, stride).flat_map(lambda w: w.batch(3))
    following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    for values in wanted:
        if values is None:
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(following)
        else:
            np.testing.assert_allclose(sess.run(following), values)
    with pytest.raises(tf.errors.OutOfRangeError):
        sess.run(following)
