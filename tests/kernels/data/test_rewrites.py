"""What rewrites make of pipelines: the datasets that TensorFlow's come to, and the elements that were there before."""

import numpy as np
import pytest

import everflow as tf
from everflow.data.experimental.optimization import assert_next, optimize


def one_more(x):
    return x + 1


def twice(x):
    return x * 2


def is_small(x):
    return x < 7


def is_even(x):
    return tf.equal(x % 2, 0)


def drawn(x):
    return tf.random_uniform([], seed=42)


def checked(x):
    with tf.control_dependencies([tf.Assert(x < 100, [x])]):
        return tf.identity(x)


def by_python(x):
    return tf.py_func(lambda y: y, [x], tf.int64)


def with_captured(d):
    three = tf.constant(3, tf.int64)
    return d.map(one_more).map(lambda x: x + three)


def elements(dataset):
    following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                return found


def optimised(dataset, *names):
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    for name in names:
        place, value = (options.experimental_optimization, True)
        *way, last = name.split(".")
        for part in way:
            place = getattr(place, part)
        setattr(place, last, value)
    return dataset.with_options(options)


VECTORIZED = "map_vectorization.enabled"
FASTEST = "map_vectorization.use_choose_fastest"

# The rewrites asked for, what is made of a range, and the datasets that TensorFlow 1.15 has after it.
CASES = [
    ([], lambda d: d.map(one_more).batch(2), "Map BatchV2"),
    ([], lambda d: d.take(-1).skip(0).repeat(1).prefetch(0), "FiniteTake FiniteSkip FiniteRepeat Prefetch"),
    ([], lambda d: d.repeat().take(3).cache(), "ForeverRepeat FiniteTake MemoryCacheImpl"),
    ([], lambda d: d.enumerate().map(lambda i, x: x).window(2).flat_map(lambda w: w), "Zip[1] Map Window FlatMap"),
    ([], lambda d: d.concatenate(tf.data.Dataset.range(0)), "Concatenate[0]"),
    (["noop_elimination"], lambda d: d.take(-1).skip(0).repeat(1).prefetch(0).map(one_more), "Map"),
    (["noop_elimination"], lambda d: d.take(9).skip(1).repeat(2).prefetch(1), "FiniteTake FiniteSkip FiniteRepeat Prefetch"),
    (["shuffle_and_repeat_fusion"], lambda d: d.shuffle(3, seed=1).repeat(2), "ShuffleAndRepeat"),
    (["shuffle_and_repeat_fusion"], lambda d: d.shuffle(3, 1, False).repeat(2), "Shuffle FiniteRepeat"),
    (["map_fusion"], lambda d: d.map(one_more).map(twice).map(one_more), "Map"),
    (["map_fusion"], lambda d: d.map(one_more, 2).map(twice, 2), "ParallelMap ParallelMap"),
    (["map_fusion"], with_captured, "Map Map"),
    (["filter_fusion"], lambda d: d.filter(is_small).filter(is_even), "Filter"),
    (["map_and_filter_fusion"], lambda d: d.map(one_more).filter(is_small), "Map Filter Map"),
    (["map_and_filter_fusion"], lambda d: d.map(one_more, 2).filter(is_small), "ParallelMap Filter Map"),
    (["hoist_random_uniform"], lambda d: d.map(drawn), "Zip[0] Map"),
    (["hoist_random_uniform"], lambda d: d.map(one_more), "Map"),
    (["map_parallelization"], lambda d: d.map(one_more), "ParallelMap"),
    (["map_parallelization"], lambda d: d.map(checked), "ParallelMap"),
    (["map_parallelization"], lambda d: d.map(drawn), "Map"),
    (["map_parallelization"], lambda d: d.map(by_python), "Map"),
    (["map_and_batch_fusion"], lambda d: d.map(one_more).batch(3), "MapAndBatch"),
    (["map_and_batch_fusion"], lambda d: d.map(one_more, 2).batch(3, True).prefetch(1), "MapAndBatch Prefetch"),
    (["map_and_batch_fusion"], lambda d: d.map(one_more).padded_batch(3, []), "Map PaddedBatchV2"),
    ([VECTORIZED], lambda d: d.map(one_more).batch(3), "BatchV2 Map"),
    ([VECTORIZED], lambda d: d.map(one_more, 2).batch(3), "BatchV2 ParallelMap"),
    ([VECTORIZED], lambda d: d.map(one_more).prefetch(2).batch(3), "BatchV2 Map Prefetch"),
    ([VECTORIZED], lambda d: d.map(twice).map(one_more).batch(3), "Map BatchV2 Map"),
    ([VECTORIZED], lambda d: d.map(one_more).batch(2).map(twice).batch(2), "BatchV2 Map Map BatchV2"),
    ([VECTORIZED], lambda d: d.map(by_python).batch(3), "Map BatchV2"),
    ([VECTORIZED], lambda d: d.map(tf.range).batch(1), "Map BatchV2"),
    ([VECTORIZED, "map_and_batch_fusion"], lambda d: d.map(one_more).batch(3), "BatchV2 ParallelMap"),
    ([VECTORIZED, FASTEST], lambda d: d.map(one_more).prefetch(2).batch(3), "ChooseFastestBranch"),
    (["autotune_buffers"], lambda d: d.map(one_more, 2).map(twice, 3).batch(2), "ParallelMap Prefetch ParallelMap Prefetch BatchV2"),
    (["autotune_buffers"], lambda d: d.interleave(tf.data.Dataset.range, 2, 1, 2), "ParallelInterleaveV2 Prefetch"),
    (["parallel_batch"], lambda d: d.batch(2), "BatchV2"),
]  # fmt: skip


