"""Smaller models after training: weights as 8-bit integers or half floats, or everything as 8-bit integers."""

from __future__ import annotations

import numpy as np

from everflow.lite import writing
from everflow.lite.interpreter import Interpreter
from everflow.lite.net import Net, Node
from everflow.lite.quantization import KEEP_RANGES, parameters, quantize_bias
from everflow.lite.rewrites import LAYERS

_LEAST_ELEMENTS = 1024  # smaller constants are not worth it
# Ops that take 8-bit weights with float inputs, and at which place.
_HYBRID = {"CONV_2D": (1,), "FULLY_CONNECTED": (1,), "EMBEDDING_LOOKUP": (1,)}
# Ops that TensorFlow Lite has on int8 as well. The kernels of others that take bytes are not there, or not right.
_INTEGER = frozenset(
    "ADD ARG_MAX AVERAGE_POOL_2D BATCH_TO_SPACE_ND CONCATENATION CONV_2D DEPTHWISE_CONV_2D EQUAL FULLY_CONNECTED GATHER GREATER GREATER_EQUAL "
    "L2_NORMALIZATION LESS LESS_EQUAL LOGISTIC LOG_SOFTMAX MAX_POOL_2D MAXIMUM MEAN MINIMUM MUL NOT_EQUAL PAD RESHAPE RESIZE_BILINEAR SHAPE "
    "SLICE SOFTMAX SPACE_TO_BATCH_ND SPACE_TO_DEPTH SQUEEZE SUB SUM TANH TOPK_V2 TRANSPOSE".split()
)
# Ops with one scale and zero point for what they give, whatever it is.
_FIXED = {
    "SOFTMAX": (1 / 256, -128),
    "LOGISTIC": (1 / 256, -128),
    "TANH": (1 / 128, 0),
    "L2_NORMALIZATION": (1 / 128, 0),
    "LOG_SOFTMAX": (16 / 256, 127),
}
# The axis of weights along which each channel has a scale of its own.
_CHANNELS = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3}


def _symmetric(array, axis=None) -> None:
    """Make a constant int8 with zero point 0, with a scale for each channel of an axis where one is given."""
    others = None if axis is None else tuple(i for i in range(array.value.ndim) if i != axis)
    largest = np.atleast_1d(np.abs(array.value).max(axis=others, initial=0))
    scale = np.where(largest > 0, largest / np.float32(127), 1).astype(np.float32)
    wide = scale if axis is None else scale.reshape([-1 if i == axis else 1 for i in range(array.value.ndim)])
    steps = array.value / wide
    array.value = np.clip(np.trunc(steps + np.copysign(0.5, steps)), -127, 127).astype(np.int8)
    array.dtype, array.scale, array.axis = np.dtype(np.int8), scale, axis or 0
    array.zero = np.zeros(scale.size, np.int64)


def _large_constants(net, least):
    weights = {name: a for name, a in net.arrays.items() if a.value is not None and a.dtype == np.float32}
    return [name for name, a in weights.items() if a.value.size >= least]


def quantize_weights(net: Net) -> None:
    """Weights as int8. Layers that can take them do; others get floats through DEQUANTIZE."""
    for name in _large_constants(net, _LEAST_ELEMENTS):
        takers = net.consumers(name)
        if any(node.op in LAYERS and node.inputs.index(name) == 2 for node in takers):
            continue
        _symmetric(net.arrays[name])
        if not all(node.op in _HYBRID and node.inputs.index(name) in _HYBRID[node.op] for node in takers):
            _dequantize(net, name, [node for node in takers if node.op not in _HYBRID])


def halve(net: Net) -> None:
    """Float constants as float16, from which the model makes floats when it runs."""
    for name in _large_constants(net, 1):
        array = net.arrays[name]
        takers = net.consumers(name)
        array.value, array.dtype = array.value.astype(np.float16), np.dtype(np.float16)
        _dequantize(net, name, takers)


def _dequantize(net, name, takers) -> None:
    """Let operators take the floats that a constant stands for."""
    made = net.array(net.free_name(f"{name}_dequantize"), np.float32, net.shape(name))
    for node in takers:
        node.inputs = [made if n == name else n for n in node.inputs]
    first = min(i for i, node in enumerate(net.nodes) if made in node.inputs)
    net.nodes.insert(first, Node("DEQUANTIZE", [name], [made]))
    net.changed()


def observe(net: Net, samples) -> dict:
    """The (min, max) of every float array over runs of a model with typical inputs."""
    interpreter = Interpreter(model_content=writing.to_bytes(net))
    interpreter.allocate_tensors()
    inputs = interpreter.get_input_details()
    seen: dict = {}
    for sample in samples:
        for details, value in zip(inputs, sample, strict=True):
            interpreter.set_tensor(details["index"], np.asarray(value, details["dtype"]))
        interpreter.invoke()
        for details in interpreter.get_tensor_details():
            if details["dtype"] is np.float32:
                value = interpreter.get_tensor(details["index"])
                low, high = seen.get(details["name"], (np.inf, -np.inf))
                seen[details["name"]] = min(low, float(value.min())), max(high, float(value.max()))
    return seen


def quantize_all(net: Net, samples, allow_float: bool, input_type, output_type) -> None:
    """Everything as int8, by the ranges seen on samples; ops without it raise, unless `allow_float`."""
    seen = observe(net, samples)
    integer = _integer_nodes(net, allow_float)
    for number, node in enumerate(net.nodes):
        for place, name in enumerate(node.outputs):
            if id(node) in integer and net.arrays[name].dtype == np.float32 and name not in seen:
                raise RuntimeError(
                    f"Unable to find min/max value for output {place} in {node.op} in subgraph 0, node: {number}"
                )
    for node in net.nodes:
        if id(node) in integer:
            _quantize_node(net, node, seen)
    _convert_borders(net, integer)
    _requantize_parts(net)
    _convert_ends(net, input_type, output_type)
    net.prune()


