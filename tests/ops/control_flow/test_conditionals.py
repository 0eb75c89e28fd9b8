"""`tf.cond`, `tf.case` and `tf.Assert` as Switch and Merge: what runs, what comes out, what is refused."""

import collections

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.ops.control_flow.conditionals import smart_cond

Pair = collections.namedtuple("Pair", ["a", "b"])


@pytest.mark.parametrize(
    ("true_fn", "false_fn", "expected"),
    [
        (lambda: 1, lambda: 2, (1, 2)),
        (lambda: [tf.constant(1)], lambda: [tf.constant(2)], (1, 2)),
        (lambda: (1, 2.0), lambda: (3, 4.0), ((1, 2.0), (3, 4.0))),
        (lambda: {"a": 1}, lambda: {"a": 2}, ({"a": 1}, {"a": 2})),
        (lambda: Pair(1, [2]), lambda: Pair(3, [4]), (Pair(1, [2]), Pair(3, [4]))),
    ],
)
def test_structures_come_back(sess, true_fn, false_fn, expected):
    p = tf.placeholder(tf.bool, [])
    chosen = tf.cond(p, true_fn, false_fn)
    assert (sess.run(chosen, {p: True}), sess.run(chosen, {p: False})) == expected


def test_a_list_of_one_stays_a_list_where_asked(sess):
    p = tf.placeholder(tf.bool, [])
    assert sess.run(tf.cond(p, lambda: [1], lambda: [2], strict=True), {p: True}) == [1]


def test_only_the_branch_that_is_taken_runs(sess):
    v = tf.Variable(0)
    p = tf.placeholder(tf.bool, [])
    chosen = tf.cond(p, lambda: v.assign_add(1), lambda: v.assign_add(10))
    sess.run(v.initializer)
    sess.run(chosen, {p: True})
    assert sess.run(v) == 1
    sess.run(chosen, {p: False})
    assert sess.run(v) == 11


def test_sparse_results(sess):
    p = tf.placeholder(tf.bool, [])
    chosen = tf.cond(p, lambda: tf.SparseTensor([[0]], [1], [2]), lambda: tf.SparseTensor([[1]], [2], [2]))
    assert sess.run(chosen, {p: False}).indices.tolist() == [[1]]


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda p: tf.cond(True, lambda: 1, lambda: 2), TypeError),
        (lambda p: tf.cond(p, 1, lambda: 2), TypeError),
        (lambda p: tf.cond(p, lambda: 1, 2), TypeError),
        (lambda p: tf.cond(p, lambda: 1), TypeError),
        (lambda p: tf.cond(p, lambda: 1, lambda: 2, fn1=lambda: 3), TypeError),
        (lambda p: tf.cond(p, lambda: 1, lambda: 2.0), ValueError),
        (lambda p: tf.cond(p, lambda: 1, lambda: (1, 2)), ValueError),
        (lambda p: tf.cond(p, lambda: None, lambda: 1), ValueError),
        (lambda p: tf.cond(p, lambda: [], lambda: []), ValueError),
        (lambda p: tf.case([]), ValueError),
        (lambda p: tf.case([(p, 1)]), TypeError),
        (lambda p: tf.case([p]), TypeError),
        (lambda p: tf.case([(tf.constant(1), lambda: 1)]), TypeError),
        (lambda p: tf.case([(True, lambda: 1)]), TypeError),
        (lambda p: tf.case([(p, lambda: 1)], default=3), TypeError),
        (lambda p: tf.case("abc"), TypeError),
    ],
)
def test_what_is_no_choice(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build(tf.placeholder(tf.bool, []))


def test_the_first_case_that_holds(sess):
    x = tf.placeholder(tf.int32, [])
    chosen = tf.case([(x < 1, lambda: 10), (x < 2, lambda: 20)], default=lambda: 30)
    assert [sess.run(chosen, {x: v}) for v in (0, 1, 2)] == [10, 20, 30]


def test_exclusive_cases_exclude_each_other(sess):
    x = tf.placeholder(tf.int32, [])
    chosen = tf.case([(x < 1, lambda: 10), (x < 2, lambda: 20)], default=lambda: 30, exclusive=True)
    assert sess.run(chosen, {x: 1}) == 20
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(chosen, {x: 0})


def test_without_a_default_one_case_must_hold(sess):
    x = tf.placeholder(tf.int32, [])
    chosen = tf.case([(x < 1, lambda: tf.constant(10)), (x < 2, lambda: tf.constant(20))])
    assert [sess.run(chosen, {x: v}) for v in (0, 1)] == [10, 20]
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(chosen, {x: 5})


def test_cases_of_a_dict_go_by_their_names(sess):
    a, b = tf.placeholder(tf.bool, [], "z"), tf.placeholder(tf.bool, [], "a")
    chosen = tf.case({a: lambda: 1, b: lambda: 2}, default=lambda: 3)
    assert sess.run(chosen, {a: True, b: True}) == 2


def test_a_known_predicate_draws_one_branch():
    with tf.Graph().as_default() as graph:
        for pred in (True, 1, tf.constant(True), tf.constant(2) > 1):
            assert smart_cond(pred, lambda: "then", lambda: "else") == "then"
        assert smart_cond(0, lambda: "then", lambda: "else") == "else"
        assert "Switch" not in [op.type for op in graph.get_operations()]
        assert smart_cond(tf.placeholder(tf.bool, []), lambda: 1, lambda: 2).op.type == "Merge"
        with pytest.raises(TypeError):
            smart_cond("yes", lambda: 1, lambda: 2)


@pytest.mark.parametrize("data", [["text"], [1], [1.5], [[1.0, 2.0, 3.0, 4.0]], [b"a", 2.5]])
def test_assertions_show_their_data(sess, data):
    holds = tf.placeholder(tf.bool, [])
    check = tf.Assert(holds, data)
    sess.run(check, {holds: True})
    with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        sess.run(check, {holds: False})


def test_as_much_of_the_data_as_asked(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[0 1 2 3\.\.\.\]"):
        sess.run(tf.Assert(tf.placeholder_with_default(False, []), [np.arange(9)], summarize=4))


def test_a_dictionary_has_no_order_when_executing_eagerly():
    with eager_mode():
        pairs = {tf.constant(False): lambda: 1, tf.constant(True): lambda: 2}
        with pytest.raises(ValueError, match="no order"):
            tf.case(pairs)
        assert tf.case(pairs, exclusive=True) == 2
