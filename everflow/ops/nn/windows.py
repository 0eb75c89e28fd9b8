"""Static shapes of ops that slide windows: convolutions, pools, morphology and their gradients, with any size unknown."""

from __future__ import annotations

from everflow.framework.registry import shape_rule
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import known_shape, known_value
from everflow.framework.windows import parse_format, slide
from everflow.ops.shape_rules import like_first


def _count(size, window, stride, padding, dilation=1, explicit=(0, 0)):
    """How many windows fit, None where that is not known."""
    if stride <= 0:
        raise ValueError(f"Stride must be > 0, but got {stride}")
    if dilation < 1:
        raise ValueError(f"Dilation rate must be >= 1, but got {dilation}")
    if size is None or (window is None and padding != "SAME"):
        return None
    if padding != "SAME":
        extent = (window - 1) * dilation + 1
        padded = size + sum(explicit)
        if padded < extent:
            raise ValueError(f"Negative dimension size caused by subtracting {extent} from {padded}")
    return slide(size, window or 1, stride, padding, dilation, explicit).output


def _format_of(op, default):
    return parse_format(op.attrs.get("data_format", default.encode()).decode())


def _explicit(op, form):
    pads = op.attrs.get("explicit_paddings") or []
    padding = op.attrs["padding"].decode()
    if padding != "EXPLICIT":
        if pads:
            raise ValueError("explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT")
        return [(0, 0)] * form.spatial
    if len(pads) != 2 * (form.spatial + 2):
        raise ValueError(
            f"explicit_paddings attribute must contain {2 * (form.spatial + 2)} values, but got: {len(pads)}"
        )
    if any(p < 0 for p in pads):
        raise ValueError("All elements of explicit_paddings must be nonnegative")
    if any(pads[2 * axis + side] for axis in (0, form.channel_axis) for side in (0, 1)):
        raise ValueError("Nonzero explicit padding in the batch or depth dimensions is not supported")
    return [(pads[2 * axis], pads[2 * axis + 1]) for axis in form.spatial_axes]


def _sized(name, values, rank):
    if len(values) != rank:
        raise ValueError(f"requires the {name} attribute to contain {rank} values, but got: {len(values)}")
    return values


def _slid(op, form, sizes, window, dilations=None):
    """The spatial sizes after sliding a window with the op's strides and padding."""
    strides = form.spatial_of(_sized("stride", op.attrs["strides"], form.spatial + 2))
    dilations = form.spatial_of(_sized("dilation", dilations, form.spatial + 2)) if dilations else [1] * form.spatial
    padding = op.attrs["padding"].decode()
    return [
        _count(*args)
        for args in zip(sizes, window, strides, [padding] * form.spatial, dilations, _explicit(op, form), strict=True)
    ]


