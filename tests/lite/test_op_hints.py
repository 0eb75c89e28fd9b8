"""Hints: marks in the graph, stubs in their place, and recurrent cells that become one op."""

import json

import numpy as np
import pytest

import everflow as tf
from tests.lite.test_conversion import ops_of, run

Hint = tf.lite.OpHint


def test_marks():
    x = tf.placeholder(tf.float32, [1, 4], name="x")
    hint = Hint("cool", alpha=3)
    (inside,) = hint.add_inputs(x)
    (outside,) = hint.add_outputs(tf.sin(inside), names=["y"])
    assert inside.op.name.startswith("InputHint-cool-") and inside.op.name.endswith("-0-None-None")
    assert outside.op.name.endswith("-0-None-y") and outside.op.type == "Identity"
    assert (
        outside.op.get_attr(Hint.FUNCTION_NAME_ATTR) == b"cool"
        and outside.op.get_attr(Hint.FUNCTION_OUTPUT_INDEX_ATTR) == 0
    )
    with pytest.raises(ValueError, match="tag"):
        hint.add_input(x, aggregate=Hint.AGGREGATE_STACK)
    with pytest.raises(ValueError, match="aggregate"):
        hint.add_input(x, tag="t")
    with pytest.raises(ValueError, match="already used"):
        hint.add_input(x, index_override=0)


def test_stubs():
    xs = [tf.placeholder(tf.float32, [1, 4], name=f"x{i}") for i in range(3)]
    hint = Hint("agg")
    state = hint.add_input(tf.zeros([1, 4]), tag="state", aggregate=Hint.AGGREGATE_FIRST)
    outputs = []
    for x in xs:
        state = state + hint.add_input(x, tag="in", aggregate=Hint.AGGREGATE_STACK)
        outputs.append(hint.add_output(state * 2, tag="out", aggregate=Hint.AGGREGATE_STACK))
    last = hint.add_output(state, tag="last", aggregate=Hint.AGGREGATE_LAST)
    tf.identity(tf.add_n(outputs) + last, name="z")
    with tf.Session() as sess:
        made = tf.lite.experimental.convert_op_hints_to_stubs(sess)
        assert [n.op for n in made.node] == [
            n.op for n in tf.lite.experimental.convert_op_hints_to_stubs(graph_def=sess.graph_def).node
        ]
        with pytest.raises(ValueError, match="only one"):
            tf.lite.experimental.convert_op_hints_to_stubs(sess, sess.graph_def)
    with pytest.raises(ValueError, match="Must specify"):
        tf.lite.experimental.convert_op_hints_to_stubs()
    stub = next(n for n in made.node if n.op == "agg")
    assert list(stub.attr[Hint.TFLITE_INPUT_INDICES].list.i) == [0, 1]
    assert [n.op for n in made.node] == [
        "Placeholder", "Placeholder", "Placeholder", "Const", *["Identity"] * 4, "Pack", "agg", "Unpack", *["Identity"] * 4, "AddN", "AddV2", "Identity",
    ]  # fmt: skip


def test_a_hinted_part_is_a_custom_op():
    x = tf.placeholder(tf.float32, [1, 4], name="x")
    hint = Hint("cool", alpha=3)
    (inside,) = hint.add_inputs(x * 2.0)
    (outside,) = hint.add_outputs(tf.linalg.norm(tf.sin(inside), axis=1))
    y = tf.identity(outside + 1.0, name="y")
    with tf.Session() as sess:
        converter = tf.lite.TFLiteConverter.from_session(sess, [x], [y])
        with pytest.raises(Exception, match="custom implementations: cool"):
            converter.convert()
        converter.allow_custom_ops = True
        assert ops_of(converter.convert()) == ["MUL", "cool", "ADD"]


CELLS = {
    "lstm": lambda nn: nn.TFLiteLSTMCell(3),
    "lstm with everything": lambda nn: nn.TFLiteLSTMCell(
        3, use_peepholes=True, num_proj=2, cell_clip=0.3, proj_clip=0.1
    ),
    "rnn": lambda nn: nn.TfLiteRNNCell(3),
    "rnn with relu": lambda nn: nn.TfLiteRNNCell(3, activation="relu"),
}


