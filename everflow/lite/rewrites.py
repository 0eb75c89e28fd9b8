"""Rewrites of a net: idle steps go away, batch normalization and biases into weights, activations into ops before.

A rule is `rule(net, node)`, which looks at one operator and says whether it changed anything. The table at the end says
for which ops; the rules run until none has anything left to do.
"""

from __future__ import annotations

import numpy as np

from everflow.formats.tflite import ACTIVATIONS, PADDINGS
from everflow.lite.net import Net, Node

LAYERS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")
_WORTH_MERGING = 64  # bytes
_TAKE_ACTIVATIONS = (*LAYERS, "ADD", "SUB", "MUL", "DIV", "AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_NORMALIZATION")


def drop(net: Net, node: Node) -> bool:
    """Take away an operator that hands on its first input. An array that a caller sees keeps its name."""
    source, target = node.inputs[0], node.outputs[0]
    if target not in net.outputs:
        net.remove(node)
        net.replace_uses(target, source)
        return True
    if source in net.inputs or source in net.outputs or net.value(source) is not None or net.producer(source) is None:
        return False  # stays, as a copy
    known = net.arrays[source]
    net.remove(node)
    net.arrays.pop(target)
    net.rename(source, target)
    known.wish = None
    return True


def _drop_if_nothing(net, node):
    """Ops that do nothing for what they were given."""
    x, y = node.inputs[0], node.outputs[0]
    shape = net.shape(x)
    second = net.value(node.inputs[1]) if len(node.inputs) > 1 else None
    trivial = {
        "RESHAPE": lambda: shape is not None and shape == net.shape(y),
        "CAST": lambda: node.options["in_data_type"] == node.options["out_data_type"],
        "PAD": lambda: second is not None and not second.any(),
        "TILE": lambda: second is not None and (second == 1).all(),
        "TRANSPOSE": lambda: second is not None and (second == np.arange(second.size)).all(),
        "CONCATENATION": lambda: len(node.inputs) == 1,
        "SLICE": lambda: shape is not None and shape == net.shape(y),
    }[node.op]
    return trivial() and drop(net, node)


def _drop_neutral(net, node):
    """Adding 0, multiplying by 1."""
    neutral = 0 if node.op in ("ADD", "SUB") else 1
    if node.options["fused_activation_function"]:
        return False
    for place in (0, 1) if node.op in ("ADD", "MUL") else (1,):
        value = net.value(node.inputs[place])
        other = node.inputs[1 - place]
        same = net.shape(other) is not None and net.shape(other) == net.shape(node.output)
        if value is not None and net.value(other) is None and same and (value == neutral).all():
            node.inputs = [other, node.inputs[place]]
            net.changed()
            return drop(net, node)
    return False


def _constant_operand(net, node):
    """(the array, the float constant) of two operands, else None; the second is divided by or taken away."""
    for place in (1, 0) if node.op in ("ADD", "MUL") else (1,):
        value, other = net.value(node.inputs[place]), node.inputs[1 - place]
        if value is not None and net.value(other) is None and value.dtype == np.float32:
            return other, value
    return None


def _channelwise(value, channels) -> bool:
    return value.size == 1 or value.size == channels and value.shape[-1] == channels


def _is_plain(node, ops):
    """Whether there is an operator, one of these, without an activation."""
    return node is not None and node.op in ops and not node.options["fused_activation_function"]


def _fold_into_layer(net, node):
    """Multiplying or adding channel by channel after a layer is done by its weights and bias."""
    found = _constant_operand(net, node)
    layer = net.producer(found[0]) if found else None
    if not _is_plain(layer, LAYERS) or not net.used_once(found[0]):
        return False
    weights, bias = net.value(layer.inputs[1]), net.value(layer.inputs[2])
    value = found[1].astype(np.float32)
    if bias is None or not _channelwise(value, bias.size) or net.shape(node.output) != net.shape(layer.output):
        return False
    value = np.broadcast_to(value.reshape(-1), bias.shape)
    if node.op in ("MUL", "DIV"):
        if weights is None or net.arrays[layer.inputs[1]].range is not None:
            return False
        factor = value if node.op == "MUL" else 1 / value
        axis = [1, 1, 1, -1] if layer.op == "DEPTHWISE_CONV_2D" else [-1] + [1] * (weights.ndim - 1)
        layer.inputs[1] = _changed_constant(net, layer.inputs[1], weights * factor.reshape(axis))
        bias = bias * factor
    else:
        bias = bias + value if node.op == "ADD" else bias - value
    layer.inputs[2] = _changed_constant(net, layer.inputs[2], bias)
    net.changed()
    net.remove(node)
    _take_output(net, layer, node)
    return True


