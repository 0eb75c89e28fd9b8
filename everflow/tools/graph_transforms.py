"""The graph transform tool: named rewrites of a GraphDef, one after the other.

A transform is a function of (graph, inputs, outputs, parameters) in the table below; parameters are lists of texts by
name.
"""

from __future__ import annotations

import collections
import re

import numpy as np

from everflow.framework import dtypes, op_defs
from everflow.framework.errors import InvalidArgumentError, OpError
from everflow.framework.graph import Graph
from everflow.framework.graph_surgery import extract_sub_graph
from everflow.framework.importer import import_graph_def
from everflow.framework.op_def_protos import to_proto
from everflow.framework.walking import inputs_first
from everflow.runtime.session import Session
from everflow.tools.graph_files import (
    attribute,
    constant_node,
    constant_value,
    copy_graph,
    copy_node,
    node_name_from_input,
    uses_of_nodes,
    with_nodes,
)
from everflow.tools.optimize_for_inference import fold_batch_norms

TRANSFORMS = {}


def transform(name):
    """Register `function(graph_def, inputs, outputs, parameters)` as the transform of this name."""

    def register(function):
        TRANSFORMS[name] = function
        return function

    return register


def TransformGraph(input_graph_def, inputs, outputs, transforms):
    """A GraphDef after some transforms: names, with parameters in parentheses.

    >>> TransformGraph(frozen, ["x"], ["y"], ["strip_unused_nodes", "fold_constants(ignore_errors=true)", "fold_batch_norms"])
    """
    graph = copy_graph(input_graph_def)
    for text in transforms:
        for name, parameters in parse_transforms(text):
            if name not in TRANSFORMS:
                raise InvalidArgumentError(
                    None, None, f"Transform '{name}' not recognized; there are {', '.join(sorted(TRANSFORMS))}."
                )
            names = {node.name for node in graph.node}
            for output in outputs:
                if node_name_from_input(output) not in names:
                    raise InvalidArgumentError(None, None, f"The output '{output}' is not in the graph")
            graph = TRANSFORMS[name](graph, list(inputs), list(outputs), parameters)
    return graph


_WORD = re.compile(r"\s*([A-Za-z_][\w.]*)")
_VALUE = re.compile(r'\s*(?:"([^"]*)"|([^\s,()"]+))')


def parse_transforms(text):
    """[(name, {parameter: [value, …]})] of a text such as 'a b(x=1, x=2, y="2,3")'."""
    found, at = [], 0

    def fail(what):
        raise InvalidArgumentError(None, None, f"{what} at character {at} of {text!r}")

    while text[at:].strip():
        word = _WORD.match(text, at)
        if not word:
            fail("The name of a transform is wanted")
        at = word.end()
        parameters = collections.defaultdict(list)
        if text[at : at + 1] == "(":
            at += 1
            while not (end := re.compile(r"\s*\)").match(text, at)):
                key = re.compile(r"\s*,?\s*([A-Za-z_]\w*)\s*=").match(text, at)
                value = key and _VALUE.match(text, key.end())
                if not value:
                    fail("A parameter, name=value, is wanted")
                parameters[key.group(1)].append(value.group(1) if value.group(1) is not None else value.group(2))
                at = value.end()
            at = end.end()
        found.append((word.group(1), parameters))
    return found


def _one(parameters, name, default=None):
    values = parameters.get(name, [])
    if len(values) > 1:
        raise InvalidArgumentError(None, None, f"Expected a single parameter for {name}, got {len(values)}")
    return values[0] if values else default


def _required(parameters, name, transform_name):
    if name not in parameters:
        raise InvalidArgumentError(None, None, f"{transform_name} expects the parameter {name}")
    return _one(parameters, name)


def _dtype(text):
    return int(dtypes.as_dtype("float32" if text == "float" else text))


def _redirected(graph, instead):
    """A graph in which inputs that name certain nodes name other tensors."""

    def edge(text):
        control = text.startswith("^")
        name = node_name_from_input(text)
        if name not in instead:
            return text
        while name in instead:
            target = instead[name]
            name = node_name_from_input(target)
        return "^" + name if control else target

    nodes = []
    for node in graph.node:
        made = copy_node(node)
        del made.input[:]
        made.input.extend(edge(text) for text in node.input)
        nodes.append(made)
    return with_nodes(graph, nodes)


