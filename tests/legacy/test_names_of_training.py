"""Names inside TensorFlow's modules of training, SavedModels and feature columns: what they do."""

import pytest

import everflow as tf
import tests.served  # noqa: F401

pytestmark = pytest.mark.usefixtures("own_graph")


def events(folder):
    found = [e for path in tf.gfile.Glob(f"{folder}/events*") for e in tf.train.summary_iterator(path)]
    return [(e.log_message.level, e.log_message.message) for e in found if e.HasField("log_message")]


def test_messages_of_the_log_go_into_the_event_file(tmp_path):
    from tensorflow.python.training import tensorboard_logging as log

    with pytest.raises(RuntimeError, match="set_summary_writer"):
        log.info("too early")
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        log.set_summary_writer(writer)
        log.info("below the level")
        log.error("%d of %s", 3, "four")
        log.set_verbosity(log.DEBUG)
        log.debug("all")
        log.set_verbosity(log.WARN)
        log._clear_summary_writer()
    assert events(tmp_path) == [(40, "3 of four"), (10, "all")]
    with pytest.raises(ValueError, match="no level"):
        log.set_verbosity("LOUD")


def test_files_of_plugins_are_written_with_the_graph(tmp_path):
    from tensorflow.python.summary import plugin_asset

    class Notes(plugin_asset.PluginAsset):
        plugin_name = "notes"

        def assets(self):
            return {"a.txt": "hello"}

    plugin_asset.get_plugin_asset(Notes)
    tf.summary.FileWriter(str(tmp_path), tf.get_default_graph()).close()
    assert (tmp_path / "plugins" / "notes" / "a.txt").read_text() == "hello"


def test_loss_scales_by_name():
    from tensorflow.python.training.experimental import loss_scale

    assert loss_scale.get(None) is None and loss_scale.get(8).get_config() == {"loss_scale_value": 8.0}
    dynamic = loss_scale.get("dynamic")
    assert [v.op.name for v in loss_scale.get_loss_scale_weights(dynamic)] == ["current_loss_scale", "good_steps"]


def test_what_saving_a_list_of_variables_comes_to():
    from tensorflow.python.training.saving import saveable_object_util as util

    old, new = tf.Variable(1.0, name="o", use_resource=False), tf.Variable(1.0, name="n", use_resource=True)
    assert {name: t.name for name, t in util.op_list_to_dict([old, new]).items()} == {
        "o": "o:0",
        "n": "n/Read/ReadVariableOp:0",
    }
    assert util.op_list_to_dict([old, new], convert_variable_to_tensor=False) == {"o": old, "n": new}
    kinds = [type(s).__name__ for v in (old, new) for s in util.saveable_objects_for_op(v, "x")]
    assert kinds == ["ReferenceVariableSaveable", "ResourceVariableSaveable"]
    assert [s.name for s in util.validate_and_slice_inputs({"b": old, "a": new})] == ["a", "b"]


def test_folders_of_saved_models(tmp_path):
    from tensorflow.python.saved_model import builder_impl, utils_impl

    assert (
        utils_impl.get_variables_path("m") == "m/variables/variables" and utils_impl.get_assets_dir("m") == "m/assets"
    )
    for make in (utils_impl.get_or_create_variables_dir, utils_impl.get_or_create_assets_dir):
        assert tf.gfile.IsDirectory(make(str(tmp_path)))
    (tmp_path / "f.txt").write_text("1")
    (tmp_path / "g.txt").write_text("2")
    first, second = str(tmp_path / "f.txt"), str(tmp_path / "g.txt")
    assert builder_impl.get_asset_filename_to_add(first, {}) == "f.txt"
    assert builder_impl.get_asset_filename_to_add(first, {"f.txt": second}) == "f.txt_1"


def test_signatures_of_graphs_that_train():
    from tensorflow.python.saved_model import signature_def_utils_impl as utils

    x = tf.constant(1.0, name="x")
    made = utils.supervised_train_signature_def({"x": x}, {"loss": x}, {"p": x}, {"m": x})
    assert made.method_name == "tensorflow/supervised/training" and sorted(made.outputs) == ["loss", "m", "p"]
    with pytest.raises(ValueError, match="inputs"):
        utils.supervised_eval_signature_def({}, {"loss": x})


def test_ragged_tensors_in_signatures():
    ragged = tf.ragged.constant([[1, 2], [3]])
    info = tf.saved_model.build_tensor_info(ragged)
    found = tf.saved_model.get_tensor_from_tensor_info(info)
    with tf.Session() as session:
        assert session.run(found).to_list() == [[1, 2], [3]]


def test_outputs_of_evaluation_by_name():
    from tensorflow.python.saved_model.model_utils import export_output

    x = tf.constant(1.0, name="x")
    made = export_output.EvalOutput(x, x, {"acc": (x, tf.no_op())})
    assert sorted(made.metrics) == ["metrics/acc/update_op", "metrics/acc/value"]
    assert made.metrics["metrics/acc/update_op"].op.name == "metric_op_wrapper"
    assert (list(made.loss), list(made.predictions)) == ([made.LOSS_NAME], [made.PREDICTIONS_NAME])


