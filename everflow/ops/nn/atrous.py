"""Convolutions and pools over any number of dimensions, with gaps between the cells of a window.

Gaps are made by cutting the image into interleaved images (space to batch), so that any op with plain windows can be
used.
"""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array
from everflow.ops.array.basic import either
from everflow.ops.array.blocks import batch_to_space_nd, required_space_to_batch_paddings, space_to_batch_nd
from everflow.ops.nn import pooling as nn_pooling
from everflow.ops.nn.arguments import per_dimension
from everflow.ops.nn.convolution import conv1d, conv2d, conv2d_transpose, conv3d, depthwise_conv2d_native

_POOLS = {
    ("MAX", 1): nn_pooling.max_pool1d,
    ("MAX", 2): nn_pooling.max_pool,
    ("MAX", 3): nn_pooling.max_pool3d,
    ("AVG", 1): nn_pooling.avg_pool1d,
    ("AVG", 2): nn_pooling.avg_pool,
    ("AVG", 3): nn_pooling.avg_pool3d,
}
_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def _channels_first(data_format) -> bool:
    return data_format is not None and data_format.startswith("NC")


def _check_strides_and_rates(strides, rates):
    """Only one of them may differ from one."""
    if any(rate < 1 for rate in rates):
        raise ValueError("dilation_rate must be positive")
    if any(stride < 1 for stride in strides):
        raise ValueError("strides must be positive")
    if any(s > 1 for s in strides) and any(r > 1 for r in rates):
        raise ValueError(
            f"strides > 1 not supported in conjunction with dilation: they are {strides}, and its rates {rates}"
        )


def _spatial_part(value, spatial: int, channels_first: bool, name: str) -> list[int]:
    """The spatial entries of an argument in any of its short forms."""
    whole = per_dimension(value, spatial, 1 if channels_first else spatial + 1, name)
    return [int(v) for v in (whole[2:] if channels_first else whole[1:-1])]


def _one_each(value, spatial: int, name: str) -> list[int]:
    """One number for each spatial dimension; no short forms."""
    if value is None:
        return [1] * spatial
    if len(value) != spatial:
        raise ValueError(f"len({name})={len(value)} but should be {spatial}")
    return [int(v) for v in value]


def with_space_to_batch(input, dilation_rate, padding, op, filter_shape=None, spatial_dims=None, data_format=None):
    """Call `op(images, spatial count, "VALID" or padding)` on images cut so that its windows have gaps.

    A rate of two, say, makes windows see every second cell.

    Args:
        input: The images.
        dilation_rate: The distance between the inputs that neighbouring weights of the kernel see.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        op: The function that slides windows over images.
        filter_shape: The shape of the filters, for padding `SAME`.
        spatial_dims: The dimensions that are spatial; all but the first and the last if None.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.

    Returns:
        What `op` returns, put together again.

    Example:
        >>> def summed(images, spatial_count, padding):
        ...     return tf.nn.conv2d(images, tf.ones([2, 2, 1, 1]), [1, 1, 1, 1], padding)
        >>> tf.nn.with_space_to_batch(tf.ones([1, 6, 6, 1]), [2, 2], "VALID", summed).shape.as_list()
        [1, 4, 4, 1]
    """
    input = convert_to_tensor(input, name="input")
    return _SpaceToBatch(input.shape, dilation_rate, padding, op, filter_shape, spatial_dims, data_format)(input)