@shape_rule("Conv2D", "Conv3D")
def convolution_shape(op):
    """The shape of an op whose first two inputs are images and filters."""
    form = _format_of(op, "NHWC")
    rank = form.spatial + 2
    image, window = op.inputs[0].shape.with_rank(rank).as_list(), op.inputs[1].shape.with_rank(rank).as_list()
    depth, filter_depth, output_depth = image[form.channel_axis], window[-2], window[-1]
    if depth is not None and filter_depth is not None:
        if op.type == "Conv3D":
            if depth != filter_depth:
                raise ValueError(f"Dimensions must be equal, but are {depth} and {filter_depth}")
        elif filter_depth == 0 or depth % filter_depth:
            raise ValueError(f"Depth of input ({depth}) is not a multiple of input depth of filter ({filter_depth})")
        elif depth and output_depth is not None and output_depth % (depth // filter_depth):
            raise ValueError(
                f"Depth of output ({output_depth}) is not a multiple of the number of groups ({depth // filter_depth})"
            )
    spatial = _slid(op, form, form.spatial_of(image), window[:-2], op.attrs["dilations"])
    return TensorShape(form.arrange(image[0], spatial, output_depth))


@shape_rule("DepthwiseConv2dNative")
def _depthwise_shape(op):
    form = _format_of(op, "NHWC")
    image, window = op.inputs[0].shape.with_rank(4).as_list(), op.inputs[1].shape.with_rank(4).as_list()
    depth, multiplier = image[form.channel_axis], window[3]
    if None not in (depth, window[2]) and depth != window[2]:
        raise ValueError(f"Dimensions must be equal, but are {depth} and {window[2]}")
    depth = window[2] if depth is None else depth
    spatial = _slid(op, form, form.spatial_of(image), window[:2], op.attrs["dilations"])
    return TensorShape(form.arrange(image[0], spatial, None if None in (depth, multiplier) else depth * multiplier))


# The input that says what shape the gradient has, and its rank.
for _types, _place, _rank in (
    (("Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput", "AvgPoolGrad"), 0, 4),
    (("Conv2DBackpropFilter", "DepthwiseConv2dNativeBackpropFilter"), 1, 4),
    (("Conv3DBackpropInputV2", "AvgPool3DGrad"), 0, 5),
    (("Conv3DBackpropFilterV2",), 1, 5),
):

    @shape_rule(*_types)
    def _given_shape(op, _place=_place, _rank=_rank):
        return known_shape(op.inputs[_place]).with_rank(_rank)


for _types, _place, _rank in (
    (("Conv3DBackpropInput", "MaxPool3DGrad"), 0, 5),
    (("Conv3DBackpropFilter", "MaxPool3DGradGrad"), 1, 5),
    (("MaxPoolGrad", "MaxPoolGradV2", "MaxPoolGradWithArgmax", "Dilation2DBackpropInput"), 0, 4),
    (("MaxPoolGradGrad", "MaxPoolGradGradV2"), 1, 4),
    (("MaxPoolGradGradWithArgmax",), 2, 4),
    (("Dilation2DBackpropFilter",), 1, 3),
):

    @shape_rule(*_types)
    def _shape_of_input(op, _place=_place, _rank=_rank):
        return op.inputs[_place].shape.with_rank(_rank)


def _pooled(op, form, image, ksize, strides):
    image = image.with_rank(form.spatial + 2).as_list()
    padding = op.attrs["padding"].decode()
    # Windows over the batch, and over channels but for the largest of images, are refused when running: sizes stay.
    kept = {0: image[0]}
    if not op.type.startswith("MaxPool") or form.spatial == 3:
        kept[form.channel_axis] = image[form.channel_axis]
    elif any(size <= 0 for size in ksize):
        raise ValueError(f"Windows of a pool must have sizes > 0, but ksize is {list(ksize)}")
    slid = [None if axis in kept else size for axis, size in enumerate(image)]
    windows = zip(slid, _sized("ksize", ksize, len(image)), _sized("stride", strides, len(image)), strict=True)
    sizes = [_count(size, window, stride, padding) for size, window, stride in windows]
    return TensorShape([kept.get(axis, size) for axis, size in enumerate(sizes)])


@shape_rule("MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D", "MaxPoolWithArgmax")
def pool_shape(op):
    """The shape of an op whose first input is pooled."""
    form = _format_of(op, "NHWC")
    shape = _pooled(op, form, op.inputs[0].shape, op.attrs["ksize"], op.attrs["strides"])
    return [shape] * len(op.outputs) if op.type == "MaxPoolWithArgmax" else shape


@shape_rule("MaxPoolV2")
def _max_pool_v2_shape(op):
    for sizes in op.inputs[1:]:
        sizes.shape.with_rank(1)
    ksize, strides = (known_value(t) for t in op.inputs[1:])
    if ksize is None or strides is None:
        op.inputs[0].shape.with_rank(4)
        return None
    return _pooled(op, _format_of(op, "NHWC"), op.inputs[0].shape, ksize.tolist(), strides.tolist())


@shape_rule("Dilation2D")
def _dilation_shape(op):
    form = parse_format("NHWC")
    image, window = op.inputs[0].shape.with_rank(4).as_list(), op.inputs[1].shape.with_rank(3).as_list()
    if None not in (image[3], window[2]) and image[3] != window[2]:
        raise ValueError(f"Dimensions must be equal, but are {image[3]} and {window[2]}")
    spatial = _slid(op, form, image[1:3], window[:2], op.attrs["rates"])
    return TensorShape([image[0], *spatial, window[2] if image[3] is None else image[3]])


@shape_rule("FusedPadConv2D", "FusedResizeAndPadConv2D")
def _fused_convolution_shape(op):
    window = op.inputs[-1].shape.with_rank(4)
    op.inputs[0].shape.with_rank(4)
    return TensorShape([op.inputs[0].shape[0], None, None, window.dims[3]])


shape_rule("DataFormatDimMap", "DataFormatVecPermute")(like_first)
