"""Names that programs take from inside TensorFlow's modules `control_flow_util`, `cond_v2` and `while_v2`: questions
about an op, the contexts it is in, and the functions it calls.
"""

import contextlib

from everflow.framework.functions import Body, FuncGraph
from everflow.framework.scopes import control_dependencies, get_default_graph
from everflow.ops.control_flow import switches
from everflow.ops.control_flow.conditionals import _case as _case_helper
from everflow.ops.control_flow.contexts import CondContext, ControlFlowContext, enclosing
from everflow.ops.control_flow.contexts import check_input_context as CheckInputFromValidContext
from everflow.ops.control_flow.contexts import in_xla_cluster as GraphOrParentsInXlaContext
from everflow.ops.control_flow.contexts import is_loop_constant_enter as IsLoopConstantEnter
from everflow.ops.control_flow.contexts import is_loop_enter as IsLoopEnter
from everflow.ops.control_flow.contexts import is_loop_exit as IsLoopExit
from everflow.ops.control_flow.contexts import mark_for_lowering as maybe_set_lowering_attr
from everflow.ops.control_flow.contexts import output_context as GetOutputContext
from everflow.ops.control_flow.contexts import while_context_of as GetWhileContext
from everflow.ops.control_flow.gradient_loops import is_cond_switch as IsCondSwitch
from everflow.ops.control_flow.gradient_loops import is_loop_switch as IsLoopSwitch
from everflow.ops.control_flow.gradient_loops import is_switch as IsSwitch
from everflow.ops.control_flow.switches import (
    control_flow_v2_enabled,
    output_all_intermediates,
    set_output_all_intermediates,
)
from everflow.ops.functions.bodies import (
    CondBranchFuncGraph,
    WhileBodyFuncGraph,
    WhileCondFuncGraph,
    define,
    unique_name,
)

__all__ = [
    "CheckInputFromValidContext",
    "CondBranchFuncGraph",
    "EnableControlFlowV2",
    "GetContainingCondContext",
    "GetContainingWhileContext",
    "GetContainingXLAContext",
    "GetLoopConstantEnter",
    "GetOutputContext",
    "GetWhileContext",
    "GraphOrParentsInXlaContext",
    "InXlaContext",
    "IsCondMerge",
    "IsCondSwitch",
    "IsContainingContext",
    "IsInCond",
    "IsInWhileLoop",
    "IsInXLAContext",
    "IsLoopConstantEnter",
    "IsLoopEnter",
    "IsLoopExit",
    "IsLoopMerge",
    "IsLoopSwitch",
    "IsMerge",
    "IsSwitch",
    "OpInContext",
    "TensorInContext",
    "WhileBodyFuncGraph",
    "WhileCondFuncGraph",
    "XLAControlFlowContext",
    "_case_helper",
    "_get_graph",
    "clear_control_inputs",
    "create_new_tf_function",
    "get_func_graphs",
    "in_defun",
    "maybe_set_lowering_attr",
    "output_all_intermediates",
    "set_output_all_intermediates",
    "unique_fn_name",
    "unique_grad_fn_name",
]
_MERGE = ("Merge", "RefMerge")


def EnableControlFlowV2(graph):
    """Whether branches and loops drawn in a graph become functions."""
    return control_flow_v2_enabled() or graph.building_function


def GetLoopConstantEnter(value):
    """The op that brings a value into a loop where that stays the same in all iterations, seen through ops that hand it
    on; None where there is none.
    """
    op = value.op
    while op.type in ("Switch", "RefSwitch", "Identity", "RefIdentity"):
        op = op.inputs[0].op
    return op if IsLoopConstantEnter(op) else None


def OpInContext(op, ctxt):
    """Whether an op is in a context."""
    return IsContainingContext(op._control_flow_context, ctxt)


def TensorInContext(tensor, ctxt):
    """Whether a tensor is made in a context."""
    return OpInContext(tensor.op, ctxt)


def GetContainingWhileContext(ctxt, stop_ctxt=None):
    """The innermost loop around a context, itself included, or None; with `stop_ctxt`, only a loop within that one
    counts.
    """
    found = enclosing(ctxt, lambda c: c.IsWhileContext() or c is stop_ctxt)
    return None if found is stop_ctxt else found


def GetContainingXLAContext(ctxt):
    """The innermost cluster for XLA around a context, itself included, or None."""
    return enclosing(ctxt, lambda c: c.IsXLAContext())


def GetContainingCondContext(ctxt):
    """The innermost branch around a context, itself included, or None."""
    return enclosing(ctxt, lambda c: isinstance(c, CondContext))


