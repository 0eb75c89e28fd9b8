"""Python's branches and loops over tensors, and over plain values, which must go on as before."""

from __future__ import annotations

import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches, feed=None):
    with tf.Session() as session:
        return session.run(fetches, feed)


def early_return(x):
    if x > 0:
        if x > 10:
            return x - 10
        y = x * 2
    else:
        y = -x
    y = y + 1
    return y


def loop_with_jumps(n, limit):
    total = 0
    for i in range(n):
        if i % 2 == 0 and i > 0:
            continue
        total += i
        if total > limit:
            break
    return total


def nested_loops(n):
    count = 0
    i = 0
    while i < n:
        j = 0
        while True:
            if j >= i:
                break
            count += 1
            j += 1
        i += 1
    return count


def logic(a, b):
    return 1 if a > 0 and not b > 0 or a < -5 else 0


def collatz(n):
    steps = 0
    while n > 1:
        n = halve(n) if n % 2 < 1 else 3 * n + 1
        steps += 1
    return steps


def halve(n):
    return n // 2


def uses_temporary(x):
    if x > 0:
        t = x * x
        y = t + 1
    else:
        y = x
    if x > 1:
        t = y * 2
        y = t
    return y


CASES = [
    (early_return, [(5,), (15,), (-3,)]),
    (nested_loops, [(4,), (0,)]),
    (logic, [(1, 0), (1, 1), (-6, 3), (-1, 0)]),
    (collatz, [(6,), (1,), (7,)]),
    (uses_temporary, [(3,), (1,), (-2,)]),
]


@pytest.mark.parametrize("function,arguments", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_tensors_give_what_python_gives(function, arguments):
    converted = tf.autograph.to_graph(function)
    holders = [tf.placeholder(tf.int32, []) for _ in arguments[0]]
    result, traced = converted(*holders), tf.function(function)(*holders)
    assert isinstance(result, tf.Tensor)
    for values in arguments:
        expected = function(*values)
        assert converted(*values) == expected
        assert run([result, traced], dict(zip(holders, values))) == [expected, expected]


def test_for_over_a_range_of_a_tensor():
    n = tf.placeholder(tf.int32, [])
    # `==` compares tensors by identity here, so the case is written with other comparisons.
    converted = tf.autograph.to_graph(loop_with_jumps)
    assert [converted(k, 5) for k in (0, 3, 20)] == [loop_with_jumps(k, 5) for k in (0, 3, 20)]

    def odd_sum(n, limit):
        total = 0
        for i in range(n):
            if i % 2 < 1:
                continue
            total += i
            if total > limit:
                break
        return total

    result = tf.autograph.to_graph(odd_sum)(n, 8)
    assert [run(result, {n: k}) for k in (0, 4, 20)] == [odd_sum(k, 8) for k in (0, 4, 20)]


def test_a_variable_must_get_a_value_in_both_branches():
    def half(x):
        if x > 0:
            y = x
        return y

    with pytest.raises(ValueError, match="'y'"):
        tf.autograph.to_graph(half)(tf.constant(1))


def test_gradients_through_a_converted_function():
    @tf.function
    def power(x, n):
        y = 1.0
        for _ in tf.range(n):
            y *= x
        if y > 100.0:
            y = 100.0 * x
        return y

    x = tf.placeholder(tf.float32, [])
    y = power(x, tf.constant(3))
    assert run([y] + tf.gradients(y, x), {x: 2.0}) == [8.0, 12.0]
    assert run([y] + tf.gradients(y, x), {x: 5.0}) == [500.0, 100.0]


def test_branches_may_give_strings():
    def sign(x):
        if x > 0:
            name = "positive"
        elif x < 0:
            name = "negative"
        else:
            name = b"zero"
        return name

    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.int32, [])
        name = tf.autograph.to_graph(sign)(x)
        assert [sess.run(name, {x: value}) for value in (1, -1, 0)] == [b"positive", b"negative", b"zero"]


def test_the_else_of_a_loop_runs_unless_it_was_broken_off():
    def found(n):
        s = 0
        for i in tf.range(5):
            if i > n:
                break
            s = s + i
        else:
            s = s + 100
        return s

    n = tf.placeholder(tf.int32, [])
    result = tf.autograph.to_graph(found)(n)
    with tf.Session() as sess:
        assert [sess.run(result, {n: v}) for v in (1, 9)] == [1, 110]


