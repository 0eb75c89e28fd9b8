"""Resources that a graph must create before it runs."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.variables import resources

pytestmark = pytest.mark.usefixtures("own_graph")


def register(value, shared=True):
    """A variable that is registered as a resource; its handle."""
    handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], shared_name=f"r{value}")
    create = tf.raw_ops.AssignVariableOp(resource=handle, value=value)
    resources.register_resource(handle, create, tf.raw_ops.VarIsInitializedOp(resource=handle), is_shared=shared)
    return handle


def test_created_with_global_variables_or_with_local_ones():
    shared, local = register(1.0), register(2.0, shared=False)
    assert [r.handle for r in resources.shared_resources()] == [shared]
    assert [r.handle for r in resources.local_resources()] == [local]


def test_what_is_missing_is_told():
    shared, local = register(1.0), register(2.0, shared=False)
    missing = resources.report_uninitialized_resources()
    with tf.Session() as sess:
        assert sess.run(missing).tolist() == [shared.name.encode(), local.name.encode()]
        sess.run(resources.initialize_resources(resources.shared_resources()))
        assert sess.run(missing).tolist() == [local.name.encode()]
        sess.run(resources.initialize_resources(resources.local_resources()))
        assert sess.run(missing).tolist() == []
        assert sess.run(tf.raw_ops.ReadVariableOp(resource=local, dtype=tf.float32)) == np.float32(2)


def test_none_at_all():
    assert resources.initialize_resources([]).type == "NoOp"
    with tf.Session() as sess:
        assert sess.run(resources.report_uninitialized_resources()).shape == (0,)
