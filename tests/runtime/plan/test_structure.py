"""Loops and branches found again in a graph's Switch, Merge, Enter and Exit; and what runs token by token because it
has neither.
"""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.plan.compile import Plan
from everflow.runtime.plan.control_flow import CONTROL_FLOW
from everflow.runtime.plan.interpret import Interpreted
from everflow.runtime.plan.program import IF, LOOP
from everflow.runtime.plan.verify import verify
from tests.runtime.plan.sessions import assert_same_bits, compiled, plain, reference, types


def assert_agrees(fetches, feeds):
    """By plans, without rewrites and as the reference: the same values, or the same error. Gives the values of the
    plan.
    """
    results = []
    for session in (tf.Session, plain, reference):
        with session() as sess:
            runs = []
            for feed in feeds:
                try:
                    runs.append([np.asarray(value) for value in sess.run(fetches, feed)])
                except tf.errors.OpError as error:
                    runs.append(type(error))
            results.append(runs)
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            if isinstance(one, type) or isinstance(two, type):
                assert one == two
            else:
                for a, b in zip(one, two, strict=True):
                    assert_same_bits(a, b)
    return results[0]


def structured(fetches, feeds):
    """The types of a plan's nodes; that it has structure, and no op that only held it."""
    for switches in ({}, {"disable_meta_optimizer": True}):
        plan = compiled(fetches, feeds, **switches)
        assert isinstance(plan, Plan)
        verify(plan.program)
        assert not CONTROL_FLOW & set(types(plan))
    return types(compiled(fetches, feeds))


def test_branches_in_loops_in_branches():
    x, n = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [])

    def body(i, v):
        def inner(j, w):
            return (
                j + 1,
                tf.cond(w > 10.0, lambda: w / 2.0, lambda: tf.cond(w < 0.0, lambda: -w, lambda: w + 1.5)),
            )

        odd = lambda: tf.while_loop(lambda j, w: j < i, inner, [0, v])[1]  # noqa: E731
        return i + 1, tf.cond(tf.equal(i % 2, 1), odd, lambda: v * 2.0)

    y = tf.cond(
        n > 0,
        lambda: tf.while_loop(lambda i, v: i < n, body, [0, x])[1],
        lambda: tf.cond(x > 0.0, lambda: x, lambda: -x),
    )
    found = structured([y], [x, n])
    assert found.count(LOOP) == 2 and found.count(IF) >= 5
    runs = assert_agrees(
        [y, tf.gradients(y, x)[0]], [{x: value, n: rounds} for value in (-3.0, 4.0, 12.5) for rounds in (0, 1, 2, 5)]
    )
    assert [float(run[0]) for run in runs[:4]] == [3.0, -6.0, 6.0, 18.0]


def test_case_with_and_without_a_default():
    x = tf.placeholder(tf.int32, [])
    pairs = [(x < 0, lambda: -x), (tf.equal(x, 3), lambda: x * 100), (x > 10, lambda: x - 10)]
    y = tf.case(pairs, default=lambda: x + 1)
    exclusive = tf.case(dict(pairs), default=lambda: x + 2, exclusive=True)
    assert IF in structured([y], [x])
    runs = assert_agrees([y, exclusive], [{x: value} for value in (-5, 3, 11, 7)])
    assert [[int(v) for v in run] for run in runs] == [[5, 5], [300, 300], [1, 1], [8, 9]]


def test_gradients_of_loops():
    x = tf.placeholder(tf.float32, [3])
    body = lambda i, v, t: (i + 1, tf.tanh(v) * x, t + tf.reduce_sum(v))  # noqa: E731
    _, v, total = tf.while_loop(lambda i, v, t: i < 4, body, [0, x, 0.0])
    slope = tf.gradients(tf.reduce_sum(v) + total, x)[0]
    assert structured([slope], [x]).count(LOOP) >= 1
    step, point = 1e-3, np.float32([0.5, -1.0, 2.0])
    _, _, first = assert_agrees([v, total, slope], [{x: point}])[0]
    with tf.Session() as sess:
        objective = tf.reduce_sum(v) + total
        for i in range(3):
            shift = np.eye(3, dtype=np.float32)[i] * step
            difference = (sess.run(objective, {x: point + shift}) - sess.run(objective, {x: point - shift})) / (
                2 * step
            )
            np.testing.assert_allclose(first[i], difference, rtol=2e-2, atol=2e-2)