class _SpaceToBatch:
    """What is prepared once of `with_space_to_batch`; calling it with images and filters builds the ops."""

    # `build(images, filters or the number of spatial dimensions, padding)` makes the op that gets gaps.
    def __init__(self, shape, dilation_rate, padding, build, filter_shape=None, spatial_dims=None, data_format=None):
        dilation_rate = convert_to_tensor(dilation_rate, dtypes.int32, name="dilation_rate")
        rate_shape = dilation_rate.shape.with_rank(1)
        if not rate_shape.is_fully_defined():
            raise ValueError("rate must have known shape")
        spatial = rate_shape.dims[0].value
        first = 2 if _channels_first(data_format) else 1
        if spatial_dims is None:
            spatial_dims = range(first, spatial + first)
        self._dims = [int(d) for d in spatial_dims]
        if self._dims != sorted(set(self._dims)) or any(d < 1 for d in self._dims):
            raise ValueError("spatial_dims must be a monotonically increasing sequence of positive integers")
        last = self._dims[-1] if self._dims else 0
        rank = shape.rank
        if rank is not None and rank < last + 1:
            raise ValueError(f"input tensor must have rank {last + 1} at least")
        self._rates = constant_value(dilation_rate)
        self._rate_tensor = dilation_rate
        self._padding = padding
        self._build = build
        if self._rates is not None:
            if np.any(self._rates < 1):
                raise ValueError("dilation_rate must be positive")
            if np.all(self._rates == 1):
                self._plain = True
                return
        self._plain = False
        self._base = None
        if padding == "SAME":
            if filter_shape is None:
                raise ValueError("SAME padding depends on the filter: give filter_shape")
            self._base = _same_paddings(filter_shape, dilation_rate, self._rates, spatial)
        elif padding != "VALID":
            raise ValueError(f"Invalid padding method {padding!r}")

    def __call__(self, images, filters=None):
        second = len(self._dims) if filters is None else filters
        if self._plain:
            return self._build(images, second, self._padding)
        spatial_shape = _spatial_shape(images, self._dims)
        base = np.zeros([len(self._dims), 2], np.int32) if self._base is None else self._base
        paddings, crops = required_space_to_batch_paddings(
            input_shape=spatial_shape, base_paddings=base, block_shape=self._rate_tensor
        )
        rates = self._rate_tensor if self._rates is None else self._rates
        rates = _fill_between(rates, 1, self._dims)
        paddings = _fill_between(paddings, 0, self._dims)
        crops = _fill_between(crops, 0, self._dims)
        cut = space_to_batch_nd(input=images, block_shape=rates, paddings=paddings)
        parts = self._build(cut, second, "VALID")
        whole = batch_to_space_nd(parts, block_shape=rates, crops=crops)
        if self._dims[0] == 2 and parts.shape.rank is not None:  # channels come first, between what is put together
            whole.set_shape([None, parts.shape.dims[1], *[None] * (parts.shape.rank - 2)])
        return whole


def _same_paddings(filter_shape, rate_tensor, rates, spatial: int):
    """What SAME padding adds before and after each spatial dimension, for a window with gaps."""
    filter_shape = convert_to_tensor(filter_shape, name="filter_shape")
    known = constant_value(filter_shape)
    filter_shape = known if known is not None else filter_shape
    extent = filter_shape[:spatial]
    rate = rates if rates is not None else rate_tensor
    total = (extent + (extent - 1) * (rate - 1)) - 1
    before = total // 2
    after = total - before
    return array.stack([[before[i], after[i]] for i in range(spatial)])


def _spatial_shape(images, dims):
    """The spatial sizes: a list of ints where all are known, else a tensor."""
    if images.shape.rank is not None:
        sizes = [images.shape.as_list()[d] for d in dims]
        if all(size is not None for size in sizes):
            return np.array(sizes, np.int32)
    shape = array.shape(images)
    return array.stack([shape[d] for d in dims])


def _fill_between(values, fill: int, dims):
    """Values of the spatial dimensions with `fill` for the dimensions between the batch and the last of them."""
    known = values if isinstance(values, np.ndarray) else constant_value(values)
    if known is not None:
        values = known
    parts, position = [], 0
    dim = 1
    while dim <= dims[-1]:
        start = dim
        while dim not in dims:
            dim += 1
        if dim != start:
            filled = np.full(
                [dim - start, *np.shape(known)[1:]]
                if known is not None
                else [dim - start, *values.shape.as_list()[1:]],
                fill,
            )
            parts.append(filled.astype(np.int32))
        begin = position
        while dim in dims:
            dim += 1
            position += 1
        if position != begin:
            parts.append(values[begin:position])
    if known is not None:
        return np.concatenate(parts).astype(np.int32)
    return array.concat(parts, 0)


