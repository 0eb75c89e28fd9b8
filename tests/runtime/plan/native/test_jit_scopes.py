"""Nodes that a program marks to be compiled are machine code at the first run, those marked not to be never are."""

import numpy as np
import pytest

import everflow as tf
from everflow.runtime.plan.native import tiers
from everflow.runtime.plan.program import NATIVE

FEED = np.linspace(-2, 2, 12).reshape([3, 4]).astype(np.float32)


def config(level):
    made = tf.ConfigProto()
    made.graph_options.optimizer_options.global_jit_level = level
    return made


@pytest.fixture(autouse=True)
def no_switch(monkeypatch):
    monkeypatch.delenv("EVERFLOW_NATIVE", raising=False)
    monkeypatch.delenv("TF_XLA_FLAGS", raising=False)


def chain(x):
    return tf.tanh(x * 2.0) + tf.exp(-x)


def statements(fetches, x, level=0, runs=1):
    """What stands in a plan after some runs: the last word of each statement is its op type."""
    with tf.Session(config=config(level)) as sess:
        results = [sess.run(fetches, {x: FEED}) for _ in range(runs)]
        np.testing.assert_allclose(results[-1], results[0], rtol=1e-5)
        lines = [line for line in sess.explain(fetches, [x]).splitlines() if "  # " in line]
    return [line.rsplit("(", 1)[1].rstrip(")") for line in lines]


@pytest.mark.parametrize("scope", [tf.contrib.compiler.jit.experimental_jit_scope, tf.xla.experimental.jit_scope])
def test_a_scope_is_compiled_at_once_and_what_is_around_it_is_not(scope):
    x = tf.placeholder(tf.float32, [3, 4])
    with scope():
        y = chain(x)
    assert statements(tf.sqrt(tf.abs(y)) * 3.0, x) == [NATIVE, "Abs", "Sqrt", "Mul"]


def test_a_scope_that_compiles_nothing_is_left_to_kernels_always():
    x = tf.placeholder(tf.float32, [3, 4])
    with tf.xla.experimental.jit_scope(compile_ops=False):
        y = chain(x)
    z = tf.sqrt(tf.abs(y)) * 3.0
    assert statements(z, x, level=1) == ["Mul", "Tanh", "Neg", "Exp", "AddV2", NATIVE]


def test_some_nodes_of_a_scope():
    x = tf.placeholder(tf.float32, [3, 4])
    with tf.xla.experimental.jit_scope(compile_ops=lambda node: node.op != "Tanh"):
        y = tf.abs(tf.tanh(x * 2.0 + 1.0)) * 3.0
    assert statements(y, x) == [NATIVE, "Tanh", NATIVE]


def test_gradients_of_a_scope_are_compiled_with_it():
    x = tf.placeholder(tf.float32, [3, 4])
    with tf.xla.experimental.jit_scope():
        y = chain(x)
    assert NATIVE in statements(tf.gradients(y, x)[0], x)


def test_what_is_around_a_scope_is_compiled_when_it_pays(monkeypatch):
    monkeypatch.setattr(tiers, "LONG_ENOUGH", 0.0)
    monkeypatch.setattr(tiers, "LONGER", 0.0)
    x = tf.placeholder(tf.float32, [3, 4])
    with tf.xla.experimental.jit_scope():
        y = chain(x)
    assert statements(tf.sqrt(tf.abs(y)) * 3.0, x, runs=tiers.OFTEN_ENOUGH) == [NATIVE]


def test_a_compiled_computation():
    x = tf.placeholder(tf.float32, [3, 4])
    (y,) = tf.xla.experimental.compile(chain, [x])
    assert NATIVE in statements(y, x)


def test_a_session_without_machine_code_has_none_in_scopes_either():
    x = tf.placeholder(tf.float32, [3, 4])
    with tf.xla.experimental.jit_scope():
        y = chain(x)
    assert NATIVE not in statements(y, x, level=-1)


def test_marks_come_with_graphs_from_files():
    with tf.Graph().as_default() as drawn:
        x = tf.placeholder(tf.float32, [3, 4], name="x")
        with tf.xla.experimental.jit_scope():
            tf.identity(chain(x), name="y")
    x, y = tf.import_graph_def(drawn.as_graph_def(), return_elements=["x:0", "y:0"])
    assert NATIVE in statements(y, x)


def test_what_marks_say():
    with tf.xla.experimental.jit_scope(compile_ops=False):
        x = tf.placeholder(tf.float32, [3])
    y = tf.sin(x)
    with tf.Session() as sess:
        program = sess._executor.compile([y], [x]).program
    assert [tiers.mark_of(n) for n in program.nodes()] == [False, None]
    assert tiers.mark_of(program.top.end) is None
