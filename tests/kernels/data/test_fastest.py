"""Of several datasets with the same elements, the fastest: the elements are the same whichever it is."""

import pytest

import everflow as tf
from everflow.data.experimental.optimization import _ChooseFastestBranchDataset as fastest_branch
from everflow.data.experimental.optimization import _ChooseFastestDataset as fastest

numbers = tf.data.Dataset.range


def elements(dataset):
    following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(following).tolist())
            except tf.errors.OutOfRangeError:
                return found


def slowly(x):
    return tf.py_func(lambda y: (__import__("time").sleep(0.002), y)[1], [x], tf.int64)


@pytest.mark.parametrize("trials", [1, 3, 100])
def test_elements_are_those_of_each(trials):
    both = [numbers(7).map(lambda x: x + 1).batch(2), numbers(7).batch(2).map(lambda x: x + 1)]
    assert elements(fastest(both, num_experiments=trials)) == [[1, 2], [3, 4], [5, 6], [7]]


def test_after_the_trials_only_the_fastest_is_asked():
    asked = []

    def seen(x):
        asked.append(int(x))
        return x

    slow = numbers(20).map(slowly).map(lambda x: tf.py_func(seen, [x], tf.int64))
    assert elements(fastest([slow, numbers(20)], num_experiments=3)) == list(range(20))
    assert asked == [0, 1, 2]


@pytest.mark.parametrize(
    "others",
    [
        lambda: [numbers(4), numbers(5)],
        lambda: [numbers(4), tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0, 4.0])],
        lambda: [numbers(4), numbers(4).batch(1)],
        lambda: [numbers(4), tf.data.Dataset.zip((numbers(4), numbers(4)))],
    ],
)
def test_datasets_with_other_elements_are_refused(others):
    with pytest.raises(tf.errors.InvalidArgumentError):
        elements(fastest(others()))


@pytest.mark.parametrize("per_branch", [1, 2, None])
def test_elements_go_to_one_branch_or_another(per_branch):
    seen = []

    def source():
        for i in range(11):
            seen.append(i)
            yield i

    three = tf.constant(3, tf.int64)
    branches = [lambda d: d.map(lambda x: x + three).batch(2), lambda d: d.batch(2).map(lambda x: x + three)]
    dataset = fastest_branch(
        tf.data.Dataset.from_generator(source, tf.int64, []), branches, 2, num_elements_per_branch=per_branch
    )
    assert elements_with_session(dataset) == [[3, 4], [5, 6], [7, 8], [9, 10], [11, 12], [13]]
    assert seen == list(range(11))


def elements_with_session(dataset):
    iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
    following, found = iterator.get_next(), []
    with tf.Session() as session:
        session.run(iterator.initializer)
        while True:
            try:
                found.append(session.run(following).tolist())
            except tf.errors.OutOfRangeError:
                return found