@transform("strip_unused_nodes")
def strip_unused_nodes(graph, inputs, outputs, parameters):
    """Keep what the outputs need; inputs become placeholders, of a type and shape given for all or by name."""
    kinds = dict(zip(parameters.get("name", []), parameters.get("type_for_name", [])))
    shapes = dict(zip(parameters.get("name", []), parameters.get("shape_for_name", [])))
    nodes = []
    for node in graph.node:
        if node.name in inputs and node.op != "Placeholder":
            kind = kinds.get(node.name, _one(parameters, "type"))
            shape = shapes.get(node.name, _one(parameters, "shape"))
            made = copy_node(node)
            made.op = "Placeholder"
            del made.input[:]
            made.attr.clear()
            source = next(
                (node.attr[a].type for a in ("dtype", "T", "DstT", "out_type") if a in node.attr), int(dtypes.float32)
            )
            made.attr["dtype"].type = _dtype(kind) if kind else source
            made.attr["shape"].shape.unknown_rank = not shape
            if shape:
                for size in shape.split(","):
                    made.attr["shape"].shape.dim.add(size=int(size))
            node = made
        nodes.append(copy_node(node))
    return extract_sub_graph(with_nodes(graph, nodes), [node_name_from_input(o) for o in outputs])


@transform("remove_nodes")
def remove_nodes(graph, inputs, outputs, parameters):
    """Drop nodes of some op types, whose users take their first input instead."""
    wanted, limit = set(parameters.get("op", [])), int(_one(parameters, "max_inputs", 1))
    keep = set(inputs) | {node_name_from_input(o) for o in outputs}
    controls = {node_name_from_input(edge) for node in graph.node for edge in node.input if edge.startswith("^")}
    instead = {}
    for node in graph.node:
        plain = [edge for edge in node.input if not edge.startswith("^")]
        replaceable = node.op in wanted and node.name not in keep | controls
        if replaceable and 1 <= len(plain) <= limit and len(plain) == len(node.input):
            instead[node.name] = plain[0]
    return _redirected(with_nodes(graph, [copy_node(n) for n in graph.node if n.name not in instead]), instead)


@transform("fold_constants")
def fold_constants(graph, inputs, outputs, parameters):
    """Compute what depends on constants only, and drop what the outputs don't need."""
    stop = set(inputs) | set(parameters.get("exclude_op", []))
    used = extract_sub_graph(graph, [node_name_from_input(o) for o in outputs])
    # Inputs have to stay, whether or not anybody uses them.
    needed = {n.name for n in used.node} | (set(inputs) & {n.name for n in graph.node})
    graph = with_nodes(graph, [copy_node(n) for n in graph.node if n.name in needed])
    computable = _computable(graph, inputs, stop)
    # Only what somebody who stays will read is computed.
    staying = [n for n in graph.node if n.name not in computable and not _is_constant(n, inputs)]
    read = {edge for node in staying for edge in node.input if not edge.startswith("^")}.union(outputs)
    tensors = [e if ":" in e else e + ":0" for e in sorted(read) if node_name_from_input(e) in computable]
    values = _computed(graph, tensors, _is_true(parameters, "ignore_errors", "false"))
    return _with_constants(graph, values, inputs, outputs, _is_true(parameters, "clear_output_shapes", "true"))


def _is_true(parameters, name, default):
    return _one(parameters, name, default).lower() in ("true", "1")


def _is_constant(node, inputs):
    return node.op == "Const" and node.name not in inputs


# What these give says where a run is, not only what the value is.
_CONTROL_FLOW = frozenset(
    f"{ref}{kind}" for ref in ("", "Ref") for kind in ("Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond")
)


