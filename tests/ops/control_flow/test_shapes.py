"""Shapes of the ops that control flow is made of."""

from __future__ import annotations

import pytest

import everflow as tf
from everflow.ops.functions.defun import Defun

pytestmark = pytest.mark.usefixtures("functional")


def test_raw_ops_know_the_shapes_they_are_told():
    double = Defun(tf.float32, func_name="Double")(lambda x: x * 2.0)
    more = Defun(tf.int32, tf.float32, func_name="More")(lambda i, x: i < 3)
    longer = Defun(tf.int32, tf.float32, func_name="Longer")(lambda i, x: (i + 1, tf.concat([x, x], 0)))
    x = tf.placeholder(tf.float32, [2])
    branches = {"input": [x], "Tout": [tf.float32]}
    for build, options in (
        (tf.raw_ops.If, {"cond": True, "then_branch": double, "else_branch": double}),
        (tf.raw_ops.StatelessIf, {"cond": True, "then_branch": double, "else_branch": double}),
        (tf.raw_ops.Case, {"branch_index": 0, "branches": [double, double]}),
    ):
        assert build(**branches, **options)[0].shape.rank is None
        assert build(**branches, **options, output_shapes=[[None]])[0].shape.as_list() == [None]
        with pytest.raises(ValueError, match="same length"):
            build(**branches, **options, output_shapes=[[2], [3]])
    for build in (tf.raw_ops.While, tf.raw_ops.StatelessWhile):
        assert [t.shape.as_list() for t in build(input=[0, x], cond=more, body=longer)] == [[], [2]]
        _, grown = build(input=[0, x], cond=more, body=longer, output_shapes=[[], [None]])
        assert grown.shape.as_list() == [None]
        with tf.Session() as sess:
            assert sess.run(grown, {x: [1.0, 2.0]}).shape == (16,)


@pytest.mark.parametrize("kind", ["Switch", "Enter", "Exit", "NextIteration"])
def test_what_passes_through(kind):
    x = tf.placeholder(tf.float32, [None, 2])
    raw = tf.raw_ops
    made = {
        "Switch": lambda: raw.Switch(data=x, pred=True).output_true,
        "Enter": lambda: raw.Enter(data=x, frame_name="f", is_constant=True),
        "Exit": lambda: raw.Exit(data=x),
        "NextIteration": lambda: raw.NextIteration(data=x),
    }[kind]()
    assert made.shape.as_list() == [None, 2]


def test_a_variable_of_a_loop_may_change_its_shape():
    x = tf.zeros([2])
    assert tf.raw_ops.Enter(data=x, frame_name="f").shape.rank is None


def test_a_merge_knows_what_all_agree_in():
    merged = tf.raw_ops.Merge(inputs=[tf.zeros([2, 3]), tf.zeros([4, 3])])
    assert merged.output.shape.as_list() == [None, 3] and merged.value_index.shape.as_list() == []
    assert tf.raw_ops.Merge(inputs=[tf.zeros([2]), tf.zeros([2, 3])]).output.shape.rank is None


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.raw_ops.Switch(data=1, pred=[True, False]),
        lambda: tf.raw_ops.LoopCond(input=[True]),
    ],
)
def test_predicates_are_scalars(build):
    with pytest.raises(ValueError):
        build()


def test_handles_stay_what_they_are():
    v = tf.get_variable("v", [2, 3], use_resource=True)
    handle = tf.raw_ops.Switch(data=v.handle, pred=True).output_true
    assert tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32).shape.as_list() == [2, 3]
