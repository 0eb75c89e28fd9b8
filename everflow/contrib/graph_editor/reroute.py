"""Connecting the users of some tensors to other tensors."""

from __future__ import annotations

from everflow.contrib.graph_editor import elements, subgraph
from everflow.framework.operation import Operation


def _allowed(ops, can_modify, cannot_modify):
    if can_modify is not None:
        chosen = set(elements.make_list_of_op(can_modify))
        ops = [op for op in ops if op in chosen]
    if cannot_modify is not None:
        refused = set(elements.make_list_of_op(cannot_modify))
        ops = [op for op in ops if op not in refused]
    return ops


def _replace_input(ops, old, new):
    changed = 0
    for op in ops:
        for index, tensor in enumerate(list(op.inputs)):
            if tensor is old:
                op._update_input(index, new)
                changed += 1
    return changed


def _reroute(ts0, ts1, swap, can_modify=None, cannot_modify=None):
    ts0, ts1 = list(elements.flatten_tree(ts0)), list(elements.flatten_tree(ts1))
    elements.make_list_of_t(ts0), elements.make_list_of_t(ts1)
    if len(ts0) != len(ts1):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(ts0)} != {len(ts1)}")
    changed = 0
    for first, second in zip(ts0, ts1):
        if not first.dtype.is_compatible_with(second.dtype):
            raise ValueError(f"Dtypes {first.dtype} and {second.dtype} are not compatible.")
        if not first.shape.is_compatible_with(second.shape):
            raise ValueError(f"Shapes {first.shape} and {second.shape} are not compatible.")
        of_first = _allowed(elements.unique(first.consumers()), can_modify, cannot_modify)
        of_second = _allowed(elements.unique(second.consumers()), can_modify, cannot_modify)
        changed += _replace_input(of_second, second, first)
        if swap:
            changed += _replace_input(of_first, first, second)
    return changed


def reroute_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """Let the users of each tensor of `ts1` take that of `ts0` instead; how many inputs were changed."""
    return _reroute(ts0, ts1, False, can_modify, cannot_modify)


def swap_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """Exchange the users of each two tensors; how many inputs were changed."""
    return _reroute(ts0, ts1, True, can_modify, cannot_modify)


def _views(sgv0, sgv1):
    sgv0, sgv1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    if sgv0 and sgv1 and sgv0.graph is not sgv1.graph:
        raise ValueError("Cannot reroute subgraphs of different graphs")
    return sgv0, sgv1


def _inputs(sgv0, sgv1, swap):
    sgv0, sgv1 = _views(sgv0, sgv1)
    _reroute(sgv0.inputs, sgv1.inputs, swap, can_modify=sgv0.ops + sgv1.ops if swap else sgv1.ops)
    return [subgraph.SubGraphView(view.ops, view.passthroughs) for view in (sgv0, sgv1)]


def _outputs(sgv0, sgv1, swap):
    sgv0, sgv1 = _views(sgv0, sgv1)
    _reroute(sgv0.outputs, sgv1.outputs, swap, cannot_modify=sgv0.ops + sgv1.ops)
    return [sgv0, sgv1]


def reroute_inputs(sgv0, sgv1):
    """Let `sgv1` take the inputs of `sgv0`; both views as they are then."""
    return _inputs(sgv0, sgv1, swap=False)


def swap_inputs(sgv0, sgv1):
    """Exchange the inputs of two views."""
    return _inputs(sgv0, sgv1, swap=True)


def reroute_outputs(sgv0, sgv1):
    """Let the users of `sgv1` take the outputs of `sgv0`."""
    return _outputs(sgv0, sgv1, swap=False)


def swap_outputs(sgv0, sgv1):
    """Exchange the users of two views."""
    return _outputs(sgv0, sgv1, swap=True)


def reroute_ios(sgv0, sgv1):
    """Put `sgv0` in the place of `sgv1`, inputs and outputs."""
    _outputs(sgv0, sgv1, swap=False)
    return _inputs(sgv0, sgv1, swap=False)


def swap_ios(sgv0, sgv1):
    """Exchange two views, inputs and outputs."""
    _outputs(sgv0, sgv1, swap=True)
    return _inputs(sgv0, sgv1, swap=True)


def _checked(op, cops):
    elements.check_type(op, Operation)
    return elements.make_list_of_op(cops, allow_graph=False)


def remove_control_inputs(op, cops):
    """Let an operation no longer wait for these."""
    cops = _checked(op, cops)
    for cop in cops:
        if cop not in op.control_inputs:
            raise ValueError(f"{op.name} is not a control_input of {cop.name}")
    kept = [c for c in op.control_inputs if c not in cops]
    op._remove_all_control_inputs()
    op._add_control_inputs(kept)


def add_control_inputs(op, cops):
    """Let an operation wait for these as well."""
    cops = _checked(op, cops)
    for cop in cops:
        if cop in op.control_inputs:
            raise ValueError(f"{cop.name} is already a control_input of {op.name}")
    op._add_control_inputs(cops)
