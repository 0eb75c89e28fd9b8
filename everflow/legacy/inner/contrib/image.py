"""What tf.contrib.image has inside of its modules: hue, saturation and brightness in YIQ, and the parts of a warp."""

from __future__ import annotations

import numpy as np

from everflow.contrib.image.warp import _boundary_points
from everflow.contrib.image.warp import _cross_squared_distance as _cross_squared_distance_matrix
from everflow.contrib.image.warp import _pairwise_squared_distance as _pairwise_squared_distance_matrix
from everflow.contrib.image.warp import _solve_spline as _solve_interpolation
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array
from everflow.ops.array.constants import constant
from everflow.ops.image.color import convert_image_dtype
from everflow.ops.random.distributions import random_uniform

__all__ = [
    "_add_zero_flow_controls_at_boundary",
    "_cross_squared_distance_matrix",
    "_expand_to_minibatch",
    "_get_boundary_locations",
    "_get_grid_locations",
    "_pairwise_squared_distance_matrix",
    "_solve_interpolation",
    "adjust_hsv_in_yiq",
    "random_hsv_in_yiq",
]

_get_boundary_locations = _boundary_points


def _get_grid_locations(image_height, image_width):
    """[height, width, 2] of the positions of pixels."""
    rows, columns = (np.linspace(0, size - 1, size) for size in (image_height, image_width))
    return np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1)


def _expand_to_minibatch(np_array, batch_size):
    """The same array for each element of a batch."""
    return np.tile(np_array[None], [batch_size] + [1] * np.ndim(np_array))


def _add_zero_flow_controls_at_boundary(
    control_point_locations, control_point_flows, image_height, image_width, boundary_points_per_edge
):
    """Points and flows, with those of the boundary, which stays where it is, behind them."""
    batch = control_point_locations.shape.size(0)
    points = _expand_to_minibatch(_boundary_points(image_height, image_width, boundary_points_per_edge), batch)
    dtype = control_point_locations.dtype.as_numpy_dtype
    points = constant(points.astype(dtype))
    still = constant(np.zeros(points.shape.as_list(), dtype))
    return array.concat([control_point_locations, points], 1), array.concat([control_point_flows, still], 1)


def random_hsv_in_yiq(
    image, max_delta_hue=0, lower_saturation=1, upper_saturation=1, lower_value=1, upper_value=1, seed=None
):
    """`adjust_hsv_in_yiq` by amounts drawn between bounds."""
    if max_delta_hue < 0:
        raise ValueError("max_delta must be non-negative.")
    for what, lower, upper in (
        ("saturation", lower_saturation, upper_saturation),
        ("value", lower_value, upper_value),
    ):
        if lower < 0:
            raise ValueError(f"lower {what} must be non-negative.")
        if lower > upper:
            raise ValueError(f"lower {what} must be < upper {what}.")

    def drawn(low, high):
        return low if low == high else random_uniform([], low, high, seed=seed)

    with name_scope(None, "random_hsv_in_yiq", [image]):
        hue = 0 if max_delta_hue == 0 else random_uniform([], -max_delta_hue, max_delta_hue, seed=seed)
        saturation, value = drawn(lower_saturation, upper_saturation), drawn(lower_value, upper_value)
        return adjust_hsv_in_yiq(image, hue, saturation, value)


def adjust_hsv_in_yiq(image, delta_hue=0, scale_saturation=1, scale_value=1, name=None):
    """An image with its hue turned by `delta_hue` radians, and with saturation and brightness scaled, in YIQ."""
    with name_scope(name, "adjust_hsv_in_yiq", [image]) as name:
        image = convert_to_tensor(image, name="image")
        original = image.dtype
        floats = convert_image_dtype(image, dtypes.float32)
        adjusted = raw.AdjustHsvInYiq(floats, delta_hue, scale_saturation, scale_value)
        return convert_image_dtype(adjusted, original)