def recurrent(name):
    """A model with an unrolled loop over a cell: input and output."""
    tf.set_random_seed(2)
    x = tf.placeholder(tf.float32, [2, 4, 5], name="x")
    outputs, _ = tf.nn.static_rnn(CELLS[name](tf.lite.experimental.nn), tf.unstack(x, axis=1), dtype=tf.float32)
    return x, tf.stack(outputs, 1, name="y")


@pytest.mark.parametrize("name", CELLS)
def test_cells_become_one_op(name):
    x, y = recurrent(name)
    data = np.random.RandomState(0).randn(2, 4, 5).astype(np.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        expected = sess.run(y, {x: data})
        model = tf.lite.TFLiteConverter.from_session(sess, [x], [y]).convert()
    assert len([op for op in ops_of(model) if op.startswith("UNIDIRECTIONAL_SEQUENCE")]) == 1
    assert not {"TANH", "FULLY_CONNECTED", "LOGISTIC"}.intersection(ops_of(model))
    interpreter = tf.lite.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    for _ in range(2):
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], data)
        interpreter.reset_all_variables()
        interpreter.invoke()
        np.testing.assert_allclose(
            interpreter.get_tensor(interpreter.get_output_details()[0]["index"]), expected, rtol=1e-4, atol=1e-5
        )


def test_states_that_the_op_does_not_give():
    x = tf.placeholder(tf.float32, [2, 4, 5], name="x")
    _, state = tf.nn.static_rnn(tf.lite.experimental.nn.TFLiteLSTMCell(3), tf.unstack(x, axis=1), dtype=tf.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(Exception, match="last memory"):
            tf.lite.TFLiteConverter.from_session(sess, [x], [state.c]).convert()
        got = run(
            tf.lite.TFLiteConverter.from_session(sess, [x], [tf.identity(state.h)]).convert(),
            [np.zeros((2, 4, 5), np.float32)],
        )
        assert got[0].shape == (2, 3)


def test_what_can_be_converted():
    ops = {entry.op for entry in tf.lite.experimental.get_potentially_supported_ops()}
    assert {"Conv2D", "MatMul", "Relu", "Identity", "StridedSlice"} <= ops
    with pytest.raises(OSError):
        tf.lite.experimental.load_delegate("nothing.so")


def test_a_loop_over_cells_has_a_hint_around_it():
    nn = tf.lite.experimental.nn
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [4, 2, 3])
        with pytest.raises(RuntimeError, match="enable_control_flow_v2"):
            nn.dynamic_rnn(nn.TfLiteRNNCell(2), x, dtype=tf.float32)
        with pytest.raises(AssertionError, match="time_major"):
            nn.dynamic_rnn(nn.TfLiteRNNCell(2), x, dtype=tf.float32, time_major=False)
        tf.enable_control_flow_v2()
        try:
            outputs, state = nn.dynamic_rnn(nn.TfLiteRNNCell(2), x, dtype=tf.float32)
        finally:
            tf.disable_control_flow_v2()
        assert outputs.shape == [4, 2, 2] and state.shape == [2, 2]
        assert outputs.op.get_attr("_tflite_function_name") == b"TfLiteDynamicRnn"
        assert outputs.op.get_attr("_tflite_ophint_level") == 2
        inner = json.loads(outputs.op.get_attr("_tflite_children_ophint_inputs_mapping"))
        assert inner["parent_last_child_output"] == [{"parent_output_index": 0, "child_output_index": -1}]
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            last, final = sess.run([outputs[-1], state], {x: np.ones([4, 2, 3])})
            np.testing.assert_array_equal(last, final)


def test_levels_and_what_is_inside_go_together():
    for wrong in ({"level": 2}, {"children_inputs_mappings": {"a": 1}}):
        with pytest.raises(AssertionError):
            tf.lite.OpHint("f", **wrong)
