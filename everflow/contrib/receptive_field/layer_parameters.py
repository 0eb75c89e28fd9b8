"""What a node does to the grid of its input: kernel size, stride and padding, height before width."""

from __future__ import annotations

from everflow.framework.tensor_values import MakeNdarray

# Ops that compute each place of the grid from the same place.
_BY_PLACE = frozenset(
    "Add AddV2 BiasAdd Cast Ceil ConcatV2 Const Floor FusedBatchNorm GreaterEqual Identity Log LRN Mul Pow RealDiv Relu "
    "Relu6 Round Rsqrt Softplus Sub VariableV2".split()
)
_UNKNOWN = (None,) * 8


def get_layer_params(node, name_to_node, input_resolution=None, force=False):
    """The kernel's size, the stride, the padding before and in all of a node, each for the vertical direction first.

    Args:
      node: A NodeDef.
      name_to_node: {name: NodeDef} of its graph.
      input_resolution: [height, width] of the node's input, where known. "SAME" may need it.
      force: Whether an op that isn't known gives eight times None rather than an error.

    Returns:
      (kernel_size_x, kernel_size_y, stride_x, stride_y, padding_x, padding_y, total_padding_x, total_padding_y), where x
      is the horizontal direction. A padding that isn't known is None.

    Raises:
      ValueError: If the op isn't known, or pads in a way that isn't.
    """
    if node.op in ("Conv2D", "DepthwiseConv2dNative", "AvgPool", "MaxPool", "MaxPoolV2"):
        strides = _of_grid(node, "strides")
        kernel = _of_grid(node, "ksize") if "Pool" in node.op else _kernel_of_weights(node, name_to_node)
        sizes = input_resolution or (None, None)
        paddings = [_padding(node, *each) for each in zip(kernel, strides, sizes, strict=True)]
    elif node.op == "Pad":
        kernel, strides, paddings = (1, 1), (1, 1), _added_by_pad(node, name_to_node)
    elif node.op in _BY_PLACE:
        kernel, strides, paddings = (1, 1), (1, 1), [(0, 0), (0, 0)]
    elif force:
        return _UNKNOWN
    else:
        raise ValueError(f"What op {node.op!r} of node {node.name!r} does to its input's grid isn't known")
    (before_y, total_y), (before_x, total_x) = paddings
    return (kernel[1], kernel[0], strides[1], strides[0], before_x, before_y, total_x, total_y)


def _of_grid(node, attribute):
    """(vertical, horizontal) of an attribute that has a number for each dimension."""
    form = node.attr["data_format"].s or b"NHWC"
    values = node.attr[attribute].list.i
    return values[form.index(b"H")], values[form.index(b"W")]


def _constant(node, name_to_node, position):
    """The value of an input that is a constant, possibly through identities; None where it is no constant."""
    source = name_to_node[_node_name(node.input[position])]
    while source.op == "Identity":
        source = name_to_node[_node_name(source.input[0])]
    return MakeNdarray(source.attr["value"].tensor) if source.op == "Const" else None


def _node_name(tensor_name):
    return tensor_name.removeprefix("^").partition(":")[0]


def _kernel_of_weights(node, name_to_node):
    """(height, width) of a convolution's weights: a constant, or a variable that is read."""
    weights = name_to_node[_node_name(node.input[1])]
    while weights.op == "Identity":
        weights = name_to_node[_node_name(weights.input[0])]
    if weights.op == "Const":
        dims = [d.size for d in weights.attr["value"].tensor.tensor_shape.dim]
    elif "shape" in weights.attr:
        dims = [d.size for d in weights.attr["shape"].shape.dim]
    else:
        raise ValueError(f"The weights of node {node.name!r} come from {weights.op!r}: their size isn't known")
    return dims[0], dims[1]


def _padding(node, kernel, stride, size):
    """(before, in all) along one direction; None for what isn't known."""
    padding = node.attr["padding"].s
    if padding == b"VALID":
        return (0, 0)
    if padding != b"SAME":
        raise ValueError(f"Padding {padding.decode()!r} of node {node.name!r} isn't known: VALID and SAME are")
    if size is not None:
        total = max(kernel - (size % stride or stride), 0)
    elif stride == 1 or kernel == 1:
        total = kernel - 1
    elif stride == 2 and kernel % 2 == 0:  # odd or even, as much comes before
        return ((kernel - 1) // 2, None)
    else:
        return (None, None)
    return (total // 2, total)


def _added_by_pad(node, name_to_node):
    """[(before, in all)] of a Pad node, vertically and horizontally."""
    paddings = _constant(node, name_to_node, 1)
    if paddings is None:
        raise ValueError(f"The paddings of node {node.name!r} must be a constant")
    return [(int(before), int(before + after)) for before, after in paddings[1:3]]
