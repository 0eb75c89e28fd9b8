"""tf.contrib.model_pruning: masks on layers and cells, and their updates."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import model_pruning as pruning

pytestmark = pytest.mark.usefixtures("own_graph")


def _hparams(**changes):
    hparams = pruning.get_pruning_hparams().parse(
        "begin_pruning_step=0,end_pruning_step=10,pruning_frequency=1,sparsity_function_end_step=10"
    )
    return hparams.override_from_dict(changes)


def test_the_smallest_weights_are_masked():
    global_step = tf.train.get_or_create_global_step()
    pruning.masked_fully_connected(tf.zeros([2, 4]), 3, scope="fc")
    made = pruning.Pruning(
        _hparams(initial_sparsity=0.25, target_sparsity=0.5, sparsity_function_exponent=1.0), global_step
    )
    update = made.conditional_mask_update_op()
    made.add_pruning_summaries()
    (mask,), (threshold,), (weights,) = pruning.get_masks(), pruning.get_thresholds(), pruning.get_weights()
    assert [v.op.name for v in tf.trainable_variables()] == ["fc/weights", "fc/biases"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(weights.assign(np.arange(12).reshape(4, 3) * 0.1))
        zeros = []
        for step in range(3):
            session.run(global_step.assign(step))
            session.run(update)
            zeros.append(12 - session.run(mask).sum())
        # The last update counts as done at step 0, so that the first is at step 1.
        assert zeros == [0, 3, 4]
        assert session.run(threshold) == pytest.approx(0.4)
        assert session.run(pruning.get_weight_sparsity()) == pytest.approx([1 / 3])


def test_blocks_and_targets_of_single_layers():
    global_step = tf.train.get_or_create_global_step()
    for scope in ("a", "b"):
        pruning.masked_fully_connected(tf.zeros([1, 4]), 4, scope=scope)
    hparams = _hparams(
        weight_sparsity_map=["b/weights:0.75"], initial_sparsity=0.5, target_sparsity=0.5, block_height=2, block_width=2
    )
    update = pruning.Pruning(hparams, global_step).mask_update_op()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([w.assign(np.arange(16).reshape(4, 4) * 0.1) for w in pruning.get_weights()])
        session.run(update)
        first, second = session.run(pruning.get_masks())
    np.testing.assert_array_equal(first, np.kron([[0, 0], [1, 1]], np.ones([2, 2])))
    np.testing.assert_array_equal(second, np.kron([[0, 0], [0, 1]], np.ones([2, 2])))


def test_convolutions_and_cells():
    images = tf.zeros([2, 8, 8, 3])
    assert pruning.masked_conv2d(
        images, 4, [3, 3], normalizer_fn=tf.contrib.layers.batch_norm, scope="c"
    ).shape.as_list() == [2, 8, 8, 4]
    for cell in (pruning.MaskedBasicLSTMCell(3), pruning.MaskedLSTMCell(3, use_peepholes=True)):
        outputs, _ = cell(tf.zeros([2, 4]), cell.zero_state(2, tf.float32))
        assert outputs.shape.as_list() == [2, 3]
    assert [m.op.name for m in pruning.get_masks()] == [
        "c/mask",
        "masked_basic_lstm_cell/mask",
        "masked_lstm_cell/mask",
    ]
    assert pruning.get_masked_weights()[0].op.name == "c/weights/masked_weight"


def test_any_weights_can_have_a_mask():
    weights = tf.Variable(tf.ones([2, 2]))
    assert pruning.apply_mask(weights, scope="s").shape.as_list() == [2, 2]
    assert [m.op.name for m in pruning.get_masks()] == ["s/mask"] and pruning.get_weights() == [weights]


def test_masks_are_multiplied_into_a_frozen_model(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        y = tf.identity(pruning.masked_fully_connected(x, 3, scope="fc"), name="y")
        sess.run(tf.global_variables_initializer())
        sess.run(pruning.get_masks()[0].assign(np.tri(4, 3)))
        wanted = sess.run(y, {x: np.ones([1, 4])})
        tf.train.Saver().save(sess, str(tmp_path / "model"))
    frozen = pruning.graph_def_from_checkpoint(str(tmp_path), ["y"])
    stripped = pruning.strip_pruning_vars_fn(frozen, ["y"])
    assert "fc/mask" in [n.name for n in frozen.node] and "fc/mask" not in [n.name for n in stripped.node]
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(stripped, name="")
        np.testing.assert_allclose(sess.run("y:0", {"x:0": np.ones([1, 4])}), wanted)
    with pytest.raises(ValueError, match="Could not find a checkpoint"):
        pruning.graph_def_from_checkpoint(str(tmp_path / "nowhere"), ["y"])


def test_training_updates_masks(tmp_path):
    with tf.Graph().as_default():
        y = pruning.masked_fully_connected(tf.ones([8, 4]), 1, activation_fn=None)
        step = tf.train.get_or_create_global_step()
        loss = tf.losses.mean_squared_error(tf.ones([8, 1]), y)
        train_op = tf.contrib.slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.01))
        settings = pruning.get_pruning_hparams().parse(
            "pruning_frequency=1,target_sparsity=0.5,sparsity_function_end_step=2"
        )
        update = pruning.Pruning(settings, step).conditional_mask_update_op()
        assert pruning.train(train_op, str(tmp_path), update, number_of_steps=4) >= 0
    reader = tf.train.load_checkpoint(str(tmp_path))
    assert reader.get_tensor("fully_connected/mask").sum() == 2
