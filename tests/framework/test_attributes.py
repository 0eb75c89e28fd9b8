"""Attribute values between Python and protos, and what callers may give for each kind."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import attributes
from everflow.framework.tensor_values import TensorValue
from everflow.protos import attr_value_pb2, node_def_pb2

FUNCTION = attr_value_pb2.NameAttrList(name="f")


@pytest.mark.parametrize(
    "value",
    [
        True,
        -3,
        0.5,
        b"a\x00\xff",
        tf.int32,
        tf.TensorShape([None, 2]),
        tf.TensorShape(None),
        FUNCTION,
        [],
        [1, 2],
        [0.5],
        [b"a", b""],
        [True, False],
        [tf.int32, tf.float32],
        [FUNCTION],
        None,
    ],
    ids=str,
)
def test_a_value_comes_back_from_its_proto(value):
    found = attributes.from_proto(attributes.to_proto(value))
    if isinstance(value, tf.TensorShape):
        assert found.sizes == value.sizes
    else:
        assert found == value and type(found) is type(value)


def test_lists_of_shapes_and_tensors_come_back():
    shapes = attributes.from_proto(attributes.to_proto([tf.TensorShape([2]), tf.TensorShape(None)]))
    assert [s.sizes for s in shapes] == [(2,), None]
    (tensor,) = attributes.from_proto(attributes.to_proto([TensorValue(np.arange(3))]))
    np.testing.assert_array_equal(tensor.array, np.arange(3))


def test_truth_is_no_number_and_text_becomes_bytes():
    assert attributes.to_proto(True).WhichOneof("value") == "b"
    assert attributes.to_proto(1).WhichOneof("value") == "i"
    assert attributes.to_proto("é").s == "é".encode()
    with pytest.raises(TypeError, match="can't be the value of an attribute"):
        attributes.to_proto(object())


@pytest.mark.parametrize(
    ("kind", "given", "held"),
    [
        ("int", 3.0, 3),
        ("int", np.int64(3), 3),
        ("float", 1, 1.0),
        ("bool", np.bool_(True), True),
        ("string", "a", b"a"),
        ("type", "float32", tf.float32),
        ("type", tf.float32._as_ref, tf.float32),
        ("list(int)", (1, 2), [1, 2]),
        ("list(type)", ["int32"], [tf.int32]),
        ("func", "f", FUNCTION),
    ],
)
def test_what_callers_give_becomes_what_the_kind_wants(kind, given, held):
    assert attributes.convert(kind, given, "Op", "a") == held


@pytest.mark.parametrize(
    ("kind", "given", "error"),
    [
        ("int", "3", TypeError),
        ("int", None, TypeError),
        ("float", "3", TypeError),
        ("bool", 1, TypeError),
        ("string", 3, TypeError),
        ("type", "no_such_type", TypeError),
        ("shape", "a", TypeError),
        ("shape", [-2], ValueError),
        ("tensor", 3, TypeError),
        ("func", 3, TypeError),
        ("list(int)", 3, TypeError),
        ("list(int)", ["3"], TypeError),
        ("no such kind", 3, TypeError),
    ],
)
def test_what_a_kind_refuses(kind, given, error):
    with pytest.raises(error):
        attributes.convert(kind, given, "Op", "a")


@pytest.mark.parametrize("given", [[None, 2], tf.TensorShape([None, 2]), tf.TensorShape([None, 2]).as_proto()])
def test_shapes_in_all_their_forms(given):
    assert attributes.convert("shape", given, "Op", "a").sizes == (None, 2)


def test_a_function_given_for_an_attribute_joins_the_graph():
    class Function:
        name = "mine"

        def add_to_graph(self, graph):
            self.graph = graph

    function = Function()
    with tf.Graph().as_default() as graph:
        assert attributes.convert("func", function, "Op", "f").name == "mine"
    assert function.graph is graph


def test_users_see_protos_of_shapes_and_tensors():
    assert attributes.as_user_sees([tf.TensorShape([2])])[0].dim[0].size == 2
    assert attributes.as_user_sees(TensorValue(np.float32([1, 2]))).dtype == tf.float32.as_datatype_enum
    assert attributes.as_user_sees(tf.int32) is tf.int32


def test_an_owned_string_keeps_its_owner_through_a_node_and_reads_as_any_other():
    attrs = {"token": attributes.Owned(b"pyfunc_0", "here"), "plain": b"pyfunc_0"}
    node = node_def_pb2.NodeDef(name="n")
    for name, value in attrs.items():
        node.attr[name].CopyFrom(attributes.to_proto(value))
    attributes.write_owners(node, attrs)
    read = {name: attributes.from_proto(value) for name, value in node.attr.items()}
    assert read == attrs  # equal as bytes
    attributes.read_owners(node, read)
    assert read["token"].owner == "here" and read["token"].key == "pyfunc_0 of here"
    assert type(read["plain"]) is bytes


def test_notes_of_others_among_the_debug_information_are_let_be():
    node = node_def_pb2.NodeDef(name="n")
    node.experimental_debug_info.original_node_names.extend(["conv1", "missing of here", "number of here"])
    attrs = {"number": 3}
    attributes.read_owners(node, attrs)
    assert attrs == {"number": 3}
