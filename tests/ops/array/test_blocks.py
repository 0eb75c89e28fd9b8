"""Blocks of pixels moved between space, batch and depth, and patches."""

import numpy as np
import pytest

import everflow as tf
from tests.ops.array.against_numpy import check_in_every_type, fed, run

pytestmark = pytest.mark.usefixtures("own_graph")


# name, function of a tensor, the same of a numpy array; the tensor is A in each type
SAME_AS_NUMPY = {
    "space and batch": (
        lambda x: tf.batch_to_space_nd(tf.space_to_batch_nd(x, [3], [[0, 0]]), [3], [[0, 0]]),
        lambda a: a,
    ),
}


@pytest.mark.parametrize("name", SAME_AS_NUMPY)
def test_values_are_numpys_in_every_type(name):
    check_in_every_type(*SAME_AS_NUMPY[name])


RUN_TIME_ERRORS = {
    "is not divisible by block_shape": lambda: tf.space_to_batch_nd(fed([[[1], [2], [3]]]), [2], [[0, 0]]),
}


@pytest.mark.parametrize("message", RUN_TIME_ERRORS)
def test_what_does_not_fit_raises_when_it_runs(message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(RUN_TIME_ERRORS[message]())


def test_patches_of_images():
    image = tf.constant(np.arange(16.0).reshape(1, 4, 4, 1))
    patches = run(tf.extract_image_patches(image, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"))
    assert patches[0, 1, 0].tolist() == [8, 9, 12, 13]


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_depth_to_space_undoes_space_to_depth(data_format):
    image = np.arange(48.0).reshape([1, 4, 6, 2] if data_format == "NHWC" else [1, 2, 4, 6])
    deep = tf.space_to_depth(image, 2, data_format=data_format)
    back = tf.depth_to_space(deep, 2, data_format=data_format)
    assert deep.shape.as_list() == ([1, 2, 3, 8] if data_format == "NHWC" else [1, 8, 2, 3])
    assert back.shape.as_list() == list(image.shape)
    if data_format == "NHWC":  # TensorFlow's kernels for the other order are the GPU's
        found, again = run(deep, back)
        assert found[0, 0, 0].tolist() == [0, 1, 2, 3, 12, 13, 14, 15]
        np.testing.assert_array_equal(again, image)


@pytest.mark.parametrize(
    ("size", "block", "base", "paddings", "crops"),
    [
        ([5, 4], [2, 2], None, [[0, 1], [0, 0]], [[0, 1], [0, 0]]),
        ([5], [3], [[1, 1]], [[1, 3]], [[0, 2]]),
        ([0], [3], None, [[0, 0]], [[0, 0]]),
        ([], [], None, np.zeros([0, 2]), np.zeros([0, 2])),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_the_paddings_that_blocks_require(size, block, base, paddings, crops, known):
    size = np.array(size, np.int32)
    sizes = size if known else tf.placeholder_with_default(size, [len(size)])
    found = tf.required_space_to_batch_paddings(sizes, np.array(block, np.int32), base)
    for value, wanted in zip(run(*found), (paddings, crops)):
        np.testing.assert_array_equal(value, wanted)
    assert not known or not size.size or [t.op.type for t in found] == ["Const", "Const"]


def test_square_blocks_are_the_same_op():
    x = np.arange(16.0).reshape(1, 4, 4, 1)
    to = tf.space_to_batch(x, [[0, 0], [0, 0]], 2)
    assert to.op.type == "SpaceToBatchND" and to.shape.as_list() == [4, 2, 2, 1]
    found, back = run(to, tf.batch_to_space(to, [[1, 0], [0, 2]], 2))
    assert found[:, 0, 0, 0].tolist() == [0, 1, 4, 5]
    np.testing.assert_array_equal(back, x[:, 1:, :2])


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.space_to_batch_nd(tf.zeros([1, 3, 1]), [2], [[0, 0]]),
        lambda: tf.space_to_batch_nd(tf.zeros([1, 4, 1]), [0], [[0, 0]]),
        lambda: tf.space_to_batch_nd(tf.zeros([1, 4, 1]), [2], [[-1, 1]]),
        lambda: tf.space_to_batch_nd(tf.zeros([4]), [2], [[0, 0]]),
        lambda: tf.batch_to_space_nd(tf.zeros([3, 4, 1]), [2], [[0, 0]]),
        lambda: tf.batch_to_space_nd(tf.zeros([2, 1, 1]), [2], [[2, 1]]),
        lambda: tf.space_to_depth(tf.zeros([1, 3, 4, 1]), 2),
        lambda: tf.depth_to_space(tf.zeros([1, 2, 2, 3]), 2),
        lambda: tf.extract_image_patches(tf.zeros([1, 4, 4, 1]), [2, 2], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
        lambda: tf.space_to_batch(tf.zeros([1, 4, 4, 1]), [[0, 0], [0, 0]], 2, block_shape=2),
    ],
)
def test_blocks_that_can_never_fit(build):
    with pytest.raises(ValueError):
        build()


def test_sizes_of_patches_are_known_where_those_of_the_image_are():
    def patches(shape, padding):
        image = tf.placeholder(tf.float32, shape)
        return str(tf.image.extract_image_patches(image, [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 2, 1], padding).shape)

    assert patches([None, 7, 8, 2], "VALID") == "(?, 3, 3, 12)"
    assert patches([None, 7, 8, 2], "SAME") == "(?, 4, 4, 12)"
    assert patches([2, None, 8, None], "SAME") == "(2, ?, ?, ?)"
    volume = tf.placeholder(tf.float32, [2, 4, 5, 6, 1])
    assert tf.extract_volume_patches(volume, [1, 2, 2, 2, 1], [1, 1, 2, 3, 1], "VALID").shape.as_list() == [
        2,
        3,
        2,
        2,
        8,
    ]
