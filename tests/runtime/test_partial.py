"""Runs in parts: some feeds and fetches now, others later."""

import pytest

import everflow as tf
from everflow.framework import raw_ops as raw


def test_partial_run():
    a, b, c = (tf.placeholder(tf.float32, []) for _ in range(3))
    count = raw.VariableV2(shape=[], dtype=tf.float32)
    init = raw.Assign(ref=count, value=tf.constant(0.0))
    bump = raw.AssignAdd(ref=count, value=tf.constant(1.0))
    with tf.control_dependencies([bump.op]):
        first = raw.AddV2(x=a, y=b)
    second = raw.Mul(x=first, y=c)
    with tf.Session() as sess:
        sess.run(init)
        handle = sess.partial_run_setup([first, second], [a, b, c])
        assert sess.partial_run(handle, first, {a: 1.0, b: 2.0}) == 3.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.partial_run(handle, first)
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.partial_run(handle, second)
        assert sess.partial_run(handle, second, {c: 10.0}) == 30.0
        assert sess.run(count) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.partial_run("none", first)


@pytest.fixture
def parts():
    a, b, c = (tf.placeholder(tf.float32, [], name=name) for name in "abc")
    first = raw.AddV2(x=a, y=b, name="first")
    return a, b, c, first, raw.Mul(x=first, y=c, name="second")


def test_two_runs_in_parts_at_the_same_time(parts):
    a, b, c, first, second = parts
    with tf.Session() as sess:
        one, two = (sess.partial_run_setup([first, second], [a, b, c]) for _ in range(2))
        assert sess.partial_run(one, first, {a: 1.0, b: 2.0}) == 3.0
        assert sess.partial_run(two, first, {a: 5.0, b: 5.0}) == 10.0
        assert [sess.partial_run(handle, second, {c: 10.0}) for handle in (one, two)] == [30.0, 100.0]


def test_names_and_structures(parts):
    with tf.Session() as sess:
        handle = sess.partial_run_setup(["first:0", "second:0"], ["a:0", "b:0", "c:0"])
        found = sess.partial_run(handle, {"k": ["first:0"]}, {"a:0": 1.0, "b:0": 2.0})
        assert found == {"k": [3.0]}
        assert sess.partial_run(handle, ["second:0"], {"c:0": 2.0}) == [6.0]


@pytest.mark.parametrize(
    ("fetched", "fed", "words"),
    [
        ("first", "ac", "c:0 was not specified"),
        ("second", "ab", "second was not specified|second:0 was not specified"),
        ("first", "a", "b:0 is needed here"),
    ],
)
def test_what_was_not_set_up_or_is_not_there_yet(parts, fetched, fed, words):
    with tf.Session() as sess:
        handle = sess.partial_run_setup(["first:0"], ["a:0", "b:0"])
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            sess.partial_run(handle, f"{fetched}:0", {f"{name}:0": 1.0 for name in fed})


def test_nothing_is_fed_twice(parts):
    a, b, c, first, second = parts
    with tf.Session() as sess:
        handle = sess.partial_run_setup([first, second], [a, b, c])
        sess.partial_run(handle, first, {a: 1.0, b: 2.0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="already been fed"):
            sess.partial_run(handle, second, {a: 7.0, c: 1.0})


def test_values_wait_for_the_parts_to_come():
    """A random number that the first part used is the one that the second part sees."""
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    draw = tf.random_uniform([], name="draw")
    first, second = draw + a, draw + b
    with tf.Session() as sess:
        handle = sess.partial_run_setup([first, second], [a, b])
        one = sess.partial_run(handle, first, {a: 0.0})
        assert sess.partial_run(handle, second, {b: 0.0}) == one


def test_a_variable_is_looked_at_anew_by_every_part():
    a, variable = tf.placeholder(tf.float32, []), tf.Variable(1.0)
    ref = variable.op.outputs[0]
    written = tf.assign(variable, a)
    with tf.Session() as sess:
        sess.run(variable.initializer)
        handle = sess.partial_run_setup([written.op, ref], [a])
        assert sess.partial_run(handle, [written.op], {a: 5.0}) == [None]
        assert sess.partial_run(handle, ref) == 5.0


def test_a_part_that_is_refused_changes_nothing_and_the_last_one_ends_the_run():
    with tf.Graph().as_default(), tf.Session() as sess:
        a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
        total, other = tf.add(a, b, name="total"), tf.negative(a, name="other")
        handle = sess.partial_run_setup([total], [a, b])
        with pytest.raises(tf.errors.InvalidArgumentError, match="other:0 was not specified in partial_run_setup"):
            sess.partial_run(handle, other, {a: 1.0, b: 2.0})
        assert sess.partial_run(handle, total, {a: 1.0, b: 2.0}) == 3.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="setup"):
            sess.partial_run(handle, total)
        assert sess.partial_run_setup([total], [a, b]) != handle


@pytest.mark.parametrize("trained", (False, True))
def test_a_branch_in_an_earlier_part(trained):
    size, scale = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [])
    v = tf.get_variable("v", [], initializer=tf.ones_initializer())
    chosen = tf.cond(size > 2, lambda: v * 2.0, lambda: v + 1.0)
    later = [chosen * scale] + ([tf.gradients(chosen * scale, [v])[0]] if trained else [])
    with tf.Session() as sess:
        sess.run(v.initializer)
        handle = sess.partial_run_setup([chosen, *later], [size, scale])
        assert sess.partial_run(handle, chosen, {size: 4}) == 2.0
        assert sess.partial_run(handle, later, {scale: 3.0}) == [6.0, 6.0][: len(later)]


def test_a_loop_with_a_branch_in_an_earlier_part():
    times, scale = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [])

    def body(i, total):
        return i + 1, tf.cond(i < 2, lambda: total * 2.0, lambda: total + 1.0)

    _, total = tf.while_loop(lambda i, _: i < times, body, [0, 1.0])
    later = total * scale
    with tf.Session() as sess:
        handle = sess.partial_run_setup([total, later], [times, scale])
        assert sess.partial_run(handle, total, {times: 4}) == 6.0
        assert sess.partial_run(handle, later, {scale: 2.0}) == 12.0
