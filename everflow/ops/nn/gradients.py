"""Gradients of the nn ops: activations, biases, convolutions, pools, losses, norms and top_k."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.registry import gradient, not_differentiable
from everflow.framework.static_values import constant_value
from everflow.ops import array
from everflow.ops import math as math_ops

# Attributes of the nodes that stop second derivatives, in TensorFlow's very words and spaces.
_SPARSE_SECOND = (
    "Currently there is no way to take the second derivative of sparse_softmax_cross_entropy_with_logits due to the fused "
    "implementation's interaction with tf.gradients()"
)
_CTC_SECOND = (
    "Currently there is no way to take the second  derivative of ctc_loss due to the fused implementation's interaction "
    " with tf.gradients()"
)

# Activations

for _type, _grad, _from_output in (
    ("Relu", "ReluGrad", True),
    ("Relu6", "Relu6Grad", True),
    ("Elu", "EluGrad", True),
    ("Selu", "SeluGrad", True),
    ("Softsign", "SoftsignGrad", False),
):

    @gradient(_type)
    def _activation_grad(op, grad, _grad=_grad, _from_output=_from_output):
        return getattr(raw, _grad)(grad, op.outputs[0] if _from_output else op.inputs[0])


@gradient("LeakyRelu")
def _leaky_relu_grad(op, grad):
    return raw.LeakyReluGrad(grad, op.inputs[0], alpha=op.get_attr("alpha"))


@gradient("Softplus")
def _softplus_grad(op, grad):
    return grad * math_ops.sigmoid(op.inputs[0])


def _zeros_of(x):
    """Zeros of x's shape, made from the shape."""
    return array.zeros(shape=array.shape(x), dtype=x.dtype)


@gradient("ReluGrad", "Relu6Grad")
def _relu_grad_grad(op, grad):
    return getattr(raw, op.type)(grad, op.inputs[1]), _zeros_of(op.inputs[1])


@gradient("LeakyReluGrad")
def _leaky_relu_grad_grad(op, grad):
    x = op.inputs[1]
    return raw.LeakyReluGrad(grad, x, alpha=op.get_attr("alpha")), _zeros_of(x)


@gradient("EluGrad", "SeluGrad")
def _elu_grad_grad(op, grad):
    incoming, output = op.inputs
    first = getattr(raw, op.type)(grad, output)
    negative = output < 0.0
    return first, array.where(negative, grad * incoming, array.zeros_like(output))


@gradient("SoftplusGrad")
def _softplus_grad_grad(op, grad):
    incoming, x = op.inputs
    first = raw.SoftplusGrad(grad, x)
    second = grad * incoming / (math_ops.exp(-x) + 2.0 + math_ops.exp(x))
    return first, second


@gradient("Softmax")
def _softmax_grad(op, grad):
    output = op.outputs[0]
    total = math_ops.reduce_sum(grad * output, -1, keepdims=True)
    return (grad - total) * output


@gradient("LogSoftmax")
def _log_softmax_grad(op, grad):
    probability = math_ops.exp(op.outputs[0])
    return grad - math_ops.reduce_sum(grad, -1, keepdims=True) * probability


# Biases


def _format(op):
    return op.get_attr("data_format").decode()


@gradient("BiasAdd")
def _bias_add_grad(op, grad):
    return grad, raw.BiasAddGrad(out_backprop=grad, data_format=_format(op))


@gradient("BiasAddGrad")
def _bias_add_grad_grad(op, grad):
    """The vector, repeated over all but the channels."""
    shape, bias_shape = array.shape(op.inputs[0]), array.shape(grad)
    if _format(op) == "NCHW":
        expanded = array.concat([array.ones_like(shape[:1]), bias_shape, array.ones_like(shape[2:])], 0)
        repeats = array.concat([shape[:1], [1], shape[2:]], 0)
    else:
        expanded = array.concat([array.ones_like(shape[:-1]), bias_shape], 0)
        repeats = array.concat([shape[:-1], [1]], 0)
    return array.tile(array.reshape(grad, expanded), repeats)


@gradient("BiasAddV1")
def _bias_add_v1_grad(op, grad):
    axes = math_ops.range(array.rank(grad) - 1)
    return grad, math_ops.reduce_sum(grad, axes)


# Convolutions


def _attrs(op, *names):
    values = {}
    for name in names:
        value = op.get_attr(name)
        values[name] = value.decode() if isinstance(value, bytes) else value
    return values


_CONV2D = ("dilations", "strides", "padding", "explicit_paddings", "use_cudnn_on_gpu", "data_format")
_CONV3D = ("dilations", "strides", "padding", "data_format")


