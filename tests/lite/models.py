"""Small models for conversion, each by what it holds: a function that takes tf and returns its inputs and outputs. The
same source draws them here and
in TensorFlow 1.15.5."""

import numpy as np


def weights(tf, *shape, seed=0):
    return tf.Variable(np.random.RandomState(seed).randn(*shape).astype(np.float32) * 0.5)


def floats(tf, *shape, name="x"):
    return tf.placeholder(tf.float32, shape, name=name)


def unary(function, shape=(2, 3)):
    def build(tf):
        x = floats(tf, *shape)
        return [x], [tf.identity(function(tf, x), name="y")]

    return build


def binary(function, left=(2, 3), right=(2, 3), dtype="float32"):
    def build(tf):
        a, b = tf.placeholder(dtype, left, name="a"), tf.placeholder(dtype, right, name="b")
        return [a, b], [tf.identity(function(tf, a, b), name="y")]

    return build


def both(function, dtype="float32", shape=(2, 3)):
    """Several outputs."""

    def build(tf):
        x = tf.placeholder(dtype, shape, name="x")
        outputs = function(tf, x)
        return [x], [tf.identity(t, name=f"y{i}") for i, t in enumerate(outputs)]

    return build


IMAGE = (1, 6, 6, 4)
ELEMENTWISE = [
    "exp",
    "sqrt",
    "rsqrt",
    "square",
    "abs",
    "sin",
    "cos",
    "floor",
    "ceil",
    "tanh",
    "sigmoid",
    "log",
    "zeros_like",
    "negative",
    "round",
]
NEURAL = ["relu", "relu6", "elu", "leaky_relu", "softmax", "log_softmax"]
ARITHMETIC = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "floordiv",
    "floormod",
    "pow",
    "maximum",
    "minimum",
    "squared_difference",
]
COMPARISONS = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]
REDUCTIONS = ["reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"]

