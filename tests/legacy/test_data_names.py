"""Inner names of datasets that programs use."""

import collections
import unittest

import numpy as np
import pytest

import everflow as tf
from everflow.data.experimental.distribution import replicate
from everflow.data.multi_device import MultiDeviceIterator
from everflow.eager import version_mark
from everflow.legacy.inner.data import datasets as data
from everflow.legacy.inner.data import experimental as more
from everflow.legacy.inner.data import nest as data_nest
from everflow.legacy.inner.data import options as data_options
from everflow.legacy.inner.data import stats_aggregator
from everflow.legacy.inner.data.map_defun import map_defun
from everflow.legacy.inner.data.testing.stats import StatsDatasetTestBase


def elements(dataset):
    iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
    following, found = iterator.get_next(), []
    with tf.Session() as session:
        session.run(iterator.initializer)
        while True:
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                return found


def numbers():
    return tf.data.Dataset.range(4)


KINDS = [
    (lambda: data.RangeDataset(4), [0, 1, 2, 3]),
    (lambda: data.TakeDataset(numbers(), 2), [0, 1]),
    (lambda: data.SkipDataset(numbers(), 2), [2, 3]),
    (lambda: data.RepeatDataset(numbers(), 2), [0, 1, 2, 3] * 2),
    (lambda: data.PrefetchDataset(numbers(), 1, slack_period=2), [0, 1, 2, 3]),
    (lambda: data.MapDataset(numbers(), lambda x: x + 1), [1, 2, 3, 4]),
    (lambda: data.ParallelMapDataset(numbers(), lambda x: x + 1, 2), [1, 2, 3, 4]),
    (lambda: data.FilterDataset(numbers(), lambda x: x > 1), [2, 3]),
    (lambda: data._MaxIntraOpParallelismDataset(numbers(), 1), [0, 1, 2, 3]),
    (lambda: data._PrivateThreadPoolDataset(numbers(), 1), [0, 1, 2, 3]),
    (lambda: data._ModelDataset(numbers(), 0, 0), [0, 1, 2, 3]),
    (lambda: data._OptimizeDataset(numbers(), ["noop_elimination"]), [0, 1, 2, 3]),
    (lambda: numbers().apply(data.sleep(1)), [0, 1, 2, 3]),
    (lambda: data._RestructuredDataset(numbers(), tf.TensorSpec([], tf.int64)), [0, 1, 2, 3]),
]


@pytest.mark.parametrize(("make", "expected"), KINDS)
def test_a_class_for_each_transformation(make, expected):
    assert elements(make()) == expected


def test_files_that_match(tmp_path):
    (tmp_path / "a.txt").write_text("")
    (tmp_path / "b.csv").write_text("")
    assert elements(data.MatchingFilesDataset(str(tmp_path / "*.txt"))) == [str(tmp_path / "a.txt").encode()]


def test_a_generator_of_graph_functions():
    seen = []

    def finished(x):
        return tf.py_func(lambda v: (seen.append(int(v)), v)[1], [x], tf.int64)

    made = data._GeneratorDataset(np.int64(7), lambda x: x * 3, lambda x: x, finished)
    assert elements(made.take(2)) == [21, 21]
    assert made.element_spec == tf.TensorSpec([], tf.int64)


def test_datasets_of_ones_own():
    class Doubled(data.UnaryUnchangedStructureDataset):
        def __init__(self, input_dataset):
            super().__init__(input_dataset, input_dataset.map(lambda x: x * 2)._variant_tensor)

    class Three(data.DatasetSource):
        def __init__(self):
            super().__init__(tf.data.Dataset.range(3)._variant_tensor)

        element_spec = property(lambda self: tf.TensorSpec([], tf.int64))

    assert elements(Doubled(Three()).batch(3))[0].tolist() == [0, 2, 4]


def test_ops_of_a_dataset():
    both = numbers()
    made = data.obtain_all_variant_tensor_ops(tf.data.Dataset.zip((both, both.batch(2))))
    assert sorted(op.type for op in made) == ["BatchDatasetV2", "RangeDataset", "RangeDataset", "ZipDataset"]


def test_shapes_as_tensors():
    with tf.Session() as session:
        assert session.run(data.partial_shape_to_tensor([1, None])).tolist() == [1, -1]
        assert session.run(data.partial_shape_to_tensor(tf.constant([3, 4], tf.int64))).tolist() == [3, 4]
        assert session.run(data.optional_param_to_tensor("n", None, 5)) == 5


# --- nests -------------------------------------------------------------------------------------


