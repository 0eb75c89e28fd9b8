"""What a variable is told when it is made, and which part of a whole it is."""

import pytest

import everflow as tf
from everflow.ops.variables import options

pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.mark.parametrize(
    ("given", "trainable"),
    [({}, True), ({"synchronization": tf.VariableSynchronization.ON_READ}, False), ({"trainable": False}, False)],
)
def test_what_is_trained(given, trainable):
    v = tf.Variable(1.0, **given)
    assert v.trainable is trainable and (v in tf.trainable_variables()) is trainable
    assert v.aggregation == tf.VariableAggregation.NONE


@pytest.mark.parametrize(
    "given",
    [
        {"synchronization": "sometimes"},
        {"aggregation": "all"},
        {"collections": "mine"},
        {"constraint": 3},
        {"initial_value": None},
    ],
)
@pytest.mark.parametrize("use_resource", [False, True])
def test_what_is_none_of_them(given, use_resource):
    with pytest.raises(ValueError):
        tf.Variable(**{"initial_value": 1.0, "use_resource": use_resource, **given})


def test_collections():
    v = tf.Variable(1.0, collections=["mine"])
    assert tf.get_collection("mine") == [v] == tf.trainable_variables() and tf.global_variables() == []


@pytest.mark.parametrize("use_resource", [False, True])
def test_definitions_keep_them(use_resource):
    v = tf.get_variable(
        "v", [2], trainable=False, aggregation=tf.VariableAggregation.SUM, use_resource=use_resource,
        synchronization=tf.VariableSynchronization.ON_WRITE,
    )  # fmt: skip
    v._set_save_slice_info(options.SaveSliceInfo("whole", [4], [2], [2]))
    again = tf.Variable.from_proto(v.to_proto())
    assert (again.trainable, again.aggregation, again.synchronization) == (
        v.trainable,
        v.aggregation,
        v.synchronization,
    )
    assert again._get_save_slice_info().spec == "4 2,2" and again.name == v.name
    with tf.variable_scope("inner"):
        inside = tf.get_variable("w", [2], use_resource=use_resource)
    assert inside.to_proto(export_scope="inner").variable_name == "w:0"
    assert v.to_proto(export_scope="inner") is None


def test_slices():
    info = options.SaveSliceInfo("whole", [4, 2], [0, 1], [4, 1])
    assert info.spec == "4 2 0,4:1,1"
    again = options.SaveSliceInfo(save_slice_info_def=info.to_proto(), import_scope="again")
    assert again.full_name == "again/whole" and again.spec == info.spec
    assert info.to_proto(export_scope="other") is None
    with pytest.raises(AssertionError):
        options.SaveSliceInfo(save_slice_info_def="text")


def test_names_and_scopes():
    assert options.prepend_name_scope("a", "b/") == "b/a" and options.prepend_name_scope("a", None) == "a"
    assert options.strip_name_scope("b/a", "b") == "a" and options.strip_name_scope("bc/a", "b") == "bc/a"
    with pytest.raises(ValueError):
        options.check_node_name("")
