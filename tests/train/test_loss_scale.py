"""Loss scales: what they keep is saved, losses may be functions, and steps that overflow are left out."""

import pytest

import everflow as tf
from everflow.eager.mode import eager_mode

experimental = tf.train.experimental


def _optimizer(scale):
    return experimental.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(2.0), scale)


def test_what_a_scale_has_seen_is_saved(tmp_path):
    with eager_mode():
        scale = experimental.DynamicLossScale(2.0, increment_period=2, multiplier=3.0)
        for value in (1.0, 1.0, 1.0):
            scale.update([tf.constant(value)])
        path = tf.train.Checkpoint(scale=scale).save(str(tmp_path / "model"))
        again = experimental.DynamicLossScale(2.0, increment_period=2, multiplier=3.0)
        tf.train.Checkpoint(scale=again).restore(path).assert_consumed()
        assert again().numpy() == 6.0


def test_losses_may_be_functions():
    with eager_mode():
        v, optimizer = tf.Variable(5.0), _optimizer(experimental.DynamicLossScale(4.0, 2))
        optimizer.minimize(lambda: v * 3.0)
        optimizer.minimize(lambda: v * float("nan"))
        assert v.numpy() == -1.0 and optimizer._loss_scale().numpy() == 2.0


def test_replicas_look_at_their_gradients_together():
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    with tf.Graph().as_default(), strategy.scope():
        v, optimizer = tf.Variable(5.0, use_resource=True), _optimizer(experimental.DynamicLossScale(4.0, 2))
        step = strategy.experimental_run_v2(lambda: optimizer.minimize(v * 3.0))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(step)
            sess.run(step)
            assert sess.run([v, optimizer._loss_scale()]) == [-7.0, 8.0]


def test_what_hangs_on_the_optimizer():
    optimizer = _optimizer(8.0)
    assert [child.name for child in optimizer._checkpoint_dependencies] == ["base_optimizer", "loss_scale"]
    for scale, error in ((None, TypeError), ("static", ValueError)):
        with pytest.raises(error):
            _optimizer(scale)
    with pytest.raises(TypeError):
        experimental.LossScale()


def test_the_rewrite_is_switched():
    wrapped = experimental.enable_mixed_precision_graph_rewrite(tf.keras.optimizers.SGD(1.0))
    assert type(wrapped).__name__ == "LossScaleOptimizer"
    assert tf.config.optimizer.get_experimental_options()["auto_mixed_precision"]
    with pytest.raises(ValueError):
        experimental.enable_mixed_precision_graph_rewrite(wrapped)
    experimental.disable_mixed_precision_graph_rewrite()
    assert not tf.config.optimizer.get_experimental_options()["auto_mixed_precision"]
