"""tf.layers.batch_normalization with its odder arguments."""

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def _run(fetches):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches)


def test_virtual_batches_are_made_of_every_nth_row():
    x = np.random.RandomState(0).randn(8, 3).astype(np.float32)
    got = _run(tf.layers.batch_normalization(x, training=True, virtual_batch_size=4))
    for start in (0, 1):
        rows = x[start::2]
        np.testing.assert_allclose(
            got[start::2], (rows - rows.mean(0)) / np.sqrt(rows.var(0) + 1e-3), rtol=1e-3, atol=1e-5
        )


@pytest.mark.parametrize(
    ("shape", "options"), [([8, 4], {}), ([8, 4, 4, 2], {"axis": 2}), ([8, 4, 4, 2], {"renorm": True})]
)
def test_fused_is_a_wish(shape, options):
    tf.layers.batch_normalization(tf.placeholder(tf.float32, shape), fused=True, training=True, **options)
    assert not [op for op in tf.get_default_graph().get_operations() if op.type.startswith("Fused")]


def test_averages_of_renormalization_stay_by_those_they_belong_to():
    layer = tf.layers.BatchNormalization(renorm=True)
    layer(tf.ones([4, 2]), training=True)
    assert layer.renorm_mean.op.colocation_groups() == [b"loc:@batch_normalization/moving_mean"]
    assert layer.renorm_stddev.op.colocation_groups() == [b"loc:@batch_normalization/moving_variance"]


def test_a_frozen_layer_has_no_updates():
    tf.layers.batch_normalization(tf.ones([4, 2]), training=True, trainable=False)
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []


@pytest.mark.parametrize("axis", [(1,), "a"])
def test_axes_are_an_int_or_a_list(axis):
    with pytest.raises(TypeError, match="int or list"):
        tf.layers.BatchNormalization(axis=axis)