def _computable(graph, inputs, stop):
    """The names of nodes that depend on constants only and are none themselves."""
    by_name = {node.name: node for node in graph.node}
    known: dict[str, bool] = {}

    def inputs_of(name):
        return [] if name in known else [node_name_from_input(e) for e in by_name[name].input]

    for start in by_name:
        for name in inputs_first(start, inputs_of) if start not in known else ():
            node, definition = by_name[name], op_defs.find(by_name[name].op)
            pure = definition is not None and not definition.is_stateful and not {name, node.op} & stop
            pure = pure and node.op not in _CONTROL_FLOW
            # In a loop, an input may come later than its user; it is not constant then.
            known[name] = _is_constant(node, inputs) or (
                pure
                and bool(node.input)
                and not any(e.startswith("^") for e in node.input)
                and all(known.get(node_name_from_input(e), False) for e in node.input)
            )
    return {name for name, is_known in known.items() if is_known and by_name[name].op != "Const"}


def _with_constants(graph, values, inputs, outputs, clear_shapes):
    """A graph with values of tensors in the place of what computed them."""
    made, instead = [], {}
    for node in graph.node:
        mine = {t: v for t, v in values.items() if node_name_from_input(t) == node.name}
        if not mine:
            made.append(copy_node(node))
        for tensor, value in mine.items():
            name = node.name if tensor.endswith(":0") else tensor.replace(":", "__cf__")
            instead[tensor] = name
            dtype = dtypes.as_dtype(value.dtype) if value.dtype != object else dtypes.string
            made.append(constant_node(name, value, int(dtype)))
    for node in made:
        for i, text in enumerate(node.input):
            if text in instead:
                node.input[i] = instead[text]
        if clear_shapes:
            node.attr.pop("_output_shapes", None)
    names = {n.name for n in made}
    wanted = dict.fromkeys([*(node_name_from_input(o) for o in outputs), *inputs])
    return extract_sub_graph(with_nodes(graph, made), [name for name in wanted if name in names])


def _computed(graph, tensors, ignore_errors):
    if not tensors:
        return {}
    with Graph().as_default() as drawn, Session(graph=drawn) as sess:
        import_graph_def(graph, name="")
        try:
            return {t: np.asarray(v) for t, v in zip(tensors, sess.run(tensors))}
        except OpError:
            if not ignore_errors:
                raise
            return {}


@transform("fold_batch_norms")
def fold_scaled_convolutions(graph, inputs, outputs, parameters):
    """Put a multiplication by constants after a convolution or matrix product into its constant weights."""
    by_name = {node.name: node for node in graph.node}
    uses = uses_of_nodes(graph)
    uses.update(node_name_from_input(o) for o in outputs)
    replaced, dropped = {}, set()
    for node in graph.node:
        if node.op != "Mul" or any(e.startswith("^") for e in node.input):
            continue
        product, factors = (by_name[node_name_from_input(e)] for e in node.input)
        if (
            product.op not in ("Conv2D", "MatMul", "DepthwiseConv2dNative")
            or factors.op != "Const"
            or uses[product.name] != 1
        ):
            continue
        weights = by_name[node_name_from_input(product.input[1])]
        if (
            weights.op != "Const"
            or attribute(product, "transpose_b").b
            or attribute(product, "data_format").s not in (b"", b"NHWC")
        ):
            continue
        kernel, scale = constant_value(weights), constant_value(factors)
        channels = kernel.shape[-1] if product.op != "DepthwiseConv2dNative" else kernel.shape[2] * kernel.shape[3]
        if scale.size != channels or scale.ndim != 1:
            continue
        scale = scale.reshape(kernel.shape[2:]) if product.op == "DepthwiseConv2dNative" else scale
        scaled_name = f"{weights.name}_{node.name}_scaled" if uses[weights.name] > 1 else weights.name
        scaled = constant_node(scaled_name, (kernel * scale).astype(kernel.dtype), weights.attr["dtype"].type)
        made = copy_node(product)
        made.name = node.name
        made.input[1] = scaled.name
        replaced[node.name] = [scaled, made]
        dropped.add(product.name)
        for held in (weights, factors):
            if uses[held.name] == 1:
                dropped.add(held.name)
    nodes = []
    for node in graph.node:
        if node.name in replaced:
            nodes += replaced[node.name]
        elif node.name not in dropped:
            nodes.append(copy_node(node))
    return with_nodes(graph, nodes)