@gradient("Conv2D")
def _conv2d_grad(op, grad):
    images, filters = op.inputs
    image_shape, filter_shape = array.shape_n([images, filters])
    attrs = _attrs(op, *_CONV2D)
    return [
        raw.Conv2DBackpropInput(image_shape, filters, grad, **attrs),
        raw.Conv2DBackpropFilter(images, filter_shape, grad, **attrs),
    ]


@gradient("Conv2DBackpropInput")
def _conv2d_backprop_input_grad(op, grad):
    attrs = _attrs(op, *_CONV2D)
    return [
        None,
        raw.Conv2DBackpropFilter(grad, array.shape(op.inputs[1]), op.inputs[2], **attrs),
        raw.Conv2D(grad, op.inputs[1], **attrs),
    ]


@gradient("Conv2DBackpropFilter")
def _conv2d_backprop_filter_grad(op, grad):
    attrs = _attrs(op, *_CONV2D)
    return [
        raw.Conv2DBackpropInput(array.shape(op.inputs[0]), grad, op.inputs[2], **attrs),
        None,
        raw.Conv2D(op.inputs[0], grad, **attrs),
    ]


def _plain_family(forward, backprop_input, backprop_filter, names):
    """Gradients of a convolution and of its two gradients, each made of the other two."""

    @gradient(forward)
    def of_forward(op, grad):
        attrs = _attrs(op, *names)
        return [
            getattr(raw, backprop_input)(array.shape(op.inputs[0]), op.inputs[1], grad, **attrs),
            getattr(raw, backprop_filter)(op.inputs[0], array.shape(op.inputs[1]), grad, **attrs),
        ]

    @gradient(backprop_input)
    def of_input(op, grad):
        attrs = _attrs(op, *names)
        return [
            None,
            getattr(raw, backprop_filter)(grad, array.shape(op.inputs[1]), op.inputs[2], **attrs),
            getattr(raw, forward)(grad, op.inputs[1], **attrs),
        ]

    @gradient(backprop_filter)
    def of_filter(op, grad):
        attrs = _attrs(op, *names)
        return [
            getattr(raw, backprop_input)(array.shape(op.inputs[0]), grad, op.inputs[2], **attrs),
            None,
            getattr(raw, forward)(op.inputs[0], grad, **attrs),
        ]


_plain_family("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", _CONV3D)
_plain_family(
    "DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter", _CONV3D
)


@gradient("Dilation2D")
def _dilation2d_grad(op, grad):
    attrs = _attrs(op, "strides", "rates", "padding")
    return [
        raw.Dilation2DBackpropInput(op.inputs[0], op.inputs[1], grad, **attrs),
        raw.Dilation2DBackpropFilter(op.inputs[0], op.inputs[1], grad, **attrs),
    ]


# Pools

_POOL = ("ksize", "strides", "padding", "data_format")


@gradient("MaxPool", "MaxPool3D")
def _max_pool_grad(op, grad):
    return getattr(raw, op.type + "Grad")(op.inputs[0], op.outputs[0], grad, **_attrs(op, *_POOL))


@gradient("MaxPoolV2")
def _max_pool_v2_grad(op, grad):
    image, ksize, strides = op.inputs
    return (
        raw.MaxPoolGradV2(image, op.outputs[0], grad, ksize, strides, **_attrs(op, "padding", "data_format")),
        None,
        None,
    )


@gradient("MaxPoolGrad", "MaxPool3DGrad")
def _max_pool_grad_grad(op, grad):
    return (
        _zeros_of(op.inputs[0]),
        _zeros_of(op.inputs[1]),
        getattr(raw, op.type + "Grad")(op.inputs[0], op.inputs[1], grad, **_attrs(op, *_POOL)),
    )


@gradient("MaxPoolGradGrad", "MaxPool3DGradGrad")
def _max_pool_grad_grad_grad(op, grad):
    back = op.type[: -len("Grad")]
    return (
        _zeros_of(op.inputs[0]),
        _zeros_of(op.inputs[1]),
        getattr(raw, back)(op.inputs[0], op.inputs[1], grad, **_attrs(op, *_POOL)),
    )


@gradient("MaxPoolGradV2")
def _max_pool_grad_v2_grad(op, grad):
    image, pooled, _, ksize, strides = op.inputs
    attrs = _attrs(op, "padding", "data_format")
    return (
        _zeros_of(image),
        _zeros_of(pooled),
        raw.MaxPoolGradGradV2(image, pooled, grad, ksize, strides, **attrs),
        None,
        None,
    )


@gradient("MaxPoolWithArgmax")
def _max_pool_with_argmax_grad(op, grad, _unused):
    attrs = _attrs(op, "ksize", "strides", "padding", "include_batch_in_index")
    return raw.MaxPoolGradWithArgmax(op.inputs[0], grad, op.outputs[1], **attrs)


