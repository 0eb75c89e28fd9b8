"""Tests of this folder run with eager execution on."""

import pytest

import everflow as tf
from everflow.eager.mode import disable_eager_execution, enable_eager_execution
from everflow.ops.variables import variable as variables


@pytest.fixture(autouse=True)
def eager():
    """Turns eager execution on for a test, and afterwards off again with all that came with it."""
    resources = variables.resource_variables_enabled()
    tf.reset_default_graph()
    enable_eager_execution()
    try:
        yield
    finally:
        disable_eager_execution()
        if not resources:
            variables.disable_resource_variables()
