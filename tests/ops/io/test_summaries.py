"""Summary ops: tags, families, collections, and the protos they give."""

import numpy as np
import pytest

import everflow as tf


def parsed(sess, tensor, feed=None):
    return tf.Summary.FromString(sess.run(tensor, feed)).value


@pytest.mark.parametrize(
    ("name", "family", "tag", "op"),
    [
        ("loss", None, "loss", "loss"),
        ("a b:c", None, "a_b_c", "a_b_c"),
        ("/loss", None, "loss", "loss"),
        ("loss", "train", "train/train/loss", "train/loss"),
    ],
)
def test_tags(sess, name, family, tag, op):
    made = tf.summary.scalar(name, 2.5, family=family)
    assert made.op.name == op
    [value] = parsed(sess, made)
    assert (value.tag, value.simple_value) == (tag, 2.5)


def test_tags_are_unique_and_have_the_scope(sess):
    with tf.name_scope("outer"):
        first, second = tf.summary.scalar("loss", 1.0), tf.summary.scalar("loss", 2.0)
    assert [parsed(sess, s)[0].tag for s in (first, second)] == ["outer/loss", "outer/loss_1"]


def test_collections(sess):
    default = tf.summary.scalar("a", 1.0)
    mine = tf.summary.scalar("b", 2.0, collections=["mine"])
    nowhere = tf.summary.scalar("c", 3.0, collections=[])
    assert tf.get_collection(tf.GraphKeys.SUMMARIES) == [default] and tf.get_collection("mine") == [mine]
    assert [v.tag for v in parsed(sess, tf.summary.merge([nowhere, mine]))] == ["c", "b"]
    assert [v.tag for v in parsed(sess, tf.summary.merge_all())] == ["a"]
    assert tf.summary.merge_all("none") is None


def test_histograms(sess):
    [value] = parsed(sess, tf.summary.histogram("h", [[1.0, -2.0], [0.0, 5.0]]))
    assert (value.histo.min, value.histo.max, value.histo.num, value.histo.sum) == (-2, 5, 4, 4)
    assert sum(value.histo.bucket) == 4 and len(value.histo.bucket) == len(value.histo.bucket_limit)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.summary.histogram("h", [np.nan]))


@pytest.mark.parametrize(("count", "tags"), [(1, ["i/image"]), (3, ["i/image/0", "i/image/1"])])
def test_images(sess, count, tags):
    values = parsed(sess, tf.summary.image("i", np.zeros([2, 3, 4, 3], np.uint8), max_outputs=count))
    assert [v.tag for v in values] == tags
    assert all((v.image.height, v.image.width, v.image.colorspace) == (3, 4, 3) for v in values)
    assert values[0].image.encoded_image_string.startswith(b"\x89PNG")


def test_sounds(sess):
    [value] = parsed(sess, tf.summary.audio("s", np.zeros([1, 10, 2], np.float32), 8000.0, max_outputs=1))
    assert (value.tag, value.audio.sample_rate, value.audio.num_channels) == ("s/audio", 8000, 2)
    assert value.audio.length_frames == 10 and value.audio.content_type == "audio/wav"


def test_texts_and_tensors_have_metadata(sess):
    [text] = parsed(sess, tf.summary.text("t", tf.constant(["a", "b"])))
    assert text.metadata.plugin_data.plugin_name == "text" and list(text.tensor.string_val) == [b"a", b"b"]
    with pytest.raises(ValueError):
        tf.summary.text("t", tf.constant([1]))
    metadata = tf.SummaryMetadata(display_name="shown")
    [tensor] = parsed(
        sess, tf.summary.tensor_summary("n", [1, 2], summary_description="words", summary_metadata=metadata)
    )
    assert tensor.metadata.display_name == "shown" and tensor.tag == "n"


def test_summaries_are_scalars_without_gradients():
    with tf.Graph().as_default():
        x = tf.constant(1.0)
        made = [tf.summary.scalar("a", x), tf.summary.histogram("b", x), tf.summary.image("c", tf.zeros([1, 1, 1, 1]))]
        assert all(s.shape.as_list() == [] and s.dtype == tf.string for s in made)
        with pytest.raises(ValueError):
            tf.summary.merge([])
