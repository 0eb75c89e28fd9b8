"""Attributes and elements that are assigned in branches and loops which tensors decide."""

from __future__ import annotations

import types

import pytest

import everflow as tf
from tests.ops.autograph.agreement import check_agreement


def box(**attributes):
    return types.SimpleNamespace(**attributes)


def attribute_of_a_branch(n):
    o = box(a=1)
    if n > 0:
        o.a = n * 2
    return o.a


def each_branch_sees_what_was_before(n):
    o = box(a=n)
    if n > 2:
        o.a += 10
    else:
        o.a += 20
    return o.a


def attributes_of_a_while(n):
    o = box(turn=0, power=1)
    while o.turn < n:
        o.turn += 1
        o.power = o.power * 2
    return o.power


def jumps(n):
    o = box(s=0)
    for k in range(n):
        if k > 6:
            break
        if k % 2 > 0:
            continue
        o.s += k
    return o.s


def early_return(n):
    o = box(s=0)
    if n > 5:
        o.s = n
        return o.s + 100
    o.s += 1
    return o.s


def elements(n):
    d = {"a": 0, "b": [1, (0, 5)]}
    while d["a"] < n:
        d["a"] += 1
        d["b"][0] *= 2
    return d["b"][0] + d["b"][1][1]


def variable_keys(n):
    row, j, o = [0, 0, 7], 1, box(k=2)
    for k in range(n):
        row[j] += k
        row[j - 1] = row[o.k]
        row[-1] = k
    return row[0] + 100 * row[1] + 10000 * row[2]


def deep(n):
    o = box(p=box(q=0), d={"k": box(v=1)})
    for k in range(n):
        o.p.q += k
        if k > 1:
            o.d["k"].v = o.p.q
    return o.p.q * 100 + o.d["k"].v


def several_at_once(n):
    o = box(a=0, b=1)
    for _ in range(n):
        o.a, o.b = o.b, o.a + o.b
    return o.a


def made_inside(n):
    total = 0
    for k in range(n):
        o = box(v=k)
        o.v += 1
        total += o.v
    if n > 2:
        d = {}
        d["v"] = total
    else:
        d = {"v": -total}
    return d["v"]


def whole_and_part(n):
    d = {"a": n}
    while n > 0:
        d = {"a": d["a"] + 1}
        d["a"] += 1
        n -= 1
    return d["a"]


def inside_with(n):
    o = box(s=0)
    for k in range(n):
        with tf.name_scope("inside"):
            if k > 1:
                o.s += k
    return o.s


FUNCTIONS = [
    attribute_of_a_branch,
    each_branch_sees_what_was_before,
    attributes_of_a_while,
    jumps,
    early_return,
    elements,
    variable_keys,
    deep,
    several_at_once,
    made_inside,
    whole_and_part,
    inside_with,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_tensors_give_what_python_gives(function):
    check_agreement(function)


class Counter:
    """Methods that keep what they find."""

    def __init__(self):
        self.total, self.largest = tf.constant(0), tf.constant(0)

    def add(self, item):
        self.total += item
        if item > self.largest:
            self.largest = item


def test_methods_keep_what_branches_assign():
    with tf.Graph().as_default(), tf.Session() as sess:
        counter = Counter()

        @tf.autograph.to_graph
        def count(a, b):
            counter.add(a)
            counter.add(b)

        count(tf.constant(3), tf.constant(2))
        assert sess.run([counter.total, counter.largest]) == [5, 3]


def test_a_method_called_in_a_loop_of_the_graph_does_not_hide_its_assignments_in_a_branch():
    with tf.Graph().as_default(), tf.Session() as sess:
        state = box(largest=0)

        def largest(items):
            for item in items:
                if item > state.largest:
                    state.largest = item
            return state.largest

        assert sess.run(tf.autograph.to_graph(largest)(tf.constant([1, 5, 3]))) == 5
        assert sess.run(state.largest) == 5


def test_names_are_those_of_variables_then_paths():
    def both(n):
        o, y = box(a=1), 0
        while n > 0:
            o.a = o.a + n
            n -= 1
        if y < o.a:
            o.a = y
        return n, o.a

    def branch_without_variables(x):
        o = box(a=1)
        if x > 0:
            o.a = x
        return o.a

    with tf.Graph().as_default():
        n, a = tf.autograph.to_graph(both)(tf.constant(3))
        assert [n.name, a.name] == ["while/Exit:0", "cond/Merge_1:0"]
        assert tf.autograph.to_graph(branch_without_variables)(tf.constant(3)).name == "cond_1/Merge_1:0"


def test_python_decides_without_touching_attributes():
    class Written:
        def __init__(self):
            object.__setattr__(self, "log", [])

        def __setattr__(self, name, value):
            self.log.append(name)

    def write(o, x):
        if x:
            o.a = 1
        else:
            o.b = 2
        for k in range(2):
            o.c = k
        while x:
            o.d, x = 3, False
        return o.log

    assert tf.autograph.to_graph(write)(Written(), True) == ["a", "c", "c", "d"]


def test_gradients_through_attributes():
    def power(x, n):
        o = box(y=1.0)
        for _ in tf.range(n):
            o.y *= x
        return o.y

    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [])
        for made in (tf.autograph.to_graph(power), tf.function(power)):
            y = made(x, tf.constant(3))
            assert sess.run([y, *tf.gradients(y, x)], {x: 2.0}) == [8.0, 12.0]


def attribute_missing(n):
    o = box()
    if n > 0:
        o.a = n
    return o.a


def key_missing(n):
    d = {}
    while n > 0:
        d["a"] = n
        n -= 1
    return d["a"]


def none_in_one_branch(n):
    o = box(a=None)
    if n > 0:
        o.a = n
    return o.a


def another_type(n):
    o = box(a=1.0)
    while n > 0:
        o.a = n
        n -= 1
    return o.a


def element_of_a_tensor(n):
    t = tf.zeros([3], tf.int32)
    if n > 0:
        t[0] = n
    return t


def return_in_a_loop(n):
    o = box(s=0)
    for k in range(n):
        o.s += k
        if o.s > 5:
            return o.s * 10
    return o.s


ERRORS = [
    (return_in_a_loop, ValueError, "the returned value is a tensor in one branch"),
    (attribute_missing, AttributeError, "'a'"),
    (key_missing, KeyError, "a"),
    (none_in_one_branch, ValueError, "'o.a' is a tensor in one branch"),
    (another_type, TypeError, "'o.a' has dtype float32 before the loop"),
    (element_of_a_tensor, TypeError, "item assignment"),
]


@pytest.mark.parametrize("function,error,message", ERRORS, ids=lambda x: getattr(x, "__name__", ""))
def test_errors(function, error, message):
    for convert in (tf.autograph.to_graph, tf.function):
        with tf.Graph().as_default(), pytest.raises(error, match=message):
            convert(function)(tf.constant(3))
