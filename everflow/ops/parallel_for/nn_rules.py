"""What layers' ops, searches and messages become for all iterations of a loop at once."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.ops import array, math
from everflow.ops.nn import activations as nn
from everflow.ops.parallel_for.array_rules import flattened, unflattened
from everflow.ops.parallel_for.vectorizer import rule, same, stacked

# Ops that know one batch dimension: which of their inputs have it.
_BATCHED = {
    "AvgPool": [0], "Conv2D": [0], "MaxPool": [0], "MaxPool3D": [0],
    "MaxPoolGrad": [0, 1, 2], "MaxPool3DGrad": [0, 1, 2], "MaxPoolGradGrad": [0, 1, 2], "MaxPool3DGradGrad": [0, 1, 2],
    "SoftmaxCrossEntropyWithLogits": [0, 1], "LowerBound": [0, 1], "UpperBound": [0, 1],
}  # fmt: skip


@rule(*_BATCHED)
def _one_batch(inputs):
    batched = _BATCHED[inputs.op.type]
    inputs.all_stacked(batched)
    tensors = [flattened(inputs.tensor(i)) if i in batched else inputs.same(i) for i in range(len(inputs))]
    return [stacked(unflattened(inputs, t)) for t in inputs.op_like(tensors).outputs]


@rule("Conv2DBackpropInput", "AvgPoolGrad")
def _to_the_input(inputs):
    """Gradients with respect to an input whose sizes, and whatever stands before the gradient, are the same for all."""
    sizes, last = inputs.same(0), len(inputs) - 1
    sizes = array.concat([inputs.length * sizes[:1], sizes[1:]], axis=0)
    between = [inputs.same(i) for i in range(1, last)]
    made = inputs.op_like([sizes, *between, flattened(inputs.stacked(last))]).outputs[0]
    return stacked(unflattened(inputs, made))


def _as_channels(tensor):
    """[iterations, batch, ..., channels] as [batch, ..., iterations * channels]."""
    rank = tensor.shape.rank
    shape = array.shape(tensor)
    turned = array.transpose(tensor, [*range(1, rank - 1), 0, rank - 1])
    return array.reshape(turned, array.concat([shape[1:-1], [shape[0] * shape[-1]]], axis=0))


def _from_channels(tensor, inputs):
    """The opposite of `_as_channels`."""
    rank, shape = tensor.shape.rank, array.shape(tensor)
    parted = array.reshape(tensor, array.concat([shape[:-1], inputs.length, [-1]], axis=0))
    return array.transpose(parted, [rank - 1, *range(rank - 1), rank])


@rule("Conv2DBackpropFilter")
def _to_the_filter(inputs):
    """Iterations become channels; of an image and a gradient that both differ only the products of one iteration
    count.
    """
    if inputs.attrs["data_format"] != b"NHWC":
        raise ValueError("Conv2DBackpropFilter is converted with data_format NHWC only")
    sizes, count = inputs.same(1), inputs.length
    wide, deep = inputs.is_stacked(0), inputs.is_stacked(2)
    image, grad = (_as_channels(inputs.tensor(i)) if inputs.is_stacked(i) else inputs.tensor(i) for i in (0, 2))
    one = array.ones_like(count)
    all_sizes = sizes * array.concat([[1, 1], count if wide else one, count if deep else one], axis=0)
    made = inputs.op_like([image, all_sizes, grad]).outputs[0]
    shape = array.concat([sizes[:2], count if wide else one, sizes[2:3], count if deep else one, sizes[3:]], axis=0)
    made = array.transpose(array.reshape(made, shape), [2, 4, 0, 1, 3, 5])
    if wide and deep:
        own = array.stack([math.range(count[0])] * 2, axis=1)
        return stacked(array.gather_nd(made, own))
    return stacked(array.squeeze(made, axis=[1 if wide else 0]))


@rule("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _batch_norm(inputs):
    """Iterations become channels, which are normalized one by one."""
    if inputs.attrs["data_format"] != b"NHWC":
        raise ValueError(f"{inputs.op.type} is converted with data_format NHWC only")
    image = _as_channels(inputs.all_stacked([0])[0])
    given = [
        tensor if inputs.op.inputs[i].shape.as_list() == [0] else array.reshape(tensor, [-1])
        for i, tensor in zip(range(1, 5), _for_each_iteration(inputs), strict=True)
    ]
    normal, *statistics = inputs.op_like([image, *given]).outputs
    normal.set_shape([None] * 4)
    moments = [array.reshape(s, array.concat([inputs.length, [-1]], axis=0)) for s in statistics]
    return [stacked(t) for t in (_from_channels(normal, inputs), *moments)]


@rule("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def _batch_norm_grad(inputs):
    """Iterations become channels here, too: those of the gradient, the image and what is known of each channel."""
    if inputs.attrs["data_format"] != b"NHWC":
        raise ValueError(f"{inputs.op.type} is converted with data_format NHWC only")
    images = [_as_channels(t) for t in inputs.all_stacked([0, 1])]
    known = [array.reshape(t, [-1]) for t in inputs.all_stacked(range(2, len(inputs)))]
    image, *others = inputs.op_like([*images, *known]).outputs
    image.set_shape([None] * 4)
    rows = [array.reshape(t, array.concat([inputs.length, [-1]], axis=0)) for t in others[:2]]
    # What else the op gives is empty, whatever goes in.
    return [*map(stacked, (_from_channels(image, inputs), *rows)), *map(same, others[2:])]


def _for_each_iteration(inputs):
    for i in range(1, 5):
        nothing = inputs.op.inputs[i].shape.as_list() == [0]
        yield inputs.same(i) if nothing else inputs.all_stacked([i])[0]


@rule("DecodeCSV")
def _decode_csv(inputs):
    defaults = [inputs.same(i) for i in range(1, len(inputs))]
    return [stacked(t) for t in inputs.op_like([inputs.stacked(0), *defaults]).outputs]


@rule("Softmax", "LogSoftmax")
def _softmax(inputs):
    return stacked(inputs.op_like([inputs.stacked(0)]).outputs[0])


@rule("BiasAdd")
def _bias_add(inputs):
    layout = inputs.attrs["data_format"]
    if inputs.is_stacked(1):
        if layout != b"NHWC":
            raise ValueError(
                "BiasAdd with a bias that differs between iterations is converted with data_format NHWC only"
            )
        value, bias = inputs.aligned()
        return stacked(math.add(value, bias))
    value, bias = inputs.stacked(0), inputs.same(1)
    if layout == b"NHWC":
        return stacked(nn.bias_add(value, bias, data_format="NHWC"))
    shape = array.shape(value)
    flat = array.reshape(value, array.concat([[-1], shape[2:]], axis=0))
    return stacked(array.reshape(nn.bias_add(flat, bias, data_format="NCHW"), shape))


@rule("BiasAddGrad")
def _bias_add_grad(inputs):
    grad = inputs.stacked(0)
    shape = array.shape(grad)
    if inputs.attrs["data_format"] == b"NCHW":
        grad = array.reshape(grad, array.concat([shape[:3], [-1]], axis=0))
        return stacked(math.reduce_sum(grad, axis=[1, 3], keepdims=False))
    channels = shape[-1]
    grad = array.reshape(grad, [shape[0], -1, channels])
    return stacked(math.reduce_sum(grad, axis=[1], keepdims=False))


@rule("Print")
def _print(inputs):
    made = raw.Print(
        input=inputs.stacked(0),
        data=[v.tensor for v in inputs.values[1:]],
        message=inputs.attrs["message"],
        first_n=inputs.attrs["first_n"],
        summarize=inputs.attrs["summarize"],
    )
    return stacked(made)


@rule("Assert")
def _assert(inputs):
    condition = inputs.stacked(0)
    return inputs.op_like([math.reduce_all(condition), *[v.tensor for v in inputs.values[1:]]])
