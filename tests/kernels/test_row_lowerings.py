"""Gathers, scatters and updates of rows as machine code beside the kernels, bit for bit, and errors as theirs."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.framework import dtypes
from everflow.kernels import registry, training
from everflow.kernels.state import ResourceVariable
from everflow.native import lowering
from everflow.native.values import Checked, input_value
from tests.kernels.test_training_lowerings import SCALARS
from tests.native.expressions import compiled

registry.load_all()
RANDOM = np.random.RandomState(0)
SPARSE = [
    (name, {attribute: value} if attribute else {})
    for name, (_, _, _, attribute) in training._RULES.items()
    if lowering.find(f"ResourceSparseApply{name}") is not None
    for value in ([False, True] if attribute else [None])
]


def lowered(op_type: str, inputs: list, **attributes):
    found = lowering.find(op_type)
    values = [x if i in found.known else input_value(i, x.dtype, x.shape) for i, x in enumerate(inputs)]
    results = found.function(*values, **attributes)
    assert isinstance(results, Checked)
    return values, results


def of_kernel(op_type: str, held: list, others: list, **attributes) -> list[np.ndarray]:
    variables = []
    for array in held:
        variables.append(ResourceVariable(dtypes.as_dtype(array.dtype)))
        variables[-1].assign(torch.from_numpy(array.copy()))
    registry.function_of(op_type)(*variables, *(torch.from_numpy(np.asarray(x)) for x in others), **attributes)
    return [v.value.numpy() for v in variables]


@pytest.mark.parametrize("shape, axis", [([7], 0), ([7, 4], 0), ([7, 4], 1), ([3, 5, 2, 4], 2), ([30, 70], -2)])
@pytest.mark.parametrize("indices", [(), (5,), (2, 3)])
@pytest.mark.parametrize("dtype", ["f4", "i8", "bool"])
def test_gathers(shape, axis, indices, dtype):
    table = RANDOM.randint(0, 2, shape).astype(dtype)
    at = RANDOM.randint(0, shape[axis], indices).astype("i4")
    _, [value] = lowered("GatherV2", [table, at, np.array(axis)], batch_dims=0)
    np.testing.assert_array_equal(compiled([value], [table, at])[0], np.take(table, at, axis))


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_gathers_of_several_axes(depth):
    table = RANDOM.randn(3, 4, 5).astype("f4")
    at = np.stack([RANDOM.randint(0, n, [2, 6]) for n in table.shape[:depth]], -1)
    _, results = lowered("GatherNd", [table, at])
    np.testing.assert_array_equal(compiled([results[0]], [table, at])[0], table[tuple(np.moveaxis(at, -1, 0))])
    assert compiled([results.condition], [table, at])[0].all()
    at[1, 2, depth - 1] = table.shape[depth - 1]
    assert compiled([results.condition], [table, at])[0].sum() == 11


@pytest.mark.parametrize("how", ["Add", "Sub", "Mul", "Update"])
@pytest.mark.parametrize("width", [[], [3], [4, 16], [1]])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_scatters_change_a_row_that_comes_twice_twice(how, width, dtype):
    held = (RANDOM.randn(9, *width) * 9).astype(dtype)
    at = np.array([2, 7, 2, 0, 2, 8, 7])
    updates = (RANDOM.randn(7, *width) * 9).astype(dtype)
    values, results = lowered(f"ResourceScatter{how}", [held, at, updates])
    *_, got = compiled([], [held, at, updates], 2, [(results[0], values[0])])
    np.testing.assert_array_equal(got, of_kernel(f"ResourceScatter{how}", [held], [at, updates])[0])


def test_a_scatter_of_one_number():
    held, at = np.ones([5, 2], "f4"), np.array([3, 3, 1])
    values, results = lowered("ScatterAdd", [held, at, np.array(2.0, "f4")])
    [got] = compiled([], [held, at, np.array(2.0, "f4")], updates=[(results[0], values[0])])
    assert got[:, 0].tolist() == [1, 3, 1, 5, 1]


@pytest.mark.parametrize("name, attributes", SPARSE, ids=[f"{n}{list(a.values())}" for n, a in SPARSE])
@pytest.mark.parametrize("width", [[], [20]])
def test_a_rule_for_rows_says_what_its_kernel_does(name, attributes, width):
    _, slots, rest, _ = training._RULES[name]
    at = np.array([4, 1, 4, 4, 2])
    held = [RANDOM.rand(6, *width) * 0.1 + 0.5 for _ in range(slots)]
    others = []
    for n in rest.split():
        others += [RANDOM.randn(5, *width), at] if n in ("grad", "delta") else [np.array(SCALARS[n])]
    values, results = lowered(f"ResourceSparseApply{name}", held + others, **attributes)
    got = compiled([], held + others, updates=list(zip(results, values, strict=False)))
    wanted = of_kernel(f"ResourceSparseApply{name}", held, others, **attributes)
    assert len(got) == slots
    for value, expected in zip(got, wanted, strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-12)


@pytest.mark.parametrize("given", [{"updates": [3, 2]}, {"updates": [4, 3]}, {"held": []}])
def test_other_shapes_are_the_kernels_to_refuse(given):
    held = input_value(0, "f4", given.get("held", [5, 2]))
    at, updates = input_value(1, "i4", [4]), input_value(2, "f4", given.get("updates", [4]))
    assert lowering.find("ScatterAdd").function(held, at, updates) is None


# --- in programs ----------------------------------------------------------------------------------


def trained(mode: int, resource: bool, make) -> list[np.ndarray]:
    """A table and its loss after some steps on rows of it."""
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = mode
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        start = tf.constant(np.linspace(-1, 1, 60).reshape(20, 3), tf.float32)
        table = tf.get_variable("table", initializer=start, use_resource=resource)
        at = tf.placeholder(tf.int32, [6])
        loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, at)) * tf.constant([[1.0, 2.0, 3.0]]))
        train = make().minimize(loss)
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, train], {at: [3, i, 19, 3, 3, 0]})[0] for i in range(5)]
        before = sess.run(table)
        with pytest.raises(tf.errors.InvalidArgumentError, match="20"):
            sess.run(train, {at: [1, 2, 20, 3, 4, 5]})
        np.testing.assert_array_equal(sess.run(table), before)
        return [*losses, before]


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.train.GradientDescentOptimizer(0.01),
        lambda: tf.train.AdagradOptimizer(0.01),
        lambda: tf.train.MomentumOptimizer(0.01, 0.9),
        lambda: tf.train.AdamOptimizer(0.01),
        lambda: tf.train.FtrlOptimizer(0.01),
    ],
    ids=["descent", "adagrad", "momentum", "adam", "ftrl"],
)
def test_training_of_rows(resource, make):
    """Rows hold the same bits; the order of the sum that the loss is stays open."""
    *losses, ours = trained(1, resource, make)
    *wanted, kernels = trained(-1, resource, make)
    np.testing.assert_allclose(losses, wanted, rtol=2e-6)
    np.testing.assert_array_equal(ours, kernels)


@pytest.mark.parametrize("resource", [False, True])
def test_as_many_rows_as_there_are(resource):
    """How many is not known when the plan is made."""
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = 1
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        table = tf.get_variable("table", initializer=tf.zeros([7, 3]), use_resource=resource)
        at, rows = tf.placeholder(tf.int32, [5]), tf.placeholder(tf.float32, [5, 3])
        chosen = at >= 0
        add = tf.scatter_add(table, tf.boolean_mask(at, chosen), tf.boolean_mask(rows, chosen))
        sess.run(tf.global_variables_initializer())
        expected = np.zeros([7, 3], "f4")
        for given in ([1, -1, 1, 6, -1], [-1] * 5, [0, 1, 2, 3, 4], [-1, -1, -1, -1, 5]):
            new = RANDOM.randint(-9, 9, [5, 3])
            np.add.at(expected, [i for i in given if i >= 0], new[np.array(given) >= 0])
            sess.run(add.op, {at: given, rows: new})
            np.testing.assert_array_equal(sess.run(table), expected)
        with pytest.raises(tf.errors.InvalidArgumentError, match="7"):
            sess.run(add.op, {at: [1, 2, 7, -1, 3], rows: np.ones([5, 3])})
        np.testing.assert_array_equal(sess.run(table), expected)


@pytest.mark.parametrize("mode", [-1, 1])
def test_rows_round_in_the_order_that_tensorflow_has_there(mode):
    """Which is another than for whole variables."""
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = mode
    start, grad = RANDOM.randn(4, 33).astype("f4"), RANDOM.randn(4, 33).astype("f4")
    rate, kept, one = np.float32(0.013), np.float32(0.9), np.float32(1.0)
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        names = ["v", "accum", "w", "ms", "mom"]
        v, accum, w, ms, mom = (tf.get_variable(name, initializer=start) for name in names)
        scalars = [tf.constant(x) for x in (rate, kept)]
        sess.run(tf.global_variables_initializer())
        sess.run(
            [
                tf.raw_ops.SparseApplyMomentum(
                    var=v._ref(), accum=accum._ref(), lr=scalars[0], grad=grad, indices=[3, 2, 1, 0], momentum=scalars[1],
                    use_nesterov=True,
                ).op,
                tf.raw_ops.SparseApplyRMSProp(
                    var=w._ref(), ms=ms._ref(), mom=mom._ref(), lr=scalars[0], rho=scalars[1], momentum=scalars[1],
                    epsilon=1e-10, grad=grad, indices=[3, 2, 1, 0],
                ).op,
            ]
        )  # fmt: skip
        grad = grad[::-1]
        accumulated = start * kept + grad
        np.testing.assert_array_equal(sess.run(accum), accumulated)
        np.testing.assert_array_equal(sess.run(v), start - (grad * rate + accumulated * (kept * rate)))
        np.testing.assert_array_equal(sess.run(ms), start * kept + grad * grad * (one - kept))
