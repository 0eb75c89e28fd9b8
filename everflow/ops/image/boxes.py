"""Bounding boxes: drawing, sampling, suppression of overlapping ones; and glimpses."""

from __future__ import annotations

import math as python_math

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.seeds import get_seed
from everflow.framework.shapes import TensorShape, same_size
from everflow.framework.static_values import known_shape, known_value

_NO_THRESHOLD = -python_math.inf


def draw_bounding_boxes(images, boxes, name=None, colors=None):
    """Images with the outlines of boxes; corners are (y1, x1, y2, x2) between 0 and 1.

    Args:
        images: An image [height, width, channels], or a batch of images.
        boxes: Boxes by their corners (y1, x1, y2, x2), between 0 and 1: [batch, boxes, 4].
        name: The name of the operation in the graph.
        colors: Colours [colours, channels], used in turn; a palette if None.

    Returns:
        Images of the same shape.

    Example:
        >>> sess.run(tf.image.draw_bounding_boxes(tf.zeros([1, 3, 3, 1]), [[[0.0, 0.0, 1.0, 1.0]]], colors=[[1.0]]))[0, :, :, 0]
        array([[1., 1., 1.],
               [1., 0., 1.],
               [1., 1., 1.]], dtype=float32)
    """
    if colors is None:
        return raw.DrawBoundingBoxes(images=images, boxes=boxes, name=name)
    return raw.DrawBoundingBoxesV2(images=images, boxes=boxes, colors=colors, name=name)


def draw_bounding_boxes_v2(images, boxes, colors, name=None):
    """As `draw_bounding_boxes`, with the colours in third place."""
    return draw_bounding_boxes(images, boxes, name, colors)


def sample_distorted_bounding_box(
    image_size,
    bounding_boxes,
    seed=None,
    seed2=None,
    min_object_covered=0.1,
    aspect_ratio_range=None,
    area_range=None,
    max_attempts=None,
    use_image_if_no_bounding_boxes=None,
    name=None,
):
    """(begin, size, box) of a random crop that holds at least `min_object_covered` of some bounding box.

    Args:
        image_size: The shape of the image: [height, width, channels].
        bounding_boxes: The boxes of objects: [batch, boxes, 4], by their corners (y1, x1, y2, x2) between 0 and 1.
        seed: A number that makes the random numbers the same in each run of the program.
        seed2: A second seed, for one that TensorFlow's generated function takes.
        min_object_covered: The least part of a box that the crop holds.
        aspect_ratio_range: The bounds of width over height; [0.75, 1.33] if None.
        area_range: The bounds of the crop's part of the image; [0.05, 1] if None.
        max_attempts: How often is tried before the whole image is taken; 100 if None.
        use_image_if_no_bounding_boxes: Whether the whole image counts as a box where there are none; else that is an
            error.
        name: The name of the operation in the graph.

    Returns:
        `begin` and `size` for `tf.slice`, and the box for `tf.image.draw_bounding_boxes`.

    Example:
        >>> begin, size, box = tf.image.sample_distorted_bounding_box([8, 8, 3], [[[0.0, 0.0, 1.0, 1.0]]])
        >>> sess.run(tf.shape(tf.slice(tf.zeros([8, 8, 3]), begin, size)))[2]
        np.int32(3)
    """
    with name_scope(name, "sample_distorted_bounding_box"):
        return raw.SampleDistortedBoundingBoxV2(**locals())


def sample_distorted_bounding_box_v2(
    image_size,
    bounding_boxes,
    seed=0,
    min_object_covered=0.1,
    aspect_ratio_range=None,
    area_range=None,
    max_attempts=None,
    use_image_if_no_bounding_boxes=None,
    name=None,
):
    """As `sample_distorted_bounding_box`, with one seed that is joined to the graph's."""
    arguments = dict(locals())
    arguments["seed"], arguments["seed2"] = get_seed(seed) if seed else (0, 0)
    return sample_distorted_bounding_box(**arguments)


