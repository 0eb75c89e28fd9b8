"""Who listens to operations as they are made."""

import threading

import pytest

import everflow as tf
from everflow.framework import tapes


class Tape:
    def __init__(self, watched=()):
        self.heard, self.read, self.watched = [], [], watched

    def record(self, op):
        self.heard.append(op.type)

    def variable_accessed(self, variable):
        self.read.append(variable)

    def watches(self, tensor):
        return tensor in self.watched


@pytest.fixture
def listening():
    tape = Tape()
    tapes.push(tape)
    with tf.Graph().as_default():
        yield tape
    tapes.remove(tape)


def test_operations_with_inputs_are_heard(listening):
    x = tf.constant(1.0)
    tf.exp(-x)
    assert listening.heard == ["Neg", "Exp"]


def test_an_operation_that_is_refused_is_not_heard(listening):
    with pytest.raises(ValueError):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    assert "MatMul" not in listening.heard


def test_reads_of_variables_are_heard(listening):
    variable = tf.Variable(1.0, use_resource=True)
    listening.read.clear()
    variable.read_value()
    assert listening.read == [variable]


def test_nobody_listens_where_recording_is_stopped(listening):
    x = tf.constant(1.0)
    with pytest.raises(ZeroDivisionError), tapes.stop_recording():
        assert tapes.active() == ()
        tf.exp(x)
        1 / 0  # noqa: B018
    tf.negative(x)
    assert listening.heard == ["Neg"] and tapes.active() == (listening,)


def test_tapes_are_of_their_thread(listening):
    seen = []
    thread = threading.Thread(target=lambda: seen.append(tapes.active()))
    thread.start()
    thread.join()
    assert seen == [()]


def test_any_tape_may_watch(listening):
    other = Tape(watched=["t"])
    tapes.push(other)
    assert tapes.watch_any(["s", "t"]) and not tapes.watch_any(["s"]) and not tapes.watch_any([])
    assert tapes.active() == (listening, other)
    tapes.remove(listening)
    tapes.remove(listening)  # of one that is gone nothing is left
    assert tapes.active() == (other,)
    tapes.remove(other)


def test_a_call_with_a_gradient_of_its_own_stands_for_what_is_inside():
    record = tapes.CallRecord(["x"], ["y"], lambda *grads: [g * 2 for g in grads])
    assert record._gradient_function(record, 3, 4) == [6, 8] and record.type == "CustomGradient"
