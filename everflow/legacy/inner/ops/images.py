"""Names that programs take from inside TensorFlow's `image_ops_impl`: methods of resizing as tf.compat.v2 names them,
checks of images, and boxes chosen by a table of overlaps.
"""

from __future__ import annotations

from typing import Any

from everflow.framework import raw_ops as raw
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array
from everflow.ops.checks.values import assert_equal, assert_greater_equal
from everflow.ops.control_flow import Assert
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.image.checks import at_least_3d_checks as _CheckAtLeast3DImage
from everflow.ops.image.checks import checked_3d as _AssertAtLeast3DImage
from everflow.ops.image.checks import dimensions as _ImageDimensions
from everflow.ops.image.checks import is_tensor
from everflow.ops.image.metrics import _SCALE_WEIGHTS as _MSSSIM_WEIGHTS
from everflow.ops.image.metrics import _gaussian_kernel as _fspecial_gauss
from everflow.ops.image.metrics import _same_shape_checks as _verify_compatible_image_shapes
from everflow.ops.image.resize import ResizeMethod, ResizeMethodV1

__all__ = [
    "ResizeMethod",
    "ResizeMethodV1",
    "_Assert3DImage",
    "_AssertAtLeast3DImage",
    "_AssertGrayscaleImage",
    "_Check3DImage",
    "_CheckAtLeast3DImage",
    "_CheckGrayscaleImage",
    "_ImageDimensions",
    "_MSSSIM_WEIGHTS",
    "_assert",
    "_fspecial_gauss",
    "_verify_compatible_image_shapes",
    "fix_image_flip_shape",
    "non_max_suppression_with_overlaps",
]


def _assert(cond: Any, ex_type: type[Exception], msg: str) -> list:
    """Assertions of a tensor; for a Python bool none, and an exception where it doesn't hold."""
    if is_tensor(cond):
        return [Assert(cond, [msg])]
    if not cond:
        raise ex_type(msg)
    return []


def _Check3DImage(image: Tensor, require_static: bool = True) -> list:
    """Assertions that something is one image; ValueError where it is known not to be."""
    if image.shape.rank not in (None, 3):
        raise ValueError(f"An image has three dimensions; this one is of shape {image.shape}")
    return _CheckAtLeast3DImage(image, require_static)


def _Assert3DImage(image: Tensor) -> Tensor:
    """An image, after those assertions."""
    return with_dependencies(_Check3DImage(image, require_static=False), image)


def _CheckGrayscaleImage(image: Tensor, require_static: bool = True) -> list:
    """Assertions that images have one channel; ValueError where they are known to have others."""
    shape = image.shape
    if shape.rank is not None and shape.rank < 2:
        raise ValueError(f"A grayscale image is at least two-dimensional; this one is of shape {shape}")
    if require_static and not shape.is_fully_defined():
        raise ValueError("The shape of the image must be fully defined.")
    if shape.rank is not None and shape.size(-1) not in (None, 1):
        raise ValueError(f"A grayscale image has one channel; this one is of shape {shape}")
    if shape.is_fully_defined():
        return []
    return [
        assert_equal(array.shape(image)[-1], 1, message="A grayscale image has one channel."),
        assert_greater_equal(array.rank(image), 3, message="A grayscale image must be at least three-dimensional."),
    ]


def _AssertGrayscaleImage(image: Tensor) -> Tensor:
    """An image, after those assertions."""
    return with_dependencies(_CheckGrayscaleImage(image, require_static=False), image)


def fix_image_flip_shape(image: Tensor, result: Tensor) -> Tensor:
    """A flipped image with what is known of the shape it had."""
    shape = image.shape
    result.set_shape([None, None, None] if shape.rank is None else shape)
    return result


def non_max_suppression_with_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """Numbers of the best boxes, none of which overlaps another by more than a threshold."""
    with name_scope(name, "non_max_suppression_overlaps"):
        return raw.NonMaxSuppressionWithOverlaps(
            overlaps=overlaps,
            scores=scores,
            max_output_size=max_output_size,
            overlap_threshold=overlap_threshold,
            score_threshold=score_threshold,
        )
