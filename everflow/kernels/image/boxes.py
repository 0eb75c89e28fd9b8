"""Bounding boxes: suppression of overlapping ones, drawing, and random crops that keep an object in view."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import Effect
from everflow.kernels.random.distributions import stream_of
from everflow.kernels.registry import fresh

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Session
    from everflow.kernels.random.philox import Philox, Stream


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)


def _show(shape: Sequence[int]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


# --- non-maximum suppression


def _corners(boxes: np.ndarray) -> np.ndarray:
    """(y low, x low, y high, x high, area) of boxes whose corners may come in any order."""
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    return np.concatenate([low, high, np.prod(high - low, axis=1, keepdims=True)], axis=1)


def _overlaps(one: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Intersection over union [ones, others] of boxes that `_corners` gave."""
    one = one[:, None]
    sides = np.minimum(one[..., 2:4], others[:, 2:4]) - np.maximum(one[..., :2], others[:, :2])
    np.maximum(sides, 0, out=sides)
    shared = sides[..., 0] * sides[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = shared / (one[..., 4] + others[:, 4] - shared)
    return np.where((others[:, 4] <= 0) | (one[..., 4] <= 0), 0, ratio)


def _greedy(corners: np.ndarray, order: np.ndarray, limit: int, too_much: Callable) -> list[int]:
    """Indices of the boxes, taken in an order, that overlap no kept box before them too much. By blocks, to spare
    calls.
    """
    kept: list[int] = []
    for start in range(0, len(order), 128):
        block = order[start : start + 128]
        if kept:
            block = block[~too_much(_overlaps(corners[block], corners[kept])).any(1)]
        apart = ~too_much(_overlaps(corners[block], corners[block]))
        alive = np.ones(len(block), bool)
        for j, i in enumerate(block.tolist()):
            if len(kept) == limit:
                return kept
            if alive[j]:
                kept.append(i)
                alive &= apart[j]
    return kept


class _Queue:
    """A binary max-heap of (score, index, begin) that takes equal scores in the order C++'s priority_queue does."""

    def __init__(self) -> None:
        self.entries: list[tuple[float, int, int]] = []

    def push(self, entry: tuple[float, int, int]) -> None:
        self.entries.append(entry)
        self._rise(len(self.entries) - 1, entry)

    def pop(self) -> tuple[float, int, int]:
        entries = self.entries
        best, entry = entries[0], entries.pop()
        size = len(entries)
        if size:
            # The hole sinks to a leaf along the larger children (the right one where equal), then the last entry rises
            # from there.
            hole = 0
            while (child := 2 * hole + 2) <= size:
                if child == size or entries[child][0] < entries[child - 1][0]:
                    child -= 1
                entries[hole] = entries[child]
                hole = child
            self._rise(hole, entry)
        return best

    def _rise(self, hole: int, entry: tuple[float, int, int]) -> None:
        entries = self.entries
        while hole > 0 and entries[(hole - 1) // 2][0] < entry[0]:
            entries[hole] = entries[(hole - 1) // 2]
            hole = (hole - 1) // 2
        entries[hole] = entry


def _suppress(
    overlap: Callable, scores: np.ndarray, limit: int, threshold: float, score_threshold: float, sigma: float = 0.0
) -> tuple[list[int], list[float]]:
    """Indices and scores of the kept boxes, best first; with sigma, scores are lowered by overlap too.

    As in TensorFlow a kept box goes back into the queue and is usually suppressed by itself; an empty box, which
    overlaps nothing, is kept again and again.
    """
    queue = _Queue()
    for i, score in enumerate(scores.tolist()):
        if score > score_threshold:
            queue.push((score, i, 0))
    kept, kept_scores = [], []
    while queue.entries and len(kept) < limit:
        score, i, begin = queue.pop()
        original = score
        if begin < len(kept):
            overlaps = overlap(i, kept[begin:])
            if (overlaps >= threshold).any():
                continue
            if sigma > 0:
                score = _lowered(overlaps, score, score_threshold, sigma)
        begin = len(kept)
        if score == original:
            kept.append(i)
            kept_scores.append(score)
        if score > score_threshold:
            queue.push((score, i, begin))
    return kept, kept_scores


def _lowered(overlaps: np.ndarray, score: float, score_threshold: float, sigma: float) -> float:
    weights = np.exp(-0.5 / sigma * overlaps * overlaps)[::-1].astype(np.float32)
    for weight in weights:
        score = float(np.float32(score) * weight)
        if score <= score_threshold:
            break
    return score


def _scalar(value: torch.Tensor, name: str) -> Any:
    if value.dim() != 0:
        raise _invalid(f"{name} must be 0-D, got shape {_show(value.shape)}")
    return value.item()


def _limit(max_output_size: torch.Tensor, count: int) -> int:
    """How many boxes may be kept; TensorFlow reads a negative number as no limit."""
    size = _scalar(max_output_size, "max_output_size")
    return count if size < 0 else size


def _check_threshold(value: float) -> float:
    if not 0 <= value <= 1:
        raise _invalid("iou_threshold must be in [0, 1]")
    return value


def _select(
    boxes: torch.Tensor,
    scores: torch.Tensor,
    max_output_size: torch.Tensor,
    iou_threshold: float,
    score_threshold: float = -math.inf,
    sigma: float = 0.0,
) -> tuple[list[int], list[float]]:
    if boxes.dim() != 2:
        raise _invalid("boxes must be 2-D" + _show(boxes.shape))
    if boxes.shape[1] != 4:
        raise _invalid("boxes must have 4 columns")
    if scores.shape != boxes.shape[:1]:
        raise _invalid(
            "scores has incompatible shape" if scores.dim() == 1 else "scores must be 1-D" + _show(scores.shape)
        )
    _check_threshold(iou_threshold)
    corners, values = _corners(boxes.float().numpy()), scores.float().numpy()
    limit, threshold = _limit(max_output_size, len(boxes)), np.float32(iou_threshold)
    order = np.argsort(-values)
    best_first = values[order]
    # Ties go by the queue's order, and empty boxes come again: all else is a walk from the best score down.
    if sigma == 0 and (np.diff(best_first) < 0).all() and (corners[:, 4] > 0).all():
        kept = _greedy(corners, order[best_first > score_threshold], limit, lambda overlap: overlap >= threshold)
        return kept, values[kept].tolist()
    return _suppress(
        lambda i, others: _overlaps(corners[i : i + 1], corners[others])[0],
        values,
        limit,
        threshold,
        score_threshold,
        sigma,
    )


def _indices(kept: list[int], size: int | None = None) -> torch.Tensor:
    kept = kept if size is None else kept + [0] * (size - len(kept))
    return torch.tensor(kept, dtype=torch.int32)


@fresh("NonMaxSuppression")
def non_max_suppression(
    boxes: torch.Tensor, scores: torch.Tensor, max_output_size: torch.Tensor, *, iou_threshold: float
) -> torch.Tensor:
    return _indices(_select(boxes, scores, max_output_size, iou_threshold)[0])


@fresh("NonMaxSuppressionV2")
def non_max_suppression_v2(
    boxes: torch.Tensor, scores: torch.Tensor, max_output_size: torch.Tensor, iou_threshold: torch.Tensor
) -> torch.Tensor:
    return _indices(_select(boxes, scores, max_output_size, _scalar(iou_threshold, "iou_threshold"))[0])


@fresh("NonMaxSuppressionV3")
def non_max_suppression_v3(
    boxes: torch.Tensor,
    scores: torch.Tensor,
    max_output_size: torch.Tensor,
    iou_threshold: torch.Tensor,
    score_threshold: torch.Tensor,
) -> torch.Tensor:
    thresholds = _scalar(iou_threshold, "iou_threshold"), _scalar(score_threshold, "score_threshold")
    return _indices(_select(boxes, scores, max_output_size, *thresholds)[0])


@fresh("NonMaxSuppressionV4")
def non_max_suppression_v4(
    boxes: torch.Tensor,
    scores: torch.Tensor,
    max_output_size: torch.Tensor,
    iou_threshold: torch.Tensor,
    score_threshold: torch.Tensor,
    *,
    pad_to_max_output_size: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    thresholds = _scalar(iou_threshold, "iou_threshold"), _scalar(score_threshold, "score_threshold")
    kept, _ = _select(boxes, scores, max_output_size, *thresholds)
    padded = _indices(kept, int(max_output_size) if pad_to_max_output_size else None)
    return padded, torch.tensor(len(kept), dtype=torch.int32)


@fresh("NonMaxSuppressionV5")
def non_max_suppression_v5(
    boxes: torch.Tensor,
    scores: torch.Tensor,
    max_output_size: torch.Tensor,
    iou_threshold: torch.Tensor,
    score_threshold: torch.Tensor,
    soft_nms_sigma: torch.Tensor,
    *,
    pad_to_max_output_size: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    thresholds = _scalar(iou_threshold, "iou_threshold"), _scalar(score_threshold, "score_threshold")
    sigma = _scalar(soft_nms_sigma, "soft_nms_sigma")
    if sigma < 0:
        raise _invalid("soft_nms_sigma_val must be >= 0")
    kept, kept_scores = _select(boxes, scores, max_output_size, *thresholds, sigma)
    size = int(max_output_size) if pad_to_max_output_size else len(kept)
    padded_scores = torch.tensor(kept_scores + [0.0] * (size - len(kept)), dtype=scores.dtype)
    return _indices(kept, size), padded_scores, torch.tensor(len(kept), dtype=torch.int32)


@fresh("NonMaxSuppressionWithOverlaps")
def non_max_suppression_with_overlaps(
    overlaps: torch.Tensor,
    scores: torch.Tensor,
    max_output_size: torch.Tensor,
    overlap_threshold: torch.Tensor,
    score_threshold: torch.Tensor,
) -> torch.Tensor:
    if overlaps.dim() != 2:
        raise _invalid("overlaps must be 2-D" + _show(overlaps.shape))
    if overlaps.shape[0] != overlaps.shape[1]:
        raise _invalid("overlaps must be square" + _show(overlaps.shape))
    if scores.shape != overlaps.shape[:1]:
        raise _invalid("scores has incompatible shape")
    table = overlaps.numpy()
    threshold = np.float32(_scalar(overlap_threshold, "overlap_threshold"))
    limit = _limit(max_output_size, len(table))
    kept, _ = _suppress(
        lambda i, others: table[i, others],
        scores.numpy(),
        limit,
        threshold,
        _scalar(score_threshold, "score_threshold"),
    )
    return _indices(kept)


@fresh("CombinedNonMaxSuppression")
def combined_non_max_suppression(
    boxes: torch.Tensor,
    scores: torch.Tensor,
    max_output_size_per_class: torch.Tensor,
    max_total_size: torch.Tensor,
    iou_threshold: torch.Tensor,
    score_threshold: torch.Tensor,
    *,
    pad_per_class: bool,
    clip_boxes: bool,
) -> tuple[torch.Tensor, ...]:
    """Suppression in each class alone, then the best over all classes, padded to one size for the batch."""
    if boxes.dim() != 4:
        raise _invalid("boxes must be 4-D" + _show(boxes.shape))
    if scores.dim() != 3:
        raise _invalid("scores must be 3-D" + _show(scores.shape))
    per_class, total = (
        _scalar(max_output_size_per_class, "max_size_per_class"),
        _scalar(max_total_size, "max_total_size"),
    )
    if total <= 0:
        raise _invalid("max_total_size must be > 0")
    if per_class <= 0:
        raise _invalid("max_size_per_class must be > 0")
    threshold = np.float32(_check_threshold(_scalar(iou_threshold, "iou_threshold")))
    lowest = _scalar(score_threshold, "score_threshold")
    batch, count, kinds = scores.shape
    if boxes.shape[1] != count or boxes.shape[0] != batch:
        raise _invalid("scores has incompatible shape")
    if boxes.shape[2] not in (1, kinds):
        raise _invalid("third dimension of boxes must be either 1 or num classes")
    if boxes.shape[3] != 4:
        raise _invalid("boxes must have 4 columns")
    size = min(total, per_class * kinds) if pad_per_class else total
    out_boxes = np.zeros((batch, size, 4), np.float32)
    out_scores, out_classes = np.zeros((batch, size), np.float32), np.zeros((batch, size), np.float32)
    valid = np.zeros(batch, np.int32)
    all_boxes, all_scores = boxes.numpy(), scores.numpy()
    for b in range(batch):
        found = []
        for c in range(kinds):
            of_class = all_boxes[b, :, c if boxes.shape[2] > 1 else 0]
            class_scores = all_scores[b, :, c]
            order = np.argsort(-class_scores, kind="stable")
            order = order[class_scores[order] > lowest]
            kept = _greedy(_corners(of_class), order, per_class, lambda overlap: overlap > threshold)
            found += [(class_scores[i], of_class[i], c) for i in kept]
        found.sort(key=lambda entry: -entry[0])
        for n, (score, box, c) in enumerate(found[:size]):
            out_boxes[b, n], out_scores[b, n], out_classes[b, n] = box, score, c
        valid[b] = min(len(found), size)
    if clip_boxes:
        out_boxes = out_boxes.clip(0, 1)
    return tuple(torch.from_numpy(a) for a in (out_boxes, out_scores, out_classes, valid))


# --- drawing

# The colours that boxes take in turn, red, green, blue, alpha.
_COLORS = [
    (1, 1, 0, 1),  # yellow
    (0, 0, 1, 1),  # blue
    (1, 0, 0, 1),  # red
    (0, 1, 0, 1),  # lime
    (0.5, 0, 0.5, 1),  # purple
    (0.5, 0.5, 0, 1),  # olive
    (0.5, 0, 0, 1),  # maroon
    (0, 0, 0.5, 1),  # navy blue
    (0, 1, 1, 1),  # aqua
    (1, 0, 1, 1),  # fuchsia
]


@fresh("DrawBoundingBoxes")
def draw_bounding_boxes(images: torch.Tensor, boxes: torch.Tensor) -> torch.Tensor:
    return draw_bounding_boxes_v2(images, boxes, torch.zeros((0, 0)))


@fresh("DrawBoundingBoxesV2")
def draw_bounding_boxes_v2(images: torch.Tensor, boxes: torch.Tensor, colors: torch.Tensor) -> torch.Tensor:
    """Outlines one pixel wide; no colours given: a table of ten."""
    if images.dim() != 4:
        raise _invalid("The rank of the images should be 4")
    if boxes.dim() != 3:
        raise _invalid("The rank of the boxes tensor should be 3")
    if images.shape[0] != boxes.shape[0]:
        raise _invalid("The batch sizes should be the same")
    batch, height, width, depth = images.shape
    if depth not in (1, 3, 4):
        raise _invalid("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    table = colors if colors.numel() else torch.tensor(_COLORS, dtype=torch.float32)
    if table.shape[1] < depth:
        raise _invalid(f"colors must have {depth} columns, got shape {_show(colors.shape)}")
    table = table[:, :depth].to(images.dtype)
    if depth == 1 and not colors.numel():
        table = torch.ones_like(table)
    result = images.clone()
    scale = torch.tensor([height - 1, width - 1] * 2, dtype=torch.float32)
    pixels = (boxes[..., :4].float() * scale).to(torch.int64).tolist()
    for b in range(batch):
        for n, (top, left, bottom, right) in enumerate(pixels[b]):
            if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
                continue
            color = table[n % len(table)]
            rows, columns = (
                slice(max(top, 0), min(bottom, height - 1) + 1),
                slice(max(left, 0), min(right, width - 1) + 1),
            )
            for row in (top, bottom):
                if 0 <= row < height:
                    result[b, row, columns] = color
            for column in (left, right):
                if 0 <= column < width:
                    result[b, rows, column] = color
    return result


# --- random crops


class _Words:
    """32-bit words of a random stream one after another."""

    def __init__(self, place: Philox) -> None:
        self._place = place
        self._block = 0
        self._words: list[int] = []

    def next(self) -> int:
        if not self._words:
            self._words = self._place.words(16, self._block).reshape(-1).tolist()[::-1]
            self._block += 16
        return self._words.pop()

    def uniform(self, n: int) -> int:
        """An integer in [0, n) without bias."""
        if n & (n - 1) == 0:
            return self.next() & (n - 1)
        unfair = (2**32 - 1) % n + 1
        word = self.next()
        while word < unfair:
            word = self.next()
        return word % n

    def fraction(self) -> float:
        return np.float32((self.next() & 0x7FFFFF) * 2.0**-23)


def _round(x: float) -> int:
    return int(np.rint(np.float32(x)))


def _random_crop(
    width: int, height: int, area_range: list[float], ratio: float, words: _Words
) -> tuple[int, int, int, int] | None:
    """(left, top, right, bottom) of a random rectangle with this aspect ratio, or None where none fits."""
    low, high = (np.float32(a) * np.float32(width) * np.float32(height) for a in area_range)
    if area_range[1] <= 0 or ratio <= 0 or width <= 0 or height <= 0 or area_range[0] > area_range[1]:
        return None
    crop_height, most = _round(np.sqrt(low / ratio)), _round(np.sqrt(high / ratio))
    if _round(most * ratio) > width:
        most = int((width + 0.5 - 1e-7) / ratio)
    most = min(most, height)
    crop_height = min(crop_height, most)
    if crop_height < most:
        crop_height += words.uniform(most - crop_height + 1)
    crop_width = _round(crop_height * ratio)
    # Rounding may have left the area just outside its bounds.
    if crop_width * crop_height < low:
        crop_height += 1
        crop_width = _round(crop_height * ratio)
    if crop_width * crop_height > high:
        crop_height -= 1
        crop_width = _round(crop_height * ratio)
    area = crop_width * crop_height
    if area < low or area > high or crop_width > width or crop_height > height or crop_width <= 0 or crop_height <= 0:
        return None
    top = words.uniform(height - crop_height) if crop_height < height else 0
    left = words.uniform(width - crop_width) if crop_width < width else 0
    return left, top, left + crop_width, top + crop_height


def _covers(crop: tuple[int, int, int, int], boxes: list[tuple[int, int, int, int]], least: float) -> bool:
    for left, top, right, bottom in boxes:
        area = (right - left) * (bottom - top)
        if area < 1:
            continue
        across, down = min(crop[2], right) - max(crop[0], left), min(crop[3], bottom) - max(crop[1], top)
        shared = max(across, 0) * max(down, 0)
        if np.float32(shared) / np.float32(area) >= np.float32(least):
            return True
    return False


def _sample(
    image_size: torch.Tensor,
    boxes: torch.Tensor,
    least: float,
    stream: Stream,
    aspect_ratio_range: list[float],
    area_range: list[float],
    max_attempts: int,
    use_image: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    if image_size.dim() != 1:
        raise _invalid("image_size must be 1-dimensional" + _show(image_size.shape))
    if image_size.numel() != 3:
        raise _invalid("image_size must contain 3 elements" + _show(image_size.shape))
    if boxes.dim() != 3:
        raise _invalid("input boxes must be 3-dimensional [batch, num_boxes, coords]: " + _show(boxes.shape))
    if boxes.shape[-1] != 4:
        raise _invalid("bounding boxes must have shape [4] or [*, 4], got " + _show(boxes.shape))
    if max_attempts <= 0:
        raise _invalid(f"Max attempts must be non-negative: {max_attempts}")
    for name, (low, high), most in (("Area", area_range, 1.0), ("Aspect ratio", aspect_ratio_range, math.inf)):
        if low <= 0 or high <= 0 or low > most or high > most:
            raise _invalid(f"{name} range must be non-negative: [{low:g}, {high:g}]")
    height, width = image_size[:2].tolist()
    rectangles = []
    for box in boxes.reshape(-1, 4).float().numpy():
        if not (0 <= box.min() and box.max() <= 1):
            worst = box[(box < 0) | (box > 1)][0]
            raise _invalid(f"All bounding box coordinates must be in [0.0, 1.0]: {worst:g}")
        top, left, bottom, right = (int(v) for v in box * np.array([height, width, height, width], np.float32))
        rectangles.append((left, top, right, bottom))
    if not rectangles:
        if not use_image:
            raise _invalid(
                "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to not "
                "provide any bounding boxes."
            )
        rectangles = [(0, 0, width, height)]
    words = _Words(stream.reserve(max_attempts))
    ratios = np.array(aspect_ratio_range, np.float32)
    for _ in range(max_attempts):
        ratio = words.fraction() * (ratios[1] - ratios[0]) + ratios[0]
        crop = _random_crop(width, height, area_range, ratio, words)
        if crop and _covers(crop, rectangles, least):
            break
    else:
        crop = (0, 0, width, height)
    left, top, right, bottom = crop
    begin = torch.tensor([top, left, 0], dtype=image_size.dtype)
    size = torch.tensor([bottom - top, right - left, -1], dtype=torch.int64).to(image_size.dtype)
    with np.errstate(divide="ignore", invalid="ignore"):
        sides = np.array([top, left, bottom, right], np.float32) / np.array([height, width, height, width], np.float32)
    return begin, size, torch.from_numpy(sides).view(1, 1, 4)


@fresh("SampleDistortedBoundingBox", effect=Effect.RANDOM)
def sample_distorted_bounding_box(
    image_size: torch.Tensor,
    boxes: torch.Tensor,
    *,
    min_object_covered: float,
    aspect_ratio_range: list[float],
    area_range: list[float],
    max_attempts: int,
    use_image_if_no_bounding_boxes: bool,
    node: Node,
    session: Session,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    stream, image = stream_of(node, session), use_image_if_no_bounding_boxes
    return _sample(image_size, boxes, min_object_covered, stream, aspect_ratio_range, area_range, max_attempts, image)


@fresh("SampleDistortedBoundingBoxV2", effect=Effect.RANDOM)
def sample_distorted_bounding_box_v2(
    image_size: torch.Tensor,
    boxes: torch.Tensor,
    min_object_covered: torch.Tensor,
    *,
    aspect_ratio_range: list[float],
    area_range: list[float],
    max_attempts: int,
    use_image_if_no_bounding_boxes: bool,
    node: Node,
    session: Session,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    least, image = _scalar(min_object_covered, "min_object_covered"), use_image_if_no_bounding_boxes
    return _sample(
        image_size, boxes, least, stream_of(node, session), aspect_ratio_range, area_range, max_attempts, image
    )
