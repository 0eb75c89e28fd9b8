"""Stereograms in one image: `single_image_random_dot_stereograms`."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape


def single_image_random_dot_stereograms(
    depth_values, hidden_surface_removal=None, convergence_dots_size=None, dots_per_inch=None, eye_separation=None, mu=None, normalize=None,
    normalize_max=None, normalize_min=None, border_level=None, number_colors=None, output_image_shape=None, output_data_window=None,
):  # fmt: skip
    """An image of dots in which two eyes see the depths of a matrix: larger numbers come nearer.

    `output_image_shape` is [width, height, channels]; `output_data_window` [width, height] is the part of it that shows
    the data. With `number_colors` above 256 the image has three channels. Two dots at the bottom
    (`convergence_dots_size`) help the eyes to converge.
    """
    # What isn't given is left to the op's defaults.
    given = {name: value for name, value in locals().items() if value is not None and name != "depth_values"}
    return raw.SingleImageRandomDotStereograms(depth_values=depth_values, **given)


@shape_rule("SingleImageRandomDotStereograms")
def _stereogram_shape(op):
    width, height, *channels = op.attrs["output_image_shape"].as_list()
    return TensorShape([height, width, 3 if op.attrs["number_colors"] > 256 else (channels or [1])[0]])


not_differentiable("SingleImageRandomDotStereograms")
