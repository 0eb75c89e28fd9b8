"""Control dependencies that keep effects in order."""

import pytest

import everflow as tf
from everflow.ops.control_flow.automatic_dependencies import (
    AutomaticControlDependencies,
    automatic_control_dependencies,
    op_is_stateful,
)


def _variable(name="v"):
    return tf.get_variable(name, initializer=1.0, use_resource=True)


def _controls(op):
    return {control.name for control in op.control_inputs}


def _value(tensor, feeds=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(tensor, feeds)


def test_uses_of_a_variable_are_in_order():
    with tf.Graph().as_default() as graph:
        v = _variable()
        with AutomaticControlDependencies() as order:
            v.assign(v + 1)
            v.assign(2 * v)
            result = order.mark_as_return(v.read_value())
        assert _controls(graph.get_operation_by_name("ReadVariableOp_2")) == {"ReadVariableOp_1"}
        assert _controls(graph.get_operation_by_name("AssignVariableOp_1")) == {"ReadVariableOp_2"}
        assert len(result.op.control_inputs) == 7
        assert _value(result) == 4.0


def test_variables_have_orders_of_their_own_and_printing_another():
    with tf.Graph().as_default() as graph:
        v, w = _variable("v"), _variable("w")
        with AutomaticControlDependencies() as order:
            v.assign_add(1.0)
            first = tf.print("a")
            w.assign_add(1.0)
            second = tf.print("b")
            random = tf.random.uniform([])
            result = order.mark_as_return(random)
        assert not first.control_inputs and second.control_inputs == [first]
        assert not graph.get_operation_by_name("AssignAddVariableOp_1").control_inputs
        assert {"PrintV2", "PrintV2_1", "AssignAddVariableOp", "AssignAddVariableOp_1"} <= _controls(result.op)
        assert "random_uniform/RandomUniform" not in _controls(result.op)
        assert op_is_stateful(first) and not op_is_stateful(graph.get_operation_by_name("random_uniform/RandomUniform"))


@pytest.mark.parametrize("choice, expected", [(True, 6.0), (False, 18.0)])
def test_a_branch_is_between_what_is_before_and_behind_it(choice, expected):
    with tf.Graph().as_default() as graph:
        v, chosen = _variable(), tf.placeholder(tf.bool)
        with AutomaticControlDependencies() as order:
            v.assign(v * 2)

            def changing():
                v.assign(v + 4)
                return 1.0

            tf.cond(chosen, lambda: 0.0, changing)
            v.assign(v * 3)
            result = order.mark_as_return(v.read_value())
        assert _controls(graph.get_operation_by_name("cond/ReadVariableOp/Switch")) == {"ReadVariableOp_1"}
        merge = graph.get_operation_by_name("artificial_merge")
        assert _controls(merge) == {"cond/ReadVariableOp", "cond/AssignVariableOp", "cond/ReadVariableOp_1"}
        assert _controls(graph.get_operation_by_name("ReadVariableOp_2")) == {"cond/Merge"}
        assert _value(result, {chosen: choice}) == expected


def test_branches_in_branches():
    with tf.Graph().as_default() as graph:
        v, outer, inner = _variable(), tf.placeholder(tf.bool), tf.placeholder(tf.bool)

        def times(factor):
            v.assign(v * factor)
            return 1.0

        with AutomaticControlDependencies() as order:
            tf.cond(outer, lambda: times(2.0), lambda: tf.cond(inner, lambda: times(3.0), lambda: times(5.0)))
            result = order.mark_as_return(v.read_value())
        merges = [op.name for op in graph.get_operations() if op.name.startswith("artificial_merge")]
        assert len(merges) == 4
        assert _controls(graph.get_operation_by_name("artificial_merge_1")) == set(merges[2:])
        assert _value(result, {outer: False, inner: False}) == 5.0
        assert _value(result, {outer: True, inner: False}) == 2.0


def test_loops_stay_as_they_are():
    with tf.Graph().as_default() as graph:
        v = _variable()
        with AutomaticControlDependencies() as order:
            tf.while_loop(lambda i: i < 3.0, lambda i: i + v.assign_add(1.0), [0.0])
            order.mark_as_return(v.read_value())
        assert not graph.get_operation_by_name("Read/ReadVariableOp").control_inputs


def test_what_is_returned_may_have_parts():
    with tf.Graph().as_default():
        v = _variable()
        with AutomaticControlDependencies() as order:
            v.assign(3.0)
            slices = order.mark_as_return(tf.IndexedSlices(tf.ones([1]), tf.constant([0])))
            sparse = order.mark_as_return(tf.SparseTensor([[0]], [1], [1]))
            array = order.mark_as_return(tf.TensorArray(tf.float32, 1))
        for part in (slices.values, slices.indices, sparse.indices, sparse.values, sparse.dense_shape):
            assert "AssignVariableOp" in _controls(part.op)
        assert array.flow.op.type == "Identity"


def test_decorated():
    @automatic_control_dependencies
    def changed(v):
        v.assign(v + 1)
        return {"a": v.read_value()}

    with tf.Graph().as_default():
        assert _value(changed(_variable())["a"]) == 2.0

        with pytest.raises(TypeError):
            automatic_control_dependencies(object)()


def test_the_graph_stays_the_same():
    order = AutomaticControlDependencies()
    with tf.Graph().as_default():
        order.__enter__()
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="default graph"):
        order.__exit__(None, None, None)
    with tf.Graph().as_default(), pytest.raises(KeyError), AutomaticControlDependencies():
        raise KeyError
