"""Parsing bytes, lines and examples, and reading whole files."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everflow as tf
from everflow.protos import example_pb2, feature_pb2

pytestmark = pytest.mark.usefixtures("own_graph")


def run(tensor):
    with tf.Session() as sess:
        return sess.run(tensor)


def feature(values):
    kinds = {int: "int64_list", float: "float_list", bytes: "bytes_list"}
    made = feature_pb2.Feature()
    if values:
        getattr(made, kinds[type(values[0])]).value.extend(values)
    return made


def example(**values):
    return example_pb2.Example(
        features=feature_pb2.Features(feature={k: feature(v) for k, v in values.items()})
    ).SerializeToString()


def sequence(context, lists):
    made = example_pb2.SequenceExample(
        context=feature_pb2.Features(feature={k: feature(v) for k, v in context.items()})
    )
    for key, rows in lists.items():
        made.feature_lists.feature_list[key].feature.extend(feature(row) for row in rows)
    return made.SerializeToString()


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


def test_parse_example():
    batch = [example(a=[1], t=[b"x", b"y"]), example(a=[2], f=[0.5, 1.5]), example(a=[3], s=[7, 8, 9])]
    parsed = run(
        tf.parse_example(
            batch,
            {
                "a": tf.FixedLenFeature([], tf.int64),
                "f": tf.FixedLenFeature([2], tf.float32, [9.0, 9.0]),
                "t": tf.VarLenFeature(tf.string),
                "s": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1),
            },
        )
    )
    assert parsed["a"].tolist() == [1, 2, 3]
    assert parsed["f"].tolist() == [[9, 9], [0.5, 1.5], [9, 9]]
    assert parsed["t"].values.tolist() == [b"x", b"y"] and parsed["t"].dense_shape.tolist() == [3, 2]
    assert parsed["s"].tolist() == [[-1, -1, -1], [-1, -1, -1], [7, 8, 9]]


def test_parse_single_example():
    parsed = tf.parse_single_example(
        example(a=[5], t=[b"x"]),
        {
            "a": tf.FixedLenFeature([1], tf.int64),
            "t": tf.VarLenFeature(tf.string),
            "q": tf.FixedLenFeature([], tf.string, "d"),
        },
    )
    assert parsed["a"].shape.as_list() == [1]
    values = run(parsed)
    assert values["a"].tolist() == [5] and values["q"] == b"d"
    assert values["t"].indices.tolist() == [[0]] and values["t"].dense_shape.tolist() == [1]


@pytest.mark.parametrize(
    ("data", "wanted", "message"),
    [
        (example(), tf.FixedLenFeature([], tf.int64), "required"),
        (example(a=[1, 2]), tf.FixedLenFeature([], tf.int64), "Key: a"),
        (example(a=[1.0]), tf.FixedLenFeature([], tf.int64), "Data types don't match"),
        (example(a=[1.0]), tf.VarLenFeature(tf.string), "Data types don't match"),
        (example(a=[1, 2, 3]), tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True), "Key: a"),
        (example(a=[1])[:-1], tf.VarLenFeature(tf.int64), "Could not parse"),
    ],
)
def test_examples_refused(data, wanted, message):
    for parsed in (tf.parse_example([data], {"a": wanted}), tf.parse_single_example(data, {"a": wanted})):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(parsed)


@pytest.mark.parametrize(
    "bad",
    [None, {}, {"x": 3}, {"x": tf.FixedLenFeature([None], tf.int64)}, {"x": tf.FixedLenSequenceFeature([], tf.int64)}],
)
def test_features_refused(bad):
    with pytest.raises(ValueError):
        tf.parse_example(["x"], bad)


def test_sequences():
    first = sequence({"c": [1]}, {"t": [[1, 2], [3, 4]], "w": [[b"a"], [b"b", b"c"]]})
    second = sequence({"c": [2]}, {"t": [[5, 6]]})
    context, lists = (
        {"c": tf.FixedLenFeature([], tf.int64)},
        {"t": tf.FixedLenSequenceFeature([2], tf.int64), "w": tf.VarLenFeature(tf.string)},
    )
    one = run(tf.parse_single_sequence_example(first, context, lists))
    assert one[0]["c"] == 1 and one[1]["t"].tolist() == [[1, 2], [3, 4]]
    assert one[1]["w"].indices.tolist() == [[0, 0], [1, 0], [1, 1]]
    both = run(tf.io.parse_sequence_example([first, second], context, lists))
    assert both[0]["c"].tolist() == [1, 2]
    assert both[1]["t"].tolist() == [[[1, 2], [3, 4]], [[5, 6], [0, 0]]] and both[2]["t"].tolist() == [2, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="required"):
        run(tf.parse_single_sequence_example(second, {"q": tf.FixedLenFeature([], tf.int64)}, {}))


def test_json_examples():
    text = '{"features": {"feature": {"a": {"int64List": {"value": ["5", 6]}}}}}'
    parsed = tf.parse_example(tf.decode_json_example([text]), {"a": tf.FixedLenFeature([2], tf.int64)})
    assert run(parsed)["a"].tolist() == [[5, 6]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.decode_json_example("{"))


def test_files(tmp_path):
    name = str(tmp_path / "new" / "file")
    run(tf.write_file(name, b"text\xff"))
    assert run(tf.read_file(name)) == b"text\xff"
    assert run(tf.matching_files(str(tmp_path / "*" / "f*"))).tolist() == [name.encode()]
    with pytest.raises(tf.errors.NotFoundError):
        run(tf.read_file(str(tmp_path / "none")))


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


def test_a_tensor_as_default_is_taken_as_it_is():
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        zero = tf.zeros([], tf.int64)
        parsed = tf.parse_single_example(
            b"", {"a": tf.FixedLenFeature([], tf.int64, zero), "b": tf.FixedLenFeature([], tf.int64, 3)}
        )
        assert [op.type for op in graph.get_operations()] == [
            "Const",
            "Const",
            "Const",
            "Const",
            "Reshape",
            "ParseSingleExample",
        ]
        assert sess.run(parsed) == {"a": 0, "b": 3}
