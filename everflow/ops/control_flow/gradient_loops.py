"""The loops that `tf.gradients` builds for loops: one backward loop for each forward one, run as often.

A value that the backward loop needs from an iteration of the forward loop is pushed on a stack there and popped here.
Counters and syncs order the pushes and pops, so that iterations may overlap.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.scopes import colocate_with, control_dependencies, get_default_graph
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.contexts import (
    WhileContext,
    enclosing,
    is_loop_constant_enter,
    is_loop_enter,
    is_loop_exit,
    output_context,
    switch_ref_or_tensor,
    while_context_of,
)
from everflow.ops.control_flow.primitives import exit as exit_op
from everflow.ops.control_flow.primitives import merge, next_iteration, switch

_SWITCHES = ("Switch", "RefSwitch")
_PASSING = ("Switch", "RefSwitch", "Identity", "RefIdentity")


def is_switch(op):
    return op.type in _SWITCHES


def is_cond_switch(op):
    """Whether a Switch lets values into branches: then all that take its outputs are in branches."""
    if not is_switch(op) or not op.outputs:
        return False
    for tensor in op.outputs:
        for consumer in tensor.consumers():
            context = consumer._control_flow_context
            if is_loop_enter(consumer):
                context = context.outer_context
            if context is None or not context.IsCondContext():
                return False
    return True


def is_loop_switch(op):
    """Whether a Switch decides if a loop goes on."""
    if not is_switch(op):
        return False
    context = op._control_flow_context
    return context is not None and context.IsWhileContext() and not is_cond_switch(op)


def _is_around(outer, context):
    """Whether a context is another one or somewhere within it; None is around all."""
    while context is not outer and context is not None:
        context = context.outer_context
    return context is outer


def _shape_of(tensor):
    """The shape when run, as a node even where it is known."""
    return raw.Shape(input=tensor)


class _Within:
    """Enter a context that may be None."""

    def __init__(self, context):
        self.context = context

    def __enter__(self):
        if self.context is not None:
            self.context.Enter()

    def __exit__(self, *exc):
        if self.context is not None:
            self.context.Exit()


class _Outside:
    """Leave a context for a while."""

    def __init__(self, context):
        self.context = context

    def __enter__(self):
        self.context.Exit()

    def __exit__(self, *exc):
        self.context.Enter()


def add_forward_counter(context, outer_state):
    """Count a forward loop's iterations: (the total after the loop, the count handed to the next iteration)."""
    start = constant(0, name="f_count")
    if outer_state is not None:
        # Pushes of one execution of an inner loop come before those of the next.
        start.op._add_control_input(outer_state.forward_index.op.inputs[0].op)
    with context:
        context.AddName(start.name)
        enter = context.enter(start, name="f_count")
        context.loop_enters.append(enter)
        merged = merge([enter, enter])[0]
        switched = switch(merged, context.pivot)
        index = raw.Add(x=switched[1], y=1)
        following = next_iteration(index)
        merged.op._update_input(1, following)
        total = exit_op(switched[0], name="f_count")
        context.loop_exits.append(total)
        context.ExitResult([total])
    return total, following


def add_backward_counter(context, count, outer_state):
    """Make a backward loop run `count` times; returns the count handed to the next iteration."""
    one = constant(1, name="b_count")
    with context:
        context.AddName(count.name)
        enter = context.enter(count, name="b_count")
        context.loop_enters.append(enter)
        merged = merge([enter, enter])[0]
        context._pivot_for_pred = merged
        context._pivot = raw.LoopCond(input=raw.GreaterEqual(x=merged, y=one), name="b_count")
        switched = switch(merged, context._pivot)
        index = raw.Sub(x=switched[1], y=one)
        context._pivot_for_body = index
        following = next_iteration(index)
        merged.op._update_input(1, following)
        final = exit_op(switched[0], name="b_count")
        context.loop_exits.append(final)
        if outer_state is not None:
            # Pops of one execution of an inner loop come before those of the next.
            outer_state.grad_sync._add_control_input(final.op)
        context.ExitResult([final])
    return following