def _changed_constant(net, name, value):
    """A constant with another value, under its name where nobody else needs the old one."""
    array = net.arrays[name]
    value = value.astype(array.dtype)
    if len(net.consumers(name)) == 1 and name not in net.outputs:
        array.value = value
        return name
    made = net.constant(name, value)
    net.arrays[made].wish = None
    return made


def _take_output(net, node, later):
    """Let an operator make what a later one, which is gone, made."""
    net.arrays.pop(node.output, None)
    node.outputs = list(later.outputs)
    net.changed()


def _scale_before_layer(net, node):
    """Multiplying all of a layer's input by one number is done by its weights."""
    found = _constant_operand(net, node)
    if found is None or found[1].size != 1:
        return False
    if node.options["fused_activation_function"] or not net.used_once(node.output):
        return False
    layer = net.consumers(node.output)[0]
    if layer.op not in LAYERS or layer.inputs[0] != node.output or net.arrays[layer.inputs[1]].range is not None:
        return False
    weights, bias, value = net.value(layer.inputs[1]), net.value(layer.inputs[2]), float(found[1].reshape(()))
    if weights is None or bias is None or net.shape(found[0]) != net.shape(node.output):
        return False
    if node.op in ("MUL", "DIV"):
        layer.inputs[1] = _changed_constant(net, layer.inputs[1], weights * (value if node.op == "MUL" else 1 / value))
    else:
        if PADDINGS[layer.options.get("padding", 1)] != "VALID":
            return False  # the padding's zeros come after the addition
        is_depthwise = layer.op == "DEPTHWISE_CONV_2D"
        sums = weights.sum((0, 1, 2)) if is_depthwise else weights.reshape(weights.shape[0], -1).sum(1)
        layer.inputs[2] = _changed_constant(net, layer.inputs[2], bias + sums * (value if node.op == "ADD" else -value))
    layer.inputs[0] = found[0]
    net.remove(node)
    return True


def _fuse_activation(net, node):
    before = net.producer(node.inputs[0])
    if not _is_plain(before, _TAKE_ACTIVATIONS) or not net.used_once(node.inputs[0]):
        return False
    if net.arrays[before.output].dtype != np.float32:
        return False
    before.options["fused_activation_function"] = ACTIVATIONS.index(node.op)
    net.remove(node)
    _take_output(net, before, node)
    return True


def _reshape_before_layer(net, node):
    """A fully connected layer takes its input in any shape."""
    source = net.producer(node.inputs[0])
    if source is None or source.op != "RESHAPE":
        return False
    if not net.used_once(node.inputs[0]) or net.arrays[node.inputs[0]].range is not None:
        return False
    shape = net.shape(source.inputs[0])
    if shape is None or not shape or node.options["keep_num_dims"]:
        return False
    node.inputs[0] = source.inputs[0]
    net.remove(source)
    return True


def _chain(net, name, *ops):
    """The operators that made an array, last first, if they are of these types and only used for it."""
    found = []
    for i, op in enumerate(ops):
        node = net.producer(name)
        if node is None or node.op != op or i and not net.used_once(name):
            return None
        found.append(node)
        name = node.inputs[0]
    return found


def _replace(net, node, op, inputs, options=None):
    node.op, node.inputs, node.options = op, inputs, options
    net.changed()
    return True


def _identify_clamp(net, node):
    """max(min(x, 1), -1), in either order."""
    outer = _constant_operand_of(net, node)
    inner = net.producer(outer[0]) if outer else None
    if inner is None or {inner.op, node.op} != {"MAXIMUM", "MINIMUM"} or not net.used_once(outer[0]):
        return False
    nested = _constant_operand_of(net, inner)
    bounds = {node.op: outer[1], inner.op: nested[1]} if nested else {}
    if not nested or bounds["MINIMUM"] != 1.0 or bounds["MAXIMUM"] != -1.0:
        return False
    net.remove(inner)
    return _replace(net, node, "RELU_N1_TO_1", [nested[0]])


def _constant_operand_of(net, node):
    """(the array, the number) where one operand of two is one float."""
    for place in (0, 1):
        value = net.value(node.inputs[place])
        if value is not None and value.size == 1 and value.dtype == np.float32:
            return node.inputs[1 - place], float(value.reshape(()))
    return None


def _identify_normalization(net, node):
    """x * rsqrt(max(sum(x * x), tiny)) over the last axis."""
    for x, factor in (node.inputs, node.inputs[::-1]):
        types = "SUM", "SQUARE"
        chain = _chain(net, factor, "RSQRT", "MAXIMUM", *types) or _chain(net, factor, "RSQRT", *types)
        if not chain or chain[-1].inputs[0] != x or not net.used_once(factor):
            continue
        axes, shape = net.value(chain[-2].inputs[1]), net.shape(x)
        if axes is None or shape is None or not chain[-2].options["keep_dims"]:
            continue
        if [int(a) % len(shape) for a in np.ravel(axes)] != [len(shape) - 1]:
            continue
        for part in chain:
            net.remove(part)
        return _replace(net, node, "L2_NORMALIZATION", [x], {"fused_activation_function": 0})
    return False


