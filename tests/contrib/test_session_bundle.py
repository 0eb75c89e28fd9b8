"""tf.contrib.session_bundle: exports for serving before SavedModels."""

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.contrib.session_bundle import constants, exporter, gc


@pytest.fixture
def model():
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.device("/cpu:0"):
            x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.matmul(x, tf.Variable([[1.0], [2.0]]), name="y")
        session.run(tf.global_variables_initializer())
        yield session, x, y


def test_an_export_is_loaded_again(model, tmp_path):
    from tensorflow.contrib.session_bundle import manifest_pb2

    session, x, y = model
    words = tmp_path / "words.txt"
    words.write_text("a\n")
    made = exporter.Exporter(tf.train.Saver())
    made.init(
        session.graph.as_graph_def(),
        init_op=tf.group(y),
        clear_devices=True,
        default_graph_signature=exporter.classification_signature(x, scores_tensor=y),
        named_graph_signatures={"inputs": exporter.generic_signature({"in": x})},
        assets_collection=[tf.constant(str(words))],
    )
    folder = tmp_path / "models"
    assert made.export(str(folder), tf.constant(7), session) == str(folder / "00000007").encode()
    with pytest.raises(RuntimeError, match="already"):
        made.export(str(folder), tf.constant(7), session)
    for step in (8, 9):
        made.export(str(folder), tf.constant(step), session, gc.largest_export_versions(2))
    assert sorted(p.name for p in folder.iterdir()) == ["00000008", "00000009"]
    written = folder / "00000009"
    assert (written / "assets" / "words.txt").read_text() == "a\n"

    graph = tf.MetaGraphDef.FromString((written / constants.META_GRAPH_DEF_FILENAME).read_bytes())
    (packed,) = graph.collection_def[constants.SIGNATURES_KEY].any_list.value
    assert packed.type_url == "type.googleapis.com/tensorflow.serving.Signatures"
    signatures = manifest_pb2.Signatures.FromString(packed.value)
    assert signatures.default_signature.classification_signature.scores.tensor_name == "y:0"
    assert signatures.named_signatures["inputs"].generic_signature.map["in"].tensor_name == "x:0"
    (kept,) = graph.collection_def[constants.GRAPH_KEY].any_list.value
    assert not any(node.device for node in tf.GraphDef.FromString(kept.value).node)
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(str(written / "export.meta"))
        saver.restore(session, str(written / "export"))
        np.testing.assert_array_equal(session.run("y:0", {"x:0": [[1, 1]]}), [[3]])


def test_what_an_exporter_refuses(model, tmp_path):
    session, x, _ = model
    made = exporter.Exporter(tf.train.Saver())
    with pytest.raises(RuntimeError, match="init"):
        made.export(str(tmp_path), tf.constant(1), session)
    with pytest.raises(TypeError, match="Operation"):
        made.init(init_op=1)
    for tensor in (tf.identity(tf.constant("a")), tf.constant(1), "a"):
        with pytest.raises(TypeError, match="Assets"):
            made.init(assets_collection=[tensor])
    made.init()
    with pytest.raises(RuntimeError, match="once"):
        made.init()


def test_which_exports_are_kept(tmp_path):
    paths = [gc.Path(f"/exports/{i}", i) for i in range(1, 9)]

    def kept(rule):
        return [path.export_version for path in rule(paths)]

    assert kept(gc.largest_export_versions(3)) == [6, 7, 8]
    assert kept(gc.one_of_every_n_export_versions(3)) == [3, 6, 8]
    assert kept(gc.mod_export_version(3)) == [3, 6]
    assert kept(gc.union(gc.largest_export_versions(1), gc.mod_export_version(4))) == [4, 8]
    assert kept(gc.negation(gc.largest_export_versions(5))) == [1, 2, 3]
    assert gc.one_of_every_n_export_versions(3)([]) == []
