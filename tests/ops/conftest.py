"""What tests of ops share."""

import pytest

import everflow as tf
from everflow.eager.mode import disable_eager_execution, enable_eager_execution
from everflow.ops.variables import variable as variables


@pytest.fixture
def sess():
    """A session on a graph of the test's own, which is the default one."""
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.fixture
def eager():
    """Eager execution, and afterwards graphs again with all that went with them."""
    resources = variables.resource_variables_enabled()
    tf.reset_default_graph()
    enable_eager_execution()
    try:
        yield
    finally:
        disable_eager_execution()
        if not resources:
            variables.disable_resource_variables()
