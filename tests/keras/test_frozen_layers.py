"""What layers do while they are frozen, what lists of layers keep, and updates that are given as functions."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode

keras = tf.keras


class Counter(keras.layers.Layer):
    """Counts its calls, by a function that it gives as an update."""

    def __init__(self):
        super().__init__()
        self.count = self.add_weight("count", (), initializer="zeros", trainable=False)

    def call(self, inputs):
        self.add_update(lambda: self.count.assign_add(1.0))
        return inputs


def _counting(**compiled):
    counter, x = Counter(), keras.Input((2,))
    model = keras.Model(x, keras.layers.Dense(2)(counter(x)))
    model.compile("sgd", "mse", **compiled)
    return counter, model


def test_layers_in_lists_keep_their_own_mark():
    layer = keras.layers.Layer()
    inner = keras.layers.Dense(1)
    inner.build((None, 2))
    layer.inside = [inner]
    layer.trainable = False
    assert inner.trainable and not layer.inside.trainable
    layer.trainable = True
    assert len(layer.trainable_weights) == 2
    layer.inside.trainable = False
    assert not layer.trainable_weights and len(layer.non_trainable_weights) == 2


def test_modules_in_tuples_are_submodules():
    layer = keras.layers.Layer()
    layer.pair = (keras.layers.Dense(1),)
    assert len(layer.submodules) == 1 and not layer._nested_layers()


def test_layers_are_frozen_as_when_the_model_was_compiled():
    with eager_mode():
        counter, model = _counting(run_eagerly=True)
        counter.trainable = False
        model.train_on_batch(np.ones((2, 2)), np.ones((2, 2)))
        assert counter.count.numpy() == 1 and not counter.trainable
        model.test_on_batch(np.ones((2, 2)), np.ones((2, 2)))
        assert counter.count.numpy() == 1


def test_a_model_that_runs_as_a_graph_updates_only_in_training():
    with eager_mode():
        counter, model = _counting(experimental_run_tf_function=False)
        model.fit(np.ones((4, 2)), np.ones((4, 2)), batch_size=2, verbose=0)
        model.evaluate(np.ones((4, 2)), np.ones((4, 2)), verbose=0)
        model.predict(np.ones((4, 2)))
        assert counter.count.numpy() == 2
        assert len(model.updates) == 1


def test_updates_that_a_call_has_drawn_are_part_of_it():
    class Assigning(Counter):
        def call(self, inputs):
            self.add_update(self.count.assign_add(1.0))
            return inputs

    with eager_mode():
        layer = Assigning()
        layer(keras.Input((2,)))
        assert layer.updates == []


def test_input_specs_are_checked_when_they_are_set():
    layer = keras.layers.Layer()
    layer.input_spec = [keras.layers.InputSpec(ndim=2), None]
    with pytest.raises(TypeError):
        layer.input_spec = [2]


def test_shapes_are_not_found_by_calling_in_a_graph():
    class Twice(keras.layers.Layer):
        def call(self, inputs):
            return tf.concat([inputs, inputs], 1)

    with pytest.raises(NotImplementedError):
        Twice().compute_output_shape((2, 3))
    assert keras.layers.Lambda(lambda x: x).compute_output_shape((2, 3)).as_list() == [2, 3]
    with eager_mode():
        assert Twice().compute_output_shape((2, 3)).as_list() == [2, 6]


def test_what_a_class_takes_is_unknown_until_it_is_called():
    class Sum(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1)

        def call(self, inputs):
            return self.dense(inputs)

    model = Sum()
    assert model.inputs == [] and model.outputs == [] and not hasattr(model, "input_names")
    with pytest.raises(ValueError):
        model.build([None, 2])


def test_models_that_run_eagerly_do_not_compare_shapes():
    with eager_mode():
        model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse", run_eagerly=True)
        model.train_on_batch(np.ones((4, 2)), np.ones((4, 3)))
        with pytest.raises(tf.errors.InvalidArgumentError):
            model.train_on_batch(np.ones((4, 3)), np.ones((4, 1)))


def test_generators_need_steps_where_they_are_evaluated_as_generators():
    def batches():
        while True:
            yield np.ones((2, 2)), np.ones((2, 2))

    with eager_mode():
        _, model = _counting()
        with pytest.raises(ValueError):
            model.evaluate_generator(batches())
        with pytest.raises(ValueError):
            model.predict_generator(batches())
