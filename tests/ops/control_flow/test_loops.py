"""`tf.while_loop`: structures, shapes, limits, and what is no loop."""

import collections

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode

Pair = collections.namedtuple("Pair", ["a", "b"])


@pytest.mark.parametrize(
    ("cond", "body", "start", "expected"),
    [
        (lambda i: i < 5, lambda i: i + 2, [0], 6),
        (lambda i: i < 0, lambda i: i + 2, [0], 0),
        (lambda i, j: i < 3, lambda i, j: (i + 1, j * 2), (0, 1), (3, 8)),
        (lambda i, j: i < 3, lambda i, j: [i + 1, j * 2], [0, 1], [3, 8]),
        (lambda p: p.a < 3, lambda p: [Pair(p.a + 1, p.b - 1)], [Pair(0, 0)], [Pair(3, -3)]),
        (lambda i, d: i < 2, lambda i, d: (i + 1, {"x": d["x"] + 1}), (0, {"x": 5}), (2, {"x": 7})),
    ],
)
def test_structures_come_back(sess, cond, body, start, expected):
    found = sess.run(tf.while_loop(cond, body, start))
    assert found == expected


def test_the_same_structure_where_asked(sess):
    made = tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [0], return_same_structure=True)
    assert sess.run(made) == [3]


@pytest.mark.parametrize(("limit", "expected"), [(0, 0), (2, 2), (99, 5)])
@pytest.mark.parametrize("known", [True, False])
def test_a_limit_of_rounds(sess, limit, expected, known):
    rounds = limit if known else tf.placeholder_with_default(limit, [])
    assert sess.run(tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0], maximum_iterations=rounds)) == expected


def test_shapes_that_may_change(sess):
    start = tf.zeros([1, 2])
    _, grown = tf.while_loop(
        lambda i, x: i < 3,
        lambda i, x: (i + 1, tf.concat([x, x], 0)),
        [0, start],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])],
    )
    assert grown.shape.as_list() == [None, 2] and sess.run(grown).shape == (8, 2)


def test_sparse_variables_of_a_loop(sess):
    sparse = tf.SparseTensor([[0], [2]], [1.0, 2.0], [3])
    _, made = tf.while_loop(
        lambda i, s: i < 2,
        lambda i, s: (i + 1, tf.SparseTensor(s.indices, s.values * 10.0, s.dense_shape)),
        [0, sparse],
    )
    assert sess.run(made).values.tolist() == [100, 200]


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.while_loop(3, lambda i: i, [0]), TypeError),
        (lambda: tf.while_loop(lambda i: i < 3, 3, [0]), TypeError),
        (lambda: tf.while_loop(lambda i: i < 3, lambda i: i, []), ValueError),
        (lambda: tf.while_loop(lambda i: i < 3, lambda i: i, [0], parallel_iterations=0), TypeError),
        (lambda: tf.while_loop(lambda i: i < 3, lambda i: (i, i), [0]), ValueError),
        (lambda: tf.while_loop(lambda i: i < 3, lambda i: [i + 1.0], [0]), TypeError),
        (lambda: tf.while_loop(lambda i: True, lambda i: tf.concat([i, i], 0), [tf.zeros([2])]), ValueError),
        (lambda: tf.while_loop(lambda i: i < 3, lambda i: i, [0], maximum_iterations=[1]), ValueError),
        (lambda: tf.while_loop(lambda i: i < 3, lambda i: i, [0], [tf.TensorShape([2])]), ValueError),
        (lambda: tf.while_loop(lambda i: i < 3, lambda i: i, [0], [[2]]), ValueError),
        (lambda: tf.while_loop(lambda i: True, lambda i: i, [None]), AttributeError),
    ],
)
def test_what_is_no_loop(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


def test_loops_in_loops(sess):
    def inner(n):
        return tf.while_loop(lambda j, s: j < n, lambda j, s: (j + 1, s + j), [0, 0])[1]

    made = tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + inner(i)), [0, 0])[1]
    assert sess.run(made) == sum(sum(range(i)) for i in range(5))


def test_what_a_body_assigns_is_done_in_each_round(sess):
    v = tf.Variable(0)
    sess.run(v.initializer)

    def body(i):
        with tf.control_dependencies([v.assign_add(i)]):
            return i + 1

    sess.run(tf.while_loop(lambda i: i < 4, body, [0]))
    assert sess.run(v) == 6


def test_the_nodes_of_a_loop_are_tensorflows():
    with tf.Graph().as_default() as graph:
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)], name="loop")
        made = [(op.name, op.type) for op in graph.get_operations() if op.name.startswith("loop/")]
    assert made == [
        ("loop/Enter", "Enter"),
        ("loop/Merge", "Merge"),
        ("loop/Less/y", "Const"),
        ("loop/Less", "Less"),
        ("loop/LoopCond", "LoopCond"),
        ("loop/Switch", "Switch"),
        ("loop/Identity", "Identity"),
        ("loop/add/y", "Const"),
        ("loop/add", "AddV2"),
        ("loop/NextIteration", "NextIteration"),
        ("loop/Exit", "Exit"),
    ]


def test_fibonacci_of_arrays(sess):
    _, a, _ = tf.while_loop(lambda i, a, b: i < 10, lambda i, a, b: (i + 1, b, a + b), [0, np.zeros(2), np.ones(2)])
    assert sess.run(a).tolist() == [55, 55]


def test_executing_eagerly_one_variable_comes_alone_even_from_a_loop_that_never_runs():
    with eager_mode():
        assert tf.while_loop(lambda i: i < 5, lambda i: i + 1, [tf.constant(3)], maximum_iterations=0).numpy() == 3
