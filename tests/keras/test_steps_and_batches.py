"""What callbacks see of steps over datasets, batches taken from datasets, and other small facts of training and calls."""

import contextlib

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode

layers = tf.keras.layers


def _model(**options):
    model = tf.keras.Sequential([layers.Dense(1, input_shape=[3])])
    model.compile("sgd", "mse", **options)
    return model


def _dataset():
    return tf.data.Dataset.from_tensor_slices((np.ones([6, 3], "float32"), np.ones([6, 1], "float32"))).batch(2)


class Steps(tf.keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.begun, self.ended = [], []

    def on_train_batch_begin(self, batch, logs=None):
        self.begun.append((batch, logs["size"]))

    def on_train_batch_end(self, batch, logs=None):
        self.ended.append((batch, int(logs["size"])))


@pytest.mark.parametrize(
    ("context", "options", "fit", "begun"),
    [
        (contextlib.nullcontext, {}, {}, 3),  # all that there are are known to come
        (contextlib.nullcontext, {}, {"steps_per_epoch": 5}, 4),
        (eager_mode, {}, {}, 4),  # functions ask for batches until there are none
        (eager_mode, {}, {"steps_per_epoch": 3}, 3),
        (eager_mode, {"experimental_run_tf_function": False}, {}, 3),
    ],
)
def test_a_step_begins_before_its_batch_is_there(context, options, fit, begun):
    with context():
        steps = Steps()
        _model(**options).fit(_dataset(), callbacks=[steps], verbose=0, **fit)
        assert len(steps.begun) == begun and [batch for batch, _ in steps.ended] == [0, 1, 2]


@pytest.mark.parametrize("context", [contextlib.nullcontext, eager_mode])
def test_a_dataset_gives_the_batch(context):
    with context():
        model = _model()
        model.set_weights([np.zeros([3, 1]), np.zeros([1])])
        assert float(model.test_on_batch(_dataset())) == 1.0
        assert model.predict_on_batch(_dataset()).shape == (2, 1)
        model.train_on_batch(_dataset())
        assert np.all(model.get_weights()[0] > 0)
        with pytest.raises(ValueError, match="`y`"):
            model.train_on_batch(_dataset(), np.ones([2, 1]))


def test_functions_train_on_a_generator_to_its_end():
    def batches():
        for _ in range(3):
            yield np.ones([2, 3], "float32"), np.ones([2, 1], "float32")

    with eager_mode():
        steps = Steps()
        _model().fit(batches(), callbacks=[steps], verbose=0)
        assert len(steps.ended) == 3
        with pytest.raises(ValueError, match="steps_per_epoch"):
            _model(experimental_run_tf_function=False).fit(batches(), verbose=0)


def test_what_was_compiled_as_frozen_stays_frozen_eagerly():
    with eager_mode():
        model = tf.keras.Sequential([layers.Dense(1, input_shape=[3])])
        model.trainable = False
        model.compile("sgd", "mse", run_eagerly=True)
        before = [np.array(w) for w in model.get_weights()]
        model.trainable = True
        model.train_on_batch(np.ones([2, 3]), np.ones([2, 1]))
        assert all(np.array_equal(a, b) for a, b in zip(before, model.get_weights()))


def test_training_goes_on_to_layers_inside():
    class Inner(layers.Layer):
        def call(self, inputs, training=None):
            return inputs * (0.0 if training else 1.0)

    class Outer(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def call(self, inputs):
            return self.inner(inputs)

    with eager_mode():
        model = Outer()
        assert model(np.ones([1, 1], "float32"), training=True).numpy() == [[0.0]]
        assert model(np.ones([1, 1], "float32")).numpy() == [[1.0]]
        with pytest.raises(TypeError):
            model(np.ones([1, 1], "float32"), mask=None)


def test_names_of_layers_are_counted_by_the_default_graph():
    with tf.Graph().as_default():
        with eager_mode():
            first = layers.Dense(1).name
        assert (first, layers.Dense(1).name) == ("dense", "dense_1")


def test_inputs():
    assert tf.keras.Input(batch_input_shape=[2, 3]).shape.as_list() == [2, 3]
    with eager_mode(), pytest.raises(ValueError, match="placeholder"):
        tf.keras.Input(tensor=tf.ones([1]))
    with pytest.raises(ValueError, match="no axis 3"):
        layers.InputSpec(ndim=3, axes={3: 1})
    model = tf.keras.Sequential([layers.Dense(1)])
    assert model.inputs == [] and model.outputs == []
    with pytest.raises(ValueError, match="no weights yet"):
        model.save_weights("nowhere")


def test_a_backend_function_runs_updates_of_its_graph_eagerly():
    with eager_mode():
        backend = tf.keras.backend
        variable, x = backend.variable(1.0), tf.keras.Input([2])
        with x.graph.as_default():
            update = variable.assign_add(4.0)
        run = backend.function([x], [x * 2.0], updates=[update])
        np.testing.assert_allclose(run([np.ones([1, 2])])[0], [[2.0, 2.0]])
        run([np.ones([1, 2])])
        assert backend.get_value(variable) == 9.0


@pytest.mark.parametrize("context", [contextlib.nullcontext, eager_mode])
def test_predicting_begins_metrics_anew(context):
    with tf.Graph().as_default(), context():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
        model.compile("sgd", "mse", metrics=[tf.keras.metrics.MeanSquaredError()])
        model.test_on_batch(np.ones([2, 3]), np.ones([2, 1]), reset_metrics=False)
        assert tf.keras.backend.get_value(model.metrics[0].count) == 2
        model.predict(np.ones([4, 3]))
        assert tf.keras.backend.get_value(model.metrics[0].count) == 0


def test_a_batch_in_a_graph_may_be_tensors_or_the_next_of_an_iterator():
    x, y = np.ones([4, 3], "float32"), np.zeros([4, 2], "float32")
    with tf.Graph().as_default(), tf.Session().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), kernel_initializer="ones")])
        model.compile("sgd", "mse")
        model.evaluate(x, y, sample_weight=np.ones(4), verbose=0)  # from here on there are weights to feed
        assert model.test_on_batch(tf.constant(x), tf.constant(y)) == 9
        iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensors((x, y, np.full(4, 2.0))))
        assert model.test_on_batch(iterator) == 18


