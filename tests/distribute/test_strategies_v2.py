"""Strategies as TensorFlow 2 has them: the same work, without what only TensorFlow 1's allow."""

import pytest

import everflow as tf

OF_TWO = tf.compat.v2.distribute


@pytest.mark.parametrize(
    "make, of_one",
    [
        (lambda: OF_TWO.MirroredStrategy(["/cpu:0"]), lambda: tf.distribute.MirroredStrategy(["/cpu:0"])),
        (lambda: OF_TWO.OneDeviceStrategy("/cpu:0"), lambda: tf.distribute.OneDeviceStrategy("/cpu:0")),
        (OF_TWO.experimental.CentralStorageStrategy, tf.distribute.experimental.CentralStorageStrategy),
        (OF_TWO.experimental.MultiWorkerMirroredStrategy, tf.distribute.experimental.MultiWorkerMirroredStrategy),
    ],
)
def test_the_axis_of_a_reduction_has_to_be_said(make, of_one):
    strategy = make()
    assert isinstance(strategy, OF_TWO.Strategy) and not isinstance(strategy, tf.distribute.Strategy)
    with strategy.scope():
        value = strategy.experimental_run_v2(lambda: tf.constant([1.0, 2.0]))
    with tf.Session() as session:
        assert session.run(strategy.reduce("SUM", value, axis=0)) == 3.0
    with pytest.raises(TypeError, match="axis"):
        strategy.reduce("SUM", value)
    assert isinstance(of_one(), tf.distribute.Strategy) and isinstance(of_one(), OF_TWO.Strategy)
