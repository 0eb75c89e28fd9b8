"""What TFP 0.8, tensorflow-hub, tf2onnx, Keras 2.3 and GPflow 1 call, each by a few lines of their kind."""

from __future__ import annotations

import importlib
import os

import pytest

import everflow as tf
import tests.served  # noqa: F401

from tensorflow.python.feature_column import feature_column, feature_column_v2  # isort: skip
from tensorflow.python.framework import op_def_registry  # isort: skip


@pytest.mark.parametrize("order", [1, -1])
def test_a_column_derives_from_both_names_of_its_kind(order):
    kinds = (feature_column._DenseColumn, feature_column_v2.DenseColumn)
    column = type("Column", kinds[::order], {})()
    assert all(isinstance(column, kind) for kind in kinds)
    numeric = tf.feature_column.numeric_column("x")
    assert isinstance(numeric, feature_column._DenseColumn)
    assert not isinstance(numeric, feature_column._CategoricalColumn)
    assert isinstance(tf.feature_column.bucketized_column(numeric, [1.0]), feature_column._CategoricalColumn)


def test_what_is_no_tensor_is_its_own_static_value():
    assert tf.get_static_value(10) == 10 and tf.get_static_value("a") == "a"
    assert tf.contrib.util.constant_value([1, 2]) == [1, 2]
    assert tf.get_static_value(tf.placeholder(tf.int32)) is None


def test_op_types_are_looked_up_one_by_one():
    assert op_def_registry.get("Add").input_arg[0].name == "x"
    assert op_def_registry.get("NoSuchOp") is None


def test_a_module_keeps_what_checkpoints_pass_over():
    class Held(tf.Module):
        def __init__(self):
            super().__init__()
            self.saved = {"v": tf.Variable(1.0)}
            self.passed = self._no_dependency({"w": tf.Variable(2.0)})

    held = Held()
    assert held.passed["w"].name and len(held.variables) == 2
    assert [name for name, _ in tf.train.Checkpoint(held=held)._checkpoint_dependencies] == ["held"]
    listed = tf.contrib.checkpoint.list_objects(tf.train.Checkpoint(held=held))
    assert any(each is held.saved["v"] for each in listed)
    assert not any(each is held.passed["w"] for each in listed)
    held.passed = held.passed  # what is there already stays as it is
    assert not any(
        each is held.passed["w"] for each in tf.contrib.checkpoint.list_objects(tf.train.Checkpoint(held=held))
    )
    held.other = held.passed
    assert any(each is held.passed["w"] for each in tf.contrib.checkpoint.list_objects(tf.train.Checkpoint(held=held)))


def test_a_saver_takes_a_path_in_bytes(tmp_path):
    tf.Variable(1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, os.fsencode(tmp_path / "model"))
    assert path == str(tmp_path / "model") and (tmp_path / "model.index").exists()


class Probe:
    """Keras 2.3 finds out the device around by a stand-in for an op."""

    device = None

    def _set_device_from_string(self, device):
        self.device = device


def test_scopes_of_devices_apply_to_a_stand_in_for_an_op():
    seen = []

    def look():
        probe = Probe()
        tf.get_default_graph()._apply_device_functions(probe)
        seen.append(probe.device)

    with tf.Graph().as_default():
        look()
        with tf.device("/job:a"):
            with tf.device("/cpu:1"):
                look()
            with tf.device(lambda op: "/device:GPU:0"):
                look()
            with tf.device(None):
                look()
    assert seen == [None, "/job:a/device:CPU:1", "/job:a/device:GPU:0", None]


def test_optimizers_derive_from_the_base_class_directly():
    names = [name for name in dir(tf.train) if name.endswith("Optimizer") and name != "Optimizer"]
    assert len(names) >= 11
    assert [name for name in names if getattr(tf.train, name).__base__ is not tf.train.Optimizer] == []