def _deferred():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, kernel_initializer="ones")])
    model.compile("sgd", loss="mse")
    return model


def test_a_model_without_shape_reads_the_tensors_it_is_fitted_with():
    with tf.Graph().as_default(), tf.Session().as_default():
        x, y = tf.constant([[0.0, 1.0, 2.0]]), tf.constant([[1.0, 1.0]])
        model = _deferred()
        first = model.fit(x, y, steps_per_epoch=1, verbose=0).history["loss"][0]
        assert model.inputs[0] is x and model._targets[0] is y and not model._feed_inputs
        # It goes on reading them, whatever other tensors it is given, or none.
        second = model.fit(x + 1.0, y, steps_per_epoch=1, verbose=0).history["loss"][0]
        third = model.fit(None, None, steps_per_epoch=1, verbose=0).history["loss"][0]
        assert first == 4.0 and first > second > third
        assert model.predict(None, steps=1).shape == (1, 2)
        with pytest.raises(ValueError):
            model.evaluate(np.ones((1, 3)), np.ones((1, 2)), verbose=0)


def test_an_array_beside_a_tensor_is_fed():
    with tf.Graph().as_default(), tf.Session().as_default():
        model = _deferred()
        x = tf.constant([[0.0, 1.0, 2.0]])
        assert model.fit(x, np.ones((1, 2)), steps_per_epoch=1, verbose=0).history["loss"] == [4.0]
        assert model._feed_inputs
