"""Ops with other weights or formulas in TensorFlow Lite: convolutions, matrix products, normalizations, slices."""

from __future__ import annotations

import numpy as np

from everflow.formats import tflite
from everflow.framework import slicing
from everflow.lite.lowering import ConverterError, check_format, known_shape, lowering, strides

# What constants in another form are called until it is known whether somebody needs the old form under their own name.
_OWN_NAME = ("/filters", "/all")


def _padding(source) -> int:
    padding = source.attrs["padding"].decode()
    if padding not in tflite.PADDINGS:
        raise ConverterError(f"{source.name} has the padding {padding}; TensorFlow Lite knows SAME and VALID")
    return tflite.PADDINGS.index(padding)


def _dilations(a) -> dict:
    _, height, width, _ = a.get("dilations", (1, 1, 1, 1))
    return {"dilation_h_factor": int(height), "dilation_w_factor": int(width)}


def _moved(net, name, permutation, shape=None, suffix="/transpose"):
    """Weights with their axes in another order: a constant where they are one, else through a TRANSPOSE."""
    value = net.value(name)
    if value is not None:
        moved = np.ascontiguousarray(value.transpose(permutation))
        return _constant_like(net, name, moved if shape is None else moved.reshape(shape), suffix)
    old = net.shape(name)
    new = None if old is None else [old[i] for i in permutation]
    order = net.constant(f"{name}{suffix}/perm", np.array(permutation, np.int32))
    output = net.array(net.free_name(name + suffix), net.arrays[name].dtype, new)
    net.add("TRANSPOSE", [name, order], [output], {})
    if shape is not None and tuple(shape) != tuple(new or ()):
        return _reshaped(net, output, shape, f"{output}/reshape")
    return output


def _constant_like(net, name, value, suffix):
    """A constant made of another one: once for each, whoever asks."""
    wanted = name + suffix
    there = net.value(wanted) if wanted in net.arrays else None
    if there is not None and there.shape == value.shape and np.array_equal(there, value):
        return wanted
    made = net.constant(wanted, value)
    old = net.arrays[name]
    net.arrays[made].range, net.arrays[made].narrow = old.range, old.narrow
    if suffix in _OWN_NAME:
        net.arrays[made].wish = name
    return made


def _reshaped(net, name, shape, output):
    wanted = net.constant(f"{output}/shape", np.array(shape, np.int32))
    made = net.array(net.free_name(output), net.arrays[name].dtype, shape)
    net.add("RESHAPE", [name, wanted], [made], {"new_shape": np.array(shape, np.int32)})
    return made


def _zero_bias(net, name, size):
    return net.constant(f"{name}_bias", np.zeros(size, np.float32))


@lowering("Conv2D")
def _conv(net, source):
    check_format(source.attrs)
    options = {"padding": _padding(source), **strides(source.attrs), "fused_activation_function": 0}
    options.update(_dilations(source.attrs))
    filters = _moved(net, source.inputs[1], (3, 0, 1, 2), suffix="/filters")
    bias = _zero_bias(net, source.name, known_shape(net, source, source.outputs[0])[-1])
    net.add("CONV_2D", [source.inputs[0], filters, bias], source.outputs, options)


@lowering("DepthwiseConv2dNative")
def _depthwise(net, source):
    check_format(source.attrs)
    height, width, channels, multiplier = known_shape(net, source, source.inputs[1])
    options = {"padding": _padding(source), **strides(source.attrs)}
    options.update(depth_multiplier=multiplier, fused_activation_function=0)
    filters = _moved(net, source.inputs[1], (0, 1, 2, 3), (1, height, width, channels * multiplier), "/filters")
    bias = _zero_bias(net, source.name, channels * multiplier)
    options.update(_dilations(source.attrs))
    net.add("DEPTHWISE_CONV_2D", [source.inputs[0], filters, bias], source.outputs, options)