def test_namespaces_of_two_are_module_paths():
    """`import tensorflow.compat.v2.X` gives what `tf.compat.v2.X` is, as deep as namespaces go."""
    import tensorflow.compat.v2.keras.backend as backend
    from tensorflow.compat.v2.keras.layers import LSTM

    to_come = importlib.import_module("tensorflow.compat.v2.keras.layers.experimental")
    assert LSTM is tf.compat.v2.keras.layers.LSTM and LSTM is not tf.keras.layers.LSTM
    assert backend is tf.keras.backend
    assert [name for name in dir(to_come) if name[0].isalpha()] == []
    assert importlib.import_module("tensorflow.compat.v2.io.gfile") is tf.compat.v2.io.gfile
    with pytest.raises(ModuleNotFoundError, match="compat.v2.nothing"):
        importlib.import_module("tensorflow.compat.v2.nothing")
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from tensorflow.compat.v2.keras.layers import nothing  # noqa: F401


@pytest.mark.parametrize(
    "use", [lambda f, c: tf.keras.layers.DenseFeatures([c])(f), lambda f, c: tf.feature_column.input_layer(f, [c])]
)
def test_a_column_keeps_what_is_no_variable(use):
    """As the columns of tensorflow-hub keep their modules."""

    class Doubling(feature_column_v2.DenseColumn, feature_column._DenseColumn):
        name, parents, parse_example_spec, variable_shape = "doubling", ["x"], {}, tf.TensorShape([1])
        _is_v2_column = True

        def create_state(self, keeper):
            return keeper.add_resource(self, "factor", 2.0)

        def transform_feature(self, cache, keeper):
            return cache.get("x", keeper)

        def get_dense_tensor(self, cache, keeper):
            return keeper.get_resource(self, "factor") * cache.get(self, keeper)

    with tf.Graph().as_default(), tf.Session() as sess:
        assert sess.run(use({"x": tf.constant([[1.0], [3.0]])}, Doubling())).tolist() == [[2.0], [6.0]]


def test_a_signature_names_ragged_tensors():
    with tf.Graph().as_default():
        ragged = tf.ragged.constant([[1], [2, 3]])
        info = tf.saved_model.build_tensor_info(ragged)
        assert info.WhichOneof("encoding") == "composite_tensor"
        assert [part.name for part in info.composite_tensor.components] == [ragged.values.name, ragged.row_splits.name]
        found = tf.saved_model.get_tensor_from_tensor_info(info)
        assert found.values is ragged.values and found.row_splits is ragged.row_splits


def test_a_metric_without_collections_is_noted_nowhere():
    from tensorflow.python.ops import metrics_impl

    with tf.Graph().as_default():
        variable = tf.Variable(1.0)
        assert metrics_impl._aggregate_variable(variable, None).op.type == "Identity"
        value = metrics_impl._aggregate_variable(variable, ["seen"])
        assert tf.get_collection("seen") == [value]


def test_a_name_may_be_bytes():
    with tf.Graph().as_default():
        assert [tf.constant(1, name=b"x").op.name, tf.constant(1, name="x").op.name] == ["x", "x_1"]


def test_a_column_asks_whether_its_weights_are_trained():
    asked = []

    class Asking(feature_column_v2.DenseColumn, feature_column._DenseColumn):
        _is_v2_column = True
        name = "x"
        parents = ["x"]
        parse_example_spec = {}
        variable_shape = tf.TensorShape([1])

        def transform_feature(self, cache, keeper):
            return cache.get("x", keeper)

        def create_state(self, keeper):
            asked.append(keeper._trainable)
            keeper.add_resource(self, "factor", 1.0)

        def get_dense_tensor(self, cache, keeper):
            return keeper.get_resource(self, "factor") * cache.get("x", keeper)

    with tf.Graph().as_default():
        for trainable in (True, False):
            tf.feature_column.input_layer({"x": tf.constant([[1.0]])}, [Asking()], trainable=trainable)
    assert asked == [True, False]


def test_traces_of_a_loaded_function(tmp_path):
    with tf.Graph().as_default(), tf.Session():
        module = tf.train.Checkpoint()
        module.double = tf.function(lambda x: 2.0 * x, input_signature=[tf.TensorSpec([None, 3], tf.float32)])
        tf.saved_model.save(module, str(tmp_path))
        (trace,) = tf.saved_model.load_v2(str(tmp_path)).double.concrete_functions
        assert trace.structured_input_signature[0][0].shape.as_list() == [None, 3]
