"""AutoGraph: loops over numbers, tensors and conditions, logic, branches of constants, lists, scopes; graphs node for node."""

import tensorflow as tf
from tensorflow.contrib import autograph


def counted(n, m):
    total = 0
    for i in tf.range(n):
        for j in tf.range(m, i, -1):
            total += i * j
    return total


def stepped(n, m):
    total = 0
    for i in tf.range(n, m, tf.abs(n) + 1):
        total += i
    return total


def elements(n, m):
    total = 0
    for row in tf.reshape(tf.range(6), [3, 2]) * n:
        for value in row:
            total += value * m
    return total


def python_range(n, m):
    total = 0
    for i in range(n, m):
        total += i
    return total


def conditions(n, m):
    while n < m and m > 2 or n < 2:
        n += 1
    return n, not n > m


def constants(n, m):
    y = 1
    z = 2.0
    if n > m:
        y = 3
    return (y, z) if m > 2 else (0, z)


def collected(n, m):
    found = []
    autograph.set_element_type(found, tf.int32, ())
    for i in tf.range(n):
        found.append(i * m)
    last = found.pop()
    return autograph.stack(found), last


def shown(n, m):
    tf.debugging.assert_non_negative(n)
    return helper(n) + m


def helper(n):
    return n * 2


def run(out):
    n, m = (tf.placeholder(tf.int32, [], name=name) for name in "nm")
    made = [tf.autograph.to_graph(f)(n, m) for f in (counted, stepped, elements, python_range, conditions, constants)]
    for f, feature in ((collected, "LISTS"), (shown, "NAME_SCOPES"), (shown, "AUTO_CONTROL_DEPS")):
        feature = tf.autograph.experimental.Feature[feature]
        made.append(tf.autograph.to_graph(f, experimental_optional_features=feature)(n, m))
    out.graph()
    with tf.Session() as sess:
        out("values", [sess.run(made, {n: a, m: b}) for a, b in [(1, 3), (4, 2), (3, 9)]])
