"""Types for checkers: what the runtime runs is what they say."""

import pytest

import everflow as tf
from everflow.runtime import hints
from tests.framework.protocols import imported_of, missing


def prepared(**options):
    with tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None])
        return sess._executor.compile([-x], [x], **options)


@pytest.mark.parametrize(
    ("protocol", "make"),
    [
        (hints.Executor, lambda: tf.Session()._executor),
        (hints.PreparedRun, lambda: tf.Session()._executor.prepare([tf.constant(1)], [])),
        (hints.Runnable, prepared),
        (hints.Runnable, lambda: prepared(shaped=True)),
        (hints.Runnable, lambda: prepared(as_drawn=True)),
    ],
    ids=["executor", "prepared", "plan", "plans for shapes", "node by node"],
)
def test_the_one_that_is_used_has_what_its_protocol_asks_for(protocol, make):
    assert missing(protocol, make()) == []


def test_every_alias_is_used_somewhere():
    assert set(hints.__annotations__) <= imported_of(hints.__name__)