def test_lists_are_leaves():
    assert data_nest.flatten(([1, 2], {"b": 3, "a": (4, 5)})) == [[1, 2], 4, 5, 3]
    assert data_nest.pack_sequence_as((1, {"a": 2}), ["x", "y"]) == ("x", {"a": "y"})
    assert data_nest.map_structure(lambda a, b: a + b, (1, (2,)), (3, (4,))) == (4, (6,))
    assert data_nest.flatten_up_to((0, 0), ([1, 2], (3, 4))) == [[1, 2], (3, 4)]
    assert data_nest.map_structure_up_to((0, 0), len, ((1, 2, 3), (4,))) == (3, 1)


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (ValueError, lambda: data_nest.assert_same_structure((1, 2), (1, (2, 3)))),
        (ValueError, lambda: data_nest.assert_same_structure({"a": 1}, {"b": 1})),
        (TypeError, lambda: data_nest.assert_same_structure({"a": 1}, (1,))),
        (ValueError, lambda: data_nest.pack_sequence_as((1, 2), [1])),
        (TypeError, lambda: data_nest.pack_sequence_as((1, 2), "ab")),
        (TypeError, lambda: data_nest.map_structure("no", (1,))),
        (ValueError, lambda: data_nest.map_structure(lambda: 1)),
        (TypeError, lambda: data_nest.assert_shallow_structure((1, 2), [1, 2])),
        (ValueError, lambda: data_nest.assert_shallow_structure((1, 2), (1, 2, 3))),
    ],
)
def test_nests_that_differ(error, call):
    with pytest.raises(error):
        call()


# --- options -----------------------------------------------------------------------------------


class _Some(data_options.OptionsBase):
    x = data_options.create_option("x", int, "A number.", default_factory=lambda: 42)
    y = data_options.create_option("y", float, "Another one.")


def test_options_of_ones_own():
    mine, other = _Some(), _Some()
    assert (mine.x, mine.y) == (42, None)
    mine.y = 1.5
    assert mine != other
    other.y = 1.5
    assert mine == other
    with pytest.raises(TypeError):
        mine.x = "text"
    with pytest.raises(AttributeError):
        mine.unknown = 1
    other.x = 7
    merged = data_options.merge_options(mine, other)
    assert (merged.x, merged.y) == (7, 1.5)
    with pytest.raises(TypeError):
        data_options.merge_options(mine, tf.data.Options())
    with pytest.raises(ValueError, match="one object with options"):
        data_options.merge_options()


# --- several devices ---------------------------------------------------------------------------


def test_elements_go_to_devices_in_turn():
    iterator = MultiDeviceIterator(tf.data.Dataset.range(5), ["/cpu:0", "/cpu:0"])
    first, second = iterator.get_next()
    with tf.Session() as session:
        for _ in range(2):
            session.run(iterator.initializer)
            assert session.run([first, second]) == [0, 1]
            assert session.run([first, second]) == [2, 3]
            assert session.run(first) == 4
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(second)


def test_elements_for_devices_as_optionals():
    iterator = MultiDeviceIterator(tf.data.Dataset.range(3), ["/cpu:0", "/cpu:0"])
    has = [optional.has_value() for optional in iterator.get_next_as_optional()]
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert [session.run(has) for _ in range(2)] == [[True, True], [True, False]]


MORE_KINDS = [
    (lambda: more._UniqueDataset(numbers().map(lambda x: x % 2)), [0, 1]),
    (lambda: more._ScanDataset(numbers(), np.int64(0), lambda s, x: (s + x, s)), [0, 0, 1, 3]),
    (lambda: more._TakeWhileDataset(numbers(), lambda x: x < 2), [0, 1]),
    (lambda: more._IgnoreErrorsDataset(numbers()), [0, 1, 2, 3]),
    (lambda: more._AssertNextDataset(numbers(), ["FiniteSkip"]).skip(1), [1, 2, 3]),
    (lambda: more._ShuffleAndRepeatDataset(numbers(), 1, 2), [0, 1, 2, 3] * 2),
    (lambda: data._ModelDataset(numbers(), more.AutotuneAlgorithm.HILL_CLIMB, 0), [0, 1, 2, 3]),
    (
        lambda: more._GroupByWindowDataset(numbers(), lambda x: x % 2, lambda k, d: d, lambda k: np.int64(2)),
        [0, 2, 1, 3],
    ),
]


@pytest.mark.parametrize(("make", "expected"), MORE_KINDS)
def test_a_class_for_each_experimental_transformation(make, expected):
    assert elements(make()) == expected


def test_a_function_on_elements():
    made = more.StructuredFunctionWrapper(lambda x: (x, x > 1), "Dataset.map()", dataset=numbers())
    assert made.output_types == (tf.int64, tf.bool) and made.function.captured_inputs == []


def test_a_traced_function_of_each_row():
    @tf.contrib.eager.defun(input_signature=[tf.TensorSpec([2], tf.int32)])
    def double(row):
        return row * 2

    rows = tf.constant([[1, 2], [3, 4], [5, 6]])
    (made,) = map_defun(double, [rows], [tf.int32], [(2,)])
    assert made.shape.as_list() == [3, 2]
    (none,) = map_defun(double, [tf.zeros([0, 2], tf.int32)], [tf.int32], [(2,)])
    (wrong,) = map_defun(double, [rows], [tf.int32], [(3,)])
    with tf.Session() as session:
        assert session.run(made).tolist() == [[2, 4], [6, 8], [10, 12]]
        assert session.run(none).shape == (0, 2)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(wrong)
    with pytest.raises(ValueError):
        map_defun(double, [tf.constant(1)], [tf.int32], [(2,)])
    with pytest.raises(ValueError):
        map_defun(double, rows, [tf.int32], [(2,)])


