"""Lists that loops and branches carry, with the feature LISTS, and other things with elements."""

import numpy as np
import pytest

import everflow as tf

autograph = tf.contrib.autograph


Feature = autograph.Feature


def evaluated(function, *values, features=Feature.LISTS):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(
            autograph.to_graph(function, experimental_optional_features=features)(*[tf.constant(v) for v in values])
        )


def squares(n):
    found = []
    autograph.set_element_type(found, tf.int32)
    for i in tf.range(n):
        found.append(i * i)
    return autograph.stack(found)


def changed(n):
    found = []
    autograph.set_element_type(found, tf.int32, shape=())
    i = 0
    while i < n:
        found.append(i)
        i += 1
    found[0] = 7
    last = found.pop()
    return autograph.stack(found), last, found[1]


def chosen(n):
    found = []
    autograph.set_element_type(found, tf.int32)
    found.append(1)
    if n > 2:
        found.append(n)
    return autograph.stack(found)


def test_lists_that_loops_and_branches_carry():
    np.testing.assert_array_equal(evaluated(squares, 4), [0, 1, 4, 9])
    stacked, last, second = evaluated(changed, 4)
    np.testing.assert_array_equal(stacked, [7, 1, 2])
    assert (last, second) == (3, 1)
    np.testing.assert_array_equal(evaluated(chosen, 3), [1, 3])
    np.testing.assert_array_equal(evaluated(chosen, 2), [1])


def test_other_things_with_elements():
    def mixed(x):
        held = [x, x + 1]
        held.append(x + 2)
        held[0] = 5
        ones = tf.ones([2], tf.int32)
        ones[1] = x
        array = tf.TensorArray(tf.int32, size=1, clear_after_read=False)
        array[0] = x
        d = {"k": x}
        d["k"] = held.pop()
        return held[0], ones, array[0], d["k"], len(held)

    with tf.Graph().as_default(), tf.Session() as session:
        first, *made, length = autograph.to_graph(mixed, experimental_optional_features=Feature.ALL)(tf.constant(3))
        ones, element, last = session.run(made)
    assert (first, element, last, length) == (5, 3, 5, 2)
    np.testing.assert_array_equal(ones, [1, 3])


def test_stack():
    with tf.Graph().as_default():
        tensor = tf.constant([1, 2])
        assert autograph.stack(tensor) is tensor
        assert autograph.stack([1, 2], strict=False) == [1, 2]
        with pytest.raises(ValueError, match="must be stackable when strict=True"):
            autograph.stack([1, 2])

        def untyped(n):
            found = []
            found.append(n)
            return autograph.stack(found)

        with pytest.raises(ValueError, match="use set_element_type"):
            autograph.to_graph(untyped, experimental_optional_features=Feature.LISTS)(tf.constant(1))
