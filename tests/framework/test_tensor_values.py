"""Between Python values, arrays and TensorProtos."""

import pytest

import everflow as tf
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