def by_hand():
    x, p = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])
    otherwise, then = raw.Switch(data=x, pred=p)
    return x, p, raw.Neg(x=otherwise), raw.Exp(x=then)


FEED = np.float32([1.0, -2.0])


def test_switch_and_merge_by_hand_and_which_input_a_merge_took():
    x, p, no, yes = by_hand()
    merged, swapped = raw.Merge(inputs=[no, yes]), raw.Merge(inputs=[yes, no])
    assert structured([*merged, *swapped], [x, p]).count(IF) == 1
    runs = assert_agrees([*merged, *swapped], [{x: FEED, p: side} for side in (True, False)])
    assert [(int(run[1]), int(run[3])) for run in runs] == [(1, 0), (0, 1)]
    assert runs[1][0].tolist() == [-1.0, 2.0]


def test_a_value_of_a_branch_can_be_fetched_where_it_was_taken():
    x, p, no, yes = by_hand()
    runs = assert_agrees([no], [{x: FEED, p: True}, {x: FEED, p: False}])
    assert runs[0] is tf.errors.InvalidArgumentError and runs[1][0].tolist() == [-1.0, 2.0]
    assert assert_agrees([yes, no], [{x: FEED, p: True}, {x: FEED, p: False}]) == [tf.errors.InvalidArgumentError] * 2
    both = raw.AddV2(x=no, y=yes)
    assert assert_agrees([both], [{x: FEED, p: True}, {x: FEED, p: False}]) == [tf.errors.InvalidArgumentError] * 2
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="Retval.*does not have value"):
        sess.run(no, {x: FEED, p: True})


