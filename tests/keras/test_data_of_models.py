"""Data that models take and give: sparse and ragged, tensors that a model is built from, batches of a fixed size."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.keras.engine import batch_values

layers = tf.keras.layers


@pytest.fixture(params=["graph", "eager"])
def mode(request):
    if request.param == "eager":
        with eager_mode():
            yield request.param
    else:
        with tf.Graph().as_default(), tf.Session().as_default():
            yield request.param
    tf.keras.backend.clear_session()


class ToSparse(layers.Layer):
    def call(self, x):
        where = tf.where(tf.not_equal(x, 0.0))
        return tf.SparseTensor(where, tf.gather_nd(x, where), tf.shape(x, out_type=tf.int64))


class ToRagged(layers.Layer):
    def call(self, x):
        return tf.RaggedTensor.from_tensor(x, padding=0.0)


class ToDense(layers.Layer):
    def call(self, x):
        return x.to_tensor() if isinstance(x, tf.RaggedTensor) else tf.sparse.to_dense(x)


ROWS = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])


def test_predictions_are_joined_over_batches(mode):
    sparse = tf.keras.Sequential([ToSparse(input_shape=[2])]).predict(ROWS, batch_size=2)
    assert sparse.indices.tolist() == [[0, 0], [1, 1], [2, 0]] and tuple(sparse.dense_shape) == (3, 2)
    ragged = tf.keras.Sequential([ToRagged(input_shape=[2])]).predict(ROWS, batch_size=2)
    assert ragged.to_list() == [[1.0], [0.0, 2.0], [3.0]]


def test_sparse_and_ragged_inputs():
    with eager_mode():
        x = tf.keras.Input([2], sparse=True)
        model = tf.keras.Model(x, ToDense()(x))
        assert model.predict(tf.sparse.from_dense(ROWS.astype("float32")), batch_size=2).tolist() == ROWS.tolist()
        x = tf.keras.Input([None], ragged=True)
        assert x.shape.as_list() == [None, None]
        model = tf.keras.Model(x, ToDense()(x))
        assert model.predict(tf.ragged.constant([[1.0, 2.0], [3.0]])).tolist() == [[1.0, 2.0], [3.0, 0.0]]


def test_rows_of_ragged_values_of_two_levels():
    with tf.Session() as sess:
        value = sess.run(tf.ragged.constant([[[1], [2, 3]], [], [[4]]]))
    assert batch_values.rows(value, [2, 0]).to_list() == [[[4]], [[1], [2, 3]]]
    assert batch_values.joined([value, batch_values.rows(value, [1])]).to_list() == [[[1], [2, 3]], [], [[4]], []]


def test_batches_are_of_the_size_that_a_model_was_made_for(mode):
    x = tf.keras.Input(batch_shape=(2, 3))
    model = tf.keras.Model(x, layers.Dense(1)(x))
    assert model.predict(np.ones((4, 3))).shape == (4, 1)
    with pytest.raises(ValueError, match="batches of 2"):
        model.predict(np.ones((4, 3)), batch_size=4)


def test_a_model_without_shapes_is_trained_on_tensors():
    with tf.Graph().as_default(), tf.Session().as_default():
        model = tf.keras.Sequential([layers.Dense(1)])
        model.compile("sgd", "mse")
        assert model.train_on_batch(tf.ones([2, 3]), tf.ones([2, 1])) >= 0.0


def test_a_matrix_of_scipy_for_a_dense_input(mode):
    sparse = pytest.importorskip("scipy.sparse")
    model = tf.keras.Sequential([layers.Dense(1, kernel_initializer="ones", input_shape=[2])])
    assert model.predict(sparse.csr_matrix(ROWS)).tolist() == [[1.0], [2.0], [3.0]]


def test_layers_of_version_2_cast_their_inputs_and_say_so(monkeypatch):
    from everflow.eager import version_mark
    from everflow.platform import logging

    said = []
    monkeypatch.setattr(version_mark, "_force_enable", True)
    monkeypatch.setattr(logging, "warn", lambda text, *args: said.append(text))
    with eager_mode():
        layer = layers.Dense(1)
        assert layer.dtype == "float32" and layer(np.ones((1, 2))).dtype == tf.float32
        assert layer(np.ones((1, 2))).dtype == tf.float32 and len(said) == 1
        assert layers.Dense(1, dtype="float64")(np.ones((1, 2))).dtype == tf.float64 and len(said) == 1


def test_a_mask_given_by_name_stays_part_of_a_model(mode):
    class Masked(layers.Layer):
        def call(self, x, mask=None):
            return x if mask is None else x * tf.cast(mask, "float32")

    x, mask = tf.keras.Input([2]), tf.keras.Input([2], dtype="bool")
    model = tf.keras.Model([x, mask], Masked()(x, mask=mask))
    assert model.predict([np.ones((1, 2)), np.array([[True, False]])]).tolist() == [[1.0, 0.0]]
