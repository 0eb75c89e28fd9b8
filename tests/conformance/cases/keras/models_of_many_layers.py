"""Keras layers in one functional model: recurrent in time, attention, masks, shared layers, lambdas, nested models; configs and summaries."""

import numpy as np
import tensorflow as tf

L = tf.keras.layers


def run(out):
    tf.keras.backend.set_learning_phase(0)
    words = L.Input([5], dtype="int32", name="words")
    image = L.Input([8, 8, 3], name="image")
    emb = L.Embedding(10, 4, mask_zero=True, name="emb")(words)
    seq = L.Bidirectional(L.GRU(3, return_sequences=True, name="gru"), merge_mode="sum", name="bi")(emb)
    att = L.Attention(name="att")([seq, seq])
    add = L.AdditiveAttention(name="add")([seq, seq])
    last = L.LSTM(3, unroll=True, name="lstm")(seq)
    times = L.TimeDistributed(L.Dense(2, activation="tanh"), name="times")(add)
    conv = L.SeparableConv2D(4, 3, padding="same", dilation_rate=1, name="sep")(image)
    conv = L.BatchNormalization(name="bn", scale=False)(conv)
    conv = L.PReLU(shared_axes=[1, 2], name="prelu")(conv)
    pool = L.GlobalMaxPooling2D(name="gmp")(
        L.UpSampling2D(2, interpolation="bilinear", name="up")(L.Cropping2D(1, name="crop")(conv))
    )
    inner = tf.keras.Sequential(
        [L.Dense(4, activation="selu", name="d1"), L.Dropout(0.5, name="drop"), L.LayerNormalization(name="ln")],
        name="inner",
    )
    shared = inner(pool)
    merged = L.Concatenate(name="cat")(
        [
            L.Flatten(name="flat")(times),
            last,
            shared,
            L.GlobalAveragePooling1D(name="gap")(att),
            L.Lambda(lambda t: t * 2.0, name="lam")(inner(pool)),
        ]
    )
    outs = [
        L.Dense(1, name="score", kernel_regularizer=tf.keras.regularizers.l1_l2(0.01, 0.02))(merged),
        L.Activation("softmax", name="probs")(L.Reshape([2, 2], name="shape")(shared)),
    ]
    model = tf.keras.Model([words, image], outs, name="whole")
    out("names", [l.name for l in model.layers])
    out("weights", [(w.name, w.shape.as_list()) for w in model.weights])
    out(
        "counts",
        [
            model.count_params(),
            len(model.trainable_weights),
            len(model.losses),
            len(model.updates),
            len(inner._inbound_nodes),
        ],
    )
    lines = []
    model.summary(print_fn=lines.append, line_length=100)
    out("summary", lines)
    config = model.get_config()
    out("config", [c["class_name"] for c in config["layers"]])
    again = tf.keras.Model.from_config(config, custom_objects={})
    out("again", [w.shape.as_list() for w in again.weights] == [w.shape.as_list() for w in model.weights])
    out.graph()
    out(
        "shapes", [model.output_shape, [l.output_shape for l in model.layers if l.name in ("bi", "times", "att", "up")]]
    )
    rng = np.random.RandomState(0)
    model.set_weights(
        [
            rng.randn(*w.shape.as_list()).astype("f") * 0.3 if "var" not in w.name else np.ones(w.shape.as_list(), "f")
            for w in model.weights
        ]
    )
    feeds = [np.array([[1, 2, 3, 0, 0], [4, 5, 6, 7, 8]]), rng.randn(2, 8, 8, 3)]
    out("predict", model.predict(feeds), rtol=1e-4, atol=1e-5)
    model.compile(
        "adagrad",
        {"score": "mse", "probs": "categorical_crossentropy"},
        metrics={"probs": ["accuracy"]},
        loss_weights=[1.0, 0.5],
    )
    out("metrics", model.metrics_names)
    y = [np.ones([2, 1]), np.array([[[0, 1], [1, 0]]] * 2, "f")]
    out("evaluate", model.evaluate(feeds, y, verbose=0), rtol=1e-4)
    out("train", model.train_on_batch(feeds, y), rtol=1e-3)
    out("test", model.test_on_batch(feeds, y, sample_weight=[np.array([1.0, 2.0]), np.array([0.5, 0.5])]), rtol=1e-3)
    out.raises("shape", model.predict, [feeds[0]])
    out.raises("loss", model.compile, "sgd", "nothing")
