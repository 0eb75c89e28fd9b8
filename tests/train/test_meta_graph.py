"""Meta graphs and the files of checkpoints: what is written beside them, left out of them and deleted with them."""

import pytest

import everflow as tf
from everflow.protos.graph_debug_info_pb2 import GraphDebugInfo
from everflow.train.meta_graph import create_meta_graph_def

pytestmark = pytest.mark.usefixtures("own_graph")


def test_debug_info_says_where_operations_were_made(tmp_path):
    tf.constant(1.0, name="a")
    with tf.name_scope("inner"):
        tf.constant(2.0, name="b")
    tf.train.export_meta_graph(str(tmp_path / "m.meta"), export_scope="inner", save_debug_info=True)
    info = GraphDebugInfo.FromString((tmp_path / "m.debug").read_bytes())
    assert list(info.traces) == ["inner/b"]
    assert __file__ in [info.files[frame.file_index] for frame in info.traces["inner/b"].file_line_cols]


def test_collections_without_excluded_nodes():
    for name in "ab":
        tf.add_to_collection("kept", tf.constant(1.0, name=name))
    meta_graph = create_meta_graph_def(exclude_nodes=["a:0"])
    assert list(meta_graph.collection_def["kept"].node_list.value) == ["b:0"]


@pytest.mark.parametrize(("version", "left"), [(tf.train.SaverDef.V2, ["m"]), (tf.train.SaverDef.V1, ["m.data-00000-of-00001", "m.index"])])
def test_a_checkpoint_is_removed_in_its_format(tmp_path, version, left):
    for name in ("m", "m.index", "m.data-00000-of-00001", "m.meta"):
        (tmp_path / name).write_text("x")
    tf.train.remove_checkpoint(str(tmp_path / "m"), checkpoint_format_version=version)
    assert sorted(path.name for path in tmp_path.iterdir()) == left


def test_a_model_without_variables_is_loaded_beside_variables(tmp_path):
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.placeholder(tf.float32, name="x")
        builder = tf.saved_model.Builder(folder)
        builder.add_meta_graph_and_variables(sess, ["serve"])
        builder.save()
    tf.Variable(1.0)
    with tf.Session() as sess:
        tf.saved_model.load(sess, ["serve"], folder, import_scope="loaded")
        assert sess.graph.get_tensor_by_name("loaded/x:0").dtype == tf.float32


@pytest.mark.parametrize(("folder", "error"), [("", tf.errors.NotFoundError), ("no/such", tf.errors.InvalidArgumentError)])
def test_a_checkpoint_that_is_not_there(tmp_path, folder, error):
    with pytest.raises(error, match="Unsuccessful TensorSliceReader constructor"):
        tf.train.load_checkpoint(str(tmp_path / folder / "m"))
