"""Flips, turns, crops, pads and standardization, of one image and of a batch, with shapes known and not."""

import numpy as np
import pytest

import everflow as tf

RANDOM = np.random.default_rng(8)
IMAGE = RANDOM.normal(size=(4, 5, 3)).astype(np.float32)
BATCH = RANDOM.normal(size=(2, 4, 5, 3)).astype(np.float32)


def evaluate(build, *values):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(build(*map(tf.constant, values)))


def both_ways(build, value):
    """The result with a known shape, checked to be that of a shape known only as far as its rank."""
    known = evaluate(build, value)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(value.dtype, [None] * value.ndim)
        np.testing.assert_array_equal(sess.run(build(x), {x: value}), known)
    return known


# name, function of a tensor, the same in numpy with the axes of rows and columns
TURNS = [
    ("flip_left_right", tf.image.flip_left_right, lambda x, r, c: np.flip(x, c)),
    ("flip_up_down", tf.image.flip_up_down, lambda x, r, c: np.flip(x, r)),
    ("transpose_image", tf.image.transpose_image, lambda x, r, c: np.swapaxes(x, r, c)),
    *(
        (f"rot90 {k}", lambda x, k=k: tf.image.rot90(x, k), lambda x, r, c, k=k: np.rot90(x, k, axes=(r, c)))
        for k in (0, 1, 2, 3, 5, -1)
    ),
]


@pytest.mark.parametrize(("function", "reference"), [row[1:] for row in TURNS], ids=[row[0] for row in TURNS])
def test_turns(function, reference):
    np.testing.assert_array_equal(both_ways(function, IMAGE), reference(IMAGE, 0, 1))
    np.testing.assert_array_equal(both_ways(function, BATCH), reference(BATCH, 1, 2))


@pytest.mark.parametrize("name", ["random_flip_left_right", "random_flip_up_down"])
def test_random_flips_take_each_image_of_a_batch_by_itself(name):
    axis = {"random_flip_left_right": 2, "random_flip_up_down": 1}[name]
    with tf.Graph().as_default(), tf.Session() as sess:
        y = getattr(tf.image, name)(tf.constant(BATCH), seed=3)
        seen = set()
        for _ in range(20):
            found = sess.run(y)
            seen.add(tuple(np.array_equal(a, b) for a, b in zip(found, BATCH)))
            for got, plain in zip(found, BATCH):
                assert np.array_equal(got, plain) or np.array_equal(got, np.flip(plain, axis - 1))
        assert len(seen) > 2


@pytest.mark.parametrize("fraction", [1.0, 0.8, 0.5, 0.33])
def test_central_crop(fraction):
    found = both_ways(lambda x: tf.image.central_crop(x, fraction), IMAGE)
    top, left = int((4 - 4 * fraction) / 2), int((5 - 5 * fraction) / 2)
    np.testing.assert_array_equal(found, IMAGE[top : 4 - top, left : 5 - left])
    np.testing.assert_array_equal(
        both_ways(lambda x: tf.image.central_crop(x, fraction), BATCH), BATCH[:, top : 4 - top, left : 5 - left]
    )


def test_boxes_to_crop_and_pad_to():
    np.testing.assert_array_equal(
        both_ways(lambda x: tf.image.crop_to_bounding_box(x, 1, 2, 3, 2), IMAGE), IMAGE[1:4, 2:4]
    )
    found = both_ways(lambda x: tf.image.pad_to_bounding_box(x, 1, 2, 6, 9), BATCH)
    np.testing.assert_array_equal(found, np.pad(BATCH, [(0, 0), (1, 1), (2, 2), (0, 0)]))


# function, message while building, message while running with an unknown shape
FAILURES = [
    (lambda x: tf.image.crop_to_bounding_box(x, -1, 0, 2, 2), "offset_height must be >= 0"),
    (lambda x: tf.image.crop_to_bounding_box(x, 0, 0, 9, 2), "height must be >= target \\+ offset"),
    (lambda x: tf.image.crop_to_bounding_box(x, 0, 4, 2, 2), "width must be >= target \\+ offset"),
    (lambda x: tf.image.pad_to_bounding_box(x, 0, 0, 2, 9), "height must be <= target - offset"),
    (lambda x: tf.image.pad_to_bounding_box(x, 0, -1, 9, 9), "offset_width must be >= 0"),
]


@pytest.mark.parametrize(("function", "message"), FAILURES)
def test_boxes_outside_of_the_image(function, message):
    with pytest.raises(ValueError, match=message):
        evaluate(function, IMAGE)
    if "offset_" in message:
        return
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, None, 3])
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(function(x), {x: IMAGE})


def test_ranks():
    with tf.Graph().as_default():
        for function in (tf.image.flip_left_right, tf.image.rot90, tf.image.transpose_image):
            with pytest.raises(
                ValueError, match="must have either 3 or 4 dimensions|must be at least three-dimensional"
            ):
                function(tf.ones([2, 2]))
        with pytest.raises(ValueError, match="must be fully-defined|must be >= 3|at least three"):
            tf.image.per_image_standardization(tf.ones([2, 2]))
        with pytest.raises(ValueError, match="central_fraction must be within"):
            tf.image.central_crop(tf.ones([2, 2, 1]), 0.0)


@pytest.mark.parametrize("value", [IMAGE, BATCH], ids=["image", "batch"])
def test_standardization(value):
    found = both_ways(tf.image.per_image_standardization, value)
    axes = (-3, -2, -1)
    wanted = (value - value.mean(axes, keepdims=True)) / value.std(axes, keepdims=True)
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    flat = np.full((2, 2, 3), 4, np.uint8)
    np.testing.assert_array_equal(evaluate(tf.image.per_image_standardization, flat), np.zeros((2, 2, 3)))


def test_random_crop_is_seeded():
    with tf.Graph().as_default(), tf.Session() as sess:
        y = tf.image.random_crop(tf.constant(IMAGE), [2, 3, 3], seed=1)
        found = [sess.run(y) for _ in range(4)]
    places = [IMAGE[i : i + 2, j : j + 3] for i in range(3) for j in range(3)]
    assert all(any(np.array_equal(crop, place) for place in places) for crop in found)
    assert not all(np.array_equal(found[0], other) for other in found)


def test_gradients_of_an_image():
    dy, dx = evaluate(tf.image.image_gradients, BATCH)
    np.testing.assert_allclose(dy[:, :-1], np.diff(BATCH, axis=1), rtol=1e-6)
    np.testing.assert_allclose(dx[:, :, :-1], np.diff(BATCH, axis=2), rtol=1e-6)
    assert not dy[:, -1].any() and not dx[:, :, -1].any()


def test_sobel():
    found = evaluate(tf.image.sobel_edges, BATCH)
    padded = np.pad(BATCH, [(0, 0), (1, 1), (1, 1), (0, 0)], mode="reflect").astype(np.float64)
    kernel = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    for index, weights in enumerate((kernel, kernel.T)):
        wanted = sum(weights[i, j] * padded[:, i : i + 4, j : j + 5] for i in range(3) for j in range(3))
        np.testing.assert_allclose(found[..., index], wanted, atol=1e-4)


def test_what_an_image_that_may_be_empty_is_told():
    with tf.Graph().as_default() as graph:
        tf.image.flip_left_right(tf.placeholder(tf.float32, [None, None, 3]))
        texts = [op.get_attr("value").string_val for op in graph.get_operations() if op.type == "Const"]
    assert [b"all dims of 'image.shape' must be > 0."] in [list(text) for text in texts]