@transform("fold_old_batch_norms")
def fold_old_batch_norms(graph, inputs, outputs, parameters):
    """Put batch normalization into the weights of the convolution before it."""
    return fold_batch_norms(graph)


@transform("merge_duplicate_nodes")
def merge_duplicate_nodes(graph, inputs, outputs, parameters):
    """Make one node of several that are alike in all but their names, again until none are left."""
    keep = set(inputs) | {node_name_from_input(o) for o in outputs}
    while True:
        first, instead = {}, {}
        for node in graph.node:
            definition = op_defs.find(node.op)
            if node.op == "Placeholder" or definition is None or definition.is_stateful:
                continue
            bare = copy_node(node)
            bare.name = ""
            key = bare.SerializeToString(deterministic=True)
            if key in first and node.name not in keep:
                instead[node.name] = first[key]
            else:
                first.setdefault(key, node.name)
        if not instead:
            return graph
        kept = with_nodes(graph, [copy_node(n) for n in graph.node if n.name not in instead])
        for node in kept.node:
            for i, text in enumerate(node.input):
                name = node_name_from_input(text)
                if name in instead:
                    node.input[i] = text.replace(name, instead[name], 1)
        graph = kept


@transform("sort_by_execution_order")
def sort_by_execution_order(graph, inputs, outputs, parameters):
    """Put every node after those it needs."""
    by_name = {node.name: node for node in graph.node}
    done, order = set(), []
    for root in graph.node:
        waiting = [(root, False)]
        while waiting:
            node, ready = waiting.pop()
            if ready:
                order.append(copy_node(node))
            elif node.name not in done:
                done.add(node.name)
                waiting.append((node, True))
                if node.op != "NextIteration":
                    waiting += [(by_name[node_name_from_input(e)], False) for e in reversed(node.input)]
    return with_nodes(graph, order)


@transform("obfuscate_names")
def obfuscate_names(graph, inputs, outputs, parameters):
    """Give short names to all nodes but inputs and outputs."""
    keep = set(inputs) | {node_name_from_input(o) for o in outputs}
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    names, number = {}, 0
    for node in graph.node:
        if node.name in keep:
            continue
        while True:
            digits, rest = letters[number % 26], number // 26
            while rest:
                digits, rest = digits + letters[rest % 36], rest // 36
            number += 1
            if digits not in keep:
                break
        names[node.name] = digits
    return _renamed(graph, names)


def _renamed(graph, names):
    nodes = []
    for node in graph.node:
        made = copy_node(node)
        made.name = names.get(node.name, node.name)
        for i, text in enumerate(node.input):
            name = node_name_from_input(text)
            made.input[i] = text.replace(name, names.get(name, name), 1)
        nodes.append(made)
    return with_nodes(graph, nodes)


@transform("rename_node")
def rename_node(graph, inputs, outputs, parameters):
    """Give one node another name."""
    old, new = (_required(parameters, key, "rename_node") for key in ("old_node_name", "new_node_name"))
    if any(node.name == new for node in graph.node):
        raise InvalidArgumentError(None, None, f"A node named {new} is there already")
    return _renamed(graph, {old: new})


@transform("add_default_attributes")
def add_default_attributes(graph, inputs, outputs, parameters):
    """Spell out attributes that have their defaults."""
    for node in graph.node:
        definition = op_defs.find(node.op)
        for attr in to_proto(definition).attr if definition is not None else ():
            if attr.HasField("default_value") and attr.name not in node.attr:
                node.attr[attr.name].CopyFrom(attr.default_value)
    return graph


@transform("set_device")
def set_device(graph, inputs, outputs, parameters):
    """Put all nodes, or those without one, on a device."""
    only_unset = _one(parameters, "if_default", "false").lower() == "true"
    for node in graph.node:
        if not only_unset or not node.device:
            node.device = _one(parameters, "device", "")
    return graph


@transform("remove_device")
def remove_device(graph, inputs, outputs, parameters):
    """Take the devices from all nodes."""
    for node in graph.node:
        node.device = ""
    return graph


