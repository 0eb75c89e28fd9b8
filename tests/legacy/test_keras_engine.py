"""Layers that learn from data before training, and what makes batches of data, under their names inside TensorFlow."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.legacy.inner.keras_engine import (
    data_adapters,
    generator_loops,
    kernelized,
    preprocessing,
    training_data,
    training_loops,
)


class _Sum(preprocessing.Combiner):
    def compute(self, batch_values, accumulator=None):
        return (accumulator or 0.0) + float(np.sum(batch_values))

    def extract(self, accumulator):
        return {"sum": [accumulator]}

    def restore(self, output):
        return output["sum"][0]


class _Adding(preprocessing.CombinerPreprocessingLayer):
    def __init__(self):
        super().__init__(_Sum())

    def build(self, input_shape):
        self.sum = self._add_state_variable("sum", [1], "float32", initializer="zeros")
        super().build(input_shape)

    def call(self, inputs):
        return inputs + self.sum


def _model(layer):
    x = tf.keras.Input((1,))
    return tf.keras.Model(x, layer(x))


@pytest.fixture(params=["graph", "eager"])
def mode(request):
    if request.param == "graph":
        yield
        return
    with eager_mode():
        yield
    tf.keras.backend.clear_session()


def test_a_layer_learns_from_arrays_and_datasets(mode):
    layer = _Adding()
    layer.adapt(np.array([[1.0], [2.0]]))
    model = _model(layer)
    np.testing.assert_array_equal(model.predict(np.ones([1, 1])), [[4.0]])
    layer.adapt(tf.data.Dataset.from_tensor_slices([[5.0], [6.0]]).batch(1), reset_state=False)
    np.testing.assert_array_equal(model.predict(np.ones([1, 1])), [[15.0]])
    layer.adapt(np.array([[1.0]]))
    np.testing.assert_array_equal(model.predict(np.ones([1, 1])), [[2.0]])


def test_learning_goes_on_from_weights_that_were_set(mode):
    layer = _Adding()
    model = _model(layer)
    model.set_weights([np.array([3.0])])
    layer.adapt(np.array([[5.0]]), reset_state=False)
    np.testing.assert_array_equal(model.predict(np.ones([1, 1])), [[9.0]])


@pytest.mark.parametrize("data", [[1, 2], 3, (np.ones([2, 1]),)])
def test_other_data_is_refused(data):
    with pytest.raises(ValueError, match="dataset or a numpy array"):
        _Adding().adapt(data)


def test_data_without_end_is_refused(mode):
    with pytest.raises(ValueError, match="no end"):
        _Adding().adapt(tf.data.Dataset.range(3).repeat())


def test_state_needs_variables():
    with pytest.raises(RuntimeError):
        _Adding()._set_state_variables({"sum": [1.0]})


def test_normalization_divides_by_the_variance(mode):
    layer = preprocessing.Normalization()
    layer.adapt(np.array([[1.0], [2.0], [3.0], [4.0]]))
    np.testing.assert_allclose(_model(layer).predict(np.array([[1.0], [2.0]])), [[-1.2], [-0.4]], rtol=1e-6)
    layer = preprocessing.Normalization(axis=1)
    layer.adapt(np.arange(12.0).reshape(2, 2, 3))
    mean, variance, count = layer.get_weights()
    np.testing.assert_allclose(mean, [4.0, 7.0])
    np.testing.assert_allclose(variance, [9.6666667, 9.6666667])
    assert count == 6


def test_moments_are_merged_and_written_down():
    moments = preprocessing.Normalization()._combiner
    one, other = moments.compute(np.array([[1.0, 2.0], [3.0, 4.0]])), moments.compute(np.array([[5.0, 6.0]]))
    merged = moments.extract(moments.merge([one, other]))
    np.testing.assert_allclose(merged["variance"], np.var([1.0, 3.0, 5.0]) * np.ones(2))
    again = moments.deserialize(moments.serialize(one))
    np.testing.assert_array_equal(again.mean, [2.0, 3.0])


class _Pieces(tf.keras.utils.Sequence):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        return np.full([2, 3], index, "float32"), np.full([2, 1], index, "float32")


def _generated():
    yield from (_Pieces()[i] for i in range(3))


def _batches(adapter, count):
    return [[part.numpy() for part in batch] for batch, _ in zip(adapter.get_dataset(), range(count))]


def test_arrays_are_cut(mode):
    with eager_mode():
        x, y = np.arange(10.0).reshape(10, 1), np.arange(10)
        adapter = data_adapters.TensorLikeDataAdapter(x, y, batch_size=4, epochs=2)
        assert (adapter.get_size(), adapter.batch_size(), adapter.partial_batch_size()) == (3, 4, 2)
        assert [len(batch[0]) for batch in _batches(adapter, 9)] == [4, 4, 2, 4, 4, 2]
        assert data_adapters.TensorLikeDataAdapter(x, y, steps=2).batch_size() == 5
        with pytest.raises(ValueError, match="batch_size"):
            data_adapters.TensorLikeDataAdapter(x, y)
        with pytest.raises(ValueError, match="can't take"):
            data_adapters.TensorLikeDataAdapter([1, 2])


@pytest.mark.parametrize(
    ("data", "name", "size"),
    [
        (lambda: np.ones([4, 2]), "TensorLikeDataAdapter", 2),
        (lambda: [1, 2, 3], "ListsOfScalarsDataAdapter", 2),
        (lambda: tf.data.Dataset.range(3), "DatasetAdapter", None),
        (_generated, "GeneratorDataAdapter", None),
        (_Pieces, "KerasSequenceAdapter", 3),
        (lambda: tf.ragged.constant([[1.0], [2.0, 3.0], [4.0]]), "CompositeTensorDataAdapter", 2),
    ],
)
def test_each_kind_of_data_has_an_adapter(data, name, size):
    with eager_mode():
        data = data()
        cls = data_adapters.select_data_adapter(data, None)
        assert cls.__name__ == name
        assert cls(data, batch_size=2).get_size() == size
        with pytest.raises(ValueError):
            data_adapters.select_data_adapter(None, None)


def test_generators_and_sequences_as_datasets():
    with eager_mode():
        for adapter in (
            data_adapters.GeneratorDataAdapter(_generated()),
            data_adapters.KerasSequenceAdapter(_Pieces()),
        ):
            assert [int(batch[0][0, 0]) for batch in _batches(adapter, 3)] == [0, 1, 2]
            assert adapter.batch_size() == 2
        with pytest.raises(ValueError, match="none can be given"):
            data_adapters.GeneratorDataAdapter(_generated(), np.ones(3))


def test_anything_as_an_iterator_of_batches():
    x = {"a": np.arange(5), "b": (np.arange(5),)}
    batches, count = data_adapters.convert_to_generator_like((x, np.arange(5)), batch_size=2)
    assert count == 3 and [batch[0]["b"][0].tolist() for batch in batches] == [[0, 1], [2, 3], [4]]
    assert data_adapters.convert_to_generator_like(_Pieces())[1] == 3
    with eager_mode():
        iterator, count = data_adapters.convert_to_generator_like(tf.data.Dataset.range(4).batch(2))
        assert count is None and next(iterator).numpy().tolist() == [0, 1]


def test_random_features_come_near_their_kernel():
    np.random.seed(1)
    with eager_mode():
        tf.set_random_seed(1)
        x, y = tf.random_uniform([3, 4], seed=1), tf.random_uniform([2, 4], seed=2)
        for kind, exact in (
            ("gaussian", kernelized.exact_gaussian_kernel),
            ("laplacian", kernelized.exact_laplacian_kernel),
        ):
            layer = kernelized.RandomFourierFeatures(4000, kind, scale=2.0)
            approximate = kernelized.inner_product(layer(x), layer(y)) * 2.0 / 4000
            np.testing.assert_allclose(approximate, exact(x, y, 2.0), atol=0.08)


@pytest.mark.parametrize(
    "arguments", [{"output_dim": 0}, {"output_dim": 3, "scale": 0.0}, {"output_dim": 3, "kernel_initializer": "linear"}]
)
def test_wrong_arguments_of_random_features_are_refused(arguments):
    with pytest.raises(ValueError):
        kernelized.RandomFourierFeatures(**arguments)


def test_random_features_have_weights_and_a_configuration():
    layer = kernelized.RandomFourierFeatures(5, tf.keras.initializers.Ones(), scale=3.0)
    assert layer(tf.keras.Input((2,))).shape.as_list() == [None, 5]
    names = [weight.name.rpartition("/")[2] for weight in layer.weights]
    assert names == ["random_features_scale:0", "unscaled_random_features:0", "random_features_bias:0"]
    again = kernelized.RandomFourierFeatures.from_config(layer.get_config())
    assert again.get_config() == layer.get_config()
    with pytest.raises(ValueError):
        layer.compute_output_shape((2, None))


def test_loops_by_their_names_train_test_and_predict():
    x, y = np.ones((4, 3), "float32"), np.zeros((4, 1), "float32")
    with tf.Graph().as_default(), tf.Session().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,), kernel_initializer="ones")])
        model.compile(tf.keras.optimizers.SGD(0.1), "mse")
        assert training_loops.Loop().evaluate(model, x, y, verbose=0) == pytest.approx(9.0)
        assert training_loops.fit_loop(model, x, y, epochs=1, verbose=0).history["loss"] == pytest.approx([9.0])
        after = training_loops.test_loop(model, x, y, verbose=0)
        assert after < 9.0 and training_loops.test_on_batch(model, x, y) == pytest.approx(after)
        np.testing.assert_allclose(training_loops.predict_loop(model, x), training_loops.predict_on_batch(model, x))
        assert training_loops.train_on_batch(model, x, y) == pytest.approx(after)
        trained = generator_loops.fit_generator(model, iter([(x, y)]), steps_per_epoch=1, verbose=0)
        assert trained.history["loss"][0] < after


@pytest.mark.parametrize(
    "iteration, given, size",
    [
        (training_loops.model_iteration, [[np.ones((4, 3))], [np.zeros((4, 1))]], {"batch_size": 2}),
        (generator_loops.model_iteration, [iter([(np.ones((2, 3)), np.zeros((2, 1)))] * 6)], {"steps_per_epoch": 2}),
    ],
)
def test_one_function_has_the_loops_of_a_kind_of_data(iteration, given, size):
    with tf.Graph().as_default(), tf.Session().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,), kernel_initializer="ones")])
        model.compile(tf.keras.optimizers.SGD(0.0), "mse")
        assert iteration(model, *given, epochs=1, verbose=0, **size).history["loss"] == pytest.approx([9.0])
        assert iteration(model, *given, mode="test", verbose=0, **size) == pytest.approx(9.0)
        assert iteration(model, *given, mode="predict", verbose=0, **size).shape == (4, 1)


def test_predictions_of_replicas_are_one_batch():
    with eager_mode():
        x = tf.keras.Input((1,))
        model = tf.keras.Model(x, [x, x])
        parts = [[tf.ones((2, 1)), tf.ones((1, 1))], tf.zeros((2, 1))]
        aggregated = training_loops._aggregate_predict_results(tf.distribute.get_strategy(), parts, model)
    assert [array.tolist() for array in aggregated] == [[[1], [1], [1]], [[0], [0]]]


@pytest.mark.parametrize("contiguous, expected", [(True, [1, 2, 3]), (False, [1, 3])])
def test_rows_of_tensors_are_a_slice_unless_they_are_apart(contiguous, expected):
    with tf.Graph().as_default(), tf.Session() as sess:
        (rows,) = training_data.slice_arrays([tf.range(5)], np.array([1, 3]), contiguous=contiguous)
        assert sess.run(rows).tolist() == expected
    (rows,) = training_data.slice_arrays([np.arange(5)], np.array([1, 3]), contiguous=contiguous)
    assert rows.tolist() == [1, 3]
