"""Which functions are converted, and from which source."""

from __future__ import annotations

import functools

import pytest

import everflow as tf
from everflow.ops.autograph import conversion


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches, feed=None):
    with tf.Session() as session:
        return session.run(fetches, feed)


def find(items, wanted):
    for index, item in enumerate(items):
        if item == wanted:
            return index
    return -1


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


def test_a_function_is_converted_once():
    def mine(x):
        return x if x > 0 else -x

    assert conversion.converted(mine) is conversion.converted(mine)
    assert conversion.converted(conversion.converted(mine)) is conversion.converted(mine)
    assert conversion.converted(mine, recursive=False) is not conversion.converted(mine)


def test_what_describes_a_function_stays():
    def mine(a, b=[], *, c=3) -> int:  # noqa: B006
        """Doc."""
        return a, b, c

    mine.mark = 1
    made = conversion.converted(mine)
    assert (made.__name__, made.__qualname__, made.__doc__, made.mark) == ("mine", mine.__qualname__, "Doc.", 1)
    assert made.__defaults__[0] is mine.__defaults__[0] and made.__kwdefaults__ == {"c": 3}
    assert made(1) == (1, [], 3)


def test_what_has_no_source_stays_python():
    namespace = {}
    exec("def made(x):\n    return x + 1", namespace)
    assert conversion.converted(namespace["made"]) is namespace["made"]
    assert conversion.converted(len) is len

    def generator(n):
        yield n

    assert conversion.converted(generator) is generator


def test_methods_and_partials_are_converted_inside():
    class Box:
        def __init__(self, by):
            self.by = by

        def scaled(self, x):
            return x * self.by if x > 0 else x

    x = tf.placeholder(tf.int32, [])
    found = [
        conversion.converted(Box(3).scaled)(x),
        conversion.converted(functools.partial(lambda a, b: a if a > b else b, b=2))(x),
    ]
    assert run(found, {x: 5}) == [15, 5] and run(found, {x: -1}) == [-1, 2]


def test_whose_functions_are_converted():
    assert conversion.is_users(test_whose_functions_are_converted)
    assert not conversion.is_users(tf.add) and not conversion.is_users(functools.wraps) and not conversion.is_users(len)


def test_closures_see_what_changes_outside():
    held = 1

    def read(x):
        return x + held

    made = conversion.converted(read)
    held = 10
    assert made(1) == 11