def _identify_prelu(net, node):
    """relu(x) + slope * relu(-x), with the slope's sign turned."""
    for positive, negative in (node.inputs, node.inputs[::-1]):
        relu, scaled = net.producer(positive), net.producer(negative)
        if relu is None or relu.op != "RELU" or not _is_plain(scaled, ("MUL",)):
            continue
        for slope, other in (scaled.inputs, scaled.inputs[::-1]):
            chain = _chain(net, other, "RELU", "NEG")
            value = net.value(slope)
            if value is None or not chain or chain[-1].inputs[0] != relu.inputs[0]:
                continue
            if not net.used_once(negative) or not net.used_once(other):
                continue
            rank = len(net.shape(relu.inputs[0]) or ())
            if rank and value.ndim == rank and value.shape[0] == 1:
                value = value[0]
            made = net.constant(f"{node.output}/alpha", -value)
            for part in (scaled, *chain):
                net.remove(part)
            return _replace(net, node, "PRELU", [relu.inputs[0], made])
    return False


def _identify_hard_swish(net, node):
    """x * relu6(x + 3) / 6, with the division or multiplication by 1/6 anywhere in the product."""
    if node.options["fused_activation_function"]:
        return False
    for product, constant in (node.inputs, node.inputs[::-1]):
        value = net.value(constant)
        inner = net.producer(product)
        if value is None or value.size != 1 or inner is None or inner.op != "MUL" or not net.used_once(product):
            continue
        if not np.isclose(float(value.reshape(())), 6.0 if node.op == "DIV" else 1 / 6, rtol=1e-4):
            continue
        for x, gate in (inner.inputs, inner.inputs[::-1]):
            added = net.producer(gate)
            if added is None or added.op != "ADD" or not net.used_once(gate):
                continue
            if ACTIVATIONS[added.options["fused_activation_function"]] != "RELU6":
                continue
            three = _constant_operand_of(net, added)
            if three and three[0] == x and np.isclose(three[1], 3.0):
                net.remove(inner)
                net.remove(added)
                return _replace(net, node, "HARD_SWISH", [x])
    return False


RULES = {
    "IDENTITY": [drop],
    **dict.fromkeys(("RESHAPE", "CAST", "PAD", "TILE", "TRANSPOSE", "CONCATENATION", "SLICE"), [_drop_if_nothing]),
    "ADD": [_fold_into_layer, _drop_neutral, _scale_before_layer, _identify_prelu],
    "SUB": [_fold_into_layer, _drop_neutral, _scale_before_layer],
    "MUL": [_fold_into_layer, _drop_neutral, _scale_before_layer, _identify_normalization, _identify_hard_swish],
    "DIV": [_fold_into_layer, _drop_neutral, _scale_before_layer, _identify_hard_swish],
    **dict.fromkeys(("RELU", "RELU6", "RELU_N1_TO_1"), [_fuse_activation]),
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), [_identify_clamp]),
    "FULLY_CONNECTED": [_reshape_before_layer],
}


def rewrite(net: Net) -> None:
    """Apply all rules until none fires; then make copies of what goes straight to an output."""
    net.prune()
    again = True
    while again:
        again = False
        for node in list(net.nodes):
            if any(node is other for other in net.nodes):
                again |= any(rule(net, node) for rule in RULES.get(node.op, ()))
        net.prune()
    _copy_to_outputs(net)
    net.prune()
    net.settle_names()


def merge_constants(net: Net) -> None:
    """Let equal constants be one, where that saves something."""
    first: dict = {}
    for name, array in list(net.arrays.items()):
        if array.value is None or array.dtype.kind == "O" or array.value.nbytes < _WORTH_MERGING or name in net.outputs:
            continue
        scale = None if array.scale is None else (array.scale.tobytes(), array.zero.tobytes())
        key = array.dtype, array.shape, array.range, scale, array.value.tobytes()
        if first.setdefault(key, name) != name:
            net.replace_uses(name, first[key])
    net.prune()


def _copy_to_outputs(net):
    """An output that is an input, a constant or another output needs an operator that copies it."""
    for name in list(net.outputs):
        value = net.value(name)
        if value is not None:
            kept = net.constant(f"{name}_copy", value)
            net.array(name, value.dtype, value.shape)
            net.add("IDENTITY", [kept], [name])
    for node in net.nodes:
        if node.op == "IDENTITY":
            shape = np.array(net.shape(node.output) or (), np.int32)
            node.op, node.options = "RESHAPE", {"new_shape": shape}
            node.inputs = [node.inputs[0], net.constant(f"{node.output}_copy_shape", shape)]
    net.changed()
