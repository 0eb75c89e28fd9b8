"""Loops over datasets, jumps out of `with`, `try` and loops in loops, names of other scopes, and what may be called."""

from __future__ import annotations

import functools

import pytest

import everflow as tf
from tests.ops.autograph_agreement import check_agreement

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


def test_a_converted_method_takes_its_instance():
    with tf.Graph().as_default(), tf.Session() as sess:
        made = Doubled()
        assert sess.run(tf.autograph.to_graph(made.__call__)(made, tf.constant(5))) == 10


def test_a_converted_class_has_converted_methods():
    with tf.Graph().as_default(), tf.Session() as sess:
        converted = tf.autograph.to_graph(Doubled)
        assert converted.__name__ == "TfDoubled" and issubclass(converted, Doubled)
        assert sess.run(converted()(tf.constant(5))) == 10


def test_objects_are_not_converted():
    for entity in (Doubled(), 3):
        with pytest.raises(NotImplementedError):
            tf.autograph.to_graph(entity)


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


def test_options_of_loops_are_wishes():
    def count(n):
        i = 0
        while i < n:
            tf.autograph.experimental.set_loop_options(parallel_iterations=1, maximum_iterations=2)
            i += 1
        return i

    with tf.Graph().as_default(), tf.Session() as sess:
        assert sess.run(tf.autograph.to_graph(count)(tf.constant(5))) == 5
    with pytest.raises(TypeError):
        tf.autograph.experimental.set_loop_options(shape_invariants=[])
