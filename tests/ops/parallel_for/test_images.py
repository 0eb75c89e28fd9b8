"""Functions that decode and resize images, for several of them at once: the pixels that each has alone."""

import numpy as np
import pytest

import everflow as tf
from everflow.data.functions import StructuredFunction
from everflow.ops.parallel_for.exact import for_many, for_so_many, own_body

pytestmark = pytest.mark.usefixtures("own_graph")


def files(kind, sizes, seed=0):
    random = np.random.RandomState(seed)
    with tf.Graph().as_default(), tf.Session() as sess:
        encode = getattr(tf.image, "encode_" + kind)
        return [sess.run(encode(random.randint(0, 256, (*size, 3)).astype(np.uint8))) for size in sizes]


def elements(contents, function, calls):
    """What a map gives for files; None where one can't be read."""
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.from_tensor_slices(contents).map(function, num_parallel_calls=calls)
        following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
        with tf.Session() as sess:
            found = []
            for _ in contents:
                try:
                    found.append(sess.run(following))
                except tf.errors.InvalidArgumentError:
                    found.append(None)
            return found


def same(a, b):
    return len(a) == len(b) and all(
        (x is None) == (y is None) and (x is None or np.array_equal(x, y)) for x, y in zip(a, b)
    )


@pytest.mark.parametrize("method", range(4))
@pytest.mark.parametrize("kind", ["jpeg", "png"])
def test_images_of_one_size(kind, method):
    contents = files(kind, [(20, 30)] * 40)

    def read(data):
        return tf.image.resize_images(getattr(tf.image, "decode_" + kind)(data, channels=3), [12, 9], method)

    assert same(elements(contents, read, 2), elements(contents, read, None))


def test_images_that_stay_of_different_sizes_come_one_by_one():
    contents = files("jpeg", [(20 + i % 3, 30) for i in range(40)])
    decode = lambda data: tf.image.decode_jpeg(data)  # noqa: E731
    found = elements(contents, decode, 2)
    assert same(found, elements(contents, decode, None)) and found[1].shape == (21, 30, 3)


def test_a_broken_image_among_others():
    contents = files("jpeg", [(20, 30)] * 40)
    contents[17] = contents[17][:60]
    decode = lambda data: tf.image.decode_jpeg(data, channels=3)  # noqa: E731
    found = elements(contents, decode, 2)
    assert same(found, elements(contents, decode, None))
    assert [i for i, image in enumerate(found) if image is None] == [17]


@pytest.mark.parametrize("method", range(4))
def test_images_of_different_sizes_are_resized_together(method):
    contents = files("jpeg", [(20 + i % 3, 30 - i % 4) for i in range(40)])

    def read(data):
        return tf.image.resize_images(tf.image.decode_jpeg(data, channels=3), [12, 9], method)

    assert same(elements(contents, read, 2), elements(contents, read, None))


def made_for_many(function):
    drawn = StructuredFunction(function, "test", tf.TensorSpec([], tf.string))
    defined = tf.get_default_graph()._functions[drawn.attr.name]
    return for_many(defined, 0), for_so_many(own_body(defined), 0, 5)


def test_only_threads_that_share_out_elements_have_them_so():
    without, many = made_for_many(lambda s: tf.image.decode_jpeg(s))
    assert without is None
    assert [op.type for op in many.graph.get_operations() if "Jpegs" in op.type] == ["_DecodeJpegs"]
    assert "_DecodeJpegs" not in dir(tf.raw_ops)


def test_shapes_are_known_for_so_many():
    def read(data):
        image = tf.random_crop(tf.image.decode_jpeg(data, channels=3), [4, 6, 3])
        return tf.image.per_image_standardization(tf.image.flip_left_right(image)), tf.shape(image)

    _, many = made_for_many(read)
    assert many is None  # what it draws is not apart

    def resized(data):
        return tf.image.resize_images(tf.image.decode_jpeg(data, channels=3), [12, 9])

    assert made_for_many(resized)[1].outputs[0].shape.as_list() == [5, 12, 9, 3]


def test_wrong_sizes_are_found_out():
    contents = files("jpeg", [(20, 30)] * 12 + [(20, 5)] + [(20, 30)] * 12)
    read = lambda data: tf.random_crop(tf.image.decode_jpeg(data, channels=3), [10, 10, 3], seed=1)  # noqa: E731
    found = elements(contents, read, 2)
    assert same(found[:12], elements(contents, read, None)[:12])
    assert [i for i, image in enumerate(found) if image is None] == [12]