class GradLoopState:
    """What `tf.gradients` knows of one forward loop: its backward loop, and the forward values saved for it."""

    def __init__(self, forward_context, outer_grad_state):
        self.outer_grad_state = outer_grad_state
        self.forward_context = forward_context
        # Forward tensor name → its value in the backward loop.
        self.history_map = {}
        # Loop switch of the forward loop → the Merge that stands for it in the backward loop.
        self.switch_map = {}
        self.unused_exits = []
        self.deferred_exits = []
        self.forward_loop_exits = list(forward_context.loop_exits)
        self.pending_exits_count = len(forward_context.loop_exits)
        self._grad_sync = None
        self._forward_sync = None
        outer = outer_grad_state.forward_context if outer_grad_state is not None else forward_context.outer_context
        with _Within(outer):
            count, self.forward_index = add_forward_counter(forward_context, outer_grad_state)
        if outer_grad_state is None:
            with _Within(outer):
                self.grad_context = self._new_context()
                self._grad_index = add_backward_counter(self.grad_context, count, None)
            return
        # An inner loop runs many times; each time's count is saved in the outer loop.
        outer.AddName(count.name)
        history = outer_grad_state.AddForwardAccumulator(count)
        with outer_grad_state.grad_context:
            self.grad_context = self._new_context()
            real_count = outer_grad_state.AddBackpropAccumulatedValue(history, count)
            self._grad_index = add_backward_counter(self.grad_context, real_count, outer_grad_state)

    def settle_exits(self, pending_count, to_ops):
        """Count off the exits that no gradient comes to; those of them that nobody asked for, once all exits are
        accounted for.
        """
        silent = [tensor for tensor in self.forward_loop_exits if pending_count[tensor.op] == 0]
        self.pending_exits_count -= len(silent)
        self.unused_exits += [tensor for tensor in silent if tensor.op not in to_ops]
        return self.unused_exits if silent and self.pending_exits_count == 0 else []

    def _new_context(self):
        forward = self.forward_context
        return WhileContext(
            forward.maximum_iterations,
            forward.parallel_iterations,
            forward.back_prop,
            forward.swap_memory,
            forward.name,
            grad_state=self,
        )

    @property
    def grad_sync(self):
        """An op that all pops of an iteration come before."""
        if self._grad_sync is None:
            self._grad_sync = self._new_sync("b_sync", self.grad_context, self._grad_index)
            outer = self.grad_context.outer_context
            if outer is not None and outer.IsXLAContext():
                outer.AddOp(self._grad_sync)
        return self._grad_sync

    @property
    def forward_sync(self):
        """An op that all pushes made in branches come before."""
        if self._forward_sync is None:
            self._forward_sync = self._new_sync("f_sync", self.forward_context, self.forward_index)
        return self._forward_sync

    @staticmethod
    def _new_sync(name, context, index):
        with control_dependencies(None):
            sync = raw.ControlTrigger(name=name)
        sync._set_control_flow_context(context)
        index.op._add_control_input(sync)
        return sync

    def AddForwardAccumulator(self, value, dead_branch=False):
        """Push a forward value on a new stack in each iteration; returns the stack."""
        current = get_default_graph()._get_control_flow_context()
        with control_dependencies(None):
            with _Within(current), colocate_with(value):
                marked = value.op.attrs.get("_XlaCompile") or enclosing(current, lambda c: c.IsXLAContext())
                size = self._most_pushes(value, current) if marked else constant(-1)
                stack = raw.StackV2(max_size=size, elem_type=value.dtype.base_dtype, name="f_acc")
            self._push(self.forward_context.AddValue(stack), value, dead_branch)
        return stack

    def _push(self, stack, value, dead_branch):
        """Push a forward value in the context that it is made in."""
        swap = self.forward_context.swap_memory
        value_context = output_context(value.op)
        if value_context is self.forward_context:
            with self.forward_context:
                push = raw.StackPushV2(handle=stack, elem=value, swap_memory=swap)
            self.forward_index.op._add_control_input(push.op)
        else:
            if not value_context.IsCondContext():
                raise TypeError(f"value_ctxt is not a CondContext: {value_context}")
            with value_context.outer_context if dead_branch else value_context:
                push = raw.StackPushV2(handle=stack, elem=value, swap_memory=swap)
            if dead_branch:
                push.op._set_control_flow_context(value_context)
            self.forward_sync._add_control_input(push.op)
        push.op._add_control_input(self.forward_index.op.inputs[0].op)

    def _most_pushes(self, value, current):
        """How often a value can be pushed: XLA, for which it is marked, has stacks of a known size only."""
        size, context = constant(1), self.forward_context
        while context is not None and context is not current:
            limit = context.maximum_iterations
            if limit is not None and not _is_around(limit.op._control_flow_context, current):
                known = constant_value(limit)
                limit = None if known is None else int(known)
            if limit is None:
                raise ValueError(
                    f"The gradient of '{value.name}' in a loop for XLA needs a stack of known size, but to the tf.while_loop "
                    f"'{context.name}' maximum_iterations was not passed, or not as a number or a tensor from outside of it."
                )
            size *= limit
            outer = context.outer_context
            context = outer.GetWhileContext() if outer is not None and outer is not current else None
        return size

    def AddBackpropAccumulatedValue(self, history_value, value, dead_branch=False):
        """Pop, in the backward loop, what was pushed in the matching iteration of the forward loop."""
        history_context = history_value.op._control_flow_context
        branch_context, context = None, value.op._control_flow_context
        while context is not None and context is not history_context:
            if context.IsCondContext():
                branch_context = context
                break
            context = context.outer_context
        with control_dependencies(None), self.grad_context:
            if branch_context is not None:
                # What was pushed in a branch is popped only where that branch was taken.
                branch = 1 - branch_context.branch if dead_branch else branch_context.branch
                history_value = switch_ref_or_tensor(history_value, self._real_predicate(branch_context))[branch]
            pop = raw.StackPopV2(handle=history_value, elem_type=value.dtype.base_dtype)
            pop.set_shape(value.shape)
        if self.grad_context.parallel_iterations > 1:
            self.grad_sync._add_control_input(pop.op)
        return pop

    def _real_predicate(self, branch_context):
        state = self
        while state is not None:
            found = state.history_map.get(branch_context.pred.name)
            if found is not None:
                return found
            state = state.outer_grad_state
        return branch_context.pred

    def GetRealValue(self, value):
        """A forward value as it was in the iteration that the backward loop is at."""
        found = self.history_map.get(value.name)
        if found is None:
            found = self.history_map[value.name] = self._real_value(value)
        return found

    def _real_value(self, value):
        current, state = value, self
        while True:
            enter = _constant_enter_of(current)
            if enter is None:
                break
            # The same in every iteration: follow it out of the loop.
            current, state = enter.inputs[0], state.outer_grad_state
            if state is None:
                return self.grad_context.AddValue(current)
        if current.op.type == "Const":
            return constant(constant_value(current), dtype=current.dtype)
        with _Outside(self.grad_context):
            history = state.AddForwardAccumulator(current)
        real = state.AddBackpropAccumulatedValue(history, current)
        return real if state is self else self.grad_context.AddValue(real)

    # --- gradients of loop constants, summed over the iterations -------------------------------

    def accumulate(self, op, grad):
        """The sum over all iterations of the gradient of what a constant Enter brings in."""
        context = self.grad_context
        if isinstance(grad, IndexedSlices):
            return self._accumulate_slices(op, grad)
        context.Exit()
        start = self._zeros_outside(op, grad)
        context.Enter()
        context.AddName(start.name)
        enter = context.enter(start, name="b_acc")
        context.loop_enters.append(enter)
        merged = merge([enter, enter], name="b_acc")[0]
        before, inside = switch(merged, context.pivot)
        following = next_iteration(raw.Add(x=inside, y=grad))
        merged.op._update_input(1, following)
        result = exit_op(before, name="b_acc")
        context.loop_exits.append(result)
        context.ExitResult([result])
        return result

    def _zeros_outside(self, op, grad):
        """Zeros to start a sum with; their shape matters only where the loop runs no iteration."""
        outer = self.grad_context.outer_context
        if grad.shape.is_fully_defined():
            with _Within(outer):
                return constant(0, grad.dtype, shape=grad.shape, name="b_acc")
        value = op.inputs[0]
        if outer is not None and outer.IsWhileContext() and outer.grad_state is not None:
            with self.forward_context.outer_context:
                shape = _shape_of(value)
            history = self.outer_grad_state.AddForwardAccumulator(shape)
            with outer:
                real = self.outer_grad_state.AddBackpropAccumulatedValue(history, shape)
                return array.zeros(real, grad.dtype)
        with _Within(outer):
            return array.zeros(_shape_of(value), grad.dtype)

    def _accumulate_slices(self, op, grad):
        context = self.grad_context
        values, indices, dense_shape = grad.values, grad.indices, grad.dense_shape
        context.Exit()
        with _Within(context.outer_context):
            if values.shape.is_fully_defined():
                first_values = constant(
                    0, values.dtype, shape=TensorShape([1] + values.shape.as_list()[1:]), name="b_acc"
                )
            else:
                shape = array.concat([[1], raw.Shape(input=op.inputs[0])[1:]], 0)
                first_values = array.zeros(shape, dtype=values.dtype)
            starts = [constant([0], indices.dtype), first_values]
            if dense_shape is not None:
                if dense_shape.shape.is_fully_defined():
                    starts.append(constant(0, dense_shape.dtype, shape=dense_shape.shape))
                else:
                    starts.append(
                        array.zeros_like(raw.Shape(input=op.inputs[0], out_type=dense_shape.dtype), optimize=False)
                    )
        context.Enter()
        for start in starts:
            context.AddName(start.name)
        # The sum grows by concatenation, so its first dimension is left open.
        enters = [context.enter(start, use_input_shape=False, name="b_acc") for start in starts]
        enters[0].set_shape([None])
        if first_values.shape.rank is not None:
            enters[1].set_shape([None] + first_values.shape.as_list()[1:])
        context.loop_enters.extend(enters)
        merges = [merge([enter, enter], name="b_acc")[0] for enter in enters]
        switches = [switch(merged, context.pivot) for merged in merges]
        sums = [array.concat([switched[1], new], 0) for switched, new in zip(switches, (indices, values))]
        if dense_shape is not None:
            sums.append(raw.Maximum(x=dense_shape, y=switches[2][1]))
        for merged, total in zip(merges, [next_iteration(total) for total in sums]):
            merged.op._update_input(1, total)
        exits = [exit_op(switched[0], name="b_acc") for switched in switches]
        context.loop_exits.extend(exits)
        context.ExitResult(exits)
        return IndexedSlices(
            indices=exits[0], values=exits[1], dense_shape=exits[2] if dense_shape is not None else None
        )