@lowering("Conv2DBackpropInput")
def _transposed_conv(net, source):
    check_format(source.attrs)
    sizes, filters, x = source.inputs
    filters = _moved(net, filters, (2, 0, 1, 3), suffix="/filters")
    options = {"padding": _padding(source), **strides(source.attrs)}
    net.add("TRANSPOSE_CONV", [sizes, filters, x], source.outputs, options)


@lowering("MatMul")
def _matmul(net, source):
    a, b = source.inputs
    known_shape(net, source, b)
    if source.attrs["transpose_a"]:
        a = _moved(net, a, (1, 0))
    if not source.attrs["transpose_b"]:
        b = _moved(net, b, (1, 0))
    _connect(net, a, b, source.name, source.outputs[0])


def _connect(net, x, weights, name, output):
    bias = _zero_bias(net, name, net.shape(weights)[0])
    options = {"fused_activation_function": 0, "weights_format": 0, "keep_num_dims": False}
    net.add("FULLY_CONNECTED", [x, weights, bias], [output], options)


@lowering("BatchMatMul", "BatchMatMulV2")
def _batch_matmul(net, source):
    """A product for each batch, and all stacked again."""
    a, b = source.inputs
    shape_a, shape_b, shape = (known_shape(net, source, name) for name in (a, b, source.outputs[0]))
    batches = shape[:-2]
    if shape_a[:-2] not in (batches, ()) or shape_b[:-2] not in (batches, ()):
        raise ConverterError(f"{source.name} broadcasts its batches {list(shape_a[:-2])} and {list(shape_b[:-2])}")
    a_flat = _flat_batches(net, a, f"{source.name}/a")
    b_flat = _flat_batches(net, b, f"{source.name}/b")
    parts = []
    for i in range(int(np.prod(batches))):
        name = f"{source.name}_b{i}"
        left, right = _batch(net, a_flat, i, f"{name}/slice_a"), _batch(net, b_flat, i, f"{name}/slice_b")
        if source.attrs["adj_x"]:
            left = _moved(net, left, (1, 0))
        if not source.attrs["adj_y"]:
            right = _moved(net, right, (1, 0))
        parts.append(net.array(net.free_name(name), np.float32, shape[-2:]))
        _connect(net, left, right, name, parts[-1])
    stacked = source.outputs[0]
    if len(batches) != 1:
        stacked = net.array(f"{source.name}/stack", np.float32, (len(parts), *shape[-2:]))
    net.add("PACK", parts, [stacked], {"values_count": len(parts), "axis": 0})
    if len(batches) > 1:
        wanted = net.constant(f"{source.name}/shape", np.array(shape, np.int32))
        net.add("RESHAPE", [stacked, wanted], source.outputs, {"new_shape": np.array(shape, np.int32)})


def _flat_batches(net, name, output):
    shape = net.shape(name)
    if len(shape) == 2:
        return name
    flat = (int(np.prod(shape[:-2])), *shape[-2:])
    if net.value(name) is not None:
        return _constant_like(net, name, net.value(name).reshape(flat), "/batches")
    return name if flat == shape else _reshaped(net, name, flat, output)


def _batch(net, name, i, output):
    shape = net.shape(name)
    if len(shape) == 2:
        return name
    if net.value(name) is not None:
        return net.constant(f"{output}/reshape", net.value(name)[i])
    begin = net.constant(f"{output}/slice/begin", np.array([i, 0, 0], np.int32))
    size = net.constant(f"{output}/slice/size", np.array([1, *shape[1:]], np.int32))
    cut = net.array(net.free_name(f"{output}/slice"), np.float32, (1, *shape[1:]))
    net.add("SLICE", [name, begin, size], [cut])
    return _reshaped(net, cut, shape[1:], f"{output}/reshape")


