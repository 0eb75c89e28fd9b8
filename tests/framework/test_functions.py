"""Functions of a graph: bodies drawn, written as FunctionDefs, and read back."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import functions
from everflow.framework.functions import Body, DrawnFunction, FuncGraph, GraphFunction
from everflow.protos import function_pb2


@pytest.fixture
def outer():
    with tf.Graph().as_default() as graph:
        yield graph


def written(build, name="f", count=1, **options):
    """The FunctionDef of a body that `build(*arguments)` draws."""
    with tf.Graph().as_default() as graph:
        arguments = [tf.placeholder(tf.float32, [], name=f"x{i}") for i in range(count)]
        results = build(*arguments)
        return functions.to_function_def(graph, name, arguments, results, **options)


def run(body, *values):
    with tf.Session(graph=body.graph) as sess:
        return sess.run(body.outputs, dict(zip(body.inputs, values, strict=True)))


# --- drawing -----------------------------------------------------------------------------------


def test_tensors_of_the_graph_around_become_inputs_once_each(outer):
    around = tf.constant([1.0, 2.0])
    body = FuncGraph("f", outer)
    with body.as_default():
        x = body.add_input(tf.float32, "x", [2])
        y = x + around + around
    assert body.external_captures == [around] and dict(body.captures)[around].op.type == "Placeholder"
    assert y.shape.as_list() == [2] and [t.op.name for t in body.inputs] == ["x"]
    assert body.capture(x) is x


def test_the_body_takes_seed_and_functions_from_around_and_no_device(outer):
    outer.seed = 7
    with tf.device("/cpu:1"):
        body = FuncGraph("f", outer)
    with body.as_default():
        assert tf.no_op().device == ""
    assert body.seed == 7 and body.building_function and body.outer_graph is outer


def test_constants_may_be_copied_into_the_body(outer):
    base = tf.constant(3.0, name="scope/base")
    doubled = base * 2.0
    body = FuncGraph("f", outer, capture_by_value=True)
    with body.as_default():
        result = tf.identity(doubled)
    assert {op.type for op in body.get_operations()} == {"Const", "Mul", "Identity"} and not body.inputs
    with tf.Session(graph=body) as sess:
        assert sess.run(result) == 6.0


@pytest.mark.parametrize("make", [lambda: tf.placeholder(tf.float32, []), lambda: tf.random_uniform([])])
def test_what_has_a_state_is_not_copied(outer, make):
    needed = -make()
    body = FuncGraph("f", outer, capture_by_value=True)
    with body.as_default(), pytest.raises(ValueError, match="stateful node by value"):
        tf.identity(needed)


# --- writing -----------------------------------------------------------------------------------


def test_names_of_arguments_results_and_nodes_are_told_apart():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="Scope/X")
        y = tf.identity(x, name="scope_x")
        definition = functions.to_function_def(graph, "f", [x], [y, y])
    signature = definition.signature
    names = [a.name for a in [*signature.output_arg, *signature.input_arg]] + [n.name for n in definition.node_def]
    assert len(set(names)) == len(names) == 4
    assert all(name.replace("_", "").isalnum() and name == name.lower() for name in names)


def test_a_function_is_stateful_if_something_in_it_is():
    assert not written(lambda x: [-x]).signature.is_stateful
    assert written(lambda x: [x + tf.random_uniform([])]).signature.is_stateful
    assert not written(lambda x: [x + tf.random_uniform([])], stateful=False).signature.is_stateful


def test_names_of_results_may_be_given():
    definition = written(lambda x: [-x], out_names=["mine"])
    assert definition.signature.output_arg[0].name == "mine" and list(definition.ret) == ["mine"]


# --- reading -----------------------------------------------------------------------------------


def test_a_body_computes_what_it_was_drawn_for():
    def build(x, y):
        parts = tf.unstack(tf.stack([x, y]), name="parts")
        return [parts[1] - parts[0], tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * y), [0, x])[1]]

    definition = written(build, count=2)
    assert run(functions.body_of(definition, {}), 2.0, 3.0) == [1.0, 54.0]


def test_nodes_may_stand_in_any_order():
    definition = written(lambda x: [tf.exp(-x) + 1.0])
    turned = function_pb2.FunctionDef()
    turned.CopyFrom(definition)
    del turned.node_def[:]
    turned.node_def.extend(reversed(definition.node_def))
    assert run(functions.body_of(turned, {}), 0.0) == [2.0]


def test_nodes_that_wait_for_each_other_are_refused():
    definition = written(lambda x: [tf.exp(-x)])
    neg = next(n for n in definition.node_def if n.op == "Neg")
    neg.input[0] = next(n.name for n in definition.node_def if n.op == "Exp") + ":y:0"
    with pytest.raises(ValueError, match="wait for each other"):
        functions.body_of(definition, {})


def test_a_reference_to_nothing_is_refused():
    definition = written(lambda x: [-x])
    definition.ret[definition.signature.output_arg[0].name] = "nobody:y:0"
    with pytest.raises(ValueError, match="unknown 'nobody:y:0'"):
        functions.body_of(definition, {})


def test_what_runs_in_any_case():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        aside = tf.Print(x, [x], name="aside")
        definition = functions.to_function_def(graph, "f", [x], [-x], controls=[aside.op])
    assert list(definition.signature.control_output) == ["aside"]
    function = GraphFunction(definition)
    assert [op.type for op in function.body_controls()] == ["Print"]
    assert function.body() is function.body()


def test_shapes_of_arguments_may_be_told():
    body = functions.body_of(written(lambda x: [-x]), {}, shapes=[[2, 3]])
    assert body.outputs[0].shape.as_list() == [2, 3]


def test_types_of_a_function_may_be_attributes():
    definition = function_pb2.FunctionDef()
    definition.signature.name = "twice"
    definition.signature.attr.add(name="T", type="type")
    definition.signature.input_arg.add(name="x", type_attr="T")
    definition.signature.output_arg.add(name="y", type_attr="T")
    node = definition.node_def.add(name="sum", op="AddV2", input=["x", "x"])
    node.attr["T"].placeholder = "T"
    definition.ret["y"] = "sum:z:0"
    body = functions.body_of(definition, {}, {"T": tf.AttrValue(type=tf.int64.as_datatype_enum)})
    assert body.inputs[0].dtype == body.outputs[0].dtype == tf.int64


# --- libraries ---------------------------------------------------------------------------------


def called(name, argument):
    return tf.get_default_graph().create_op(name, [argument]).outputs[0]


def test_functions_of_a_library_call_each_other(outer):
    inner = GraphFunction(written(lambda x: [-x], "inner"))
    with tf.Graph().as_default() as graph:
        inner.add_to_graph(graph)
        x = tf.placeholder(tf.float32, [], name="x")
        middle = functions.to_function_def(graph, "middle", [x], [called("inner", x) * 2.0])
    library = function_pb2.FunctionDefLibrary(function=[inner.definition, middle])
    library.gradient.add(function_name="inner", gradient_func="other")
    first, second = functions.functions_from_library(library)
    assert (first.gradient_name, second.gradient_name) == ("other", "")
    second.add_to_graph(outer)
    assert outer._is_function("inner") and outer._is_function("middle")
    with tf.Session() as sess:
        assert sess.run(called("middle", tf.constant(3.0))) == -6.0


def test_a_name_stands_for_one_thing(outer):
    function = GraphFunction(written(lambda x: [-x]))
    function.add_to_graph(outer)
    functions.check_no_other(outer, function)
    functions.check_no_other(outer, GraphFunction(written(lambda x: [-x])))
    with pytest.raises(tf.errors.InvalidArgumentError, match="different function"):
        functions.check_no_other(outer, GraphFunction(written(lambda x: [tf.exp(x)])))
    with pytest.raises(tf.errors.InvalidArgumentError, match="an op with the same name"):
        functions.check_no_other(outer, GraphFunction(written(lambda x: [-x], "MatMul")))


def test_a_drawn_function_runs_as_it_was_drawn():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2])
        function = DrawnFunction(Body(graph, [x], [x * 2.0], []), "f", ["given"])
    assert function.definition.arg_attr[0].attr["_user_specified_name"].s == b"given"
    inputs, outputs = function.body_tensors()
    assert inputs == [x] and outputs[0].shape.as_list() == [None, 2]
    np.testing.assert_array_equal(run(function.body(), [[1.0, 2.0]])[0], [[2.0, 4.0]])
    assert functions.call_attr("f").name == "f"
