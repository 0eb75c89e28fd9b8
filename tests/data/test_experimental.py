"""tf.data.experimental: fused, grouped, mixed and parsed datasets."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf
from everflow.data.experimental.optimization import assert_next, non_serializable
from tests.data.draining import drain

D = tf.data.Dataset
E = tf.data.experimental

pytestmark = pytest.mark.usefixtures("own_graph")


def lists(dataset):
    return [v.tolist() for v in drain(dataset)]


def test_map_and_batch_and_unbatch():
    batches = D.range(5).apply(E.map_and_batch(lambda i: i * i, 2))
    assert lists(batches) == [[0, 1], [4, 9], [16]]
    assert lists(batches.apply(E.unbatch())) == [0, 1, 4, 9, 16]


def test_shuffle_and_repeat_in_tensorflows_order():
    assert lists(D.range(5).apply(E.shuffle_and_repeat(5, count=3, seed=9))) == [
        3,
        2,
        4,
        0,
        1,
        3,
        2,
        1,
        0,
        4,
        1,
        0,
        4,
        3,
        2,
    ]


def test_groups():
    windows = D.range(7).apply(E.group_by_window(lambda x: x % 2, lambda key, window: window.batch(4), 3))
    assert lists(windows) == [[0, 2, 4], [1, 3, 5], [6]]
    rows = D.range(1, 6).map(lambda n: tf.fill([n], n))
    buckets = rows.apply(E.bucket_by_sequence_length(tf.size, [3], [2, 2], padded_shapes=[None]))
    assert lists(buckets) == [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]], [[5, 5, 5, 5, 5]]]
    reducer = E.Reducer(lambda key: np.int64(0), lambda total, x: total + x, lambda total: total)
    assert lists(D.range(6).apply(E.group_by_reducer(lambda x: x % 2, reducer))) == [6, 9]


def test_mixed_datasets():
    words = [D.from_tensors(w).repeat(2) for w in "ab"]
    assert drain(E.choose_from_datasets(words, D.from_tensor_slices(np.int64([1, 0, 1])))) == [b"b", b"a", b"b"]
    with pytest.raises(TypeError):
        E.choose_from_datasets(words, D.from_tensors("a"))


def test_sequences_with_a_state():
    assert lists(D.range(5).apply(E.scan(np.int64(0), lambda total, x: (total + x, total + x)))) == [0, 1, 3, 6, 10]
    assert lists(E.Counter(start=3, step=2).take(3)) == [3, 5, 7]
    assert lists(D.range(9).apply(E.take_while(lambda x: x < 3))) == [0, 1, 2]


def test_single_elements_and_sizes():
    with tf.Session() as sess:
        assert sess.run(E.get_single_element(D.range(3).batch(5))).tolist() == [0, 1, 2]
        assert sess.run([E.cardinality(D.range(5).batch(2)), E.cardinality(D.range(2).repeat())]) == [
            3,
            E.INFINITE_CARDINALITY,
        ]
        with pytest.raises(tf.errors.InvalidArgumentError, match="more than one element"):
            sess.run(E.get_single_element(D.range(2)))


def test_optional_elements():
    iterator = D.range(1).make_initializable_iterator()
    optional = E.get_next_as_optional(iterator)
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        assert [int(v) for v in sess.run([optional.has_value(), optional.get_value()])] == [1, 0]
        assert not sess.run(optional.has_value())


def test_csv(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('a,b,c\n1,,"x, y"\n2,0.5,z\n')
    rows = E.CsvDataset(str(path), [tf.int32, [9.0], tf.string], header=True)
    assert [(int(a), float(b), c) for a, b, c in drain(rows)] == [(1, 9.0, b"x, y"), (2, 0.5, b"z")]
    batch, label = drain(E.make_csv_dataset(str(path), 2, label_name="a", num_epochs=1, shuffle=False))[0]
    assert list(batch) == ["b", "c"]
    np.testing.assert_array_equal(label, [1, 2])


def test_sparse_batches():
    rows = D.range(1, 3).map(lambda n: tf.fill([n], n)).apply(E.dense_to_sparse_batch(2, [4]))
    value = drain(rows)[0]
    assert value.indices.tolist() == [[0, 0], [1, 0], [1, 1]]
    assert value.values.tolist() == [1, 2, 2]
    assert value.dense_shape.tolist() == [2, 4]


def test_examples_are_parsed_by_one_op():
    wanted = {"x": tf.FixedLenFeature([2], tf.float32), "words": tf.VarLenFeature(tf.string)}
    source = tf.data.Dataset.from_tensors([tf.train.Example().SerializeToString()])
    dataset = source.apply(tf.data.experimental.parse_example_dataset(wanted, num_parallel_calls=2))
    assert dataset._variant_tensor.op.type == "ParseExampleDataset"
    assert dataset.output_shapes["x"].as_list() == [1, 2] and dataset.output_shapes["words"].as_list() == [1, None]
    apart = {"pair": tf.SparseFeature("at", "of", tf.int64, 10)}
    joined = source.apply(tf.data.experimental.parse_example_dataset(apart))
    assert joined.output_shapes["pair"].as_list() == [None, 10]


def test_classes_in_the_wanted_proportions_stay_as_they_are():
    even = tf.data.experimental.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5], [0.5, 0.5])
    dataset = tf.data.Dataset.range(4).apply(even)
    following = tf.compat.v1.data.make_initializable_iterator(dataset)
    element = following.get_next()
    with tf.Session() as session:
        session.run(following.initializer)
        assert [session.run(element) for _ in range(4)] == [(0, 0), (1, 1), (0, 2), (1, 3)]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)
        assert session.run(tf.data.experimental.cardinality(dataset)) == 4


def test_a_padded_shape_has_no_size_below_minus_one():
    rows = tf.data.Dataset.range(4).map(lambda x: tf.fill([x], x))
    following = tf.compat.v1.data.make_initializable_iterator(rows.padded_batch(2, tf.constant([-5], tf.int64)))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(following.initializer)


def test_what_cannot_be_written_as_a_graph_is_not_rewritten():
    below = D.from_tensors(0).apply(assert_next(["FiniteSkip"])).skip(0).apply(non_serializable())
    above = below.apply(assert_next(["MemoryCacheImpl"])).skip(0).cache()
    options = tf.data.Options()
    options.experimental_optimization.noop_elimination = True
    assert drain(above.with_options(options)) == [0]


def test_a_budget_of_cpus_is_not_negative():
    options = tf.data.Options()
    options.experimental_optimization.autotune_cpu_budget = -1
    with pytest.raises(tf.errors.InvalidArgumentError):
        drain(D.range(2).with_options(options))


def test_datasets_are_drawn_evenly_by_constants():
    E.sample_from_datasets([D.range(2), D.range(3)], seed=1)
    assert "Log" not in [op.type for op in tf.get_default_graph().get_operations()]
