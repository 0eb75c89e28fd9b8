"""Keras models of random layers: their graphs, summaries, predictions, losses of a few steps, weights and configurations."""

from __future__ import annotations

from tests.exchange.random_graphs.writing import Family

ACTIVATIONS = ("relu", "tanh", "sigmoid", "linear", "elu", "softmax", "selu")


def begin(p):
    p.line("layers, K = tf.keras.layers, tf.keras.backend")
    p.kind, p.shape = p.random.choice([_vectors, _sequences, _images, _words])(p)


def _vectors(p):
    return "vector", (p.choice(2, 4),)


def _sequences(p):
    return "sequence", (p.choice(3, 5), p.choice(2, 3))


def _images(p):
    return "image", (6, 6, p.choice(1, 3))


def _words(p):
    return "words", (4,)


def initializer(p):
    return p.choice(
        "",
        ", kernel_initializer='ones'",
        ", kernel_initializer=tf.keras.initializers.he_normal(seed=3)",
        ", kernel_regularizer=tf.keras.regularizers.l2(0.01)",
        ", kernel_constraint='max_norm'",
        ", use_bias=False",
    )


def vector_layer(p, shape):
    units = p.choice(2, 3)
    text = p.choice(
        f"layers.Dense({units}, activation='{p.random.choice(ACTIVATIONS)}'{initializer(p)})", f"layers.Dense({units}{initializer(p)})", "layers.BatchNormalization()", "layers.Dropout(0.5, seed=2)", f"layers.Activation('{p.random.choice(ACTIVATIONS)}')",
        "layers.LeakyReLU(0.2)", "layers.PReLU()", "layers.LayerNormalization()", "layers.GaussianNoise(0.1)", "layers.Lambda(lambda x: x * 2.0)", "layers.ActivityRegularization(0.1)", f"layers.Reshape((1, {shape[0]}))" if p.chance(0.3) else "layers.Flatten()", "layers.Masking(0.0)" if p.chance(0.2) else "layers.ReLU(max_value=2.0)", "layers.RepeatVector(2)" if p.chance(0.5) else "layers.Softmax()",
    )  # fmt: skip
    if "RepeatVector" in text:
        return text, "sequence", (2, *shape)
    if "Reshape" in text:
        return text, "sequence", (1, *shape)
    return text, "vector", (units,) if "Dense" in text else shape


