"""`keras.testing_utils` and `keras.keras_parameterized`: models of every kind, layers put to the test, tests in every
mode.
"""

import unittest

import numpy as np
import pytest
from absl.testing import parameterized

import everflow as tf
import tests.served  # noqa: F401

# isort: split
from tensorflow.python.keras import keras_parameterized, testing_utils


@pytest.fixture(autouse=True)
def _fresh():
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


def test_data_lies_around_a_point_for_each_class():
    (x, labels), (more, _) = testing_utils.get_test_data(3, 2, (2,), 3, random_seed=1)
    np.testing.assert_allclose(x[:2], [[0.13866343, 5.457292], [-1.0163279, 2.4513574]], rtol=1e-6)
    assert x.dtype == np.float32 and labels.tolist() == [0, 1, 0] and more.shape == (2, 2)


@pytest.mark.parametrize("kind", ["functional", "sequential", "subclass", "subclass_custom_build"])
def test_models_of_every_kind(kind):
    dense = tf.keras.layers.Dense
    with testing_utils.model_type_scope(kind):
        assert testing_utils.get_small_mlp(4, 1, 3)(tf.ones([2, 3])).shape == [2, 1]
        model = testing_utils.get_model_from_layers([dense(2), dense(5)], input_shape=(4,), name="mine")
        assert model.name == "mine" and model(tf.ones([2, 4])).shape == [2, 5]
        if kind == "sequential":
            with pytest.raises(ValueError, match="branches"):
                testing_utils.get_multi_io_model([dense(1)], [dense(1)])
        else:
            ends = [tf.keras.Input((4,)), dense(2)], [tf.keras.Input((4,)), dense(3)]
            a, b = testing_utils.get_multi_io_model(*ends)([tf.ones([2, 4])] * 2)
            assert (a.shape, b.shape) == ([2, 2], [2, 3])
            shared = testing_utils.get_multi_io_model([dense(2)], [dense(2)], [tf.keras.Input((4,)), dense(7)])
            assert [y.shape.as_list() for y in shared(tf.ones([2, 4]))] == [[2, 2], [2, 2]]
    with pytest.raises(ValueError, match="model_type_scope"):
        testing_utils.get_model_type()
    with testing_utils.model_type_scope("round"), pytest.raises(ValueError, match="'round'"):
        testing_utils.get_small_mlp(1, 1, 1)


def test_a_sparse_input_of_a_class():
    with testing_utils.model_type_scope("subclass"):
        densify = tf.keras.layers.Lambda(tf.sparse.to_dense)
        model = testing_utils.get_model_from_layers([densify], input_shape=(5,), input_sparse=True)
    assert isinstance(model.inputs[0], tf.SparseTensor)


def test_a_layer_put_to_the_test():
    ones = [np.ones((3, 2), "f"), np.zeros(2, "f")]
    output = testing_utils.layer_test(tf.keras.layers.Dense, {"units": 2, "weights": ones}, input_shape=(2, 3))
    assert output.shape == (2, 2)
    with pytest.raises(AssertionError, match="dtype float32"):
        testing_utils.layer_test(tf.keras.layers.Dense, {"units": 2}, (2, 3), expected_output_dtype="int32")
    with pytest.raises(AssertionError, match=r"shape \(\?, 2\)"):
        testing_utils.layer_test(tf.keras.layers.Dense, {"units": 2}, (2, 3), expected_output_shape=(None, 7))
    with pytest.raises(ValueError, match="input_shape"):
        testing_utils.layer_test(tf.keras.layers.Dense, {"units": 2})

    class SaysOther(tf.keras.layers.Dense):
        def compute_output_shape(self, input_shape):
            return tf.TensorShape([input_shape[0], 7])

    with pytest.raises(AssertionError, match=r"where \(2, 7\)"):
        testing_utils.layer_test(SaysOther, {"units": 2}, input_shape=(2, 3))


def test_optimizers_and_names():
    assert testing_utils.get_v2_optimizer("sgd", learning_rate=0.5).get_config()["learning_rate"] == 0.5
    with pytest.raises(ValueError, match="'SGD'"):
        testing_utils.get_v2_optimizer("SGD")
    assert testing_utils.get_expected_metric_variable_names(["a"], "_1") == ["a_1:0"]