def test_a_linear_model_is_a_keras_model():
    from tensorflow.python.feature_column import dense_features_v2
    from tensorflow.python.feature_column import feature_column_v2 as columns

    model = columns.LinearModel([columns.numeric_column("a")])
    model.compile("sgd", "mse")
    assert model.fit({"a": [[1.0], [2.0]]}, [[1.0], [2.0]], verbose=0, shuffle=False).history["loss"] == [2.5]
    assert model.bias.name == "linear_model/bias_weights:0" and len(model.layers) == 1
    embedded = columns.embedding_column(columns.categorical_column_with_identity("c", 3), 2)
    layer = dense_features_v2.DenseFeatures([embedded])
    layer({"c": tf.constant([[1]])})
    assert [v.name for v in layer.variables] == ["dense_features/c_embedding/embedding_weights:0"]


def test_what_columns_make_of_features():
    from tensorflow.python.feature_column import feature_column_v2 as columns

    priced = columns.bucketized_column(columns.numeric_column("price"), [1.0, 50.0])
    made = columns._transform_features_v2({"price": tf.constant([[20.0], [110.0]])}, [priced], None)
    with tf.Session() as session:
        assert session.run(made[priced]).tolist() == [[1], [2]]
    cross = columns.crossed_column([columns.crossed_column(["x", priced], 10), "y"], 5)
    assert columns._collect_leaf_level_keys(cross) == ["x", priced, "y"]
    assert columns.SequenceDenseColumn.TensorSequenceLengthPair._fields == ("dense_tensor", "sequence_length")


def test_baseline_models_check_that_features_have_as_many_rows():
    def features():
        return {"a": tf.constant([[1.0], [2.0]]), "b": tf.placeholder_with_default([[1.0]], [None, 1])}, [[1.0], [2.0]]

    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.estimator.BaselineRegressor().train(features, steps=1)


def test_hooks_of_several_steps_stop_at_a_step():
    from tensorflow.python.training import basic_session_run_hooks, monitored_session

    step = tf.train.get_or_create_global_step()
    hook = basic_session_run_hooks._MultiStepStopAtStepHook(num_steps=7, steps_per_run=3)
    hook.begin()
    each = basic_session_run_hooks.get_or_create_steps_per_run_variable()
    train = tf.assign_add(step, tf.cast(each, tf.int64))
    seen = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        hooked = monitored_session._HookedSession(sess, [hook])
        hook.after_create_session(sess, None)
        while not hooked.should_stop():
            seen.append(hooked.run(train))
    assert seen == [3, 6, 7]
    with pytest.raises(ValueError):
        basic_session_run_hooks._MultiStepStopAtStepHook(num_steps=1, steps_per_run=0)


def test_variables_of_objects_have_any_initializer():
    from tensorflow.python.training.tracking import tracking, util

    root = tracking.AutoTrackable()
    number = util.add_variable(root, name="number", initializer=3.0, dtype=tf.float64)
    drawn = util.add_variable(root, name="drawn", shape=[2], initializer=tf.ones_initializer)
    assert (number.dtype, drawn.shape.as_list()) == (tf.float64, [2])
    with pytest.raises(ValueError):
        util.add_variable(root, name="drawn", shape=[2])


def test_rows_of_a_checkpoint_by_words(tmp_path):
    from tensorflow.python.training import checkpoint_ops

    for name, words in (("new", "a b c"), ("old", "c a")):
        (tmp_path / name).write_text("\n".join(words.split()))
    with tf.Session() as sess:
        tf.get_variable("m", initializer=[[1.0, 2.0], [3.0, 4.0]])
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "model"))
        files = {"new_row_vocab_file": str(tmp_path / "new"), "old_row_vocab_file": str(tmp_path / "old")}
        given = (path, "m", 0, 3, 2, lambda shape: tf.fill(shape, 9.0))
        loaded = checkpoint_ops._load_and_remap_matrix(*given, num_row_oov_buckets=1, **files)
        assert sess.run(loaded).tolist() == [[3, 4], [9, 9], [1, 2], [9, 9]]
    for wrong in ({}, {"new_row_vocab_file": "x"}, {**files, "num_row_oov_buckets": -1}):
        with pytest.raises(ValueError):
            checkpoint_ops._load_and_remap_matrix(*given, **wrong)


def test_objects_make_what_a_checkpoint_asks_for(tmp_path):
    import numpy as np

    state = tf.contrib.checkpoint.NumpyState()
    state.seen = np.ones([2])
    with tf.Session() as sess:
        path = tf.train.Checkpoint(state=state).save(str(tmp_path / "model"), session=sess)
        other = tf.contrib.checkpoint.NumpyState()
        tf.train.Checkpoint(state=other).restore(path).run_restore_ops(sess)
    assert other.seen.tolist() == [1, 1]
