"""A net as a .tflite file: arrays sorted by name, as TensorFlow's converter numbers them."""

from __future__ import annotations

import numpy as np

from everflow.formats import tflite
from everflow.lite.lowering import ConverterError
from everflow.lite.net import Net, Node


def _version(net: Net, node: Node) -> int:
    """The version of an op that a runtime must have to run this use of it."""
    types = {net.arrays[name].dtype for name in (*node.inputs, *node.outputs) if name is not None}
    first = net.arrays[node.inputs[0]] if node.inputs and node.inputs[0] else None
    hybrid = first is not None and first.dtype == np.float32 and np.dtype("i1") in types
    if hybrid:
        return {"FULLY_CONNECTED": 3, "CONV_2D": 2, "EMBEDDING_LOOKUP": 1}.get(node.op, 2)
    if np.dtype("i1") in types:
        return {"CONV_2D": 3, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 4, "QUANTIZE": 1, "MEAN": 2}.get(node.op, 2)
    if node.op == "DEQUANTIZE" and np.dtype("f2") in types:
        return 3
    if node.op == "FLOOR_DIV" and np.dtype("f4") in types:
        return 2
    return 1


def to_bytes(net: Net) -> bytes:
    """The file of a net."""
    new = tflite.SCHEMA.new
    names = sorted(net.arrays)
    index = {name: i for i, name in enumerate(names)}
    buffers, tensors = [new("Buffer")], []
    for name in names:
        array = net.arrays[name]
        buffers.append(new("Buffer", data=_data(array)))
        try:
            kind = tflite.type_code(array.dtype)
        except ValueError as e:
            raise ConverterError(f"Array {name!r}: {e}") from e
        tensor = new("Tensor", type=kind, buffer=len(buffers) - 1, name=name, is_variable=array.is_variable)
        tensor.shape, tensor.quantization = np.array(array.shape or (), np.int32), _quantization(array)
        tensors.append(tensor)
    codes: dict = {}
    operators = [_operator(net, node, codes, index) for node in net.nodes]
    ends = {"inputs": [index[n] for n in net.inputs], "outputs": [index[n] for n in net.outputs]}
    graph = new("SubGraph", tensors=tensors, operators=operators, **ends)
    model = new("Model", version=tflite.VERSION, description="TOCO Converted.", subgraphs=[graph], buffers=buffers)
    model.operator_codes = list(codes.values())
    return tflite.write_model(model)


def _operator(net, node, codes, index):
    new = tflite.SCHEMA.new
    version = 1 if node.is_custom else _version(net, node)
    key = node.op, version, node.is_custom
    if key not in codes:
        code = tflite.CODES["CUSTOM" if node.is_custom else node.op]
        custom_code = node.op if node.is_custom else None
        codes[key] = new("OperatorCode", builtin_code=code, custom_code=custom_code, version=version)
    made = new("Operator", opcode_index=list(codes).index(key), outputs=[index[n] for n in node.outputs])
    made.inputs = [-1 if n is None else index[n] for n in node.inputs]
    if node.options is not None:
        made.builtin_options = new(tflite.options_table(node.op), **node.options)
    if node.custom is not None:
        made.custom_options = np.frombuffer(node.custom, np.uint8)
    has_state = [n is not None and net.arrays[n].is_variable for n in node.inputs]
    made.mutating_variable_inputs = has_state if any(has_state) else []
    return made


def _data(array):
    if array.value is None:
        return None
    if array.dtype == object:
        return np.frombuffer(tflite.pack_strings(array.value), np.uint8)
    return np.frombuffer(np.ascontiguousarray(array.value, array.dtype).tobytes(), np.uint8)


def _quantization(array):
    made = tflite.SCHEMA.new("QuantizationParameters", quantized_dimension=array.axis)
    if array.range is not None:
        made.min, made.max = [array.range[0]], [array.range[1]]
    if array.scale is not None:
        made.scale, made.zero_point = array.scale, array.zero
    return made
