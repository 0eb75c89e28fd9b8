"""Names of TensorFlow's modules for loops, variables' handles and the CTC loss, by which unit tests call them."""

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.eager.mode import eager_mode

# isort: split
from tensorflow.python.ops import control_flow_ops, ctc_ops, logging_ops, numerics, resource_variable_ops


@pytest.fixture
def sess():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_a_loop_of_single_nodes(sess):
    start, limit, one = (control_flow_ops._Enter(tf.constant(v), "loop", is_constant=v != 0) for v in (0, 10, 1))
    merged = control_flow_ops.merge([start, start])[0]
    more = control_flow_ops.loop_cond(merged < limit)
    off, on = control_flow_ops._SwitchRefOrTensor(merged, more)
    again = control_flow_ops._NextIteration(control_flow_ops._Identity(on) + one)
    merged.op._update_input(1, again)
    assert sess.run(control_flow_ops.exit(off)) == 10


@pytest.mark.usefixtures("own_graph")
def test_references_stay_references():
    v = tf.Variable(7, use_resource=False)
    assert control_flow_ops._Enter(v._ref(), "loop").op.type == "RefEnter"
    assert control_flow_ops._Identity(v._ref()).op.type == "RefIdentity"
    assert control_flow_ops._SwitchRefOrTensor(v._ref(), tf.constant(True))[0].op.type == "RefSwitch"
    slices = control_flow_ops._Enter(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])), "loop")
    assert isinstance(slices, tf.IndexedSlices) and slices.indices.op.type == "Enter"
    assert control_flow_ops._GroupControlDeps("/cpu:0", [slices.values], name="all").device == "/device:CPU:0"
    assert isinstance(control_flow_ops.cond_for_tf_v2(tf.constant(True), lambda: [1], lambda: [2]), list)


def test_entries_as_text():
    with eager_mode():
        assert control_flow_ops._summarize_eager(tf.constant([1, 2, 3, 4])) == "1, 2, 3, ..."
        assert control_flow_ops._summarize_eager(tf.constant([1, 2, 3, 4]), -1) == "1, 2, 3, 4"
        handle = resource_variable_ops.eager_safe_variable_handle(1.0, [], "shared", "h", False)
        resource_variable_ops.shape_safe_assign_variable_handle(handle, [], 2.0)
        assert resource_variable_ops.read_variable_op(handle, tf.float32).numpy() == 2.0
        with pytest.raises(ValueError):
            resource_variable_ops.shape_safe_assign_variable_handle(handle, [], [2.0])
        with tf.GradientTape() as tape, resource_variable_ops._handle_graph(handle):
            resource_variable_ops.variable_accessed(v := tf.Variable(1.0))
        assert tape.watched_variables() == (v,)


def test_placeholders_and_checks(sess):
    assert logging_ops._generate_placeholder_string("a") == "{}"
    assert logging_ops._generate_placeholder_string("a {} {}9") == "{}94"
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(numerics.verify_tensor_all_finite_v2(tf.constant([np.nan]), "no number"))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [3, 8, 19]),
        ({"reverse": True}, [25, 12, 5]),
        ({"inclusive": True}, [1, 3, 8, 19]),
        ({"inclusive": True, "reverse": True}, [25, 12, 5, 1]),
        ({"final_only": True}, 19),
        ({"final_only": True, "reverse": True}, 25),
    ],
)
def test_running_sums(sess, options, expected):
    sums = ctc_ops._scan(lambda a, x: a * 2.0 + x, tf.constant([1.0, 2.0, 3.0]), tf.constant(1.0), **options)
    assert sess.run(sums).tolist() == expected


def test_states_of_labels(sess):
    steps = sess.run(ctc_ops._ctc_state_trans([[1, 1]]))[0]
    # A label that is repeated can only follow a blank.
    assert steps[:3].tolist() == [[1, 0, 0, 0, 0, 0], [1, 1, 0, 1, 0, 0], [0, 0, 1, 0, 1, 0]]
    assert steps[3:].tolist() == [[1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]]
    labels, states = tf.constant([[1, 2, 1]]), tf.zeros([1, 1, 8])
    by_label = ctc_ops._state_to_olabel(labels, 3, states)
    same = ctc_ops._state_to_olabel_unique(labels, 3, states, ctc_ops.ctc_unique_labels(labels))
    assert np.allclose(sess.run([by_label, same]), [[[[np.log(4), np.log(2), 0]]]] * 2)
    seen = sess.run(ctc_ops._ilabel_to_state(labels, 3, tf.constant([[[0.5, 1.0, 2.0]]])))
    assert seen.tolist() == [[[-np.inf, 1, 2, 1, 0.5, 0.5, 0.5, 0.5]]]
    even, ends = tf.fill([2, 2], np.float32(np.log(0.5))), tf.fill([1, 2], np.float32(np.log(0.5)))
    observed = tf.constant([[[0.0, -np.inf]], [[-np.inf, 0.0]]], tf.float32)
    states, likelihood = sess.run(ctc_ops._forward_backward_log(even, ends, ends, observed, [2]))
    assert np.exp(states).tolist() == [[[1, 0]], [[0, 1]]] and np.allclose(np.exp(likelihood), 0.125)
    states, _ = sess.run(ctc_ops._forward_backward_log(even, ends, ends, observed, [1]))
    assert np.isneginf(states[1]).all()
