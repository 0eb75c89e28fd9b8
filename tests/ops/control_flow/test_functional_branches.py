"""Branches as `If` and `Case` ops: values and gradients."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("functional")


def run(fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


def test_branches_and_what_they_compute_are_differentiated():
    x = tf.placeholder(tf.float32, [2])
    y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.exp(tf.sin(x)), lambda: x * tf.tanh(x) * 2.0)
    assert y.op.inputs[0].op.type == "StatelessIf"
    (dx,) = tf.gradients(y, x)
    for value in ([0.5, 1.0], [-0.5, -1.0]):
        v = np.float32(value)
        expected = np.exp(np.sin(v)) * np.cos(v) if v.sum() > 0 else 2 * (np.tanh(v) + v / np.cosh(v) ** 2)
        np.testing.assert_allclose(run(dx, {x: v}), expected, rtol=1e-5)


def test_only_the_chosen_branch_assigns():
    v = tf.Variable(1.0, use_resource=True)
    p = tf.placeholder(tf.bool, [])
    op = tf.cond(p, lambda: tf.group(v.assign_add(10.0)), lambda: tf.no_op())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(op, {p: False})
        assert session.run(v) == 1.0
        session.run(op, {p: True})
        assert session.run(v) == 11.0


def test_switch_case():
    x, i = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [])
    y = tf.switch_case(i, [lambda: x * x, lambda: tf.sin(x)], default=lambda: 3.0 * x)
    (dx,) = tf.gradients(y, x)
    got = [run(dx, {x: 2.0, i: index}) for index in (0, 1, 2, -1)]
    np.testing.assert_allclose(got, [4.0, np.cos(2.0), 3.0, 3.0], rtol=1e-6)
    with pytest.raises(ValueError, match="contiguous"):
        tf.switch_case(i, {0: lambda: x, 3: lambda: x})


def test_branches_that_return_ops_give_what_was_chosen_by():
    v = tf.Variable(1.0, use_resource=True)
    p = tf.placeholder(tf.bool, [])
    chosen = tf.cond(p, lambda: v.assign(2.0).op, tf.no_op)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert not session.run(chosen, {p: False}) and session.run(v) == 1.0
        assert session.run(chosen, {p: True}) and session.run(v) == 2.0


def test_in_a_plain_graph_only_what_a_branch_returns_runs():
    v = tf.Variable(1.0, use_resource=True)

    def assigning():
        v.assign(2.0)
        return tf.constant(3.0)

    chosen = tf.cond(tf.placeholder_with_default(True, []), assigning, lambda: tf.constant(4.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(chosen) == 3.0 and session.run(v) == 1.0


def test_second_derivatives_within_a_branch_go_through_what_it_captured():
    x = tf.placeholder(tf.float32, [])
    y = tf.sin(x) * x

    def second():
        return tf.gradients(tf.gradients(y, x)[0], x)[0]

    found = tf.cond(tf.placeholder_with_default(True, []), second, lambda: tf.constant(0.0))
    assert run(found, {x: 0.5}) == pytest.approx(2 * np.cos(0.5) - 0.5 * np.sin(0.5), rel=1e-6)


def test_results_of_a_branch_are_not_kept_again():
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 0.0, lambda: x * x * x, lambda: x * 2.0)
    (dx,) = tf.gradients(y, x)
    op = y.op.inputs[0].op
    assert len(op.outputs) == 2
    (ddx,) = tf.gradients(dx, x)
    assert len(op.outputs) == 2
    assert run([dx, ddx], {x: 2.0}) == [12.0, 12.0] and run([dx, ddx], {x: -2.0}) == [2.0, 0.0]


def test_what_branches_compute_comes_in_optionals_that_they_share():
    p, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])
    y = tf.cond(p, lambda: x * 2.0, lambda: tf.exp(tf.tanh(x)) * x)
    (dx,) = tf.gradients(y, x)
    forward, backward = y.op.inputs[0].op, dx.op.inputs[0].op
    assert [t.dtype for t in forward.outputs] == [tf.float32] + [tf.variant] * 2
    assert [t.name for t in backward.inputs[1:]] == ["gradients/Fill:0", "cond:1", x.name, "cond:2"]
    functions = {f.signature.name: f for f in tf.get_default_graph().as_graph_def().library.function}
    kept = functions[forward.get_attr("then_branch").name]
    assert [n.op for n in kept.node_def] == ["Const", "Mul", "OptionalFromValue", "OptionalNone"]
    again = tf.gradients(tf.square(y), x)[0].op
    assert len(forward.outputs) == 3  # what was made for the first is there for the second
    assert again.type != "StatelessIf"


def test_branches_in_loops_have_second_derivatives():
    x = tf.placeholder(tf.float32, [2])

    def body(i, a):
        return i + 1, tf.cond(i > 1, lambda: a * 2.0 * x, lambda: tf.cond(a[0] > 1.0, lambda: a + x * x, lambda: a * x))

    y = tf.while_loop(lambda i, a: i < 3, body, [0, tf.constant([2.0, 1.0])])[1]
    (dx,) = tf.gradients(y, x)
    (ddx,) = tf.gradients(dx, x)
    value = np.float32([0.5, -0.3])  # y = (a + 2 x²) 2 x
    found = run([y, dx, ddx], {x: value})
    start = np.float32([2.0, 1.0])
    expected = 2 * start * value + 4 * value**3, 2 * start + 12 * value**2, 24 * value
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_branches_give_all_they_compute_where_asked():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [])
        tf.experimental.output_all_intermediates(True)
        tf.enable_control_flow_v2()
        try:
            y = tf.cond(x > 0.0, lambda: tf.sin(x) * x, lambda: tf.exp(x) + tf.tanh(x))
            z = tf.while_loop(lambda v: v < 10.0, lambda v: [tf.exp(v) + x], [x])
        finally:
            tf.disable_control_flow_v2()
            tf.experimental.output_all_intermediates(None)
        branches, loop = y.op.inputs[0].op, z.op.inputs[0].op
        assert len(branches.outputs) == 3  # the result, a sine or an exponential, and a tangent
        sess.run(y, {x: 1.0})
        before = len(branches.outputs), len(loop.outputs)
        slopes = tf.gradients(y, x) + tf.gradients(z, x)
        assert (len(branches.outputs), len(loop.outputs)) == before
        got = sess.run(slopes, {x: 1.0})
        np.testing.assert_allclose(got[0], np.sin(1) + np.cos(1), rtol=1e-5)
        first = np.e + 1
        np.testing.assert_allclose(got[1], np.exp(first) * (np.e + 1) + 1, rtol=1e-4)


def test_a_branch_waits_for_ops_outside_of_it():
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    more = v.assign_add(1.0)

    def branch():
        with tf.control_dependencies([more]):
            return tf.constant(7.0)

    chosen = tf.cond(tf.placeholder_with_default(False, []), branch, lambda: tf.constant(8.0))
    looped = tf.while_loop(lambda i: i < 1.0, lambda i: branch(), [tf.constant(0.0)])
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(chosen) == 8.0 and session.run(v) == 2.0
        assert session.run(looped) == 7.0 and session.run(v) == 3.0


def test_a_predicate_of_one_element_is_squeezed():
    chosen = tf.cond(tf.constant([[True]]), lambda: 1, lambda: 2)
    assert "cond/Squeeze" in [op.name for op in tf.get_default_graph().get_operations()]
    with tf.Session() as sess:
        assert sess.run(chosen) == 1


@pytest.mark.parametrize(
    ("one", "other", "error"),
    [((1, 2), 1, AssertionError), ([1], (1,), TypeError), ({"a": 1}, {"b": 1}, TypeError)],
)
def test_branches_of_other_structures_are_refused(one, other, error):
    with pytest.raises(error, match="same structure"):
        tf.cond(tf.placeholder(tf.bool, []), lambda: one, lambda: other)


def test_every_input_has_a_gradient_and_zeros_where_none_flows():
    x, n, still = tf.constant([1.0, 2.0]), tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [])
    y = tf.cond(
        tf.placeholder_with_default(True, []),
        lambda: x * tf.cast(n, tf.float32),
        lambda: x + tf.stop_gradient(still),
    )
    dx, d_still = tf.gradients(y, [x, still])
    gradient = dx.op.inputs[0].op
    assert [t.dtype for t in gradient.outputs] == [tf.int32, tf.float32, tf.float32]
    got = run([dx, d_still], {n: 3, still: 5.0})
    np.testing.assert_array_equal(got[0], [3.0, 3.0])
    assert got[1] == 0.0


def test_handles_of_tables_have_no_gradient_and_branches_that_look_them_up_do():
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1], [2]), 1)
    x = tf.constant(3.0)
    y = tf.cond(
        tf.placeholder_with_default(True, []), lambda: x * tf.cast(table.lookup(tf.constant(1)), tf.float32), lambda: x
    )
    (dx,) = tf.gradients(y, x)
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        assert session.run(dx) == 2.0


def test_flags_of_branches_inside_have_gradients_in_functions_around():
    x, flag = tf.constant(3.0), tf.placeholder(tf.bool, [])
    f = tf.function(
        lambda x, p: tf.cond(x > 2.0, lambda: x * x, lambda: tf.cond(p, lambda: x, lambda: x * 2.0)), autograph=False
    )
    (dx,) = tf.gradients(f(x, flag), x)
    backward = tf.get_default_graph()._get_function(dx.op.get_attr("f").name)
    assert [a.type for a in backward.definition.signature.output_arg] == [1, 10]
    assert run(dx, {flag: True}) == 6.0


def test_the_gradient_of_a_choice_by_number_has_a_name_of_its_own():
    x = tf.constant(3.0)
    (dx,) = tf.gradients(tf.switch_case(tf.constant(1), [lambda: x, lambda: x * 2.0]), x)
    assert dx.op.inputs[0].op.name == "gradients/switch_case/indexed_case_grad/gradient"
    assert run(dx) == 2.0


def test_what_a_branch_hands_over_stands_before_what_its_loops_keep():
    x = tf.constant(2.0)

    def looped():
        y = tf.while_loop(lambda i, t: i < 2, lambda i, t: (i + 1, t * t), [0, x])[1]
        return tf.sin(y)

    (dx,) = tf.gradients(tf.cond(tf.placeholder_with_default(False, []), lambda: x, looped), x)
    op = next(op for op in tf.get_default_graph().get_operations() if op.name == "cond")
    names = [n.name for n in tf.get_default_graph()._get_function(op.get_attr("else_branch").name).definition.node_def]
    assert names.index("OptionalFromValue") < next(i for i, n in enumerate(names) if "accumulator" in n)
    np.testing.assert_allclose(run(dx), np.cos(16.0) * 32.0, rtol=1e-5)


def test_gradients_of_rows_stay_slices():
    x, taken = tf.constant([1.0, 2.0, 3.0]), tf.placeholder(tf.bool, [])
    y = tf.cond(taken, lambda: tf.gather(x, [0, 2]), lambda: tf.gather(x, [1, 1]))
    (dx,) = tf.gradients(y, x)
    assert isinstance(dx, tf.IndexedSlices)
    assert run(dx.indices, {taken: True}).tolist() == [0, 2]
    assert run(dx.indices, {taken: False}).tolist() == [1, 1]


@pytest.mark.parametrize(
    "other, expected", [(lambda x: x[:1], [1.0, 0.0, 0.0]), (lambda x: tf.constant([1.0]), [0.0, 0.0, 0.0])]
)
def test_a_dense_gradient_beside_slices_is_slices_of_all_rows(other, expected):
    x = tf.constant([1.0, 2.0, 3.0])
    for order in (1, -1):
        branches = [lambda: tf.gather(x, tf.constant([1], tf.int64)), lambda: other(x)][::order]
        (dx,) = tf.gradients(tf.cond(tf.constant(order == -1), *branches), x)
        values, indices, _ = run(dx)
        assert values.tolist() == expected and indices.tolist() == [0, 1, 2]


def test_branches_must_return_something():
    for nothing in (lambda: None, lambda: [], lambda: ()):
        with pytest.raises(IndexError, match="return nothing"):
            tf.cond(tf.constant(True), nothing, nothing)


def test_a_differentiated_branch_has_the_shapes_that_the_first_one_gives():
    x = tf.placeholder(tf.float32, [None])
    y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.tanh(tf.constant([1.0, 2.0])), lambda: x * tf.exp(x) * 2.0)
    branch = y.op.inputs[0].op
    tf.gradients(y * y, x)
    assert tf.TensorShape(branch.get_attr("output_shapes")[0]).as_list() == [2] and y.shape.as_list() == [None]
