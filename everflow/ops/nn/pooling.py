"""Max and average pools over one, two and three dimensions."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import known_shape
from everflow.ops import array
from everflow.ops.array.basic import either
from everflow.ops.nn.arguments import per_dimension


def _windows(ksize, strides, data_format, spatial):
    axis = 1 if data_format.startswith("NC") else spatial + 1
    return {
        "ksize": per_dimension(ksize, spatial, axis, "ksize"),
        "strides": per_dimension(strides, spatial, axis, "strides"),
    }


def _pooled(scope, op_type, value, ksize, strides, padding, data_format, name):
    """A pool over images or volumes."""
    spatial = 3 if op_type.endswith("3D") else 2
    with name_scope(name, scope, [value]) as name:
        data_format = {2: "NHWC", 3: "NDHWC"}[spatial] if data_format is None else data_format
        windows = _windows(ksize, strides, data_format, spatial)
        return getattr(raw, op_type)(value, padding=padding, data_format=data_format, name=name, **windows)


def max_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    """The largest entry under each window of images.

    Args:
        value: Images [batch, height, width, channels].
        ksize: The extent of the window along each axis.
        strides: How far the window moves along each axis.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        name: The name of the operation in the graph.
        input: Another name of `value`.

    Returns:
        A tensor with the same batch and channels.

    Example:
        >>> sess.run(tf.nn.max_pool([[[[1.0], [2.0]], [[3.0], [4.0]]]], [1, 2, 2, 1], [1, 2, 2, 1], "VALID"))
        array([[[[4.]]]], dtype=float32)
    """
    value = either("input", input, "value", value)
    return _pooled("MaxPool", "MaxPool", value, ksize, strides, padding, data_format, name)


def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """The largest entry under each window of images.

    Args:
        input: Images [batch, height, width, channels].
        ksize: The extent of the window along each axis.
        strides: How far the window moves along each axis.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        name: The name of the operation in the graph.

    Returns:
        A tensor with the same batch and channels.

    Example:
        >>> tf.nn.max_pool2d(tf.ones([1, 4, 4, 3]), 2, 2, "SAME").shape.as_list()
        [1, 2, 2, 3]
    """
    return _pooled("MaxPool2d", "MaxPool", input, ksize, strides, padding, data_format, name)


def avg_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    """The mean under each window of images; cells outside of the image don't count.

    Args:
        value: Images [batch, height, width, channels].
        ksize: The extent of the window along each axis.
        strides: How far the window moves along each axis.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        name: The name of the operation in the graph.
        input: Another name of `value`.

    Returns:
        A tensor with the same batch and channels.

    Example:
        >>> sess.run(tf.nn.avg_pool([[[[1.0], [2.0]], [[3.0], [4.0]]]], [1, 2, 2, 1], [1, 2, 2, 1], "VALID"))
        array([[[[2.5]]]], dtype=float32)
    """
    value = either("input", input, "value", value)
    return _pooled("AvgPool", "AvgPool", value, ksize, strides, padding, data_format, name)


def avg_pool2d(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    """The mean under each window of images; cells outside of the image don't count.

    Args:
        value: Images [batch, height, width, channels].
        ksize: The extent of the window along each axis.
        strides: How far the window moves along each axis.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        name: The name of the operation in the graph.
        input: Another name of `value`.

    Returns:
        A tensor with the same batch and channels.

    Example:
        >>> sess.run(tf.nn.avg_pool2d([[[[1.0], [2.0]], [[3.0], [4.0]]]], [1, 2, 2, 1], [1, 2, 2, 1], "VALID"))
        array([[[[2.5]]]], dtype=float32)
    """
    return avg_pool(value, ksize, strides, padding, data_format, name, input)


def avg_pool2d_v2(input, ksize, strides, padding, data_format="NHWC", name=None):
    """`avg_pool2d` with the images called `input`, and a name of its own in the graph."""
    return _pooled("AvgPool2D", "AvgPool", input, ksize, strides, padding, data_format, name)


def max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """The largest entry under each window of volumes.

    Args:
        input: Volumes [batch, depth, height, width, channels].
        ksize: The extent of the window along each axis.
        strides: How far the window moves along each axis.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        name: The name of the operation in the graph.

    Returns:
        A tensor with the same batch and channels.

    Example:
        >>> tf.nn.max_pool3d(tf.ones([1, 4, 4, 4, 2]), [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "SAME").shape.as_list()
        [1, 2, 2, 2, 2]
    """
    return _pooled("MaxPool3D", "MaxPool3D", input, ksize, strides, padding, data_format, name)


def avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """The mean under each window of volumes; cells outside of the volume don't count.

    Args:
        input: Volumes [batch, depth, height, width, channels].
        ksize: The extent of the window along each axis.
        strides: How far the window moves along each axis.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        name: The name of the operation in the graph.

    Returns:
        A tensor with the same batch and channels.

    Example:
        >>> tf.nn.avg_pool3d(tf.ones([1, 4, 4, 4, 2]), [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "SAME").shape.as_list()
        [1, 2, 2, 2, 2]
    """
    return _pooled("AvgPool3D", "AvgPool3D", input, ksize, strides, padding, data_format, name)


def _pool_of_sequence(build, value, ksize, strides, padding, data_format, name):
    """A pool over images of height one."""
    data_format = "NWC" if data_format is None else data_format
    windows = _windows(ksize, strides, data_format, 1)
    axis = 2 if data_format.startswith("NC") else 1
    value = array.expand_dims(value, axis)
    form = "NCHW" if axis == 2 else "NHWC"
    result = build(value, [1, *windows["ksize"]], [1, *windows["strides"]], padding, data_format=form, name=name)
    return array.squeeze(result, axis)


def max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """The largest entry under each window of sequences.

    Args:
        input: Sequences [batch, width, channels].
        ksize: The extent of the window.
        strides: How far the window moves.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        name: The name of the operation in the graph.

    Returns:
        A tensor with the same batch and channels.

    Example:
        >>> sess.run(tf.nn.max_pool1d([[[1.0], [2.0], [3.0], [4.0]]], 2, 2, "VALID"))
        array([[[2.],
                [4.]]], dtype=float32)
    """
    with name_scope(name, "MaxPool1d", [input]) as name:
        return _pool_of_sequence(raw.MaxPool, input, ksize, strides, padding, data_format, name)


def avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """The mean under each window of sequences.

    Args:
        input: Sequences [batch, width, channels].
        ksize: The extent of the window.
        strides: How far the window moves.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        name: The name of the operation in the graph.

    Returns:
        A tensor with the same batch and channels.

    Example:
        >>> sess.run(tf.nn.avg_pool1d([[[1.0], [2.0], [3.0], [4.0]]], 2, 2, "VALID"))
        array([[[1.5],
                [3.5]]], dtype=float32)
    """
    with name_scope(name, "AvgPool1D", [input]) as name:
        return _pool_of_sequence(raw.AvgPool, input, ksize, strides, padding, data_format, name)


def _by_rank(pools, input, ksize, strides, padding, data_format, name):
    """The pool for as many spatial dimensions as the input has."""
    rank = TensorShape(input.shape).rank
    if rank is None:
        raise ValueError("The input's rank must be known to choose the pool; give it a shape (set_shape)")
    spatial = rank - 2
    if spatial not in pools:
        raise ValueError(f"Pools are for inputs of rank 3, 4 or 5, not {spatial + 2}")
    default = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[spatial]
    return pools[spatial](
        input, ksize=ksize, strides=strides, padding=padding, data_format=data_format or default, name=name
    )


def max_pool_v2(input, ksize, strides, padding, data_format=None, name=None):
    """The largest entry under each window of sequences, images or volumes.

    Args:
        input: The tensor to pool, of 3, 4 or 5 dimensions.
        ksize: The extent of the window: a number, or one for each dimension.
        strides: How far the window moves: a number, or one for each dimension.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        name: The name of the operation in the graph.

    Returns:
        A tensor with the same batch and channels.

    Example:
        >>> tf.nn.max_pool_v2(tf.ones([1, 4, 4, 3]), 2, 2, "SAME").shape.as_list()
        [1, 2, 2, 3]
    """
    return _by_rank({1: max_pool1d, 2: max_pool, 3: max_pool3d}, input, ksize, strides, padding, data_format, name)


def avg_pool_v2(input, ksize, strides, padding, data_format=None, name=None):
    """The mean under each window of sequences, images or volumes.

    Args:
        input: The tensor to pool, of 3, 4 or 5 dimensions.
        ksize: The extent of the window: a number, or one for each dimension.
        strides: How far the window moves: a number, or one for each dimension.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        name: The name of the operation in the graph.

    Returns:
        A tensor with the same batch and channels.

    Example:
        >>> tf.nn.avg_pool_v2(tf.ones([1, 4, 4, 3]), 2, 2, "SAME").shape.as_list()
        [1, 2, 2, 3]
    """
    return _by_rank({1: avg_pool1d, 2: avg_pool, 3: avg_pool3d}, input, ksize, strides, padding, data_format, name)


def max_pool_with_argmax(
    input,
    ksize,
    strides,
    padding,
    data_format="NHWC",
    Targmax=None,
    name=None,
    output_dtype=None,
    include_batch_in_index=False,
):
    """The largest entry under each window, and its index in the flattened image (or batch).

    Args:
        input: Images [batch, height, width, channels].
        ksize: The extent of the window along each axis; one number stands for height and width.
        strides: How far the window moves along each axis; one number stands for height and width.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        Targmax: The type of the indices; int64 if None.
        name: The name of the operation in the graph.
        output_dtype: Another name of `Targmax`.
        include_batch_in_index: Whether indices are those in the flattened batch.

    Returns:
        A named tuple of the entries and their indices.

    Raises:
        ValueError: If the data format is not `NHWC`, or a needed argument is missing.

    Example:
        >>> largest, at = tf.nn.max_pool_with_argmax([[[[1.0], [2.0]], [[3.0], [4.0]]]], [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        >>> sess.run(at)
        array([[[[3]]]])
    """
    if data_format != "NHWC":
        raise ValueError(f"max_pool_with_argmax() is for 'NHWC' images only, not {data_format!r}")
    Targmax = either("output_dtype", output_dtype, "Targmax", Targmax)
    return raw.MaxPoolWithArgmax(
        input=input,
        ksize=per_dimension(ksize, 2, 3, "ksize"),
        strides=per_dimension(strides, 2, 3, "strides"),
        padding=padding,
        Targmax=dtypes.int64 if Targmax is None else Targmax,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


_FRACTIONAL = """{meaning} under windows of random sizes, so that images shrink by a ratio that is not whole.

Args:
    value: Images [batch, height, width, channels].
    pooling_ratio: How much larger images are than the result, along each axis.
    pseudo_random: Whether sizes follow a pattern from a random start; else each is random.
    overlapping: Whether a window has the first row and column of the next.
    deterministic: Whether sizes stay as they are drawn first.
    seed: A number that makes the random numbers the same in each run of the program.
    seed2: A second one.
    name: The name of the operation in the graph.

Returns:
    A named tuple: the images, and where windows begin along rows and columns.

Example:
    >>> tf.nn.{name}(tf.ones([1, 6, 6, 1]), [1.0, 1.5, 1.5, 1.0]).output.shape.as_list()
    [1, 4, 4, 1]
"""


def _fractional(build, meaning, function_name):
    def pool(
        value, pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0, seed2=0, name=None
    ):
        return build()(
            value=value,
            pooling_ratio=pooling_ratio,
            pseudo_random=pseudo_random,
            overlapping=overlapping,
            deterministic=deterministic,
            seed=seed,
            seed2=seed2,
            name=name,
        )

    pool.__name__ = pool.__qualname__ = function_name
    pool.__doc__ = _FRACTIONAL.format(meaning=meaning, name=function_name)
    return pool


fractional_max_pool = _fractional(lambda: raw.FractionalMaxPool, "The largest entry", "fractional_max_pool")
fractional_avg_pool = _fractional(lambda: raw.FractionalAvgPool, "The mean", "fractional_avg_pool")


@shape_rule("FractionalMaxPool", "FractionalAvgPool")
def _fractional_shape(op):
    image = op.inputs[0].shape.with_rank(4).as_list()
    ratio = op.attrs["pooling_ratio"]
    if len(ratio) != 4:
        raise ValueError("pooling_ratio must have 4 values")
    if any(r < 1 for r in ratio):
        raise ValueError(
            f"pooling_ratio is {list(ratio)}, but no part of it may be smaller than 1: pooling makes nothing larger"
        )
    sizes = [None if size is None else int(size / r) for size, r in zip(image, ratio, strict=True)]
    return [TensorShape(sizes), TensorShape([sizes[1]]), TensorShape([sizes[2]])]


@shape_rule("FractionalMaxPoolGrad")
def _fractional_max_grad_shape(op):
    return op.inputs[0].shape.with_rank(4)


@shape_rule("FractionalAvgPoolGrad")
def _fractional_avg_grad_shape(op):
    return known_shape(op.inputs[0]).with_rank(4)
