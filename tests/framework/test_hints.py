"""Types for checkers: what they say of the package is so."""

import pathlib

import pytest

import everflow as tf
from everflow.framework import functions, hints, tapes


def members(protocol):
    """The names a protocol asks for."""
    own = {name for name in vars(protocol) if not name.startswith("_")} | set(vars(protocol).get("__annotations__", {}))
    assert own, protocol
    return own


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
    made = make()
    assert not [name for name in members(protocol) if not hasattr(made, name)]


def test_every_alias_is_used_somewhere():
    root = pathlib.Path(hints.__file__).parents[1]
    imported = "\n".join(path.read_text() for path in root.rglob("*.py") if path.name != "hints.py")
    names = hints.__annotations__
    assert names and not [name for name in names if name not in imported]
