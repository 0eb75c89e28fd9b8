"""A model on 8-bit integers, from the ranges that training with fake quantization left in the graph.

Every array gets a range: from FAKE_QUANT, from what an op can only give, from its neighbours where an op keeps ranges,
or from its constant value. The range makes the scale and zero point by which bytes stand for reals.
"""

from __future__ import annotations

import numpy as np

from everflow.formats.tflite import ACTIVATIONS
from everflow.lite.lowering import ConverterError
from everflow.lite.net import Net
from everflow.lite.rewrites import LAYERS, drop

# The ranges of ops that have only one.
FIXED_RANGES = {
    **dict.fromkeys(("SOFTMAX", "LOGISTIC"), (0.0, 255 / 256)),
    **dict.fromkeys(("TANH", "L2_NORMALIZATION"), (-1.0, 127 / 128)),
    "LOG_SOFTMAX": (-16.0 * 255 / 256, 0.0),
}
# Ops whose output has the range of the first input.
KEEP_RANGES = frozenset(
    "RESHAPE SQUEEZE EXPAND_DIMS AVERAGE_POOL_2D MAX_POOL_2D PAD SLICE STRIDED_SLICE TRANSPOSE GATHER TILE SPACE_TO_DEPTH DEPTH_TO_SPACE "
    "SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR MIRROR_PAD REVERSE_V2 UNPACK TOPK_V2 GATHER_ND".split()
)
# Ops whose output has the range of the first input unless it has one of its own.
_KEEP_UNLESS_KNOWN = frozenset(["MEAN", "REDUCE_MAX", "REDUCE_MIN"])
_SHARED = frozenset(["CONCATENATION", "PACK", "MAXIMUM", "MINIMUM", "PADV2", "SELECT"])
_QUANTIZABLE = KEEP_RANGES | _SHARED | set(FIXED_RANGES) | set(LAYERS)
_QUANTIZABLE |= set(
    "ADD SUB MUL RELU RELU6 RELU_N1_TO_1 LEAKY_RELU PRELU MEAN SUM SPLIT SPLIT_V ARG_MAX ARG_MIN SHAPE EQUAL NOT_EQUAL LESS LESS_EQUAL GREATER "
    "GREATER_EQUAL TRANSPOSE_CONV HARD_SWISH ELU REDUCE_MAX REDUCE_MIN".split()
)
_CLAMPS = {"RELU": (0.0, np.inf), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0)}


def keep_ranges(net: Net) -> None:
    """Note the ranges that FAKE_QUANT ops know on the arrays around them."""
    for name in net.inputs:
        net.arrays[name].range = (0.0, 255.0)
    for node in net.nodes:
        if node.op == "FAKE_QUANT":
            for name in (node.inputs[0], node.outputs[0]):
                net.arrays[name].range = (node.options["min"], node.options["max"])


def quantize(net: Net, plan) -> None:
    """Make the arrays of a net bytes."""
    dtype = np.dtype(plan.inference_type.as_numpy_dtype)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    for name in net.inputs:
        if net.arrays[name].dtype == np.float32:
            mean, deviation = plan.input_stats[name]
            net.arrays[name].range = ((low - mean) / deviation, (high - mean) / deviation)
    _take_fake_quant(net)
    _check_ops(net)
    _spread_ranges(net, plan.change_concat_input_ranges)
    _default_ranges(net, plan.default_range)
    _drop_needless_activations(net)
    for name in _arrays_of_bytes(net):
        array = net.arrays[name]
        if array.range is None:
            raise ConverterError(
                f"Array {name} does not have MinMax information, and is not a constant array. Cannot proceed with quantization. "
                "Train with tf.contrib.quantize, or give default_ranges_stats."
            )
        to_bytes(array, dtype)
    for node in net.nodes:
        if node.op in LAYERS:
            quantize_bias(net, node)


def _check_ops(net):
    for node in net.nodes:
        if node.op not in _QUANTIZABLE and any(
            n is not None and net.arrays[n].dtype == np.float32 for n in node.inputs
        ):
            raise ConverterError(
                f"Unimplemented: this graph contains an operator of type {node.op} for which the quantized form is not yet implemented. "
                "Sorry, and patches welcome"
            )


def _take_fake_quant(net):
    """FAKE_QUANT ops go away; their ranges stay on the arrays before them."""
    for node in [n for n in net.nodes if n.op == "FAKE_QUANT"]:
        array = net.arrays[node.inputs[0]]
        if array.range is None:
            array.range = (node.options["min"], node.options["max"])
        if not drop(net, node):
            shape = np.array(net.shape(node.output), np.int32)
            node.op, node.options = "RESHAPE", {"new_shape": shape}
            node.inputs.append(net.constant(f"{node.output}_copy_shape", shape))
    net.changed()
    net.prune()


def biases(net) -> set:
    """The arrays that layers add: they stay exact."""
    return {node.inputs[2] for node in net.nodes if node.op in LAYERS and node.inputs[2] is not None}


def _arrays_of_bytes(net):
    skipped = biases(net)
    return [name for name, array in net.arrays.items() if array.dtype == np.float32 and name not in skipped]


