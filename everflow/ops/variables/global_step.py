"""The global step: the one integer variable that counts training steps."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies, get_default_graph
from everflow.ops.variables import initializers
from everflow.ops.variables.assign import assign_add
from everflow.ops.variables.scope import get_variable
from everflow.ops.variables.variable import Variable, VariableAggregation
from everflow.platform import logging

GLOBAL_STEP_READ_KEY = "global_step_read_op_cache"


def global_step(sess, global_step_tensor):
    """The value of the global step in a session, as a Python int.

    Args:
        sess: The session.
        global_step_tensor: The variable.

    Returns:
        A number.

    Example:
        >>> count = tf.train.create_global_step()
        >>> sess.run(count.initializer)
        >>> tf.train.global_step(sess, count)
        0
    """
    return int(np.asarray(sess.run(global_step_tensor)).item())


def get_global_step(graph=None):
    """The global step of a graph: of its collection, or the tensor "global_step:0"; None where there is none.

    Args:
        graph: The graph to work in; the default graph if None.

    Returns:
        A variable, or None.

    Raises:
        TypeError: If it is of the wrong kind.

    Example:
        >>> tf.train.get_global_step() is None
        True
    """
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) == 1:
        step = found[0]
    elif not found:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    else:
        logging.error("Multiple tensors in global_step collection.")
        return None
    assert_global_step(step)
    return step


def create_global_step(graph=None):
    """Make the global step; ValueError where there is one.

    Args:
        graph: The graph to work in; the default graph if None.

    Returns:
        A variable.

    Raises:
        ValueError: If the graph has one.

    Example:
        >>> tf.train.create_global_step().name
        'global_step:0'
    """
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default() as g, g.name_scope(None):
        step = get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=dtypes.int64,
            initializer=initializers.zeros_initializer(),
            trainable=False,
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )
        if not g.get_collection_ref(GraphKeys.GLOBAL_STEP):  # it executes eagerly
            g.add_to_collection(GraphKeys.GLOBAL_STEP, step)
        return step


def get_or_create_global_step(graph=None):
    """The global step of a graph, made where there is none.

    Args:
        graph: The graph to work in; the default graph if None.

    Returns:
        A variable.

    Example:
        >>> tf.train.get_or_create_global_step() is tf.train.get_global_step()
        True
    """
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def assert_global_step(global_step_tensor):
    """TypeError where it is not a scalar of an integer type.

    Args:
        global_step_tensor: What to check.

    Returns:
        None.

    Raises:
        TypeError: If it is not a scalar of an integer type.

    Example:
        >>> tf.train.assert_global_step(tf.Variable(0))
    """
    if not isinstance(global_step_tensor, (Variable, Tensor)):
        raise TypeError(f'The graph\'s "global_step" must be a variable or a tensor, not {global_step_tensor}')
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(f'The graph\'s "global_step" does not have integer type: {global_step_tensor.dtype!r}')
    shape = global_step_tensor.get_shape()
    if shape.ndims != 0 and shape.is_fully_defined():
        raise TypeError(f'The graph\'s "global_step" is not scalar: {shape}')


def _get_global_step_read(graph=None):
    """The tensor of the step before this run counts it up, or None."""
    graph = graph or get_default_graph()
    found = graph.get_collection(GLOBAL_STEP_READ_KEY)
    if len(found) > 1:
        raise RuntimeError(f"The collection {GLOBAL_STEP_READ_KEY!r} has {len(found)} tensors, where one is wanted")
    return found[0] if found else None


def _get_or_create_global_step_read(graph=None):
    """A tensor of the global step that is read before `_increment_global_step` counts it up; None without a step."""
    graph = graph or get_default_graph()
    found = _get_global_step_read(graph)
    if found is not None:
        return found
    step = get_global_step(graph)
    if step is None:
        return None
    # Adding zero makes a tensor of its own, which the increment can wait for.
    with graph.as_default() as g, g.name_scope(None), g.name_scope(step.op.name + "/"):
        value = step.initialized_value() if isinstance(step, Variable) else step
        read = value + 0
        graph.add_to_collection(GLOBAL_STEP_READ_KEY, read)
    return _get_global_step_read(graph)


def _increment_global_step(increment, graph=None):
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    if step is None:
        raise ValueError("There is no global step to count up: tf.train.create_global_step makes it")
    read = _get_or_create_global_step_read(graph)
    with graph.as_default() as g, g.name_scope(None), g.name_scope(step.op.name + "/"), control_dependencies([read]):
        return assign_add(step, increment)
