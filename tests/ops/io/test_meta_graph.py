"""Meta graphs and the files of checkpoints: what is written beside them, left out of them and deleted with them."""

import pytest

import everflow as tf
from everflow.ops.io.meta_graph import (
    add_collection_def,
    copy_scoped_meta_graph,
    create_meta_graph_def,
    export_scoped_meta_graph,
    import_scoped_meta_graph,
)
from everflow.protos.graph_debug_info_pb2 import GraphDebugInfo

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


@pytest.mark.parametrize(
    ("version", "left"), [(tf.train.SaverDef.V2, ["m"]), (tf.train.SaverDef.V1, ["m.data-00000-of-00001", "m.index"])]
)
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


@pytest.mark.parametrize(
    ("folder", "error"), [("", tf.errors.NotFoundError), ("no/such", tf.errors.InvalidArgumentError)]
)
def test_a_checkpoint_that_is_not_there(tmp_path, folder, error):
    with pytest.raises(error, match="Unsuccessful TensorSliceReader constructor"):
        tf.train.load_checkpoint(str(tmp_path / folder / "m"))


def _exported():
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=2.0)
        _, r = tf.while_loop(
            lambda i, a: i < 3, lambda i, a: (i + 1, tf.cond(a > 4.0, lambda: a + v, lambda: a * v)), [0, v * 1.0]
        )
        tf.identity(r, name="r")
        return tf.train.export_meta_graph()


def test_a_name_scope_around_is_where_nodes_and_contexts_are_imported_to():
    with tf.name_scope("around"):
        tf.train.import_meta_graph(_exported())
    assert [v.name for v in tf.global_variables()] == ["around/v:0"]
    (grad,) = tf.gradients(tf.get_default_graph().get_tensor_by_name("around/r:0"), tf.trainable_variables())
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(["around/r:0", grad]) == [10.0, 13.0]


def test_a_saver_is_made_for_variables_whose_names_begin_with_the_import_s_scope():
    with tf.variable_scope("around"):
        assert tf.train.import_meta_graph(_exported(), import_scope="inner") is None
    assert tf.train.import_meta_graph(_exported(), import_scope="inner") is not None


def test_collections_of_a_scope_have_what_is_under_it():
    with tf.name_scope("q"):
        tf.Variable(1.0, name="v")
    tf.add_to_collection("numbers", 3)
    assert sorted(tf.train.export_meta_graph(export_scope="q").collection_def) == [
        "numbers",
        "trainable_variables",
        "variables",
    ]
    assert sorted(tf.train.export_meta_graph(export_scope="elsewhere").collection_def) == ["numbers"]


def test_what_is_under_a_scope_is_drawn_again_under_another():
    with tf.name_scope("q"):
        tf.identity(tf.Variable(3.0, name="v") * 2.0, name="y")
    variables = copy_scoped_meta_graph("q", "t")
    assert {name: v.name for name, v in variables.items()} == {"v:0": "t/v:0"}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run("t/y:0") == 6.0
    with pytest.raises(ValueError, match="need to be different"):
        copy_scoped_meta_graph("q", "q")
    assert list(copy_scoped_meta_graph("q", "q", to_graph=tf.Graph())) == ["v:0"]


def test_one_saver_and_no_others():
    with tf.Graph().as_default() as graph:
        v = tf.Variable(1.0, name="v")
        savers = [tf.train.Saver([v], name=name) for name in ("first", "second")]
        for saver in savers:
            graph.add_to_collection(tf.GraphKeys.SAVERS, saver)
        meta = tf.train.export_meta_graph(saver_def=savers[1].saver_def, clear_extraneous_savers=True)
    assert {node.name.split("/")[0] for node in meta.graph_def.node} == {"v", "second"}
    (kept,) = meta.collection_def[tf.GraphKeys.SAVERS].bytes_list.value
    assert tf.train.SaverDef.FromString(kept) == savers[1].saver_def


def test_inputs_from_outside_of_a_scope_are_given_when_it_is_read_again():
    with tf.Graph().as_default() as graph:
        with tf.name_scope("outside"):
            images = tf.constant(2.0, name="images")
        with tf.name_scope("layer"):
            tf.add(images, 1.0, name="out")
        meta, _ = export_scoped_meta_graph(graph=graph, export_scope="layer")
    wanted = meta.collection_def["unbound_inputs"].bytes_list.value
    assert list(wanted) == [b"$unbound_inputs_outside/images"]
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        with pytest.raises(ValueError, match="unbound inputs"):
            import_scoped_meta_graph(meta, import_scope="again")
        given = {wanted[0].decode(): tf.constant(5.0)}
        import_scoped_meta_graph(meta, import_scope="again", input_map=given)
        assert sess.run("again/out:0") == 6.0


def test_a_collection_is_written_with_other_contents():
    tf.add_to_collection("sizes", 1)
    meta = create_meta_graph_def()
    add_collection_def(meta, "sizes", override_contents=[2, 3])
    assert list(meta.collection_def["sizes"].int64_list.value)[-2:] == [2, 3]
    with pytest.raises(TypeError):
        add_collection_def(meta, "sizes", graph="no graph")


def test_a_scope_is_written_with_what_begins_like_it():
    """Siblings whose names begin alike are of it, too, as in TensorFlow; only names below it lose the scope."""
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="part/a")
        outside = tf.constant(2.0, name="other")
        tf.Variable(outside, name="part2/v", use_resource=False)
        tf.add_to_collection("kept", tf.identity(outside, name="part"))
        meta, variables = export_scoped_meta_graph(export_scope="part", graph=graph)
    names = [node.name for node in meta.graph_def.node]
    assert names[0] == "a" and "part2/v" in names and "other" not in names
    assert list(variables) == ["part2/v:0"]
    assert list(meta.collection_def["kept"].node_list.value) == ["part:0"]
