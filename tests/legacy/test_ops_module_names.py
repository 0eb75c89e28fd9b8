"""Inner names of TensorFlow's modules of graphs, functions and op definitions, as its unit tests use them."""

import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.framework import errors
from everflow.protos import op_def_pb2


def _inner(path, name):
    return getattr(__import__(f"tensorflow.python.{path}", fromlist=[name]), name)


@pytest.fixture
def ops():
    return _inner("framework", "ops")


@pytest.fixture
def test_ops():
    return _inner("framework", "test_ops")


def test_operations_made_beside_a_graph_are_taken_in(ops, test_ops):
    with tf.Graph().as_default() as graph:
        x = test_ops.int_output()
        beside = ops._create_c_op(graph, ops._NodeDef("IntInputIntOutput", "mine"), [x], [])
        assert [op.name for op in graph.get_operations()] == ["IntOutput"]
        taken = graph._create_op_from_tf_operation(beside)
        assert graph.get_operation_by_name("mine") is taken and list(taken.inputs) == [x]
        assert graph.unique_name("mine") == "mine_1"
        with pytest.raises(ValueError):
            ops._create_c_op(graph, ops._NodeDef("FloatInput", "wrong"), [x], [])


def test_operations_taken_in_together_are_in_the_branch_around(ops, test_ops):
    with tf.Graph().as_default() as graph:
        x = test_ops.int_output()

        def branch():
            ops._create_c_op(graph, ops._NodeDef("IntInput", "cond/inside"), [x], [])
            assert [op.name for op in graph._add_new_tf_operations()] == ["cond/inside"]
            return x

        tf.cond(x < 10, branch, lambda: x)
        inside = graph.get_operation_by_name("cond/inside")
        assert inside.inputs[0].op.type == "Switch" and inside._control_flow_context is not None


def test_operations_made_from_nodes_are_checked(ops):
    graph = tf.Graph()
    attrs = {"v": tf.AttrValue(i=3)}
    with pytest.raises(ValueError):
        ops.Operation(ops._NodeDef("NoOp", "a", attrs=attrs), graph)
    number = ops.Operation(ops._NodeDef("IntOutput", "b"), graph).outputs[0]
    with pytest.raises(TypeError):
        ops.Operation(ops._NodeDef("IntInput", "c"), graph, [number], input_types=[tf.float32])
    with pytest.raises(TypeError):
        ops.Operation(ops._NodeDef("NoOp", "d"), graph, input_types=3)


def test_only_loops_take_further_inputs():
    with tf.Graph().as_default():
        a = tf.constant(1)
        with pytest.raises(errors.InternalError):
            tf.add(a, a).op._add_while_inputs([a])


def test_attributes_that_are_lists_and_functions(test_ops):
    with tf.Graph().as_default():
        op = test_ops.none()
        op._set_func_attr("f", "Mine")
        op._set_func_list_attr("fs", ["Mine", "Other"])
        op._set_type_list_attr("types", [tf.float32])
        op._set_shape_list_attr("shapes", [[1, None], None])
        assert op.get_attr("f").name == "Mine" and op._get_attr_type("types") == [tf.float32]
        assert [f.name for f in op.node_def.attr["fs"].list.func] == ["Mine", "Other"]
        assert op.node_def.attr["shapes"].list.shape[1].unknown_rank


def test_stacks_of_defaults_by_hand(ops):
    stack = ops._DefaultStack()
    with stack.get_controller("inner") as entered:
        assert entered == stack.get_default() == "inner"
        stack.reset()
    assert stack.get_default() is None


def test_a_whole_graph_is_given_whatever_version_it_is_asked_from():
    with tf.Graph().as_default() as graph:
        tf.constant(1), tf.constant(2)
    assert [node.name for node in graph.as_graph_def(from_version=1).node] == ["Const", "Const_1"]


def test_what_has_no_inputs_has_no_gradient(ops):
    with tf.Graph().as_default() as graph:
        with graph.gradient_override_map({"Const": "SquareOfNoUse"}):
            assert ops.get_gradient_function(tf.constant(1.0).op) is None


def test_a_tensor_refuses_when_it_is_gone_through_and_not_before():
    with tf.Graph().as_default():
        parts = iter(tf.constant([1.0]))
        with pytest.raises(errors.OperatorNotAllowedInGraphError):
            next(parts)


