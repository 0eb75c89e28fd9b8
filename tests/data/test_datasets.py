"""Datasets and iterators in graphs; the seeded orders are TensorFlow's own."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import everflow as tf
from tests.data.draining import drain

D = tf.data.Dataset

pytestmark = pytest.mark.usefixtures("own_graph")


def numbers(dataset):
    return [int(v) for v in drain(dataset)]


def test_seeded_shuffles():
    assert numbers(D.range(10).shuffle(10, seed=1)) == [0, 9, 5, 1, 2, 7, 3, 8, 6, 4]
    assert numbers(D.range(10).shuffle(3, seed=1)) == [1, 3, 0, 5, 2, 6, 7, 8, 9, 4]
    # A one-shot iterator fuses shuffle and repeat, which gives another order than repeating the shuffle.
    assert numbers(D.range(6).shuffle(6, seed=7).repeat(3)) == [3, 0, 1, 4, 2, 5, 0, 5, 2, 4, 3, 1, 3, 2, 5, 0, 4, 1]
    assert numbers(D.range(6).shuffle(6, seed=7, reshuffle_each_iteration=False).repeat(2)) == [3, 0, 1, 4, 2, 5] * 2


def test_a_repeated_shuffle_that_is_not_fused():
    dataset = D.range(6).shuffle(6, seed=7).repeat(3)
    iterator = tf.data.Iterator.from_structure(dataset.output_types, dataset.output_shapes)
    following, begin = iterator.get_next(), iterator.make_initializer(dataset)
    with tf.Session() as sess:
        sess.run(begin)
        assert [int(sess.run(following)) for _ in range(18)] == [4, 0, 2, 3, 5, 1, 1, 4, 3, 2, 0, 5, 1, 0, 4, 3, 2, 5]


def test_a_shuffle_begins_a_pass_more_than_it_reads_of_the_one_below():
    twice = D.range(8).shuffle(3, seed=5).shuffle(10, seed=1, reshuffle_each_iteration=False).repeat(2)
    assert numbers(twice) == [6, 2, 7, 4, 5, 1, 0, 3, 7, 6, 5, 4, 1, 2, 3, 0]


def test_structures_go_through_maps():
    keyed = D.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]})
    got = drain(D.zip((keyed, D.range(2))).map(lambda d, i: {"sum": tf.cast(d["a"], tf.int64) + i, "b": d["b"]}))
    assert [(int(g["sum"]), g["b"]) for g in got] == [(1, b"x"), (3, b"y")]


def test_padded_batches():
    rows = D.range(1, 4).map(lambda n: tf.fill([n], n)).padded_batch(2, [None], padding_values=np.int64(-1))
    first, second = drain(rows)
    np.testing.assert_array_equal(first, [[1, -1], [2, 2]])
    np.testing.assert_array_equal(second, [[3, 3, 3]])
    with pytest.raises(tf.errors.DataLossError):
        drain(D.from_tensors(3).map(lambda n: tf.fill([n], n)).padded_batch(1, [2]))


@pytest.mark.parametrize(
    ("lengths", "cycle", "block", "want"),
    [
        ([3, 1, 4], 2, 1, [0, 10, 1, 2, 20, 21, 22, 23]),
        ([4, 1, 1, 3, 2], 3, 1, [0, 10, 20, 1, 2, 30, 40, 3, 31, 41, 32]),
        ([0, 3, 0, 2], 2, 2, [10, 11, 12, 30, 31]),
    ],
)
def test_interleave(lengths, cycle, block, want):
    pairs = D.from_tensor_slices(np.array(list(enumerate(lengths)), np.int64))
    assert numbers(pairs.interleave(lambda p: D.range(p[1]).map(lambda j: p[0] * 10 + j), cycle, block)) == want


def test_an_error_in_a_map_costs_one_element():
    dataset = D.from_tensor_slices([1.0, 0.0, 2.0]).map(lambda x: tf.check_numerics(1.0 / x, "bad"))
    following = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        assert sess.run(following) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(following)
        assert sess.run(following) == 0.5


def test_feedable_iterators():
    train, valid = D.range(3).make_one_shot_iterator(), D.range(100, 103).make_initializable_iterator()
    handle = tf.placeholder(tf.string, [])
    following = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    with tf.Session() as sess:
        a, b = sess.run([train.string_handle(), valid.string_handle()])
        sess.run(valid.initializer)
        assert [int(sess.run(following, {handle: h})) for h in (a, b, a, b)] == [0, 100, 1, 101]


def test_one_shot_iterators_refuse_what_they_cannot_copy():
    limit = tf.placeholder(tf.int64, [])
    with pytest.raises(ValueError, match="Cannot capture a placeholder"):
        D.range(limit).make_one_shot_iterator()
    variable = tf.get_variable("v", [], tf.int64)
    with pytest.raises(ValueError, match="capture stateful objects"):
        D.range(3).map(lambda i: i + variable).make_one_shot_iterator()


def test_captured_variables_are_read_for_each_element():
    variable = tf.get_variable("v", initializer=np.int64(2), use_resource=True)
    iterator = D.range(3).map(lambda i: i * variable).make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session() as sess:
        sess.run([variable.initializer, iterator.initializer])
        assert [int(sess.run(following)) for _ in range(2)] == [0, 2]
        sess.run(variable.assign(10))
        assert int(sess.run(following)) == 20


def test_random_ops_begin_anew_with_each_iteration():
    iterator = D.range(4).map(lambda i: tf.random_uniform([], seed=11)).make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        first = [sess.run(following) for _ in range(2)]
        sess.run(iterator.initializer)
        assert [sess.run(following) for _ in range(2)] == first
        assert first[0] != first[1]


def test_generators():
    def count(limit):
        for i in range(int(limit)):
            yield i, [i] * i

    got = drain(D.from_generator(count, (tf.int64, tf.int32), ([], [None]), args=[3]))
    assert [(int(a), b.tolist()) for a, b in got] == [(0, []), (1, [1]), (2, [2, 2])]


def test_windows_and_reductions():
    windows = D.range(5).window(3, shift=2, drop_remainder=True).flat_map(lambda w: w.batch(3))
    assert [w.tolist() for w in drain(windows)] == [[0, 1, 2], [2, 3, 4]]
    with tf.Session() as sess:
        assert sess.run(D.range(5).reduce(np.int64(0), lambda total, x: total + x)) == 10


def test_nodes_are_those_of_tensorflow():
    D.range(5).batch(2).make_initializable_iterator().get_next()
    assert [n.name for n in tf.get_default_graph().as_graph_def().node] == [
        "start", "stop", "step", "RangeDataset", "batch_size", "drop_remainder", "BatchDatasetV2", "optimizations", "OptimizeDataset",
        "ModelDataset", "IteratorV2", "MakeIterator", "IteratorToStringHandle", "IteratorGetNext",
    ]  # fmt: skip


def test_files(tmp_path):
    lines = tmp_path / "lines.txt"
    lines.write_bytes(b"a\r\nb\n\nc")
    assert drain(tf.data.TextLineDataset(str(lines))) == [b"a", b"b", b"", b"c"]
    path = str(tmp_path / "words.tfrecord")
    with tf.Session() as sess:
        sess.run(tf.data.experimental.TFRecordWriter(path).write(D.from_tensor_slices(["x", "", "yz"])))
    assert drain(tf.data.TFRecordDataset(path)) == [b"x", b"", b"yz"]
    fixed = tmp_path / "fixed.bin"
    fixed.write_bytes(b"HHaabbF")
    assert drain(tf.data.FixedLengthRecordDataset(str(fixed), 2, header_bytes=2, footer_bytes=1)) == [b"aa", b"bb"]


def test_caches(tmp_path):
    calls = []
    source = D.from_generator(lambda: calls.append(1) or iter([1, 2]), tf.int64)
    assert numbers(source.cache().repeat(3)) == [1, 2] * 3
    assert len(calls) == 1
    name = str(tmp_path / "kept")
    assert numbers(D.range(3).cache(name)) == [0, 1, 2]
    assert numbers(D.range(50, 52).cache(name)) == [0, 1, 2]


def test_repeating_once_leaves_a_shuffle_alone():
    """Shuffling and repeating are fused, which draws other numbers; a repeat of one is taken away before."""
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(3)
        source = tf.data.Dataset.range(12).shuffle(12, seed=5)
        orders = [d.batch(12).make_one_shot_iterator().get_next() for d in (source, source.repeat(1), source.repeat(2))]
        plain, once, twice = (value.tolist() for value in sess.run(orders))
    assert plain == once == [0, 10, 5, 9, 3, 11, 4, 1, 7, 2, 6, 8]
    assert twice == [3, 4, 8, 1, 2, 0, 9, 10, 7, 5, 11, 6]


@pytest.mark.parametrize(
    "types, shapes",
    [((tf.int64, tf.float64), [None]), ((tf.int64, tf.float64), [3, 4]), ((tf.int64,), [3]), (tf.int64, ([],))],
)
def test_a_list_is_one_shape_and_no_structure(types, shapes):
    with pytest.raises(TypeError):
        tf.data.Iterator.from_structure(types, shapes)


def test_elements_drawn_again_and_again_are_warned_of():
    iterator = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(32):
            iterator.get_next()
    with pytest.warns(UserWarning, match="get_next"):
        iterator.get_next()


@pytest.mark.parametrize("elements", [b"", [[b""]], [1], ([b""], [b""])])
def test_examples_to_parse_come_in_vectors(elements):
    parse = tf.data.experimental.parse_example_dataset({"a": tf.FixedLenFeature([], tf.int64)})
    with pytest.raises(TypeError, match="vectors of strings"):
        tf.data.Dataset.from_tensors(elements).apply(parse)


def test_functions_of_a_dataset():
    counted = tf.data.Dataset.range(3)
    mapped = counted.map(lambda x: x + 1, num_parallel_calls=2)
    assert counted._functions() == [] and len(mapped._functions()) == 1
    assert mapped._functions()[0].output_structure == tf.TensorSpec([], tf.int64)
    grouped = counted.apply(tf.data.experimental.group_by_window(lambda x: x % 2, lambda key, w: w.batch(2), 2))
    assert len(grouped._functions()) == 3 and grouped.batch(2)._functions() == []
    assert mapped._flat_structure == {"output_types": [tf.int64], "output_shapes": [tf.TensorShape([])]}


def test_options_that_contradict_each_other():
    def with_slack(value):
        options = tf.data.Options()
        options.experimental_slack = value
        return tf.data.Dataset.range(3).with_options(options)

    assert tf.data.Dataset.zip((with_slack(True), with_slack(True))).options().experimental_slack is True
    with pytest.raises(ValueError, match="experimental_slack is True in one place and False"):
        with_slack(True).concatenate(with_slack(False))


def test_what_has_no_elements():
    with pytest.raises(TypeError, match="neither a dataset nor an iterator"):
        tf.data.get_output_shapes(tf.constant(1))


def test_functions_that_return_datasets_and_optionals():
    @tf.function
    def scaled(dataset, n):
        return {"scaled": dataset.map(lambda x: x * n), "n": n}

    @tf.function
    def first(dataset):
        return tf.data.experimental.get_single_element(dataset.take(1)), dataset.skip(1).batch(2)

    with tf.Graph().as_default(), tf.Session() as sess:
        made = scaled(tf.data.Dataset.range(4), tf.constant(3, tf.int64))
        value, rest = first(made["scaled"])
        following = tf.compat.v1.data.make_one_shot_iterator(rest).get_next()
        assert sess.run([made["n"], value]) == [3, 0] and sess.run(following).tolist() == [3, 6]
        assert rest.element_spec == tf.TensorSpec([None], tf.int64)


def test_legacy_functions_are_defuns():
    tf.set_random_seed(7)
    D.range(3).map_with_legacy_function(lambda x: tf.random.uniform([]) + tf.random.uniform([], seed=3))
    (function,) = tf.get_default_graph().as_graph_def().library.function
    seeds = [(n.attr["seed"].i, n.attr["seed2"].i) for n in function.node_def if n.op == "RandomUniform"]
    assert seeds == [(0, 0), (87654321, 3)]  # not those of the graph around
    assert function.signature.name.startswith("Dataset_map_")


def test_legacy_functions_with_loops_of_tokens():
    counted = D.range(4).map_with_legacy_function(lambda x: tf.while_loop(lambda i: i < 3, lambda i: i + 2, [x]))
    assert drain(counted.filter_with_legacy_function(lambda x: x > 3)) == [4, 4]
