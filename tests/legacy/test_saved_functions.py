"""Functions of SavedModels by TensorFlow's inner names: to messages, and from libraries."""

import functools

import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.eager.mode import eager_mode

from tensorflow.core.framework import node_def_pb2  # isort: skip
from tensorflow.python.saved_model import function_deserialization, function_serialization, load  # isort: skip


@pytest.fixture(autouse=True)
def eagerly():
    with eager_mode():
        yield


@pytest.fixture
def scaled():
    v = tf.Variable(3.0, use_resource=True)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="in")])
    def scale(x):
        return x * v

    return v, scale


def test_a_trace_as_messages(scaled):
    _, scale = scaled
    concrete = scale.get_concrete_function()
    saved = function_serialization.serialize_concrete_function(concrete, {concrete.captured_inputs[0]: 7}, None)
    assert list(saved.bound_inputs) == [7] and "DT_FLOAT" in str(saved.canonicalized_input_signature)
    with pytest.raises(KeyError):
        function_serialization.serialize_concrete_function(concrete, {}, None)
    bare = function_serialization.serialize_bare_concrete_function(concrete)
    assert (list(bare.argument_keywords), bare.allowed_positional_arguments) == (["in"], 1)
    assert len(function_serialization.serialize_function(scale).concrete_functions) == 1


def test_functions_of_a_library_get_names_of_their_own(scaled):
    v, scale = scaled
    graph = tf.Graph()
    concrete = scale.get_concrete_function()
    concrete.add_to_graph(graph)
    made = function_deserialization.load_function_def_library(graph.as_graph_def().library)
    (loaded,) = [f for name, f in made.items() if name == concrete.name.decode()]
    assert loaded.name != concrete.name
    assert tf.nest.flatten(loaded._call_flat([tf.constant([2.0])], [v.handle]))[0].numpy().tolist() == [6.0]


def test_nodes_call_new_names_and_own_their_tables():
    table = node_def_pb2.NodeDef(name="t", op="HashTableV2")
    table.attr["shared_name"].s = b"words"
    function_deserialization.fix_node_def(table, {}, "_again", "")
    assert table.attr["shared_name"].s.startswith(b"words_again_")
    node = node_def_pb2.NodeDef(name="n", op="f")
    node.attr["g"].func.name = "f"
    named = type("Named", (), {"name": b"f_2"})()
    function_deserialization.fix_node_def(node, {"f": named}, "", "")
    assert (node.op, node.attr["g"].func.name) == ("f_2", "f_2")


def test_loaded_functions_show_their_traces(scaled, tmp_path):
    module = tf.Module()
    module.v, module.scale = scaled
    tf.saved_model.save(module, str(tmp_path))
    loaded = load.load_internal(str(tmp_path))
    assert isinstance(loaded.scale, function_deserialization.RestoredFunction)
    assert [c.inputs[0].name for c in loaded.scale.concrete_functions] == ["in:0"]


def test_signatures_of_several_arguments_take_them_by_name(tmp_path):
    module = tf.Module()
    module.add = tf.function(lambda x, y: {"sum": x + y}, input_signature=[tf.TensorSpec([], tf.float32)] * 2)
    tf.saved_model.save(module, str(tmp_path), module.add)
    served = tf.saved_model.load_v2(str(tmp_path)).signatures["serving_default"]
    assert served(x=tf.constant(1.0), y=tf.constant(2.0))["sum"].numpy() == 3
    with pytest.raises(TypeError):
        served(tf.constant(1.0), tf.constant(2.0))


@pytest.mark.parametrize("given", [{"y": 2}, {"z": 5}])
def test_what_a_partial_gives_by_name_is_no_argument(given, tmp_path):
    def add(x, y=1, z=3, *, w=4):
        return x + y + z + w

    module = tf.Module()
    module.f = tf.function(functools.partial(add, **given))
    wanted = module.f(tf.constant(1)).numpy()
    assert module.f.get_concrete_function(tf.constant(1)).structured_input_signature[1] == {}
    tf.saved_model.save(module, str(tmp_path))
    assert tf.saved_model.load_v2(str(tmp_path)).f(tf.constant(1)).numpy() == wanted


def test_two_loads_of_a_table_are_two_tables(tmp_path):
    module = tf.Module()
    module.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([5], tf.int64)), -1)
    module.f = tf.function(module.table.lookup, input_signature=[tf.TensorSpec([], tf.string)])
    tf.saved_model.save(module, str(tmp_path))
    loads = [tf.saved_model.load_v2(str(tmp_path)) for _ in range(2)]
    assert [each.f(tf.constant("a")).numpy() for each in loads] == [5, 5]
