"""Contexts of control flow while a graph is built: what an op made inside a branch or a loop is wired to.

A context sees each op that is made in it (`AddOp`) and each outside value such an op takes (`AddValue`). A branch lets
a value in through a Switch, a loop through a constant Enter, so that the op runs only when, and as often as, its
context does.
"""

from __future__ import annotations

from everflow.framework import nest
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor, convert_to_tensor_or_composite
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import (
    colocate_with,
    control_dependencies,
    get_default_graph,
    name_scope,
    register_proto_function,
)
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.protos import control_flow_pb2

_ENTER = ("Enter", "RefEnter")
_EXIT = ("Exit", "RefExit")


def is_loop_enter(op):
    return op.type in _ENTER


def is_loop_constant_enter(op):
    """Whether an op brings a value into a loop that is the same in every iteration."""
    return op.type in _ENTER and op.attrs["is_constant"]


def is_loop_exit(op):
    return op.type in _EXIT


def output_context(op):
    """The context that an op's outputs are in: an Exit's lie outside its loop."""
    context = op._control_flow_context
    return context.outer_context if context is not None and is_loop_exit(op) else context


def while_context_of(op):
    """The innermost loop that an op is in, or None."""
    context = op._control_flow_context
    return None if context is None else context.GetWhileContext()


def enclosing(context, test):
    """The nearest context from this one outwards that passes a test, or None."""
    while context is not None and not test(context):
        context = context.outer_context
    return context


def in_xla_cluster(graph):
    """Whether what a graph makes now, or a graph around it, is in a cluster for XLA."""
    while graph is not None:
        if enclosing(graph._get_control_flow_context(), lambda c: c.IsXLAContext()) is not None:
            return True
        graph = graph.outer_graph
    return False


def mark_for_lowering(op):
    """Say that TensorFlow may run a functional op as Switch and Merge, which XLA takes as it is."""
    if not in_xla_cluster(op.graph):
        op.attrs["_lower_using_switch_merge"] = True


def check_input_context(op, input_op):
    """Raise where an op takes an output of a loop that it is not in."""
    input_loop = output_context(input_op)
    input_loop = None if input_loop is None else input_loop.GetWhileContext()
    if input_loop is None:
        return
    op_loop = None if op._control_flow_context is None else op._control_flow_context.GetWhileContext()
    if enclosing(op_loop, lambda c: c is input_loop) is not None:
        return
    # A gradient loop may use values of its forward loop; they are saved on stacks for it. Enters and Switches are made
    # outside of any context, and put into theirs afterwards.
    if (
        op_loop.grad_state is not None
        if op_loop is not None
        else is_loop_enter(op) or op.type in ("Switch", "RefSwitch")
    ):
        return
    where = "is in no loop" if op_loop is None else f"is in {op_loop.name!r}"
    raise ValueError(
        f"Cannot use {input_op.name!r} as input to {op.name!r}: it is in a while loop, {input_loop.name!r}, and what takes it {where}. "
        "Return it from the loop's body to use it outside."
    )


def switch_ref_or_tensor(data, pred, name="Switch"):
    """Send a value to one of two outputs, on the device where the value is."""
    with colocate_with(data, ignore_existing=True):
        if data.dtype._is_ref_dtype:
            return raw.RefSwitch(data=data, pred=pred, name=name)
        with name_scope(name, "Switch", [data, pred]) as name:
            return raw.Switch(data=data, pred=pred, name=name)


