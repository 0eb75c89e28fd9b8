"""Taking a part of a graph out of its surroundings, and putting it elsewhere."""

from __future__ import annotations

from everflow.contrib.graph_editor import elements, reroute, select, subgraph


def detach_control_inputs(sgv):
    """Let operations of a view no longer wait for others outside."""
    sgv = subgraph.make_view(sgv)
    inside = set(sgv.ops)
    for op in sgv.ops:
        reroute.remove_control_inputs(op, [cop for cop in op.control_inputs if cop not in inside])


def detach_control_outputs(sgv, control_outputs):
    """Let no operation outside wait for one of a view."""
    elements.check_type(control_outputs, elements.ControlOutputs)
    control_outputs.update()
    sgv = subgraph.make_view(sgv)
    inside = set(sgv.ops)
    for op in sgv.ops:
        for waiting in list(control_outputs.get(op)):
            if waiting not in inside:
                reroute.remove_control_inputs(waiting, op)


def detach_inputs(sgv, control_inputs=False):
    """(view, placeholders): placeholders take the place of the view's inputs."""
    sgv = subgraph.make_view(sgv)
    with sgv.graph.as_default():
        placeholders = [elements.make_placeholder_from_tensor(t) for t in sgv.inputs]
    reroute.reroute_ts(placeholders, sgv.inputs, can_modify=sgv.ops)
    if control_inputs:
        detach_control_inputs(sgv)
    return subgraph.SubGraphView(sgv.ops, sgv.passthroughs), placeholders


def detach_outputs(sgv, control_outputs=None):
    """(view, placeholders): users outside take placeholders instead of the view's outputs."""
    sgv = subgraph.make_view(sgv)
    used = [t for t in sgv.outputs if any(op not in set(sgv.ops) for op in t.consumers())]
    with sgv.graph.as_default():
        placeholders = [elements.make_placeholder_from_tensor(t) for t in used]
    reroute.reroute_ts(placeholders, used, cannot_modify=sgv.ops)
    if control_outputs is not None:
        detach_control_outputs(sgv, control_outputs)
    return sgv, placeholders


def detach(sgv, control_inputs=False, control_outputs=None, control_ios=None):
    """(view, placeholders of inputs, placeholders of outputs)."""
    control_inputs, control_outputs = select.check_cios(control_inputs, control_outputs, control_ios)
    sgv, inputs = detach_inputs(sgv, control_inputs)
    sgv, outputs = detach_outputs(sgv, control_outputs)
    return sgv, inputs, outputs


def connect(sgv0, sgv1, disconnect_first=False):
    """Let the outputs of `sgv0` be the inputs of `sgv1`; with `disconnect_first` nothing else takes or gives them."""
    sgv0, sgv1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    if disconnect_first:
        detach_outputs(sgv0)
    sgv0_outputs = subgraph.SubGraphView(passthrough_ts=sgv0.outputs)
    reroute.reroute_inputs(sgv0_outputs, sgv1)
    return sgv0, sgv1


def bypass(sgv):
    """(view, placeholders): what took the view's outputs takes its inputs, and the view is left with placeholders."""
    sgv = subgraph.make_view(sgv)
    detached, placeholders = detach_inputs(sgv)
    # A view keeps the inputs it was made with, also when its operations take others.
    reroute.reroute_ts(sgv.inputs, detached.outputs)
    return detached, placeholders