MODELS = {
    **{name: unary(lambda tf, x, name=name: getattr(tf, name)(x)) for name in ELEMENTWISE},
    **{name: unary(lambda tf, x, name=name: getattr(tf.nn, name)(x)) for name in NEURAL},
    **{name: binary(lambda tf, a, b, name=name: getattr(tf, name)(a, b)) for name in ARITHMETIC + COMPARISONS},
    **{f"{name} broadcast": binary(lambda tf, a, b, name=name: getattr(tf, name)(a, b), (2, 3, 4), (4,)) for name in ARITHMETIC[:4]},
    **{f"{name} ints": binary(lambda tf, a, b, name=name: getattr(tf, name)(a, b), dtype="int32") for name in ("add", "subtract", "multiply", "maximum", "floormod")},
    **{name: unary(lambda tf, x, name=name: getattr(tf, name)(x, axis=[1, 2]), (2, 3, 4)) for name in REDUCTIONS},
    **{f"{name} kept": unary(lambda tf, x, name=name: getattr(tf, name)(x, axis=1, keepdims=True), (2, 3, 4)) for name in REDUCTIONS},
    "add and relu": binary(lambda tf, a, b: tf.nn.relu(a + b)),
    "relu_n1_to_1": unary(lambda tf, x: tf.maximum(-1.0, tf.minimum(x, 1.0))),
    "prelu": unary(lambda tf, x: tf.nn.relu(x) + weights(tf, 4) * (-tf.nn.relu(-x)), IMAGE),
    "swish": unary(lambda tf, x: x * tf.sigmoid(x)),
    "hard swish": unary(lambda tf, x: x * tf.nn.relu6(x + 3.0) / 6.0),
    "multiply by one constant": unary(lambda tf, x: x * 2.0 + 1.0),
    "dense": unary(lambda tf, x: tf.nn.relu(tf.matmul(x, weights(tf, 3, 5)) + weights(tf, 5))),
    "dense without bias": unary(lambda tf, x: tf.matmul(x, weights(tf, 3, 5))),
    "dense transposed": unary(lambda tf, x: tf.matmul(x, weights(tf, 5, 3), transpose_b=True)),
    "dense after flatten": unary(lambda tf, x: tf.nn.bias_add(tf.matmul(tf.reshape(x, [-1, 144]), weights(tf, 144, 5)), weights(tf, 5)), IMAGE),
    "dense and scale": unary(lambda tf, x: (tf.matmul(x, weights(tf, 3, 5)) + weights(tf, 5)) * weights(tf, 5, seed=2)),
    "matmul of two": binary(lambda tf, a, b: tf.matmul(a, b), (2, 3), (3, 4)),
    "batch matmul": binary(lambda tf, a, b: tf.matmul(a, b), (2, 2, 3), (2, 3, 4)),
    "batch matmul by a constant": unary(lambda tf, x: tf.matmul(x, weights(tf, 2, 3, 5)), (2, 4, 3)),
    "conv": unary(lambda tf, x: tf.nn.conv2d(x, weights(tf, 3, 3, 4, 5), [1, 2, 2, 1], "SAME"), IMAGE),
    "conv valid bias relu6": unary(lambda tf, x: tf.nn.relu6(tf.nn.bias_add(tf.nn.conv2d(x, weights(tf, 3, 2, 4, 5), [1, 1, 1, 1], "VALID"), weights(tf, 5))), IMAGE),
    "conv dilated": unary(lambda tf, x: tf.nn.conv2d(x, weights(tf, 3, 3, 4, 5), [1, 1, 1, 1], "VALID", dilations=[1, 2, 2, 1]), IMAGE),
    "atrous conv": unary(lambda tf, x: tf.nn.atrous_conv2d(x, weights(tf, 3, 3, 4, 5), 2, "SAME"), IMAGE),
    "conv and batch norm": unary(lambda tf, x: tf.nn.relu(_batch_norm(tf, tf.nn.conv2d(x, weights(tf, 3, 3, 4, 5), [1, 1, 1, 1], "SAME"), 5)), IMAGE),
    "depthwise": unary(lambda tf, x: tf.nn.depthwise_conv2d(x, weights(tf, 3, 3, 4, 2), [1, 1, 1, 1], "SAME"), IMAGE),
    "depthwise and batch norm": unary(lambda tf, x: tf.nn.relu6(_batch_norm(tf, tf.nn.depthwise_conv2d(x, weights(tf, 3, 3, 4, 1), [1, 2, 2, 1], "SAME"), 4)), IMAGE),
    "separable": unary(lambda tf, x: tf.nn.separable_conv2d(x, weights(tf, 3, 3, 4, 1), weights(tf, 1, 1, 4, 5), [1, 1, 1, 1], "VALID"), IMAGE),
    "batch norm": unary(lambda tf, x: _batch_norm(tf, x, 4), IMAGE),
    "batch norm by hand": unary(lambda tf, x: tf.nn.batch_normalization(tf.nn.conv2d(x, weights(tf, 1, 1, 4, 4), [1, 1, 1, 1], "SAME"), weights(tf, 4), tf.square(weights(tf, 4)), weights(tf, 4, seed=1), weights(tf, 4, seed=2), 1e-3), IMAGE),
    "conv transpose": unary(lambda tf, x: tf.nn.conv2d_transpose(x, weights(tf, 3, 3, 5, 4), [1, 12, 12, 5], [1, 2, 2, 1], "SAME"), IMAGE),
    "conv transpose with bias": unary(lambda tf, x: tf.nn.bias_add(tf.nn.conv2d_transpose(x, weights(tf, 3, 3, 5, 4), [1, 13, 13, 5], [1, 2, 2, 1], "VALID"), weights(tf, 5)), IMAGE),
    "max pool": unary(lambda tf, x: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), IMAGE),
    "average pool": unary(lambda tf, x: tf.nn.avg_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"), IMAGE),
    "global average": unary(lambda tf, x: tf.reduce_mean(x, [1, 2]), IMAGE),
    "softmax of images": unary(lambda tf, x: tf.nn.softmax(x), IMAGE),
    "softmax scaled": unary(lambda tf, x: tf.nn.softmax(x * 2.0)),
    "l2 normalize": unary(lambda tf, x: tf.nn.l2_normalize(x, -1)),
    "lrn": unary(lambda tf, x: tf.nn.local_response_normalization(x, 2, 1.0, 0.1, 0.75), IMAGE),
    "reshape": unary(lambda tf, x: tf.reshape(x, [3, -1])),
    "reshape by its shape": unary(lambda tf, x: tf.reshape(x, [tf.shape(x)[0], -1]), IMAGE),
    "flatten": unary(lambda tf, x: tf.layers.flatten(x), IMAGE),
    "squeeze": unary(lambda tf, x: tf.squeeze(x, [1]), (2, 1, 3, 1)),
    "expand dims": unary(lambda tf, x: tf.expand_dims(x, 1)),
    "transpose": unary(lambda tf, x: tf.transpose(x, [2, 0, 1]), (2, 3, 4)),
    "concat": binary(lambda tf, a, b: tf.concat([a, b, a], 1)),
    "concat with a constant": unary(lambda tf, x: tf.concat([x, np.ones([2, 2], np.float32)], 1)),
    "split": both(lambda tf, x: tf.split(x, 2, 1), shape=(2, 4)),
    "split by sizes": both(lambda tf, x: tf.split(x, [1, 3], 1), shape=(2, 4)),
    "pad": unary(lambda tf, x: tf.pad(x, [[1, 0], [2, 1]])),
    "pad with a value": unary(lambda tf, x: tf.pad(x, [[1, 0], [2, 1]], constant_values=2.0)),
    "mirror pad": unary(lambda tf, x: tf.pad(x, [[1, 0], [2, 1]], "REFLECT")),
    "symmetric pad": unary(lambda tf, x: tf.pad(x, [[1, 0], [2, 1]], "SYMMETRIC")),
    "slice": unary(lambda tf, x: tf.slice(x, [0, 1], [2, -1])),
    "strided slice": unary(lambda tf, x: x[:, ::2]),
    "indexing": unary(lambda tf, x: x[1, :, 2:], (2, 3, 4)),
    "a row": unary(lambda tf, x: x[1]),
    "new axis": unary(lambda tf, x: x[..., 1, tf.newaxis, ::-2], (2, 3, 4)),
    "reversed": unary(lambda tf, x: x[:, ::-1]),
    "gather": unary(lambda tf, x: tf.gather(x, [2, 0], axis=1)),
    "gather_nd": unary(lambda tf, x: tf.gather_nd(x, [[1, 2], [0, 0]])),
    "embedding": both(lambda tf, x: [tf.nn.embedding_lookup(weights(tf, 10, 4), x)], dtype="int32"),
    "tile": unary(lambda tf, x: tf.tile(x, [2, 3])),
    "pack": binary(lambda tf, a, b: tf.stack([a, b], 1)),
    "unpack": both(lambda tf, x: tf.unstack(x, axis=1)),
    "argmax": unary(lambda tf, x: tf.argmax(x, 1)),
    "argmin": unary(lambda tf, x: tf.argmin(x, 1, output_type=tf.int32)),
    "one hot": both(lambda tf, x: [tf.one_hot(x, 4, 2.0, -1.0)], dtype="int32"),
    "top k": both(lambda tf, x: list(tf.nn.top_k(x, 2))),
    "cast": unary(lambda tf, x: tf.cast(x, tf.int32)),
    "cast from ints": both(lambda tf, x: [tf.cast(x, tf.float32)], dtype="int32"),
    "logical": binary(lambda tf, a, b: tf.logical_or(tf.logical_and(a > 0, b > 0), tf.logical_not(a > b))),
    "reduce any": unary(lambda tf, x: tf.reduce_any(x > 0.5, 1)),
    "where": binary(lambda tf, a, b: tf.where(a > b, a, b)),
    "where rows": binary(lambda tf, a, b: tf.where(tf.constant([True, False]), a, b)),
    "indices where": unary(lambda tf, x: tf.where(x > 0.0)),
    "resize bilinear": unary(lambda tf, x: tf.image.resize_bilinear(x, [9, 11]), IMAGE),
    "resize bilinear aligned": unary(lambda tf, x: tf.image.resize_bilinear(x, [9, 11], align_corners=True), IMAGE),
    "resize nearest": unary(lambda tf, x: tf.image.resize_nearest_neighbor(x, [12, 3]), IMAGE),
    "space to depth": unary(lambda tf, x: tf.space_to_depth(x, 2), IMAGE),
    "depth to space": unary(lambda tf, x: tf.depth_to_space(x, 2), IMAGE),
    "space to batch": unary(lambda tf, x: tf.space_to_batch_nd(x, [2, 3], [[0, 0], [1, 2]]), IMAGE),
    "batch to space": unary(lambda tf, x: tf.batch_to_space_nd(x, [2, 2], [[0, 1], [1, 0]]), (4, 3, 3, 2)),
    "reverse": unary(lambda tf, x: tf.reverse(x, [1])),
    "reverse sequence": unary(lambda tf, x: tf.reverse_sequence(x, tf.constant([2, 3]), seq_axis=1, batch_axis=0), (2, 3, 4)),
    "range": both(lambda tf, x: [tf.range(0, x, 2)], dtype="int32", shape=()),
    "fill": both(lambda tf, x: [tf.fill(x, 3.0)], dtype="int32", shape=(2,)),
    "add_n": binary(lambda tf, a, b: tf.add_n([a, b, a])),
    "scatter_nd": unary(lambda tf, x: tf.scatter_nd([[1], [3]], x, [5, 3])),
    "matrix diag": unary(lambda tf, x: tf.matrix_diag(x)),
    "sparse to dense": unary(lambda tf, x: tf.sparse_to_dense([[0, 1], [2, 0]], [3, 4], x[0, :2], 0.5)),
    "unique": both(lambda tf, x: list(tf.unique(x)), dtype="int32", shape=(6,)),
    "lstm unrolled": unary(lambda tf, x: tf.nn.static_rnn(tf.nn.rnn_cell.BasicLSTMCell(4), tf.unstack(x, axis=1), dtype=tf.float32)[0][-1], (1, 3, 5)),
    "identity alone": unary(lambda tf, x: x),
    "two uses of one constant": both(lambda tf, x: [x + w for w in [weights(tf, 3)] for _ in range(2)]),
}  # fmt: skip


def _batch_norm(tf, x, depth):
    return tf.nn.fused_batch_norm(
        x,
        weights(tf, depth, seed=1),
        weights(tf, depth, seed=2),
        mean=weights(tf, depth, seed=3),
        variance=tf.square(weights(tf, depth, seed=4)),
        is_training=False,
    )[0]


def feeds(inputs, seed=7):
    """Values for a model's inputs: positive enough for logarithms where floats, small where ints."""
    rng = np.random.RandomState(seed)
    made = []
    for t in inputs:
        shape = [1 if d is None else d for d in t.shape.as_list()]
        if t.dtype.as_numpy_dtype in (np.int32, np.int64):
            made.append(np.asarray(rng.randint(1, 6, shape), t.dtype.as_numpy_dtype))
        else:
            made.append(np.asarray(rng.uniform(-1.0, 3.0, shape), np.float32))
    return made
