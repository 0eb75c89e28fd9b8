"""Types for checkers: what they say of the package is so."""

import pytest

import everflow as tf
from everflow.framework import functions, hints, tapes
from tests.framework.protocols import imported_of, missing


def graph_function():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [])
        return functions.GraphFunction(functions.to_function_def(graph, "f", [x], [-x]))


def control_flow_context():
    with tf.Graph().as_default():
        return (
            tf.cond(tf.placeholder(tf.bool, []), lambda: tf.constant(1), lambda: tf.constant(2))
            .op.inputs[0]
            .op._get_control_flow_context()
        )


def listening_tape():
    with tf.GradientTape():
        return tapes.active()[0]


@pytest.mark.parametrize(
    ("protocol", "make"),
    [
        (hints.SessionLike, tf.Session),
        (hints.GraphFunctionLike, graph_function),
        (hints.ControlFlowContext, control_flow_context),
        (hints.Tape, listening_tape),
    ],
)
def test_the_one_that_is_used_has_what_its_protocol_asks_for(protocol, make):
    assert missing(protocol, make()) == []


def test_every_alias_is_used_somewhere():
    assert set(hints.__annotations__) <= imported_of(hints.__name__)
