"""What ops made inside of branches and loops are wired to, and contexts as definitions."""

import pytest

import everflow as tf
from everflow.ops.control_flow import contexts


def types(graph):
    return [op.type for op in graph.get_operations()]


def drawn():
    """A graph with a branch in a loop; returns what comes out and the contexts that were seen inside."""
    seen = {}

    def branch(x):
        seen["cond"] = tf.get_default_graph()._get_control_flow_context()
        return x * 2.0

    def body(i, x):
        seen["loop"] = tf.get_default_graph()._get_control_flow_context()
        return i + 1, tf.cond(x < 10.0, lambda: branch(x), lambda: x)

    return tf.while_loop(lambda i, x: i < 3, body, [0, tf.constant(1.0, name="start")]), seen


def test_contexts_know_what_they_are_nested_in():
    with tf.Graph().as_default() as graph:
        (_, out), seen = drawn()
        loop, branch = seen["loop"], seen["cond"]
        assert branch.outer_context is loop and loop.outer_context is None
        assert branch.GetWhileContext() is loop and loop.IsWhileContext() and branch.IsCondContext()
        assert contexts.output_context(out.op) is None and out.op._control_flow_context is loop
        assert graph._get_control_flow_context() is None
        assert contexts.while_context_of(branch.pivot.op) is loop


def test_a_value_from_outside_comes_in_once():
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0)
        tf.cond(tf.placeholder(tf.bool, []), lambda: x + x * x, lambda: x)
        switches = [op for op in graph.get_operations() if op.type == "Switch" and op.inputs[0] is x]
        assert len(switches) == 2  # one for each branch
        tf.while_loop(lambda i: i < 3.0, lambda i: i + x * x, [0.0])
        entered = [op for op in graph.get_operations() if op.type == "Enter" and op.inputs[0] is x]
        assert len(entered) == 1 and entered[0].get_attr("is_constant")


def test_ops_without_inputs_wait_for_their_branch():
    with tf.Graph().as_default() as graph:
        tf.cond(tf.placeholder(tf.bool, []), lambda: tf.constant(1, name="one"), lambda: tf.constant(2))
        [pivot] = graph.get_operation_by_name("cond/one").control_inputs
        assert pivot.name == "cond/switch_t"


def test_dependencies_from_outside_do_not_come_into_a_loop():
    with tf.Graph().as_default():
        before = tf.no_op("before")
        with tf.control_dependencies([before]):
            out = tf.while_loop(lambda i: i < 3, lambda i: tf.identity(i, "inside") + 1, [0])
        inside = out.graph.get_operation_by_name("while/inside")
        assert before not in inside.control_inputs


def test_values_do_not_come_out_of_a_loop_but_by_its_exits():
    with tf.Graph().as_default():
        held = []
        tf.while_loop(lambda i: i < 3, lambda i: held.append(i) or i + 1, [0])
        with pytest.raises(ValueError):
            held[0] + 1


@pytest.mark.parametrize("scope", ["", "inner"])
def test_definitions_make_contexts_again(scope):
    with tf.Graph().as_default() as graph:
        with tf.name_scope(scope or None):
            _, out = drawn()[0]
        out = tf.identity(out, "out")
        definition = tf.train.export_meta_graph(graph=graph)
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.train.import_meta_graph(definition, import_scope="again")
        [loop] = graph.get_collection(tf.GraphKeys.WHILE_CONTEXT)
        assert loop.name.startswith("again/") and loop.IsWhileContext()
        result = graph.get_tensor_by_name("again/out:0")
        assert sess.run(result) == 8.0
        # Gradients go through loops only where their contexts are known.
        start = graph.get_tensor_by_name(f"again/{scope + '/' if scope else ''}start:0")
        assert sess.run(tf.gradients(result, start)[0]) == 8.0


def test_what_a_definition_holds_stays_the_same():
    with tf.Graph().as_default():
        (_, _), seen = drawn()
        definition = seen["loop"].to_proto()
        again = contexts.WhileContext.from_proto(definition)
        assert again.to_proto() == definition
        assert definition.parallel_iterations == 10 and definition.back_prop
        assert [n.WhichOneof("ctxt") for n in definition.nested_contexts] == ["cond_ctxt", "cond_ctxt"]
