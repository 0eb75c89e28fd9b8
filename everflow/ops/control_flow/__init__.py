"""Branches and loops as dataflow: what `tf.cond`, `tf.while_loop` and their gradients put into a graph."""

from everflow.framework.graph import Graph
from everflow.ops.control_flow import gradients, shapes  # noqa: F401  they register rules
from everflow.ops.control_flow.conditionals import Assert, case, cond, smart_case, smart_cond, smart_constant_value
from everflow.ops.control_flow.contexts import CondContext, ControlFlowContext, WhileContext, check_input_context
from everflow.ops.control_flow.grouping import group, no_op, tuple, with_dependencies
from everflow.ops.control_flow.loops import while_loop
from everflow.ops.control_flow.primitives import exit, merge, next_iteration, switch

Graph.check_input_context = staticmethod(check_input_context)

__all__ = [
    "Assert",
    "CondContext",
    "ControlFlowContext",
    "WhileContext",
    "case",
    "cond",
    "exit",
    "group",
    "merge",
    "next_iteration",
    "no_op",
    "smart_case",
    "smart_cond",
    "smart_constant_value",
    "switch",
    "tuple",
    "while_loop",
    "with_dependencies",
]
