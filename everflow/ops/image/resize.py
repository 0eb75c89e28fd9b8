"""Resizing of images, as TensorFlow 1 samples them and as its 2 does, and crops resized to one size."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import gradient, shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, same_size
from everflow.framework.static_values import constant_value_as_shape, known_shape, known_value
from everflow.ops import array, math
from everflow.ops.array.basic import either
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.image.checks import as_batch, at_least_3d_checks, dimensions, require
from everflow.ops.image.transform import maximum, pad_to_bounding_box
from everflow.ops.shape_rules import like_second


class ResizeMethodV1:
    """How pixels are sampled when resizing.

    Example:
        >>> tf.image.resize_images(tf.zeros([2, 2, 1]), [4, 4], tf.image.ResizeMethod.NEAREST_NEIGHBOR).shape.as_list()
        [4, 4, 1]
    """

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


class ResizeMethod:
    """How pixels are sampled when resizing, in TensorFlow 2's words."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def resize_bilinear(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Resize [batch, height, width, channels] images by linear interpolation.

    Args:
        images: An image [height, width, channels], or a batch of images.
        size: The new height and width.
        align_corners: Whether the centres of the corner pixels stay at the corners.
        name: The name of the operation in the graph.
        half_pixel_centers: Whether pixels are thought of at the middle of their squares.

    Returns:
        Images of the new size.

    Example:
        >>> sess.run(tf.image.resize_bilinear([[[[0.0], [4.0]]]], [1, 4]))[0, :, :, 0]
        array([[0., 2., 4., 4.]], dtype=float32)
    """
    return raw.ResizeBilinear(
        images=images, size=size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


def resize_nearest_neighbor(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Resize [batch, height, width, channels] images by taking the nearest pixel.

    Args:
        images: An image [height, width, channels], or a batch of images.
        size: The new height and width.
        align_corners: Whether the centres of the corner pixels stay at the corners.
        name: The name of the operation in the graph.
        half_pixel_centers: Whether pixels are thought of at the middle of their squares.

    Returns:
        Images of the new size.

    Example:
        >>> sess.run(tf.image.resize_nearest_neighbor([[[[0.0], [4.0]]]], [1, 4]))[0, :, :, 0]
        array([[0., 0., 4., 4.]], dtype=float32)
    """
    return raw.ResizeNearestNeighbor(**locals())


