"""Gradients of Switch, Merge, Enter, Exit and NextIteration: each is the other's mirror image."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.operation import Tensor
from everflow.framework.registry import gradient
from everflow.framework.scopes import get_default_graph
from everflow.ops.control_flow.contexts import output_context, switch_ref_or_tensor
from everflow.ops.control_flow.gradient_loops import through_initial_value
from everflow.ops.control_flow.loops import add_back_edge
from everflow.ops.control_flow.primitives import exit as exit_op
from everflow.ops.control_flow.primitives import merge, switch


def _current_context():
    return get_default_graph()._get_control_flow_context()


@gradient("Switch", "RefSwitch")
def _switch_grad(op, *grads):
    context = op._control_flow_context
    if context is not None and context.IsWhileContext():
        return _loop_switch_grad(op, grads)
    if context is not None and context.IsCondContext():
        if grads[1 - context.branch] is None:
            # A resource's gradient has no zeros for the branch not taken.
            if op.inputs[0].dtype == dtypes.resource:
                return merge([grads[context.branch]] * 2, name="cond_resource_grad")[0], None
            return None, None
        return merge(grads, name="cond_grad")[0], None
    false_grad = switch(grads[0], op.inputs[1])[0]
    true_grad = switch(grads[1], op.inputs[1])[1]
    return merge([false_grad, true_grad])[0], None


def _loop_switch_grad(op, grads):
    """A loop's switch is met twice: first from its exit, then from its body."""
    state = _current_context().grad_state
    if state is None:
        raise through_initial_value(op)
    known = state.switch_map
    merged = known.get(op)
    if merged is not None:
        if grads[1] is not None:
            add_back_edge(merged, grads[1], enforce=False)
        return None, None
    if grads[0] is None:
        return None, None
    # Until the body's gradient is there, the exit's stands in for it.
    merged = known[op] = merge([grads[0], grads[0]], name="b_switch")[0]
    return merged, None


@gradient("Merge", "RefMerge")
def _merge_grad(op, grad, _):
    context = output_context(op.inputs[0].op)
    if context is not None and context.IsWhileContext():
        return switch_ref_or_tensor(grad, _current_context().pivot)
    if context is not None and context.IsCondContext():
        return switch_ref_or_tensor(grad, _real_predicate(context.pred), name="cond_grad")
    chosen = [raw.Equal(x=op.outputs[1], y=i) for i in range(len(op.inputs))]
    return [switch_ref_or_tensor(grad, c)[1] for c in chosen]


def _real_predicate(pred):
    """A branch's predicate; in a backward loop, as it was in the iteration at hand."""
    context = _current_context()
    state = None if context is None else context.grad_state
    if state is None:
        return pred
    real = state.history_map.get(pred.name)
    if real is None:
        state.grad_context.Exit()
        history = state.AddForwardAccumulator(pred)
        state.grad_context.Enter()
        real = state.history_map[pred.name] = state.AddBackpropAccumulatedValue(history, pred)
    return real


@gradient("Exit", "RefExit")
def _exit_grad(op, grad):
    context = _current_context()
    if not context.back_prop:
        return None
    if op._control_flow_context.grad_state is not None:
        raise TypeError(
            f"The loop of {op.name!r} is itself a gradient: second-order gradient for while loops is not there"
        )
    if not isinstance(grad, Tensor):
        raise TypeError(f"The gradient of {op.name!r}, a loop's result, must be dense, not {type(grad).__name__}")
    context.AddName(grad.name)
    with context:
        result = context.enter(grad, name="b_exit")
        context.loop_enters.append(result)
    return result


@gradient("NextIteration", "RefNextIteration")
def _next_iteration_grad(op, grad):
    return grad


@gradient("Enter", "RefEnter")
def _enter_grad(op, grad):
    context = _current_context()
    if context is None or not context.back_prop or context.grad_state is None:
        return grad
    if op.attrs["is_constant"]:
        return context.grad_state.accumulate(op, grad)
    result = exit_op(grad)
    context.loop_exits.append(result)
    context.ExitResult([result])
    return result


@gradient("LoopCond")
def _loop_cond_grad(op, grad):
    return None