class ControlFlowContext:
    """What branches and loops have in common: the values they know, and the contexts they are nested in."""

    def __init__(self):
        self._outer_context = get_default_graph()._get_control_flow_context()
        self._nested_contexts = []
        if self._outer_context is not None:
            self._outer_context._nested_contexts.append(self)
        self._entered_from = []
        # Names of the tensors known inside, and what outside tensors are inside.
        self._values = set()
        self._external_values = {}

    name = property(lambda self: self._name)
    outer_context = property(lambda self: self._outer_context)
    grad_state = property(lambda self: None)
    back_prop = property(lambda self: None)

    def Enter(self):
        graph = get_default_graph()
        self._entered_from.append(graph._get_control_flow_context())
        graph._set_control_flow_context(self)

    def Exit(self):
        get_default_graph()._set_control_flow_context(self._entered_from.pop())

    def __enter__(self):
        self.Enter()
        return self

    def __exit__(self, *exc):
        self.Exit()

    def GetWhileContext(self):
        """The innermost loop: this context or one around it."""
        return enclosing(self, lambda c: c.IsWhileContext())

    def IsWhileContext(self):
        return False

    def IsCondContext(self):
        return False

    def IsXLAContext(self):
        return False

    def GetControlPivot(self):
        """What nodes of this context that take nothing from it wait for, if it has such a node."""

    def AddName(self, name):
        self._values.add(name)

    def AddInnerOp(self, op):
        """An op was made in a context inside this one: clusters want to know."""
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    def ExitResult(self, result):
        """Make what a branch or loop returns known to the context around it."""
        if self._outer_context is not None:
            for tensor in nest.flatten(result, expand_composites=True):
                self._outer_context.AddName(tensor.name)

    def _known_by_all(self, names):
        for context in _outwards(self):
            context._values.update(names)

    def _remove_external_control_edges(self, op):
        """Drop control inputs from outside the loop around; returns (those kept, those dropped)."""
        loop = self.GetWhileContext()
        if loop is None:
            return op.control_inputs, []
        inside, outside = [], []
        for other in op.control_inputs:
            context = output_context(other)
            (inside if context is not None and context.GetWhileContext() is loop else outside).append(other)
        if outside:
            op._remove_all_control_inputs()
            op._add_control_inputs(inside)
        return inside, outside

    def _pull_in(self, outside, op):
        """What ops outside must precede comes in as a data input of an Identity; those without outputs are forgotten."""
        if outside:
            with control_dependencies(None), self:
                pulled = [raw.Identity(input=other.outputs[0]).op for other in outside if other.outputs]
            op._add_control_inputs(pulled)

    def _values_def(self, proto, export_scope):
        proto.values.extend(sorted(_stripped(v, export_scope) for v in self._values))
        for name, tensor in self._external_values.items():
            proto.external_values[_stripped(name, export_scope)] = _stripped(tensor.name, export_scope)

    def _load_values(self, proto, import_scope):
        graph = get_default_graph()
        self._values = {_prefixed(v, import_scope) for v in proto.values}
        self._external_values = {
            _prefixed(k, import_scope): graph.as_graph_element(_prefixed(v, import_scope))
            for k, v in proto.external_values.items()
        }
        # A context takes over the ops whose outputs it made known, innermost contexts last.
        ops = {graph._nodes_by_name[v.split(":")[0]] for v in self._values if v not in self._external_values}
        for op in sorted(ops, key=lambda op: op._id):
            op._set_control_flow_context(self)

    @classmethod
    def from_proto(cls, context_def, import_scope=None):
        """A context from its definition (a CondContextDef or WhileContextDef), whose nodes are in the default graph."""
        context = cls(context_def=context_def, import_scope=import_scope)
        with context:
            for nested in context_def.nested_contexts:
                from_control_flow_context_def(nested, import_scope)
        return context

    def to_control_flow_context_def(self, context_def, export_scope=None):
        raise NotImplementedError


def _outwards(context):
    while context is not None:
        yield context
        context = context.outer_context


def _stripped(name, scope):
    """A name relative to the scope that is exported."""
    return name[len(scope) + 1 :] if scope and name.startswith(scope + "/") else name


def _prefixed(name, scope):
    return f"{scope}/{name}" if scope else name


