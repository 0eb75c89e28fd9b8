"""What Python makes of a function of a number, converted code makes of numbers and of tensors."""

import everflow as tf


def check_agreement(function):
    """A function gives for 1, 4 and 10 what it gives as Python: converted, and in a graph."""
    values = [1, 4, 10]
    expected = [function(v) for v in values]
    converted = tf.autograph.to_graph(function)
    assert [converted(v) for v in values] == expected
    with tf.Graph().as_default(), tf.Session() as sess:
        n = tf.placeholder(tf.int32, [])
        found = [converted(n), tf.function(function)(n)]
        assert [sess.run(found, {n: v}) for v in values] == [[e, e] for e in expected]