def convolution(
    input,
    filter,
    padding,
    strides=None,
    dilation_rate=None,
    name=None,
    data_format=None,
    filters=None,
    dilations=None,
):
    """Slide filters of shape [spatial..., in, out] over images of one, two or three dimensions, with strides or with
    gaps.

    Args:
        input: Sequences, images or volumes.
        filter: The filters: [spatial..., in, out].
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        strides: How far the filter moves along each spatial dimension; 1 if None.
        dilation_rate: How far apart the cells of a filter are; 1 if None.
        name: The name of the operation in the graph.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        filters: Another name of `filter`.
        dilations: Another name of `dilation_rate`.

    Returns:
        A tensor with `out` channels.

    Example:
        >>> tf.nn.convolution(tf.ones([1, 8, 8, 3]), tf.ones([3, 3, 3, 5]), "SAME", strides=[2, 2]).shape.as_list()
        [1, 4, 4, 5]
    """
    filter = either("filters", filters, "filter", filter)
    dilation_rate = either("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, "convolution", [input, filter]) as name:
        input = convert_to_tensor(input, name="input")
        # Plain numbers become of the input's type.
        kind = input.dtype.base_dtype if isinstance(filter, (np.ndarray, list, tuple)) else None
        filter = convert_to_tensor(filter, kind, name="filter")
        return Convolution(input.shape, filter.shape, padding, strides, dilation_rate, name, data_format)(input, filter)


class Convolution:
    """A convolution of which all but the tensors is known; layers make it once and call it."""

    def __init__(
        self, input_shape, filter_shape, padding, strides=None, dilation_rate=None, name=None, data_format=None
    ):
        rank = filter_shape.rank if filter_shape.rank is not None else input_shape.rank
        if rank is None:
            raise ValueError("Of the input and the filter at least one must be of known rank")
        spatial = rank - 2
        try:
            input_shape.with_rank(rank)
        except ValueError:
            raise ValueError(f"input tensor must have rank {rank}") from None
        try:
            filter_shape.with_rank(rank)
        except ValueError:
            raise ValueError(f"filter tensor must have rank {rank}") from None
        if _channels_first(data_format):
            channels, dims = input_shape.size(1), range(2, spatial + 2)
        elif data_format is None or data_format.endswith("C"):
            channels, dims = input_shape.size(spatial + 1), range(1, spatial + 1)
        else:
            raise ValueError(f"Unknown data_format {data_format!r}")
        depth = filter_shape.size(spatial)
        if channels is not None and depth is not None and channels != depth:
            raise ValueError(f"The input has {channels} channels, but the filter is for {depth}")
        first = _channels_first(data_format)
        strides = _spatial_part(strides, spatial, first, "strides")
        rates = _spatial_part(dilation_rate, spatial, first, "dilations")
        _check_strides_and_rates(strides, rates)
        if not isinstance(padding, str):
            raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")
        self._strides, self._format, self.name = strides, data_format, name
        self._spatial = spatial
        if spatial not in _FORMATS:
            raise ValueError(f"Cannot convolve over {spatial} spatial dimensions")
        # No gaps: no ops around the convolution, not even the constant of the rates.
        if all(rate == 1 for rate in rates):
            self._call = lambda images, filters: self._plain(images, filters, padding)
        else:
            self._call = _SpaceToBatch(
                input_shape,
                rates,
                padding,
                self._plain,
                filter_shape=filter_shape,
                spatial_dims=dims,
                data_format=data_format,
            )

    def __call__(self, images, filters):
        return self._call(images, filters)

    def _plain(self, images, filters, padding):
        last, first = _FORMATS[self._spatial]
        form = last if self._format is None else self._format
        if form not in (last, first):
            raise ValueError(f'data_format must be "{last}" or "{first}".')
        strides = [1, 1, *self._strides] if form == first else [1, *self._strides, 1]
        if self._spatial == 1:
            return conv1d(images, filters, self._strides[0], padding, data_format=form, name=self.name)
        if self._spatial == 2:
            return conv2d(images, filters, strides, padding, data_format=form, name=self.name)
        return conv3d(images, filters, strides, padding, data_format=form, name=self.name)


def pool(
    input,
    window_shape,
    pooling_type,
    padding,
    dilation_rate=None,
    strides=None,
    name=None,
    data_format=None,
    dilations=None,
):
    """Max or average pools over one, two or three dimensions, with strides or with gaps. `pooling_type`: "MAX" or
    "AVG".

    Args:
        input: Sequences, images or volumes.
        window_shape: The extent of the window along each spatial dimension.
        pooling_type: `MAX` or `AVG`.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        dilation_rate: How far apart the cells of a window are; 1 if None.
        strides: How far the window moves along each spatial dimension; 1 if None.
        name: The name of the operation in the graph.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        dilations: Another name of `dilation_rate`.

    Returns:
        A tensor with the same batch and channels.

    Raises:
        ValueError: If the pooling type isn't known, or the ranks don't fit.

    Example:
        >>> tf.nn.pool(tf.ones([1, 8, 8, 3]), [2, 2], "MAX", "VALID", strides=[2, 2]).shape.as_list()
        [1, 4, 4, 3]
    """
    dilation_rate = either("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        spatial = len(window_shape)
        if not 1 <= spatial <= 3:
            raise ValueError("It is required that 1 <= num_spatial_dims <= 3.")
        try:
            input.shape.with_rank(spatial + 2)
        except ValueError:
            raise ValueError(f"Input tensor must have rank {spatial + 2}") from None
        strides, rates = _one_each(strides, spatial, "strides"), _one_each(dilation_rate, spatial, "dilation_rate")
        _check_strides_and_rates(strides, rates)
        if padding == "SAME" and any(rate > 1 for rate in rates):
            raise ValueError(f"Pooling with a dilation_rate, here {rates}, can't have SAME padding")
        if any(s > window for s, window in zip(strides, window_shape, strict=True)):
            raise ValueError(f"strides must not be above window_shape; got {strides} and {list(window_shape)}")
        first = _channels_first(data_format)
        if not first and data_format is not None and not data_format.endswith("C"):
            raise ValueError("data_format must be 'N...C' or 'NC...'")
        if first:
            ksize, steps = [1, 1, *window_shape], [1, 1, *strides]
            dims = range(2, spatial + 2)
        else:
            ksize, steps = [1, *window_shape, 1], [1, *strides, 1]
            dims = range(1, spatial + 1)
        if (pooling_type, spatial) not in _POOLS:
            raise ValueError(f"{pooling_type} pooling is not supported over {spatial} spatial dimensions")
        build = _POOLS[pooling_type, spatial]

        def op(images, _spatial, padding):
            form = data_format or _FORMATS[spatial][0]
            return build(images, ksize, steps, padding, data_format=form, name=scope)

        return with_space_to_batch(
            input, rates, padding, op, filter_shape=window_shape, spatial_dims=dims, data_format=data_format
        )


def atrous_conv2d(value, filters, rate, padding, name=None):
    """`conv2d` with filters whose cells are `rate` apart.

    Args:
        value: Images [batch, height, width, in].
        filters: The filters: [height, width, in, out].
        rate: How far apart the cells of a filter are.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        name: The name of the operation in the graph.

    Returns:
        Images [batch, height, width, out].

    Example:
        >>> tf.nn.atrous_conv2d(tf.ones([1, 9, 9, 1]), tf.ones([3, 3, 1, 2]), rate=2, padding="VALID").shape.as_list()
        [1, 5, 5, 2]
    """
    return convolution(
        input=value, filter=filters, padding=padding, dilation_rate=np.broadcast_to(rate, (2,)), name=name
    )


def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """`atrous_conv2d` backwards: grow images to `output_shape`. Filters have the shape [height, width, out, in].

    Args:
        value: Images [batch, height, width, in].
        filters: The filters: [height, width, out, in].
        output_shape: The shape of the result.
        rate: How far apart the cells of a filter are.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        name: The name of the operation in the graph.

    Returns:
        Images [batch, height, width, out].

    Raises:
        ValueError: If the channels or the padding don't fit.

    Example:
        >>> y = tf.nn.atrous_conv2d_transpose(tf.ones([1, 5, 5, 2]), tf.ones([3, 3, 1, 2]), [1, 9, 9, 1], 2, "VALID")
        >>> y.shape.as_list()
        [1, 9, 9, 1]
    """
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]) as name:
        value = convert_to_tensor(value, name="value")
        filters = convert_to_tensor(filters, name="filters")
        if not value.shape.dims[3].is_compatible_with(filters.shape[3]):
            raise ValueError(f"The value has {value.shape[3]} channels, but the filters are for {filters.shape[3]}")
        if rate < 1:
            raise ValueError("rate cannot be less than one")
        if rate == 1:
            return conv2d_transpose(
                value, filters, output_shape, strides=[1, 1, 1, 1], padding=padding, data_format="NHWC"
            )
        size = convert_to_tensor(output_shape, name="output_shape")
        if not size.shape.is_compatible_with(TensorShape([4])):
            raise ValueError(f"output_shape must have shape (4,), got {size.shape}")
        if isinstance(output_shape, tuple):
            output_shape = list(output_shape)
        if isinstance(output_shape, (list, np.ndarray)):
            if not filters.shape.dims[2].is_compatible_with(output_shape[3]):
                raise ValueError(
                    f"The filters give {filters.shape[2]} channels, but output_shape has {output_shape[3]}"
                )
        top, bottom, left, right = _atrous_paddings(filters, rate, padding)
        height = output_shape[1] + top + bottom
        width = output_shape[2] + left + right
        # The padded size is made a multiple of the rate; what that adds is cropped again.
        extra_bottom = (rate - height % rate) % rate
        extra_right = (rate - width % rate) % rate
        cut = space_to_batch_nd(input=value, paddings=[[0, extra_bottom], [0, extra_right]], block_shape=[rate, rate])
        sizes = [
            rate * rate * output_shape[0],
            (height + extra_bottom) // rate,
            (width + extra_right) // rate,
            output_shape[3],
        ]
        grown = raw.Conv2DBackpropInput(
            input_sizes=sizes,
            filter=filters,
            out_backprop=cut,
            strides=[1, 1, 1, 1],
            padding="VALID",
            data_format="NHWC",
        )
        crops = [[top, bottom + extra_bottom], [left, right + extra_right]]
        return batch_to_space_nd(input=grown, crops=crops, block_shape=[rate, rate])