@lowering("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _batch_norm(net, source):
    check_format(source.attrs)
    if source.attrs["is_training"]:
        raise ConverterError(
            f"{source.name} normalizes by the statistics of its batch (is_training=True); convert a graph that was made for inference"
        )
    gamma, beta, mean, variance = (_needed(net, source, name) for name in source.inputs[1:5])
    scale = (gamma / np.sqrt(variance + np.float32(source.attrs["epsilon"]))).astype(np.float32)
    _scale_and_shift(net, source, scale, beta - mean * scale)


@lowering("BatchNormWithGlobalNormalization")
def _global_batch_norm(net, source):
    mean, variance, beta, gamma = (_needed(net, source, name) for name in source.inputs[1:5])
    scale = (1 / np.sqrt(variance + np.float32(source.attrs["variance_epsilon"]))).astype(np.float32)
    if source.attrs["scale_after_normalization"]:
        scale = scale * gamma
    _scale_and_shift(net, source, scale, beta - mean * scale)


def _needed(net, source, name):
    value = net.value(name)
    if value is None:
        raise ConverterError(f"{source.name} needs {name} as a constant")
    return value.astype(np.float32)


def _scale_and_shift(net, source, scale, shift):
    x, output = source.inputs[0], source.outputs[0]
    scaled = net.array(net.free_name(f"{source.name}_mul_0"), np.float32, net.shape(output))
    net.add("MUL", [x, net.constant(f"{source.name}_mul_0_param", scale)], [scaled], {"fused_activation_function": 0})
    term = net.constant(f"{source.name}_add_param", shift.astype(np.float32))
    net.add("ADD", [scaled, term], [output], {"fused_activation_function": 0})


@lowering("StridedSlice")
def _strided_slice(net, source):
    """Slices spelled out: TensorFlow Lite wants begin, end and stride of every axis, no ellipsis or new axis."""
    x, *parts = source.inputs
    shape, values = net.shape(x), [net.value(name) for name in parts]
    masks = {name: int(source.attrs[name]) for name in slicing.MASKS}
    special = masks["ellipsis_mask"] or masks["new_axis_mask"]
    if shape is None or any(v is None for v in values):
        if special:
            raise ConverterError(f"{source.name} has an ellipsis or a new axis, and bounds or shapes that aren't known")
        net.add("STRIDED_SLICE", source.inputs, source.outputs, masks)
    elif not special:
        missing = len(shape) - values[0].size
        rest = ((1 << missing) - 1) << values[0].size
        masks["begin_mask"] |= rest
        masks["end_mask"] |= rest
        if missing:
            filled = [np.append(v, np.full(missing, fill, v.dtype)) for v, fill in zip(values, (0, 0, 1), strict=True)]
            parts = [_constant_like(net, name, value, "/all") for name, value in zip(parts, filled, strict=True)]
        net.add("STRIDED_SLICE", [x, *parts], source.outputs, masks)
    else:
        _spelled_out(net, source, x, slicing.resolve(list(shape), *(v.tolist() for v in values), **masks))


def _spelled_out(net, source, x, axes):
    read = [axis for axis in axes if axis.kind != "new"]
    ends = [axis.begin + axis.size * axis.stride for axis in read]
    masks = dict.fromkeys(slicing.MASKS, 0)
    for i, (axis, end) in enumerate(zip(read, ends, strict=True)):
        masks["end_mask"] |= (end < 0) << i  # backwards to the first element
        masks["shrink_axis_mask"] |= (axis.kind == "shrink") << i
    bounds = {"begin": [a.begin for a in read], "end": [max(e, 0) for e in ends], "strides": [a.stride for a in read]}
    parts = [net.constant(f"{source.name}/{name}", np.array(v, np.int32)) for name, v in bounds.items()]
    output = source.outputs[0]
    if len(read) == len(axes):
        net.add("STRIDED_SLICE", [x, *parts], [output], masks)
        return
    cut = net.array(net.free_name(f"{source.name}/cut"), net.arrays[x].dtype, slicing.output_dims(read))
    net.add("STRIDED_SLICE", [x, *parts], [cut], masks)
    wanted = np.array(net.shape(output), np.int32)
    net.add("RESHAPE", [cut, net.constant(f"{source.name}/shape", wanted)], [output], {"new_shape": wanted})
