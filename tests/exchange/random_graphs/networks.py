"""Layers and cells of networks: convolutions, normalisation, recurrent cells over time, losses, metrics, with their
gradients.
"""

from __future__ import annotations

from tests.exchange.random_graphs.writing import Family, often

MOVES: list = []


def begin(p):
    p.random.choice([images, sequences])(p)
    vectors(p)


def given(p, shape, kind):
    known = [p.choice(None, shape[0]), *shape[1:]]
    made = p.add(f"tf.placeholder(tf.float32, {known})", kind, "float32", shape)
    p.line(
        f"feeds[{made.name}] = np.random.RandomState({p.random.randint(0, 99)}).uniform(-1, 1, {shape}).astype('float32')"
    )
    return made


@often(MOVES)
def images(p):
    given(p, (2, 5, 5, p.choice(1, 3)), "image")


@often(MOVES)
def sequences(p):
    given(p, (2, 3, p.choice(2, 4)), "sequence")


@often(MOVES)
def vectors(p):
    given(p, (2, p.choice(3, 4)), "vector")


@often(MOVES, 3)
def image_layer(p):
    x = p.pick("image")
    n, height, width, depth = x.shape
    filters = p.choice(2, 3)
    half = lambda size: (size + 1) // 2  # noqa: E731
    text, shape = p.random.choice(
        [
            (
                f"tf.layers.conv2d({{x}}, {filters}, 3, padding='same', activation={p.choice('None', 'tf.nn.relu')})",
                (n, height, width, filters),
            ),
            (
                f"tf.layers.conv2d({{x}}, {filters}, 3, strides=2, padding='same', use_bias=False)",
                (n, half(height), half(width), filters),
            ),
            (
                f"tf.nn.conv2d({{x}}, tf.ones([2, 2, {depth}, {filters}]), [1, 1, 1, 1], 'SAME')",
                (n, height, width, filters),
            ),
            (
                f"tf.nn.conv2d({{x}}, tf.ones([2, 2, {depth}, {filters}]), 1, 'SAME', dilations=[1, 2, 2, 1])",
                (n, height, width, filters),
            ),
            (
                f"tf.nn.atrous_conv2d({{x}}, tf.ones([2, 2, {depth}, {filters}]), 2, 'SAME')",
                (n, height, width, filters),
            ),
            (f"tf.nn.depthwise_conv2d({{x}}, tf.ones([2, 2, {depth}, 1]), [1, 1, 1, 1], 'SAME')", x.shape),
            (f"tf.layers.separable_conv2d({{x}}, {filters}, 2, padding='same')", (n, height, width, filters)),
            (
                f"tf.layers.conv2d_transpose({{x}}, {filters}, 2, strides=2, padding='same')",
                (n, 2 * height, 2 * width, filters),
            ),
            ("tf.layers.max_pooling2d({x}, 2, 2, padding='same')", (n, half(height), half(width), depth)),
            ("tf.nn.avg_pool({x}, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')", (n, half(height), half(width), depth)),
            (f"tf.layers.batch_normalization({{x}}, training={p.choice(True, False)})", x.shape),
            ("tf.nn.local_response_normalization({x})", x.shape),
            ("tf.image.resize_bilinear({x}, [4, 4])", (n, 4, 4, depth)),
            ("tf.image.resize_nearest_neighbor({x}, [4, 4], align_corners=True)", (n, 4, 4, depth)),
            ("tf.nn.relu({x})", x.shape),
            ("tf.image.flip_left_right({x})", x.shape),
            (
                "tf.space_to_depth(tf.pad({x}, [[0, 0], [0, 0], [0, 0], [0, 0]]), 1)"
                if p.chance(0.1)
                else "tf.nn.bias_add({x}, tf.ones([" + str(depth) + "]))",
                x.shape,
            ),
            ("tf.nn.dropout({x}, keep_prob=0.5, seed=4)", x.shape),
        ]
    )
    p.add(text.format(x=x.name), "image", "float32", shape)


@often(MOVES)
def flattened(p):
    x = p.pick("image")
    text, size = p.choice(
        ("tf.layers.flatten({x})", x.shape[1] * x.shape[2] * x.shape[3]), ("tf.reduce_mean({x}, [1, 2])", x.shape[3])
    )
    p.add(text.format(x=x.name), "vector", "float32", (x.shape[0], size))


@often(MOVES, 3)
def vector_layer(p):
    x = p.pick("vector")
    units = p.choice(2, 3)
    text, size = p.random.choice(
        [
            (
                f"tf.layers.dense({{x}}, {units}, activation={p.choice('None', 'tf.tanh', 'tf.nn.relu')}{p.named('dense')})",
                units,
            ),
            (
                f"tf.layers.dense({{x}}, {units}, kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1), use_bias={p.chance(0.5)})",
                units,
            ),
            (f"tf.contrib.layers.fully_connected({{x}}, {units})", units),
            (f"tf.layers.batch_normalization({{x}}, training={p.choice(True, False)}, momentum=0.9)", x.shape[1]),
            ("tf.contrib.layers.layer_norm({x})", x.shape[1]),
            ("tf.layers.dropout({x}, 0.5, training=True, seed=3)", x.shape[1]),
            ("tf.nn.l2_normalize({x}, 1)", x.shape[1]),
            ("tf.nn.softmax({x})", x.shape[1]),
            ("tf.concat([{x}, {x}], 1)", 2 * x.shape[1]),
        ]
    )
    p.add(text.format(x=x.name), "vector", "float32", (x.shape[0], size))


