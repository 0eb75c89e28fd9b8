"""From a node to what computes it."""

from unittest import mock

import pytest
import torch

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.kernels import registry
from everflow.runtime.plan import binding
from everflow.runtime.plan.prune import prune
from everflow.runtime.state import SessionState, Step


def node_for(fetch):
    return prune([fetch], []).nodes[-1]


@pytest.fixture
def state(graph):
    return SessionState(graph)


def test_attributes_are_at_hand(state):
    node = node_for(raw.Cumsum(x=tf.constant([1.0, 2.0]), axis=tf.constant(0), exclusive=True))
    bound = binding.bind(node, state)
    values = [torch.tensor([1.0, 2.0]), torch.tensor(0)]
    assert bound.function(*values, **bound.keywords).tolist() == [0.0, 1.0] and not bound.takes_step


def test_an_op_type_that_nobody_computes(state, monkeypatch):
    registry.load_all()
    monkeypatch.delitem(registry._kernels, "Cos")
    node = node_for(raw.Cos(x=tf.constant(1.0)))
    assert binding.bind(node, state) is None
    error = binding.missing_kernel(node)
    assert isinstance(error, tf.errors.UnimplementedError) and "'Cos'" in error.message


def test_kernels_get_the_session_the_node_and_the_step_where_they_ask(state, monkeypatch):
    registry.load_all()
    seen = {}

    def kernel(x, session, node, step):
        seen.update(session=session, node=node, step=step)
        return x

    monkeypatch.setitem(registry._kernels, "Cos", registry.Kernel(kernel, (), ("session", "node", "step")))
    node = node_for(raw.Cos(x=tf.constant(1.0)))
    bound = binding.bind(node, state)
    assert bound.takes_step and bound.keywords == {"node": node, "session": state}
    bound.function("x", **bound.keywords, step=(step := Step(state)))
    assert seen == {"session": state, "node": node, "step": step}


@pytest.mark.parametrize(("results", "given"), [([], None), ([1], 1), ([1, 2], (1, 2))])
def test_a_function_of_the_graph_is_called_like_a_kernel(graph, results, given):
    from everflow.framework import functions

    with tf.Graph().as_default() as body:
        x = tf.placeholder(tf.float32, [])
        definition = functions.to_function_def(body, "mine", [x], [-x] * len(results))
    functions.GraphFunction(definition).add_to_graph(graph)
    node = node_for(graph.create_op("mine", [tf.constant(1.0)]))
    calls = []

    def call(*values, step):
        calls.append((values, step))
        return results

    known = mock.Mock(shared=lambda name: call)
    bound = binding.bind(node, SessionState(graph, functions=lambda: known))
    assert bound.takes_step and bound.function(5.0, step="step") == given and calls == [((5.0,), "step")]


def test_kernels_are_looked_at_where_the_session_checks(state):
    node = node_for(raw.Neg(x=tf.constant(1.0)))
    plain = binding.bind(node, state)
    state.checks = True
    checked = binding.bind(node, state)
    assert checked.plain is plain.plain and checked.function is not checked.plain
    assert plain.function is plain.plain


def test_variables_are_there_once(state):
    variable = node_for(raw.VariableV2(shape=[], dtype=tf.float32, name="v").op)
    assert binding.is_once(variable)
    assert binding.once_value(variable, state) is binding.once_value(variable, state)
    assert binding.once_value(variable, state) is not binding.once_value(variable, SessionState(state.graph))
    assert not binding.is_once(node_for(raw.Neg(x=tf.constant(1.0))))


def test_constants_are_shared_by_plans_of_a_session(state):
    fetch = tf.constant([1.0, 2.0])
    first, second = (binding.constant_value(node_for(fetch), state) for _ in range(2))
    assert first is second and first.tolist() == [1.0, 2.0]


def test_values_are_grouped_by_arguments():
    node = node_for(raw.ConcatV2(values=[tf.constant([1]), tf.constant([2])], axis=tf.constant(0)))
    assert binding.call_arguments(node, ["a", "b", "axis"]) == [["a", "b"], "axis"]
    node.definition = None
    assert binding.call_arguments(node, ["a", "b", "axis"]) == ["a", "b", "axis"]