def test_quantized_numbers_are_in_tuples():
    with tf.Graph().as_default():
        assert tf.constant((3,), tf.qint8).shape == [] and tf.constant([(3,), (4,)], tf.quint8).shape == [2]
        for wrong in (3, [3], [(3,), 4]):
            with pytest.raises(TypeError):
                tf.constant(wrong, tf.qint8)


def test_results_of_test_ops_by_name(test_ops):
    with tf.Graph().as_default():
        made = test_ops.two_int_outputs()
    assert type(made) is test_ops._TwoIntOutputsOutput and test_ops._two_int_outputs_outputs == ["a", "b"]
    assert "two_int_outputs_eager_fallback" in dir(test_ops)


def test_parts_of_the_library_of_op_types(test_ops):
    library = _inner("framework", "op_def_library")
    with tf.Graph().as_default():
        structure, stateful, op = test_ops._op_def_lib._apply_op_helper("NIntsOut", N=2)
        definition = tf.concat([[1], [2]], 0).op.op_def
    assert structure == [2] and not stateful and len(op.outputs) == 2
    assert [library._IsListParameter(arg) for arg in definition.input_arg] == [True, False]
    assert library._Restructure([1, 2, 3], [None, 2]) == (1, [2, 3]) and library._Flatten([1, [2]]) == [1, 2]
    with pytest.raises(TypeError):
        library._Attr(definition, "missing")
    attr = op_def_pb2.OpDef.AttrDef(name="T")
    attr.allowed_values.list.type.append(1)
    assert library._MakeType("float32", attr) == 1
    for make, wrong in (("Int", "3"), ("Float", "x"), ("Bool", 1), ("Str", 3), ("Shape", "x")):
        with pytest.raises(TypeError):
            getattr(library, f"_Make{make}")(wrong, "argument")
    with pytest.raises(TypeError):
        library._MakeType("string", attr)


def test_bodies_and_graphs_name_the_same_things():
    to_def = _inner("framework", "graph_to_function_def")
    to_graph = _inner("framework", "function_def_to_graph")
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        parts = tf.split(x, 2, name="parts")
        names = to_def._create_input_dict(graph, ["x:0"])
        assert names["x"] == "x" and names["parts:1"] == "parts:output:1"
        used = set()
        assert [to_def._tensor_to_argdef(parts[1], used_names=used).name for _ in range(2)] == [
            "parts_o1",
            "parts_o1_U0",
        ]
        made = to_def.graph_to_function_def(graph, graph.get_operations(), [x], parts)
        with pytest.raises(ValueError):
            to_def.graph_to_function_def(graph, graph.get_operations(), [x], parts, ["o", "o"])
        with pytest.raises(errors.InvalidArgumentError):
            to_def.graph_to_function_def(graph, graph.get_operations(), [x], parts, ["o"])
        assert made.signature.output_arg[1].name == "parts_o1" and not to_graph.is_function("Nobody")
        concat = tf.concat(parts, 0).op
        assert [to_graph._get_num_args(arg, concat.node_def) for arg in concat.op_def.input_arg] == [2, 1]


def test_sizes_of_convolutions_by_hand():
    shapes = _inner("framework", "common_shapes")
    assert [int(size) for size in shapes.get_conv_output_size((10, 7), (3, 2), (2, 1), b"VALID")] == [4, 6]
    assert shapes.get_conv_output_size((None,), (3,), (2,), b"SAME") == (None,)
    for wrong in (((10,), (3,), (1,), "SAME"), ((2,), (3,), (1,), b"SAME")):
        with pytest.raises(ValueError):
            shapes.get_conv_output_size(*wrong)
    with tf.Graph().as_default():
        split = tf.split([1, 2], 2)[0].op
    assert [shape.rank for shape in shapes.unknown_shape(split)] == [None, None]
    assert shapes._broadcast_shape_helper(tf.TensorShape([2]), tf.TensorShape([3])) is None


def test_devices_as_they_were_given(ops):
    given = ops._UserDeviceSpec("/cpu:0")
    assert given.display_name == "/cpu:0" and not given.is_null_merge
    assert given.string_merge(ops._NodeDef("NoOp", "a", "/job:x")) == "/job:x/device:CPU:0"
    with tf.Graph().as_default():
        there = tf.constant(1, name="there")
        with ops._colocate_with(there):
            assert tf.constant(2).op.colocation_groups() == [b"loc:@there"]
