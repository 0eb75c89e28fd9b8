"""Attributes and elements that functions of eager programs assign in branches and loops."""

import types

import everflow as tf


class Tracker:
    def __init__(self):
        self.best, self.seen = tf.constant(-1.0), {"count": 0}

    @tf.function
    def watch(self, values):
        self.best, self.seen["count"] = tf.constant(-1.0), 0
        for value in values:
            if value < 0.0:
                continue
            self.seen["count"] += 1
            if value > self.best:
                self.best = value
        return self.best, self.seen["count"]


def test_methods_that_are_functions():
    tracker = Tracker()
    for values, expected in (([1.0, -5.0, 4.0], (4.0, 2)), ([-1.0, -2.0, -3.0], (-1.0, 0))):
        best, count = tracker.watch(tf.constant(values))
        assert (best.numpy(), count.numpy()) == expected


def test_converted_without_a_graph():
    def doubled(n):
        o = types.SimpleNamespace(a=1)
        while n > 0:
            o.a = o.a * 2
            n -= 1
        if o.a > 100:
            o.a = 100
        return o.a

    assert [int(tf.autograph.to_graph(doubled)(tf.constant(n))) for n in (0, 3, 9)] == [1, 8, 100]


def test_the_tape_follows_attributes():
    @tf.function
    def power(x, n):
        o = types.SimpleNamespace(y=x)
        for _ in tf.range(n - 1):
            o.y *= x
        return o.y

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = power(x, tf.constant(3))
    assert (y.numpy(), tape.gradient(y, x).numpy()) == (27.0, 27.0)


def test_zip_and_enumerate_take_datasets():
    def products(a, b):
        total = tf.constant(0, tf.int64)
        for i, (x, y) in enumerate(zip(a, b)):
            total += i * x * y
        return total

    assert tf.function(products)(tf.data.Dataset.range(3), tf.data.Dataset.range(4)).numpy() == 9


def test_features_but_some():
    feature = tf.autograph.experimental.Feature
    assert feature.ALL in feature.all()
    rest = feature.all_but([feature.LISTS])
    assert feature.LISTS not in rest and feature.ALL not in rest and feature.NAME_SCOPES in rest
    assert feature.all_but(feature.LISTS) == rest
