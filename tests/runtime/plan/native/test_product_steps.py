"""Products in loops, and sums of them."""

import everflow as tf
from tests.runtime.plan.native.compared import RANDOM, check, constant


def test_many_thin_products_are_added_up_as_one():
    """130 rounds of 2 rows: twice the sum is made, and once what is left."""
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), constant(2, 130, 3), dtype=tf.float32)
    loss = tf.reduce_mean(outputs**2)
    check([loss, tf.train.AdamOptimizer(0.1).minimize(loss)], 2, rtol=1e-4)


def test_products_of_all_kinds():
    a, b = constant(3, 4), constant(2, 4, 5)

    def body(i, x, y):
        x = tf.matmul(a, a, transpose_a=True) @ x * 0.1 + tf.matmul(x, a, transpose_b=True) @ a * 0.1
        return i + 1, x, tf.matmul(b, tf.matmul(b, y), transpose_a=True) * 0.1

    check(tf.while_loop(lambda i, *_: i < 4, body, [0, constant(4, 4), constant(2, 5, 4)]), 1)


def test_double_precision():
    x = tf.constant(RANDOM.randn(3, 3))
    check(tf.while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, tf.matmul(x, x) * 0.1), [0, x]), 1, rtol=1e-12)


def test_columns_of_a_product_and_several_products_in_one_sum():
    w = constant(6, 6)

    def body(i, x):
        y = tf.matmul(x, w, transpose_b=True)
        return i + 1, 0.1 * (y[:, 1:4] @ w[:3] + y[:, 4:] @ w[4:] + y)

    check(tf.while_loop(lambda i, x: i < 4, body, [0, constant(2, 6)]), 1)
