"""Inputs that are more than a model has, targets that `compile` was given, steps of so many rows, modes of weights."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode

layers = tf.keras.layers
X, Y = np.ones([10, 3], "float32"), np.zeros([10, 2], "float32")


def model(**options):
    made = tf.keras.Sequential([layers.Dense(2, kernel_initializer="ones", input_shape=[3])])
    made.compile("sgd", "mse", **options)
    return made


@pytest.fixture
def eager():
    with eager_mode():
        yield
    tf.keras.backend.clear_session()


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session().as_default():
        yield
    tf.keras.backend.clear_session()


@pytest.fixture(params=["eager", "session"])
def either(request):
    request.getfixturevalue(request.param)


@pytest.mark.usefixtures("either")
class TestInputs:
    def test_surplus_ones_are_left_out(self):
        assert model().train_on_batch([X, X], Y) == pytest.approx(9.0)
        assert model().predict([X, X, X]).shape == (10, 2)

    def test_too_few_are_refused(self):
        a, b = tf.keras.Input([3]), tf.keras.Input([3])
        with pytest.raises(ValueError, match="2 array"):
            tf.keras.Model([a, b], layers.add([a, b])).predict([X])

    def test_a_list_of_tensors(self):
        assert model().train_on_batch([tf.constant(X)], [tf.constant(Y)]) == pytest.approx(9.0)


@pytest.mark.usefixtures("session")
def test_a_session_trains_towards_one_where_targets_are_missing():
    assert model().fit((X, Y), verbose=0).history["loss"] == [pytest.approx(4.0)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="No data"):
        model().evaluate((X, Y), verbose=0)


@pytest.mark.usefixtures("eager")
class TestTargetsOfCompile:
    def test_they_are_trained_towards(self):
        made = model(target_tensors=[tf.constant(Y)])
        assert made.fit(X, verbose=0).history["loss"] == [pytest.approx(9.0)]

    def test_others_are_refused(self):
        with pytest.raises(ValueError, match="target_tensors"):
            model(target_tensors=[tf.constant(Y)]).train_on_batch(X, Y)
        with pytest.raises(ValueError, match="run_eagerly"):
            model(target_tensors=[tf.constant(Y)], run_eagerly=True)


@pytest.mark.usefixtures("eager")
class TestSteps:
    @pytest.mark.parametrize(("steps", "size"), [(4, 3), (1, 20), (2, 5)])
    def test_the_last_batch_may_be_short(self, steps, size):
        assert model().predict(X, steps=steps, batch_size=size).shape == (10, 2)
        assert model().evaluate(X, Y, steps=steps, batch_size=size, verbose=0) == pytest.approx(9.0)

    def test_predictions_are_for_all_rows(self):
        with pytest.raises(ValueError, match="all 10 samples"):
            model().predict(X, steps=2, batch_size=3)
        with pytest.raises(ValueError, match="more samples"):
            model().fit(X, Y, steps_per_epoch=5, batch_size=3)


@pytest.mark.usefixtures("either")
class TestModesOfSampleWeights:
    @pytest.mark.parametrize("mode", ["unknown", ["unknown"]])
    def test_there_are_two(self, mode):
        with pytest.raises(AssertionError, match="temporal"):
            model(sample_weight_mode=mode)
        model(sample_weight_mode="samplewise")

    def test_a_dict_is_for_all_outputs(self):
        with pytest.raises(ValueError, match="lacks"):
            model(sample_weight_mode={})


@pytest.mark.usefixtures("eager")
class TestFunctions:
    def test_they_train_and_test(self):
        made = model(metrics=["mae"])
        made._make_train_function()
        assert len(made.optimizer.weights) == 1
        made._make_test_function()
        assert made.test_function([X, Y]) == pytest.approx([9.0, 3.0])
        assert made.train_function([X, Y]) == pytest.approx([9.0, 3.0])
        assert made._make_execution_function("predict") is made.predict_function


@pytest.mark.usefixtures("eager")
def test_arrays_spread_by_a_strategy_may_end_with_a_short_batch():
    with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        made = model(experimental_run_tf_function=False)
    rows = np.arange(30, dtype="float32").reshape(10, 3) / 10
    assert made.predict(rows, batch_size=4).shape == (10, 2)
    assert made.evaluate(rows, Y, batch_size=4, verbose=0) == pytest.approx(31.905)  # each step counts alike
    assert made.test_on_batch(rows, Y) == pytest.approx(25.605)


@pytest.mark.usefixtures("either")
class TestModelsOfDicts:
    def _made(self):
        a, b = tf.keras.Input([2], name="first"), tf.keras.Input([2], name="second")
        return tf.keras.Model({"a": a, "b": b}, {"sum": layers.add([a, b]), "parts": [layers.subtract([a, b])]})

    @pytest.mark.parametrize("names", [("a", "b"), ("first", "second")])
    def test_they_are_called_by_either_names(self, names):
        found = self._made()(dict(zip(names, [tf.ones([1, 2]), tf.zeros([1, 2])])))
        assert sorted(found) == ["parts", "sum"]
        np.testing.assert_array_equal(tf.keras.backend.get_value(found["parts"][0]), [[1, 1]])

    def test_their_structure_is_in_the_config(self):
        config = self._made().get_config()
        assert config["input_layers"] == {"a": ["first", 0, 0], "b": ["second", 0, 0]}
        again = tf.keras.Model.from_config(config)
        assert sorted(again({"a": tf.ones([1, 2]), "b": tf.ones([1, 2])})) == ["parts", "sum"]


@pytest.mark.usefixtures("eager")
def test_a_layer_may_return_nothing_where_operations_run_at_once():
    class Silent(layers.Layer):
        def call(self, x):
            return None

    class SilentModel(tf.keras.Model):
        def call(self, x):
            return None

    assert Silent()(tf.ones([2])) is None
    assert SilentModel()(tf.ones([2])) is None
    with pytest.raises(ValueError, match="returned None"):
        Silent()(tf.keras.Input([2]))


def test_the_config_of_a_layer_whatever_it_calls_itself():
    class Plain(layers.Layer):
        def __init__(this, **kwargs):
            super().__init__(**kwargs)

    assert sorted(Plain().get_config()) == ["dtype", "name", "trainable"]


def test_a_graph_lacks_targets_that_are_not_given():
    x = np.ones([4, 3])
    with tf.Graph().as_default(), tf.Session().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
        model.compile("sgd", "mse")
        with pytest.raises(tf.errors.InvalidArgumentError):
            model.evaluate(x, verbose=0)
        with pytest.raises(ZeroDivisionError):
            model.predict(x, batch_size=0)


def test_a_sequential_without_layers_left_has_neither_inputs_nor_outputs():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.pop()
    assert (model.inputs, model.outputs, model.built) == (None, None, False)
    model.add(tf.keras.layers.Dense(2, input_shape=(4,)))
    assert model.output_shape == (None, 2)
