"""What follows from the shapes of the feeds: through rules, arithmetic on shapes, loops, arrays and stacks."""

import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.framework.shapes import TensorShape
from everflow.runtime.plan.shape_propagation import propagate_shapes
from everflow.runtime.plan.verify import verify
from tests.runtime.plan.sessions import assert_same_bits, compiled


def propagated(fetches, feeds):
    """The program of some fetches where the shapes of feeds are known, and how many shapes that told."""
    fetches = fetches if isinstance(fetches, list) else [fetches]
    with tf.Session() as sess:
        plan = sess._executor.compile(fetches, list(feeds))
        for node, shape in zip(plan.program.feeds, feeds.values(), strict=True):
            node.output_shapes = [TensorShape(shape)]
        count = propagate_shapes(plan.program, sess._executor.state)
        verify(plan.program)
    return plan.program, count


def result_shapes(fetches, feeds):
    program, _ = propagated(fetches, feeds)
    return [source.shape(output) for source, output in program.top.end.inputs]


@pytest.fixture
def x():
    return tf.placeholder(tf.float32, [None, 3], name="x")


def test_rules_are_asked_again(x):
    y = tf.matmul(tf.nn.relu(x), tf.ones([3, 5]))
    assert result_shapes([y, tf.reduce_sum(y, 1)], {x: [7, 3]}) == [[7, 5], [7]]
    assert propagated(y, {x: [7, 3]})[1] > 0
    assert propagated(y, {x: [None, 3]})[1] == 0


def test_arithmetic_on_shapes_is_done(x):
    rows = tf.shape(x)[0]
    y = tf.reshape(x, [rows * 3 // 2, 2])
    assert result_shapes([y, tf.fill([rows + 1], 0.0), tf.range(rows)], {x: [4, 3]}) == [[6, 2], [5], [4]]


def test_sizes_that_depend_on_values_stay_open(x):
    assert result_shapes([tf.boolean_mask(x, x[:, 0] > 0.0), tf.where(x > 0.0)], {x: [4, 3]}) == [None, None]


def test_what_fails_is_told_when_it_runs(x):
    y = tf.reshape(x, [5, -1])
    assert result_shapes(y, {x: [4, 3]}) == [None]
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(y, {x: [[1.0, 2.0, 3.0]] * 4})


def test_both_sides_of_a_branch_have_to_agree(x):
    p = tf.placeholder(tf.bool, [])
    same = tf.cond(p, lambda: tf.exp(x), lambda: -x)
    other = tf.cond(p, lambda: tf.exp(x), lambda: x[:1])
    assert result_shapes([same, other], {x: [4, 3], p: []}) == [[4, 3], None]


def test_a_loop_variable_keeps_its_shape_or_does_not(x):
    kept = tf.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, tf.tanh(v)), [0, x], shape_invariants=[tf.TensorShape([]), x.shape]
    )[1]
    grown = tf.while_loop(
        lambda i, v: i < 3,
        lambda i, v: (i + 1, tf.concat([v, v], 0)),
        [0, x],
        shape_invariants=[tf.TensorShape([]), x.shape],
    )[1]
    assert result_shapes([kept, grown], {x: [4, 3]}) == [[4, 3], None]


def test_one_variable_that_changes_takes_down_those_made_of_it(x):
    def body(i, a, b):
        return i + 1, tf.concat([a, a], 0), tf.reduce_sum(a, 1)

    start = [0, x, x[:, 0]]
    invariants = [tf.TensorShape([]), tf.TensorShape([None, 3]), tf.TensorShape([None])]
    loop = tf.while_loop(lambda i, a, b: i < 2, body, start, shape_invariants=invariants)
    assert result_shapes(loop[2], {x: [4, 3]}) == [None]


def test_what_an_array_gives_is_what_was_put_in(x):
    array = tf.TensorArray(tf.float32, 2, infer_shape=False)
    written = array.write(0, tf.exp(x)).write(1, -x)
    mixed = tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, x).write(1, x[:1])
    rows = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False).unstack(x)
    fetches = [written.read(0), mixed.read(0), rows.read(0)]
    assert result_shapes(fetches, {x: [4, 3]}) == [[4, 3], None, [3]]


def test_rows_of_an_array_put_together(x):
    """Also what a gradient puts into an array of its own, which is as large as what came out."""
    array = tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, x).write(1, -x)
    grows = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False).write(0, x)
    stacked = array.stack()
    slope = tf.gradients(stacked * 2.0, x)[0]
    fetches = [stacked, array.size() + 0, grows.stack(), slope]
    assert result_shapes(fetches, {x: [4, 3]}) == [[2, 4, 3], [], None, [4, 3]]


def test_gradients_of_elements_are_as_large_as_these(x):
    """Also where nobody knows how many an array will have, and so not what comes back for all of them."""
    grows = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False).write(0, x).write(1, -x)
    slope = tf.gradients(tf.reduce_mean(grows.stack() ** 2), x)[0]
    assert result_shapes(slope, {x: [4, 3]}) == [[4, 3]]


def test_gradients_of_loops_are_known(x):
    y = tf.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, tf.tanh(v)), [0, x], shape_invariants=[tf.TensorShape([]), x.shape]
    )[1]
    assert result_shapes(tf.gradients(y, x), {x: [4, 3]}) == [[4, 3]]


def test_what_is_pushed_is_known_and_so_is_what_is_popped(x):
    """Sizes that a gradient saved in each round are constants, and nobody pushes them."""
    start = tf.placeholder(tf.float32, [None])

    def body(i, v):
        return i + 1, v + tf.reduce_sum(x, 0)[:1] * tf.ones_like(v)

    y = tf.while_loop(
        lambda i, v: i < 3, body, [0, start], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])]
    )[1]
    slope = tf.gradients(y, x)[0]
    before = [n.type for n in compiled(slope, [x, start]).program.nodes()].count("StackPopV2")
    program, _ = propagated(slope, {x: [4, 3], start: [5]})
    after = [n.type for n in program.nodes()].count("StackPopV2")
    assert after < before
    values = {x: [[1.0, 2.0, 3.0]] * 4, start: [0.0] * 5}
    with tf.Session() as sess:
        found = [sess.run(slope, values) for _ in range(4)]  # from the third on by the plan for these shapes
    for other in found[1:]:
        assert_same_bits(found[0], other)


def test_variables_that_handles_stand_for_are_known():
    variable = tf.get_variable("v", [5, 3], use_resource=True)
    ids = tf.placeholder(tf.int32, [None])
    gathered = raw.ResourceGather(resource=variable.handle, indices=ids, dtype=tf.float32)
    assert result_shapes(gathered, {ids: [4]}) == [[4, 3]]