def resize_bicubic(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Resize [batch, height, width, channels] images by cubic interpolation.

    Args:
        images: An image [height, width, channels], or a batch of images.
        size: The new height and width.
        align_corners: Whether the centres of the corner pixels stay at the corners.
        name: The name of the operation in the graph.
        half_pixel_centers: Whether pixels are thought of at the middle of their squares.

    Returns:
        Images of the new size.

    Example:
        >>> sess.run(tf.image.resize_bicubic([[[[0.0], [4.0]]]], [1, 4]))[0, :, :, 0]
        array([[0.   , 2.   , 4.   , 4.375]], dtype=float32)
    """
    return raw.ResizeBicubic(
        images=images, size=size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


def resize_area(images, size, align_corners=False, name=None):
    """Resize [batch, height, width, channels] images to the mean over the area of each new pixel.

    Args:
        images: An image [height, width, channels], or a batch of images.
        size: The new height and width.
        align_corners: Whether the centres of the corner pixels stay at the corners.
        name: The name of the operation in the graph.

    Returns:
        Images of the new size.

    Example:
        >>> sess.run(tf.image.resize_area([[[[0.0], [4.0]]]], [1, 4]))[0, :, :, 0]
        array([[0., 0., 4., 4.]], dtype=float32)
    """
    return raw.ResizeArea(images=images, size=size, align_corners=align_corners, name=name)


_V1_METHODS = {
    **dict.fromkeys((ResizeMethodV1.BILINEAR, ResizeMethod.BILINEAR), resize_bilinear),
    **dict.fromkeys((ResizeMethodV1.NEAREST_NEIGHBOR, ResizeMethod.NEAREST_NEIGHBOR), resize_nearest_neighbor),
    **dict.fromkeys((ResizeMethodV1.BICUBIC, ResizeMethod.BICUBIC), resize_bicubic),
    **dict.fromkeys((ResizeMethodV1.AREA, ResizeMethod.AREA), resize_area),
}


def resize_images(
    images, size, method=ResizeMethodV1.BILINEAR, align_corners=False, preserve_aspect_ratio=False, name=None
):
    """Resize an image or a batch to `size`, a (height, width); with the aspect kept, to what fits into it.

    Args:
        images: An image [height, width, channels], or a batch of images.
        size: The new height and width.
        method: A value of `tf.image.ResizeMethod`.
        align_corners: Whether the centres of the corner pixels stay at the corners.
        preserve_aspect_ratio: Whether the image keeps its proportions, within the size.
        name: The name of the operation in the graph.

    Returns:
        Images of the new size.

    Raises:
        ValueError: If the images or the size have the wrong rank, or the method isn't known.

    Example:
        >>> sess.run(tf.image.resize([[[0.0], [4.0]]], [1, 4]))[:, :, 0]
        array([[0., 2., 4., 4.]], dtype=float32)
    """

    def resizer(images, size):
        if method not in _V1_METHODS:
            raise ValueError("Resize method is not implemented.")
        return _V1_METHODS[method](images, size, align_corners=align_corners)

    return _resize_common(images, resizer, size, preserve_aspect_ratio, name, skip_resize_if_same=True)


# Methods of TensorFlow 2 that sample with a kernel; these and antialiased ones go through ScaleAndTranslate.
_KERNELS = {ResizeMethod.LANCZOS3, ResizeMethod.LANCZOS5, ResizeMethod.GAUSSIAN, ResizeMethod.MITCHELLCUBIC}


def resize_images_v2(
    images, size, method=ResizeMethod.BILINEAR, preserve_aspect_ratio=False, antialias=False, name=None
):
    """Resize with pixel centres at halves, as TensorFlow 2 does; `antialias` smooths when shrinking."""

    def sampled(images, size, kernel):
        sizes = math.cast(size, dtypes.float32) / math.cast(array.shape(images)[1:3], dtypes.float32)
        return raw.ScaleAndTranslate(
            images=images, size=size, scale=sizes, translation=array.zeros([2]), kernel_type=kernel, antialias=antialias
        )

    def resizer(images, size):
        if method == ResizeMethod.BILINEAR:
            return (
                sampled(images, size, "triangle")
                if antialias
                else resize_bilinear(images, size, half_pixel_centers=True)
            )
        if method == ResizeMethod.NEAREST_NEIGHBOR:
            return resize_nearest_neighbor(images, size, half_pixel_centers=True)
        if method == ResizeMethod.BICUBIC:
            return (
                sampled(images, size, "keyscubic")
                if antialias
                else resize_bicubic(images, size, half_pixel_centers=True)
            )
        if method == ResizeMethod.AREA:
            return resize_area(images, size)
        if method in _KERNELS:
            return sampled(images, size, method)
        raise ValueError("Resize method is not implemented.")

    return _resize_common(images, resizer, size, preserve_aspect_ratio, name, skip_resize_if_same=False)


def _resize_common(images, resizer, size, preserve_aspect_ratio, name, skip_resize_if_same):
    with name_scope(name, "resize", [images, size]):
        images = convert_to_tensor(images, name="images")
        if images.shape.rank is None:
            raise ValueError("'images' contains no shape.")
        is_batch = images.shape.rank == 4
        if images.shape.rank == 3:
            images = array.expand_dims(images, 0)
        elif not is_batch:
            raise ValueError("'images' must have either 3 or 4 dimensions.")
        _, height, width, _ = images.shape.as_list()
        try:
            size = convert_to_tensor(size, dtypes.int32, name="size")
        except (TypeError, ValueError):
            raise ValueError("'size' must be a 1-D int32 Tensor") from None
        if not size.shape.is_compatible_with([2]):
            raise ValueError(f"'size' must be a vector [height, width]; it has the shape {size.shape}")
        if preserve_aspect_ratio:
            size = _aspect_preserving_size(images, size)
        new_height, new_width = constant_value_as_shape(size).with_rank(2).as_list()
        if skip_resize_if_same and new_height is not None and (height, width) == (new_height, new_width):
            return images if is_batch else array.squeeze(images, axis=[0])
        images = resizer(images, size)
        images.set_shape([None, new_height, new_width, None])
        return images if is_batch else array.squeeze(images, axis=[0])


def _aspect_preserving_size(images, size):
    new_height, new_width = constant_value_as_shape(size).with_rank(2).as_list()
    _, height, width, _ = dimensions(images, rank=4)
    by_height = math.cast(new_height, dtypes.float32) / math.cast(height, dtypes.float32)
    by_width = math.cast(new_width, dtypes.float32) / math.cast(width, dtypes.float32)
    scale = math.minimum(by_height, by_width)
    scaled_height = math.cast(math.round(scale * math.cast(height, dtypes.float32)), dtypes.int32)
    scaled_width = math.cast(math.round(scale * math.cast(width, dtypes.float32)), dtypes.int32)
    return convert_to_tensor([scaled_height, scaled_width], dtypes.int32, name="size")


def resize_image_with_pad(image, target_height, target_width, method=ResizeMethodV1.BILINEAR, align_corners=False):
    """Resize images as far as fits into the target with the aspect kept, and pad the rest evenly with zeros.

    Args:
        image: An image [height, width, channels], or a batch of images.
        target_height: The new height.
        target_width: The new width.
        method: A value of `tf.image.ResizeMethod`.
        align_corners: Whether the centres of the corner pixels stay at the corners.

    Returns:
        Images of the new size.

    Example:
        >>> tf.image.resize_image_with_pad(tf.zeros([6, 8, 3]), 4, 10).shape.as_list()
        [4, 10, 3]
    """

    def resizer(images, size):
        return resize_images(images, size, method, align_corners=align_corners)

    return _resize_with_pad(image, target_height, target_width, resizer)


def resize_image_with_pad_v2(image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias=False):
    """As `resize_image_with_pad`, sampling as TensorFlow 2 does."""

    def resizer(images, size):
        return resize_images_v2(images, size, method, antialias=antialias)

    return _resize_with_pad(image, target_height, target_width, resizer)


def _resize_with_pad(image, target_height, target_width, resizer):
    with name_scope(None, "resize_image_with_pad", [image]):
        image, is_batch = as_batch(convert_to_tensor(image, name="image"))
        checks = at_least_3d_checks(image, require_static=False)
        checks += require(target_width > 0, "target_width must be > 0.")
        checks += require(target_height > 0, "target_height must be > 0.")
        image = with_dependencies(checks, image)
        _, height, width, _ = dimensions(image, rank=4)
        height, width = math.cast(height, dtypes.float64), math.cast(width, dtypes.float64)
        full_height, full_width = math.cast(target_height, dtypes.float64), math.cast(target_width, dtypes.float64)
        ratio = maximum(width / full_width, height / full_height)
        new_height, new_width = height / ratio, width / ratio
        size = [math.cast(math.floor(side), dtypes.int32) for side in (new_height, new_width)]
        above, left = (full_height - new_height) / 2, (full_width - new_width) / 2
        above, left = math.floor(above), math.floor(left)
        above, left = (maximum(0, math.cast(side, dtypes.int32)) for side in (above, left))
        resized = resizer(image, size)
        padded = pad_to_bounding_box(resized, above, left, target_height, target_width)
        if padded.shape.rank is None:
            raise ValueError("padded contains no shape.")
        dimensions(padded, rank=4)  # unused, but TensorFlow's graph has the nodes
        return padded if is_batch else array.squeeze(padded, axis=[0])


def crop_and_resize(
    image, boxes, box_ind=None, crop_size=None, method="bilinear", extrapolation_value=0, name=None, box_indices=None
):
    """Boxes of images, each resized to `crop_size`. Box corners are (y1, x1, y2, x2) between 0 and 1; what lies beyond
    is filled.

    Args:
        image: A batch of images [batch, height, width, channels].
        boxes: Boxes by their corners (y1, x1, y2, x2), between 0 and 1: [boxes, 4].
        box_ind: For each box the number of its image.
        crop_size: The height and width of a piece.
        method: `bilinear` or `nearest`.
        extrapolation_value: What stands beyond an image.
        name: The name of the operation in the graph.
        box_indices: Another name of `box_ind`.

    Returns:
        Pieces [boxes, height, width, channels], floats.

    Example:
        >>> pieces = tf.image.crop_and_resize(tf.ones([1, 8, 8, 3]), [[0.0, 0.0, 0.5, 0.5]], [0], [4, 4])
        >>> pieces.shape.as_list()
        [1, 4, 4, 3]
    """
    box_ind = either("box_indices", box_indices, "box_ind", box_ind)
    return raw.CropAndResize(
        image=image,
        boxes=boxes,
        box_ind=box_ind,
        crop_size=crop_size,
        method=method,
        extrapolation_value=extrapolation_value,
        name=name,
    )


def crop_and_resize_v2(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0, name=None):
    """As `crop_and_resize`, with the indices under their newer name."""
    return crop_and_resize(image, boxes, box_indices, crop_size, method, extrapolation_value, name)


# Shape rules


def _of_rank(tensor, rank):
    if tensor.shape.rank not in (None, rank):
        raise ValueError(f"Shape must be rank {rank} but is rank {tensor.shape.rank}")
    return tensor.shape.with_rank(rank)


def _size_of_two(tensor):
    """(height, width) held by a size vector, as far as known."""
    shape = _of_rank(tensor, 1)
    if shape.size(0) not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {shape.size(0)}")
    # One side alone is not used, as in TensorFlow.
    sizes = known_value(tensor)
    return [None, None] if sizes is None else [int(n) for n in sizes]


@shape_rule(
    "ResizeArea",
    "ResizeBicubic",
    "ResizeBilinear",
    "ResizeNearestNeighbor",
    "ScaleAndTranslate",
    "ResizeNearestNeighborGrad",
)
def _resized_shape(op):
    images = _of_rank(op.inputs[0], 4)
    return TensorShape([images[0], *_size_of_two(op.inputs[1]), images[3]])


@shape_rule("QuantizedResizeBilinear")
def _quantized_resized_shape(op):
    return [_resized_shape(op), TensorShape([]), TensorShape([])]


shape_rule("ResizeBilinearGrad", "ResizeBicubicGrad", "ScaleAndTranslateGrad")(like_second)


@shape_rule("CropAndResize")
def _crop_and_resize_shape(op):
    image, boxes, box_ind = _of_rank(op.inputs[0], 4), _of_rank(op.inputs[1], 2), _of_rank(op.inputs[2], 1)
    count = same_size(boxes.size(0), box_ind.size(0))
    if boxes.size(1) not in (None, 4):
        raise ValueError(f"Dimension must be 4 but is {boxes.size(1)}")
    return TensorShape([count, *_size_of_two(op.inputs[3]), image[3]])


@shape_rule("CropAndResizeGradImage")
def _crop_grad_image_shape(op):
    return known_shape(op.inputs[3]).with_rank(4)


@shape_rule("CropAndResizeGradBoxes")
def _crop_grad_boxes_shape(op):
    return op.inputs[2].shape


# Gradients


@gradient("ResizeNearestNeighbor")
def _resize_nearest_neighbor_grad(op, grad):
    image = op.inputs[0]
    if image.shape[1:3].is_fully_defined():
        size = image.shape[1:3].as_list()
    else:
        size = array.shape(image)[1:3]
    return [
        raw.ResizeNearestNeighborGrad(
            grads=grad,
            size=size,
            align_corners=op.attrs["align_corners"],
            half_pixel_centers=op.attrs["half_pixel_centers"],
        ),
        None,
    ]


@gradient("ResizeBilinear")
def _resize_bilinear_grad(op, grad):
    options = {"align_corners": op.attrs["align_corners"], "half_pixel_centers": op.attrs["half_pixel_centers"]}
    return [raw.ResizeBilinearGrad(grads=grad, original_image=op.inputs[0], **options), None]


@gradient("ScaleAndTranslate")
def _scale_and_translate_grad(op, grad):
    made = raw.ScaleAndTranslateGrad(
        grads=grad,
        original_image=op.inputs[0],
        scale=op.inputs[2],
        translation=op.inputs[3],
        kernel_type=op.attrs["kernel_type"],
        antialias=op.attrs["antialias"],
    )
    return [made, None, None, None]


@gradient("ResizeBicubic")
def _resize_bicubic_grad(op, grad):
    if op.inputs[0].dtype not in (dtypes.float32, dtypes.float64):
        return [None, None]
    options = {"align_corners": op.attrs["align_corners"], "half_pixel_centers": op.attrs["half_pixel_centers"]}
    return [raw.ResizeBicubicGrad(grads=grad, original_image=op.inputs[0], **options), None]


@gradient("CropAndResize")
def _crop_and_resize_grad(op, grad):
    image, boxes, box_ind = op.inputs[:3]
    shape = image.shape.as_list() if image.shape.is_fully_defined() else array.shape(image)
    image_grad = None
    if image.dtype in (dtypes.float16, dtypes.float32, dtypes.float64):
        image_grad = raw.CropAndResizeGradImage(
            grads=grad, boxes=boxes, box_ind=box_ind, image_size=shape, T=image.dtype, method=op.attrs["method"]
        )
    box_grad = raw.CropAndResizeGradBoxes(grads=grad, image=image, boxes=boxes, box_ind=box_ind)
    return [image_grad, box_grad, None, None]
