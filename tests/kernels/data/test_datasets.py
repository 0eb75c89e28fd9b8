"""Sources of elements, and iterations that go on after an error or an interruption."""

import numpy as np
import pytest

import everflow as tf
from everflow.kernels.data.datasets import End, Iteration, Restarting, from_iterable
from tests.data.draining import drain
from tests.kernels.feeding import fed

D = tf.data.Dataset

pytestmark = pytest.mark.usefixtures("own_graph")


def test_slices_of_many_rows():
    x = np.arange(600).reshape(300, 2)
    got = drain(D.from_tensor_slices((x, x[:, 0].astype(str))))
    assert len(got) == 300 and got[299][0].tolist() == [598, 599] and got[256][1] == b"512"


@pytest.mark.parametrize(
    ("limits", "wanted"),
    [((4,), [0, 1, 2, 3]), ((2, 9, 3), [2, 5, 8]), ((5, 0, -2), [5, 3, 1]), ((3, 3), []), ((5, 0), [])],
)
def test_ranges(limits, wanted):
    assert [int(v) for v in drain(D.range(*limits))] == wanted


def test_long_ranges():
    assert [int(v) for v in drain(D.range(0, 1000, 3))] == list(range(0, 1000, 3))


def test_what_is_kept_does_not_change_with_the_variable_it_came_from():
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    iterator = D.from_tensors(v).make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(iterator.initializer)
        sess.run(v.assign([9.0, 9.0]))
        assert sess.run(following).tolist() == [1.0, 2.0]


def test_rows_of_sparse_tensors():
    sparse = tf.SparseTensor([[0, 1], [2, 0], [2, 2]], tf.constant([5, 6, 7]), [4, 3])
    iterator = D.from_sparse_tensor_slices(sparse).make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        got = [sess.run(following) for _ in range(4)]
    assert [values.tolist() for _, values, _ in got] == [[5], [], [6, 7], []]
    assert got[2][0].tolist() == [[0], [2]] and got[3][2].tolist() == [3]


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.raw_ops.TensorSliceDataset(components=[fed(1)], output_shapes=[[]]),
        lambda: tf.raw_ops.TensorSliceDataset(components=[fed([1]), fed([1, 2])], output_shapes=[[], []]),
        lambda: tf.raw_ops.RangeDataset(
            start=np.int64(0), stop=np.int64(5), step=fed(np.int64(0)), output_types=[tf.int64], output_shapes=[[]]
        ),
    ],
)
def test_sources_that_can_not_be(build):
    variant = build()
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.raw_ops.ExperimentalDatasetCardinality(input_dataset=variant))


def test_settings_pass_elements_on():
    options = tf.data.Options()
    options.experimental_threading.private_threadpool_size = 3
    options.experimental_threading.max_intra_op_parallelism = 2
    assert [int(v) for v in drain(D.range(3).with_options(options).prefetch(2))] == [0, 1, 2]


def test_an_iteration_goes_on_after_it_was_interrupted():
    interrupt = [True]

    def made():
        for i in range(4):
            if i == 2 and interrupt:
                interrupt.clear()
                raise KeyboardInterrupt
            yield i

    elements = Restarting(made)
    assert [next(elements), next(elements)] == [0, 1]
    with pytest.raises(KeyboardInterrupt):
        next(elements)
    assert list(elements) == [2, 3]


def test_every_iteration_begins_anew_and_ends_for_good():
    dataset = from_iterable(lambda: [(1,), (2,)], 2)
    first, second = dataset.start(Iteration()), dataset.start(Iteration())
    assert [first(), first(), second()] == [(1,), (2,), (1,)]
    for _ in range(2):
        with pytest.raises(End):
            first()


def test_seeds_are_noted_and_given_again():
    drawn = iter([(1, 2), (3, 4)])
    iteration = Iteration()
    assert [iteration.seeds_of(lambda: next(drawn)) for _ in range(2)] == [(1, 2), (3, 4)]
    again = Iteration(noted_seeds=iteration.seeds)
    assert [again.seeds_of(lambda: (9, 9)) for _ in range(3)] == [(1, 2), (3, 4), (9, 9)]