def sequence_layer(p, shape):
    units, back = p.choice(2, 3), p.chance(0.4)
    cell = p.choice("LSTM", "GRU", "SimpleRNN")
    more = p.choice(
        "",
        ", go_backwards=True",
        ", unroll=True",
        ", activation='relu'",
        ", recurrent_dropout=0.2" if p.chance(0.2) else "",
        ", reset_after=True" if cell == "GRU" else "",
        ", stateful=False",
    )
    text = p.choice(
        f"layers.{cell}({units}, return_sequences={back}{more})", f"layers.{cell}({units}, return_sequences={back})", f"layers.Bidirectional(layers.{cell}({units}, return_sequences={back}))", f"layers.Conv1D({units}, 2, padding='same')",
        "layers.GlobalAveragePooling1D()", "layers.GlobalMaxPooling1D()", "layers.Flatten()", f"layers.TimeDistributed(layers.Dense({units}))", "layers.Permute((2, 1))", "layers.MaxPooling1D(2, padding='same')", "layers.UpSampling1D(2)", "layers.ZeroPadding1D(1)", "layers.SpatialDropout1D(0.5)", "layers.Masking(0.0)",
        f"layers.RNN(layers.LSTMCell({units}), return_sequences={back})", f"layers.Dense({units})", f"layers.SeparableConv1D({units}, 2, padding='same')",
    )  # fmt: skip
    if any(name in text for name in ("Global",)):
        return text, "vector", shape[1:]
    if "Flatten" in text:
        return text, "vector", (shape[0] * shape[1],)
    if any(name in text for name in ("LSTM", "GRU", "SimpleRNN")) and not back:
        return text, "vector", (units * (2 if "Bidirectional" in text else 1),)
    length = {"MaxPooling1D": (shape[0] + 1) // 2, "UpSampling1D": shape[0] * 2, "ZeroPadding1D": shape[0] + 2}
    steps = next((n for name, n in length.items() if name in text), shape[0])
    if "Permute" in text:
        return text, "sequence", shape[::-1]
    depth = (
        units * (2 if "Bidirectional" in text else 1)
        if str(units) in text
        and "Pooling" not in text
        and "Padding" not in text
        and "Sampling" not in text
        and "Dropout" not in text
        and "Masking" not in text
        else shape[1]
    )
    return text, "sequence", (steps, depth)


def image_layer(p, shape):
    filters = p.choice(2, 4)
    text, rest = p.random.choice(
        [
            (
                f"layers.Conv2D({filters}, {p.choice(1, 2, 3)}, padding='same', activation='{p.random.choice(ACTIVATIONS[:5])}'{initializer(p)})",
                (*shape[:2], filters),
            ),
            (
                f"layers.Conv2D({filters}, 3, strides=2, padding='same')",
                ((shape[0] + 1) // 2, (shape[1] + 1) // 2, filters),
            ),
            (f"layers.SeparableConv2D({filters}, 3, padding='same')", (*shape[:2], filters)),
            ("layers.DepthwiseConv2D(3, padding='same')", shape),
            (f"layers.Conv2DTranspose({filters}, 2, strides=2, padding='same')", (shape[0] * 2, shape[1] * 2, filters)),
            ("layers.MaxPooling2D(2, padding='same')", ((shape[0] + 1) // 2, (shape[1] + 1) // 2, shape[2])),
            ("layers.AveragePooling2D(2, padding='same')", ((shape[0] + 1) // 2, (shape[1] + 1) // 2, shape[2])),
            ("layers.BatchNormalization()", shape),
            ("layers.UpSampling2D(2)", (shape[0] * 2, shape[1] * 2, shape[2])),
            ("layers.ZeroPadding2D(1)", (shape[0] + 2, shape[1] + 2, shape[2])),
            ("layers.SpatialDropout2D(0.5)", shape),
            ("layers.Activation('relu')", shape),
            ("layers.Flatten()", None),
            ("layers.GlobalAveragePooling2D()", shape[2:]),
            ("layers.GlobalMaxPooling2D()", shape[2:]),
        ]
    )
    if rest is None:
        return text, "vector", (shape[0] * shape[1] * shape[2],)
    return text, "image" if len(rest) == 3 else "vector", rest


def word_layer(p, shape):
    size = p.choice(2, 3)
    more = p.choice("", ", mask_zero=True", ", embeddings_initializer='ones'")
    return f"layers.Embedding(10, {size}{more})", "sequence", (*shape, size)


LAYERS = {"vector": vector_layer, "sequence": sequence_layer, "image": image_layer, "words": word_layer}


def stack(p, kind, shape, count):
    """So many layers one after the other: their texts, and what comes out."""
    texts = []
    for _ in range(count):
        text, kind, shape = LAYERS[kind](p, shape)
        texts.append(text)
    return texts, kind, shape


def sequential(p):
    texts, kind, shape = stack(p, p.kind, p.shape, p.random.randint(1, 4))
    first = f"layers.InputLayer({p.shape})" if p.chance(0.5) else None
    if first is None:
        texts[0] = (
            texts[0][:-1]
            + (", " if not texts[0].endswith("(") and texts[0][-2] != "(" else "")
            + f"input_shape={p.shape})"
        )
    p.line("model = tf.keras.Sequential()")
    for text in [*([first] if first else []), *texts]:
        p.line(f"model.add({text})")
    return kind, shape


def functional(p):
    p.line(
        f"x = inputs = tf.keras.Input({p.shape}{p.choice('', ', batch_size=2', chr(44) + ' name=' + repr('given'))})"
    )
    texts, kind, shape = stack(p, p.kind, p.shape, p.random.randint(1, 3))
    for text in texts:
        p.line(f"x = {text}(x)")
    if kind == "vector" and p.chance(0.6):
        joined = p.choice(
            "layers.add", "layers.concatenate", "layers.multiply", "layers.average", "layers.maximum", "layers.subtract"
        )
        p.line(f"y = layers.Dense({shape[0]}, activation='tanh')(x)")
        p.line(f"x = {joined}([x, y])")
        shape = (shape[0] * 2,) if "concatenate" in joined else shape
    p.line("model = tf.keras.Model(inputs, x)")
    return kind, shape


def end(p):
    kind, shape = p.random.choice([sequential, functional])(p)
    if kind != "vector":
        p.line("model = tf.keras.Sequential([model, layers.Flatten(), layers.Dense(2)])")
        shape = (2,)
    loss = p.choice(
        "'mse'",
        "'mae'",
        "'binary_crossentropy'",
        "tf.keras.losses.Huber()",
        "'categorical_crossentropy'",
        "lambda y, z: K.mean(K.square(y - z))",
    )
    optimizer = p.choice(
        "'sgd'",
        "'adam'",
        "'rmsprop'",
        "tf.keras.optimizers.SGD(0.1, momentum=0.9)",
        "'adagrad'",
        "tf.keras.optimizers.Adam(0.01, clipnorm=1.0)",
        "tf.train.GradientDescentOptimizer(0.1)",
        "'nadam'",
        "'adadelta'",
        "'adamax'",
    )
    if any("Normalization" in line for line in p.lines) and "'sgd'" not in optimizer:
        # What is normalised after it has a gradient of rounding errors only, which optimizers that divide by its size
        # make steps of.
        optimizer = "tf.keras.optimizers.SGD(0.1, momentum=0.9)"
    metrics = p.choice(
        "",
        "",
        ", metrics=['mae']",
        ", metrics=['accuracy']",
        ", metrics=[tf.keras.metrics.MeanSquaredError()]",
        ", sample_weight_mode=None",
        ", loss_weights=[0.5]",
    )
    p.line(f"model.compile({optimizer}, {loss}{metrics})")
    total = 4
    given = (
        f"np.random.RandomState(0).uniform(-1, 1, {(total, *p.shape)}).astype('float32')"
        if p.kind != "words"
        else f"np.random.RandomState(0).randint(0, 10, {(total, *p.shape)})"
    )
    p.line(f"given, wanted = {given}, np.random.RandomState(1).uniform(0, 1, {(total, *shape)}).astype('float32')")
    p.line(
        "fetched.append([model.count_params(), str(model.output_shape), [w.name for w in model.weights], model.metrics_names])"
    )
    if "Dropout" not in "".join(p.lines) and "Noise" not in "".join(p.lines) and "dropout" not in "".join(p.lines):
        p.line("fetched.append(model.predict(given, batch_size=2))")
        p.line("fetched.append([model.train_on_batch(given[:2], wanted[:2]) for _ in range(2)])")
        p.line("fetched.append(model.evaluate(given, wanted, batch_size=2, verbose=0))")
        p.line(
            f"fetched.append(model.fit(given, wanted, batch_size=2, epochs=2, shuffle=False, verbose=0{p.choice('', ', validation_split=0.5')}).history)"
        )
    p.line("fetched.append([layer.name for layer in model.layers])")


FAMILY = Family("keras", begin, [lambda p: None], (1, 1), end)
