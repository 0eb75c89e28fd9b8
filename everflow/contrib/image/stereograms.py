"""Stereograms in one image: `single_image_random_dot_stereograms`."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape
from everflow.platform.signatures import optional, takes

# Attributes of the op, which has defaults for them.
_SETTINGS = optional("""hidden_surface_removal convergence_dots_size dots_per_inch eye_separation mu normalize normalize_max
    normalize_min border_level number_colors output_image_shape output_data_window""")


@takes(_SETTINGS)
def single_image_random_dot_stereograms(depth_values, **given):
    """An image of dots in which two eyes see the depths of a matrix: larger numbers come nearer.

    `output_image_shape` is [width, height, channels]; `output_data_window` [width, height] is the part of it that shows
    the data. With `number_colors` above 256 the image has three channels. Two dots at the bottom
    (`convergence_dots_size`) help the eyes to converge.
    """
    settings = {name: value for name, value in given.items() if value is not None}
    return raw.SingleImageRandomDotStereograms(depth_values=depth_values, **settings)


@shape_rule("SingleImageRandomDotStereograms")
def _stereogram_shape(op):
    width, height, *channels = op.attrs["output_image_shape"].as_list()
    return TensorShape([height, width, 3 if op.attrs["number_colors"] > 256 else (channels or [1])[0]])


not_differentiable("SingleImageRandomDotStereograms")
