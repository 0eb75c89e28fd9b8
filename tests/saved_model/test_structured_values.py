"""Nested values as the messages that SavedModels hold."""

import pytest

import everflow as tf
from everflow.saved_model.structured_values import decode, encode


@pytest.mark.parametrize(
    "value",
    [
        (1, {"a": 2, "b": [3.5, None, "text", True]}),
        [tf.TensorShape([1, None]), tf.TensorShape(None), tf.float32],
        tf.TensorSpec([None], tf.int32, "x"),
        tf.RaggedTensorSpec([None, None], tf.int32, 1),
        (tf.SparseTensorSpec([None, 2], tf.float32), tf.IndexedSlicesSpec([None, 2], tf.float32)),
    ],
    ids=repr,
)
def test_values_come_back(value):
    assert repr(decode(encode(value))) == repr(value)


def test_what_a_file_cannot_hold():
    with pytest.raises(ValueError, match="can't hold"):
        encode([object()])
    with pytest.raises(TypeError):
        encode({1: 2})


def test_assets_of_one_name_and_content_are_one_file(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        for number, text in enumerate(("a", "a", "b")):
            (tmp_path / str(number)).mkdir()
            (tmp_path / str(number) / "words.txt").write_text(text)
            path = tf.constant(str(tmp_path / str(number) / "words.txt"))
            tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
        builder = tf.saved_model.Builder(str(tmp_path / "model"))
        builder.add_meta_graph_and_variables(
            sess, ["serve"], assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)
        )
    assert sorted(p.name for p in (tmp_path / "model" / "assets").iterdir()) == ["words.txt", "words.txt_1"]