class CondContext(ControlFlowContext):
    """One branch of a `tf.cond`: values come in through a Switch on the predicate."""

    def __init__(self, pred=None, pivot=None, branch=None, name="cond_text", context_def=None, import_scope=None):
        super().__init__()
        if context_def is not None:
            self._init_from_proto(context_def, import_scope)
            return
        self._name = get_default_graph().unique_name(name)
        self._pred = pred
        self._pivot = pivot
        self._branch = branch
        # The predicate and pivot were made outside of the branch and need no Switch; the pivot is where it begins.
        self._values.update([pred.name, pivot.name])
        self._external_values[pred.name] = pred
        pivot.op._set_control_flow_context(self)

    pred = property(lambda self: self._pred)
    pivot = property(lambda self: self._pivot)
    branch = property(lambda self: self._branch)

    @property
    def grad_state(self):
        loop = self.GetWhileContext()
        return None if loop is None else loop.grad_state

    @property
    def back_prop(self):
        loop = self.GetWhileContext()
        return False if loop is None else loop.back_prop

    def GetControlPivot(self):
        return self._pivot

    def IsCondContext(self):
        return True

    def AddValue(self, val):
        if val.name in self._values:
            return self._external_values.get(val.name, val)
        self._values.add(val.name)
        result = val
        if self._outer_context is not None:
            result = self._outer_context.AddValue(val)
            self._values.add(result.name)
            self._external_values[result.name] = result
        with control_dependencies(None):
            result = switch_ref_or_tensor(result, self._pred)[self._branch]
        self.AddInnerOp(result.op)
        result.op.graph.prevent_fetching(result.op)
        result.op._set_control_flow_context(self)
        self._known_by_all([result.name])
        self._external_values[val.name] = result
        return result

    def AddOp(self, op):
        if not op.inputs:
            inside, _ = self._remove_external_control_edges(op)
            if not any(_in_context(other, self) for other in op.control_inputs):
                op._add_control_input(self._pivot.op)
        else:
            for index, tensor in enumerate(op.inputs):
                real = self.AddValue(tensor)
                if real is not tensor:
                    op._update_input(index, real)
            self._remove_external_control_edges(op)
            if op.graph._is_function(op.type) or op.type == "SymbolicGradient":
                op._add_control_input(self._pivot.op)
        self._known_by_all([t.name for t in op.outputs])
        if self._outer_context is not None or not is_loop_exit(op):
            op.graph.prevent_fetching(op)
        self.AddInnerOp(op)

    _AddOpInternal = AddOp

    def output_of(self, value):
        """A branch's return value as a tensor of the branch; an op is stood for by the pivot, after it."""
        if isinstance(value, Operation):
            return with_dependencies([value], self._pivot)
        return nest.map_structure(self._output_tensor, convert_to_tensor_or_composite(value), expand_composites=True)

    def _output_tensor(self, value):
        if value.name in self._values:
            return self._external_values.get(value.name, value)
        # The branch returned an outside tensor untouched.
        self._values.add(value.name)
        real = value
        if self._outer_context is not None:
            real = self._outer_context.AddValue(value)
            self._values.add(real.name)
            self._external_values[real.name] = real
        real = switch_ref_or_tensor(real, self._pred)[self._branch]
        self._external_values[value.name] = real
        return real

    def to_proto(self, export_scope=None):
        """The context as a CondContextDef."""
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        proto = control_flow_pb2.CondContextDef()
        proto.context_name = _stripped(self.name, export_scope)
        proto.pred_name = _stripped(self._pred.name, export_scope)
        proto.pivot_name = _stripped(self._pivot.name, export_scope)
        proto.branch = self._branch
        self._values_def(proto.values_def, export_scope)
        for nested in self._nested_contexts:
            nested.to_control_flow_context_def(proto.nested_contexts.add(), export_scope)
        return proto

    def to_control_flow_context_def(self, context_def, export_scope=None):
        context_def.cond_ctxt.CopyFrom(self.to_proto(export_scope))

    def _init_from_proto(self, proto, import_scope):
        graph = get_default_graph()
        self._name = _prefixed(proto.context_name, import_scope)
        self._pred = graph.as_graph_element(_prefixed(proto.pred_name, import_scope))
        self._pivot = graph.as_graph_element(_prefixed(proto.pivot_name, import_scope))
        self._branch = proto.branch
        self._load_values(proto.values_def, import_scope)


def _in_context(op, context):
    return enclosing(op._control_flow_context, lambda c: c is context) is not None


def from_control_flow_context_def(context_def, import_scope=None):
    """The context, branch or loop, that a ControlFlowContextDef holds."""
    kind = context_def.WhichOneof("ctxt")
    if kind == "cond_ctxt":
        return CondContext.from_proto(context_def.cond_ctxt, import_scope)
    if kind == "while_ctxt":
        return WhileContext.from_proto(context_def.while_ctxt, import_scope)
    raise NotImplementedError(f"Unknown ControlFlowContextDef field: {kind}")


