"""Simplifications: where they hold, where they must not, and that they keep every bit."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.plan.program import IF, VALUE
from tests.runtime.plan.sessions import (
    AGGRESSIVE,
    OFF,
    assert_same_bits,
    compiled,
    config,
    node_of,
    odd_values,
    plain,
    types,
)


def checked():
    made = tf.ConfigProto()
    made.experimental.executor_type = "CHECKED"
    return tf.Session(config=made)


# --- known branches -----------------------------------------------------------------------------


@pytest.mark.parametrize("taken", [True, False])
def test_a_branch_whose_side_is_known_stands_in_line(taken):
    x = tf.placeholder(tf.float32, [2])
    y = tf.cond(tf.constant(taken), lambda: raw.Exp(x=x), lambda: raw.Neg(x=x))
    plan = compiled(y, [x])
    assert plan.changes["known branches"] == 1 and IF not in types(plan)
    assert ("Exp" in types(plan), "Neg" in types(plan)) == (taken, not taken)
    assert "known branches" not in compiled(y, [x], constant_folding=OFF).changes
    with tf.Session() as sess:
        np.testing.assert_allclose(
            sess.run(y, {x: [1.0, 2.0]}), np.exp([1.0, 2.0]) if taken else [-1.0, -2.0], rtol=1e-6
        )


def test_a_predicate_that_is_folded_makes_its_branches_known():
    x = tf.placeholder(tf.float32, [2, 3])
    y = tf.cond(
        tf.equal(tf.rank(x), 2), lambda: tf.cond(tf.shape(x)[0] > 5, lambda: x, lambda: x * 2.0), lambda: x * 3.0
    )
    assert IF not in types(compiled(y, [x]))
    with tf.Session() as sess:
        assert sess.run(y, {x: np.ones((2, 3))}).tolist() == [[2.0] * 3] * 2


def test_writes_of_the_side_that_is_not_taken_go():
    v = tf.Variable(1.0)
    y = tf.cond(tf.constant(False), lambda: tf.assign(v, 5.0), lambda: tf.assign_add(v, 1.0))
    assert "Assign" not in types(compiled(y))
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert [sess.run(y), sess.run(v)] == [2.0, 2.0]


@pytest.mark.parametrize("session", [tf.Session, checked])
def test_branches_that_take_what_an_earlier_one_made_go_together(session):
    x = tf.placeholder(tf.float32, [2])
    otherwise, then = raw.Switch(data=x, pred=tf.constant(False))
    there, not_there = raw.Neg(x=otherwise), raw.Exp(x=then)
    first = raw.Tanh(x=raw.Merge(inputs=[there, not_there])[0])
    second = raw.Merge(inputs=[raw.Abs(x=there), raw.AddV2(x=not_there, y=raw.Tanh(x=not_there))])
    with session() as sess:
        one, (other, index) = sess.run([first, second], {x: [1.0, -2.0]})
        assert sess.run([first.op, second.output.op], {x: [1.0, -2.0]}) == [None, None]
    np.testing.assert_allclose(one, np.tanh([-1.0, 2.0]), rtol=1e-6)
    assert other.tolist() == [1.0, 2.0] and index == 0


@pytest.mark.parametrize("session", [tf.Session, checked, plain])
def test_a_fetch_of_the_side_that_is_never_taken(session):
    x = tf.placeholder(tf.float32, [2])
    otherwise, then = raw.Switch(data=x, pred=tf.constant(True))
    dead, alive = raw.Reshape(tensor=raw.Exp(x=otherwise), shape=tf.constant([2, 1])), raw.Neg(x=then)
    with session() as sess:
        for fetches in ([dead], [alive, dead]):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Retval"):
                sess.run(fetches, {x: [1.0, 2.0]})
        assert sess.run(alive, {x: [1.0, 2.0]}).tolist() == [-1.0, -2.0]
        assert sess.run([alive, dead.op], {x: [1.0, 2.0]})[0].tolist() == [-1.0, -2.0]


def test_a_vector_for_a_predicate_fails_when_it_runs():
    x = tf.placeholder(tf.float32, [])
    merged = raw.Merge(
        inputs=[raw.Neg(x=side) for side in raw.Switch(data=x, pred=tf.placeholder_with_default([True, False], None))]
    )
    constant = raw.Merge(
        inputs=[raw.Neg(x=side) for side in raw.Switch(data=x, pred=tf.placeholder_with_default(True, None))]
    )
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(merged.output, {x: 1.0})
        assert sess.run(constant.output, {x: 1.0}) == -1.0


# --- arithmetic ---------------------------------------------------------------------------------

BINARY = {"mul": raw.Mul, "add": raw.AddV2, "old add": raw.Add, "sub": raw.Sub, "div": raw.RealDiv}


def assert_same_bits_with_and_without(y, feed):
    with tf.Session() as on, plain() as off:
        assert_same_bits(on.run(y, feed), off.run(y, feed))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("op", "constant", "fires"),
    [
        ("mul", 1.0, True), ("div", 1.0, True), ("sub", 0.0, True),
        ("sub", -0.0, False), ("add", 0.0, False), ("add", -0.0, False), ("old add", 0.0, False), ("mul", -1.0, False), ("div", 2.0, False),
    ],
)  # fmt: skip
def test_neutral_arithmetic_keeps_every_bit(op, constant, fires, dtype):
    values = odd_values(dtype)
    x = tf.placeholder(dtype, values.shape)
    y = raw.Reciprocal(x=BINARY[op](x=raw.Neg(x=x), y=tf.constant(constant, dtype)))  # which tells the sign of a zero
    assert ("neutral arithmetic" in compiled(y, [x]).changes) == fires
    assert_same_bits_with_and_without(y, {x: values})


def test_neutral_from_the_left_only_where_the_order_does_not_matter():
    x = tf.placeholder(tf.float32, [2])
    assert "neutral arithmetic" in compiled(raw.Neg(x=raw.Mul(x=tf.constant(1.0), y=x)), [x]).changes
    for other in (raw.Sub(x=tf.constant(0.0), y=x), raw.RealDiv(x=tf.constant(1.0), y=x)):
        assert "neutral arithmetic" not in compiled(other, [x]).changes
        assert_same_bits_with_and_without(other, {x: np.float32([3.0, -0.0])})


def test_whole_numbers_have_one_zero():
    x = tf.placeholder(tf.int32, [2])
    y = raw.Neg(x=raw.AddV2(x=tf.constant(0), y=x))
    assert "AddV2" not in types(compiled(y, [x]))
    with tf.Session() as sess:
        assert sess.run(y, {x: [1, -2]}).tolist() == [-1, 2]


def test_a_neutral_number_that_changes_the_shape_stays():
    x = tf.placeholder(tf.float32, [])
    y = raw.Neg(x=raw.Mul(x=x, y=tf.constant([1.0])))
    assert "neutral arithmetic" not in compiled(y, [x]).changes
    with tf.Session() as sess:
        assert sess.run(y, {x: 2.0}).tolist() == [-2.0]


NEGATED = {
    "-(c x)": lambda x, c: raw.Neg(x=raw.Mul(x=c, y=x)),
    "-(x c)": lambda x, c: raw.Neg(x=raw.Mul(x=x, y=c)),
    "c -x": lambda x, c: raw.Mul(x=c, y=raw.Neg(x=x)),
    "-x c": lambda x, c: raw.Mul(x=raw.Neg(x=x), y=c),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", NEGATED)
@pytest.mark.parametrize("constant", [0.1, -3.0, 0.0, np.inf, "row"])
def test_negated_products_keep_every_bit(form, constant, dtype):
    values = odd_values(dtype)
    x = tf.placeholder(dtype, values.shape)
    c = tf.constant(np.linspace(-1, 1, len(values)) if constant == "row" else constant, dtype)
    y = NEGATED[form](x, c)
    plan = compiled(y, [x])
    assert plan.changes["negated products"] == 1 and "Neg" not in types(plan)
    assert_same_bits_with_and_without(y, {x: values})


def test_products_that_somebody_else_takes_or_of_whole_numbers_are_not_negated():
    x = tf.placeholder(tf.float32, [2])
    product = raw.Mul(x=x, y=tf.constant(3.0))
    assert "negated products" not in compiled([raw.Neg(x=product), product], [x]).changes
    n = tf.placeholder(tf.int32, [2])
    assert "negated products" not in compiled(raw.Neg(x=raw.Mul(x=n, y=tf.constant(3))), [n]).changes


def test_factors_are_joined_only_where_that_is_asked_for():
    x = tf.placeholder(tf.float32, [32])
    y = raw.Mul(x=tf.constant(0.1), y=raw.Mul(x=raw.Mul(x=x, y=tf.constant(0.3)), y=tf.constant(0.7)))
    exact, quick = compiled(y, [x]), compiled(y, [x], arithmetic_optimization=AGGRESSIVE)
    assert "joined factors" not in exact.changes and types(exact).count("Mul") == 3
    assert quick.changes["joined factors"] == 2 and types(quick).count("Mul") == 1
    assert_same_bits_with_and_without(y, {x: odd_values()})
    with tf.Session() as one, tf.Session(config=config(arithmetic_optimization=AGGRESSIVE)) as other:
        values = np.linspace(-3, 3, 32).astype(np.float32)
        np.testing.assert_allclose(one.run(y, {x: values}), other.run(y, {x: values}), rtol=1e-6)


# --- shapes -------------------------------------------------------------------------------------


def test_of_several_reshapes_one_is_left():
    x = tf.placeholder(tf.float32, [2, 6])
    y = raw.Exp(x=x)
    for shape in ([12], [3, 4], [12, 1], [4, 3]):
        y = raw.Reshape(tensor=y, shape=tf.constant(shape))
    there = raw.Neg(x=y)
    back = raw.Neg(x=raw.Reshape(tensor=tf.squeeze(tf.expand_dims(y, 0), [0]), shape=tf.constant([2, 6])))
    plan = compiled(there, [x])
    assert types(plan).count("Reshape") == 1 and plan.changes["unchanged shapes"] >= 3
    plan = compiled(back, [x])
    assert not {"Reshape", "Squeeze", "ExpandDims"} & set(types(plan))
    values = np.linspace(0, 1, 12).reshape(2, 6)
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(there, {x: values}), -np.exp(values).reshape(4, 3), rtol=1e-6)
        np.testing.assert_allclose(sess.run(back, {x: values}), -np.exp(values), rtol=1e-6)


def test_reshapes_of_unknown_shapes_stay_and_fail_when_they_run():
    x = tf.placeholder(tf.float32, [None])
    y = raw.Reshape(tensor=raw.Reshape(tensor=x, shape=tf.constant([2, 3])), shape=tf.constant([3, 2]))
    with tf.Session() as sess:
        assert sess.run(y, {x: np.arange(6)}).shape == (3, 2)
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(y, {x: np.arange(7)})
    v = tf.placeholder(tf.float32, [1, 3])
    empty_sum = raw.Sum(v, tf.constant([0]))
    assert types(compiled(raw.Neg(x=empty_sum), [v])).count("Sum") == 1  # the shape is another, though no value is


def test_a_sum_over_nothing_is_its_input_and_one_over_an_empty_side_is_not():
    x = tf.placeholder(tf.float32, [2, 3])
    y = raw.Neg(x=raw.Sum(x, tf.constant([], tf.int32)))
    assert "Sum" not in types(compiled(y, [x]))
    empty = tf.placeholder(tf.float32, [0, 3])
    total = raw.Neg(x=raw.Reshape(tensor=raw.Prod(empty, tf.constant([0])), shape=tf.constant([3])))
    with tf.Session() as sess:
        assert sess.run(total, {empty: np.zeros((0, 3))}).tolist() == [-1.0] * 3


def test_reshapes_of_a_ref_variable_keep_the_time_of_their_reading():
    v = tf.Variable([1.0, 2.0])
    old = raw.Reshape(tensor=raw.Mul(x=v.value(), y=tf.constant(1.0)), shape=tf.constant([2]))
    with tf.control_dependencies([old]):
        written = tf.assign(v, [5.0, 6.0])
    with tf.control_dependencies([written]):
        late = raw.Neg(x=old)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(late).tolist() == [-1.0, -2.0]


def test_known_shapes_of_a_branch_are_constants():
    x = tf.placeholder(tf.float32, [3, 4])
    plan = compiled([tf.shape(x), tf.size(x), tf.rank(x), *tf.shape_n([x, x])], [x], constant_folding=OFF)
    assert set(types(plan)) <= {"_Feed", VALUE, "Const"}
    wide = tf.placeholder(tf.float32, [None, 4])
    plan = compiled([raw.Rank(input=wide), raw.Size(input=wide)], [wide])
    assert "Rank" not in types(plan) and node_of(plan, "Size").inputs[0][0].type == "_Feed"


# --- constants ----------------------------------------------------------------------------------


def test_what_is_large_random_stateful_or_fails_is_not_folded():
    count = 1 << 17
    large = raw.Neg(x=raw.Fill(dims=tf.constant([count]), value=tf.constant(1.0)))
    assert "Fill" in types(compiled(large))
    drawn = raw.RandomUniform(shape=tf.constant([3]), dtype=tf.float32)
    assert "RandomUniform" in types(compiled(drawn))
    fails = raw.Gather(params=tf.constant([1.0]), indices=tf.constant([3]))
    assert "Gather" in types(compiled(fails))
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(fails)


def test_folded_numbers_too_small_for_full_precision_are_zero_as_in_a_run():
    tiny = tf.constant(np.finfo(np.float32).tiny)
    halved = raw.Mul(x=raw.Mul(x=tiny, y=tf.constant(0.5)), y=tf.constant(2.0))
    plan = compiled(halved)
    assert plan.changes["constant folding"] == 2
    assert_same_bits_with_and_without(halved, {})
    with tf.Session() as sess:
        assert sess.run(halved) == 0.0


@pytest.mark.parametrize("asked", ["a branch", "a shape", "zeros"])
def test_random_streams_go_on_where_tensorflows_do(asked):
    """What a branch that is never taken would have got is drawn all the same; what only a static shape is asked of is
    not.
    """
    drawn = tf.random_uniform([3], seed=1)
    other = {
        "a branch": lambda: tf.cond(tf.constant(True), lambda: tf.constant([1.0, 2.0, 3.0]) * 2.0, lambda: drawn),
        "a shape": lambda: tf.shape(drawn) * 2,
        "zeros": lambda: tf.zeros_like(drawn) + 1.0,
    }[asked]()
    with tf.Session() as one, tf.Session() as two:
        numbers = [one.run(drawn) for _ in range(4)]
        for _ in range(3):
            two.run(other)
        np.testing.assert_array_equal(two.run(drawn), numbers[3 if asked == "a branch" else 0])


# --- known sizes --------------------------------------------------------------------------------


def test_a_part_of_a_shape_that_is_known_is_a_constant():
    x = tf.placeholder(tf.float32, [None, 3, 4])
    known, rest, unknown = tf.shape(x)[1], tf.shape(x, out_type=tf.int64)[1:], tf.shape(x)[0]
    assert compiled([known, rest], [x]).changes["known sizes"] == 2
    assert "known sizes" not in compiled(unknown, [x]).changes
    assert "known sizes" not in compiled(tf.shape(x)[:2], [x]).changes
    with tf.Session() as sess:
        found = sess.run([known, rest, unknown, tf.shape(x)[3:]], {x: np.zeros((5, 3, 4))})
    assert [v.tolist() for v in found] == [3, [3, 4], 5, []]
    assert found[1].dtype == np.int64
