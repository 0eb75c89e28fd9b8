"""Pooling: the largest or the mean of each window."""

from __future__ import annotations

from everflow import nn
from everflow.contrib.framework.arg_scope import add_arg_scope
from everflow.contrib.layers.outputs import check_data_format, collect_named_outputs
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.layers import pooling as base


def _pooling(name, layer_class, scope_name, default_format):
    def pool(
        inputs, kernel_size, stride=2, padding="VALID", data_format=default_format, outputs_collections=None, scope=None
    ):
        first = default_format[0] + "C" + default_format[1:-1]
        check_data_format(data_format, first, default_format)
        with name_scope(scope, scope_name, [inputs]) as sc:
            inputs = convert_to_tensor(inputs)
            window = {"pool_size": kernel_size, "strides": stride, "padding": padding}
            layer_format = "channels_first" if data_format == first else "channels_last"
            layer = layer_class(**window, data_format=layer_format, _scope=sc)
            return collect_named_outputs(outputs_collections, sc, layer.apply(inputs))

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"The {'largest' if 'max' in name else 'mean'} of each window, in each channel."
    return add_arg_scope(pool)


avg_pool2d = _pooling("avg_pool2d", base.AveragePooling2D, "AvgPool2D", "NHWC")
avg_pool3d = _pooling("avg_pool3d", base.AveragePooling3D, "AvgPool3D", "NDHWC")
max_pool2d = _pooling("max_pool2d", base.MaxPooling2D, "MaxPool2D", "NHWC")
max_pool3d = _pooling("max_pool3d", base.MaxPooling3D, "MaxPool3D", "NDHWC")


@add_arg_scope
def pool(inputs, kernel_size, pooling_type, padding="VALID", data_format=None, dilation_rate=1, stride=1, outputs_collections=None,
         scope=None):  # fmt: skip
    """Pooling over as many dimensions as the inputs have; `pooling_type` is "MAX" or "AVG"."""
    with name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError("Rank of inputs must be known")
        if rank < 3:
            raise ValueError("Rank of inputs must be >= 3")
        spatial = rank - 2
        sizes = lambda value: list(value) if isinstance(value, (list, tuple)) else [value] * spatial  # noqa: E731
        window = {"window_shape": sizes(kernel_size), "dilation_rate": sizes(dilation_rate), "strides": sizes(stride)}
        kind = {"pooling_type": pooling_type, "padding": padding, "data_format": data_format}
        outputs = nn.pool(input=inputs, **window, **kind, name=sc)
        return collect_named_outputs(outputs_collections, sc, outputs)
