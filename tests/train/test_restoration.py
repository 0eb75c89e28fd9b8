"""What the log says when parts of a checkpoint are restored to nothing, and how long that is waited for."""

from __future__ import annotations

import gc
import weakref

import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.platform import logging


@pytest.fixture(autouse=True)
def eagerly():
    with eager_mode():
        yield


@pytest.fixture
def said(monkeypatch):
    lines: list[str] = []
    monkeypatch.setattr(logging, "warning", lambda text, *values: lines.append(text % values))
    return lines


@pytest.fixture
def path(tmp_path):
    return tf.train.Checkpoint(a=tf.Variable(2.0), b=tf.Variable(3.0)).save(str(tmp_path / "c"))


def test_an_object_that_never_came_is_told_when_the_root_goes(path, said):
    gc.disable()
    try:
        root = tf.train.Checkpoint(a=tf.Variable(0.0))
        held = weakref.ref(root), weakref.ref(root.a)
        root.restore(path)
        assert said == [] and root.a.numpy() == 2
        del root
        assert [thing() for thing in held] == [None, None]  # without looking for cycles
    finally:
        gc.enable()
    assert said[0].endswith("(root).b") and "expect_partial()" in said[1] and len(said) == 2


def test_nothing_is_said_where_all_came_or_nothing_was_expected(path, said):
    root = tf.train.Checkpoint(a=tf.Variable(0.0))
    status = root.restore(path)
    root.b = tf.Variable(0.0)
    del root, status
    tf.train.Checkpoint(a=tf.Variable(0.0)).restore(path).expect_partial()
    gc.collect()
    assert said == []


def test_values_that_an_object_did_not_take(path, said):
    root = tf.train.Checkpoint(a=tf.Module(), b=tf.Variable(0.0))
    root.restore(path)
    del root
    gc.collect()
    assert "(root).a: ['VARIABLE_VALUE']" in said[0] and len(said) == 2


def test_slots_are_named_by_what_they_are_of(tmp_path, said):
    variable, optimizer = tf.Variable(1.0), tf.train.MomentumOptimizer(0.1, 0.9)
    optimizer.minimize(lambda: variable * 2.0)
    path = tf.train.Checkpoint(optimizer=optimizer, variable=variable).save(str(tmp_path / "c"))
    tf.train.Checkpoint(variable=tf.Variable(0.0)).restore(path)
    gc.collect()
    assert [line.split(": ")[1] for line in said[:2]] == [
        "(root).optimizer",
        "(root).optimizer's state 'momentum' for (root).variable",
    ]


def test_in_a_graph_the_root_may_still_take_something(path, said):
    with tf.Graph().as_default(), tf.Session() as sess:
        root = tf.train.Checkpoint(a=tf.Variable(0.0))
        root.restore(path).run_restore_ops(sess)
        assert said == []
        del root
        gc.collect()
    assert said[0].endswith("(root).b")
