"""Examples of one record and of batches: missing features, odd bytes, padding, and steps of sequences."""

import numpy as np
import pytest

import everflow as tf


def feature(values):
    if values and isinstance(values[0], int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    if values and isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values)) if values else tf.train.Feature()


def features(values):
    return tf.train.Features(feature={key: feature(value) for key, value in values.items()})


def example(**values):
    return tf.train.Example(features=features(values)).SerializeToString()


def sequence(context, **lists):
    rows = {key: tf.train.FeatureList(feature=[feature(row) for row in value]) for key, value in lists.items()}
    return tf.train.SequenceExample(
        context=features(context), feature_lists=tf.train.FeatureLists(feature_list=rows)
    ).SerializeToString()


def fed(value):
    return tf.placeholder_with_default(value, np.shape(value))


LONG = list(range(60))


def test_many_values_and_few(sess):
    data = [
        example(few=[1, 2], many=LONG, words=[b"a", b"b"]),
        example(few=[3, 4], many=LONG[::-1], words=[b"c", b"d"]),
    ]
    wanted = {
        "few": tf.FixedLenFeature([2], tf.int64),
        "many": tf.FixedLenFeature([6, 10], tf.int64),
        "words": tf.FixedLenFeature([2], tf.string),
    }
    found = sess.run(tf.parse_example(fed(data), wanted))
    assert found["few"].tolist() == [[1, 2], [3, 4]] and found["words"].tolist() == [[b"a", b"b"], [b"c", b"d"]]
    np.testing.assert_array_equal(found["many"][1], np.reshape(LONG[::-1], [6, 10]))
    single = sess.run(tf.parse_single_example(fed(data[0]), wanted))
    np.testing.assert_array_equal(single["many"], found["many"][0])


def test_one_record_and_a_batch_of_one_agree(sess):
    wanted = {
        "a": tf.FixedLenFeature([], tf.int64, 7),
        "b": tf.VarLenFeature(tf.float32),
        "c": tf.FixedLenSequenceFeature([2], tf.string, allow_missing=True, default_value="-"),
    }
    for data in (example(a=[1], b=[0.5, 1.5], c=[b"x", b"y"]), example(), example(a=[], b=[], c=[]), b""):
        batch, single = sess.run([tf.parse_example(fed([data]), wanted), tf.parse_single_example(fed(data), wanted)])
        assert batch["a"].tolist() == [single["a"].tolist()] and batch["c"][0].tolist() == single["c"].tolist()
        assert batch["b"].values.tolist() == single["b"].values.tolist()
        assert single["b"].dense_shape.tolist() == [len(single["b"].values)]


def test_rows_of_open_length_are_filled_up(sess):
    data = [example(s=[1, 2, 3, 4]), example(), example(s=[5, 6])]
    wanted = {"s": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True, default_value=-1)}
    found = sess.run(tf.parse_example(fed(data), wanted))["s"]
    assert found.tolist() == [[[1, 2], [3, 4]], [[-1, -1], [-1, -1]], [[5, 6], [-1, -1]]]


def test_sparse_batches(sess):
    found = sess.run(
        tf.parse_example(
            fed([example(), example(v=[b"a", b"b"]), example(v=[b"c"])]), {"v": tf.VarLenFeature(tf.string)}
        )
    )
    assert found["v"].indices.tolist() == [[1, 0], [1, 1], [2, 0]] and found["v"].dense_shape.tolist() == [3, 2]
    empty = sess.run(tf.parse_example(fed(np.array([], object)), {"v": tf.VarLenFeature(tf.int64)}))["v"]
    assert empty.indices.shape == (0, 2) and empty.dense_shape.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("data", "wanted", "message"),
    [
        (
            example(),
            tf.FixedLenFeature([], tf.int64),
            "Feature: a .data type: int64. is required but could not be found",
        ),
        (example(a=[1, 2]), tf.FixedLenFeature([], tf.int64), "Key: a, Index: 1.  Number of int64 values != expected"),
        (example(a=[1.0]), tf.FixedLenFeature([], tf.int64), "Data types don't match"),
        (example(a=[b"x"]), tf.VarLenFeature(tf.float32), "Data types don't match"),
        (example(a=[1, 2, 3]), tf.FixedLenSequenceFeature([2], tf.int64, True), "not a multiple of stride length"),
        (example(a=[1])[:-1], tf.VarLenFeature(tf.int64), "Could not parse example input"),
    ],
)
def test_a_batch_says_which_record_is_wrong(sess, data, wanted, message):
    good = example(a=[1, 2] if isinstance(wanted, tf.FixedLenSequenceFeature) else [1])
    if isinstance(wanted, tf.VarLenFeature) and wanted.dtype == tf.float32:
        good = example(a=[1.0])
    parsed = tf.parse_example(fed([good, data]), {"a": wanted}, example_names=["first", "second"])
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(parsed)


