"""Parsing bytes, lines and messages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everflow as tf
from everflow.protos import feature_pb2

pytestmark = pytest.mark.usefixtures("own_graph")


def run(tensor):
    with tf.Session() as sess:
        return sess.run(tensor)


def test_decode_raw():
    assert run(tf.decode_raw(["abcd", "efgh"], tf.int16)).tolist() == [[25185, 25699], [26213, 26727]]
    assert run(tf.decode_raw(["abcd"], tf.int16, little_endian=False)).tolist() == [[24930, 25444]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="multiple of 2"):
        run(tf.decode_raw(["abc"], tf.int16))
    with pytest.raises(tf.errors.InvalidArgumentError, match="same size"):
        run(tf.decode_raw(["abcd", "ef"], tf.int16))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(width=64, allow_nan=False), max_size=6))
def test_decode_raw_reverses_tobytes(values):
    with tf.Graph().as_default():
        array = np.array(values)
        np.testing.assert_array_equal(run(tf.decode_raw(array.tobytes(), tf.float64)), array)
        np.testing.assert_array_equal(
            run(tf.decode_raw(array.astype(">f8").tobytes(), tf.float64, little_endian=False)), array
        )


def test_csv():
    columns = tf.decode_csv(['1,2.5,"a, ""b""",9', ",,,7"], [[0], [1.5], ["none"], tf.constant([], tf.int64)])
    assert [c.tolist() for c in run(columns)] == [[1, 0], [2.5, 1.5], [b'a, "b"', b"none"], [9, 7]]
    assert [c.tolist() for c in run(tf.decode_csv(["1,2,3,4"], [[0], [0.0]], select_cols=[1, 3]))] == [[2], [4.0]]
    assert [c.tolist() for c in run(tf.decode_csv(["NA;1"], [[-1], [-2]], field_delim=";", na_value="NA"))] == [
        [-1],
        [1],
    ]


@pytest.mark.parametrize("line", ["1,", "1,2,3", "a,2", "1.5,2", '1,"x', '1,x"y', "", "99999999999,1"])
def test_csv_lines_refused(line):
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.decode_csv([line], [[0], tf.constant([], tf.float32)]))


def test_serialized_tensors_come_back():
    for value in (
        np.int32([[1, 2]]),
        np.array([b"a", b"\xff"], object),
        np.float16([0.5]),
        np.bool_([True, False]),
        np.zeros([0, 3], np.float32),
    ):
        tensor = tf.constant(value)
        np.testing.assert_array_equal(run(tf.parse_tensor(tf.serialize_tensor(tensor), tensor.dtype)), value)
    assert (
        run(tf.serialize_tensor(tf.constant([1, 2])))
        == b'\x08\x03\x12\x04\x12\x02\x08\x02"\x08\x01\x00\x00\x00\x02\x00\x00\x00'
    )
    for bad in ("junk", "", tf.serialize_tensor([1.5])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(tf.parse_tensor(bad, tf.int32))


def test_json_examples():
    text = '{"features": {"feature": {"a": {"int64List": {"value": ["5", 6]}}}}}'
    parsed = tf.parse_example(tf.decode_json_example([text]), {"a": tf.FixedLenFeature([2], tf.int64)})
    assert run(parsed)["a"].tolist() == [[5, 6]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.decode_json_example("{"))


def test_fields_of_messages():
    lists = [feature_pb2.Int64List(value=v).SerializeToString() for v in ([1, -2, 3], [])]
    sizes, (values,) = run(tf.io.decode_proto(lists, "tensorflow.Int64List", ["value"], [tf.int64]))
    assert sizes.tolist() == [[3], [0]] and values.tolist() == [[1, -2, 3], [0, 0, 0]]
    names = ["name", "size"]
    encoded = tf.io.encode_proto(
        [[1, 1], [0, 1]], [[["a"], [""]], np.int64([[5], [6]])], names, "tensorflow.TensorShapeProto.Dim"
    )
    assert run(encoded).tolist() == [b"\x08\x05\x12\x01a", b"\x08\x06"]
    sizes, (text, size) = run(
        tf.io.decode_proto(encoded, "tensorflow.TensorShapeProto.Dim", names, [tf.string, tf.int64])
    )
    assert text.tolist() == [[b"a"], [b""]] and size.tolist() == [[5], [6]]


@pytest.mark.parametrize(
    ("message", "field", "dtype", "data", "error"),
    [
        ("Nope", "value", tf.int64, b"", tf.errors.InvalidArgumentError),
        ("Int64List", "nope", tf.int64, b"", tf.errors.InvalidArgumentError),
        ("Int64List", "value", tf.float32, b"", tf.errors.InvalidArgumentError),
        ("Int64List", "value", tf.int64, b"\xff\xff", tf.errors.DataLossError),
    ],
)
def test_messages_refused(message, field, dtype, data, error):
    with pytest.raises(error):
        run(tf.io.decode_proto([data], f"tensorflow.{message}", [field], [dtype]))
