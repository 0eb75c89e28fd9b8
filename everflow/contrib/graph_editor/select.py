"""Finding operations and tensors: by name, by kind, by walking along the graph."""

from __future__ import annotations

import re

from everflow.contrib.graph_editor import elements
from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, Tensor
from everflow.platform.signatures import optional, takes

_TENSOR_MARK = "(?#ts)"


def can_be_regex(obj):
    """Whether something is a regular expression, or text that can be one."""
    return isinstance(obj, (str, re.Pattern))


def make_regex(obj):
    """A regular expression."""
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj) if isinstance(obj, str) else obj


def filter_ts(ops, positive_filter):
    """The inputs and outputs of some operations that pass `positive_filter`; True keeps all."""
    ops = elements.make_list_of_op(ops)
    found = elements.unique((t for op in ops for t in op.inputs), (t for op in ops for t in op.outputs))
    return found if positive_filter is True else [t for t in found if positive_filter(t)]


def filter_ts_from_regex(ops, regex):
    """The tensors of some operations whose name matches."""
    pattern = make_regex(regex)
    return filter_ts(ops, lambda t: pattern.search(t.name) is not None)


def filter_ops(ops, positive_filter):
    """The operations that pass `positive_filter`; True keeps all."""
    ops = elements.make_list_of_op(ops)
    return ops if positive_filter is True else [op for op in ops if positive_filter(op)]


def filter_ops_from_regex(ops, regex):
    """The operations whose name matches."""
    pattern = make_regex(regex)
    return filter_ops(ops, lambda op: pattern.search(op.name) is not None)


def get_name_scope_ops(ops, scope):
    """The operations below a name scope."""
    scope = elements.scope_finalize(scope)
    return filter_ops_from_regex(ops, "^" + re.escape(scope))


def check_cios(control_inputs=False, control_outputs=None, control_ios=None):
    """(whether to follow control inputs, ControlOutputs to follow or None); `control_ios` stands for both."""
    if control_ios is not None:
        elements.check_type(control_ios, elements.ControlOutputs)
        if control_outputs is not None:
            raise ValueError("control_ios stands for control_outputs as well: give one of them")
        return True, control_ios
    elements.check_type(control_outputs, elements.ControlOutputs, type(None))
    return control_inputs, control_outputs


def get_ops_ios(ops, control_inputs=False, control_outputs=None, control_ios=None):
    """The operations that are next to some operations."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    ops = elements.make_list_of_op(ops)
    found = [t.op for op in ops for t in op.inputs]
    found += [user for op in ops for t in op.outputs for user in t.consumers()]
    for op in ops:
        found += op.control_inputs if control_inputs else ()
        found += control_outputs.get(op) if control_outputs else ()
    return elements.unique(found)


def compute_boundary_ts(ops):
    """(tensors that come from outside, tensors that go outside or nowhere, tensors that are made and used inside)."""
    ops = elements.make_list_of_op(ops)
    inside = set(ops)
    inputs = elements.unique(t for op in ops for t in op.inputs if t.op not in inside)
    made = [t for op in ops for t in op.outputs]
    outputs = [t for t in made if not t.consumers() or any(user not in inside for user in t.consumers())]
    return inputs, outputs, [t for t in made if any(user in inside for user in t.consumers())]


def _walk(seeds, inclusive, within_ops, within_ops_fn, following):
    """Operations reached from `seeds`, nearest first."""
    allowed = None if within_ops is None else set(elements.make_list_of_op(within_ops, allow_graph=False))

    def may(op):
        return (allowed is None or op in allowed) and (within_ops_fn is None or within_ops_fn(op))

    found = dict.fromkeys(op for op in seeds if may(op))
    wave = list(found)
    while wave:
        wave = [op for op in elements.unique(n for op in wave for n in following(op)) if op not in found and may(op)]
        found.update(dict.fromkeys(wave))
    seeds = set(seeds)
    return [op for op in found if inclusive or op not in seeds]


def _seeds(given, of_tensors):
    """Seed operations: those given, and those next to the tensors given."""
    given = elements.flatten_tree(given)
    if given and isinstance(given[0], Tensor):
        return of_tensors(elements.make_list_of_t(given, allow_graph=False))
    return elements.make_list_of_op(given, allow_graph=False)


def get_forward_walk_ops(
    seed_ops, inclusive=True, within_ops=None, within_ops_fn=None, stop_at_ts=(), control_outputs=None
):
    """The operations that depend on seeds, seeds included. A tensor stands for the operations that take it."""
    _, control_outputs = check_cios(False, control_outputs)
    stops = set(elements.make_list_of_t(stop_at_ts))

    def following(op):
        users = [user for t in op.outputs if t not in stops for user in t.consumers()]
        return [*users, *control_outputs.get(op)] if control_outputs is not None else users

    return _walk(_seeds(seed_ops, elements.get_consuming_ops), inclusive, within_ops, within_ops_fn, following)


def get_backward_walk_ops(
    seed_ops, inclusive=True, within_ops=None, within_ops_fn=None, stop_at_ts=(), control_inputs=False
):
    """The operations that seeds depend on, seeds included. A tensor stands for the operation that makes it."""
    return backward_walk(seed_ops, inclusive, within_ops, within_ops_fn, stop_at_ts, control_inputs)


def backward_walk(seed_ops, inclusive, within_ops, within_ops_fn, stop_at_ts, control_inputs, passes=None):
    """`get_backward_walk_ops`; behind operations that don't pass, nothing is walked to."""
    stops = set(elements.make_list_of_t(stop_at_ts))

    def following(op):
        if passes is not None and not passes(op):
            return []
        makers = [t.op for t in op.inputs if t not in stops]
        return [*makers, *op.control_inputs] if control_inputs else makers

    return _walk(_seeds(seed_ops, elements.get_generating_ops), inclusive, within_ops, within_ops_fn, following)


