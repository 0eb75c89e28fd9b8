"""Between Python values, arrays and TensorProtos."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import tensor_values
from everflow.framework.tensor_values import TensorValue
from everflow.protos import tensor_pb2

FLOAT, INT, STRING, BOOL = (t.as_datatype_enum for t in (tf.float32, tf.int32, tf.string, tf.bool))


def graph_of(dims, **fields):
    """A GraphDef with one constant."""
    graph = tf.GraphDef()
    node = graph.node.add(name="c", op="Const")
    node.attr["dtype"].type = fields["dtype"]
    node.attr["value"].tensor.MergeFrom(tensor_pb2.TensorProto(**fields))
    for size in dims:
        node.attr["value"].tensor.tensor_shape.dim.add(size=size)
    return graph


@pytest.mark.parametrize(
    ("dims", "fields"),
    [
        ([1 << 36], {"dtype": INT, "int_val": [1]}),
        ([1 << 18, 1 << 18], {"dtype": FLOAT}),
        ([1 << 32, 1 << 32], {"dtype": INT, "int_val": [1]}),
        ([1 << 40], {"dtype": STRING, "string_val": [b"a"]}),
        ([1 << 40], {"dtype": INT, "tensor_content": b"1234"}),
        ([-1], {"dtype": INT, "int_val": [1]}),
        ([3], {"dtype": INT, "tensor_content": b"1234"}),
        ([0], {"dtype": INT, "tensor_content": b"1234"}),
        ([1], {"dtype": INT, "int_val": [1, 2, 3]}),
        ([1], {"dtype": STRING, "tensor_content": b"a"}),
        ([1], {"dtype": tf.complex64.as_datatype_enum, "scomplex_val": [1.0, 2.0, 3.0]}),
        ([1] * 300, {"dtype": INT, "int_val": [1]}),
    ],
)
def test_a_constant_that_is_not_what_it_claims_is_an_invalid_argument(dims, fields):
    graph = graph_of(dims, **fields)
    assert graph.ByteSize() < 2000
    with tf.Graph().as_default(), tf.Session() as session:
        (constant,) = tf.import_graph_def(graph, return_elements=["c:0"])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot parse tensor from proto"):
            session.run(constant)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot parse tensor from proto"):
            session.run(tf.identity(constant))


def test_the_last_value_is_repeated_up_to_a_size_that_is_reasonable():
    with tf.Graph().as_default(), tf.Session() as session:
        (constant,) = tf.import_graph_def(graph_of([1000, 1000], dtype=INT, int_val=[1, 7]), return_elements=["c:0"])
        value = session.run(constant)
        assert value.shape == (1000, 1000) and value[0, 0] == 1 and (value.ravel()[1:] == 7).all()


def test_truth_values_are_true_or_false():
    with tf.Graph().as_default(), tf.Session() as session:
        (constant,) = tf.import_graph_def(
            graph_of([3], dtype=BOOL, tensor_content=b"\x00\x02\xff"), return_elements=["c:0"]
        )
        assert session.run(tf.cast(constant, tf.int32)).tolist() == [0, 1, 1]


def test_a_serialized_tensor_that_claims_too_much():
    proto = graph_of([1 << 36], dtype=FLOAT, float_val=[1.0]).node[0].attr["value"].tensor
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(tf.io.parse_tensor(tf.constant(proto.SerializeToString()), tf.float32))


# --- writing -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "options", "field", "held"),
    [
        ([1.0, 2.0], {}, "tensor_content", np.float32([1, 2]).tobytes()),
        ([1.0], {}, "float_val", [1.0]),  # one value stands by itself
        ([True, False], {}, "bool_val", [True, False]),
        ([1.0, 2.0], {"dtype": tf.float16}, "half_val", [0x3C00, 0x4000]),
        ([1.0, 2.0], {"dtype": tf.bfloat16}, "half_val", [0x3F80, 0x4000]),
        ([1 + 2j, 3], {}, "dcomplex_val", [1.0, 2.0, 3.0, 0.0]),
        (1.5, {"dtype": tf.complex64}, "scomplex_val", [1.5, 0.0]),
        (["a", b"b"], {}, "string_val", [b"a", b"b"]),
        (np.array(["é"]), {}, "string_val", ["é".encode()]),
        ([1, 2], {"dtype": tf.uint16}, "int_val", [1, 2]),
        (7, {"shape": [2, 2]}, "int_val", [7]),
        ([1], {"shape": [3], "allow_broadcast": True}, "int_val", [1]),
        (True, {"dtype": tf.int32}, "int_val", [1]),
        (2**40, {"dtype": tf.int32}, "int_val", [0]),  # too large for the type: as C cuts it
        (-1, {"dtype": tf.uint8}, "int_val", [255]),
        ([], {"shape": [0, 3]}, "float_val", []),
    ],
)
def test_where_a_proto_holds_its_values(value, options, field, held):
    found = getattr(tf.make_tensor_proto(value, **options), field)
    assert (found if field == "tensor_content" else list(found)) == held


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (2**40, tf.int64),
        (1, tf.int32),
        (1.5, tf.float32),
        (np.int64(3), tf.int64),
        (np.zeros(2), tf.float64),
        ([], tf.float32),
    ],
)
def test_types_that_are_chosen(value, dtype):
    assert tf.make_tensor_proto(value).dtype == dtype.as_datatype_enum


@pytest.mark.parametrize(
    ("value", "options", "error"),
    [
        (None, {}, ValueError),
        (object(), {}, TypeError),
        ([1, "a"], {}, TypeError),
        ([[1], [1, 2]], {}, ValueError),
        ([["a"], ["a", "b"]], {}, ValueError),
        ([[1], 2], {}, ValueError),
        (1.5, {"dtype": tf.int32}, TypeError),
        ("a", {"dtype": tf.int32}, TypeError),
        (1, {"dtype": tf.string}, TypeError),
        (1, {"dtype": tf.bool}, TypeError),
        (1j, {"dtype": tf.float32}, TypeError),
        (2**70, {}, TypeError),
        ([1, 2, 3], {"shape": [2]}, ValueError),
        ([1, 2], {"shape": [3], "verify_shape": True}, TypeError),
        ([1, 2], {"shape": [3], "allow_broadcast": True}, TypeError),
    ],
    ids=lambda part: part if isinstance(part, str) else type(part).__name__,
)
def test_values_that_no_proto_holds(value, options, error):
    with pytest.raises(error):
        tf.make_tensor_proto(value, **options)


def test_a_tensor_is_no_value():
    with tf.Graph().as_default():
        for value in (tf.constant(1), [tf.constant(1)]):
            with pytest.raises(TypeError):
                tf.make_tensor_proto(value)


# --- there and back ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "array",
    [
        *(np.arange(6).reshape(2, 3).astype(t) for t in "i1 i2 i4 i8 u1 u2 f2 f4 f8 c8 c16".split()),
        np.array([[True], [False]]),
        np.array([b"a", b"\x00\xff"], object),
        np.float32([np.nan, np.inf, -0.0]),
        np.zeros([2, 0], np.float32),
        np.array(3),
    ],
    ids=lambda a: f"{a.dtype} {a.shape}",
)
def test_an_array_comes_back(array):
    found = tf.make_ndarray(tf.make_tensor_proto(array))
    assert found.dtype == array.dtype and found.shape == array.shape
    np.testing.assert_array_equal(found, array)
    assert found.flags.writeable


def test_too_few_values_are_filled_up():
    def proto(**values):
        made = tensor_pb2.TensorProto(dtype=INT, **values)
        made.tensor_shape.dim.add(size=3)
        return made

    assert tf.make_ndarray(proto(int_val=[1, 7])).tolist() == [1, 7, 7]
    assert tf.make_ndarray(proto()).tolist() == [0, 0, 0]


def test_types_that_have_no_array():
    with pytest.raises(KeyError):
        tf.make_ndarray(tensor_pb2.TensorProto(dtype=tf.variant.as_datatype_enum))
    with pytest.raises(TypeError, match="uint32"):  # as TensorFlow 1.15 does, where the values stand one by one
        tf.make_ndarray(tensor_pb2.TensorProto(dtype=tf.uint32.as_datatype_enum, uint32_val=[3]))


def test_an_attribute_is_array_and_proto_each_made_when_asked_for():
    array = np.arange(3)
    held = TensorValue(array)
    assert held.array is array and held.shape.as_list() == [3] and held.dtype == tf.int64
    again = TensorValue(proto=held.proto)
    np.testing.assert_array_equal(again.array, array)
    assert again.proto is held.proto and again.array is again.array


def test_shapes_of_protos():
    proto = tf.make_tensor_proto([[1, 2]])
    assert tensor_values.TensorShapeProtoToList(proto.tensor_shape) == [1, 2]
    assert tensor_values.ShapeEquals(proto, [1, 2]) and not tensor_values.ShapeEquals(proto, [2, 1])
    assert tensor_values.ShapeEquals(proto, proto.tensor_shape)
    with pytest.raises(TypeError):
        tensor_values.ShapeEquals(3, [1])
