"""Boxes: suppression against a plain loop, crops against interpolation by hand, drawn frames, sampled crops."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.default_rng(4)


def evaluate(build, *values):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(build(*map(tf.constant, values)))


def random_boxes(count):
    low, size = RANDOM.uniform(0, 0.6, (count, 2)), RANDOM.uniform(0.1, 0.4, (count, 2))
    return np.concatenate([low, low + size], 1).astype(np.float32)


def overlap(a, b):
    sides = np.maximum(0, np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]))
    both = sides.prod()
    return both / ((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - both)


def greedy(boxes, scores, limit, threshold, least=-np.inf):
    kept = []
    for i in np.argsort(-scores, kind="stable"):
        if len(kept) < limit and scores[i] > least and all(overlap(boxes[i], boxes[j]) <= threshold for j in kept):
            kept.append(i)
    return kept


@pytest.mark.parametrize("count", [1, 12, 40])
@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("least", [-np.inf, 0.4])
def test_suppression(count, threshold, least):
    boxes, scores = random_boxes(count), RANDOM.uniform(size=count).astype(np.float32)
    wanted = greedy(boxes, scores, 8, threshold, least)
    found = evaluate(lambda b, s: tf.image.non_max_suppression(b, s, 8, threshold, least), boxes, scores)
    assert found.tolist() == wanted
    # Corners may come in either order.
    turned = boxes[:, [2, 3, 0, 1]]
    assert (
        evaluate(lambda b, s: tf.image.non_max_suppression(b, s, 8, threshold, least), turned, scores).tolist()
        == wanted
    )
    indices, valid = evaluate(
        lambda b, s: tf.image.non_max_suppression_padded(b, s, 8, threshold, least, pad_to_max_output_size=True),
        boxes,
        scores,
    )
    assert valid == len(wanted)
    assert indices.tolist() == wanted + [0] * (8 - len(wanted))
    overlaps = np.array([[overlap(a, b) for b in boxes] for a in boxes], np.float32)
    found = evaluate(lambda o, s: tf.image.non_max_suppression_overlaps(o, s, 8, threshold, least), overlaps, scores)
    assert found.tolist() == wanted


def test_soft_suppression_lowers_scores():
    boxes = np.array([[0, 0, 1, 1], [0, 0, 1, 0.9], [0, 2, 1, 3]], np.float32)
    scores = np.array([0.9, 0.8, 0.7], np.float32)
    indices, left = evaluate(
        lambda b, s: tf.image.non_max_suppression_with_scores(b, s, 3, 1.0, soft_nms_sigma=0.5), boxes, scores
    )
    assert indices.tolist() == [0, 2, 1]
    np.testing.assert_allclose(left, [0.9, 0.7, 0.8 * np.exp(-(0.9**2) / 0.5 / 2)], rtol=1e-4)


def test_combined_suppression_is_per_class():
    boxes = random_boxes(6)
    scores = RANDOM.uniform(size=(6, 2)).astype(np.float32)
    kept, values, classes, valid = evaluate(
        lambda b, s: tf.image.combined_non_max_suppression(b[None, :, None], s[None], 3, 4, iou_threshold=0.3),
        boxes,
        scores,
    )
    wanted = sorted(((scores[i, c], c, i) for c in (0, 1) for i in greedy(boxes, scores[:, c], 3, 0.3)), reverse=True)[
        :4
    ]
    assert valid.tolist() == [len(wanted)]
    np.testing.assert_allclose(values[0, : len(wanted)], [row[0] for row in wanted])
    np.testing.assert_allclose(classes[0, : len(wanted)], [row[1] for row in wanted])
    np.testing.assert_allclose(kept[0, : len(wanted)], boxes[[row[2] for row in wanted]])


@pytest.mark.parametrize("bad", [-0.1, 1.1])
def test_thresholds_lie_between_zero_and_one(bad):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"iou_threshold must be in \[0, 1\]"):
        evaluate(lambda b, s: tf.image.non_max_suppression(b, s, 2, bad), random_boxes(2), np.ones(2, np.float32))


def sample(image, y, x, outside):
    if not (0 <= y <= image.shape[0] - 1 and 0 <= x <= image.shape[1] - 1):
        return np.full(image.shape[-1], outside)
    top, left = int(np.floor(y)), int(np.floor(x))
    bottom, right = int(np.ceil(y)), int(np.ceil(x))
    upper = image[top, left] + (image[top, right] - image[top, left]) * (x - left)
    lower = image[bottom, left] + (image[bottom, right] - image[bottom, left]) * (x - left)
    return upper + (lower - upper) * (y - top)


@pytest.mark.parametrize("crop", [(3, 4), (1, 1), (1, 5)])
def test_crop_and_resize(crop):
    images = RANDOM.normal(size=(2, 5, 6, 2)).astype(np.float32)
    boxes = np.array([[0.1, 0.2, 0.8, 0.9], [0.9, 1.0, 0.1, 0.0], [-0.3, 0.1, 1.2, 0.7]], np.float32)
    which = np.array([0, 1, 1], np.int32)
    found = evaluate(
        lambda i, b, w: tf.image.crop_and_resize(i, b, w, crop, extrapolation_value=9.0), images, boxes, which
    )
    for n, (y1, x1, y2, x2) in enumerate(boxes.astype(np.float64)):
        for r in range(crop[0]):
            for c in range(crop[1]):
                y = y1 * 4 + r * (y2 - y1) * 4 / (crop[0] - 1) if crop[0] > 1 else (y1 + y2) / 2 * 4
                x = x1 * 5 + c * (x2 - x1) * 5 / (crop[1] - 1) if crop[1] > 1 else (x1 + x2) / 2 * 5
                np.testing.assert_allclose(found[n, r, c], sample(images[which[n]], y, x, 9.0), atol=1e-4)


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_gradients_of_crops(method):
    images = RANDOM.normal(size=(2, 5, 6, 2)).astype(np.float32)
    boxes = np.array([[0.13, 0.22, 0.81, 0.93], [0.91, 0.87, 0.12, 0.09]], np.float32)
    with tf.Graph().as_default(), tf.Session():
        image, box = tf.constant(images), tf.constant(boxes)
        y = tf.image.crop_and_resize(image, box, [0, 1], [3, 4], method=method)
        shape = y.shape.as_list()
        assert tf.test.compute_gradient_error(image, images.shape, y, shape, x_init_value=images, delta=1e-2) < 1e-3
        if method == "bilinear":
            assert tf.test.compute_gradient_error(box, boxes.shape, y, shape, x_init_value=boxes, delta=1e-4) < 0.05


def test_boxes_of_images_that_are_not_there():
    with pytest.raises(tf.errors.OutOfRangeError, match=r"box_index has values outside \[0, batch_size\)"):
        evaluate(lambda i: tf.image.crop_and_resize(i, random_boxes(1), [5], [2, 2]), np.ones((1, 3, 3, 1), np.float32))


def test_drawn_frames():
    image = np.zeros((1, 6, 8, 3), np.float32)
    found = evaluate(
        lambda i: tf.image.draw_bounding_boxes(i, [[[0.2, 0.2, 0.8, 0.7]]], colors=[[1.0, 0.5, 0.25]]), image
    )[0]
    painted = found[..., 0] > 0
    assert painted.sum() == 12
    np.testing.assert_allclose(found[painted], np.broadcast_to([1, 0.5, 0.25], (12, 3)))


def test_seeded_samples_are_those_of_tensorflow():
    with tf.Graph().as_default(), tf.Session() as sess:
        outputs = tf.image.sample_distorted_bounding_box(
            [40, 60, 3], tf.constant([[[0.1, 0.2, 0.5, 0.9]]]), min_object_covered=0.3, area_range=[0.3, 1.0], seed=2
        )
        found = [sess.run(list(outputs)) for _ in range(3)]
    assert [(begin.tolist(), size.tolist()) for begin, size, _ in found] == [
        ([1, 18, 0], [28, 34, -1]),
        ([0, 25, 0], [40, 32, -1]),
        ([3, 0, 0], [36, 33, -1]),
    ]
    np.testing.assert_allclose(found[0][2], [[[0.025, 0.3, 0.725, 0.8666667]]], rtol=1e-6)


def test_samples_need_boxes_or_leave_to_use_the_image():
    with pytest.raises(tf.errors.InvalidArgumentError, match="No bounding boxes provided as input"):
        evaluate(lambda: tf.image.sample_distorted_bounding_box([4, 4, 3], tf.zeros([0, 0, 4]), seed=1))


def test_glimpses():
    image = np.arange(24.0, dtype=np.float32).reshape(1, 4, 6, 1)
    found = evaluate(lambda i: tf.image.extract_glimpse(i, [2, 2], [[0.0, 0.0]]), image)
    np.testing.assert_array_equal(found[0, ..., 0], [[8, 9], [14, 15]])
    # Without centering the offset is the middle of the glimpse, counted from the corner.
    found = evaluate(
        lambda i: tf.image.extract_glimpse(i, [2, 2], [[1.0, 2.0]], centered=False, normalized=False), image
    )
    np.testing.assert_array_equal(found[0, ..., 0], [[1, 2], [7, 8]])


def test_forms_of_version_two():
    image, box = np.ones((1, 6, 8, 3), np.float32), np.array([[[0.2, 0.2, 0.8, 0.7]]], np.float32)
    v2 = tf.compat.v2.image
    drawn = evaluate(lambda i, b: v2.draw_bounding_boxes(i, b, [[0.5, 0.5, 0.5]]), image, box)
    assert (drawn == 0.5).any()
    assert evaluate(lambda i, b: v2.crop_and_resize(i, b[0], box_indices=[0], crop_size=[2, 3]), image, box).shape == (
        1,
        2,
        3,
        3,
    )
    outside = evaluate(lambda i: v2.extract_glimpse(i, [2, 2], [[5.0, 5.0]], noise="zero"), image)
    assert not outside.any()
    begin, size, _ = evaluate(lambda b: list(v2.sample_distorted_bounding_box([6, 8, 3], b, seed=3)), box)
    assert (begin + size)[:2].max() <= 8
