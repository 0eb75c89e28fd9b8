"""Slots bear their optimizer's name; parts of variables their scope's."""

import everflow as tf


def test_slots_and_parts_take_their_scopes_names():
    with tf.Graph().as_default():
        w = tf.get_variable("w", [2])
        adam = tf.train.AdamOptimizer()
        adam.minimize(tf.reduce_sum(w))
        assert [adam.get_slot(w, slot).op.name for slot in adam.get_slot_names()] == ["w/Adam", "w/Adam_1"]
        parts = tf.create_partitioned_variables([4, 2], [2, 1], tf.zeros_initializer())
        assert [part.op.name for part in parts] == ["PartitionedVariable/part_0", "PartitionedVariable/part_1"]
