"""Keras models that are made and trained under a distribution strategy."""

import contextlib

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.legacy.inner.distribute import keras_training

_X = np.arange(12.0).reshape(4, 3).astype("float32") / 10
_Y = np.arange(4.0).reshape(4, 1).astype("float32")
_STRATEGIES = {
    "none": tf.distribute.get_strategy,
    "mirrored": lambda: tf.distribute.MirroredStrategy(["/cpu:0"]),
    "one device": lambda: tf.distribute.OneDeviceStrategy("/cpu:0"),
    "central storage": lambda: tf.distribute.experimental.CentralStorageStrategy(),
}


def _model(**compiled):
    layer = tf.keras.layers.Dense(1, input_shape=(3,), kernel_initializer="ones")
    model = tf.keras.Sequential([layer])
    model.compile("sgd", "mse", metrics=["mae"], **compiled)
    return model


def _trained(name):
    strategy = _STRATEGIES[name]()
    with strategy.scope():
        model = _model()
    data = tf.data.Dataset.from_tensor_slices((_X, _Y)).batch(2)
    history = model.fit(data, epochs=2, verbose=0, validation_data=data).history
    evaluated = model.evaluate(_X, _Y, batch_size=2, verbose=0)
    return [*history["loss"], *history["val_mean_absolute_error"], *evaluated, *model.predict(data)[:, 0]]


@pytest.mark.parametrize("name", ["mirrored", "one device", "central storage"])
@pytest.mark.parametrize("eagerly", [False, True])
def test_one_replica_trains_like_none(name, eagerly):
    if eagerly:
        with eager_mode():
            np.testing.assert_allclose(_trained(name), _trained("none"), rtol=1e-5)
        tf.keras.backend.clear_session()
        return
    with tf.Graph().as_default(), tf.Session().as_default():
        found = _trained(name)
    with tf.Graph().as_default(), tf.Session().as_default():
        np.testing.assert_allclose(found, _trained("none"), rtol=1e-5)


def test_what_a_strategy_has_no_way_for_is_refused():
    strategy = _STRATEGIES["mirrored"]()
    with eager_mode():
        with strategy.scope():
            model = _model()
            assert model._distribution_strategy is strategy
            with pytest.raises(ValueError, match="target_tensors"):
                _model(target_tensors=[tf.ones([2, 1])])
        with pytest.raises(ValueError, match="class_weight"):
            model.fit(_X, _Y, class_weight={0: 1.0}, verbose=0)
        with pytest.raises(NotImplementedError, match="fit_generator"):
            model.fit_generator(iter([(_X, _Y)]), steps_per_epoch=1)
        with pytest.raises(ValueError, match="another strategy"):
            model.compile("sgd", "mse")
        other = _model()
        with strategy.scope(), pytest.raises(ValueError, match="another strategy"):
            other.compile("sgd", "mse")
    tf.keras.backend.clear_session()


def test_how_samples_are_cut():
    cut = keras_training.get_input_params
    assert cut(None, 64, None, None) == (2, 32)
    assert cut(None, 64, 2, None) == (2, 32)
    assert cut(None, 64, None, 3, mode="train") == (22, 3)
    assert cut(None, 64, 10, 4) == (10, 4)
    for steps, size in ((None, 3), (10, None), (10, 8)):
        with pytest.raises(ValueError):
            cut(None, 64, steps, size)


@pytest.mark.parametrize("optimizer", [{"class_name": "SGD", "config": {"momentum": 0.9}}, "adam"])
def test_replicas_of_a_loop_of_the_programs_own_stay_equal_to_one(optimizer):
    """Gradients are summed over replicas, and every device holds the same weights afterwards."""
    x, y = np.arange(24, dtype="float32").reshape(8, 3) / 10, np.zeros((8, 2), "float32")

    def trained(strategy):
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), kernel_initializer="ones")])
            rule = tf.keras.optimizers.get(optimizer)

        def step(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.reduce_mean((model(x) - y) ** 2, -1)) / 4
            rule.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
            return loss

        batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)
        for batch in strategy.experimental_distribute_dataset(batches):
            strategy.experimental_run_v2(step, args=batch)
        assert rule.iterations.numpy() == 2
        return [copy.numpy() for copy in strategy.experimental_local_results(model.weights[0])]

    with eager_mode():
        (alone,) = trained(tf.distribute.OneDeviceStrategy("/cpu:0"))
        for copy in trained(tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])):
            np.testing.assert_allclose(copy, alone, rtol=1e-5)


def test_fitting_keeps_the_copies_of_weights_equal():
    with eager_mode():
        strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
            model.compile("sgd", "mse")
        model.fit(np.ones((4, 2)), np.zeros((4, 1)), verbose=0)
        first, second = strategy.experimental_local_results(model.weights[0])
        np.testing.assert_array_equal(first.numpy(), second.numpy())


@pytest.mark.parametrize("name", ["mirrored", "one device"])
@pytest.mark.parametrize("mode", [tf.Graph().as_default, eager_mode])
def test_optimizers_of_tf_train(name, mode):
    with mode():
        strategy = _STRATEGIES[name]()
        with strategy.scope():
            model = _model()
            model.compile(tf.train.GradientDescentOptimizer(0.1), "mse")
            before = model.get_weights()[0]
            model.fit(_X, _Y, batch_size=2, epochs=1, verbose=0)
            assert not np.allclose(before, model.get_weights()[0])
            assert tf.keras.backend.get_value(model.optimizer.iterations) == 2


@pytest.mark.parametrize("name", ["mirrored", "one device"])
def test_a_saved_model_with_and_without_the_strategy(name, tmp_path):
    with eager_mode():
        strategy = _STRATEGIES[name]()
        with strategy.scope():
            model = _model()
        model.fit(_X, _Y, batch_size=2, epochs=1, verbose=0)
        wanted = model.predict(_X)
        model.save(str(tmp_path), save_format="tf")
        np.testing.assert_allclose(tf.keras.models.load_model(str(tmp_path)).predict(_X), wanted, rtol=1e-5)
        with strategy.scope():
            loaded = tf.keras.models.load_model(str(tmp_path))
        np.testing.assert_allclose(loaded.predict(_X), wanted, rtol=1e-5)


@pytest.mark.parametrize("reduction", ["auto", "sum_over_batch_size", "sum", "none"])
def test_a_mean_over_rows_is_refused_where_they_are_one_replicas(reduction):
    loss = tf.keras.losses.MeanSquaredError(reduction=reduction)
    for name, strategy in ((name, make()) for name, make in _STRATEGIES.items()):
        is_refused = name != "none" and reduction not in ("sum", "none")
        with strategy.scope(), pytest.raises(ValueError, match="SUM") if is_refused else contextlib.nullcontext():
            strategy.experimental_run_v2(lambda: loss(tf.ones([2, 1]), tf.zeros([2, 1])))


def test_variables_of_version_two_are_made_under_strategies():
    strategy = _STRATEGIES["one device"]()
    with strategy.scope():
        assert tf.compat.v2.Variable([1.0, 2.0]).shape == [2]


@pytest.mark.parametrize("name", ["none", "mirrored", "one device", "central storage"])
def test_replica_functions_apply_gradients_and_count_steps(name):
    with eager_mode():
        strategy = _STRATEGIES[name]()
        with strategy.scope():
            variable, optimizer = tf.Variable([1.0, 2.0]), tf.keras.optimizers.SGD(0.5)
            strategy.experimental_run_v2(lambda: optimizer.apply_gradients([(tf.ones([2]), variable)]))
        assert (variable.numpy().tolist(), optimizer.iterations.numpy()) == ([0.5, 1.5], 1)
