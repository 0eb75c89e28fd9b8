"""Each rewrite fires where it should, keeps values, and can be switched off."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.protos.rewriter_config_pb2 import RewriterConfig
from everflow.runtime.plan.verify import verify


def config(**switches):
    return tf.ConfigProto(graph_options=tf.GraphOptions(rewrite_options=RewriterConfig(**switches)))


PLAIN = config(disable_meta_optimizer=True)


def plans(fetch, feeds=(), **switches):
    """(changes with rules on, changes with the given switches)."""
    fetches = fetch if isinstance(fetch, list) else [fetch]
    with tf.Session() as on, tf.Session(config=config(**switches)) as off:
        return on._executor.compile(fetches, list(feeds)).changes, off._executor.compile(fetches, list(feeds)).changes


def same_values(fetch, feed=None):
    with tf.Session() as on, tf.Session(config=PLAIN) as off:
        for a, b in zip(on.run(fetch, feed), off.run(fetch, feed), strict=True):
            np.testing.assert_array_equal(a, b)


def folded():
    x = tf.placeholder(tf.float32, [2])
    three = raw.AddV2(x=tf.constant([1.0, 1.0]), y=tf.constant(2.0))
    return raw.Mul(x=x, y=raw.Identity(input=three)), x


def repeated():
    x = tf.placeholder(tf.float32, [2])
    return raw.AddV2(x=raw.Exp(x=x), y=raw.Exp(x=x)), x


def neutral():
    x = tf.placeholder(tf.float32, [2])
    return raw.Exp(x=raw.Sub(x=raw.Mul(x=x, y=tf.constant(1.0)), y=tf.constant(0.0))), x


def factors():
    x = tf.placeholder(tf.float32, [2])
    return raw.Neg(x=raw.Mul(x=tf.constant([0.5, 0.25]), y=raw.Mul(x=x, y=tf.constant(2.0)))), x


def shaped():
    x = tf.placeholder(tf.float32, [2])
    return raw.Reshape(tensor=x, shape=raw.Shape(input=x)), x


def unchanged():
    x = tf.placeholder(tf.float32, [2])
    summed = raw.Sum(raw.Reshape(tensor=raw.Exp(x=x), shape=tf.constant([2, 1])), tf.constant([1]))
    return raw.Neg(x=raw.Reshape(tensor=summed, shape=tf.constant([2]))), x


def sliced():
    x = tf.placeholder(tf.float32, [2])
    product = raw.MatMul(
        a=raw.Reshape(tensor=x, shape=tf.constant([1, 2])), b=tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    )
    return raw.Slice(input=product, begin=[0, 1], size=[-1, 2]), x


def biased():
    x = tf.placeholder(tf.float32, [2])
    product = raw.MatMul(
        a=raw.Reshape(tensor=x, shape=tf.constant([1, 2])), b=tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    )
    return raw.BiasAdd(value=product, bias=tf.constant([1.0, 2.0, 3.0])), x


def summed_products():
    x = tf.placeholder(tf.float32, [2])
    rows = [raw.Reshape(tensor=raw.Mul(x=x, y=tf.constant(k)), shape=tf.constant([1, 2])) for k in (1.0, 2.0, 4.0)]
    return raw.AddN(inputs=[raw.MatMul(a=r, b=r, transpose_a=True) for r in rows]), x


def summed_rows():
    x = tf.placeholder(tf.float32, [2])
    rows = [raw.Reshape(tensor=raw.Mul(x=x, y=tf.constant(k)), shape=tf.constant([1, 2])) for k in (1.0, 2.0, 4.0)]
    return raw.AddN(inputs=[raw.BiasAddGrad(out_backprop=r) for r in rows]), x


def summed_slices():
    x = tf.placeholder(tf.float32, [2])
    table = raw.Reshape(tensor=raw.Exp(x=x), shape=tf.constant([1, 2]))
    pieces = [table[:, 0], table[:, 1], table[:, ::2][:, 0], table[0]]
    return tf.gradients([raw.Square(x=p) for p in pieces], table)[0], x


def with_scaled():
    x = tf.placeholder(tf.float32, [2])
    return raw.Sub(
        x=raw.AddV2(x=raw.Mul(x=x, y=tf.constant(2.0)), y=tf.constant(1.0)), y=raw.Mul(x=tf.constant(0.5), y=x)
    ), x


def with_product():
    x = tf.placeholder(tf.float32, [2])
    return raw.AddV2(
        x=raw.Mul(x=raw.Neg(x=x), y=tf.constant([2.0, 4.0])), y=raw.Reshape(tensor=x, shape=tf.constant([1, 2]))
    ), x


def copied():
    x = tf.placeholder(tf.float32, [2])
    return raw.Exp(x=raw.Identity(input=raw.StopGradient(input=raw.Neg(x=x)))), x


@pytest.mark.parametrize(
    ("build", "rule", "switch"),
    [
        (copied, "copies", "dependency_optimization"),
        (sliced, "columns of a product", "arithmetic_optimization"),
        (biased, "product with bias", "remapping"),
        (summed_products, "sum of products", "arithmetic_optimization"),
        (summed_rows, "sum of products", "arithmetic_optimization"),
        (summed_slices, "sum of slices", "arithmetic_optimization"),
        (with_scaled, "scaled sums", "remapping"),
        (unchanged, "unchanged shapes", "shape_optimization"),
        (folded, "constant folding", "constant_folding"),
        (repeated, "common subexpressions", "arithmetic_optimization"),
        (neutral, "neutral arithmetic", "arithmetic_optimization"),
        (factors, "negated products", "arithmetic_optimization"),
        (shaped, "known shapes", "shape_optimization"),
    ],
)
def test_rules(build, rule, switch):
    y, x = build()
    on, off = plans(y, [x], **{switch: RewriterConfig.OFF})
    assert rule in on and rule not in off
    same_values([y], {x: np.float32([1.5, -0.0])})


def test_all_rules_off():
    y, x = folded()
    for off in (
        PLAIN,
        tf.ConfigProto(
            graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=tf.OptimizerOptions.L0))
        ),
    ):
        with tf.Session(config=off) as sess:
            assert sess._executor.compile([y], [x]).changes == {}


def test_a_fed_constant_is_not_folded():
    c = tf.constant(2.0)
    y = raw.Neg(x=c)
    with tf.Session() as sess:
        assert sess.run(y) == -2.0
        assert sess.run(y, {c: 5.0}) == -5.0


def test_what_fails_when_folded_fails_when_run():
    bad = raw.Reshape(tensor=tf.placeholder_with_default([1.0, 2.0], None), shape=tf.constant([3]))
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="Reshape"):
        sess.run(bad)


def test_large_results_are_not_kept():
    big = raw.Fill(dims=tf.constant([1000, 1000]), value=tf.constant(1.0))
    on, _ = plans(raw.Neg(x=big))
    assert "constant folding" not in on


def test_control_dependencies_of_folded_nodes_stay():
    count = raw.VariableV2(shape=[], dtype=tf.float32)
    init = raw.Assign(ref=count, value=tf.constant(0.0))
    bump = raw.AssignAdd(ref=count, value=tf.constant(1.0))
    with tf.control_dependencies([bump.op]):
        y = raw.Neg(x=tf.constant(3.0))
    with tf.Session() as sess:
        sess.run(init)
        assert [sess.run(y), sess.run(count)] == [-3.0, 1.0]


def test_stateful_ops_are_neither_folded_nor_merged():
    a = raw.RandomUniform(shape=tf.constant([3]), dtype=tf.float32, seed=1)
    b = raw.RandomUniform(shape=tf.constant([3]), dtype=tf.float32, seed=1)
    with tf.Session() as sess:
        first = sess.run([a, b])
        assert not np.array_equal(first[0], sess.run(a))
        np.testing.assert_array_equal(first[0], first[1])


def test_a_neutral_op_on_a_feed_gives_the_caller_an_array_of_its_own():
    x = tf.placeholder(tf.float32, [2])
    y = raw.Mul(x=x, y=tf.constant(1.0))
    mine = np.float32([1, 2])
    with tf.Session() as sess:
        assert sess.run(y, {x: mine}) is not mine


def test_nobody_waits_for_what_has_no_side_effects():
    x = tf.placeholder(tf.float32, [2])
    expensive = raw.Exp(x=raw.Exp(x=x))
    count = raw.VariableV2(shape=[], dtype=tf.float32)
    init = raw.Assign(ref=count, value=tf.constant(0.0))
    with tf.control_dependencies([expensive.op, raw.NoOp(), raw.AssignAdd(ref=count, value=tf.constant(1.0)).op]):
        y = raw.Neg(x=x)
    on, off = plans(y, [x], dependency_optimization=RewriterConfig.OFF)
    assert on == off
    with tf.Session() as sess:
        sess.run(init)
        sess.run(y, {x: [1.0, 2.0]})
        assert sess.run(count) == 1.0
        assert "Exp" not in {n.type for n in sess._executor.compile([y], [x]).program.nodes()}


def test_the_shape_of_a_variable_without_a_value_is_not_known():
    v = raw.VariableV2(shape=[2], dtype=tf.float32)
    handle = raw.VarHandleOp(dtype=tf.float32, shape=[2])
    reads = [raw.Identity(input=v), raw.ReadVariableOp(resource=handle, dtype=tf.float32)]
    reads[1].set_shape([2])
    for value in [*reads, v]:
        size = raw.Size(input=value)
        with tf.Session() as sess:
            with pytest.raises(tf.errors.FailedPreconditionError):
                sess.run(size)
            sess.run(
                [
                    raw.Assign(ref=v, value=tf.constant([1.0, 2.0])).op,
                    raw.AssignVariableOp(resource=handle, value=tf.constant([1.0, 2.0])),
                ]
            )
            assert sess.run(size) == 2


def updates(op_type, count, resource):
    """Variables, their initializers, a feed and the updates of an optimizer."""
    x = tf.placeholder(tf.float32, [3])
    made = []

    def variable(value):
        if resource:
            handle = raw.VarHandleOp(dtype=tf.float32, shape=[3])
            made.append(raw.AssignVariableOp(resource=handle, value=tf.constant([value] * 3)))
            return handle
        ref = raw.VariableV2(shape=[3], dtype=tf.float32)
        made.append(raw.Assign(ref=ref, value=tf.constant([value] * 3)).op)
        return ref

    variables, steps = [], []
    apply = getattr(raw, ("Resource" if resource else "") + op_type)
    rate = tf.constant(0.1)
    for i in range(count):
        v = variable(float(i))
        variables.append(raw.ReadVariableOp(resource=v, dtype=tf.float32) if resource else raw.Identity(input=v))
        gradient = raw.Mul(x=x, y=tf.constant(1.0 + i))
        if op_type == "ApplyAdam":
            step = apply(v, variable(0.0), variable(0.0), rate, rate, rate, rate, rate, rate, gradient)
        else:
            step = apply(v, rate, gradient)
        steps.append(step if resource else step.op)
    return x, made, variables, steps


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("op_type", ["ApplyAdam", "ApplyGradientDescent"])
def test_updates_of_many_variables_are_one(op_type, resource):
    x, init, variables, steps = updates(op_type, 4, resource)
    with tf.control_dependencies(steps):
        done = raw.NoOp()
    on, off = plans([done], [x], scoped_allocator_optimization=RewriterConfig.OFF)
    assert on["joint updates"] == 4 and "joint updates" not in off
    results = []
    for used in (None, PLAIN):
        with tf.Session(config=used) as sess:
            with pytest.raises(tf.errors.OpError):
                sess.run(done, {x: [1.0, 2.0, 3.0]})
            sess.run(init)
            for _ in range(3):
                sess.run(done, {x: [1.0, 2.0, 3.0]})
            results.append(sess.run(variables))
            sess.run(steps, {x: [1.0, 2.0, 3.0]})
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_updates_between_which_somebody_looks_stay_apart():
    x, init, variables, steps = updates("ApplyAdam", 2, False)
    with tf.control_dependencies([steps[0]]):
        seen = raw.Identity(input=raw.Exp(x=variables[0]))
    steps[1]._add_control_input(seen.op)
    assert "joint updates" not in plans([steps[1], seen], [x])[0]


def test_a_product_in_a_sum_is_rounded_once_only_where_that_is_asked_for():
    y, x = with_product()
    on, aggressive = plans(y, [x], remapping=RewriterConfig.AGGRESSIVE)
    assert "contraction" not in on and "contraction" in aggressive
    joined, x = factors()
    on, aggressive = plans(joined, [x], arithmetic_optimization=RewriterConfig.AGGRESSIVE)
    assert "joined factors" not in on and "joined factors" in aggressive
    values = np.float32([1.5, -0.0])
    with tf.Session() as exact, tf.Session(config=config(arithmetic_optimization=RewriterConfig.AGGRESSIVE)) as quick:
        np.testing.assert_allclose(exact.run(joined, {x: values}), quick.run(joined, {x: values}), rtol=1e-6)


def average(resource):
    x = tf.placeholder(tf.float32, [3])
    rate = tf.constant(0.25)
    if resource:
        v = raw.VarHandleOp(dtype=tf.float32, shape=[3])
        init = raw.AssignVariableOp(resource=v, value=tf.constant([1.0, 2.0, 3.0]))
        read = raw.ReadVariableOp(resource=v, dtype=tf.float32)
        read.set_shape([3])
        return x, init, raw.AssignSubVariableOp(resource=v, value=raw.Mul(x=raw.Sub(x=read, y=x), y=rate)), read
    v = raw.VariableV2(shape=[3], dtype=tf.float32)
    init = raw.Assign(ref=v, value=tf.constant([1.0, 2.0, 3.0])).op
    read = raw.Identity(input=v)
    return x, init, raw.AssignSub(ref=v, value=raw.Mul(x=raw.Sub(x=read, y=x), y=rate)).op, v


@pytest.mark.parametrize("resource", [False, True])
def test_moving_averages(resource):
    x, init, move, value = average(resource)
    on, off = plans(move, [x], remapping=RewriterConfig.OFF)
    assert "moving averages" in on and "moving averages" not in off
    with tf.Session() as sess:
        with pytest.raises(tf.errors.OpError):
            sess.run(move, {x: [0.0] * 3})
        sess.run(init)
        for _ in range(2):
            sess.run(move, {x: [0.0, 4.0, 3.0]})
        np.testing.assert_allclose(sess.run(value), [0.5625, 2.875, 3.0], rtol=1e-6)


def test_sums_by_pairs():
    x = tf.placeholder(tf.float32, [2])
    total = raw.AddN(inputs=[raw.Exp(x=x), x, raw.Neg(x=x)])
    on, off = plans(total, [x], arithmetic_optimization=RewriterConfig.OFF)
    assert "sums by pairs" in on and "sums by pairs" not in off
    same_values([total], {x: [1.0, 2.0]})


def test_a_difference_of_equal_products_is_zero():
    x, y = tf.placeholder(tf.float32, [100]), tf.placeholder(tf.float32, [100])
    value = np.linspace(0.1, 7.7, 100).astype(np.float32)
    for same in (x * 0.1 - y * 0.1, x * 0.3 + y * -0.3, x * x - y * y):
        with tf.Session() as sess:
            assert not sess.run(same, {x: value, y: value}).any()


@pytest.mark.parametrize("factor", [2.0, [2.0, 4.0]])
def test_a_product_of_a_variable_is_not_put_off_until_the_variable_is_written(factor):
    v = tf.Variable([1.0, 2.0])
    before = raw.Mul(x=v.value(), y=tf.constant(factor))
    with tf.control_dependencies([tf.assign(v, [100.0, 100.0])]):
        later = raw.Identity(input=tf.constant([1.0, 1.0]))
    total = raw.AddV2(x=later, y=before)
    with tf.Session() as sess:
        sess.run(v.initializer)
        np.testing.assert_array_equal(sess.run(total), np.multiply([1.0, 2.0], factor) + 1)


def test_decay_of_a_weight_is_added_to_its_gradient_in_one_pass():
    w = tf.Variable([[1.0, 2.0]])
    loss = tf.reduce_sum(tf.exp(tf.matmul([[1.0]], w))) + 0.1 * tf.nn.l2_loss(w)
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    with tf.Session() as sess:
        assert sess._executor.compile([train], []).changes["scaled sums"] == 1
        sess.run(w.initializer)
        sess.run(train)
        np.testing.assert_allclose(sess.run(w), [[1 - np.e - 0.1, 2 - np.e**2 - 0.2]], rtol=1e-6)


@pytest.mark.parametrize("batch", [2, None], ids=["shape known in the graph", "shape known from feeds"])
def test_a_random_op_of_a_branch_not_taken_draws_nothing(batch):
    """Its shape may be a constant, but whether it runs is still the branch's matter."""
    x = tf.placeholder(tf.float32, [batch, 3])
    taken = tf.placeholder(tf.bool, [])
    y = tf.cond(taken, lambda: tf.random_uniform(tf.shape(x), seed=7), lambda: x)
    feed = {x: np.ones((2, 3), "float32")}
    with tf.Session() as plain, tf.Session() as mixed:
        expected = [plain.run(y, {**feed, taken: True}) for _ in range(3)]
        for value in expected:
            for _ in range(3):
                np.testing.assert_array_equal(mixed.run(y, {**feed, taken: False}), feed[x])
            np.testing.assert_array_equal(mixed.run(y, {**feed, taken: True}), value)