def _constant_enter_of(tensor):
    """The constant Enter that a value comes from unchanged, or None."""
    op = tensor.op
    while op.type in _PASSING:
        op = op.inputs[0].op
    return op if is_loop_constant_enter(op) else None


class ControlFlowState:
    """The loops met in one call of `tf.gradients`."""

    IsLoopSwitch = staticmethod(is_loop_switch)
    IsLoopExit = staticmethod(is_loop_exit)

    def __init__(self):
        self._states = {}

    def GetGradState(self, op, before):
        """The state of the loop an op is in; `before` an Exit's gradient one is in the loop around."""
        if before and is_loop_exit(op):
            context = op._control_flow_context.outer_context
            context = None if context is None else context.GetWhileContext()
        else:
            context = while_context_of(op)
        return None if context is None else self._states.get(context)

    def unused_exits(self, pending_count, to_ops):
        """Exits that no gradient comes to, of loops of which all exits are accounted for."""
        # Enters take part too, so that gradients of gradients find them.
        enters = {tensor.op for state in self._states.values() for tensor in state.forward_context.loop_enters}
        pending_count.update({op: 1 for op in enters if pending_count[op] == 0})
        return [tensor for state in self._states.values() for tensor in state.settle_exits(pending_count, to_ops)]

    def EnterGradWhileContext(self, op, before):
        state = self.GetGradState(op, before)
        if state is not None:
            state.grad_context.Enter()

    def ExitGradWhileContext(self, op, before):
        state = self.GetGradState(op, before)
        if state is not None:
            state.grad_context.Exit()

    def add_loop(self, op, ordered, between):
        """Build the backward loop of the loop that an Exit belongs to, once."""
        forward = while_context_of(op)
        if forward in self._states:
            return
        outer = forward.outer_context
        outer = None if outer is None else outer.GetWhileContext()
        state = GradLoopState(forward, self._states.get(outer))
        self._states[forward] = state
        for tensor in state.forward_loop_exits:
            if tensor.op not in between:
                between.add(tensor.op)
                ordered.append(tensor.op)

    def ZerosLikeForExit(self, value):
        """Zeros as the gradient of an Exit that nothing flowed back to."""
        forward = value.op._control_flow_context
        outer = forward.outer_context
        outer = None if outer is None else outer.GetWhileContext()
        state = self._states.get(outer)
        if state is None:
            return (
                array.zeros(value.shape.as_list(), value.dtype)
                if value.shape.is_fully_defined()
                else array.zeros_like(value, optimize=False)
            )
        if value.shape.is_fully_defined():
            with state.grad_context:
                return array.zeros(value.shape.as_list(), value.dtype)
        with forward.outer_context:
            shape = _shape_of(value)
        history = state.AddForwardAccumulator(shape)
        with state.grad_context:
            return array.zeros(state.AddBackpropAccumulatedValue(history, shape), value.dtype)

    def ZerosLike(self, op, index):
        """Zeros for an output that nothing flowed back to, in the backward loop; None for a loop's own switch."""
        if is_loop_switch(op):
            return None
        state = self._states.get(while_context_of(op))
        if state is None:
            return zeros_like_outside_loop(op, index)
        dead_branch = is_switch(op)
        context, value = op._control_flow_context, op.outputs[index]
        if value.shape.is_fully_defined():
            zeros = constant(0, shape=value.shape, dtype=value.dtype)
            if dead_branch:
                zeros = switch_ref_or_tensor(zeros, state.history_map.get(context.pred.name))[1 - context.branch]
            return zeros
        if dead_branch:
            with context.outer_context:
                other_side = switch_ref_or_tensor(op.inputs[0], context.pred)[1 - context.branch]
                shape = _shape_of(other_side)
            other_side.op._set_control_flow_context(context)
            shape.op._set_control_flow_context(context)
        else:
            with context:
                shape = _shape_of(value)
        with _Outside(state.grad_context):
            history = state.AddForwardAccumulator(shape, dead_branch=dead_branch)
        return array.zeros(state.AddBackpropAccumulatedValue(history, shape, dead_branch), value.dtype)

    def PostProcessing(self):
        """Close backward loops of variables whose next value doesn't depend on the last: their gradient goes on as
        zero.
        """
        for state in self._states.values():
            for merged in state.switch_map.values():
                start = merged.op.inputs[0]
                if start is not merged.op.inputs[1]:
                    continue
                if start.shape.is_fully_defined():
                    with state.grad_context:
                        following = next_iteration(constant(0, dtype=start.dtype, shape=start.shape))
                else:
                    with _Within(state.grad_context.outer_context):
                        zeros = array.zeros(_shape_of(start.op.inputs[0]))
                    with state.grad_context:
                        following = next_iteration(zeros)
                merged.op._update_input(1, following)


