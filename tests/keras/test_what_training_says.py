"""What training prints, counts and tells callbacks, in each of Keras's modes; and what it refuses."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.keras.saving.clones import clone_and_build_model

layers = tf.keras.layers
X, Y = np.ones((10, 3), "float32"), np.zeros((10, 2), "float32")


@pytest.fixture(params=["graph", "traced", "drawn"])
def mode(request):
    """In a session, eagerly in traced functions, and eagerly as a graph."""
    with tf.Graph().as_default() if request.param == "graph" else eager_mode():
        yield request.param


def _compiled(mode, model, **kwargs):
    model.compile("sgd", "mse", experimental_run_tf_function=mode == "traced", **kwargs)
    return model


def _dataset(size=5):
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(size)


def _dense():
    return layers.Dense(2, kernel_initializer="ones")


@pytest.mark.parametrize("is_told", [True, False])
def test_the_first_line(mode, is_told, capsys):
    model = _compiled(mode, tf.keras.Sequential([_dense()]))
    model.fit(_dataset(), steps_per_epoch=2 if is_told else None, verbose=1)
    said = {"graph": "Train on 2 steps\n", "traced": "Train for 2 steps\n" if is_told else "", "drawn": ""}[mode]
    assert capsys.readouterr().out.startswith(said or "\r")
    model.fit(X, Y, validation_data=(X, Y), verbose=1)
    assert capsys.readouterr().out.startswith("Train on 10 samples, validate on 10 samples\n")


def test_a_model_that_waits_for_data_shows_its_metrics(mode, capsys):
    model = _compiled(mode, tf.keras.Sequential([_dense()]), metrics=["mae"])
    model.fit(_dataset(), steps_per_epoch=2, verbose=1)
    shown = capsys.readouterr().out
    assert "mean_absolute_error" in shown and "/step" in shown


def test_how_much_callbacks_are_told(mode):
    model = _compiled(mode, tf.keras.Sequential([_dense()]))
    params = model.fit(_dataset(), verbose=0).params
    assert (params["steps"], params["samples"]) == (2, None if mode == "traced" else 2)
    unknown = _dataset().filter(lambda x, y: True)
    assert model.fit(unknown, verbose=0, epochs=2).params["steps"] == 2


def test_steps_that_do_not_come_count_in_evaluations(mode):
    model = _compiled(mode, tf.keras.Sequential([_dense()]))
    assert model.evaluate(_dataset(), verbose=0) == 9.0
    assert model.evaluate(_dataset(), steps=4, verbose=0) == 4.5


def test_weighted_metrics_are_named_so(mode):
    x = tf.keras.Input((3,))
    given = tf.keras.metrics.MeanAbsoluteError(name="q")
    model = _compiled(
        mode, tf.keras.Model(x, [layers.Dense(1, name="a")(x), layers.Dense(1, name="b")(x)]), weighted_metrics=[given]
    )
    assert model.metrics_names[3:] == ["a_weighted_q", "b_weighted_q"]
    assert given.name == "q" and all(metric is not given for metric in model.metrics)


def test_a_phase_that_is_fixed():
    class Phase(layers.Layer):
        def call(self, inputs):
            return inputs + tf.cast(tf.keras.backend.learning_phase(), "float32")

    with eager_mode(), tf.keras.backend.learning_phase_scope(1):
        x = tf.keras.Input((1,))
        model = _compiled("drawn", tf.keras.Model(x, Phase()(x)))
        assert model.predict([[0.0]]) == 1.0
        _compiled("traced", model)
        assert model.predict([[0.0]]) == 0.0


def test_branches_may_update(mode):
    class Counting(layers.Layer):
        def build(self, input_shape):
            self.count = self.add_weight("count", (), initializer="zeros", trainable=False)

        def call(self, inputs):
            if tf.reduce_sum(inputs) > 0:
                self.add_update(self.count.assign_add(1.0))
            return inputs

    model = _compiled(mode, tf.keras.Sequential([Counting(), _dense()]))
    model.train_on_batch(X, Y)
    assert tf.keras.backend.get_value(model.layers[0].count) == 1.0


def test_targets_are_needed(mode):
    model = _compiled(mode, tf.keras.Sequential([layers.Dense(2, input_shape=(3,))]))
    error = tf.errors.InvalidArgumentError if mode == "graph" else ValueError
    with pytest.raises(error, match="No data provided"):
        model.evaluate(X, None, verbose=0)


def test_weights_of_time_steps_are_of_time_steps(mode):
    model = tf.keras.Sequential([layers.TimeDistributed(layers.Dense(2), input_shape=(4, 3))])
    _compiled(mode, model, sample_weight_mode="temporal")
    with pytest.raises(ValueError, match="time step"):
        model.fit(np.ones((5, 4, 3)), np.ones((5, 4, 2)), sample_weight=np.ones(5), verbose=0)


def test_a_sequential_that_waited_for_data_takes_more_layers(mode):
    model = _compiled(mode, tf.keras.Sequential([_dense()]))
    model.fit(X, Y, verbose=0)
    model.add(layers.Dense(4))
    assert len(model.weights) == 4 and model.predict(X).shape == (10, 4)


def test_a_call_may_be_traced_though_it_asks_for_its_base_class():
    with eager_mode():
        model = tf.keras.Sequential([layers.Lambda(lambda x: x * 2, input_shape=(1,))])
        model.call = tf.function(model.call)
        _compiled("traced", model)
        assert model.train_on_batch([[1.0]], [[1.0]]) == 1.0


def test_optimizers_of_tf_train_count_steps(mode):
    model = tf.keras.Sequential([_dense()])
    model.compile(tf.train.AdamOptimizer(0.1), "mse", experimental_run_tf_function=mode == "traced")
    model.fit(_dataset(), verbose=0)
    assert tf.keras.backend.get_value(model.optimizer.iterations) == 2


def test_a_copy_of_a_subclassed_model_that_was_trained(mode):
    class Own(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = _dense()

        def call(self, inputs):
            return self.dense(inputs)

    model = Own()
    model.compile("rmsprop", "mse", experimental_run_tf_function=mode == "traced")
    model.train_on_batch(X, Y)
    clone = clone_and_build_model(model, in_place_reset=True, input_tensors=tf.keras.Input((3,)))
    assert clone is model and clone.train_on_batch(X, Y) is not None


# --- strategies ----------------------------------------------------------------------------------


def test_what_strategies_refuse(mode):
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    refused = NotImplementedError if mode != "traced" else ()
    with strategy.scope():
        model = tf.keras.Sequential([layers.Dense(2, input_shape=(3,))])
        with pytest.raises(NotImplementedError, match="sample_weight_mode"):
            _compiled(mode, model, sample_weight_mode="temporal")
        if refused:
            with pytest.raises(refused, match="weighted_metrics"):
                _compiled(mode, model, weighted_metrics=["mae"])
        _compiled(mode, model)
    if refused:
        with pytest.raises(refused, match="class_weight"):
            model.fit(X, Y, class_weight={0: 1.0}, verbose=0)
        with pytest.raises(ValueError, match="validation_split"):
            model.fit(X, Y, validation_split=0.5, verbose=0)
    else:
        model.fit(X, Y, class_weight={0: 1.0}, verbose=0)
    # One device holds its variables like any other model.
    _compiled(mode, model)


def test_copies_of_a_variable_begin_alike_eagerly():
    with eager_mode():
        strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
        with strategy.scope():
            variable = tf.Variable(lambda: tf.random.normal([2]))
        first, second = strategy.experimental_local_results(variable)
        np.testing.assert_array_equal(first.numpy(), second.numpy())


def test_sessions_are_cleared_inside_of_eager_execution():
    with eager_mode():
        tf.keras.backend.clear_session()
    with tf.Graph().as_default(), pytest.raises(AssertionError):
        tf.reset_default_graph()
