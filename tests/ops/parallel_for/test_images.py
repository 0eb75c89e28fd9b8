"""Functions that decode and resize images, for several of them at once: the pixels that each has alone."""

import numpy as np
import pytest

import everflow as tf
from everflow.data.functions import StructuredFunction
from everflow.ops.parallel_for.exact import for_many

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


@pytest.fixture(autouse=True)
def worth_it(monkeypatch):
    monkeypatch.setattr("everflow.kernels.data.parallel.WORTH", -1.0)


@pytest.mark.parametrize("method", range(4))
@pytest.mark.parametrize("kind", ["jpeg", "png"])
def test_images_of_one_size(kind, method):
    contents = files(kind, [(20, 30)] * 40)

    def read(data):
        return tf.image.resize_images(getattr(tf.image, "decode_" + kind)(data, channels=3), [12, 9], method)

    assert same(elements(contents, read, 2), elements(contents, read, None))


def test_images_of_different_sizes_come_one_by_one():
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


def test_only_threads_that_share_out_elements_have_them_so():
    graph = tf.get_default_graph()
    function = StructuredFunction(lambda s: tf.image.decode_jpeg(s), "test", tf.TensorSpec([], tf.string))
    defined = graph._functions[function.attr.name]
    assert for_many(defined, 0) is None
    many = for_many(defined, 0, with_images=True)
    assert [op.type for op in many.body.graph.get_operations() if "Jpegs" in op.type] == ["_DecodeJpegs"]
    assert "_DecodeJpegs" not in dir(tf.raw_ops)
