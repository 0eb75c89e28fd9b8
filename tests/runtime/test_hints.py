"""Types for checkers: what the runtime runs is what they say."""

import pathlib

import pytest

import everflow as tf
from everflow.runtime import hints
from tests.framework.test_hints import members


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
    made = make()
    assert not [name for name in members(protocol) if not hasattr(made, name)]


def test_every_alias_is_used_somewhere():
    root = pathlib.Path(hints.__file__).parents[1]
    imported = "\n".join(path.read_text() for path in root.rglob("*.py") if path != pathlib.Path(hints.__file__))
    assert hints.__annotations__ and not [name for name in hints.__annotations__ if name not in imported]