FIRST = sequence({"n": [1]}, t=[[1, 2], [3, 4]], w=[[b"a"], [], [b"b", b"c"]])
SECOND = sequence({"n": [2]}, t=[[5, 6]], w=[])
LISTS = {"t": tf.FixedLenSequenceFeature([2], tf.int64), "w": tf.VarLenFeature(tf.string)}


def test_steps_of_one_sequence(sess):
    context, lists = sess.run(
        tf.parse_single_sequence_example(fed(FIRST), {"n": tf.FixedLenFeature([], tf.int64)}, LISTS)
    )
    assert context["n"] == 1 and lists["t"].tolist() == [[1, 2], [3, 4]]
    assert lists["w"].indices.tolist() == [[0, 0], [2, 0], [2, 1]] and lists["w"].dense_shape.tolist() == [3, 2]


def test_sequences_of_a_batch_are_filled_up(sess):
    context, lists, lengths = sess.run(
        tf.io.parse_sequence_example(fed([FIRST, SECOND]), {"n": tf.FixedLenFeature([], tf.int64)}, LISTS)
    )
    assert context["n"].tolist() == [1, 2] and lengths["t"].tolist() == [2, 1]
    assert lists["t"].tolist() == [[[1, 2], [3, 4]], [[5, 6], [0, 0]]]
    assert lists["w"].indices.tolist() == [[0, 0, 0], [0, 2, 0], [0, 2, 1]]


@pytest.mark.parametrize(
    ("data", "context", "lists", "message"),
    [
        (
            FIRST,
            {"m": tf.FixedLenFeature([], tf.int64)},
            None,
            "Context feature 'm' is required but could not be found",
        ),
        (FIRST, {"n": tf.FixedLenFeature([], tf.float32)}, None, "Data types don't match"),
        (FIRST, {"n": tf.FixedLenFeature([2], tf.int64)}, None, "Number of int64 values != expected"),
        (FIRST, None, {"u": tf.FixedLenSequenceFeature([], tf.int64)}, "Feature list 'u' is required"),
        (FIRST, None, {"t": tf.FixedLenSequenceFeature([3], tf.int64)}, "Number of int64 values != expected"),
        (FIRST, None, {"t": tf.FixedLenSequenceFeature([2], tf.string)}, "Data types don't match"),
        (FIRST, None, {"t": tf.VarLenFeature(tf.string)}, "Data types don't match"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_sequences_that_are_refused(sess, data, context, lists, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(tf.parse_single_sequence_example(fed(data), context, lists))


def test_a_list_that_may_be_missing_is_empty(sess):
    wanted = {"u": tf.FixedLenSequenceFeature([2], tf.float32, allow_missing=True)}
    assert sess.run(tf.parse_single_sequence_example(fed(FIRST), None, wanted))[1]["u"].shape == (0, 2)


def test_a_batch_of_sequences_says_which_step_is_wrong(sess):
    sequence = tf.train.SequenceExample()
    steps = sequence.feature_lists.feature_list["t"].feature
    steps.add().int64_list.value.append(4)
    steps.add()
    data = [sequence.SerializeToString()]
    found = sess.run(tf.io.parse_sequence_example(data, sequence_features={"t": tf.VarLenFeature(tf.int64)})[1]["t"])
    assert found.dense_shape.tolist() == [1, 2, 1]
    wanted = {"t": tf.FixedLenSequenceFeature([1], tf.int64)}
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Unexpected number of elements in feature t, .* step 1 has 0"
    ):
        sess.run(tf.io.parse_sequence_example(data, sequence_features=wanted))
    for kind in (tf.VarLenFeature(tf.string), tf.FixedLenSequenceFeature([1], tf.string)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Error in sequence feature t .* step 0"):
            sess.run(tf.io.parse_sequence_example(data, sequence_features={"t": kind}))
