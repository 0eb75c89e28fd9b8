"""contrib.layers and slim: every layer once with normalizers and collections; summaries, outputs collections, arg scopes, one-hot and embeddings."""

import numpy as np
import tensorflow as tf

C, slim = tf.contrib.layers, tf.contrib.slim


def run(out):
    tf.set_random_seed(3)
    x = tf.placeholder(tf.float32, [2, 8, 8, 3], name="x")
    init = tf.random_uniform_initializer(-0.2, 0.2, seed=1)
    options = {
        "weights_initializer": init,
        "weights_regularizer": C.l2_regularizer(0.01),
        "outputs_collections": "ends",
        "variables_collections": {"weights": ["W"], "biases": ["B"]},
    }
    kinds = [C.conv2d, C.fully_connected, C.separable_conv2d, C.conv2d_transpose]
    with tf.variable_scope("net", initializer=init), slim.arg_scope(kinds, **options):
        n = C.conv2d(
            x,
            4,
            [3, 3],
            stride=2,
            normalizer_fn=C.batch_norm,
            normalizer_params={"is_training": True, "decay": 0.9, "updates_collections": "ups", "scale": True},
            scope="c1",
        )
        n = C.separable_conv2d(n, 5, 3, 1, rate=1, scope="sep")
        n = C.conv2d_transpose(n, 3, 2, stride=2, padding="VALID", activation_fn=tf.nn.elu, scope="up")
        n = C.conv2d_in_plane(n, 3, stride=2, scope="plane")
        n = C.layer_norm(n, scope="ln")
        n = C.instance_norm(n, scope="in")
        n = C.group_norm(tf.concat([n, n[..., :1]], -1), groups=2, scope="gn")
        n = C.avg_pool2d(n, 2, 1, padding="SAME", scope="ap") + C.max_pool2d(n, [2, 2], 1, padding="SAME", scope="mp")
        n = C.bias_add(n, activation_fn=tf.nn.relu6, scope="ba", initializer=init) if hasattr(C, "bias_add") else n
        n = C.dropout(n, 0.8, is_training=False, scope="dr")
        f = C.flatten(n, scope="flat")
        f = C.repeat(f, 2, C.fully_connected, 6, scope="fc")
        f = C.stack(f, C.fully_connected, [5, 4], scope="st", activation_fn=tf.tanh)
        f = C.unit_norm(f, 1, scope="un")
        f = C.maxout(f, 2, scope="mx")
        g = C.fully_connected(
            f, 3, normalizer_fn=C.layer_norm, activation_fn=None, scope="last", biases_initializer=None
        )
    emb = C.embed_sequence([[1, 2], [0, 3]], 5, 3, scope="emb", initializer=init)
    bow = C.bow_encoder([[1, 2], [0, 3]], 5, 3, scope="bow", initializer=init)
    hot = C.one_hot_encoding([1, 0], 3, on_value=2.0)
    soft = C.softmax(tf.reshape(g, [2, 1, 3]))
    legacy = C.legacy_fully_connected(f, 2, weight_init=init, name="leg") if hasattr(C, "legacy_fully_connected") else f
    spatial = C.spatial_softmax(n, temperature=1.0)
    sums = [C.summarize_activation(g), C.summarize_tensor(g, "tag"), C.summarize_collection("W")]
    reg = C.apply_regularization(
        C.sum_regularizer([C.l1_regularizer(0.1), C.l2_regularizer(0.2)]), tf.get_collection("W")
    )
    out("vars", [(v.name, v.shape.as_list()) for v in tf.global_variables()])
    out("ends", [t.name for t in tf.get_collection("ends")])
    out(
        "collections",
        {
            k: [t.name for t in tf.get_collection(k)]
            for k in (
                "W",
                "B",
                "ups",
                tf.GraphKeys.REGULARIZATION_LOSSES,
                tf.GraphKeys.UPDATE_OPS,
                tf.GraphKeys.MODEL_VARIABLES,
                "summaries",
            )
        },
    )
    out("aliases", [getattr(t, "aliases", None) for t in tf.get_collection("ends")][:3])
    out.raises("rank", C.conv2d, tf.zeros([2, 3]), 4, 3)
    out.raises("depth", C.fully_connected, tf.placeholder(tf.float32, [2, None]), 2)
    out.raises("groups", C.group_norm, n, groups=3)
    out.raises("maxout", C.maxout, f, 3)
    out.raises("optimizer", C.optimize_loss, tf.reduce_sum(g), None, 0.1, "NoSuch")
    total = tf.reduce_sum(g) + tf.losses.get_regularization_loss()
    train = C.optimize_loss(
        total,
        tf.train.get_or_create_global_step(),
        0.1,
        lambda lr: tf.train.MomentumOptimizer(lr, 0.9),
        clip_gradients=1.0,
        gradient_noise_scale=None,
        learning_rate_decay_fn=lambda lr, s: tf.train.exponential_decay(lr, s, 2, 0.5),
        summaries=["loss", "learning_rate", "gradient_norm"],
    )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        feed = {x: np.random.RandomState(0).randn(2, 8, 8, 3)}
        out("values", sess.run([g, emb, bow, hot, soft, legacy, spatial, reg], feed), rtol=1e-3, atol=1e-4)
        sess.run(train, feed)
        out("trained", sess.run(tf.trainable_variables()), rtol=1e-3, atol=1e-4)
        out("step", sess.run(tf.train.get_global_step()))
    out.graph()
