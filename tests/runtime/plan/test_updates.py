"""Steps of many variables in one call: only where nobody looks in between."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.protos.rewriter_config_pb2 import RewriterConfig
from tests.runtime.plan.sessions import assert_same_bits, compiled, config, node_of, plain, types


def steps(count, use_resource):
    """Variables v0, v1, ... and a step of each; `steps[i]` is an operation."""
    x = tf.placeholder(tf.float32, [3])
    variables = [
        tf.get_variable(f"v{i}", initializer=tf.fill([3], float(i)), use_resource=use_resource) for i in range(count)
    ]
    rate = tf.constant(0.5)
    made = []
    for i, v in enumerate(variables):
        slope = x * (1.0 + i)
        if use_resource:
            made.append(raw.ResourceApplyGradientDescent(var=v.handle, alpha=rate, delta=slope))
        else:
            made.append(raw.ApplyGradientDescent(var=v._ref(), alpha=rate, delta=slope).op)
    return x, variables, made


def results(fetches, x, variables):
    """(what the fetches were, the variables at the end) with rules on and off."""
    found = []
    for session in (tf.Session, plain):
        with session() as sess:
            sess.run(tf.global_variables_initializer())
            seen = sess.run(fetches, {x: [1.0, -2.0, 3.0]})
            found.append([*[s for s in seen if s is not None], *sess.run(variables)])
    for one, other in zip(*found, strict=True):
        assert_same_bits(one, other)
    return found[0]


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_read_in_between_keeps_its_step_apart(use_resource):
    x, variables, made = steps(6, use_resource)
    with tf.control_dependencies([made[1]]):
        seen = raw.Exp(x=variables[1].read_value())
    made[5]._add_control_input(seen.op)
    plan = compiled([*made, seen], [x])
    assert plan.changes["joint updates"] == 5
    assert types(plan).count("ResourceApplyGradientDescent" if use_resource else "ApplyGradientDescent") == 1
    values = results([*made, seen], x, variables)
    np.testing.assert_allclose(values[0], np.exp(np.float32([1.0, 1.0, 1.0]) - np.float32([1.0, -2.0, 3.0])), rtol=1e-5)


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_read_before_or_after_all_of_them_does_not_matter(use_resource):
    x, variables, made = steps(5, use_resource)
    before = raw.Exp(x=variables[0].read_value())
    made[0]._add_control_input(before.op)
    with tf.control_dependencies(made):
        after = raw.Exp(x=variables[0].read_value())
    assert compiled([*made, before, after], [x]).changes["joint updates"] == 5
    values = results([*made, before, after], x, variables)
    assert values[0].tolist() == [1.0, 1.0, 1.0]
    np.testing.assert_allclose(values[1], np.exp([-0.5, 1.0, -1.5]), rtol=1e-6)


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_step_along_a_variable_that_another_step_changes(use_resource):
    x, variables, made = steps(5, use_resource)
    slope = variables[1].read_value() if use_resource else tf.identity(variables[1])
    last = variables[0]
    with tf.control_dependencies([made[1]]):
        moved = slope * 1.0
    if use_resource:
        again = raw.ResourceApplyGradientDescent(var=last.handle, alpha=tf.constant(0.5), delta=moved)
    else:
        again = raw.ApplyGradientDescent(var=last._ref(), alpha=tf.constant(0.5), delta=moved).op
    again._add_control_input(made[0])
    assert (
        compiled([*made, again], [x]).changes["joint updates"] == 4
    )  # but for the first step of this variable, and that along which it goes
    results([*made, again], x, variables)


@pytest.mark.parametrize("use_resource", [False, True])
def test_few_steps_stay_apart(use_resource):
    x, variables, made = steps(3, use_resource)
    assert "joint updates" not in compiled(made, [x]).changes
    results(made, x, variables)


def test_steps_whose_results_are_taken_stay_apart():
    x, variables, _ = steps(4, False)
    outputs = [raw.ApplyGradientDescent(var=v._ref(), alpha=tf.constant(0.5), delta=x) for v in variables]
    assert "joint updates" not in compiled(outputs, [x]).changes
    assert compiled([o.op for o in outputs], [x]).changes["joint updates"] == 4
    switched = compiled([o.op for o in outputs], [x], scoped_allocator_optimization=RewriterConfig.OFF)
    assert "joint updates" not in switched.changes


def test_steps_in_a_branch_stay_in_it():
    x, variables, _ = steps(4, True)
    p = tf.placeholder(tf.bool, [])

    def taken():
        rate = tf.constant(0.5)
        ops = [raw.ResourceApplyGradientDescent(var=v.handle, alpha=rate, delta=x) for v in variables]
        with tf.control_dependencies(ops):
            return tf.constant(1)

    done = tf.cond(p, taken, lambda: tf.constant(0))
    plan = compiled([done], [x, p])
    assert plan.changes["joint updates"] == 4
    assert node_of(plan, "_ApplyGradientDescents").block is not plan.program.top
    with tf.Session(config=config()) as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(done, {x: [2.0] * 3, p: False}) == 0 and sess.run(variables[3]).tolist() == [3.0] * 3
        assert sess.run(done, {x: [2.0] * 3, p: True}) == 1 and sess.run(variables[3]).tolist() == [2.0] * 3


def averaged(between):
    """v goes a quarter of the way to x, which is written meanwhile; `between(v)` comes after that write."""
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    x = tf.Variable([5.0, 6.0])
    step = (v.read_value() - tf.identity(x)) * 0.25
    with tf.control_dependencies([step]):
        written = tf.assign(x, [50.0, 60.0])
    with tf.control_dependencies([written, *between(v, written)]):
        return raw.AssignSubVariableOp(resource=v.handle, value=step), v


def looked_at(v, written):
    with tf.control_dependencies([written]):
        return [tf.Print(v.read_value(), ["looked"])]


@pytest.mark.parametrize(("between", "together"), [(lambda v, written: [], True), (looked_at, False)])
def test_a_moving_average_runs_before_a_write_to_what_it_goes_towards_unless_somebody_looks(between, together):
    move, v = averaged(between)
    assert ("moving averages" in compiled(move).changes) is together
    results = []
    for make in (tf.Session, plain):
        with make() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(move)
            results.append(sess.run(v))
    np.testing.assert_allclose(results[0], [2.0, 3.0], rtol=1e-6)
    np.testing.assert_allclose(results[1], [2.0, 3.0], rtol=1e-6)
