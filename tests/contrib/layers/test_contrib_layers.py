"""tf.contrib.layers: names, collections and values of layers, and how they are repeated."""

import numpy as np
import pytest

import everflow as tf

L = tf.contrib.layers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        tf.set_random_seed(1)
        yield g


def run(*fetches, feed=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feed)


def names(things):
    return [t.op.name for t in things]


def test_fully_connected():
    x = np.random.RandomState(0).randn(2, 4).astype(np.float32)
    y = L.fully_connected(
        tf.constant(x),
        3,
        weights_regularizer=L.l2_regularizer(0.5),
        variables_collections=["v"],
        outputs_collections="o",
    )
    assert (
        names(tf.trainable_variables())
        == names(tf.get_collection("v"))
        == ["fully_connected/weights", "fully_connected/biases"]
    )
    assert names(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == [
        "fully_connected/kernel/Regularizer/l2_regularizer"
    ]
    assert tf.get_collection("o") == [y]
    assert y.aliases == ["fully_connected"]
    w, loss, out = run(tf.trainable_variables()[0], tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)[0], y)
    np.testing.assert_allclose(out, np.maximum(x @ w, 0), rtol=1e-5)
    np.testing.assert_allclose(loss, 0.25 * (w**2).sum(), rtol=1e-5)


def test_reuse_shares_variables():
    x = tf.ones([1, 2])
    a = L.linear(x, 2, scope="s")
    b = L.linear(x, 2, scope="s", reuse=True)
    assert names(tf.global_variables()) == ["s/weights", "s/biases"]
    np.testing.assert_array_equal(*run(a, b))


@pytest.mark.parametrize(
    ("layer", "shape", "expected"),
    [
        (lambda x: L.conv1d(x, 5, 3, stride=2), [2, 6, 3], [2, 3, 5]),
        (lambda x: L.conv2d(x, 5, [3, 3], padding="VALID"), [2, 6, 6, 3], [2, 4, 4, 5]),
        (lambda x: L.conv2d(x, 5, 3, rate=2), [2, 6, 6, 3], [2, 6, 6, 5]),
        (lambda x: L.conv3d(x, 5, 3), [2, 4, 4, 4, 1], [2, 4, 4, 4, 5]),
        (lambda x: L.conv2d_transpose(x, 5, 3, stride=2), [2, 4, 4, 3], [2, 8, 8, 5]),
        (lambda x: L.separable_conv2d(x, None, 3, 2), [2, 4, 4, 3], [2, 4, 4, 6]),
        (lambda x: L.separable_conv2d(x, 7, 3, 2), [2, 4, 4, 3], [2, 4, 4, 7]),
        (lambda x: L.conv2d_in_plane(x, [1, 2]), [2, 4, 4, 3], [2, 4, 4, 3]),
        (lambda x: L.max_pool2d(x, 2), [2, 4, 4, 3], [2, 2, 2, 3]),
        (lambda x: L.flatten(x), [2, 4, 3], [2, 12]),
        (lambda x: L.maxout(x, 2), [2, 4], [2, 2]),
        (lambda x: L.spatial_softmax(x), [2, 4, 4, 3], [2, 6]),
        (lambda x: L.images_to_sequence(x), [2, 4, 5, 3], [5, 8, 3]),
        (lambda x: L.sequence_to_images(x, 4), [5, 8, 3], [2, 4, 5, 3]),
        (lambda x: L.gdn(x), [2, 4, 4, 3], [2, 4, 4, 3]),
    ],
)
def test_shapes(layer, shape, expected):
    y = layer(tf.ones(shape))
    assert y.shape.as_list() == expected
    assert list(run(y)[0].shape) == expected


def test_ranks_that_do_not_fit():
    with pytest.raises(ValueError, match="rank 4, got 2"):
        L.conv2d(tf.ones([2, 2]), 3, 3)
    with pytest.raises(ValueError, match="data_format"):
        L.max_pool2d(tf.ones([2, 4, 4, 1]), 2, data_format="NWHC")


def test_repeat_and_stack_number_their_scopes():
    x = tf.ones([1, 4])
    L.repeat(x, 2, L.fully_connected, 4, scope="twice")
    L.stack(x, L.fully_connected, [3, 2], scope="deep")
    weights = [v.op.name for v in tf.trainable_variables() if v.op.name.endswith("weights")]
    assert weights == ["twice/twice_1/weights", "twice/twice_2/weights", "deep/deep_1/weights", "deep/deep_2/weights"]


def test_one_hot_and_unit_norm():
    codes, unit = run(L.one_hot_encoding([1, 0], 3), L.unit_norm(tf.constant([[3.0, 4.0]]), 1))
    assert codes.tolist() == [[0, 1, 0], [1, 0, 0]]
    np.testing.assert_allclose(unit, [[0.6, 0.8]], rtol=1e-5)


def test_dropout_only_while_training():
    x = tf.ones([100])
    kept, dropped = run(L.dropout(x, 0.5, is_training=False), L.dropout(x, 0.5, seed=3))
    assert kept.tolist() == [1.0] * 100
    assert set(dropped.tolist()) == {0.0, 2.0}


def test_regularizers():
    w = tf.constant([1.0, -2.0])
    both = L.l1_l2_regularizer(0.1, 0.2)(w)
    assert L.l1_regularizer(0.0)(w) is None
    l1, l2, total = run(L.l1_regularizer(0.5)(w), L.l2_regularizer(0.5)(w), both)
    np.testing.assert_allclose([l1, l2, total], [1.5, 1.25, 0.8], rtol=1e-6)
    with pytest.raises(ValueError, match="integer"):
        L.l2_regularizer(1)


