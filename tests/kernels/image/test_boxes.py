"""Boxes that tie, are empty or lie outside; frames at the edges; sampled crops that can't be."""

import numpy as np
import pytest

import everflow as tf
from tests.kernels.feeding import fed

BOXES = np.float32(
    [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]]
)
SCORES = np.float32([0.9, 0.75, 0.6, 0.95, 0.5, 0.3])


def kept(sess, boxes, scores, limit=10, **options):
    return sess.run(tf.image.non_max_suppression(fed(boxes), fed(scores), fed(limit), **options)).tolist()


def test_equal_scores_go_by_the_order_of_a_heap(sess):
    apart = np.float32([[0, i * 10, 1, i * 10 + 1] for i in range(6)])
    assert kept(sess, apart, np.ones(6, np.float32)) == [0, 2, 5, 4, 1, 3]
    assert kept(sess, apart, np.float32([1, 2, 1, 2, 1, 2])) == [1, 5, 3, 4, 2, 0]


def test_limits(sess):
    assert kept(sess, BOXES, SCORES) == [3, 0, 5]
    assert kept(sess, BOXES, SCORES, 2) == [3, 0]
    assert kept(sess, BOXES, SCORES, 0) == []
    assert kept(sess, np.zeros([0, 4], np.float32), np.zeros([0], np.float32)) == []


@pytest.mark.parametrize(
    ("boxes", "scores", "threshold", "message"),
    [
        (BOXES[0], SCORES, 0.5, "boxes must be 2-D"),
        (BOXES[:, :3], SCORES, 0.5, "boxes must have 4 columns"),
        (BOXES, SCORES[:3], 0.5, "scores has incompatible shape"),
        (BOXES, SCORES[None], 0.5, "scores must be 1-D"),
        (BOXES, SCORES, 1.5, r"iou_threshold must be in \[0, 1\]"),
    ],
)
def test_boxes_that_can_not_be(sess, boxes, scores, threshold, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        kept(sess, boxes, scores, iou_threshold=threshold)


@pytest.mark.parametrize(("clip", "pad"), [(True, False), (False, True)])
def test_batches_are_padded_to_one_size(sess, clip, pad):
    boxes = np.stack([BOXES[:, None], BOXES[:, None]])
    scores = np.stack([SCORES, SCORES * np.float32([1, 0, 0, 0, 0, 0])])[..., None]
    found = sess.run(
        tf.image.combined_non_max_suppression(
            fed(boxes), fed(scores), 2, 4, score_threshold=0.1, clip_boxes=clip, pad_per_class=pad
        )
    )
    size = 2 if pad else 4
    assert found.valid_detections.tolist() == [2, 1]
    assert found.nmsed_boxes.shape == (2, size, 4) and found.nmsed_classes.shape == (2, size)
    np.testing.assert_allclose(found.nmsed_scores[0, :2], [0.95, 0.9])
    assert found.nmsed_boxes.max() == (1 if clip else 11)


@pytest.mark.parametrize("depth", [1, 3, 4])
def test_frames_that_reach_over_the_edge_are_cut(sess, depth):
    image = np.zeros([1, 5, 6, depth], np.float32)
    box = fed([[[0.25, -0.5, 2.0, 0.4], [3.0, 3.0, 4.0, 4.0]]])
    drawn = sess.run(tf.raw_ops.DrawBoundingBoxes(images=fed(image), boxes=box))
    painted = drawn.any(-1)[0].astype(int).tolist()
    assert painted == [[0] * 6, [1, 1, 1, 0, 0, 0]] + [[0, 0, 1, 0, 0, 0]] * 3
    np.testing.assert_array_equal(drawn[0, 1, 0], [1.0, 1.0, 0.0, 1.0][:depth] if depth > 1 else [1.0])


def test_colors_are_taken_in_turn(sess):
    boxes = fed([[[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]]])
    colors = fed([[9.0, 8.0, 7.0], [1.0, 2.0, 3.0]])
    drawn = sess.run(
        tf.raw_ops.DrawBoundingBoxesV2(images=fed(np.zeros([1, 3, 3, 3], np.float32)), boxes=boxes, colors=colors)
    )
    assert drawn[0, 0, 0].tolist() == drawn[0, 0, 2].tolist() == [9, 8, 7] and drawn[0, 2, 2].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "images", [np.zeros([3, 3, 3], np.float32), np.zeros([1, 3, 3, 2], np.float32), np.zeros([2, 3, 3, 3], np.float32)]
)
def test_images_that_can_not_be_drawn_on(sess, images):
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.raw_ops.DrawBoundingBoxes(images=fed(images), boxes=fed(np.zeros([1, 1, 4], np.float32))))


def sampled(size=(40, 60, 3), boxes=((0.1, 0.1, 0.9, 0.9),), **options):
    boxes = np.float32(boxes).reshape(1, -1, 4)
    return tf.image.sample_distorted_bounding_box(fed(list(size)), fed(boxes), seed=3, seed2=4, **options)


def test_samples_keep_to_what_was_asked(sess):
    begin, size, box = sampled(min_object_covered=0.5, aspect_ratio_range=[0.8, 1.2], area_range=[0.2, 0.9])
    for _ in range(10):
        (top, left, _), (rows, columns, rest), where = sess.run([begin, size, box])
        assert rest == -1 and 0.2 <= rows * columns / 2400 <= 0.9 and 0.7 < columns / rows < 1.3
        np.testing.assert_allclose(
            where[0, 0], [top / 40, left / 60, (top + rows) / 40, (left + columns) / 60], rtol=1e-6
        )


def test_where_no_crop_is_good_enough_it_is_the_whole_image(sess):
    begin, size, _ = sampled(min_object_covered=1.0, area_range=[0.01, 0.02], max_attempts=3)
    assert [v.tolist() for v in sess.run([begin, size])] == [[0, 0, 0], [40, 60, -1]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": (40, 60)}, "must contain 3 elements"),
        ({"boxes": ((0.0, 0.0, 1.5, 1.0),)}, r"must be in \[0.0, 1.0\]"),
        ({"boxes": ()}, "No bounding boxes provided as input"),
        ({"area_range": [0.5, 1.5]}, "Area range"),
        ({"aspect_ratio_range": [-1.0, 1.0]}, "Aspect ratio range"),
        ({"max_attempts": -1}, "Max attempts"),
    ],
)
def test_samples_that_can_not_be(sess, options, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(sampled(**options))
