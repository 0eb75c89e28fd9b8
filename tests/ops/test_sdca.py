"""What the ops of dual coordinate ascent look like in a graph."""

import pytest

import everflow as tf


def test_shapes_and_attributes():
    with tf.Graph().as_default():
        assert tf.train.sdca_fprint(tf.placeholder(tf.string, [3])).shape.as_list() == [3, 2]
        with pytest.raises(ValueError):
            tf.train.sdca_fprint(tf.placeholder(tf.string, [3, 1]))
        states, sparse, dense = tf.train.sdca_optimizer(
            sparse_example_indices=[tf.placeholder(tf.int64, [None])],
            sparse_feature_indices=[tf.placeholder(tf.int64, [None])],
            sparse_feature_values=[],
            dense_features=[tf.placeholder(tf.float32, [None, 2])],
            example_weights=tf.placeholder(tf.float32, [None]),
            example_labels=tf.placeholder(tf.float32, [None]),
            sparse_indices=[tf.placeholder(tf.int64, [None])],
            sparse_weights=[tf.placeholder(tf.float32, [5])],
            dense_weights=[tf.placeholder(tf.float32, [2])],
            example_state_data=tf.placeholder(tf.float32, [None, 4]),
            loss_type="hinge_loss",
            l1=0.5,
            l2=1.0,
            num_loss_partitions=1,
            num_inner_iterations=2,
        )
        assert states.shape.as_list() == [None, 4]
        assert [t.shape.as_list() for t in (*sparse, *dense)] == [[5], [2]]
        assert states.op.get_attr("adaptative") is True and states.op.get_attr("num_inner_iterations") == 2
