"""Computations that only serve: variables are read outside of them and taken as constants."""

from __future__ import annotations

from everflow.framework.scopes import init_scope
from everflow.ops import array
from everflow.ops.variables.scope import get_variable_scope, variable_scope
from everflow.tpu.replication import rewrite

_depth = 0


def under_tpu_inference_context():
    """Whether a computation for serving is being drawn."""
    return _depth > 0


def rewrite_for_inference(computation, inputs=None, infeed_queue=None, device_assignment=None, name=None):
    """`rewrite` for a model that is served: what it reads from variables is said to stay the same."""

    def guaranteed(getter, name, *args, **kwargs):
        with init_scope():
            variable = getter(name, *args, **kwargs)
            return array.guarantee_const(variable.read_value(), name=f"{name}/GuaranteeConst")

    def reading(*arguments):
        with variable_scope(get_variable_scope(), custom_getter=guaranteed, auxiliary_name_scope=False):
            return computation(*arguments)

    global _depth
    _depth += 1
    try:
        return rewrite(reading, inputs, infeed_queue, device_assignment, name)
    finally:
        _depth -= 1


def validate_inference_rewrite_for_variables(graph):
    """Raise where a graph has no variable that is taken as a constant."""
    if not any(op.type == "GuaranteeConst" for op in graph.get_operations()):
        raise RuntimeError(
            "No variable is taken as a constant in this graph: rewrite_for_inference does so with those of tf.get_variable."
        )
