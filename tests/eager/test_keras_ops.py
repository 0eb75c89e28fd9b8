"""Plain ops on what comes from `Input` when executing eagerly: drawn with the model, each a layer of it."""

import numpy as np

import everflow as tf

keras, L = tf.keras, tf.keras.layers


def test_plain_ops_between_layers_are_part_of_the_model():
    keras.backend.clear_session()
    x = L.Input((4,), name="x")
    h = tf.nn.relu(L.Dense(6)(x)) * 2.0 + 1.0
    joined = tf.concat([h, tf.square(x)], -1)
    assert (h.name, joined.name, joined.shape.as_list()) == ("add:0", "concat:0", [None, 10])
    model = keras.Model(x, L.Dense(3)(joined))
    assert [layer.name for layer in model.layers] == [
        "x", "dense", "tf_op_layer_Relu", "tf_op_layer_mul", "tf_op_layer_add", "tf_op_layer_Square", "tf_op_layer_concat", "dense_1",
    ]  # fmt: skip
    rows = np.random.RandomState(0).rand(8, 4).astype("float32")
    kernel, bias, out, last = model.get_weights()
    hidden = np.concatenate([np.maximum(rows @ kernel + bias, 0) * 2 + 1, rows**2], -1)
    np.testing.assert_allclose(model(rows), hidden @ out + last, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(model.predict(rows), hidden @ out + last, rtol=1e-5, atol=1e-5)
    model.compile("sgd", "mse")
    losses = model.fit(rows, np.zeros((8, 3), "float32"), epochs=2, verbose=0).history["loss"]
    assert losses[1] < losses[0]
    again = keras.Model.from_config(model.get_config())
    again.set_weights(model.get_weights())
    np.testing.assert_allclose(again.predict(rows), model.predict(rows), rtol=1e-5)
