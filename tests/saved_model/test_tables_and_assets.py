"""Tables and files that belong to saved objects: they go into the SavedModel, and come back with it."""

import os

import pytest

import everflow as tf
from everflow.eager.mode import disable_eager_execution, enable_eager_execution
from everflow.ops.functions.resources import TrackableAsset
from everflow.ops.variables.auto_trackable import AutoTrackable
from everflow.saved_model.loader import parse_saved_model


@pytest.fixture(autouse=True)
def eager():
    resources = tf.resource_variables_enabled()
    tf.reset_default_graph()
    enable_eager_execution()
    yield
    disable_eager_execution()
    if not resources:
        tf.disable_resource_variables()


class Words(AutoTrackable):
    def __init__(self, table):
        self.table = table

    @tf.function(input_signature=[tf.TensorSpec(None, tf.string, name="w")])
    def look(self, w):
        return {"ids": self.table.lookup(w)}


def key_values():
    return tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([4, 7], tf.int64))


def lines(path):
    path.write_text("a\nb\n")
    index = tf.lookup.TextFileIndex
    return tf.lookup.TextFileInitializer(str(path), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)


def test_tables_are_made_and_filled_again(tmp_path):
    thing = Words(tf.lookup.StaticHashTable(key_values(), -1))
    for cycle in ("one", "two"):
        folder = str(tmp_path / cycle)
        tf.saved_model.save(thing, folder)
        thing = tf.saved_model.load_v2(folder)
        assert thing.look(tf.constant(["b", "z", "a"]))["ids"].numpy().tolist() == [7, -1, 4]


def test_a_vocabulary_with_buckets(tmp_path):
    words = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
    tf.saved_model.save(Words(tf.lookup.StaticVocabularyTable(words, 1)), str(tmp_path))
    look = tf.saved_model.load_v2(str(tmp_path)).look
    assert look(tf.constant(["b", "z"]))["ids"].numpy().tolist() == [1, 2]


def test_the_file_of_a_table_goes_along(tmp_path):
    file = tmp_path / "words.txt"
    thing = Words(tf.lookup.StaticHashTable(lines(file), -1))
    folder = str(tmp_path / "model")
    tf.saved_model.save(thing, folder)
    file.unlink()
    assert os.listdir(os.path.join(folder, "assets")) == ["words.txt"]
    loaded = tf.saved_model.load_v2(folder)
    assert loaded.look(tf.constant(["b"]))["ids"].numpy().tolist() == [1]


def test_sessions_serve_the_table_too(tmp_path):
    thing = Words(tf.lookup.StaticHashTable(lines(tmp_path / "words.txt"), -1))
    folder = str(tmp_path / "model")
    tf.saved_model.save(thing, folder, thing.look)
    with tf.Graph().as_default(), tf.Session() as session:
        meta = tf.saved_model.load(session, ["serve"], folder)
        signature = meta.signature_def["serving_default"]
        ids = session.run(signature.outputs["ids"].name, {signature.inputs["w"].name: ["b", "q"]})
    assert ids.tolist() == [1, -1]


def test_assets_keep_apart_what_differs(tmp_path):
    root, paths = AutoTrackable(), []
    for name, text in (("x", "one"), ("y", "two")):
        (tmp_path / name).mkdir()
        paths.append(tmp_path / name / "asset.txt")
        paths[-1].write_text(text)
    root.first, root.second, root.again = (TrackableAsset(str(p)) for p in (*paths, paths[0]))
    root.read = tf.function(lambda: tf.io.read_file(root.second.asset_path), input_signature=[])
    folder = str(tmp_path / "model")
    tf.saved_model.save(root, folder)
    files = [a.filename for a in parse_saved_model(folder).meta_graphs[0].asset_file_def]
    assert files == ["asset.txt", "asset.txt_1", "asset.txt"]
    loaded = tf.saved_model.load_v2(folder)
    held = [open(a.asset_path.numpy()).read() for a in (loaded.first, loaded.second, loaded.again)]
    assert held == ["one", "two", "one"] and loaded.read().numpy() == b"two"


def test_signatures_refuse_arguments_that_they_have_no_place_for(tmp_path):
    root = AutoTrackable()
    root.f = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([], tf.float32)])
    tf.saved_model.save(root, str(tmp_path), root.f)
    served = tf.saved_model.load_v2(str(tmp_path)).signatures["serving_default"]
    assert served(tf.constant(3.0))["output_0"].numpy() == 6.0
    with pytest.raises(TypeError, match="at most 1 positional"):
        served(tf.constant(1.0), tf.constant(2.0))