def _atrous_paddings(filters, rate, padding):
    if padding == "VALID":
        return 0, 0, 0, 0
    if padding != "SAME":
        raise ValueError("Invalid padding")
    if filters.shape.is_fully_defined():
        height, width = filters.shape.as_list()[:2]
    else:
        sizes = array.shape(filters)
        height, width = sizes[0], sizes[1]
    height = height + (height - 1) * (rate - 1)
    width = width + (width - 1) * (rate - 1)
    rows, columns = height - 1, width - 1
    top = rows // 2
    bottom = rows - top
    left = columns // 2
    return top, bottom, left, columns - left


def depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None):
    """Filters of each channel's own, of shape [height, width, in, multiplier], with strides or with gaps.

    Args:
        input: Images [batch, height, width, in].
        filter: The filters: [height, width, in, multiplier].
        strides: How far the filter moves along each dimension.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        rate: How far apart the cells of a filter are; 1 if None.
        name: The name of the operation in the graph.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        dilations: Another name of `rate`.

    Returns:
        Images with `in * multiplier` channels.

    Example:
        >>> tf.nn.depthwise_conv2d(tf.ones([1, 4, 4, 3]), tf.ones([3, 3, 3, 2]), [1, 1, 1, 1], "SAME").shape.as_list()
        [1, 4, 4, 6]
    """
    rate = either("dilations", dilations, "rate", rate)
    with name_scope(name, "depthwise", [input, filter]) as name:
        input = convert_to_tensor(input, name="tensor_in")
        filter = convert_to_tensor(filter, name="filter_in")

        def op(images, _spatial, padding):
            form = "NHWC" if data_format is None else data_format
            return depthwise_conv2d_native(images, filter, strides, padding, data_format=form, name=name)

        return with_space_to_batch(
            input,
            filter_shape=array.shape(filter),
            dilation_rate=[1, 1] if rate is None else rate,
            padding=padding,
            data_format=data_format,
            op=op,
        )


