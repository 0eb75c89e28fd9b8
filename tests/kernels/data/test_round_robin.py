"""Strings handed out in turn."""

import pytest

import everflow as tf


def obtained(strings, counter):
    return tf.raw_ops.ObtainNext(list=strings, counter=counter)


def test_the_counter_is_the_place_of_the_last_one_and_goes_round(sess):
    counter = tf.Variable(5, dtype=tf.int64)
    following = obtained(["a", "b", "c"], counter)
    sess.run(counter.initializer)
    assert [sess.run(following) for _ in range(4)] == [b"a", b"b", b"c", b"a"]
    assert sess.run(counter) == 0


@pytest.mark.parametrize("strings", [[], [["a"]]])
def test_a_list_has_something(sess, strings):
    counter = tf.Variable(0, dtype=tf.int64)
    following = obtained(tf.placeholder_with_default(tf.constant(strings, tf.string), None), counter)
    sess.run(counter.initializer)
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least one string"):
        sess.run(following)
    assert sess.run(counter) == 0


def test_a_counter_without_a_value(sess):
    with pytest.raises(tf.errors.FailedPreconditionError):
        sess.run(obtained(["a"], tf.Variable(0, dtype=tf.int64)))
