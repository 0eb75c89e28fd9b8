"""Names of `saved_model.model_utils`, `saved_model.revived_types` and `summary.plugin_asset`."""

import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.legacy.inner.saved_model.revived_types import _types

# isort: split
from tensorflow.python.saved_model import revived_types
from tensorflow.python.saved_model.model_utils import export_output, export_utils, mode_keys
from tensorflow.python.summary import plugin_asset

pytestmark = pytest.mark.usefixtures("own_graph")


def test_modes_by_either_name():
    table = mode_keys.ModeKeyMap(predict=3, eval=1)
    assert (table["infer"], table["test"], len(table), sorted(table)) == (3, 1, 2, ["predict", "test"])
    assert mode_keys.is_eval("eval") and mode_keys.is_predict("predict") and not mode_keys.is_train("fit")
    assert (
        export_utils.EXPORT_TAG_MAP["eval"] == ["eval"] and export_utils.SIGNATURE_KEY_MAP["infer"] == "serving_default"
    )
    with pytest.raises(KeyError):
        table["train"]
    with pytest.raises(ValueError):
        mode_keys.ModeKeyMap(serve=1)


def test_signatures_of_outputs():
    text, value = tf.placeholder(tf.string), tf.constant([1.0])
    outputs = {
        "serving_default": export_output.RegressionOutput(value),
        "named": export_output.PredictOutput({"v": value}),
        "train": export_output.TrainOutput(loss=value),
    }
    found = export_utils.build_all_signature_defs(text, outputs, {"other": tf.placeholder(tf.int64)})
    assert sorted(found) == ["named", "other:named", "serving_default"] and list(found["named"].inputs) == ["input"]
    assert "train" in export_utils.build_all_signature_defs(text, outputs, serving_only=False)
    with pytest.raises(ValueError):
        export_utils.build_all_signature_defs(text, None)


def test_outputs_of_modes():
    loss, predictions = tf.constant(2.0), {"p": tf.constant([1.0])}
    metrics = {"acc": (loss, tf.no_op()), ("a", "b"): (loss, loss)}
    made = export_utils.export_outputs_for_mode("train", None, predictions, loss, metrics)["train"]
    signature = made.as_signature_def({"x": loss})
    assert sorted(signature.outputs) == [
        "loss",
        *sorted(f"metrics/{name}/{part}" for name in ("a/b", "acc") for part in ("update_op", "value")),
        "predictions/p",
    ]
    served = export_utils.export_outputs_for_mode("predict", {"a": export_output.PredictOutput(predictions)})
    assert sorted(served) == ["a", "serving_default"]
    with pytest.raises(ValueError):
        export_utils.export_outputs_for_mode("other")
    with pytest.raises(TypeError):
        export_utils.get_export_outputs({"a": 3}, predictions)


def test_folders_of_exports(tmp_path):
    assert export_utils.get_timestamped_export_dir(str(tmp_path)).startswith(str(tmp_path).encode())
    assert export_utils.get_temp_export_dir("a/123") == b"a/temp-123"


def test_classes_that_files_know_by_a_word():
    class Mine:
        def __init__(self, version):
            self.version = version

    def version(number, oldest=1):
        return revived_types.VersionedTypeRegistration(lambda proto: Mine(number), number, oldest, 1)

    revived_types.register_revived_type("mine", lambda each: isinstance(each, Mine), [version(1), version(2, oldest=2)])
    try:
        proto = revived_types.serialize(Mine(0))
        assert (proto.identifier, proto.version.producer) == ("mine", 2)
        made, setter = revived_types.deserialize(proto)
        assert made.version == 2 and setter is setattr
        proto.version.producer = 1
        assert revived_types.deserialize(proto)[0].version == 1
        proto.version.min_consumer = 3
        assert revived_types.deserialize(proto) is None and revived_types.serialize(3) is None
        for versions in ([version(1)], [], [version(1), version(1)]):
            with pytest.raises(AssertionError):
                revived_types.register_revived_type("mine" if len(versions) == 1 else "other", bool, versions)
    finally:
        del _types["mine"]


def test_objects_of_plugins():
    class Mine(plugin_asset.PluginAsset):
        plugin_name = "mine"

        def assets(self):
            return {}

    class Other(Mine):
        pass

    class Nameless(Mine):
        plugin_name = None

    made = plugin_asset.get_plugin_asset(Mine)
    assert plugin_asset.get_plugin_asset(Mine) is made and plugin_asset.get_all_plugin_assets() == [made]
    assert plugin_asset.get_all_plugin_assets(tf.Graph()) == []
    for wrong in (Other, Nameless):
        with pytest.raises(ValueError):
            plugin_asset.get_plugin_asset(wrong)


def test_names_of_variables_in_checkpoints_of_objects(tmp_path):
    from tensorflow.python.training import saver

    with tf.Session() as sess:
        checkpoint = tf.train.Checkpoint(v=tf.Variable(3.0, use_resource=True, name="w"))
        sess.run(tf.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "objects"), session=sess)
        by_name = tf.train.Saver().save(sess, str(tmp_path / "names"))
    assert saver.object_graph_key_mapping(path)["w"] == "v/.ATTRIBUTES/VARIABLE_VALUE"
    with pytest.raises(tf.errors.NotFoundError):
        saver.object_graph_key_mapping(by_name)


def test_two_names_of_one_mode():
    with pytest.raises(ValueError, match="same mode"):
        mode_keys.ModeKeyMap(predict=1, infer=2)