def test_a_dataset_on_several_devices():
    made = replicate(numbers().map(lambda x: x + 1), ["/cpu:0", "/device:CPU:0"])
    assert [elements(made[name]) for name in sorted(made)] == [[1, 2, 3, 4]] * 2
    options = tf.data.Options()
    options.experimental_stateful_whitelist = ["RandomUniform"]
    drawn = numbers().map(lambda x: tf.random.uniform([], seed=1))
    assert len(elements(replicate(drawn.with_options(options), ["/cpu:0"])["/cpu:0"])) == 4
    with pytest.raises(tf.errors.FailedPreconditionError):
        elements(replicate(drawn, ["/cpu:0"])["/cpu:0"])
    with pytest.raises(TypeError):
        replicate([1, 2], ["/cpu:0"])


def test_what_a_dataset_is_made_of():
    source = numbers()
    assert source.skip(1)._inputs() == [source] and source._inputs() == []
    pair = tf.data.Dataset.zip((source, source))
    assert pair._inputs() == [source, source]


def test_nests_of_other_containers():
    for one, other, problem in (
        ((1, 2), {"a": 1}, TypeError),
        ((), {"a": 1}, TypeError),
        ((1, (2, 3)), (1, 2), ValueError),
        ((1,), (1, 2), ValueError),
    ):
        with pytest.raises(problem):
            data_nest.assert_same_structure(one, other)
    data_nest.assert_same_structure({"a": 1, "b": 2}, collections.OrderedDict(b=1, a=2))


def test_options_that_were_only_looked_at_are_not_set():
    class Own(data_options.OptionsBase):
        x = data_options.create_option("x", int, "a number", lambda: 42)

    plain, changed = Own(), Own()
    changed.x = 3
    assert plain.x == 42 and data_options.merge_options(changed, plain).x == 3
    assert tf.data.Options().experimental_distribute.auto_shard is True
    assert tf.data.Options().experimental_stats.prefix == ""


def test_the_ops_of_a_dataset_from_its_last_on():
    with tf.Graph().as_default():
        first = tf.data.Dataset.range(3)
        both = tf.data.Dataset.zip((first, first)).map(lambda x, y: x).shuffle(2)
        found = [op.type for op in data.obtain_all_variant_tensor_ops(both)]
    assert found == ["ShuffleDataset", "MapDataset", "ZipDataset", "RangeDataset", "RangeDataset"]


def test_options_that_contradict_each_other():
    class Mine(data_options.OptionsBase):
        size = data_options.create_option("size", int, "A size.")

    one, other = Mine(), Mine()
    one.size, other.size = 1, 2
    with pytest.raises(ValueError):
        data_options.merge_options(one, other)
    with pytest.raises(TypeError):
        tf.data.Options().merge(3)


def test_parts_of_options_tell_their_rewrites():
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.experimental_optimization.map_vectorization.enabled = True
    assert options.experimental_optimization._static_optimizations() == ["map_vectorization"]
    assert options.experimental_optimization._static_optimization_configs() == [
        "map_vectorization:use_choose_fastest:false"
    ]


def test_a_replica_can_be_iterated_once():
    with tf.Graph().as_default(), tf.Session() as session:
        element = replicate(tf.data.Dataset.range(2), ["/cpu:0"])["/cpu:0"].make_one_shot_iterator().get_next()
        assert [session.run(element), session.run(element)] == [0, 1]


def test_elements_for_devices_are_there():
    with tf.Graph().as_default():
        elements = MultiDeviceIterator(tf.data.Dataset.range(4), ["/cpu:1", "/cpu:2"]).get_next()
        assert [element.device for element in elements] == ["/device:CPU:1", "/device:CPU:2"]


def test_tests_of_statistics_run_in_a_graph_and_eagerly(monkeypatch):
    class Case(StatsDatasetTestBase):
        def test_mode(self):
            seen.append(tf.executing_eagerly())

    seen = []
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(unittest.TestResult())
    assert seen == [False, True]
    assert stats_aggregator.StatsAggregator is tf.data.experimental.StatsAggregator
    monkeypatch.setattr(version_mark, "_force_enable", True)
    assert stats_aggregator.StatsAggregator is not tf.data.experimental.StatsAggregator


def test_a_dataset_shows_its_graph_and_tensor():
    dataset = tf.data.Dataset.range(3)
    assert dataset._graph is tf.get_default_graph()
    assert dataset._as_variant_tensor() is dataset._variant_tensor
