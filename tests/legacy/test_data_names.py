"""Inner names of datasets that programs use."""

import numpy as np
import pytest

import everflow as tf
from everflow.data.multi_device import MultiDeviceIterator
from everflow.legacy.inner.data import datasets as data
from everflow.legacy.inner.data import nest as data_nest
from everflow.legacy.inner.data import options as data_options


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
    assert sorted(op.type for op in made) == ["BatchDatasetV2", "RangeDataset", "ZipDataset"]


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
