"""Summaries: numbers, histograms, pictures and sounds as messages, and values that can't be shown."""

import io

import numpy as np
import pytest
from PIL import Image

import everflow as tf
from everflow.kernels.io.summaries import histogram_of
from everflow.protos.summary_pb2 import Summary
from tests.kernels.feeding import fed


def shown(sess, made):
    return list(Summary.FromString(sess.run(made)).value)


def test_several_numbers(sess):
    values = shown(sess, tf.raw_ops.ScalarSummary(tags=["a", "b"], values=fed([1.5, -2.0])))
    assert [(v.tag, v.simple_value) for v in values] == [("a", 1.5), ("b", -2.0)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not the same shape"):
        sess.run(tf.raw_ops.ScalarSummary(tags=fed(["a"]), values=fed([1.0, 2.0])))


@pytest.mark.parametrize(
    "values", [[0.0], [1.0, 1.0, 2.0], [-5.0, 0.0, 1e30, 1e-30], np.random.RandomState(0).randn(1000)]
)
def test_histograms_count_every_value(values):
    values = np.asarray(values)
    made = histogram_of(values)
    assert sum(made.bucket) == made.num == len(values)
    assert (made.min, made.max) == (values.min(), values.max())
    np.testing.assert_allclose([made.sum, made.sum_squares], [values.sum(), (values**2).sum()])
    edges = np.array([-np.inf, *made.bucket_limit])
    for count, low, high in zip(made.bucket, edges[:-1], edges[1:]):
        assert count == ((values >= low) & (values < high)).sum()


def test_a_histogram_of_nothing_and_of_what_is_no_number(sess):
    (value,) = shown(sess, tf.summary.histogram("h", fed(np.zeros(0, np.float32))))
    assert value.histo.num == 0 and value.histo.min > value.histo.max
    for bad, kind in ((np.nan, "Nan"), (np.inf, "Infinity")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"{kind} in summary histogram for: h"):
            sess.run(tf.raw_ops.HistogramSummary(tag="h", values=fed([1.0, bad])))


def pixels(value):
    return np.asarray(Image.open(io.BytesIO(value.image.encoded_image_string)))


@pytest.mark.parametrize(
    ("image", "wanted"),
    [
        ([0.0, 1.0, 2.0], [0, 127, 255]),
        ([-2.0, 0.0, 1.0], [1, 128, 191]),
        ([0.0, 0.0, 0.0], [0, 0, 0]),
        ([np.uint8(7), np.uint8(8), np.uint8(255)], [7, 8, 255]),
    ],
)
def test_pictures_are_scaled(sess, image, wanted):
    array = np.array(image)
    array = array.astype(np.uint8 if array.dtype == np.uint8 else np.float32).reshape(1, 1, 3, 1)
    (value,) = shown(sess, tf.summary.image("i", fed(array), max_outputs=1))
    assert value.tag == "i/image" and (value.image.height, value.image.width, value.image.colorspace) == (1, 3, 1)
    assert pixels(value).ravel().tolist() == wanted


def test_pixels_that_are_no_number_have_a_colour_of_their_own(sess):
    image = np.float32([[1, 0, 0], [np.nan, 1, 1], [0, 1, np.inf]]).reshape(1, 1, 3, 3)
    (value,) = shown(sess, tf.raw_ops.ImageSummary(tag="i", tensor=fed(image), max_images=1))
    assert pixels(value)[0].tolist() == [[255, 0, 0], [255, 0, 0], [255, 0, 0]]


def test_as_many_pictures_as_asked_for(sess):
    values = shown(sess, tf.summary.image("i", fed(np.zeros([4, 2, 2, 3], np.uint8)), max_outputs=2))
    assert [v.tag for v in values] == ["i/image/0", "i/image/1"]


@pytest.mark.parametrize("shape", [[2, 2, 3], [1, 2, 2, 2]])
def test_what_is_no_picture(sess, shape):
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be 4-D"):
        sess.run(tf.raw_ops.ImageSummary(tag="i", tensor=fed(np.zeros(shape, np.float32))))


@pytest.mark.parametrize(("shape", "channels"), [([2, 10], 1), ([2, 10, 2], 2)])
def test_sounds(sess, shape, channels):
    values = shown(sess, tf.summary.audio("s", fed(np.zeros(shape, np.float32)), 8000, max_outputs=2))
    assert [v.tag for v in values] == ["s/audio/0", "s/audio/1"]
    sound = values[0].audio
    assert (sound.sample_rate, sound.num_channels, sound.length_frames) == (8000, channels, 10)
    assert sound.encoded_audio_string[:4] == b"RIFF" and sound.content_type == "audio/wav"
    with pytest.raises(tf.errors.InvalidArgumentError, match="sample_rate must be positive"):
        sess.run(tf.summary.audio("s", fed(np.zeros(shape, np.float32)), fed(0.0)))


def test_summaries_are_merged_once_for_each_tag(sess):
    one, two = (tf.raw_ops.ScalarSummary(tags=tag, values=1.0) for tag in ("a", "b"))
    assert [v.tag for v in shown(sess, tf.raw_ops.MergeSummary(inputs=[one, two]))] == ["a", "b"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate tag a found in summary inputs"):
        sess.run(tf.raw_ops.MergeSummary(inputs=[one, two, one]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.raw_ops.MergeSummary(inputs=[fed(b"\xff\xff")]))


@pytest.mark.parametrize("value", [np.eye(2), 7, ["a", "b"]])
def test_tensors(sess, value):
    (made,) = shown(sess, tf.summary.tensor_summary("t", fed(value)))
    np.testing.assert_array_equal(
        tf.make_ndarray(made.tensor), np.array(value, "S") if isinstance(value, list) else value
    )