def test_operations_inside_of_branches_and_loops_can_be_run():
    x, p, no, yes = by_hand()
    merged = raw.Merge(inputs=[no, yes])
    v = tf.Variable(0.0)
    with tf.control_dependencies([no]):
        bump = tf.assign_add(v, 1.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for side in (True, False, False):
            assert (
                sess.run([merged.output.op, bump.op, yes.op, no.op, no.op.inputs[0].op], {x: FEED, p: side})
                == [None] * 5
            )
        assert sess.run(v) == 2.0
        assert sess.run([merged.output.op, merged.output], {x: FEED, p: False})[1].tolist() == [-1.0, 2.0]
        loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        assert sess.run([loop, loop.op]) == [3, None]


def test_a_node_that_takes_a_merge_on_the_same_side_of_the_same_predicate():
    x, p, no, yes = by_hand()
    merged = raw.Merge(inputs=[no, yes]).output
    _, again = raw.Switch(data=raw.Tanh(x=merged), pred=p)
    once_more = raw.AddV2(x=again, y=yes)  # of this side: the Merge, and what the Merge took
    other = raw.Abs(x=no)
    result = raw.Merge(inputs=[other, once_more])
    structured([*result, merged], [x, p])
    runs = assert_agrees([*result, merged], [{x: FEED, p: True}, {x: FEED, p: False}])
    np.testing.assert_allclose(runs[0][0], np.tanh(np.exp(FEED)) + np.exp(FEED), rtol=1e-6)
    assert runs[1][0].tolist() == [1.0, 2.0]
    assert assert_agrees([once_more], [{x: FEED, p: False}]) == [tf.errors.InvalidArgumentError]


def test_renamed_predicates_are_one():
    x, p, no, _ = by_hand()
    _, then = raw.Switch(data=x, pred=raw.Identity(input=raw.Identity(input=p)))
    merged = raw.Merge(inputs=[no, raw.Abs(x=then)])
    assert IF in structured([*merged], [x, p])
    assert_agrees([*merged], [{x: FEED, p: True}, {x: FEED, p: False}])


def test_a_merge_of_which_one_side_can_never_run():
    x, p, no, yes = by_hand()
    never = raw.AddV2(x=no, y=yes)
    merged = raw.Merge(inputs=[never, yes])
    runs = assert_agrees([*merged], [{x: FEED, p: True}, {x: FEED, p: False}])
    assert int(runs[0][1]) == 1 and runs[1] is tf.errors.InvalidArgumentError


def test_a_trigger_runs_whichever_side_was_taken():
    x, p, no, yes = by_hand()
    v = tf.Variable(0.0)
    with tf.control_dependencies([no, yes]):
        trigger = raw.ControlTrigger()
    with tf.control_dependencies([trigger]):
        bump = tf.assign_add(v, 1.0)
    for session in (tf.Session, plain, reference):
        with session() as sess:
            sess.run(v.initializer)
            assert [float(sess.run(bump, {x: FEED, p: side})) for side in (True, False)] == [1.0, 2.0]


# --- what has no structure ------------------------------------------------------------------------


def interpreted(fetches, feeds):
    assert isinstance(compiled(fetches, feeds), Interpreted)


def entered(value, name, **options):
    return raw.Enter(data=value, frame_name=name, **options)


def test_a_frame_without_a_condition():
    x = tf.placeholder(tf.float32, [2])
    left = raw.Exit(data=raw.Exp(x=entered(x, "frame")))
    interpreted([left], [x])
    np.testing.assert_allclose(assert_agrees([left], [{x: FEED}])[0][0], np.exp(FEED), rtol=1e-6)


def test_a_merge_of_two_live_values():
    x = tf.placeholder(tf.float32, [2])
    merged = raw.Merge(inputs=[raw.Neg(x=x), raw.Exp(x=x)])
    interpreted([*merged], [x])
    assert len(assert_agrees([*merged], [{x: FEED}])[0]) == 2


def test_a_merge_of_more_than_two_sides():
    x, p, q = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    no, yes = raw.Switch(data=x, pred=p)
    yes_no, yes_yes = raw.Switch(data=raw.Exp(x=yes), pred=q)
    merged = raw.Merge(inputs=[raw.Neg(x=no), raw.Tanh(x=yes_no), raw.Abs(x=yes_yes)])
    interpreted([*merged], [x, p, q])
    runs = assert_agrees([*merged], [{x: FEED, p: one, q: other} for one in (True, False) for other in (True, False)])
    assert [int(run[1]) for run in runs] == [2, 1, 0, 0]


def test_a_merge_of_sides_of_different_predicates():
    x, p, q = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    merged = raw.Merge(inputs=[raw.Neg(x=raw.Switch(data=x, pred=p)[0]), raw.Abs(x=raw.Switch(data=x, pred=q)[1])])
    interpreted([*merged], [x, p, q])
    runs = assert_agrees(
        [*merged], [{x: FEED, p: True, q: True}, {x: FEED, p: False, q: False}, {x: FEED, p: True, q: False}]
    )
    assert [int(run[1]) for run in runs[:2]] == [1, 0] and runs[2] is tf.errors.InvalidArgumentError


def test_an_exit_from_inside_a_body():
    start = entered(tf.constant(0), "loop")
    merge = raw.Merge(inputs=[start, start])
    condition = raw.LoopCond(input=raw.Less(x=merge.output, y=entered(tf.constant(3), "loop", is_constant=True)))
    after, again = raw.Switch(data=merge.output, pred=condition)
    following = raw.AddV2(x=again, y=entered(tf.constant(1), "loop", is_constant=True))
    merge.output.op._update_input(1, raw.NextIteration(data=following))
    inside = raw.Exit(data=raw.Neg(x=following))
    interpreted([raw.Exit(data=after), inside], [])
    with reference() as sess, tf.Session() as other:
        assert sess.run(raw.Exit(data=after)) == other.run(raw.Exit(data=after)) == 3
