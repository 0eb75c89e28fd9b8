"""Sources rewritten: names of their own, and what only Python can run."""

from __future__ import annotations

import ast
import inspect
import textwrap

import pytest

import everflow as tf
from everflow.ops.autograph import rewriting


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_lambdas_and_comprehensions_have_names_of_their_own():
    def total(n):
        s = 0
        for i in tf.range(n):
            s = s + i
        shifted = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, v + 10), [0, s])[1]
        return shifted + sum([i + 0 for i in range(3)])

    with tf.Session() as sess:
        assert sess.run(tf.autograph.to_graph(total)(tf.constant(4))) == 29


def source(function):
    return ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]


def rewritten(function):
    return ast.unparse(rewriting.rewritten(source(function)))


def test_only_what_is_read_later_comes_out_of_a_block():
    def branches(x):
        if x > 0:
            kept = x
            unread = x + 1  # noqa: F841
        else:
            kept = -x
        return kept

    made = rewritten(branches)
    assert "ag__.if_stmt(" in made and "('kept',)" in made


def test_a_loop_carries_what_it_reads_again():
    def loop(n):
        i = total = 0
        while i < n:
            step = i * 2
            total += step
            i += 1
        return total

    made = rewritten(loop)
    assert "ag__.while_stmt(" in made and "('i', 'total')" in made and "'step'" not in made


def test_logic_is_called_part_by_part():
    def logic(a, b):
        return a and not b or (a if b else a == b != 3)

    made = rewritten(logic)
    for name in ("and_", "or_", "not_", "if_exp"):
        assert f"ag__.{name}(" in made
    assert "a == b != 3" in made  # a chain stays Python's


@pytest.mark.parametrize("name", ["super", "locals", "eval"])
def test_what_depends_on_where_it_is_called_is_called_there(name):
    definition = ast.parse(f"def f(x):\n    return {name}(x) + g(x)").body[0]
    made = ast.unparse(rewriting.rewritten(definition))
    assert f"return {name}(x) + ag__.callable_of(g)(x)" in made


@pytest.mark.parametrize("statement", ["yield x", "await x", "(y := x)"])
def test_what_only_python_can_run(statement):
    definition = ast.parse(f"async def f(x):\n    {statement}").body[0]
    with pytest.raises(rewriting.Unsupported):
        rewriting.rewritten(definition)
    inside = ast.parse("def f(x):\n    def g():\n        yield x\n    return g").body[0]
    assert "yield x" in ast.unparse(rewriting.rewritten(inside))


def test_names_of_imports_and_handlers_are_assigned():
    def imports(n):
        if n > 0:
            import math as m
        else:
            import cmath as m
        try:
            value = m.sqrt(4)
        except ValueError as e:
            value = e
        return value

    assert tf.autograph.to_graph(imports)(1) == 2.0
    assert tf.autograph.to_graph(imports)(-1) == 2.0


def test_what_a_with_names_is_not_needed_before_a_loop():
    def trained(n):
        x = tf.constant(2.0)
        for _ in tf.range(n):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
            x = x - 0.25 * tape.gradient(y, x)
        return x

    with tf.Graph().as_default(), tf.Session() as sess:
        assert sess.run(tf.function(trained)(tf.constant(2))) == 0.5