def test_a_variable_of_two_types_is_named():
    def mixed(n):
        z = 1.0
        if n > 0:
            z = n
        return z

    with pytest.raises(TypeError, match="'z' has dtype"):
        tf.autograph.to_graph(mixed)(tf.placeholder(tf.int32, []))


def test_loops_over_numbers_count():
    def total(start, limit, delta):
        found = 0
        for i in tf.range(start, limit, delta):
            found += i
        return found

    with tf.Graph().as_default() as graph, tf.Session() as session:
        numbers = tf.placeholder(tf.int32, [3])
        made = tf.autograph.to_graph(total)(numbers[0], numbers[1], numbers[2])
        assert session.run(made, {numbers: [1, 8, 3]}) == 12
        assert session.run(made, {numbers: [8, 1, -3]}) == 15
        assert session.run(made, {numbers: [8, 1, 3]}) == 0
        assert not any(op.type in ("GatherV2", "TensorArrayV3") for op in graph.get_operations())


def test_a_number_of_its_own_type_is_not_cast():
    def cast(n):
        return int(n), float(n)

    with tf.Graph().as_default():
        n = tf.constant(3)
        same, other = tf.autograph.to_graph(cast)(n)
        assert same is n and other.dtype == tf.float32


def test_loops_over_datasets():
    def total(dataset):
        s = tf.constant(0, tf.int64)
        for v in dataset:
            s += v
        return s

    def stopped(dataset):
        seen = {"largest": tf.constant(0, tf.int64)}
        count = 0
        for v, _ in dataset:
            if v > 5:
                break
            if v > seen["largest"]:
                seen["largest"] = v
            count += 1
        return count, seen["largest"]

    with tf.Graph().as_default() as graph, tf.Session() as sess:
        numbers = tf.data.Dataset.range(10)
        pairs = tf.data.Dataset.zip((numbers, numbers))
        made = tf.autograph.to_graph(total)(numbers)
        assert made.op.type == "ReduceDataset" and "while" not in "".join(op.name for op in graph.get_operations())
        found = [
            made,
            tf.function(lambda: total(numbers))(),
            tf.autograph.to_graph(stopped)(pairs),
            tf.function(lambda: stopped(pairs))(),
        ]
        assert sess.run(found) == [45, 45, (6, 5), (6, 5)]


def test_a_range_that_ends_before_it_starts_is_empty():
    n = tf.placeholder(tf.int32, [])
    made = tf.autograph.to_graph(lambda n: (range(n), range(2, n)))(n)
    assert [v.tolist() for v in run(made, {n: -3})] == [[], []]
    assert [v.tolist() for v in run(made, {n: 4})] == [[0, 1, 2, 3], [2, 3]]


def test_lengths_of_tensors():
    known, free = tf.zeros([3, 2]), tf.placeholder(tf.float32, [None])
    length = tf.autograph.to_graph(lambda x: len(x))
    assert length(known) == 3 and length([1, 2]) == 2
    assert run(length(free), {free: [1.0] * 5}) == 5


def test_assertions_of_tensors_are_checked_when_run():
    def checked(x):
        assert x > 0, "too small"
        return x

    made = tf.autograph.to_graph(checked)
    assert made(1) == 1
    with pytest.raises(AssertionError, match="too small"):
        made(-1)
    before = len(tf.get_default_graph().get_operations())
    made(tf.placeholder(tf.int32, []))
    checks = [op for op in tf.get_default_graph().get_operations()[before:] if op.type == "Assert"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
        run(checks, {tf.get_default_graph().get_operations()[before].outputs[0]: -1})


def test_values_that_only_python_has():
    def label(x, names):
        if x > 0:
            chosen = names
        else:
            chosen = names
        return chosen

    names = object()
    assert tf.autograph.to_graph(label)(tf.constant(1), names) is names

    def different(x):
        return object() if x > 0 else object()

    with pytest.raises((TypeError, ValueError)):
        run(tf.autograph.to_graph(different)(tf.constant(1)))


def test_a_loop_variable_needs_a_value_before():
    def late(n):
        while n > 0:
            last = n
            n -= 1
        return last

    with pytest.raises(ValueError, match="'last'"):
        tf.autograph.to_graph(late)(tf.constant(3))
