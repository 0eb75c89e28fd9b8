"""Shape rules of the ops that control flow is made of."""

from __future__ import annotations

from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape, scalar, unknown_shape
from everflow.ops.shape_rules import like_second


def _pass_handle_data(op):
    """What a resource handle refers to is the same on the other side of a Switch or Enter."""
    data = op.inputs[0]._handle_data
    if data is not None:
        for tensor in op.outputs:
            tensor._handle_data = data


@shape_rule("Switch", "RefSwitch")
def _switch_shapes(op):
    op.inputs[1].shape.with_rank(0)
    _pass_handle_data(op)
    return [op.inputs[0].shape] * 2


@shape_rule("Merge", "RefMerge")
def _merge_shapes(op):
    """What all inputs agree in."""
    shapes = [t.shape for t in op.inputs]
    merged = shapes[0]
    for shape in shapes[1:]:
        merged = merged.most_specific_compatible_shape(shape)
    _pass_handle_data(op)
    return [merged, scalar()]


@shape_rule("Enter", "RefEnter")
def _enter_shape(op):
    _pass_handle_data(op)
    # A loop variable may change its shape from one iteration to the next; a constant can't.
    return op.inputs[0].shape if op.attrs["is_constant"] else unknown_shape()


@shape_rule("Exit", "RefExit", "NextIteration", "RefNextIteration")
def _same_shape(op):
    _pass_handle_data(op)
    return op.inputs[0].shape


@shape_rule("LoopCond")
def _loop_cond_shape(op):
    return op.inputs[0].shape.merge_with(scalar())


@shape_rule("If", "StatelessIf", "Case", "While", "StatelessWhile")
def _told_shapes(op):
    """What the op was told its functions return; a loop that was told nothing keeps the shapes it starts with."""
    told = op.attrs["output_shapes"]
    if told and len(told) != len(op.outputs):
        raise ValueError(f"`output_shapes` must be the same length as num outputs: {len(told)} vs. {len(op.outputs)}")
    if not told:
        return [t.shape for t in op.inputs] if op.type.endswith("While") else [unknown_shape()] * len(op.outputs)
    return [TensorShape(shape) for shape in told]


@shape_rule("Stack", "StackV2")
def _stack_shape(op):
    return TensorShape([2])


shape_rule("StackPush", "StackPushV2")(like_second)


@shape_rule("RefSelect")
def _ref_select_shape(op):
    first = op.inputs[1].shape
    return first if all(t.shape == first for t in op.inputs[2:]) else unknown_shape()


not_differentiable(
    "Stack",
    "StackV2",
    "StackPush",
    "StackPushV2",
    "StackPop",
    "StackPopV2",
    "StackClose",
    "StackCloseV2",
    "ControlTrigger",
    "NoOp",
    "Abort",
)