@gradient("AvgPool", "AvgPool3D")
def _avg_pool_grad(op, grad):
    return getattr(raw, op.type + "Grad")(array.shape(op.inputs[0]), grad, **_attrs(op, *_POOL))


@gradient("AvgPoolGrad", "AvgPool3DGrad")
def _avg_pool_grad_grad(op, grad):
    forward = op.type[: -len("Grad")]
    return array.stop_gradient(op.inputs[0]), getattr(raw, forward)(grad, **_attrs(op, *_POOL))


@gradient("FractionalMaxPool")
def _fractional_max_pool_grad(op, grad, _rows, _columns):
    return raw.FractionalMaxPoolGrad(
        op.inputs[0], op.outputs[0], grad, op.outputs[1], op.outputs[2], overlapping=op.get_attr("overlapping")
    )


@gradient("FractionalAvgPool")
def _fractional_avg_pool_grad(op, grad, _rows, _columns):
    shape = op.inputs[0].shape
    if not shape.is_fully_defined():
        shape = raw.Shape(op.inputs[0], out_type=dtypes.int64)
    return raw.FractionalAvgPoolGrad(shape, grad, op.outputs[1], op.outputs[2], overlapping=op.get_attr("overlapping"))


# Losses


def scaled_rows(vector, matrix):
    """Each row (or more) of a tensor times one entry of a vector."""
    return array.expand_dims(vector, -1) * matrix


def _is_zero(grad) -> bool:
    """Whether a gradient is one that `tf.gradients` made up for an output nobody used."""
    if grad._made_by in ("ZerosLike", "Zeros"):
        return True
    value = constant_value(grad)
    return value is not None and not value.any()


@gradient("SoftmaxCrossEntropyWithLogits")
def _softmax_cross_entropy_grad(op, grad_loss, grad_grad):
    back = op.outputs[1]
    grad = scaled_rows(grad_loss, back)
    logits = op.inputs[0]
    if grad_grad is not None and not _is_zero(grad_grad):
        softmax = raw.Softmax(logits)
        product = math_ops.matmul(array.expand_dims(grad_grad, 1), array.expand_dims(softmax, 2))
        grad += (grad_grad - array.squeeze(product, axis=1)) * softmax
    return grad, scaled_rows(grad_loss, -raw.LogSoftmax(logits))


@gradient("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_softmax_cross_entropy_grad(op, grad_loss, _unused):
    back = array.prevent_gradient(op.outputs[1], message=_SPARSE_SECOND)
    return scaled_rows(grad_loss, back), None


@gradient("CTCLoss")
def _ctc_loss_grad(op, grad_loss, _unused):
    back = array.prevent_gradient(op.outputs[1], message=_CTC_SECOND)
    return [scaled_rows(grad_loss, back), None, None, None]


@gradient("L2Loss")
def _l2_loss_grad(op, grad):
    return op.inputs[0] * grad


@gradient("LRN")
def _lrn_grad(op, grad):
    attrs = _attrs(op, "depth_radius", "bias", "alpha", "beta")
    return [raw.LRNGrad(grad, op.inputs[0], op.outputs[0], **attrs)]


# The largest entries


@gradient("TopK", "TopKV2")
def _top_k_grad(op, grad, _indices):
    """Put each gradient where its entry came from."""
    shape = array.shape(op.inputs[0])
    index_shape = array.shape(op.outputs[1])
    last = array.gather(math_ops.cast(index_shape, dtypes.int64), array.size(index_shape) - 1)
    rows_of_indices = array.reshape(op.outputs[1], array.stack([-1, last]))
    columns = array.gather(math_ops.cast(shape, dtypes.int64), array.size(shape) - 1)
    rows = array.shape(rows_of_indices)[0]
    # Indices into the flattened rows.
    starts = math_ops.range(0, math_ops.cast(rows, dtypes.int64) * columns, columns)
    places = array.reshape(rows_of_indices + math_ops.cast(array.expand_dims(starts, -1), dtypes.int32), [-1])
    scattered = array.scatter_nd(
        array.expand_dims(places, -1), array.reshape(grad, [-1]), [math_ops.reduce_prod(shape)]
    )
    result = array.reshape(scattered, shape)
    return [result, array.zeros([], dtype=dtypes.int32)] if op.type == "TopKV2" else [result]


@gradient("NthElement")
def _nth_element_grad(op, grad):
    """Entries equal to the chosen one share its gradient."""
    x = op.inputs[0]
    equal = math_ops.cast(math_ops.equal(array.expand_dims(op.outputs[0], -1), x), grad.dtype)
    grad = array.expand_dims(grad, -1)
    count = array.expand_dims(math_ops.reduce_sum(equal, -1), -1)
    return [math_ops.div(equal, count) * grad, None]


not_differentiable("CTCGreedyDecoder", "CTCBeamSearchDecoder")
