"""What layers' ops, searches and messages become for all iterations of a loop at once."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.ops import array, math
from everflow.ops.nn import activations as nn
from everflow.ops.parallel_for.array_rules import flattened, unflattened
from everflow.ops.parallel_for.vectorizer import rule, stacked

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