def test_a_value_that_tells_its_branch_comes_after_what_it_waits_for():
    x = tf.placeholder(tf.float32, [2])
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: raw.Shape(input=x) + tf.cast(x, tf.int32), lambda: tf.constant([0, 0]))
    with tf.Session() as sess:
        plan = sess._executor.compile([y], [x])
        assert plan.changes["known shapes"] == 1
        verify(plan.program)
        assert sess.run(y, {x: [1.0, 2.0]}).tolist() == [3, 4] and sess.run(y, {x: [-1.0, 0.0]}).tolist() == [0, 0]


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_variable_times_a_number_is_scaled_in_place(use_resource):
    v = tf.get_variable(f"v{use_resource}", initializer=[1.0, 2.0], use_resource=use_resource)
    with tf.control_dependencies([tf.assign(v, v * 0.5).op]):
        after = tf.identity(v.read_value() if use_resource else v)
    with tf.Session() as sess:
        assert sess._executor.compile([after], []).changes["scaled variables"] == 1
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(after)
        sess.run(v.initializer)
        assert [sess.run(after).tolist(), sess.run(after).tolist()] == [[0.5, 1.0], [0.25, 0.5]]


@pytest.mark.parametrize(
    ("use_resource", "waits_for"), [(False, "the product"), (True, "the product"), (True, "the value")]
)
def test_what_was_computed_before_another_write_is_not_scaled_in_place(use_resource, waits_for):
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=use_resource)
    value = v.value()
    old = value * 0.5
    with tf.control_dependencies([old if waits_for == "the product" else value]):
        changed = tf.assign(v, [100.0, 100.0])
    with tf.control_dependencies([changed]):
        back = tf.assign(v, old)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(back).tolist() == [0.5, 1.0]


def test_moments_of_embeddings_fade_in_place():
    """Adam on rows of a table, against the same written out."""
    table = np.linspace(-1, 1, 12).reshape(6, 2).astype(np.float32)
    v = tf.Variable(table)
    ids = tf.placeholder(tf.int32, [3])
    train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(tf.square(tf.gather(v, ids))))
    m, s = np.zeros_like(table), np.zeros_like(table)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess._executor.compile([train], [ids]).changes["scaled variables"] == 4  # the powers of both rates, too
        assert sess._executor.compile([train], [ids]).changes["subtracted quotients"] == 1
        for step, chosen in enumerate([[0, 1, 1], [2, 0, 5], [3, 3, 3]], 1):
            slope = np.zeros_like(table)
            for i in chosen:
                slope[i] += 2 * table[i]
            m, s = 0.9 * m + 0.1 * slope, 0.999 * s + 0.001 * slope**2
            table = table - 0.1 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step) * m / (np.sqrt(s) + 1e-8)
            sess.run(train, {ids: chosen})
            np.testing.assert_allclose(sess.run(v), table, rtol=1e-4)