def test_initializers_follow_the_fans():
    value = run(L.variance_scaling_initializer(factor=1.0, mode="FAN_OUT", uniform=True, seed=1)([50, 40]))[0]
    assert abs(value).max() <= np.sqrt(3 / 40)
    assert abs(value.var() * 40 - 1) < 0.1
    with pytest.raises(TypeError):
        L.xavier_initializer(dtype=tf.int32)


def test_embeddings():
    ids = tf.constant([[1, 2], [2, 0]], tf.int64)
    table = tf.get_variable("embeddings", initializer=np.arange(8, dtype=np.float32).reshape(4, 2))
    tf.get_variable_scope().reuse_variables()
    unique = L.embedding_lookup_unique(table, ids)
    sparse = tf.SparseTensor([[0, 0], [2, 0]], tf.constant([3, -1], tf.int64), [3, 1])
    safe = L.safe_embedding_lookup_sparse([table], sparse, combiner="sum")
    looked_up, rows = run(unique, safe)
    assert looked_up.tolist() == [[[2, 3], [4, 5]], [[4, 5], [0, 1]]]
    assert rows.tolist() == [[6, 7], [0, 0], [0, 0]]


def test_bag_of_words_is_the_mean_of_its_words():
    ids = tf.constant([[1, 2], [3, 0]], tf.int64)
    bag = L.bow_encoder(ids, 4, 2)
    table, result = run(tf.global_variables()[0], bag)
    np.testing.assert_allclose(result, [(table[1] + table[2]) / 2, table[3]], rtol=1e-5)


def test_reversible_layers_have_the_gradients_of_plain_ones():
    x1, x2 = (tf.constant(np.random.RandomState(seed).randn(2, 4).astype(np.float32)) for seed in (0, 1))

    def function(x):
        return tf.tanh(tf.layers.dense(x, 4))

    def plain(x1, x2):
        for layer in range(2):
            with tf.variable_scope(f"revblock/revlayer_{layer}/f", reuse=True):
                x1 = x1 + function(x2)
            with tf.variable_scope(f"revblock/revlayer_{layer}/g", reuse=True):
                x2 = x2 + function(x1)
        return x1, x2

    outputs = [L.rev_block(x1, x2, function, function, num_layers=2), plain(x1, x2)]
    targets = [x1, x2, *tf.trainable_variables()]
    first, second = run(*(tf.gradients(tf.reduce_sum(y1 * y1 + y2), targets) for y1, y2 in outputs))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_gradients_scaled_and_computed_again():
    x = tf.constant([1.0, 2.0])
    scaled = tf.gradients(L.scale_gradient(x, 3.0), x)
    again = tf.gradients(L.recompute_grad(lambda a: tf.sin(a) * 2.0)(x), x)
    first, second = run(scaled, again)
    assert first[0].tolist() == [3.0, 3.0]
    np.testing.assert_allclose(second[0], 2 * np.cos([1.0, 2.0]), rtol=1e-5)


def test_side_inputs_of_reversible_layers():
    x, side = tf.constant([[1.0, 2.0]]), tf.constant([0.5, 2.0])

    def f(x, sides):
        return tf.tanh(x * sides[0]) * tf.get_variable("w", [2], use_resource=True, initializer=tf.ones_initializer())

    def g(x, sides):
        return x * sides[0] * sides[1]

    with tf.variable_scope("block"):
        reversible = L.rev_block(x, x * 2.0, f, g, num_layers=2, f_side_input=[side], g_side_input=[side * 3.0, side])
        targets = [x, side, *tf.trainable_variables()]
        gradients = tf.gradients(reversible, targets)  # also inside the scope
    with tf.variable_scope("block", reuse=True):
        plain = L.rev_block(
            x, x * 2.0, f, g, num_layers=2, f_side_input=[side], g_side_input=[side * 3.0, side], is_training=False
        )
    for a, b in zip(*run(gradients, tf.gradients(plain, targets)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4)


@pytest.mark.parametrize(
    "options", [{}, {"use_data_dep": True}, {"tupleize_grads": True}, {"use_data_dep": True, "tupleize_grads": True}]
)
def test_recomputing_with_options(options):
    @L.recompute_grad(**options)
    def scaled(x):
        with tf.variable_scope("inner"):
            return tf.tanh(x) * tf.get_variable("w", [2], use_resource=True, initializer=tf.ones_initializer())

    x = tf.constant([[1.0, 2.0]])
    with tf.variable_scope("outer"):
        y = scaled(x)
    gradients = tf.gradients(y, [x, *tf.trainable_variables()])
    assert gradients[0].name.startswith("gradients/outer/IdentityN_grad/")
    first, second = run(gradients)[0]
    np.testing.assert_allclose(first, [1 - np.tanh([1.0, 2.0]) ** 2], rtol=1e-5)
    np.testing.assert_allclose(second, np.tanh([1.0, 2.0]), rtol=1e-5)


def test_what_can_not_be_recomputed():
    with pytest.raises(TypeError, match="ResourceVariable"):
        L.recompute_grad(lambda x: x * tf.get_variable("w", []))(tf.constant(1.0))
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="different"):
        tf.gradients(L.recompute_grad(lambda x: x * tf.Variable(1.0, use_resource=True))(x), x)


def test_arguments_of_layers_are_checked():
    x = tf.placeholder(tf.float32, [None, 5, 5, None])
    with pytest.raises(ValueError):
        L.conv2d_in_plane(x, 3)
    with pytest.raises(ValueError, match="num_outputs"):
        L.fully_connected(tf.ones([2, 3]), np.int64(3))
    L.legacy_fully_connected(tf.ones([2, 3]), 4, output_collections=("mine",))
    assert tf.get_collection("mine") == tf.get_collection("activations")