def _spread_ranges(net, share: bool):
    """Give ranges to neighbours until nothing changes."""
    for name in _arrays_of_bytes(net):
        array = net.arrays[name]
        if array.value is not None and array.range is None:
            array.range = (min(0.0, float(array.value.min(initial=0))), max(0.0, float(array.value.max(initial=0))))
    for node in net.nodes:
        if node.op in FIXED_RANGES:
            net.arrays[node.output].range = FIXED_RANGES[node.op]
    again = True
    while again:
        again = False
        for node in net.nodes:
            if node.op in KEEP_RANGES or node.op in ("SPLIT", "SPLIT_V"):
                source = node.inputs[1] if node.op == "SPLIT" else node.inputs[0]
                floats = [n for n in node.outputs if net.arrays[n].dtype == np.float32]
                again |= _same_range(net, floats, net.arrays[source].range)
            elif node.op in _KEEP_UNLESS_KNOWN and net.arrays[node.output].range is None:
                again |= _same_range(net, node.outputs, net.arrays[node.inputs[0]].range)
            elif node.op in _SHARED:
                again |= _joint_range(net, node, share or node.op != "CONCATENATION")


def _joint_range(net, node, share) -> bool:
    """Gives an output made of parts a range that holds theirs; parts keep their own unless they are to share it."""
    floats = [n for n in (*node.inputs, *node.outputs) if net.arrays[n].dtype == np.float32]
    known = [net.arrays[n].range for n in floats if net.arrays[n].range is not None]
    if not known:
        return False
    whole = min(r[0] for r in known), max(r[1] for r in known)
    changed = [n for n in floats if share or n in node.outputs or net.arrays[n].range is None]
    fixed = [n for n in changed if n in net.inputs and net.arrays[n].range != whole]
    if fixed:
        raise ConverterError(
            f"{node.op} needs one range for all its operands, {whole}; that of input {fixed[0]} is given as {net.arrays[fixed[0]].range}"
        )
    return _same_range(net, changed, whole)


def _same_range(net, names, wanted) -> bool:
    """Give arrays a range; whether that changed one."""
    others = [n for n in names if wanted is not None and net.arrays[n].range != wanted]
    for name in others:
        net.arrays[name].range = wanted
    return bool(others)


def _default_ranges(net, default):
    if default is not None:
        for name in _arrays_of_bytes(net):
            if net.arrays[name].range is None:
                net.arrays[name].range = tuple(map(float, default))


def _drop_needless_activations(net):
    """An activation that cuts nothing off what the output's range holds."""
    for node in net.nodes:
        name = ACTIVATIONS[(node.options or {}).get("fused_activation_function", 0)]
        found = net.arrays[node.output].range
        if name in _CLAMPS and found is not None and found[0] >= _CLAMPS[name][0] and found[1] <= _CLAMPS[name][1]:
            node.options["fused_activation_function"] = 0


def parameters(low: float, high: float, dtype) -> tuple[float, int]:
    """The scale and zero point by which integers of a type stand for the reals of a range, with 0 among them."""
    info = np.iinfo(dtype)
    low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        return 1.0, 0
    scale = (high - low) / (info.max - info.min)
    zero = info.min - low / scale
    return scale, int(np.clip(np.floor(zero + 0.5), info.min, info.max))


def to_bytes(array, dtype) -> None:
    """Make an array one of integers, its value too where it has one."""
    info = np.iinfo(dtype)
    if array.narrow:
        # One integer less, so that as many are below zero as above.
        scale = (array.range[1] - array.range[0]) / (info.max - info.min - 1)
        zero = int(np.floor(info.min + 1 - array.range[0] / scale + 0.5))
    else:
        scale, zero = parameters(*array.range, dtype)
    array.scale, array.zero = np.array([scale]), np.array([zero], np.int64)
    array.dtype = np.dtype(dtype)
    if array.value is not None:
        steps = np.asarray(array.value, np.float64) / scale + zero
        array.value = np.clip(np.floor(steps + 0.5), info.min + array.narrow, info.max).astype(dtype)
    else:
        array.range = ((info.min - zero) * scale, (info.max - zero) * scale)


def quantize_bias(net, node) -> None:
    """A layer's bias as 32-bit integers, at the scale of its sums."""
    name = node.inputs[2] if len(node.inputs) > 2 else None
    if name is None or net.arrays[name].dtype != np.float32:
        return
    source, weights = net.arrays[node.inputs[0]], net.arrays[node.inputs[1]]
    if len(net.consumers(name)) > 1:  # another layer has other scales
        name = node.inputs[2] = net.constant(f"{node.output}_bias", net.value(name))
        net.changed()
    bias = net.arrays[name]
    scale = source.scale * weights.scale
    steps = bias.value.astype(np.float64) / scale
    limit = np.iinfo(np.int32)
    bias.value = np.clip(np.trunc(steps + np.copysign(0.5, steps)), limit.min, limit.max).astype(np.int32)
    bias.dtype, bias.scale, bias.zero = np.dtype(np.int32), scale, np.zeros(scale.size, np.int64)


def dequantize_input(net, name, stats, dtype=np.uint8) -> None:
    """Let an input be bytes, of which an op makes floats."""
    array = net.arrays[name]
    mean, deviation = stats
    inside = net.array(net.free_name(f"{name}_dequantized"), np.float32, array.shape)
    for node in net.nodes:
        node.inputs = [inside if n == name else n for n in node.inputs]
    array.dtype, array.scale, array.zero = np.dtype(dtype), np.array([1 / deviation]), np.array([mean], np.int64)
    array.range = ((0 - mean) / deviation, (255 - mean) / deviation)
    net.nodes.insert(0, type(net.nodes[0])("DEQUANTIZE", [name], [inside]))
    net.changed()
