"""Static shapes of array ops: as much as is known, and never at odds with what running gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everflow as tf


def _x():
    return tf.placeholder(tf.float32, [None, 8, 6])


# expression of x [?, 8, 6], its shape tensor s and a fed scalar n → static shape
CHAINS = {
    "tf.reshape(x, [s[0], 48])": "(?, 48)",
    "tf.reshape(x, [-1, s[1] * s[2]])": "(?, ?)",
    "tf.reshape(x, tf.concat([s[:1], [4, 12]], 0))": "(?, 4, 12)",
    "tf.reshape(tf.zeros([6]), [n, 3])": "(2, 3)",
    "tf.zeros(s[1:])": "(8, 6)",
    "tf.zeros(tf.stack([n, 3, s[2]]))": "(?, 3, ?)",
    "tf.zeros(tf.cast(s, tf.int64))": "(?, ?, ?)",
    "tf.zeros(tf.identity(s))": "(?, ?, ?)",
    "tf.pad(x, [[0, 0], [1, 0], [0, n]])": "(?, 9, ?)",
    "tf.tile(x, [1, n, 2])": "(?, ?, 12)",
    "tf.slice(x, [0, 0, 0], [s[0], 2, s[2]])": "(?, 2, ?)",
    "tf.split(x, 3, axis=2)[1]": "(?, 8, 2)",
    "tf.split(x, 2, axis=n)[1]": "(?, ?, ?)",
    "tf.concat([x, x], n)": "(?, ?, ?)",
    "tf.concat([x, tf.placeholder(tf.float32)], 1)": "(?, ?, 6)",
    "tf.expand_dims(x, n)": "<unknown>",
    "tf.gather(x, [0, 1], axis=2)": "(?, 8, 2)",
    "tf.gather(x, [0], axis=n)": "(?, ?, ?)",
    "tf.gather_nd(x, tf.placeholder(tf.int32, [5, 2]))": "(5, 6)",
    "tf.transpose(x, [2, 0, 1])": "(6, ?, 8)",
    "tf.squeeze(x[:1])": "<unknown>",
    "tf.one_hot([1, 2], n)": "(2, ?)",
    "tf.boolean_mask(x, tf.placeholder(tf.bool, [8]), axis=1)": "(?, ?, 6)",
    "tf.where(tf.placeholder(tf.bool))": "(?, ?)",
    "x[:, 1:-1, ::2]": "(?, 6, 3)",
    "x[1:3]": "(?, 8, 6)",
    "x[..., None, 0]": "(?, 8, 1)",
    "tf.stack([x, tf.placeholder(tf.float32, [2, None, None])], 1)": "(2, 2, 8, 6)",
    "tf.matrix_diag_part(x)": "(?, 6)",
    "tf.space_to_batch_nd(tf.placeholder(tf.float32, [None, 4, 6, 3]), [2, 2], [[0, 0], [0, 0]])": "(?, 2, 3, 3)",
    "tf.ensure_shape(x, [2, None, None])": "(2, 8, 6)",
    "tf.range(tf.dynamic_partition([2, 3], [0, 1], 2)[1][0])": "(3,)",
    "tf.sequence_mask([1, 2], s[1])": "(2, ?)",
    "tf.sparse_tensor_to_dense(tf.sparse_placeholder(tf.float32, [2, 3]))": "(2, 3)",
}


@pytest.mark.parametrize("expression", CHAINS)
def test_static_shape(expression):
    with tf.Graph().as_default():
        x = _x()
        found = eval(expression, {"tf": tf, "x": x, "s": tf.shape(x), "n": tf.placeholder(tf.int32, [])})
        assert str(found.shape) == CHAINS[expression]


# Functions of a tensor with dimensions a, b, c and of a placeholder tensor that holds them
OPS = {
    "reshape": lambda x, s: tf.reshape(x, tf.stack([s[2], -1])),
    "flatten": lambda x, s: tf.reshape(x, [-1]),
    "expand": lambda x, s: tf.expand_dims(x, 1),
    "concat": lambda x, s: tf.concat([x, x], 1),
    "stack": lambda x, s: tf.stack([x, x], 2),
    "tile": lambda x, s: tf.tile(x, [1, 2, 3]),
    "pad": lambda x, s: tf.pad(x, [[1, 0], [0, 0], [2, 1]]),
    "slice": lambda x, s: x[1:, ::-1, :2],
    "newaxis": lambda x, s: x[..., None, :1],
    "gather": lambda x, s: tf.gather(x, [[0, 0]], axis=-1),
    "gather_nd": lambda x, s: tf.gather_nd(x, [[0, 0]]),
    "transpose": lambda x, s: tf.transpose(x, [1, 2, 0]),
    "split": lambda x, s: tf.split(x, [1, -1], 2)[1],
    "unstack": lambda x, s: tf.reverse(x, [1])[0],
    "mask": lambda x, s: tf.boolean_mask(x, x > 0),
    "broadcast": lambda x, s: tf.broadcast_to(tf.zeros([1]), s),
    "zeros": lambda x, s: tf.zeros(tf.concat([s[:1], [2]], 0)),
    "fill": lambda x, s: tf.fill(tf.shape(x)[1:], 0.0),
    "one_hot": lambda x, s: tf.one_hot(tf.zeros_like(x, tf.int32), 3, axis=1),
    "where": lambda x, s: tf.where(x > 0),
    "diag_part": lambda x, s: tf.matrix_diag_part(x),
    "diag": lambda x, s: tf.matrix_diag(x),
    "space_to_batch": lambda x, s: tf.space_to_batch_nd(x, [2], [[0, 1]]) if x.shape.rank is None else tf.identity(x),
    "scatter": lambda x, s: tf.scatter_nd([[0], [1]], tf.zeros([2, 3]), [4, 3]),
    "unique": lambda x, s: tf.unique(tf.reshape(x, [-1]))[0],
    "partition": lambda x, s: tf.dynamic_partition(x, tf.zeros_like(x[:, 0, 0], tf.int32), 2)[0],
    "roll": lambda x, s: tf.roll(x, 1, 0),
    "meshgrid": lambda x, s: tf.meshgrid(x[0, 0], x[0, :, 0])[1],
    "repeat": lambda x, s: tf.repeat(x, 2, axis=1),
    "sort": lambda x, s: tf.sort(x, axis=1),
}


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(sorted(OPS)), st.tuples(*[st.integers(2, 4)] * 3), st.tuples(*[st.booleans()] * 3))
def test_static_shapes_fit_what_running_gives(name, dims, known):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [d if k else None for d, k in zip(dims, known)])
        s = tf.placeholder(tf.int32, [3])
        result = OPS[name](x, s)
        with tf.Session() as session:
            value = session.run(result, {x: np.random.RandomState(0).randn(*dims), s: dims})
    assert result.shape.is_compatible_with(value.shape)


def _inside_a_loop(build):
    shapes = []

    def body(i):
        shapes.append(str(build().shape))
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    return shapes[0]


def test_constants_from_outside_a_loop_are_known_in_stacks_of_sizes():
    n, product = tf.constant(4), tf.reduce_prod(tf.constant([2, 3]))
    rows = tf.shape(tf.placeholder(tf.float32, [3, None]))[1]
    assert _inside_a_loop(lambda: tf.fill([n, product, rows], 1)) == "(4, 6, ?)"
    assert _inside_a_loop(lambda: tf.reshape(tf.ones([20]), [n, -1])) == "(4, 5)"
    assert _inside_a_loop(lambda: tf.slice(tf.ones([9, 9]), [0, 0], [n, 2])) == "(4, 2)"


def test_values_that_are_not_sizes_are_not_seen_through_the_door_of_a_loop():
    n = tf.constant(4)
    assert _inside_a_loop(lambda: tf.ones([9, 9])[:n]) == "(?, 9)"
    assert _inside_a_loop(lambda: tf.pad(tf.ones([2]), [[n, 1]])) == "(?,)"
    assert _inside_a_loop(lambda: tf.pad(tf.ones([2]), [[1, 1]])) == "(4,)"


def test_a_draw_knows_its_number_from_constant_arithmetic():
    assert tf.multinomial(tf.ones([3, 4]), tf.reduce_prod(tf.constant([2, 3]))).shape.as_list() == [3, 6]
    assert tf.distributions.Categorical(logits=tf.ones([3, 5])).sample([2, 3]).shape.as_list() == [2, 3, 3]
