"""The number of threads never changes bits, but for op types that say so and in plans that then keep to one number.

Every program here runs with one, two and three threads. Its bits are the same, or the facts of a kernel say that they
may differ.
"""

import math

import numpy as np
import pytest

import everflow as tf
from everflow.framework import op_defs
from everflow.kernels import registry
from everflow.kernels.facts import Effect
from everflow.runtime import thread_orders
from everflow.runtime.plan.prune import prune
from tests.kernels.old_graphs import old_graph

pytestmark = pytest.mark.usefixtures("same_threads")

DTYPES = ("float32", "float64", "float16")
SHAPES = ((1000,), (7, 4681), (211, 173), (100003,))  # the second has one value less than a share
REDUCTIONS = {
    "sum": tf.reduce_sum,
    "mean": tf.reduce_mean,
    "product": lambda x, axis: tf.reduce_prod(1.0 + x * 1e-3, axis),
    "max": tf.reduce_max,
    "norm": tf.math.reduce_euclidean_norm,
    "deviation": tf.math.reduce_std,
}
AXES = {
    (1000, 300): ([0], [1], [0, 1]),
    (3, 70001): ([0], [1], [0, 1]),
    (64, 28, 28, 1): ([0, 1, 2], [1, 2], [0, 1, 2, 3]),
    (1, 200000): ([0], [1]),
    (33001,): ([0],),
    (1500003,): ([0],),
}
OPTIMIZERS = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.1),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1),
    "adadelta": lambda: tf.train.AdadeltaOptimizer(0.1),
}


def _numbers(shape, dtype, seed=0, positive=False):
    rng = np.random.default_rng(seed)
    return (rng.random(shape) + 0.05 if positive else rng.standard_normal(shape)).astype(dtype)


def _pair(size):
    return [_numbers((size,), "float32", seed) for seed in (1, 2)]


def _trained(optimizer):
    def build(gradient):
        variable = tf.Variable(tf.ones(gradient.shape, gradient.dtype) * 0.3)
        train = optimizer().apply_gradients([(gradient, variable)])
        first = tf.global_variables_initializer()
        with tf.control_dependencies([train]):
            return [first, [slot.read_value() for slot in tf.global_variables()]]

    return build


def _programs():
    """(name, function that builds on placeholders, the arrays they are fed)."""
    for dtype in DTYPES:
        for shape, all_axes in AXES.items():
            for axes in all_axes:
                for name, reduce in REDUCTIONS.items():
                    yield (
                        f"{name} {dtype} {shape} {axes}",
                        lambda x, f=reduce, axes=axes: f(x, axes),
                        [_numbers(shape, dtype)],
                    )
        for shape in ((500, 30), (40000, 3)):
            x, ids = _numbers(shape, dtype), np.random.default_rng(3).integers(0, 50, shape[0])
            in_order = np.sort(ids)
            yield f"biases {dtype} {shape}", lambda x: tf.raw_ops.BiasAddGrad(out_backprop=x), [x]
            yield f"softmax {dtype} {shape}", tf.nn.softmax, [x]
            yield f"segments {dtype} {shape}", lambda x, i=in_order: [tf.segment_sum(x, i), tf.segment_mean(x, i)], [x]
            yield (
                f"unsorted {dtype} {shape}",
                lambda x, i=ids: [tf.unsorted_segment_sum(x, i, 50), tf.unsorted_segment_max(x, i, 50)],
                [x],
            )
            yield f"scattered {dtype} {shape}", lambda x, i=ids[:, None], n=shape[1]: tf.scatter_nd(i, x, [50, n]), [x]
            yield f"cumsum {dtype} {shape}", tf.cumsum, [x]
        yield (
            f"pooling {dtype}",
            lambda x: _with_gradient(tf.nn.max_pool(x, 3, 2, "SAME"), x),
            [_numbers((16, 28, 28, 8), dtype)],
        )
        yield (
            f"average {dtype}",
            lambda x: _with_gradient(tf.nn.avg_pool(x, 3, 2, "SAME"), x),
            [_numbers((16, 28, 28, 8), dtype)],
        )
        yield f"products {dtype}", tf.matmul, [_numbers((10, 156), dtype), _numbers((156, 33), dtype)]
    for dtype in DTYPES[:2]:
        for name, optimizer in OPTIMIZERS.items():
            yield f"{name} {dtype}", _trained(optimizer), [_numbers((100003,), dtype)]
        yield f"filters {dtype}", _filter_gradient, [_numbers((8, 28, 28, 3), dtype), _numbers((5, 5, 3, 8), dtype)]
    yield "normalization", _normalized, [_numbers((16, 14, 14, 32), "float32")]
    yield "halves of losses", tf.nn.l2_loss, [_numbers((300, 300), "float32")]
    yield "crops", _crop_gradient, [_numbers((40, 20, 20, 8), "float32")]
    yield (
        "complex numbers",
        lambda x, y: [tf.complex(x, y) * tf.complex(y, 1 + x), tf.sign(tf.complex(x, y))],
        _pair(100003),
    )
    yield "draws", lambda: tf.random_normal([100003], seed=3), []


def _with_gradient(y, x):
    return [y, *tf.gradients(tf.square(y), x)]


def _filter_gradient(x, w):
    return tf.gradients(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), w)


