"""Elements of several datasets in turn, one by one and in blocks."""

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