class WhileContext(ControlFlowContext):
    """A loop: values come in through constant Enters, and what it carries goes round through Merge and NextIteration."""

    def __init__(self, maximum_iterations=None, parallel_iterations=10, back_prop=True, swap_memory=False, name="while_context",
                 grad_state=None, context_def=None, import_scope=None):  # fmt: skip
        super().__init__()
        self._grad_state = grad_state
        self._loop_enters = []
        self._loop_exits = []
        if context_def is not None:
            self._init_from_proto(context_def, import_scope)
            return
        if not isinstance(parallel_iterations, int) or parallel_iterations <= 0:
            raise ValueError(f"`parallel_iterations` must be a positive integer: {parallel_iterations}")
        self._name = get_default_graph().unique_name(name)
        self._maximum_iterations = maximum_iterations
        self._parallel_iterations = parallel_iterations
        self._back_prop = back_prop
        self._swap_memory = swap_memory
        self._pivot_for_pred = None
        self._pivot_for_body = None
        self._pivot = None

    maximum_iterations = property(lambda self: self._maximum_iterations)
    parallel_iterations = property(lambda self: self._parallel_iterations)
    back_prop = property(lambda self: self._back_prop)
    swap_memory = property(lambda self: self._swap_memory)
    pivot = property(lambda self: self._pivot, doc="The LoopCond's output.")
    loop_enters = property(lambda self: self._loop_enters)
    loop_exits = property(lambda self: self._loop_exits)
    grad_state = property(lambda self: self._grad_state)

    def IsWhileContext(self):
        return True

    def GetControlPivot(self):
        return self._pivot_for_body if self._pivot_for_body is not None else self._pivot_for_pred

    def initialize_values(self, tensors):
        """Start afresh knowing only these tensors."""
        self._values = {t.name for t in tensors}

    def AddValue(self, val):
        # An op of this very context is never new to it.
        if val.name in self._values or val.op._control_flow_context is self:
            return self._external_values.get(val.name, val)
        self._values.add(val.name)
        saved = self._saved_forward_value(val)
        if saved is not None:
            self._external_values[val.name] = saved
            return saved
        result = val
        if self._outer_context is not None:
            result = self._outer_context.AddValue(val)
        with control_dependencies(None):
            enter = self.enter(result, is_constant=True)
            enter.graph.prevent_feeding(enter)
        self.fix_enter([enter])
        self._values.add(enter.name)
        self._external_values[val.name] = enter
        return enter

    def _saved_forward_value(self, val):
        """In a gradient loop, a value of the forward loop as it was in the matching iteration; else None."""
        context = get_default_graph()._get_control_flow_context()
        context = None if context is None else context.GetWhileContext()
        if context is None or context.grad_state is None:
            return None
        forward = while_context_of(val.op)
        if is_loop_exit(val.op):
            forward = forward.outer_context
            forward = None if forward is None else forward.GetWhileContext()
        if forward is None or forward is not context.grad_state.forward_context:
            return None
        return context.grad_state.GetRealValue(val)

    def AddOp(self, op):
        # The shape of a forward value is taken in the forward loop: saving it costs less than saving the value.
        if op.type in ("Shape", "Size", "Rank"):
            context = get_default_graph()._get_control_flow_context()
            context = None if context is None else context.GetWhileContext()
            if context is not None and context.grad_state is not None:
                source = op.inputs[0].op
                if while_context_of(source) is context.grad_state.forward_context:
                    op._set_control_flow_context(source._control_flow_context)
                    source._control_flow_context._AddOpInternal(op)
                    return
        self._AddOpInternal(op)

    def _AddOpInternal(self, op):
        if not op.inputs:
            inside, outside = self._remove_external_control_edges(op)
            if not inside:
                op._add_control_input(self.GetControlPivot().op)
        else:
            for index, tensor in enumerate(op.inputs):
                real = self.AddValue(tensor)
                if real is not tensor:
                    op._update_input(index, real)
            _, outside = self._remove_external_control_edges(op)
            self._hold_back_if_free(op)
        self._values.update(t.name for t in op.outputs)
        self._pull_in(outside, op)
        if self._outer_context is not None or not is_loop_exit(op):
            op.graph.prevent_fetching(op)
            for tensor in op.outputs:
                op.graph.prevent_feeding(tensor)
        self.AddInnerOp(op)

    def _hold_back_if_free(self, op):
        """An op on loop constants alone would run without waiting for its iteration; the pivot makes it wait."""
        if op.control_inputs:
            return
        calls = op.graph._is_function(op.type) or op.type == "SymbolicGradient"
        if calls or all(is_loop_constant_enter(t.op) for t in op.inputs):
            op._add_control_input(self.GetControlPivot().op)

    def enter(self, data, is_constant=False, use_ref=True, use_input_shape=True, name=None):
        """Bring a tensor into the loop's frame."""
        data = convert_to_tensor(data) if not isinstance(data, Tensor) else data
        build = raw.RefEnter if data.dtype._is_ref_dtype and use_ref else raw.Enter
        result = build(
            data=data,
            frame_name=self._name,
            is_constant=is_constant,
            parallel_iterations=self._parallel_iterations,
            name=name,
        )
        if use_input_shape:
            result.set_shape(data.shape)
        return result

    def fix_enter(self, enters):
        """Put Enters, made in the context around, into this one, with the control inputs that apply out there."""
        graph = get_default_graph()
        for tensor in enters:
            keep = []
            for other in graph._control.for_inputs({tensor.op.inputs[0].op}):
                if self._is_around(output_context(other)):
                    keep.append(other)
            tensor.op._set_control_flow_context(self)
            tensor.op._add_control_inputs(keep)
            graph._control.record(tensor.op)
            self.AddInnerOp(tensor.op)

    def _is_around(self, context):
        """Whether a context lies around this loop, not beyond the next loop outwards."""
        outer = self._outer_context
        limit = None if outer is None else outer.GetWhileContext()
        while outer is not context:
            if outer is None or outer is limit:
                return False
            outer = outer.outer_context
        return True

    def to_proto(self, export_scope=None):
        """The context as a WhileContextDef."""
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        proto = control_flow_pb2.WhileContextDef()
        proto.context_name = _stripped(self.name, export_scope)
        proto.parallel_iterations = self._parallel_iterations
        if self._maximum_iterations is not None:
            proto.maximum_iterations_name = _stripped(self._maximum_iterations.name, export_scope)
        proto.back_prop = self._back_prop
        proto.swap_memory = self._swap_memory
        proto.pivot_for_pred_name = _stripped(self._pivot_for_pred.name, export_scope)
        proto.pivot_for_body_name = _stripped(self._pivot_for_body.name, export_scope)
        proto.pivot_name = _stripped(self._pivot.name, export_scope)
        proto.loop_exit_names.extend(_stripped(t.name, export_scope) for t in self._loop_exits)
        proto.loop_enter_names.extend(_stripped(t.name, export_scope) for t in self._loop_enters)
        self._values_def(proto.values_def, export_scope)
        for nested in self._nested_contexts:
            nested.to_control_flow_context_def(proto.nested_contexts.add(), export_scope)
        return proto

    def to_control_flow_context_def(self, context_def, export_scope=None):
        context_def.while_ctxt.CopyFrom(self.to_proto(export_scope))

    def _init_from_proto(self, proto, import_scope):
        graph = get_default_graph()

        def element(name):
            return graph.as_graph_element(_prefixed(name, import_scope)) if name else None

        self._name = _prefixed(proto.context_name, import_scope)
        self._maximum_iterations = element(proto.maximum_iterations_name)
        self._parallel_iterations = proto.parallel_iterations
        self._back_prop = proto.back_prop
        self._swap_memory = proto.swap_memory
        self._pivot_for_pred = element(proto.pivot_for_pred_name)
        self._pivot_for_body = element(proto.pivot_for_body_name)
        self._pivot = element(proto.pivot_name)
        self._loop_exits = [element(name) for name in proto.loop_exit_names]
        self._loop_enters = [element(name) for name in proto.loop_enter_names]
        self._load_values(proto.values_def, import_scope)
        if import_scope:
            # All Enters of this frame, those of constants too, get the frame's new name.
            for name in self._values:
                op = graph._nodes_by_name[name.split(":")[0]]
                if is_loop_enter(op) and op._control_flow_context is self:
                    op._set_attr("frame_name", self._name.encode())


register_proto_function(
    GraphKeys.COND_CONTEXT,
    proto_type=control_flow_pb2.CondContextDef,
    to_proto=CondContext.to_proto,
    from_proto=CondContext.from_proto,
)
register_proto_function(
    GraphKeys.WHILE_CONTEXT,
    proto_type=control_flow_pb2.WhileContextDef,
    to_proto=WhileContext.to_proto,
    from_proto=WhileContext.from_proto,
)
