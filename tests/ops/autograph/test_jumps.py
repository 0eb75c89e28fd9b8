"""Jumps out of `with`, `try` and loops in loops, and names of other scopes."""

from __future__ import annotations

import ast
import functools
import textwrap

import pytest

import everflow as tf
from everflow.ops.autograph.jumps import without_jumps
from tests.ops.autograph.agreement import check_agreement

CALLS = []


def break_inside_with(n):
    s = 0
    for k in range(n):
        with tf.name_scope("inside"):
            if k > 4:
                break
            if k > 2:
                continue
            s += k
        s += 10
    return s


def loop_inside_with(n):
    with tf.name_scope("inside"):
        s = 0
        while True:
            if s > n:
                break
            s += 3
    return s


def return_inside_try(n):
    try:
        if n > 3:
            n = n * 2
        half = n // 2
    except ValueError:
        return -1
    finally:
        CALLS.append("finally")
    return half


def returned_from_try(n):
    try:
        return n + {}["missing"]
    except KeyError:
        if n > 3:
            n = n * 2
        return n


def continue_inside_try(n):
    s = 0
    for k in range(n):
        try:
            if k < 2:
                continue
            s += k
        finally:
            CALLS.append(k)
        s += 100
    return s


def return_from_a_loop_of_python(n):
    for row in [[1, 2], [3, 4]]:
        for item in row:
            if item == 3:
                if n > 3:
                    n = n + item
                return n
        CALLS.append(row)
    return -1


def global_and_nonlocal(n):
    global CALLS
    count = 0

    def positive(k):
        nonlocal count
        count += 1
        if k > 3:
            return k
        return -k

    CALLS = []
    total = positive(n) + positive(n - 2)
    return total * 10 + count


class Doubled:
    def __call__(self, n):
        if n > 3:
            return n * 2
        return n


def larger(a, b):
    if a > b:
        return a
    return b


def called(n):
    return functools.partial(larger, b=5)(n) + Doubled()(n)


def generator_inside(n):
    def items():
        yield 1
        yield 2

    for k in items():
        if n > k:
            n = n - k
    return n


FUNCTIONS = [
    break_inside_with,
    loop_inside_with,
    return_inside_try,
    returned_from_try,
    continue_inside_try,
    return_from_a_loop_of_python,
    global_and_nonlocal,
    called,
    generator_inside,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_tensors_give_what_python_gives(function):
    check_agreement(function)


def rewritten(source):
    definition = ast.parse(textwrap.dedent(source)).body[0]
    return without_jumps(definition)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    if x:\n        return 1\n    return 2",
        "def f(x):\n    while x:\n        if x > 3:\n            break\n        x -= 1\n    return x",
        "def f(x):\n    for i in x:\n        if i:\n            continue\n        for j in i:\n            break\n    return x",
        "def f(x):\n    with x:\n        return x",
        "def f(x):\n    pass",
    ],
)
def test_one_return_is_left_and_no_jump(source):
    made = rewritten(source)
    kinds = [type(node) for node in ast.walk(made)]
    assert kinds.count(ast.Return) == 1 and isinstance(made.body[-1], ast.Return)
    assert ast.Break not in kinds and ast.Continue not in kinds


def test_functions_inside_keep_their_own():
    made = rewritten("def f(x):\n    def g(y):\n        return y\n    return g(x)")
    assert sum(isinstance(node, ast.Return) for node in ast.walk(made)) == 2


def test_nothing_returned_is_none():
    def nothing(x):
        if x > 3:
            return

    assert tf.autograph.to_graph(nothing)(5) is None and tf.autograph.to_graph(nothing)(1) is None