def IsContainingContext(ctxt, maybe_containing_ctxt):
    """Whether a context is another one or within it."""
    return enclosing(ctxt, lambda c: c is maybe_containing_ctxt) is maybe_containing_ctxt


def IsInWhileLoop(op):
    """Whether an op is in a loop."""
    return GetContainingWhileContext(op._control_flow_context) is not None


def IsInCond(op):
    """Whether an op is in a branch."""
    return GetContainingCondContext(op._control_flow_context) is not None


def IsInXLAContext(op):
    """Whether an op is marked for XLA, or in a cluster for it."""
    marked = "_XlaCompile" in op.attrs and op.get_attr("_XlaCompile")
    return bool(marked) or GetContainingXLAContext(op._control_flow_context) is not None


def InXlaContext(graph):
    """Whether what a graph makes now is in a cluster for XLA."""
    return GetContainingXLAContext(graph._get_control_flow_context()) is not None


class XLAControlFlowContext(ControlFlowContext):
    """Base class of contexts that are compiled as a whole."""

    def IsXLAContext(self):
        return True

    def AddOp(self, op):
        """Take note of an op that is made inside."""

    def AddValue(self, x):
        """What stands for a tensor inside: the tensor itself."""
        return x


def __getattr__(name):
    # Asked anew each time, as programs switch it.
    if name == "ENABLE_CONTROL_FLOW_V2":
        return control_flow_v2_enabled()
    if name == "_EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE":
        return switches._outputs_all_intermediates
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)


def _enable(state):
    (switches.enable_control_flow_v2 if state else switches.disable_control_flow_v2)()


# What programs switch by giving the name another value.
SETTERS = {
    "ENABLE_CONTROL_FLOW_V2": _enable,
    "_EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE": set_output_all_intermediates,
}


def IsMerge(op):
    """Whether an op hands on the one of its inputs that has a value."""
    return op.type in _MERGE


def in_defun():
    """Whether the body of a function is being drawn, be it of a branch or a loop in one; those of a plain graph's
    branches and loops don't count.
    """
    graph = get_default_graph()
    while isinstance(graph, FuncGraph) and not getattr(graph, "orders_state", True):
        graph = graph.outer_graph
    return isinstance(graph, FuncGraph)


def _get_graph(while_op, func_attr_name):
    """The body of the function that an op names in an attribute."""
    return _body_graph(while_op, while_op.attrs[func_attr_name].name)


def _body_graph(op, name):
    """The body of a function that an op calls, with its name, inputs and outputs."""
    body = op.graph._get_function(name).body()
    body.graph.name, body.graph.inputs, body.graph.outputs = name, body.inputs, body.outputs
    return body.graph


def get_func_graphs(op):
    """The bodies of the branches of an op `If`, or of a `Case`."""
    if op.type == "Case":
        return tuple(_body_graph(op, branch.name) for branch in op.attrs["branches"])
    if op.type not in ("If", "StatelessIf"):
        raise ValueError(f"{op.name} is a {op.type}, which has no branches that are functions")
    return tuple(_get_graph(op, name) for name in ("then_branch", "else_branch"))


def IsLoopMerge(op):
    """Whether an op merges a loop's first values with those of later iterations."""
    context = op._control_flow_context
    return IsMerge(op) and context is not None and context.IsWhileContext() and not IsCondMerge(op)


def IsCondMerge(op):
    """Whether an op merges the results of branches: some of its inputs come from one."""
    if not IsMerge(op) or not op.inputs:
        return False
    contexts = [GetOutputContext(t.op) for t in op.inputs]
    return all(c is not None and c.IsCondContext() for c in contexts)


def unique_fn_name(scope, name):
    """A name that no other function has, of a scope and a word."""
    return unique_name(f"{scope}{name}".replace("/", "_"))


def unique_grad_fn_name(forward_name):
    """A name that no other function has, for the gradient of one."""
    return unique_name(f"{forward_name}_grad")


def create_new_tf_function(func_graph):
    """Make a function of a body that is drawn, and let the graphs around call it; returns its name."""
    body = Body(func_graph, list(func_graph.inputs), list(func_graph.outputs), list(func_graph.control_outputs))
    return define(body, func_graph.name, func_graph.outer_graph).name


@contextlib.contextmanager
def clear_control_inputs():
    """A context whose operations wait for none of those around; loops and branches they are in stay."""
    graph = get_default_graph()
    context = graph._get_control_flow_context()
    with control_dependencies(None):
        graph._set_control_flow_context(context)
        yield