def separable_conv2d(
    input,
    depthwise_filter,
    pointwise_filter,
    strides,
    padding,
    rate=None,
    name=None,
    data_format=None,
    dilations=None,
):
    """A depthwise convolution, then one of size one that mixes the channels.

    Args:
        input: Images [batch, height, width, in].
        depthwise_filter: The filters of each channel: [height, width, in, multiplier].
        pointwise_filter: What mixes the channels: [1, 1, in * multiplier, out].
        strides: How far the filter moves along each dimension.
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        rate: How far apart the cells of a filter are; 1 if None.
        name: The name of the operation in the graph.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        dilations: Another name of `rate`.

    Returns:
        Images [batch, height, width, out].

    Example:
        >>> y = tf.nn.separable_conv2d(tf.ones([1, 4, 4, 3]), tf.ones([3, 3, 3, 2]), tf.ones([1, 1, 6, 5]), [1, 1, 1, 1], "SAME")
        >>> y.shape.as_list()
        [1, 4, 4, 5]
    """
    rate = either("dilations", dilations, "rate", rate)
    with name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as name:
        input = convert_to_tensor(input, name="tensor_in")
        depthwise_filter = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        pointwise = pointwise_filter.shape.with_rank(4)
        pointwise.dims[0].assert_is_compatible_with(1)
        pointwise.dims[1].assert_is_compatible_with(1)

        def op(images, _spatial, padding):
            form = "NHWC" if data_format is None else data_format
            return depthwise_conv2d_native(
                images, depthwise_filter, strides, padding, data_format=form, name="depthwise"
            )

        depthwise = with_space_to_batch(
            input,
            filter_shape=array.shape(depthwise_filter),
            dilation_rate=[1, 1] if rate is None else rate,
            padding=padding,
            data_format=data_format,
            op=op,
        )
        return conv2d(depthwise, pointwise_filter, [1, 1, 1, 1], "VALID", data_format=data_format, name=name)
