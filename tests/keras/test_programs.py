"""What programs of their time rely on: each test is one thing that a whole program showed."""

import numpy as np
import pytest

import everflow as tf

L, K, keras = tf.keras.layers, tf.keras.backend, tf.keras


@pytest.fixture(autouse=True)
def fresh():
    K.clear_session()


def nodes(build):
    K.clear_session()
    build()
    return len(tf.get_default_graph().get_operations())


def test_validation_between_epochs_leaves_the_dropout_of_training_alone():
    x, y = np.random.RandomState(0).rand(24, 5), np.ones((24, 1))

    def losses(validation):
        K.clear_session()
        tf.set_random_seed(1)
        model = keras.Sequential([L.Dense(8, input_dim=5), L.Dropout(0.5), L.Dense(1)])
        model.compile("sgd", "mse")
        return model.fit(x, y, epochs=4, batch_size=8, shuffle=False, verbose=0, validation_data=validation).history[
            "loss"
        ]

    assert losses(None) == losses((x, y))


def test_a_stateful_layer_learns_from_the_state_it_began_with():
    rows = np.random.RandomState(0)
    x, y = rows.rand(4, 5, 3), rows.rand(4, 1)

    def after_a_step(stateful):
        K.clear_session()
        tf.set_random_seed(0)
        model = keras.Sequential([L.LSTM(8, batch_input_shape=(4, 5, 3), stateful=stateful), L.Dense(1)])
        model.compile("sgd", "mse")
        model.train_on_batch(x, y)
        return model.get_weights()

    # The first batch begins with zeros either way.
    for one, other in zip(after_a_step(True), after_a_step(False), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


def test_masks_of_steps():
    masked = L.Masking()(L.Input((3, 4)))
    out = L.TimeDistributed(L.Dense(2))(masked)
    assert out._keras_mask.name == "time_distributed/Reshape_3:0" and out._keras_mask.shape.as_list() == [None, 3]
    words = L.TimeDistributed(L.Embedding(5, 3, mask_zero=True))(L.Input((3, 4)))
    assert words._keras_mask.shape.as_list() == [None, 3, 4]
    assert L.TimeDistributed(L.LSTM(2))(words)._keras_mask.shape.as_list() == [None, 3]
    with pytest.raises(TypeError, match="does not support masking"):
        L.TimeDistributed(L.Flatten())(masked)


def test_steps_of_batches_of_a_known_size():
    """A mask goes on as it is, and layers that might keep a state see one step after the other."""

    class Own(L.Layer):
        def call(self, x):
            return x * 2.0

    masked = L.Masking()(L.Input((3, 4), batch_size=2))
    assert L.TimeDistributed(L.Dense(2))(masked)._keras_mask is masked._keras_mask
    for layer, steps in ((L.Dense(2), False), (Own(), True), (L.BatchNormalization(), True), (L.Dropout(0.5), False)):
        out = L.TimeDistributed(layer)(masked)
        assert (out.op.type == "Transpose") is steps


def test_masked_steps_of_a_bidirectional_layer_give_zeros():
    model = keras.Sequential([L.Masking(input_shape=(4, 2)), L.Bidirectional(L.LSTM(3, return_sequences=True))])
    assert model.layers[1].forward_layer.zero_output_for_mask
    x = np.ones((1, 4, 2))
    x[:, 2:] = 0
    out = model.predict(x)
    assert np.abs(out[:, :2]).min() > 0 and np.abs(out[:, 2:]).max() == 0
    assert nodes(lambda: L.Bidirectional(L.LSTM(2, return_sequences=True))(L.Masking()(L.Input((3, 4))))) == 646


def test_a_model_keeps_its_own_input_wherever_it_is_called():
    a, b = L.Input((3,)), L.Input((3,))
    model = keras.Model(a, L.Dense(2)(a))
    model(b)
    assert model.input is a and model.output is model.outputs[0]
    assert model.get_input_at(1) is b


def test_input_layers_that_are_needed_late_are_called_with_the_model():
    a, b = L.Input((3,), name="a"), L.Input((1,), name="b")
    inner = keras.Model([a, b], L.multiply([a, L.Flatten()(L.Embedding(4, 3)(b))]), name="inner")
    inner([L.Input((3,)), L.Input((1,))])
    assert tf.get_default_graph().get_operation_by_name("inner/a/a/Identity").type == "Identity"


def distance(pair):
    return K.sqrt(K.sum(K.square(pair[0] - pair[1]), axis=1, keepdims=True))


def test_functions_of_lambda_layers_are_found_again(tmp_path):
    a, b = L.Input((3,)), L.Input((3,))
    model = keras.Model([a, b], L.Lambda(distance)([a, b]))
    model.save(str(tmp_path / "model.h5"))
    loaded = keras.models.load_model(str(tmp_path / "model.h5"))
    x = [np.eye(3), np.ones((3, 3))]
    np.testing.assert_allclose(loaded.predict(x), model.predict(x))


def test_validation_looks_at_the_same_elements_after_each_epoch():
    x = np.arange(8, dtype="float32").reshape(8, 1)
    rows = tf.data.Dataset.from_tensor_slices((x, np.zeros_like(x))).batch(2).repeat()
    model = keras.Sequential([L.Dense(1, input_shape=(1,), kernel_initializer="ones")])
    model.compile(keras.optimizers.SGD(0.0), "mae")
    history = model.fit(rows, steps_per_epoch=1, epochs=3, verbose=0, validation_data=rows, validation_steps=1).history
    assert history["loss"] == [0.5, 2.5, 4.5]
    assert history["val_loss"] == [0.5, 0.5, 0.5]


def test_sizes_and_weights_that_do_not_fit():
    x, y = np.ones((4, 2)), np.ones((4, 1))
    fixed = keras.Sequential([L.Dense(1, batch_input_shape=(4, 2))])
    fixed.compile("sgd", "mse")
    with pytest.raises(ValueError, match="`batch_size` is 3, but the model's input .* was made for batches of 4"):
        fixed.predict(x, batch_size=3)
    a = L.Input((2,))
    two = keras.Model(a, [L.Dense(1, name="one")(a), L.Dense(1, name="two")(a)])
    two.compile("sgd", "mse")
    with pytest.raises(ValueError, match=r"Unknown entries in class_weight dictionary: \[0, 1\]"):
        two.fit(x, [y, y], class_weight={0: 1.0, 1: 2.0}, verbose=0)


def test_an_estimator_of_a_model_with_an_optimizer_of_tf_train(tmp_path):
    model = keras.Sequential([L.Dense(1, input_shape=(2,), name="inp")])
    model.compile(tf.train.GradientDescentOptimizer(0.1), "mse")
    estimator = keras.estimator.model_to_estimator(model, model_dir=str(tmp_path))
    estimator.train(
        lambda: tf.data.Dataset.from_tensors((np.ones((4, 2), "float32"), np.ones((4, 1), "float32"))).repeat(3)
    )
    assert sorted(estimator.get_variable_names()) == ["global_step", "inp/bias", "inp/kernel"]
