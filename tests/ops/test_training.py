"""Shapes of the optimizers' update ops: what a variable, its slots and its gradient have in common."""

import pytest

import everflow as tf
from everflow.framework import op_defs
from everflow.ops import training

R = tf.raw_ops
pytestmark = pytest.mark.usefixtures("own_graph")


def variable(shape):
    return R.VariableV2(shape=shape, dtype=tf.float32)


def handle(shape):
    return tf.get_variable("v", shape, use_resource=True).handle


def test_dense_updates_have_the_variables_shape():
    made = R.ApplyGradientDescent(var=variable([None, 3]), alpha=0.1, delta=tf.placeholder(tf.float32, [2, None]))
    assert made.shape.as_list() == [2, 3]
    slots = R.ApplyMomentum(var=variable([2, 3]), accum=variable([2, 3]), lr=0.1, grad=tf.ones([2, 3]), momentum=0.9)
    assert slots.shape.as_list() == [2, 3]
    sparse = R.SparseApplyAdagrad(
        var=variable([4, 3]), accum=variable([4, 3]), lr=0.1, grad=tf.ones([2, 3]), indices=[0, 1]
    )
    assert sparse.shape.as_list() == [4, 3]


@pytest.mark.parametrize(
    "build",
    [
        lambda: R.ApplyGradientDescent(var=variable([2]), alpha=0.1, delta=tf.ones([3])),
        lambda: R.ApplyGradientDescent(var=variable([2]), alpha=[0.1], delta=tf.ones([2])),
        lambda: R.ApplyMomentum(var=variable([2]), accum=variable([3]), lr=0.1, grad=tf.ones([2]), momentum=0.9),
        lambda: R.ResourceApplyGradientDescent(var=handle([2]), alpha=0.1, delta=tf.ones([3])),
        lambda: R.SparseApplyAdagrad(
            var=variable([4, 3]), accum=variable([4, 3]), lr=0.1, grad=tf.ones([2, 2]), indices=[0, 1]
        ),
        lambda: R.SparseApplyAdagrad(
            var=variable([4, 3]), accum=variable([4, 3]), lr=0.1, grad=tf.ones([2, 3]), indices=[0]
        ),
        lambda: R.SparseApplyAdagrad(
            var=variable([4, 3]), accum=variable([4, 3]), lr=0.1, grad=tf.ones([2, 3]), indices=[[0, 1]]
        ),
    ],
)
def test_shapes_that_do_not_fit(build):
    with pytest.raises(ValueError):
        build()


def test_updates_of_resources_have_no_output():
    assert isinstance(R.ResourceApplyGradientDescent(var=handle([2]), alpha=0.1, delta=tf.ones([2])), tf.Operation)


@pytest.mark.parametrize("names", [training._DENSE, training._SPARSE])
def test_every_update_op_has_what_the_rule_looks_for(names):
    assert len(names) > 20
    for name in names:
        inputs = [arg.name for arg in op_defs.get(name).inputs]
        assert inputs[0] == "var" and {"grad", "delta"} & set(inputs), name
        assert ("indices" in inputs) == (names is training._SPARSE), name