def test_types_as_in_version_2():
    class Seen(tf.keras.layers.Layer):
        def call(self, inputs):
            return tf.nest.map_structure(tf.identity, inputs)

    def types(layer):
        inputs = {"a": tf.zeros([1], tf.float64), "b": tf.zeros([1], tf.int32)}
        return [t.dtype.name for t in tf.nest.flatten(layer(inputs))]

    assert types(Seen()) == ["float64", "int32"]

    @testing_utils.enable_v2_dtype_behavior
    def version_2():
        assert Seen().dtype == "float32"
        assert types(Seen()) == ["float32", "int32"]
        assert types(Seen(autocast=False)) == ["float64", "int32"]
        assert types(Seen(dtype="int32")) == ["float64", "int32"]
        assert testing_utils.disable_v2_dtype_behavior(lambda: Seen().dtype)() is None

    version_2()
    assert Seen().dtype is None


class _Modes(keras_parameterized.TestCase):
    seen: list = []

    def note(self, *more):
        model_type = testing_utils.get_model_type() if "type" in self._testMethodName else None
        self.seen.append((self._testMethodName, tf.executing_eagerly(), model_type, *more))

    @keras_parameterized.run_all_keras_modes(always_skip_eager=True)
    @parameterized.named_parameters(("_a", 1), ("_b", 2))
    def test_modes(self, x):
        self.note(testing_utils.should_run_eagerly(), testing_utils.should_run_tf_function(), x)

    @keras_parameterized.run_with_all_model_types(exclude_models="sequential")
    def test_type(self):
        self.note()


@keras_parameterized.run_with_all_model_types(exclude_models=["sequential", "subclass"])
@keras_parameterized.run_all_keras_modes
class _ClassModes(keras_parameterized.TestCase):
    def test_type(self):
        model = testing_utils.get_small_mlp(2, 1, 3)
        mode = {
            "run_eagerly": testing_utils.should_run_eagerly(),
            "experimental_run_tf_function": testing_utils.should_run_tf_function(),
        }
        model.compile("sgd", "mse", **mode)
        model.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)
        _Modes.seen.append((self._testMethodName, mode["run_eagerly"]))


def test_tests_run_in_each_mode_and_with_each_kind():
    _Modes.seen.clear()
    result = unittest.TestResult()
    for case in (_Modes, _ClassModes):
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert result.wasSuccessful(), result.failures + result.errors
    assert _Modes.seen == [
        ("test_modes_a_v1_session", False, None, False, False, 1),
        ("test_modes_a_v2_funcgraph", True, None, False, False, 1),
        ("test_modes_a_v2_function", True, None, False, True, 1),
        ("test_modes_b_v1_session", False, None, False, False, 2),
        ("test_modes_b_v2_funcgraph", True, None, False, False, 2),
        ("test_modes_b_v2_function", True, None, False, True, 2),
        ("test_type_functional", False, "functional"),
        ("test_type_subclass", False, "subclass"),
        ("test_type_v1_session_functional", False),
        ("test_type_v2_eager_functional", True),
        ("test_type_v2_funcgraph_functional", False),
        ("test_type_v2_function_functional", False),
    ]


def test_what_holds_of_combiners():
    from everflow.legacy.inner.keras_engine.preprocessing import Normalization
    from everflow.legacy.inner.keras_testing.combiners import PreprocessingLayerTest

    case, combiner = PreprocessingLayerTest(), Normalization._NormalizingCombiner(-1)
    data = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])
    expected = {"count": np.array(5), "mean": np.array([3.0]), "variance": np.array([2.0])}
    case.validate_accumulator_uniqueness(combiner, data)
    for check in ("extract", "extract_and_restore", "serialize_and_deserialize", "computation"):
        validate = getattr(case, f"validate_accumulator_{check}")
        validate(combiner, data, expected)
        with pytest.raises(AssertionError):
            validate(combiner, data + 1, expected)