def _floats(net, names):
    return [n for n in names if n is not None and net.arrays[n].dtype == np.float32]


def _integer_nodes(net, allow_float) -> set:
    found = set()
    for node in net.nodes:
        if node.op in _INTEGER and all(net.arrays[n].value is not None for n in _weights_of(node)):
            found.add(id(node))
        elif not allow_float and _floats(net, node.inputs):
            raise RuntimeError(f"Quantization not yet supported for op: {node.op}")
    return found


def _weights_of(node):
    return [n for n in node.inputs[1:3] if n is not None] if node.op in LAYERS else []


def _to_int8(array, range_) -> None:
    scale, zero = parameters(*range_, np.int8)
    array.dtype, array.range = np.dtype(np.int8), range_
    array.scale, array.zero = np.array([scale]), np.array([zero], np.int64)


def _quantize_node(net, node, seen) -> None:
    """Make the arrays around an operator int8. Those before it in the net already are."""
    if node.op in LAYERS and net.arrays[node.inputs[1]].dtype == np.float32:
        _symmetric(net.arrays[node.inputs[1]], _CHANNELS.get(node.op))
    for name in _floats(net, node.inputs[:1] if node.op in LAYERS else node.inputs):
        array = net.arrays[name]
        if array.value is not None:
            _symmetric(array)
        else:
            _to_int8(array, seen[name])
    for name in _floats(net, node.outputs):
        array = net.arrays[name]
        if node.op in _FIXED:
            scale, zero = _FIXED[node.op]
            array.dtype, array.scale, array.zero = np.dtype(np.int8), np.array([scale]), np.array([zero], np.int64)
        elif node.op in KEEP_RANGES:
            source = net.arrays[node.inputs[0]]
            array.dtype, array.scale, array.zero, array.range = source.dtype, source.scale, source.zero, source.range
        else:
            _to_int8(array, seen[name])
    if node.op in LAYERS:
        quantize_bias(net, node)


def _convert_borders(net, integer) -> None:
    """Between operators on integers and those on floats, values are converted."""
    for node in list(net.nodes):
        if id(node) in integer or node.op in ("QUANTIZE", "DEQUANTIZE"):
            continue
        for name in dict.fromkeys(n for n in node.inputs if n is not None and net.arrays[n].scale is not None):
            _insert(net, "DEQUANTIZE", name, [node], Like(np.float32), "_dequantized")
        for name in (n for n in node.outputs if net.arrays[n].scale is not None):
            made = net.array(net.free_name(f"{name}_float"), np.float32, net.shape(name))
            node.outputs = [made if n == name else n for n in node.outputs]
            net.nodes.insert(_position(net, node) + 1, Node("QUANTIZE", [made], [name]))
            net.changed()


class Like:
    """The type and the quantization that a converted array has."""

    def __init__(self, dtype, scale=None, zero=None):
        self.dtype, self.scale, self.zero = np.dtype(dtype), scale, zero


def _position(net, node) -> int:
    return next(i for i, other in enumerate(net.nodes) if other is node)


def _insert(net, op, name, takers, like, suffix) -> str:
    """Convert an array before operators that take it."""
    made = net.array(net.free_name(name + suffix), like.dtype, net.shape(name))
    net.arrays[made].scale, net.arrays[made].zero = like.scale, like.zero
    for node in takers:
        node.inputs = [made if n == name else n for n in node.inputs]
    net.nodes.insert(min(_position(net, node) for node in takers), Node(op, [name], [made]))
    net.changed()
    return made


def _requantize_parts(net) -> None:
    """The parts that are put together, or compared, need the scale of the whole."""
    for node in list(net.nodes):
        if node.op not in ("CONCATENATION", "PACK", "MAXIMUM", "MINIMUM") or net.arrays[node.output].scale is None:
            continue
        whole = net.arrays[node.output]
        for name in dict.fromkeys(node.inputs):
            part = net.arrays[name]
            if part.scale is not None and (part.scale[0] != whole.scale[0] or part.zero[0] != whole.zero[0]):
                _insert(net, "QUANTIZE", name, [node], Like(np.int8, whole.scale, whole.zero), "_requantized")


def _convert_ends(net, input_type, output_type) -> None:
    """Inputs and outputs in the types that callers want: floats, bytes or the int8 inside."""
    for name, inside in _moved_inside(net, net.inputs, input_type):
        net.inputs = [name if n in (inside, name) else n for n in net.inputs]
        net.nodes.insert(0, Node("QUANTIZE", [name], [inside]))
    for name, inside in _moved_inside(net, net.outputs, output_type):
        net.outputs = [name if n == inside else n for n in net.outputs]
        net.nodes.append(Node("DEQUANTIZE" if np.dtype(output_type) == np.float32 else "QUANTIZE", [inside], [name]))
    net.changed()


def _moved_inside(net, ends, dtype):
    """(name, name of the array inside) of each quantized end, whose name is that of a new array of the wanted type."""
    for name in list(ends):
        array, inside = net.arrays[name], f"{name}_int8"
        if array.scale is None or np.dtype(dtype) == np.int8:
            continue
        net.rename(name, inside)
        net.array(name, dtype, array.shape)
        if np.dtype(dtype) == np.uint8:
            net.arrays[name].scale, net.arrays[name].zero = array.scale, array.zero + 128
        yield name, inside
