"""SavedModels of graphs, loaded where there is no session."""

import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.ops.functions.initial_values import UnliftableError


def _saved(folder, build, **more):
    with tf.Graph().as_default(), tf.Session() as sess:
        inputs, outputs = build()
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        builder = tf.saved_model.Builder(str(folder))
        signature = tf.saved_model.predict_signature_def(inputs, outputs)
        builder.add_meta_graph_and_variables(
            sess, ["serve"], {"serving_default": signature}, main_op=tf.tables_initializer(), **more
        )
        builder.save()
    return str(folder)


def _linear(use_resource):
    x = tf.placeholder(tf.float32, [None], name="x")
    v = tf.get_variable("v", initializer=3.0, use_resource=use_resource)
    w = tf.get_variable("w", initializer=1.0, trainable=False, use_resource=use_resource)
    return {"start": x}, {"output": x * v + w}


@pytest.mark.parametrize("use_resource", [True, False])
def test_signatures_variables_and_gradients(tmp_path, use_resource):
    folder = _saved(tmp_path / "model", lambda: _linear(use_resource))
    with eager_mode():
        loaded = tf.saved_model.load_v2(folder)
        serve = loaded.signatures["serving_default"]
        assert serve(start=tf.constant([2.0]))["output"].numpy().tolist() == [7.0]
        assert [v.trainable for v in loaded.variables] == [True, False]
        with tf.GradientTape() as tape:
            y = serve(tf.constant([2.0]))["output"]
        assert tape.gradient(y, loaded.variables[0]).numpy() == 2.0
        loaded.variables[0].assign(10.0)
        assert serve(start=tf.constant([2.0]))["output"].numpy().tolist() == [21.0]
        assert serve.structured_outputs["output"].shape.as_list() == [None]
        assert loaded.prune("x:0", "mul:0")(tf.constant([5.0])).numpy().tolist() == [50.0]


def test_branches_loops_and_tables_with_assets(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("a\nb\n")

    def build():
        x = tf.placeholder(tf.float32, [], name="x")
        v = tf.get_variable("v", initializer=3.0)
        text = tf.placeholder(tf.string, [None], name="text")
        table = tf.contrib.lookup.index_table_from_file(str(words))
        branch = tf.cond(x > 0.0, lambda: x * v, lambda: x - v)
        loop = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * 2.0), [0, x])[1]
        return {"x": x, "text": text}, {"branch": branch, "loop": loop, "ids": table.lookup(text)}

    def assets():
        return tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)

    with tf.Graph().as_default():
        folder = str(tmp_path / "model")
        with tf.Session() as sess:
            inputs, outputs = build()
            sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
            builder = tf.saved_model.Builder(folder)
            signature = tf.saved_model.predict_signature_def(inputs, outputs)
            builder.add_meta_graph_and_variables(
                sess, ["serve"], {"s": signature}, assets_collection=assets(), main_op=tf.tables_initializer()
            )
            builder.save()
    words.unlink()
    with eager_mode():
        serve = tf.saved_model.load_v2(folder).signatures["s"]
        found = serve(x=tf.constant(-2.0), text=tf.constant(["b", "z"]))
        assert found["branch"].numpy() == -5.0 and found["loop"].numpy() == -16.0
        assert found["ids"].numpy().tolist() == [1, -1]


def test_what_cannot_be_called(tmp_path):
    def build():
        x, z = (tf.placeholder(tf.float32, [], name=name) for name in "xz")
        return {"x": x}, {"y": x * z}

    folder = _saved(tmp_path / "model", build)
    with eager_mode():
        with pytest.raises(UnliftableError, match="'z'"):
            tf.saved_model.load_v2(folder)
        with pytest.raises(RuntimeError, match="serve"):
            tf.saved_model.load_v2(folder, tags=["other"])


def test_in_a_graph(tmp_path):
    folder = _saved(tmp_path / "model", lambda: _linear(True))
    with tf.Graph().as_default(), tf.Session() as sess:
        y = tf.saved_model.load_v2(folder).signatures["serving_default"](start=tf.constant([2.0]))["output"]
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        assert sess.run(y).tolist() == [7.0]
