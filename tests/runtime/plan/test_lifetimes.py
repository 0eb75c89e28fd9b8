"""Values are let go after the last item that takes them."""

import gc
import weakref

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.plan.lifetimes import find_releases
from everflow.runtime.plan.program import FEED
from tests.runtime.plan.sessions import plain


def releases(fetches, feeds):
    """{type of what is let go: type of the item after which it is}, for what is sure and for what may be there."""
    with plain() as sess:
        program = sess._executor.compile(fetches, list(feeds)).program
    found = find_releases(program, lambda edge: edge, lambda edge: edge[0].type not in (FEED, "Const"))
    return tuple(
        {edge[0].type: after.type for after, edges in part.items() for edge in edges}
        for part in (found.sure, found.maybe)
    )


@pytest.fixture
def x():
    return tf.placeholder(tf.float32, [2], name="x")


def test_after_the_last_of_several_who_take_it(x):
    kept = raw.Exp(x=x)
    y = raw.Tanh(x=raw.AddV2(x=raw.Neg(x=kept), y=kept))
    assert releases([y], [x]) == ({"Exp": "AddV2", "Neg": "AddV2", "AddV2": "Tanh"}, {})


def test_what_is_fetched_stays(x):
    kept = raw.Exp(x=x)
    assert releases([kept, raw.Neg(x=kept)], [x]) == ({}, {})


def test_a_value_that_a_branch_takes_goes_after_the_branch(x):
    kept, p = raw.Exp(x=x), tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: raw.Neg(x=raw.Tanh(x=kept)), lambda: raw.Sin(x=x))
    sure, maybe = releases([y], [x, p])
    assert sure["Exp"] == "_If" and sure["Tanh"] == "Neg" and maybe == {}


def test_a_value_that_a_loop_takes_goes_after_the_loop(x):
    kept = raw.Exp(x=x)
    y = tf.while_loop(lambda v: tf.reduce_sum(v) < 9.0, lambda v: raw.AddV2(x=raw.Tanh(x=v), y=kept), [x])
    sure, _ = releases([raw.Neg(x=y)], [x])
    assert sure["Exp"] == "_Loop" and sure["Tanh"] == "AddV2"  # what is made in a round ends in it


def test_what_a_branch_made_may_not_be_there_when_a_later_one_takes_it(x):
    p = tf.placeholder(tf.bool, [])
    side = raw.Switch(data=x, pred=p)
    made = raw.Exp(x=side.output_true)
    first = raw.Merge(inputs=[side.output_false, raw.Neg(x=made)])[0]
    again = raw.Merge(inputs=[side.output_false, raw.Sin(x=made)])[0]
    sure, maybe = releases([raw.AddV2(x=first, y=again)], [x, p])
    assert maybe == {"Exp": "_If"} and "Exp" not in sure
    with tf.Session() as sess:
        for value in (True, False):
            sess.run(raw.AddV2(x=first, y=again), {x: [1.0, 2.0], p: value})


def test_memory_is_free_while_the_run_goes_on(x):
    """A value is gone before what comes after its last use runs."""
    held, alive = [], []

    def note(value):
        held.append(weakref.ref(value))
        return value

    def look(value):
        gc.collect()
        alive.append(held[0]() is not None)
        return value

    large = tf.py_func(lambda v: note(np.repeat(v, 1000)), [x], tf.float32)
    small = tf.py_func(look, [tf.reduce_sum(large)], tf.float32)
    with tf.Session() as sess:
        sess.run(small, {x: [1.0, 2.0]})
    assert alive == [False]
