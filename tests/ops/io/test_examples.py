"""Features of examples and of sequences, parsed."""

import pytest

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


def test_sparse_features_are_put_together_from_their_parts():
    batch = [example(i=[3, 0], v=[0.5, 1.5]), example(), example(i=[1], v=[2.5])]
    parsed = tf.parse_example(batch, {"s": tf.SparseFeature("i", "v", tf.float32, 4)})
    assert list(parsed) == ["s"]
    found = run(parsed["s"])
    assert found.indices.tolist() == [[0, 0], [0, 3], [2, 1]] and found.dense_shape.tolist() == [3, 4]
    assert found.values.tolist() == [1.5, 0.5, 2.5]


@pytest.mark.parametrize(
    ("features", "shapes"),
    [
        ({"a": tf.FixedLenFeature([2, 3], tf.int64)}, {"a": [None, 2, 3]}),
        ({"a": tf.FixedLenSequenceFeature([3], tf.int64, allow_missing=True)}, {"a": [None, None, 3]}),
    ],
)
def test_what_is_known_of_dense_features(features, shapes):
    parsed = tf.parse_example(tf.placeholder(tf.string, [None]), features)
    assert {k: v.shape.as_list() for k, v in parsed.items()} == shapes
    single = tf.parse_single_example(tf.placeholder(tf.string, []), features)
    assert {k: v.shape.as_list() for k, v in single.items()} == {k: v[1:] for k, v in shapes.items()}


@pytest.mark.parametrize(
    "features",
    [
        {"a": tf.VarLenFeature(None)},
        {"a": tf.FixedLenFeature(None, tf.int64)},
        {"a": tf.FixedLenFeature([], None)},
        {"a": tf.SparseFeature("", "v", tf.float32, 4)},
        {"a": tf.SparseFeature("i", "v", None, 4)},
        {"a": tf.SparseFeature("i", "v", tf.float32, 4), "v": tf.VarLenFeature(tf.int64)},
    ],
)
def test_features_that_lack_something(features):
    with pytest.raises(ValueError):
        tf.parse_example(["x"], features)


@pytest.mark.parametrize(
    ("context", "lists"),
    [
        (None, None),
        ({"a": tf.FixedLenSequenceFeature([], tf.int64)}, None),
        (None, {"a": tf.FixedLenFeature([], tf.int64)}),
        (None, {"a": tf.FixedLenSequenceFeature([], tf.int64, default_value=3)}),
    ],
)
def test_sequences_refused(context, lists):
    for function in (tf.parse_single_sequence_example, tf.io.parse_sequence_example):
        with pytest.raises(ValueError):
            function("x", context, lists)


def test_lists_that_may_be_missing():
    lists = {"t": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)}
    assert run(tf.parse_single_sequence_example(sequence({}, {}), None, lists))[1]["t"].shape == (0, 2)
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.parse_single_sequence_example(sequence({}, {}), None, {"t": tf.FixedLenSequenceFeature([2], tf.int64)}))


def test_an_example_with_a_name_is_told_by_it():
    wanted = {"a": tf.FixedLenFeature([], tf.int64), "t": tf.VarLenFeature(tf.int64)}
    parsed = tf.parse_single_example(example(a=[5], t=[1, 2]), wanted, example_names="mine")
    found = run(parsed)
    assert found["a"] == 5 and found["t"].indices.tolist() == [[0], [1]] and parsed["a"].shape.as_list() == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="mine"):
        run(tf.parse_single_example(example(), wanted, example_names="mine"))
    with pytest.raises(ValueError):
        tf.parse_single_example([example()], wanted, example_names="mine")


def test_a_dense_feature_has_a_known_shape_but_for_its_rows():
    feature = tf.FixedLenSequenceFeature([None], tf.float32, allow_missing=True)
    with pytest.raises(ValueError):
        tf.parse_example([b""], {"a": feature})
