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


def find(items, wanted):
    for index, item in enumerate(items):
        if item == wanted:
            return index
    return -1


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


def test_plain_python_stays_plain():
    assert tf.autograph.to_graph(find)("abc", "c") == 2
    assert tf.autograph.to_graph(find)("abc", "x") == -1

    def closure(values, *rest, scale=2, **options):
        """Doc."""
        try:
            kept = [v * scale for v in values if v]
        except TypeError:
            return None
        with pytest.raises(ZeroDivisionError):
            kept.append(1 / 0)
        return kept, rest, sorted(options), run

    converted = tf.autograph.to_graph(closure)
    assert converted([0, 1, 2], 7, scale=3, z=1) == closure([0, 1, 2], 7, scale=3, z=1)


def test_left_alone_where_asked():
    @tf.autograph.experimental.do_not_convert
    def kept(x):
        return 1 if x > 0 else 2

    def calls(x):
        return kept(x)

    with pytest.raises(TypeError):
        tf.autograph.to_graph(calls)(tf.constant(1))


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


def test_a_lambda_on_the_line_of_a_def_stays_itself():
    # fmt: off
    def outer(): return lambda x: x + 1
    # fmt: on
    assert tf.autograph.to_graph(outer())(2) == 3


def test_lambdas_are_told_apart_by_their_place():
    pair = (lambda x: x > 1 and not x > 3, lambda x: -x if x < 0 else x)
    nested = lambda x: lambda y: y if y > x else x  # noqa: E731
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.int32, [])
        between, absolute = (tf.autograph.to_graph(f)(x) for f in pair)
        larger = tf.autograph.to_graph(nested(x))(tf.constant(2))
        assert [sess.run([between, absolute, larger], {x: value}) for value in (-2, 2, 4)] == [
            [False, 2, 2],
            [True, 2, 2],
            [False, 4, 4],
        ]


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


def test_lambdas_and_comprehensions_have_names_of_their_own():
    def total(n):
        s = 0
        for i in tf.range(n):
            s = s + i
        shifted = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, v + 10), [0, s])[1]
        return shifted + sum([i + 0 for i in range(3)])

    with tf.Session() as sess:
        assert sess.run(tf.autograph.to_graph(total)(tf.constant(4))) == 29


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