def zeros_like_outside_loop(op, index):
    """Zeros for an output that nothing flowed back to; for a branch's Switch only where that branch is taken."""
    value = op.outputs[index]
    context = op._control_flow_context
    if not is_switch(op) or context is None:
        if value.dtype == dtypes.resource:
            return array.zeros(raw.VariableShape(input=value), dtype=value._handle_data[0][0])
        return array.zeros_like(value, optimize=False)
    if context.IsWhileContext():
        raise through_initial_value(op)
    other_side = switch(op.inputs[0], context.pred)[1 - context.branch]
    # The zeros wait for a tensor of that side, since a control edge from the Switch itself would not choose a side.
    pivot = raw.Identity(input=other_side)
    if value.dtype == dtypes.resource:
        with control_dependencies([pivot]):
            return array.zeros(raw.VariableShape(input=other_side), dtype=value._handle_data[0][0])
    shape = _shape_of(other_side)
    with control_dependencies([pivot]):
        return array.zeros(shape, dtype=value.dtype)


def through_initial_value(op):
    """The error where a gradient drawn in a loop's body would leave the loop by where a variable came in."""
    return ValueError(
        f"A gradient in the body of a while loop can't go on through {op.name!r} to the initial value of a loop variable: "
        "ask for gradients of what the body is given, or of what is the same in all iterations."
    )


def control_flow_state(ordered, between, colocate):
    """The state of the loops among these ops, with their backward loops begun; None where there are none."""
    state = None
    for op in ordered:
        if not is_loop_exit(op):
            continue
        if state is None:
            state = ControlFlowState()
        if colocate:
            with colocate_with(op):
                state.add_loop(op, ordered, between)
        else:
            state.add_loop(op, ordered, between)
    return state