@pytest.mark.parametrize(("rewrites", "build", "names"), CASES, ids=[f"{i} {c[2]}" for i, c in enumerate(CASES)])
def test_datasets_are_those_that_tensorflow_makes_and_elements_stay(rewrites, build, names):
    source = tf.data.Dataset.range(10)
    expected = [*names.split(), "Model"]
    found = elements(optimised(build(source.apply(assert_next(expected))), *rewrites))
    plain = elements(optimised(build(source)))
    if not {"shuffle_and_repeat_fusion", "hoist_random_uniform"} & set(rewrites):
        np.testing.assert_equal(found, plain)
    if "hoist_random_uniform" not in rewrites:
        assert sorted(map(str, found)) == sorted(map(str, plain))
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"offset {len(expected) - 1}"):
        elements(optimised(build(source.apply(assert_next([*expected[:-1], "Other"]))), *rewrites))
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"only {len(expected)}"):
        elements(optimised(build(source.apply(assert_next([*expected, "Other"]))), *rewrites))


@pytest.mark.parametrize("size", [[], [3]])
def test_hoisted_numbers_are_drawn_from_a_dataset_of_seeds(size):
    def apart(x, seed):
        return x, tf.random.stateless_uniform(size, seed)

    three = tf.constant(3, tf.int64)
    numbers = tf.data.Dataset.range(4).map(lambda x: (x + three, tf.random_uniform(size, seed=42))).repeat(2)
    seeds = tf.data.experimental.RandomDataset(42).batch(2)
    expected = elements(tf.data.Dataset.zip((tf.data.Dataset.range(3, 7), seeds)).map(apart).repeat(2))
    np.testing.assert_equal(elements(optimised(numbers, "hoist_random_uniform")), expected)


def test_datasets_that_functions_make_are_rewritten():
    def batches(x):
        return tf.data.Dataset.range(4).apply(assert_next(["MapAndBatch", "FlatMap[0]"])).map(one_more).batch(2)

    assert len(elements(tf.data.Dataset.range(1).flat_map(batches))) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"FlatMap\[1\]"):
        elements(tf.data.Dataset.range(2).flat_map(batches))


def test_a_dataset_that_a_function_captured_keeps_its_cache():
    calls = []

    def seen(x):
        calls.append(int(x))
        return x

    inner = tf.data.Dataset.range(3).map(lambda x: tf.py_func(seen, [x], tf.int64)).cache().take(-1)
    found = elements(tf.data.Dataset.range(4).flat_map(lambda x: inner))
    assert found == [0, 1, 2] * 4
    assert calls == [0, 1, 2]


def test_thousands_of_joined_datasets_are_rewritten():
    dataset = tf.data.Dataset.range(1).take(-1)
    for _ in range(1500):
        dataset = dataset.concatenate(tf.data.Dataset.range(1).take(-1))
    assert len(elements(dataset)) == 1501


def test_rewrites_nobody_knows_are_refused():
    with pytest.raises(tf.errors.InternalError, match="filter_with_random"):
        elements(tf.data.Dataset.range(3).apply(optimize(["filter_with_random_uniform_fusion"])))


def test_slack_is_for_pipelines_that_end_with_a_prefetch():
    options = tf.data.Options()
    options.experimental_slack = True
    options.experimental_threading.private_threadpool_size = 1
    assert elements(tf.data.Dataset.range(2).prefetch(1).with_options(options)) == [0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="BatchDatasetV2"):
        elements(tf.data.Dataset.range(2).prefetch(1).batch(2).with_options(options))
    ahead = tf.data.Dataset.range(2).prefetch(1)
    assert elements(ahead.map(lambda x: x + 1).take(1).with_options(options)) == [1]
    assert elements(ahead.concatenate(ahead).with_options(options)) == [0, 1, 0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError):
        elements(ahead.concatenate(tf.data.Dataset.range(2)).with_options(options))


def test_a_dataset_used_in_several_places_draws_the_same_in_each():
    numbers = tf.data.Dataset.range(4).map(lambda x: tf.random_uniform([], 0, 1000, tf.int32, seed=3))
    once = elements(numbers)
    assert elements(tf.data.Dataset.zip((numbers, numbers))) == list(zip(once, once))
    assert elements(numbers.concatenate(numbers)) == once + once
    again = elements(numbers.repeat(2))
    assert again[:4] == once
    assert again[4:] != once
    shuffled = tf.data.Dataset.range(4).shuffle(4, seed=1)
    assert elements(shuffled.concatenate(shuffled)) == [0, 3, 1, 2] * 2
    assert elements(shuffled.concatenate(shuffled).repeat(2)) == [0, 3, 1, 2] * 2 + [2, 3, 1, 0] * 2
