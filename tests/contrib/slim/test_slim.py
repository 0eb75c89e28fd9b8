"""tf.contrib.slim: names from everywhere, a small model, and the networks' variables."""

import numpy as np
import pytest

import everflow as tf

slim = tf.contrib.slim


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        tf.set_random_seed(0)
        yield g


def test_end_points_by_alias():
    x = tf.ones([1, 8, 8, 1])
    with slim.arg_scope([slim.conv2d, slim.max_pool2d], outputs_collections="ends"):
        net = slim.repeat(x, 2, slim.conv2d, 2, 3, scope="conv1")
        slim.max_pool2d(net, 2, scope="pool1")
    assert list(slim.utils.convert_collection_to_dict("ends")) == ["conv1/conv1_1", "conv1/conv1_2", "pool1"]


def test_parameters_are_counted(capsys):
    slim.fully_connected(tf.ones([1, 4]), 3)
    assert slim.model_analyzer.analyze_vars(slim.get_model_variables(), print_info=True) == (15, 60)
    assert "Total bytes of variables: 60" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("build", "scope", "size", "parameters"),
    [
        (slim.nets.alexnet.alexnet_v2, slim.nets.alexnet.alexnet_v2_arg_scope, 224, 50_303_912),
        (slim.nets.vgg.vgg_16, slim.nets.vgg.vgg_arg_scope, 224, 138_357_544),
        (slim.nets.inception.inception_v1, slim.nets.inception.inception_v1_arg_scope, 224, None),
        (slim.nets.inception.inception_v3, slim.nets.inception.inception_v3_arg_scope, 299, None),
    ],
)
def test_networks_have_a_thousand_classes(build, scope, size, parameters):
    with slim.arg_scope(scope()):
        logits, end_points = build(tf.placeholder(tf.float32, [1, size, size, 3]))
    assert logits.shape.as_list() == [1, 1000]
    assert len(end_points) > 5
    if parameters:
        assert slim.model_analyzer.analyze_vars(tf.trainable_variables())[0] == parameters


@pytest.mark.parametrize("version", [1, 2])
def test_resnets_keep_their_stride(version):
    module = getattr(slim.nets, f"resnet_v{version}")
    with slim.arg_scope(module.resnet_arg_scope()):
        build = getattr(module, f"resnet_v{version}_50")
        net, _ = build(tf.placeholder(tf.float32, [1, 64, 64, 3]), global_pool=False, output_stride=8)
        assert net.shape.as_list() == [1, 8, 8, 2048]
        with pytest.raises(ValueError, match="multiple of 4"):
            build(tf.placeholder(tf.float32, [1, 64, 64, 3]), output_stride=6, scope="other")


def test_a_small_resnet_runs():
    block = slim.nets.resnet_v1.resnet_v1_block
    with slim.arg_scope(slim.nets.resnet_v1.resnet_arg_scope()):
        x = tf.constant(np.random.RandomState(0).rand(1, 32, 32, 3).astype(np.float32))
        net, ends = slim.nets.resnet_v1.resnet_v1(
            x, [block("block1", 4, 2, 2), block("block2", 8, 1, 1)], num_classes=3, is_training=False
        )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(net).shape == (1, 1, 1, 3)
        np.testing.assert_allclose(sess.run(ends["predictions"]).sum(), 1.0, rtol=1e-5)


def test_learning_train_saves_and_stops(tmp_path):
    w = tf.get_variable("w", initializer=[3.0, 4.0])
    train_op = slim.learning.create_train_op(tf.reduce_sum(w * w) / 2, tf.train.GradientDescentOptimizer(0.5))
    starts = []
    loss = slim.learning.train(train_op, str(tmp_path), number_of_steps=3, init_fn=starts.append, log_every_n_steps=0)
    assert loss == 12.5 / 16
    assert len(starts) == 1
    np.testing.assert_allclose(tf.train.load_variable(str(tmp_path), "w"), [0.375, 0.5])
    assert tf.train.load_variable(str(tmp_path), "global_step") == 3
    with pytest.raises(ValueError, match="positive"):
        slim.learning.train(train_op, str(tmp_path), number_of_steps=0)
