"""A program in the right form passes; each way to damage one is told."""

import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.plan.program import IF, LOOP
from everflow.runtime.plan.verify import verify
from tests.runtime.plan.sessions import node_of, plain


@pytest.fixture
def plan():
    """A program with a loop, a branch in it and one after it."""
    x = tf.placeholder(tf.int32, [], name="x")
    body = lambda i, v: (i + 1, tf.cond(tf.equal(v % 2, 0), lambda: v // 2, lambda: v + x))  # noqa: E731
    looped = tf.while_loop(lambda i, v: i < 4, body, [0, x])[1]
    result = tf.cond(x > 3, lambda: raw.Neg(x=x) * looped, lambda: looped - 1)
    with plain() as sess:
        made = sess._executor.compile([result], [x])
        assert [sess.run(result, {x: value}) for value in (2, 5)] == [6, -25]
    verify(made.program)
    return made


def assert_told(plan, text):
    with pytest.raises(tf.errors.InternalError, match=text) as caught:
        verify(plan.program, "some rule")
    assert "after 'some rule'" in str(caught.value)


def outer_branch(plan):
    return next(node for node in plan.program.top if node.type == IF and node.output_dtypes)


def test_a_use_that_is_not_noted(plan):
    source, output = node_of(plan, "Neg").inputs[0]
    del source.uses[output][node_of(plan, "Neg")]
    assert_told(plan, "its uses are")


def test_a_use_that_is_no_more(plan):
    node = node_of(plan, "Neg")
    node.uses[0][node_of(plan, "Greater")] = 1
    assert_told(plan, "its uses are")


def test_a_use_counted_once_too_often(plan):
    source, output = node_of(plan, "Neg").inputs[0]
    source.uses[output][node_of(plan, "Neg")] += 1
    assert_told(plan, "its uses are")


def test_results_without_a_list_of_users(plan):
    node_of(plan, "Neg").uses = []
    assert_told(plan, "it has 1 results and uses of 0")


def test_an_output_that_is_not_there(plan):
    node = node_of(plan, "Neg")
    node.inputs = [(node.inputs[0][0], 1)]
    assert_told(plan, "has no output 1")


def test_a_value_used_before_it_is_made(plan):
    late = node_of(plan, "Neg")
    product, block = late.next, late.block
    assert product.type == "Mul"
    block.remove(product)
    block.insert(product, late)
    assert_told(plan, "which is not there yet")


def test_a_value_used_by_the_node_that_makes_it(plan):
    node = node_of(plan, "Neg")
    plan.program.set_inputs(node, [(node, 0)])
    assert_told(plan, "which is not there yet")


def test_a_value_of_a_branch_used_outside(plan):
    inner = node_of(plan, "Neg")
    plan.program.set_inputs(plan.program.top.end, [(inner, 0)])
    assert_told(plan, "which is not there yet")


def test_a_value_of_a_branch_used_on_its_other_side(plan):
    otherwise = node_of(plan, "Sub")
    assert otherwise.block is outer_branch(plan).blocks[0]
    plan.program.set_inputs(otherwise, [(node_of(plan, "Neg"), 0), otherwise.inputs[1]])
    assert_told(plan, "which is not there yet")


def test_a_value_of_a_loop_used_outside(plan):
    inner = node_of(plan, "Less")
    assert inner.block is node_of(plan, LOOP).blocks[0]
    plan.program.set_inputs(node_of(plan, "Neg"), [(inner, 0)])
    assert_told(plan, "which is not there yet")


def test_a_loop_with_too_few_next_values(plan):
    end = node_of(plan, LOOP).blocks[1].end
    plan.program.set_inputs(end, end.inputs[:-1])
    assert_told(plan, "not equally many")


def test_a_loop_with_too_few_first_values(plan):
    loop = node_of(plan, LOOP)
    plan.program.set_inputs(loop, loop.inputs[1:])
    assert_told(plan, "not equally many")


def test_a_loop_without_a_predicate(plan):
    end = node_of(plan, LOOP).blocks[0].end
    plan.program.set_inputs(end, end.inputs[1:])
    assert_told(plan, "not one predicate and one value for each result")


def test_a_side_without_a_result(plan):
    plan.program.set_inputs(outer_branch(plan).blocks[0].end, [])
    assert_told(plan, "a side does not give what it results in")


def test_a_control_flow_op_left_over(plan):
    node_of(plan, "Neg").type = "Exit"
    assert_told(plan, "it belongs to graphs")


def test_controls_left_over(plan):
    node_of(plan, "Neg").controls = [node_of(plan, "Greater")]
    assert_told(plan, "it waits for others")


def test_blocks_of_a_node_that_has_none(plan):
    outer_branch(plan).type = "Add"
    assert_told(plan, "only loops, branches and groups")


def test_a_node_that_thinks_it_is_elsewhere(plan):
    node_of(plan, "Neg").block = plan.program.top
    assert_told(plan, "it is not where its block says")


def test_a_block_that_ends_elsewhere(plan):
    plan.program.top.last = plan.program.top.first
    assert_told(plan, "its block ends elsewhere")


def test_a_feed_that_is_none(plan):
    plan.program.feeds.append(node_of(plan, "Greater"))
    assert_told(plan, "it is no feed")


def test_a_loop_variable_outside_the_condition(plan):
    variable, body = node_of(plan, "_LoopVariable", 1), node_of(plan, LOOP).blocks[1]
    variable.block.remove(variable)
    body.insert(variable, body.first)
    assert_told(plan, "not equally many|a loop variable stands outside")