def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=_NO_THRESHOLD, name=None):
    """Indices of the best boxes, leaving out those that overlap a better one by more than `iou_threshold`.

    Args:
        boxes: Boxes [boxes, 4] by their corners (y1, x1, y2, x2).
        scores: A score for each box.
        max_output_size: The most boxes to keep.
        iou_threshold: The greatest overlap (intersection over union) of two boxes that are kept.
        score_threshold: Boxes with a lower score are left out.
        name: The name of the operation in the graph.

    Returns:
        A vector of indices.

    Example:
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.9, 1.0], [2.0, 2.0, 3.0, 3.0]]
        >>> sess.run(tf.image.non_max_suppression(boxes, [0.9, 0.8, 0.7], max_output_size=3))
        array([0, 2], dtype=int32)
    """
    with name_scope(name, "non_max_suppression"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        return raw.NonMaxSuppressionV3(boxes, scores, max_output_size, iou_threshold, score_threshold)


def non_max_suppression_padded(
    boxes,
    scores,
    max_output_size,
    iou_threshold=0.5,
    score_threshold=_NO_THRESHOLD,
    pad_to_max_output_size=False,
    name=None,
):
    """(indices, how many are valid), the indices padded with zeros to `max_output_size` if asked.

    Args:
        boxes: Boxes by their corners (y1, x1, y2, x2).
        scores: A score for each box.
        max_output_size: The most boxes to keep.
        iou_threshold: The greatest overlap (intersection over union) of two boxes that are kept.
        score_threshold: Boxes with a lower score are left out.
        pad_to_max_output_size: Whether the indices are padded.
        name: The name of the operation in the graph.

    Returns:
        A vector of indices, and a scalar.

    Example:
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.9, 1.0]]
        >>> sess.run(tf.image.non_max_suppression_padded(boxes, [0.9, 0.8], 2, pad_to_max_output_size=True))
        NonMaxSuppressionV4(selected_indices=array([0, 0], dtype=int32), valid_outputs=np.int32(1))
    """
    with name_scope(name, "non_max_suppression_padded"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        return raw.NonMaxSuppressionV4(
            boxes,
            scores,
            max_output_size,
            iou_threshold,
            score_threshold,
            pad_to_max_output_size=pad_to_max_output_size,
        )


def non_max_suppression_with_scores(
    boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=_NO_THRESHOLD, soft_nms_sigma=0.0, name=None
):
    """(indices, scores); with `soft_nms_sigma`, overlaps lower scores rather than leave boxes out.

    Args:
        boxes: Boxes by their corners (y1, x1, y2, x2).
        scores: A score for each box.
        max_output_size: The most boxes to keep.
        iou_threshold: The greatest overlap (intersection over union) of two boxes that are kept.
        score_threshold: Boxes with a lower score are left out.
        soft_nms_sigma: How much overlaps lower scores; 0 leaves boxes out.
        name: The name of the operation in the graph.

    Returns:
        A vector of indices, and one of scores.

    Example:
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.9, 1.0]]
        >>> sess.run(tf.image.non_max_suppression_with_scores(boxes, [0.9, 0.8], 2))
        (array([0], dtype=int32), array([0.9], dtype=float32))
    """
    with name_scope(name, "non_max_suppression_with_scores"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        soft_nms_sigma = convert_to_tensor(soft_nms_sigma, name="soft_nms_sigma")
        indices, kept_scores, _ = raw.NonMaxSuppressionV5(
            boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma, pad_to_max_output_size=False
        )
        return indices, kept_scores


def non_max_suppression_overlaps(
    overlaps, scores, max_output_size, overlap_threshold=0.5, score_threshold=_NO_THRESHOLD, name=None
):
    """As `non_max_suppression`, with a matrix of overlaps instead of boxes.

    Args:
        overlaps: How much each two boxes overlap: [boxes, boxes].
        scores: A score for each box.
        max_output_size: The most boxes to keep.
        overlap_threshold: The greatest overlap of two boxes that are kept.
        score_threshold: Boxes with a lower score are left out.
        name: The name of the operation in the graph.

    Returns:
        A vector of indices.

    Example:
        >>> sess.run(tf.image.non_max_suppression_overlaps([[1.0, 0.8], [0.8, 1.0]], [0.9, 0.8], 2))
        array([0], dtype=int32)
    """
    with name_scope(name, "non_max_suppression_overlaps"):
        overlap_threshold = convert_to_tensor(overlap_threshold, name="overlap_threshold")
        return raw.NonMaxSuppressionWithOverlaps(overlaps, scores, max_output_size, overlap_threshold, score_threshold)


def combined_non_max_suppression(
    boxes,
    scores,
    max_output_size_per_class,
    max_total_size,
    iou_threshold=0.5,
    score_threshold=_NO_THRESHOLD,
    pad_per_class=False,
    clip_boxes=True,
    name=None,
):
    """Suppression in each class of each batch entry, then the best of all classes: (boxes, scores, classes, how many
    are valid).

    Args:
        boxes: Boxes [batch, boxes, classes or 1, 4].
        scores: Scores [batch, boxes, classes].
        max_output_size_per_class: The most boxes of a class.
        max_total_size: The most boxes of an image.
        iou_threshold: The greatest overlap (intersection over union) of two boxes that are kept.
        score_threshold: Boxes with a lower score are left out.
        pad_per_class: Whether the result has room for all classes' boxes, up to the total.
        clip_boxes: Whether corners are kept within [0, 1].
        name: The name of the operation in the graph.

    Returns:
        A named tuple of boxes, scores, classes, and how many of them are valid.

    Example:
        >>> boxes = tf.constant([[[[0.0, 0.0, 1.0, 1.0]], [[0.0, 0.0, 0.9, 1.0]]]])
        >>> kept = tf.image.combined_non_max_suppression(boxes, [[[0.9], [0.8]]], 2, 2)
        >>> sess.run(kept.valid_detections)
        array([1], dtype=int32)
    """
    with name_scope(name, "combined_non_max_suppression"):
        iou_threshold = convert_to_tensor(iou_threshold, dtype=dtypes.float32, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, dtype=dtypes.float32, name="score_threshold")
        return raw.CombinedNonMaxSuppression(
            boxes,
            scores,
            max_output_size_per_class,
            max_total_size,
            iou_threshold,
            score_threshold,
            pad_per_class=pad_per_class,
            clip_boxes=clip_boxes,
        )


def extract_glimpse(input, size, offsets, centered=True, normalized=True, uniform_noise=True, name=None):
    """Windows of images at offsets; what lies beyond an image is noise.

    Args:
        input: A batch of images [batch, height, width, channels].
        size: The height and width of a window.
        offsets: Where each image's window is: [batch, 2].
        centered: Whether (0, 0) is the middle of an image.
        normalized: Whether offsets are parts of an image's size.
        uniform_noise: Whether the noise beyond an image is uniform; else it is normal.
        name: The name of the operation in the graph.

    Returns:
        Windows [batch, height, width, channels].

    Example:
        >>> sess.run(tf.image.extract_glimpse(tf.ones([1, 5, 5, 1]), [3, 3], [[0.0, 0.0]])).shape
        (1, 3, 3, 1)
    """
    return raw.ExtractGlimpse(**locals())


def extract_glimpse_v2(input, size, offsets, centered=True, normalized=True, noise="uniform", name=None):
    """As `extract_glimpse`, with the kind of noise by name: "uniform", "gaussian" or "zero"."""
    return raw.ExtractGlimpse(
        input=input,
        size=size,
        offsets=offsets,
        centered=centered,
        normalized=normalized,
        uniform_noise=False,
        noise=noise,
        name=name,
    )


# Shape rules


def _of_rank(tensor, rank):
    if tensor.shape.rank not in (None, rank):
        raise ValueError(f"Shape must be rank {rank} but is rank {tensor.shape.rank}")
    return tensor.shape.with_rank(rank)


def _of_size(found, size):
    if found not in (None, size):
        raise ValueError(f"Dimension must be {size} but is {found}")


def _check_suppression(op):
    boxes, scores = _of_rank(op.inputs[0], 2), _of_rank(op.inputs[1], 1)
    for scalar in op.inputs[2:]:
        _of_rank(scalar, 0)
    same_size(boxes.size(0), scores.size(0))
    _of_size(boxes.size(1), 4)


@shape_rule("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3")
def _suppression_shape(op):
    _check_suppression(op)
    return TensorShape([None])


def _padded_size(op):
    """The vector that is padded to `max_output_size`, if that is asked."""
    limit = known_value(op.inputs[2]) if op.attrs["pad_to_max_output_size"] else None
    return TensorShape([None if limit is None else int(limit)])


@shape_rule("NonMaxSuppressionV4")
def _suppression_v4_shape(op):
    _check_suppression(op)
    return [_padded_size(op), TensorShape([])]


@shape_rule("NonMaxSuppressionV5")
def _suppression_v5_shape(op):
    _check_suppression(op)
    return [_padded_size(op), _padded_size(op), TensorShape([])]


@shape_rule("NonMaxSuppressionWithOverlaps")
def _suppression_overlaps_shape(op):
    overlaps, scores = _of_rank(op.inputs[0], 2), _of_rank(op.inputs[1], 1)
    for scalar in op.inputs[2:]:
        _of_rank(scalar, 0)
    same_size(overlaps.size(0), scores.size(0))
    same_size(overlaps.size(0), overlaps.size(1))
    return TensorShape([None])


@shape_rule("CombinedNonMaxSuppression")
def _combined_suppression_shape(op):
    boxes, scores = _of_rank(op.inputs[0], 4), _of_rank(op.inputs[1], 3)
    for scalar in op.inputs[2:]:
        _of_rank(scalar, 0)
    _of_size(boxes.size(3), 4)
    same_size(boxes.size(1), scores.size(1))
    if boxes.size(2) is not None and scores.size(2) is not None and boxes.size(2) not in (1, scores.size(2)):
        raise ValueError("third dimension of boxes must be either 1 or equal to the third dimension of scores")
    total, per_class = known_value(op.inputs[3]), known_value(op.inputs[2])
    size = None if total is None else int(total)
    if size is not None and size <= 0:
        raise ValueError("max_total_size should be > 0 ")
    if op.attrs["pad_per_class"] and size is not None:
        if per_class is None or scores.size(2) is None:
            size = None
        else:
            size = min(size, int(per_class) * scores.size(2))
    batch = boxes[0]
    return [TensorShape([batch, size, 4]), TensorShape([batch, size]), TensorShape([batch, size]), TensorShape([batch])]


@shape_rule("DrawBoundingBoxes", "DrawBoundingBoxesV2")
def _draw_shape(op):
    images = _of_rank(op.inputs[0], 4)
    if images.size(3) not in (None, 1, 3, 4):
        raise ValueError("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    _of_size(_of_rank(op.inputs[1], 3).size(2), 4)
    return images


@shape_rule("SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2")
def _sample_shape(op):
    _of_size(_of_rank(op.inputs[0], 1).size(0), 3)
    _of_size(_of_rank(op.inputs[1], 3).size(2), 4)
    return [TensorShape([3]), TensorShape([3]), TensorShape([1, 1, 4])]


@shape_rule("ExtractGlimpse")
def _glimpse_shape(op):
    images, offsets = _of_rank(op.inputs[0], 4), _of_rank(op.inputs[2], 2)
    _of_size(_of_rank(op.inputs[1], 1).size(0), 2)
    count = same_size(images.size(0), offsets.size(0))
    _of_size(offsets.size(1), 2)
    if op.attrs["uniform_noise"] and op.attrs["noise"] not in (b"uniform", b""):
        raise ValueError("The uniform_noise and noise should not be specified at the same time")
    size = known_shape(op.inputs[1]).with_rank(2)
    return TensorShape([count, *size, images[3]])


not_differentiable(
    "DrawBoundingBoxes",
    "ExtractGlimpse",
    "NonMaxSuppression",
    "NonMaxSuppressionV2",
    "NonMaxSuppressionWithOverlaps",
    "SampleDistortedBoundingBox",
    "SampleDistortedBoundingBoxV2",
)
