"""Keras on several replicas of a strategy. The numbers are TensorFlow's, for these models and rows on two devices."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.keras.engine.strategy_batches import cut

_NUMBERS = np.random.RandomState(0)
_X = _NUMBERS.rand(10, 3).astype("float32")
_Y = _NUMBERS.rand(10, 1).astype("float32")
_TWO_CPUS = tf.ConfigProto(device_count={"CPU": 2})
_layers = tf.keras.layers


@pytest.fixture(params=["graph", "eager"])
def mode(request):
    if request.param == "eager":
        with eager_mode():
            yield "eager"
        tf.keras.backend.clear_session()
        return
    with tf.Graph().as_default(), tf.Session(config=_TWO_CPUS).as_default():
        yield "graph"


def _dense(**given):
    return _layers.Dense(1, input_shape=(3,), kernel_initializer="ones", **given)


def _made(*layers, optimizer=None, loss="mse", metrics=("mae",), strategy=None, **compiled):
    strategy = strategy or tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        model = tf.keras.Sequential(list(layers or [_dense()]))
        optimizer = optimizer() if optimizer else tf.keras.optimizers.SGD(0.1)
        model.compile(optimizer, loss, metrics=list(metrics), **compiled)
    return model


def _fitted(model, count=8, **given):
    given = {"batch_size": 4, "epochs": 2, "shuffle": False, "verbose": 0, **given}
    return model.fit(_X[:count], _Y[:count], **given).history


def _batches(count, size):
    return tf.data.Dataset.from_tensor_slices((_X[:count], _Y[:count])).batch(size)


def _flat(weights):
    return np.concatenate([np.ravel(w) for w in weights])


_EVEN = [0.67692, 0.55683, 0.63144, -0.54281]


def test_gradients_are_summed_and_metrics_are_of_all_replicas(mode):
    model = _made()
    history = _fitted(model)
    np.testing.assert_allclose(history["loss"], [1.40479, 0.24931], rtol=1e-4)
    np.testing.assert_allclose(history["mean_absolute_error"], [1.07819, 0.44178], rtol=1e-4)
    np.testing.assert_allclose(_flat(model.get_weights()), _EVEN, rtol=1e-4)
    strategy = model._distribution_strategy
    first, second = (tf.keras.backend.get_value(v) for v in strategy.experimental_local_results(model.weights[0]))
    np.testing.assert_array_equal(first, second)


def test_each_replica_normalizes_its_own_rows(mode):
    model = _made(_layers.BatchNormalization(input_shape=(3,), momentum=0.5), _dense())
    assert _fitted(model)["loss"] == pytest.approx([2.28345, 0.67109], rel=1e-4)
    expected = [[0.49841, 0.57632, 0.63022], [0.08072, 0.14329, 0.11834]]  # the means of what both have
    np.testing.assert_allclose(model.get_weights()[2:4], expected, rtol=1e-4)
    model.set_weights([np.ones_like(w) for w in model.get_weights()])
    for copy in model._distribution_strategy.experimental_local_results(model.layers[0].moving_mean):
        np.testing.assert_array_equal(tf.keras.backend.get_value(copy), [1, 1, 1])


_OPTIMIZERS = {
    "momentum": (lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9), [0.37036, 0.08195, 0.23848, -1.10492]),
    "adam": (lambda: "adam", [0.99602, 0.996, 0.99601, -0.004]),
    "of tf.train": (lambda: tf.train.AdamOptimizer(0.1), [0.61127, 0.6126, 0.61758, -0.3853]),
}


@pytest.mark.parametrize("name", _OPTIMIZERS)
def test_every_replica_has_slots_of_its_own(mode, name):
    make, expected = _OPTIMIZERS[name]
    model = _made(optimizer=make)
    _fitted(model)
    np.testing.assert_allclose(_flat(model.get_weights()), expected, atol=2e-5)
    if name == "momentum":
        assert [np.shape(w) for w in model.optimizer.get_weights()] == [(), (3, 1), (1,)]


def test_small_batches_at_the_end_of_a_dataset(mode):
    """Two rows go to two replicas, a single one to the first: its loss counts by half."""
    model = _made()
    for count, expected in ((10, [1.61653, 1.19636]), (9, [1.37678, 1.19603])):
        np.testing.assert_allclose(model.evaluate(_batches(count, 4), verbose=0), expected, rtol=1e-4)
    predicted = model.predict(tf.data.Dataset.from_tensor_slices(_X[:9]).batch(4))
    np.testing.assert_allclose(predicted, _X[:9].sum(1, keepdims=True), rtol=1e-5)


def test_small_batches_at_the_end_of_arrays(mode):
    """A session is fed on over the ends of epochs; elsewhere each epoch ends with a small batch."""
    model = _made()
    history = _fitted(model, 10)
    if mode == "eager":
        assert history["loss"] == pytest.approx([1.18527, 0.31399], rel=1e-4)
        assert model.predict(_X, batch_size=4).shape == (10, 1)
        return
    assert history["loss"] == pytest.approx([1.02294, 0.28962], rel=1e-4)
    with pytest.raises(ValueError, match="not divisible"):
        model.predict(_X, batch_size=4)


def test_steps_of_arrays_are_parts_of_them(mode):
    model = _made()
    assert _fitted(model, batch_size=None, steps_per_epoch=2)["loss"] == pytest.approx([1.40479, 0.24931], rel=1e-4)
    model = _made()
    # The second epoch begins where the first one ended.
    expected = [1.40479, 0.26729] if mode == "graph" else [1.40479, 0.3119]
    assert _fitted(model, 10, steps_per_epoch=2)["loss"] == pytest.approx(expected, rel=1e-4)
    with pytest.raises(ValueError, match="more samples"):
        _fitted(model, 10, steps_per_epoch=7)


def test_weights_and_other_losses(mode):
    model = _made(_dense(kernel_regularizer=tf.keras.regularizers.l2(0.1)))
    assert _fitted(model, epochs=1)["loss"] == pytest.approx([1.62064], rel=1e-4)
    model = _made()
    history = _fitted(model, sample_weight=np.arange(8.0) / 4)
    assert history["loss"] == pytest.approx([1.46641, 0.25406], rel=1e-4)
    model = _made(_dense(activity_regularizer="l2"))
    assert _fitted(model, epochs=1)["loss"] == pytest.approx([1.42454], rel=1e-4)


def test_losses_and_metrics_of_tensors(mode):
    with tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]).scope():
        x = tf.keras.Input((3,))
        y = _dense()(x)
        model = tf.keras.Model(x, y)
        model.add_loss(tf.reduce_mean(y))
        model.add_metric(tf.reduce_max(y), name="largest", aggregation="mean")
        model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    history = _fitted(model, epochs=1)
    assert (history["loss"], history["largest"]) == (
        pytest.approx([2.68541], rel=1e-4),
        pytest.approx([1.65177], rel=1e-4),
    )


class _Own(tf.keras.metrics.Metric):
    def __init__(self, **named):
        super().__init__(name="own", **named)
        self.total = self.add_weight("total", initializer="zeros")
        self.count = self.add_weight("count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.total.assign_add(tf.reduce_sum(tf.abs(y_true - y_pred)))
        self.count.assign_add(1.0)

    def result(self):
        return self.total + 100.0 * self.count


def test_a_metric_of_the_programs_own(mode):
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        metric = _Own()
    model = _made(metrics=[metric], strategy=strategy)
    assert _fitted(model)["own"] == pytest.approx([408.62552, 403.53421], rel=1e-5)


def test_what_knows_the_phase_and_what_is_constrained(mode):
    doubled = _layers.Lambda(lambda x: tf.keras.backend.in_train_phase(x * 2.0, x), input_shape=(3,))
    model = _made(doubled, _dense(), metrics=())
    assert _fitted(model)["loss"] == pytest.approx([5.58365, 0.11558], rel=1e-4)
    model = _made(_dense(kernel_constraint="unit_norm"), metrics=())
    _fitted(model)
    np.testing.assert_allclose(_flat(model.get_weights()), [0.61728, 0.51166, 0.59764, -0.41327], rtol=1e-4)


def test_gradients_are_clipped_where_a_session_trains(mode):
    model = _made(optimizer=lambda: tf.keras.optimizers.SGD(0.1, clipnorm=0.1))
    expected = {"graph": 2.00807, "eager": 1.40479}[mode]
    assert _fitted(model, epochs=1)["loss"] == pytest.approx([expected], rel=1e-4)


def test_a_model_that_waits_for_data(mode):
    if mode == "graph":
        with pytest.raises(ValueError, match="subclassed model, or a `Sequential` model created without `input_shape`"):
            _made(_layers.Dense(1))
        return
    model = _made(_layers.Dense(1, kernel_initializer="ones"))
    assert _fitted(model)["loss"] == pytest.approx([1.40479, 0.24931], rel=1e-4)
    np.testing.assert_allclose(_flat(model.get_weights()), _EVEN, rtol=1e-4)


def test_weights_come_back_from_files(mode, tmp_path):
    model = _made(optimizer=lambda: "adam")
    _fitted(model, epochs=1)
    kept = _flat(model.get_weights())
    model.save_weights(str(tmp_path / "named"))
    model.save(str(tmp_path / "model.h5"))
    _fitted(model, epochs=1)
    model.load_weights(str(tmp_path / "named"))
    np.testing.assert_allclose(_flat(model.get_weights()), kept)
    loaded = tf.keras.models.load_model(str(tmp_path / "model.h5"))
    assert _fitted(loaded, epochs=1)["loss"] == pytest.approx([2.04469], rel=1e-4)


def test_variables_on_one_device_and_replicas_on_two(mode):
    strategy = tf.distribute.experimental.CentralStorageStrategy(["/cpu:0", "/cpu:1"], "/cpu:0")
    model = _made(strategy=strategy)
    _fitted(model)
    np.testing.assert_allclose(_flat(model.get_weights()), _EVEN, rtol=1e-4)


def test_single_batches(mode):
    model = _made()
    if mode == "graph":
        for call in (model.test_on_batch, model.train_on_batch, lambda x, y: model.predict_on_batch(x)):
            with pytest.raises(NotImplementedError, match="_on_batch` is not supported"):
                call(_X[:8], _Y[:8])
        return
    assert model.test_on_batch(_X[:8], _Y[:8]) == pytest.approx([2.06473, 1.34026], rel=1e-4)
    assert model.train_on_batch(_X[:4], _Y[:4])[0] == pytest.approx(1.98419, rel=1e-4)


def test_arrays_are_cut_into_batches_of_all_rows_or_of_32():
    assert cut(10, None, None, may_end_short=False) == (1, 10)
    assert cut(64, None, None, may_end_short=False) == (2, 32)
