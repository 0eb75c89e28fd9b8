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
    """Images with the outlines of boxes; corners are (y1, x1, y2, x2) between 0 and 1."""
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

    >>> begin, size, box = tf.image.sample_distorted_bounding_box(tf.shape(image), boxes, min_object_covered=0.1)
    >>> crop = tf.slice(image, begin, size)
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
    """Indices of the best boxes, leaving out those that overlap a better one by more than `iou_threshold`."""
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
    """(indices, how many are valid), the indices padded with zeros to `max_output_size` if asked."""
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
    """(indices, scores); with `soft_nms_sigma`, overlaps lower scores rather than leave boxes out."""
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
    """As `non_max_suppression`, with a matrix of overlaps instead of boxes."""
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
    """Windows of images at offsets; what lies beyond an image is noise."""
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
