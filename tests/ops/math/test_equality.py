"""What `==` means on tensors: see also tests/eager/test_v2_behavior.py, where operations run at once."""

import everflow as tf


def test_switched_on_it_changes_nothing_in_graphs():
    tf.enable_tensor_equality()
    try:
        with tf.Graph().as_default() as graph:
            x, v = tf.constant([1.0]), tf.Variable([1.0])
            before = graph.version
            assert (x == x) is True and (x == v) is False and (x != v) is True and graph.version == before
            assert {x: 1}[x] == 1
    finally:
        tf.disable_tensor_equality()
    assert (x == x) is True and (v != v) is False