_WALKS = optional(
    "forward_inclusive backward_inclusive within_ops within_ops_fn control_inputs control_outputs control_ios",
    forward_inclusive=True,
    backward_inclusive=True,
    control_inputs=False,
)


def _both_walks(forward_seed_ops, backward_seed_ops, given):
    inputs, outputs = check_cios(given["control_inputs"], given["control_outputs"], given["control_ios"])
    within = {name: given[name] for name in ("within_ops", "within_ops_fn")}
    forward = get_forward_walk_ops(forward_seed_ops, given["forward_inclusive"], **within, control_outputs=outputs)
    backward = get_backward_walk_ops(backward_seed_ops, given["backward_inclusive"], **within, control_inputs=inputs)
    return forward, backward


@takes(_WALKS)
def get_walks_intersection_ops(forward_seed_ops, backward_seed_ops, **given):
    """The operations between: those that depend on the first seeds and that the second depend on."""
    forward, backward = _both_walks(forward_seed_ops, backward_seed_ops, given)
    backward = set(backward)
    return [op for op in forward if op in backward]


@takes(_WALKS)
def get_walks_union_ops(forward_seed_ops, backward_seed_ops, **given):
    """The operations that depend on the first seeds, and those that the second depend on."""
    return elements.unique(*_both_walks(forward_seed_ops, backward_seed_ops, given))


def get_within_boundary_ops(
    ops, seed_ops, boundary_ops=(), inclusive=True, control_inputs=False, control_outputs=None, control_ios=None
):
    """The operations that are connected to seeds, in either direction, without passing `boundary_ops`."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    ops, boundary = elements.make_list_of_op(ops), set(elements.make_list_of_op(boundary_ops))
    within = set(ops)
    found = dict.fromkeys(elements.make_list_of_op(seed_ops))
    if boundary & set(found):
        raise ValueError(f"Boundary is intersecting the seeds. Wave: {boundary & set(found)}")
    wave = list(found)
    while wave:
        nearby = [op for op in get_ops_ios(wave, control_inputs, control_outputs) if op in within]
        if inclusive:
            found.update(dict.fromkeys(op for op in nearby if op in boundary))
        wave = [op for op in nearby if op not in found and op not in boundary]
        found.update(dict.fromkeys(wave))
    return [op for op in ops if op in found]


# --- by names and objects together ---------------------------------------------------------------


def _options(kwargs, names):
    for key in kwargs:
        if key not in names:
            raise ValueError(f"Wrong keywords argument: {key}.")
    graph = kwargs.get("graph")
    elements.check_type(graph, Graph, type(None))
    return graph, kwargs.get("positive_filter"), kwargs.get("restrict_ops_regex") or kwargs.get("restrict_ts_regex")


def _selected(args, graph, restrict, matching, as_list):
    found = []
    for arg in args:
        if not can_be_regex(arg):
            found += as_list(arg)
            continue
        if graph is None:
            raise ValueError(f"Use the keyword argument 'graph' to say where names should match {arg!r}")
        pattern = make_regex(arg)
        if not restrict or pattern.pattern.startswith(restrict):
            found += matching(graph, pattern)
    return elements.unique(found)


def select_ops(*args, **kwargs):
    """Operations given as such, in lists, as a graph, or by regular expressions of their names in `graph`.

    >>> tf.contrib.graph_editor.select_ops("^layer1/", graph=tf.get_default_graph())
    """
    graph, positive_filter, restrict = _options(kwargs, ("graph", "positive_filter", "restrict_ops_regex"))

    def listed(arg):
        given_one = isinstance(arg, (Operation, Tensor))
        return _one(arg, Operation) if given_one else elements.make_list_of_op(arg, ignore_ts=True)

    ops = _selected(args, graph, "(?#ops)" if restrict is True else "", filter_ops_from_regex, listed)
    return ops if positive_filter is None else [op for op in ops if positive_filter(op)]


def _one(item, kind):
    return [item] if isinstance(item, kind) else []


def select_ts(*args, **kwargs):
    """Tensors given as such, in lists, as a graph, or by regular expressions of their names in `graph`."""
    graph, positive_filter, restrict = _options(kwargs, ("graph", "positive_filter", "restrict_ts_regex"))

    def listed(arg):
        given_one = isinstance(arg, (Operation, Tensor))
        return _one(arg, Tensor) if given_one else elements.make_list_of_t(arg, ignore_ops=True)

    ts = _selected(args, graph, _TENSOR_MARK if restrict is True else "", filter_ts_from_regex, listed)
    return ts if positive_filter is None else [t for t in ts if positive_filter(t)]


def select_ops_and_ts(*args, **kwargs):
    """(operations, tensors): regular expressions are for operations, those that begin with "(?#ts)" for tensors."""
    ops = select_ops(
        *[a for a in args if not (can_be_regex(a) and make_regex(a).pattern.startswith(_TENSOR_MARK))], **kwargs
    )
    return ops, select_ts(*args, restrict_ts_regex=True, **kwargs)
