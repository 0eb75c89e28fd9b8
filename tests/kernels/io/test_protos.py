"""Fields of serialized messages: repeated and missing ones, messages inside of messages, text, and wrong bytes."""

import numpy as np
import pytest

import everflow as tf
from everflow.protos import summary_pb2

KIND = "tensorflow.Summary.Value"
VALUES = [
    summary_pb2.Summary.Value(tag="a", simple_value=1.5),
    summary_pb2.Summary.Value(node_name="n"),
]


def decode(data, names, types, message_type=KIND, **options):
    return tf.raw_ops.DecodeProtoV2(
        bytes=tf.placeholder_with_default(data, None),
        message_type=message_type,
        field_names=names,
        output_types=types,
        **options,
    )


def test_missing_fields_have_their_default_and_a_size_of_zero(sess):
    sizes, (tags, numbers) = sess.run(
        list(decode([v.SerializeToString() for v in VALUES], ["tag", "simple_value"], [tf.string, tf.float32]))
    )
    assert sizes.tolist() == [[1, 1], [0, 0]]
    assert tags.tolist() == [[b"a"], [b""]] and numbers.tolist() == [[1.5], [0.0]]


def test_repeated_fields_are_filled_up(sess):
    data = [
        summary_pb2.HistogramProto(bucket=[1, 2, 3], num=3).SerializeToString(),
        summary_pb2.HistogramProto(bucket=[4]).SerializeToString(),
    ]
    sizes, (buckets, counts) = sess.run(
        list(decode(data, ["bucket", "num"], [tf.float64, tf.float64], "tensorflow.HistogramProto"))
    )
    assert sizes.tolist() == [[3, 1], [1, 0]]
    assert buckets.tolist() == [[1, 2, 3], [4, 0, 0]] and counts.tolist() == [[3], [0]]


def test_messages_inside_of_messages_are_bytes(sess):
    whole = summary_pb2.Summary(value=VALUES).SerializeToString()
    sizes, (inner,) = sess.run(list(decode(whole, ["value"], [tf.string], "tensorflow.Summary")))
    assert sizes.tolist() == [2]
    assert [summary_pb2.Summary.Value.FromString(v) for v in inner] == VALUES


def test_text(sess):
    _, (tags,) = sess.run(list(decode('tag: "b"', ["tag"], [tf.string], message_format="text")))
    assert tags.tolist() == [b"b"]


@pytest.mark.parametrize(
    ("data", "options", "error"),
    [
        (b"\xff\xff", {}, tf.errors.DataLossError),
        ("tag: ", {"message_format": "text"}, tf.errors.DataLossError),
        (b"", {"message_type": "tensorflow.Nothing"}, tf.errors.InvalidArgumentError),
        (b"", {"names": ["nothing"]}, tf.errors.InvalidArgumentError),
        (b"", {"types": [tf.int32]}, tf.errors.InvalidArgumentError),
        (b"", {"types": [tf.string, tf.string]}, tf.errors.InvalidArgumentError),
        (b"", {"message_format": "json"}, tf.errors.InvalidArgumentError),
        (b"", {"descriptor_source": "/nowhere/descriptors"}, tf.errors.InvalidArgumentError),
    ],
)
def test_what_is_refused(sess, data, options, error):
    found = decode(data, **{"names": ["tag"], "types": [tf.string], **options})
    with pytest.raises(error):
        sess.run(list(found))


@pytest.mark.parametrize(
    ("field", "types"),
    [
        ("dtype", [tf.int32]),
        ("float_val", [tf.float32, tf.float64]),
        ("double_val", [tf.float64]),
        ("int_val", [tf.int32, tf.int64]),
        ("int64_val", [tf.int64]),
        ("uint32_val", [tf.uint32, tf.uint64]),
        ("uint64_val", [tf.uint64]),
        ("bool_val", [tf.bool]),
        ("string_val", [tf.string]),
        ("tensor_shape", [tf.string]),
    ],
)
def test_fields_are_read_as_types_that_hold_them(sess, field, types):
    for dtype in (tf.float32, tf.float64, tf.int32, tf.int64, tf.uint32, tf.uint64, tf.bool, tf.string):
        found = decode(b"", [field], [dtype], "tensorflow.TensorProto").sizes
        if dtype in types:
            assert sess.run(found).tolist() == [0]
        else:
            with pytest.raises(tf.errors.InvalidArgumentError, match="Unexpected output type"):
                sess.run(found)


def encode(sizes, values, names, message_type=KIND):
    return tf.raw_ops.EncodeProto(
        sizes=tf.placeholder_with_default(np.int32(sizes), None),
        values=[tf.placeholder_with_default(v, None) for v in values],
        field_names=names,
        message_type=message_type,
    )


def test_fields_are_put_together(sess):
    made = sess.run(encode([[1, 1], [1, 0]], [[["a"], ["b"]], [[2.5], [0.0]]], ["tag", "simple_value"]))
    assert [summary_pb2.Summary.Value.FromString(v) for v in made] == [
        summary_pb2.Summary.Value(tag="a", simple_value=2.5),
        summary_pb2.Summary.Value(tag="b"),
    ]
    inner = [[v.SerializeToString() for v in VALUES]]
    (whole,) = sess.run(encode([[2]], [inner], ["value"], "tensorflow.Summary"))
    assert list(summary_pb2.Summary.FromString(whole).value) == VALUES


@pytest.mark.parametrize(
    ("sizes", "values"), [([[1, 1]], [[["a"]]]), ([[1]], [[["a"], ["b"]]]), ([[3]], [[["a"]]]), ([1], [["a"]])]
)
def test_sizes_that_do_not_fit(sess, sizes, values):
    made = encode(sizes, values, ["tag"])
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(made)


@pytest.mark.parametrize(("sizes", "values"), [([1], [["a"]]), ([[1]], [[["a"], ["b"]]])])
def test_shapes_that_do_not_fit(sizes, values):
    with pytest.raises(ValueError):
        tf.io.encode_proto(sizes, values, ["tag"], KIND)
