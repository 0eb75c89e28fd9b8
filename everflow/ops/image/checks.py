"""What image functions check of their arguments: now where shapes are known, when run where they are not."""

from __future__ import annotations

from everflow.framework.operation import Tensor
from everflow.ops import array
from everflow.ops.checks import values as check
from everflow.ops.control_flow import Assert
from everflow.ops.control_flow.grouping import with_dependencies


def is_tensor(x):
    """Whether a size or offset is known only when run."""
    return isinstance(x, Tensor) or hasattr(x, "_is_tensor_like")


def require(condition, message):
    """A list of assertions: none for a Python bool that holds, which raises ValueError where it doesn't."""
    if is_tensor(condition):
        return [Assert(condition, [message])]
    if not condition:
        raise ValueError(message)
    return []


def at_least_3d_checks(image, require_static=True):
    """Assertions that an image (or batch) has at least three dimensions, none of the last three empty."""
    shape = image.shape
    if shape.rank is not None and shape.rank < 3:
        raise ValueError("'image' must be at least three-dimensional.")
    if require_static and not shape.is_fully_defined():
        raise ValueError("'image' must be fully defined.")
    if shape.rank is not None and any(size == 0 for size in shape.sizes[-3:]):
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {shape}")
    if shape.is_fully_defined():
        return []
    return [
        check.assert_positive(array.shape(image), data=["all dims of 'image.shape' must be > 0."]),
        check.assert_greater_equal(array.rank(image), 3, message="'image' must be at least three-dimensional."),
    ]


def checked_3d(image):
    """The image, after `at_least_3d_checks`."""
    return with_dependencies(at_least_3d_checks(image, require_static=False), image)


def dimensions(image, rank):
    """The sizes of an image: ints where known, scalar tensors elsewhere."""
    if image.shape.is_fully_defined():
        return image.shape.as_list()
    static = image.shape.with_rank(rank).as_list()
    dynamic = array.unstack(array.shape(image), rank)
    return [s if s is not None else d for s, d in zip(static, dynamic)]


def as_batch(image):
    """(images with a batch dimension, whether they came with one)."""
    rank = image.shape.rank
    if rank == 4:
        return image, True
    if rank not in (None, 3):
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    image = array.expand_dims(image, 0)
    if rank is None:
        image.set_shape([None] * 4)
    return image, False