def _normalized(x):
    scale = tf.ones([32])
    y, mean, variance = tf.nn.fused_batch_norm(x, scale, scale, is_training=True)
    return [y, mean, variance, *tf.gradients(tf.square(y), x)]


def _crop_gradient(grads):
    boxes = tf.constant([[0.1, 0.1, 0.9, 0.8], [0.0, 0.3, 0.7, 1.0]] * 20)
    return tf.raw_ops.CropAndResizeGradImage(
        grads=grads, boxes=boxes, box_ind=[0] * 40, image_size=[1, 30, 30, 8], T=tf.float32
    )


PROGRAMS = {name: (build, arrays) for name, build, arrays in _programs()}


def _built(build, arrays):
    """(placeholders, what comes before, fetches)"""
    feeds = [tf.placeholder(a.dtype, a.shape) for a in arrays]
    made = build(*feeds)
    first, fetches = made if isinstance(made, list) and isinstance(made[-1], list) else (tf.no_op(), made)
    return feeds, first, fetches if isinstance(fetches, list) else [fetches]


def _bits(build, arrays, count):
    with old_graph().as_default():
        feeds, first, fetches = _built(build, arrays)
        with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=count)) as sess:
            sess.run(first)
            return [np.asarray(value).tobytes() for value in sess.run(fetches, dict(zip(feeds, arrays, strict=True)))]


def _says_it_differs(build, arrays):
    with old_graph().as_default():
        feeds, _, fetches = _built(build, arrays)
        return not thread_orders.may_choose_threads(prune(fetches, feeds).nodes)


@pytest.mark.parametrize("name", PROGRAMS)
def test_bits_do_not_depend_on_threads(name):
    build, arrays = PROGRAMS[name]
    found = [_bits(build, arrays, count) for count in (1, 2, 3)]
    assert found[0] == found[1] == found[2] or _says_it_differs(build, arrays)


# --- element-wise op types, as far as their facts leave the choice ------------------------------------


def _is_elementwise(name) -> bool:
    """Whether results have the shape of the inputs, all of one type, and nothing else has to be told."""
    definition, facts = op_defs.find(name), registry.lookup(name).facts
    if (
        name == "Resampler"
    ):  # takes images and points, which its shapes alone don't tell once tf.contrib has been loaded
        return False
    if definition is None or definition.is_stateful or not definition.inputs or len(definition.outputs) != 1:
        return False
    arguments = definition.inputs + definition.outputs
    types = {a.type_attr for a in arguments}
    if (
        len(types) != 1
        or any(a.is_list or a.is_ref or not a.type_attr for a in arguments)
        or facts.effect not in (None, Effect.PURE)
    ):
        return False
    if any(not a.has_default and a.name not in types for a in definition.attrs):
        return False
    if tf.float32 not in _types(name):
        return False
    with old_graph().as_default():
        try:
            return _drawn(name, tf.float32, (7, 5))[0].shape.as_list() == [7, 5]
        except ValueError:  # shapes that such an op can't take
            return False


def _types(name) -> list:
    definition = op_defs.get(name)
    allowed = definition.attr_by_name[definition.inputs[0].type_attr].allowed
    return [dtype for dtype in map(tf.as_dtype, DTYPES) if not allowed or dtype in allowed]


def _drawn(name, dtype, shape):
    """(result, placeholders)"""
    placeholders = [tf.placeholder(dtype, shape) for _ in op_defs.get(name).inputs]
    return getattr(tf.raw_ops, name)(
        **{a.name: p for a, p in zip(op_defs.get(name).inputs, placeholders, strict=True)}
    ), placeholders


ELEMENTWISE = [
    name for name in registry.names() if _is_elementwise(name) and registry.lookup(name).facts.threads_matter_from != 0
]


def test_element_wise_op_types_are_found():
    assert {"Exp", "Sigmoid", "AddV2", "Pow", "Relu", "SigmoidGrad", "Igamma", "Softmax", "ClipByValue"} <= set(
        ELEMENTWISE
    )
    assert not {"L2Loss", "MatMul", "Cholesky"} & set(
        ELEMENTWISE
    )  # results of other shapes, and what differs at any size


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_element_wise(name):
    """Of all types and of all sizes below the one that is declared."""
    declared, found = registry.lookup(name).facts.threads_matter_from, []
    for count in (1, 2, 3):
        with old_graph().as_default():
            results, feeds = [], {}
            for dtype in _types(name):
                for shape in SHAPES:
                    if declared is None or math.prod(shape) < declared:
                        result, placeholders = _drawn(name, dtype, shape)
                        results.append(result)
                        for seed, placeholder in enumerate(placeholders):
                            feeds[placeholder] = _numbers(shape, dtype.as_numpy_dtype, seed, positive=True)
            assert thread_orders.may_choose_threads(prune(results, list(feeds)).nodes)
            with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=count)) as sess:
                found.append([value.tobytes() for value in sess.run(results, feeds)])
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    "kind",
    [
        "Exp",
        "Sum",
        "Mean",
        "Prod",
        "Max",
        "Cumsum",
        "MaxPool",
        "ApplyAdam",
        "ApplyGradientDescent",
        "AddN",
        "ScatterNd",
    ],
)
def test_what_is_not_declared_may_be_tried(kind):
    assert registry.lookup(kind).facts.threads_matter_from is None
