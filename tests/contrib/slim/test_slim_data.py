"""slim's input: Examples decoded item by item, files read in parallel."""

import numpy as np
import pytest

import everflow as tf

slim = tf.contrib.slim
decoder = slim.tfexample_decoder


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def example(**features):
    kinds = {
        float: ("float_list", tf.train.FloatList),
        int: ("int64_list", tf.train.Int64List),
        bytes: ("bytes_list", tf.train.BytesList),
    }
    made = {}
    for name, values in features.items():
        field, message = kinds[type(values[0])]
        made[name] = tf.train.Feature(**{field: message(value=values)})
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def decoded(serialized, keys_to_features, handler):
    (item,) = decoder.TFExampleDecoder(keys_to_features, {"item": handler}).decode(tf.constant(serialized))
    with tf.Session() as sess:
        return sess.run(item)


def test_tensors_with_their_shapes():
    serialized = example(a=[1.0, 2.0, 3.0, 4.0], shape=[2, 2])
    features = {"a": tf.VarLenFeature(tf.float32), "shape": tf.FixedLenFeature([2], tf.int64)}
    assert decoded(serialized, features, decoder.Tensor("a", shape_keys="shape")).tolist() == [[1, 2], [3, 4]]
    assert decoded(serialized, features, decoder.Tensor("a", shape=[4, 1])).shape == (4, 1)


def test_boxes_and_sparse_tensors():
    sides = {side: tf.VarLenFeature(tf.float32) for side in ("ymin", "xmin", "ymax", "xmax")}
    boxes = decoded(
        example(ymin=[0.0, 0.5], xmin=[0.25, 0.5], ymax=[1.0, 1.0], xmax=[0.75, 1.0]), sides, decoder.BoundingBox()
    )
    assert boxes.tolist() == [[0, 0.25, 1, 0.75], [0.5, 0.5, 1, 1]]
    features = {"indices": tf.VarLenFeature(tf.int64), "values": tf.VarLenFeature(tf.float32)}
    dense = decoded(example(indices=[1, 3], values=[5.0, 6.0]), features, decoder.SparseTensor(shape=[4], densify=True))
    assert dense.tolist() == [0, 5, 0, 6]


def test_images_encoded_and_raw():
    pixels = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    with tf.Session() as sess:
        encoded = sess.run(tf.image.encode_png(pixels))
    for content, kind, shape in ((encoded, b"png", None), (pixels.tobytes(), b"raw", [2, 2, 3])):
        features = {
            "image/encoded": tf.FixedLenFeature((), tf.string),
            "image/format": tf.FixedLenFeature((), tf.string),
        }
        serialized = example(**{"image/encoded": [content], "image/format": [kind]})
        handler = decoder.Image() if shape is None else decoder.Image(shape=shape, channels=None)
        np.testing.assert_array_equal(decoded(serialized, features, handler), pixels)


def test_a_provider_gives_each_record_once(tmp_path):
    for name, numbers in (("a", [1, 2]), ("b", [3])):
        with tf.io.TFRecordWriter(str(tmp_path / name)) as writer:
            for number in numbers:
                writer.write(example(x=[number]))
    decode = decoder.TFExampleDecoder({"x": tf.FixedLenFeature([], tf.int64)}, {"x": decoder.Tensor("x")})
    dataset = slim.dataset.Dataset(str(tmp_path / "*"), tf.TFRecordReader, decode, 3, {"x": "a number"})
    provider = slim.dataset_data_provider.DatasetDataProvider(dataset, num_readers=2, num_epochs=1, shuffle=False)
    (x,) = provider.get(["x"])
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        with slim.queues.QueueRunners(sess):
            assert sorted(sess.run(x) for _ in range(3)) == [1, 2, 3]
    with pytest.raises(ValueError, match="invalid"):
        provider.get(["y"])