@transform("remove_attribute")
def remove_attribute(graph, inputs, outputs, parameters):
    """Take an attribute from nodes of an op type, or from all."""
    name, op = _required(parameters, "attribute_name", "remove_attribute"), _one(parameters, "op_name", "*")
    for node in graph.node:
        if op in ("*", node.op):
            node.attr.pop(name, None)
    return graph


@transform("rename_attribute")
def rename_attribute(graph, inputs, outputs, parameters):
    """Give an attribute another name."""
    old, new = (_required(parameters, key, "rename_attribute") for key in ("old_attribute_name", "new_attribute_name"))
    op = _one(parameters, "op_name", "*")
    for node in graph.node:
        if op in ("*", node.op) and old in node.attr:
            node.attr[new].CopyFrom(node.attr[old])
            del node.attr[old]
    return graph


@transform("rename_op")
def rename_op(graph, inputs, outputs, parameters):
    """Give all nodes of an op type another one."""
    old, new = (_required(parameters, key, "rename_op") for key in ("old_op_name", "new_op_name"))
    for node in graph.node:
        if node.op == old:
            node.op = new
    return graph


@transform("remove_control_dependencies")
def remove_control_dependencies(graph, inputs, outputs, parameters):
    """Drop all control inputs."""
    for node in graph.node:
        data = [edge for edge in node.input if not edge.startswith("^")]
        del node.input[:]
        node.input.extend(data)
    return graph


@transform("round_weights")
def round_weights(graph, inputs, outputs, parameters):
    """Round large constants to some steps between their least and greatest value: the graph compresses better."""
    steps = int(_one(parameters, "num_steps", 256))
    nodes = []
    for node in graph.node:
        is_float = node.op == "Const" and attribute(node, "dtype").type == int(dtypes.float32)
        value = constant_value(node) if is_float else None
        if value is None or value.size < 16:
            nodes.append(copy_node(node))
            continue
        low, high = min(float(value.min()), 0.0), max(float(value.max()), 0.0)
        step = (high - low) / steps or 1.0
        rounded = np.floor((value - low) / step) * step + low + (step / 2 if steps > 1 else 0)
        nodes.append(constant_node(node.name, rounded.astype(np.float32), int(dtypes.float32)))
    return with_nodes(graph, nodes)


@transform("flatten_atrous_conv")
def flatten_atrous_conv(graph, inputs, outputs, parameters):
    """Turn SpaceToBatchND, convolution, BatchToSpaceND into one convolution with zeros between its weights."""
    by_name = {node.name: node for node in graph.node}
    uses = uses_of_nodes(graph)
    replaced, dropped = {}, set()
    for node in graph.node:
        if node.op != "BatchToSpaceND":
            continue
        convolution = by_name[node_name_from_input(node.input[0])]
        if convolution.op not in ("Conv2D", "DepthwiseConv2dNative") or uses[convolution.name] != 1:
            continue
        spread = by_name[node_name_from_input(convolution.input[0])]
        weights = by_name[node_name_from_input(convolution.input[1])]
        if spread.op != "SpaceToBatchND" or uses[spread.name] != 1 or weights.op != "Const":
            continue
        rate, kernel = constant_value(by_name[node_name_from_input(spread.input[1])]), constant_value(weights)
        height, width = (kernel.shape[i] + (kernel.shape[i] - 1) * (int(rate[i]) - 1) for i in (0, 1))
        wide = np.zeros((height, width, *kernel.shape[2:]), kernel.dtype)
        wide[:: int(rate[0]), :: int(rate[1])] = kernel
        made = copy_node(convolution)
        made.name = node.name
        made.input[0], made.input[1] = spread.input[0], f"{weights.name}_flattened"
        padded = constant_value(by_name[node_name_from_input(spread.input[2])]).any()
        made.attr["padding"].s = b"SAME" if padded else b"VALID"
        replaced[node.name] = [constant_node(f"{weights.name}_flattened", wide, weights.attr["dtype"].type), made]
        dropped.update((convolution.name, spread.name))
    nodes = []
    for node in graph.node:
        if node.name not in dropped:
            nodes += replaced.get(node.name, [copy_node(node)])
    return with_nodes(graph, nodes)