@often(MOVES, 3)
def over_time(p):
    x = p.pick("sequence")
    n = p.choice(2, 3)
    cell = p.choice(
        f"tf.nn.rnn_cell.BasicLSTMCell({n})", f"tf.nn.rnn_cell.GRUCell({n})", f"tf.nn.rnn_cell.LSTMCell({n}, use_peepholes=True)", f"tf.nn.rnn_cell.BasicRNNCell({n})", f"tf.nn.rnn_cell.LSTMCell({n}, num_proj={n}, cell_clip=1.0)",
        f"tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell({n}), output_keep_prob=0.5, seed=2)", f"tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell({n}), tf.nn.rnn_cell.GRUCell({n})])", f"tf.contrib.rnn.LayerNormBasicLSTMCell({n})",
        f"tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell({x.shape[2]}))" if n == x.shape[2] else f"tf.contrib.rnn.LSTMBlockCell({n})",
    )  # fmt: skip
    lengths = p.choice("", "", ", sequence_length=[1, 3]", ", sequence_length=tf.constant([3, 2], tf.int64)")
    # Iterations of a loop run in any order in TensorFlow, and so do their draws.
    alone = ", parallel_iterations=1" if "Dropout" in cell else ""
    scope = p.name_for("rnn")
    made, state = p.name_for(), p.name_for("state")
    way = p.choice("dynamic", "dynamic", "static", "bidirectional")
    if way == "dynamic":
        p.line(
            f"{made}, {state} = tf.nn.dynamic_rnn({cell}, {x.name}, dtype=tf.float32{lengths}{alone}, scope='{scope}')"
        )
    elif way == "static":
        p.line(
            f"{made}, {state} = tf.nn.static_rnn({cell}, tf.unstack({x.name}, 3, axis=1), dtype=tf.float32{lengths}, scope='{scope}')"
        )
        p.line(f"{made} = tf.stack({made}, 1)")
    else:
        p.line(
            f"{made}, {state} = tf.nn.bidirectional_dynamic_rnn({cell}, {cell}, {x.name}, dtype=tf.float32{lengths}{alone}, scope='{scope}')"
        )
        p.line(f"{made} = tf.concat({made}, 2)")
    p.add(f"{made} * 1.0", "sequence", "float32", (*x.shape[:2], n * (2 if way == "bidirectional" else 1)))
    p.results.append(state)


@often(MOVES)
def last_step(p):
    x = p.pick("sequence")
    p.add(f"{x.name}[:, {p.choice(-1, 0)}]", "vector", "float32", (x.shape[0], x.shape[2]))


@often(MOVES, 2)
def loss(p):
    x = p.pick("vector")
    size = x.shape[1]
    text = p.choice(
        "tf.losses.mean_squared_error(tf.ones_like({x}), {x})", "tf.losses.softmax_cross_entropy(tf.one_hot([0, 1], {n}), {x})", "tf.losses.sparse_softmax_cross_entropy([0, 1], {x})", "tf.losses.hinge_loss(tf.ones_like({x}), {x})",
        "tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.zeros_like({x}), logits={x}))", "tf.losses.huber_loss(tf.ones_like({x}), {x}, delta=0.5)", "tf.losses.cosine_distance(tf.ones_like({x}), {x}, axis=1)", "tf.losses.absolute_difference(tf.zeros_like({x}), {x}, weights=[[1.0], [0.0]])", "tf.nn.l2_loss({x})",
        "tf.losses.log_loss(tf.sigmoid({x}), tf.sigmoid({x}))", "tf.losses.get_total_loss()",
    )  # fmt: skip
    p.add(text.format(x=x.name, n=size), "loss", "float32", ())


@often(MOVES)
def metric(p):
    x = p.pick("vector")
    text = p.choice(
        "tf.metrics.mean({x})",
        "tf.metrics.accuracy([0, 1], tf.argmax({x}, 1))",
        "tf.metrics.auc([[True], [False]], tf.sigmoid({x}[:, :1]))",
        "tf.metrics.mean_squared_error(tf.zeros_like({x}), {x})",
        "tf.metrics.precision({x} > 0.0, {x} > -0.5)",
        "tf.metrics.mean_iou(tf.constant([0, 1]), tf.argmax({x}, 1), 4)",
    )
    # The update only: TensorFlow runs it and a read of the value in any order.
    p.add(text.format(x=x.name) + "[1]", "other", "float32", None)


@often(MOVES, 2)
def gradient(p):
    x = p.pick("loss")
    text = p.choice(
        "tf.gradients({x}, tf.trainable_variables())",
        "tf.train.AdamOptimizer(0.01).minimize({x})",
        "tf.contrib.layers.optimize_loss({x}, tf.train.get_or_create_global_step(), 0.1, 'SGD')",
        "tf.clip_by_global_norm([g for g in tf.gradients({x}, tf.trainable_variables()) if g is not None], 1.0)",
    )
    p.add(text.format(x=x.name), "other", "float32", None)


FAMILY = Family("networks", begin, MOVES, (3, 8))
